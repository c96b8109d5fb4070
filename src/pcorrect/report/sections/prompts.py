"""Every prompt: sorted, on the data map, and in a table to search; which keys may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pcorrect.plots import words
from pcorrect.plots.data_pictures import map_picture
from pcorrect.report.chart import chart, forest
from pcorrect.report.markup import Content, Markup, data_block, tag
from pcorrect.report.material import Material
from pcorrect.report.prompt_rows import PromptRow, cut, prompt_rows
from pcorrect.report.tables import Cell, Column, table

if TYPE_CHECKING:
    from pcorrect.consistency.effect import ScoreEffect
    from pcorrect.consistency.flags import Flags

# Prompts in the table: a page has to open.
_ROWS = 8000
# Rows that are there without a script, and that the script shows at a time.
_PAGE = 25
# Up to so many llms have a column each.
_LLMS = 3
_ONE_CELL, _ONE_ID = 60, 160
_NAMES = 3


def verdict(material: Material) -> list[Content]:
    """How many keys may be wrong, and what that means for the scores."""
    flags = material.flags
    if flags is None:
        return []
    suspects = [p for p in flags.prompts if p.flagged]
    if not suspects:
        return [
            [tag("b", "Keys: "), "no prompt stands out as mislabelled or unclear in its answers."]
        ]
    worst = suspects[0]
    n = words.count(len(suspects), "prompt")
    may = "may have" if len(suspects) > 1 else "may well have"
    text = (
        f"{n} of {len(flags):,} {may} a wrong or unclear key (probability {flags.threshold:g} or "
        f"more). Most suspect: {cut(worst.prompt, _ONE_CELL)}"
    )
    if worst.rival is not None and worst.key is not None:
        text += (
            f", where the key is {cut(worst.key, _ONE_CELL)!r} and "
            f"{worst.support} of {words.count(worst.n_llms, 'llm')} mostly "
            f"answer{'s' if worst.support == 1 else ''} {cut(worst.rival, _ONE_CELL)!r}"
        )
    out: list[Content] = [[tag("b", "Keys: "), f"{text}."]]
    moved = [
        (abs(llm.removed - llm.score), llm.llm)
        for llm in _effect(flags).llms
        if llm.score is not None and llm.removed is not None
    ]
    if moved:
        most, who = max(moved)
        out.append(
            "Without the suspect prompts scores move by up to "
            f"{words.percent(most)} points ({who})."
        )
    return out


def _effect(flags: Flags) -> ScoreEffect:
    from pcorrect.consistency.effect import score_effect

    return score_effect(flags)


def build(material: Material) -> Markup:
    """Sorted prompts of a few fits, the data map, and the table."""
    rows = prompt_rows(material)
    flags = material.flags
    charts: list[Content] = []
    if material.inline:
        charts += [forest(fit, material) for fit in material.fits]
    if flags is not None:
        charts.append(chart(map_picture(flags, words.listed(material.benchmarks, 2))))
    body: list[Content] = [tag("div", charts, class_="charts") if charts else None]
    order = "Hardest first."
    if flags is not None:
        order = (
            "Most suspect first: P(mislabelled) is the probability that the key is wrong or that "
            "the prompt is unclear, from how the llms agree on another answer (the rival)."
        )
        notes = [f"Note: {note}." for note in flags.notes]
        body += [tag("p", note) for note in notes]
        if any(p.flagged for p in flags.prompts):
            body.append(_effect_table(_effect(flags)))
    text = " Choose a row to see the answers that were given." if flags is not None else ""
    if any(row.text for row in rows):
        text = " Choose a row to see its text" + (" and the answers." if flags else ".")
    limit = f" {_ROWS:,} of {len(rows):,} prompts are listed." if len(rows) > _ROWS else ""
    body += [tag("p", order + text + limit), listing(rows[:_ROWS], material)]
    return tag("div", body)


def _effect_table(effect: ScoreEffect) -> Markup:
    """Scores with suspects removed, re-keyed and weighed."""
    columns = [
        Column("llm", number=False),
        Column("mean, %", "mean of the shares correct, keys as they are"),
        Column("without suspects", "mean without the suspect prompts"),
        Column("re-keyed", "with the rival as the key where the key is more likely wrong"),
        Column("expected", "every prompt weighed by the probability of each truth"),
        Column("rank", "keys as they are"),
        Column("rank without", "without the suspect prompts"),
    ]
    rows: list[list[Cell | Content]] = [
        [
            llm.llm,
            *(
                Cell(words.percent(value), value)
                for value in (llm.score, llm.removed, llm.rekeyed, llm.expected)
            ),
            *(
                Cell("–" if rank is None else str(rank), rank)
                for rank in (llm.rank, llm.rank_removed)
            ),
        ]
        for llm in effect.llms
    ]
    return tag(
        "div",
        tag("h3", "What suspect keys mean for the scores"),
        table(columns, rows, name="effect-table", about="scores without suspect prompts"),
    )


def listing(rows: list[PromptRow], material: Material) -> Markup:
    """The table of prompts: the first rows as HTML, all of them as data for the script."""
    columns = _columns(rows, material)
    heads = [column.head for column in columns]
    kinds = ["num" if column.number else None for column in columns]
    lines = [_cells(row, heads, material) for row in rows]
    first = [
        tag(
            "tr",
            [
                tag("td" if i else "th", text, class_=kind)
                for i, (text, kind) in enumerate(zip(_shown(line), kinds, strict=True))
            ],
        )
        for line in lines[:_PAGE]
    ]
    about = "Search prompts, texts and answers"
    search = tag("input", type="search", class_="filter", placeholder=about, aria_label=about)
    head = [
        tag(
            "th",
            tag("button", column.head, type="button", title=column.about or None),
            scope="col",
            class_=kind,
        )
        for column, kind in zip(columns, kinds, strict=True)
    ]
    whole = tag(
        "table",
        tag("caption", "prompts", class_="unseen"),
        tag("thead", tag("tr", head)),
        tag("tbody", first),
        class_="listing",
        id="prompts-table",
    )
    more = [[row.text, row.key, row.n_answers, row.answers] for row in rows]
    return tag(
        "div",
        search,
        tag("div", whole, class_="scroll long", tabindex="0"),
        tag("p", class_="note found", role="status"),
        tag("button", "Show more", type="button", class_="more"),
        data_block({"kinds": kinds, "rows": lines, "more": more}, class_="rows"),
        class_="table prompts",
    )


_SUSPICION = (
    Column("P(mislabelled)", "probability that the key is wrong or the prompt unclear"),
    Column("S", "consistency: sum over answers of share × log share; 0 is one answer always"),
    Column("key", number=False),
    Column("rival", "the most likely other truth among the answers", number=False),
    Column("its share, %", "share of the answers that are the rival, each llm weighing the same"),
    Column("llms for it", "llms whose most frequent answer is the rival, of those that answered"),
)


def _columns(rows: list[PromptRow], material: Material) -> list[Column]:
    columns = [Column("prompt", number=False)]
    if len(material.benchmarks) > 1:
        columns.append(Column("benchmark", number=False))
    if any(row.group for row in rows):
        columns.append(Column("group", number=False))
    options = material.options
    if len(material.llms) <= _LLMS:
        kind = words.level(options.ci_prob, options.ci_kind)
        for llm in material.llms:
            name = f"{llm}: " if len(material.llms) > 1 else ""
            short = f"{100 * options.ci_prob:g} % {options.ci_kind}"
            about = f"correct of scored generations; posterior mean of p and its {kind}"
            columns.append(Column(f"{name}correct · P(correct), % ({short})", about))
    else:
        columns += [
            Column("mean P(correct), %", "mean over llms of the posterior means of p"),
            Column("lowest", "least posterior mean of p of any llm"),
            Column("highest", "largest posterior mean of p of any llm"),
            Column("correct, all llms", "correct of scored generations"),
        ]
    return [*columns, *(_SUSPICION if material.flags is not None else ())]


def _cells(row: PromptRow, heads: list[Content], material: Material) -> list[Any]:
    """Cells of a row; a number is (value, text)."""
    cells: list[Any] = [cut(row.prompt, _ONE_ID)]
    if "benchmark" in heads:
        cells.append(row.benchmark)
    if "group" in heads:
        cells.append(row.group)
    if len(material.llms) <= _LLMS:
        for llm in material.llms:
            if llm not in row.p:
                cells.append([None, "–"])
                continue
            mean, low, high, s, k = row.p[llm]
            p = f"{words.percent(mean)} ({words.interval(low, high)})"
            cells.append([mean, f"{s}/{k} · {p}"])
    else:
        means = [p[0] for p in row.p.values()]
        cells += [[value, words.percent(value)] for value in (row.mean, min(means), max(means))]
        right, total = (sum(p[i] for p in row.p.values()) for i in (3, 4))
        cells.append([right / total if total else None, f"{right:,}/{total:,}"])
    if material.flags is not None:
        cells += _suspicion(row)
    return cells


def _suspicion(row: PromptRow) -> list[Any]:
    flag = row.flag
    if flag is None:
        return [[None, "–"], [None, "–"], "", "", [None, "–"], [None, "–"]]
    return [
        [flag.p_mislabelled, words.probability(flag.p_mislabelled)],
        [flag.consistency, words.fixed(flag.consistency)],
        row.key,
        "" if flag.rival is None else cut(flag.rival, 2 * _ONE_CELL),
        [flag.rival_share, words.percent(flag.rival_share)],
        [flag.support, f"{flag.support} of {flag.n_llms}"],
    ]


def _shown(line: list[Any]) -> list[str]:
    return [item[1] if isinstance(item, list) else item for item in line]
