"""Averages over several benchmarks."""

from __future__ import annotations

from pcorrect.comparison import Suite, SuiteRow
from pcorrect.plots import words
from pcorrect.report.markup import Content, Markup, tag
from pcorrect.report.material import Material
from pcorrect.report.tables import Cell, Column, table

_SENTENCES = 3


def verdict(material: Material) -> list[Content]:
    """The macro averages in sentences."""
    suites = material.suites
    out: list[Content] = []
    for found in suites[:_SENTENCES] if len(suites) <= _SENTENCES else []:
        mu = found.macro.mu
        out.append(
            [
                tag("b", found.llm),
                f" over {words.count(len(found.parts), 'benchmark')}: a macro average of ",
                tag("b", f"{words.percent(mu.mean, mu.upper - mu.lower)} %"),
                f" is expected on new prompts like these ({100 * found.ci_prob:g} % interval "
                f"{words.interval(mu.lower, mu.upper)} %).",
            ]
        )
    whole = material.suite_difference
    if whole is not None:
        mu, better = whole.macro.mu, whole.macro.p_above_zero
        a = material.llms[0]
        out.append(
            f"Over all benchmarks the difference {whole.llm.replace(' - ', ' − ')} is "
            f"{words.points(mu.mean)} points ({100 * whole.ci_prob:g} % interval "
            f"{words.points_interval(mu.lower, mu.upper)}); P({a} better) {words.equals(better)}."
        )
    return out


def build(material: Material) -> Markup | None:
    """Table of macro and micro averages, and of the difference of two llms."""
    if not material.suites:
        return None
    first = material.suites[0]
    kind = words.level(first.ci_prob, first.ci_kind)
    short = f"{100 * first.ci_prob:g} % {first.ci_kind}"
    columns = [
        Column("llm", number=False),
        Column("benchmarks"),
        Column("prompts"),
        Column(
            f"macro, % ({short})", f"every benchmark alike: posterior mean of mu and its {kind}"
        ),
        Column("mean, %", "macro average of the shares correct"),
        Column("SE", "of that mean for new prompts, in points"),
        Column(f"micro, % ({short})", f"every prompt alike: posterior mean of mu and its {kind}"),
    ]
    rows = [_row(found) for found in material.suites]
    body: list[Content] = [
        tag(
            "p",
            "The macro average counts every benchmark alike whatever its size, the micro average "
            "every prompt. Both answer for new prompts like these.",
        ),
        table(columns, rows, name="suite-table", about="averages over benchmarks"),
    ]
    whole = material.suite_difference
    if whole is not None:
        heads = [
            Column("difference", number=False),
            Column("prompts"),
            Column(f"points ({short})", f"posterior mean of the difference of mu and its {kind}"),
            Column(f"P({material.llms[0]} better)", "posterior probability"),
        ]
        parts = [_difference(row) for row in (*whole.parts, whole.macro, whole.micro)]
        body.append(tag("h3", whole.llm.replace(" - ", " − ")))
        body.append(table(heads, parts, name="suite-difference", about="differences"))
        body += [tag("p", f"Note: {note}.") for note in whole.notes]
    body += [
        tag("p", f"Note: {n}.") for n in dict.fromkeys(n for s in material.suites for n in s.notes)
    ]
    return tag("div", body)


def _row(found: Suite) -> list[Cell | Content]:
    macro, micro = found.macro, found.micro
    return [
        found.llm,
        Cell(str(len(found.parts)), len(found.parts)),
        Cell(f"{micro.n_prompts:,}", micro.n_prompts),
        _estimate(macro),
        Cell(words.percent(macro.estimate), macro.estimate),
        Cell(words.percent(macro.se, macro.se), macro.se),
        _estimate(micro),
    ]


def _estimate(row: SuiteRow) -> Cell:
    mu = row.mu
    text = f"{words.percent(mu.mean, mu.upper - mu.lower)} ({words.interval(mu.lower, mu.upper)})"
    return Cell(text, mu.mean, mu.lower, mu.upper)


def _difference(row: SuiteRow) -> list[Cell | Content]:
    mu = row.mu
    text = f"{words.points(mu.mean)} ({words.points_interval(mu.lower, mu.upper)})"
    return [
        row.name,
        Cell(f"{row.n_prompts:,}", row.n_prompts),
        Cell(text, mu.mean, mu.lower, mu.upper),
        Cell(words.probability(row.p_above_zero), row.p_above_zero),
    ]
