"""Two llms compared, or more of them ranked."""

from __future__ import annotations

import numpy as np

from pcorrect.comparison import PairedDifference, Ranking
from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear
from pcorrect.plots.comparison_pictures import difference_picture
from pcorrect.plots.fit_pictures import MU
from pcorrect.report.chart import chart
from pcorrect.report.markup import Content, Markup, data_block, tag
from pcorrect.report.material import Material
from pcorrect.report.tables import Cell, Column, ruler, table, whiskers

# Names in a sentence; up to so many llms have theirs beside the matrix.
_NAMES, _NAMED = 5, 30


def verdict(material: Material) -> list[Content]:
    """Who is better, in sentences."""
    out: list[Content] = [_pair_sentence(result, material) for result in material.differences]
    out += [_ranking_sentence(result, material) for result in material.rankings[:4]]
    return out


def _pair_sentence(result: PairedDifference, material: Material) -> Content:
    where = f" on {result.benchmark}" if len(material.benchmarks) > 1 else ""
    mu = result.mu
    width = mu.upper - mu.lower
    facts = (
        f"{words.points(mu.mean, width)} points on new prompts like these "
        f"({100 * result.ci_prob:g} % interval {words.points_interval(mu.lower, mu.upper)}); "
        f"P({result.a} better) {words.equals(result.p_better)}."
    )
    low, high = result.rope
    head = {
        "better": f"{result.a} is better than {result.b}{where}: ",
        "worse": f"{result.b} is better than {result.a}{where}: ",
        "equivalent": (
            f"{result.a} and {result.b} are equivalent{where} (within {words.points(low)} to "
            f"{words.points(high)} points): "
        ),
        "undecided": f"These data do not tell whether {result.a} or {result.b} is better{where}: ",
    }[result.verdict]
    return [tag("b", head), f"the difference {result.a} − {result.b} is {facts}"]


def _ranking_sentence(result: Ranking, material: Material) -> Content:
    several = len(material.benchmarks) > len(result.benchmark)
    where = f" on {words.listed(list(result.benchmark))}" if several else ""
    rivals = [
        name
        for name, told in zip(result.llm[1:], result.told_apart[0, 1:], strict=True)
        if not told
    ]
    likely = int(np.argmax(result.p_best))
    text = (
        f"{result.llm[0]} comes first{where}"
        if likely == 0
        else f"{result.llm[0]} has the highest mean{where}"
    )
    head = (
        f"{text}, best of {len(result.llm)} with probability {words.probability(result.p_best[0])}"
    )
    if not rivals:
        return [tag("b", f"{head}.")]
    return [
        tag("b", f"{head}."),
        f" With all pairs compared at once, the data do not tell it from "
        f"{words.count(len(rivals), 'other')}: {words.listed(rivals, _NAMES)}.",
    ]


def build(material: Material) -> Markup | None:
    """Table and posterior of the difference, or the ranking."""
    if material.differences:
        return tag("div", [_pair(result) for result in material.differences])
    if material.rankings:
        return tag("div", [_ranking(result, i) for i, result in enumerate(material.rankings)])
    if len(material.llms) > 1:
        return tag(
            "p",
            "No two llms have a scored prompt in common: their scores are of different prompts, "
            "and a difference may be that of the prompts. Not compared here; see pcorrect compare "
            "--unpaired.",
        )
    return None


def _pair(result: PairedDifference) -> Markup:
    level = f"{100 * result.ci_prob:g} % {result.ci_kind}"
    rows: list[list[Cell | Content]] = [
        [
            name,
            Cell(
                f"{words.points(value.mean, value.upper - value.lower)} "
                f"({words.points_interval(value.lower, value.upper)})",
                value.mean,
                value.lower,
                value.upper,
            ),
            Cell(words.probability(p_better), p_better),
            about,
        ]
        for name, value, p_better, about in (
            ("mu", result.mu, result.p_better, "new prompts like these"),
            ("score", result.score, result.p_better_score, "exactly these prompts"),
        )
    ]
    columns = [
        Column("difference", number=False),
        Column(
            f"points ({level})",
            f"posterior mean and {words.level(result.ci_prob, result.ci_kind)}",
        ),
        Column(f"P({result.a} better)", "posterior probability"),
        Column("question", number=False),
    ]
    how = (
        f"{words.count(result.n_shared, 'shared prompt')}, matched by id "
        f"({result.only_a} only in the first llm, {result.only_b} only in the second)"
        if result.paired
        else "two separate sets of prompts"
    )
    low, high = result.rope
    facts: list[Content] = [
        f"{result.a} − {result.b} on {result.benchmark}: {how}.",
        f"P(the difference of mu lies within {words.points(low)} to {words.points(high)} points) "
        f"{words.equals(result.p_equivalent)}.",
    ]
    if result.correlation is not None:
        value = result.correlation
        facts.append(
            f"Correlation of difficulty over prompts: {value.mean:.2f} ({value.lower:.2f} to "
            f"{value.upper:.2f})."
        )
    if result.gain is not None:
        facts.append(f"Pairing: {result.gain_in_words}.")
    facts += [f"Note: {note}." for note in result.notes]
    return tag(
        "div",
        tag("ul", [tag("li", fact) for fact in facts]),
        table(columns, rows, name=f"difference-{result.benchmark}", about="difference"),
        tag("div", chart(difference_picture(result)), class_="charts"),
    )


def _ranking(result: Ranking, number: int) -> Markup:
    level = f"{100 * result.ci_prob:g} % {result.ci_kind}"
    kind = words.level(result.ci_prob, result.ci_kind)
    ends = [*result.lower, *result.upper]
    axis = linear(ends, "mu", in_percent, most=4)
    groups = _group_marks(result)
    columns = [
        Column("llm", number=False),
        Column(f"mu, % ({level})", f"posterior mean of mu (new prompts like these) and its {kind}"),
        Column(ruler(axis), f"mu with its {kind}", wide=True),
        Column(f"rank ({level})", f"expected rank (1 is best) and its {kind}"),
        Column("at once", "ranks that hold for all llms together"),
        Column("P(best)", "probability that mu is the largest"),
        Column("alike", "llms that share a letter cannot be told apart", number=False),
    ]
    rows: list[list[Cell | Content]] = []
    for i, name in enumerate(result.llm):
        low, high = float(result.lower[i]), float(result.upper[i])
        mean = float(result.mean[i])
        rows.append(
            [
                name,
                Cell(
                    f"{words.percent(mean, high - low)} ({words.interval(low, high)})",
                    mean,
                    low,
                    high,
                ),
                Cell(whiskers(axis, [(low, mean, high, MU)])),
                Cell(
                    f"{result.rank_mean[i]:.1f} "
                    f"({_span(result.rank_lower[i], result.rank_upper[i])})",
                    float(result.rank_mean[i]),
                    float(result.rank_lower[i]),
                    float(result.rank_upper[i]),
                ),
                Cell(
                    _span(result.rank_least[i], result.rank_most[i]),
                    float(result.rank_least[i]),
                    float(result.rank_least[i]),
                    float(result.rank_most[i]),
                ),
                Cell(words.probability(float(result.p_best[i])), float(result.p_best[i])),
                groups[i],
            ]
        )
    pairs = len(result.llm) * (len(result.llm) - 1) // 2
    told = int(result.told_apart.sum()) // 2
    prompts = words.count(result.n_prompts, "shared prompt")
    ranked = (
        "Ranked by the paired posterior on the shared prompts, whose mu may differ a little from "
        "that of the table of scores."
    )
    if result.n_shared < result.n_prompts:
        prompts = f"{words.count(result.n_prompts, 'prompt')}, {result.n_shared:,} of them shared"
        ranked = "Each llm is ranked on its own prompts, which may differ in difficulty."
    facts: list[Content] = [
        f"{len(result.llm)} llms on {words.listed(list(result.benchmark))}, {prompts}.",
        ranked,
        f"{told:,} of {pairs:,} pairs can be told apart; the probability that any of these claims "
        f"is wrong is at most {1 - result.ci_prob:.2g}.",
    ]
    for what, value in (
        ("new prompts like these", result.new_prompts),
        ("the same prompts", result.same_prompts),
    ):
        if value is not None:
            facts.append(
                f"Run again on {what}, the order would agree with this one to a rank correlation "
                f"of {value.kendall_tau:.2f} (Kendall), and the same llm would come first with "
                f"probability {words.probability(value.p_same_best)}."
            )
    facts += [f"Note: {note}." for note in result.notes]
    return tag(
        "div",
        tag("ul", [tag("li", fact) for fact in facts]),
        table(columns, rows, name=f"ranking-{number}", about="ranking"),
        _matrix(result),
    )


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _group_marks(result: Ranking) -> list[str]:
    """Letters of the groups that each llm belongs to; nothing where it stands alone."""
    shown = [group for group in result.groups if len(group) > 1]
    marks = []
    for name in result.llm:
        mine = [i for i, group in enumerate(shown) if name in group]
        marks.append(" ".join(_letters(i) for i in mine) if len(mine) < 4 else _range(mine))
    return marks


def _range(mine: list[int]) -> str:
    return f"{_letters(mine[0])} … {_letters(mine[-1])}"


def _letters(i: int) -> str:
    return chr(ord("a") + i) if i < 26 else _letters(i // 26 - 1) + _letters(i % 26)


def _matrix(result: Ranking) -> Markup:
    """P(row better than column), as a coloured square that answers to the pointer."""
    size = len(result.llm)
    cells: dict[int, list[str]] = {}
    for i in range(size):
        for j in range(size):
            if i != j:
                shade = min(int(result.p_better[i, j] * 10), 9)
                cells.setdefault(shade, []).append(f"M{j} {i}h1v1h-1z")
    paths = [tag("path", class_=f"shade s{shade}", d="".join(d)) for shade, d in cells.items()]
    drawing = tag(
        "svg",
        paths,
        viewBox=f"0 0 {size} {size}",
        aria_hidden="true",
        shape_rendering="crispEdges",
    )
    names = [
        tag("span", name, class_="name", style=f"top:{100 * (i + 0.5) / size:.2f}%")
        for i, name in enumerate(result.llm if size <= _NAMED else ())
    ]
    values = [[round(float(p), 4) for p in row] for row in result.p_better]
    return tag(
        "figure",
        tag("figcaption", "P(row better than column), by mu; both in order of rank"),
        tag("div", drawing, names, class_="square"),
        tag(
            "div",
            [
                tag("span", tag("i", class_=f"key shade s{s}"), f"{s / 10:g} to {(s + 1) / 10:g}")
                for s in range(10)
            ],
            class_="legend",
        ),
        data_block({"names": list(result.llm), "p": values}, class_="pairs"),
        class_="chart matrix",
    )
