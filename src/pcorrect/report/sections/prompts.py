"""Every prompt: sorted, and in a table to search."""

from __future__ import annotations

from typing import Any

from pcorrect.plots import words
from pcorrect.report.fit_charts import forest
from pcorrect.report.markup import Content, Markup, data_block, tag
from pcorrect.report.material import Material
from pcorrect.report.prompt_rows import PromptRow, prompt_rows

# Prompts in the table: a page has to open.
_ROWS = 8000
# Rows that are there without a script, and that the script shows at a time.
_PAGE = 25
# Up to so many llms have a column each.
_LLMS = 3


def verdict(material: Material) -> list[Content]:
    """Nothing to add."""
    return []


def build(material: Material) -> Markup:
    """Sorted prompts of a few fits, and the table."""
    rows = prompt_rows(material)
    body: list[Content] = []
    if material.inline:
        body.append(tag("div", [forest(fit, material) for fit in material.fits], class_="charts"))
    shown = rows[:_ROWS]
    body.append(
        tag(
            "p",
            "Hardest first. Choose a row to see ",
            "its text and the answers that were given."
            if any(row.text for row in shown)
            else "the answers that were given.",
            f" The {_ROWS:,} hardest of {len(rows):,} prompts are listed."
            if len(rows) > _ROWS
            else None,
        )
    )
    body.append(listing(shown, material))
    return tag("div", body)


def listing(rows: list[PromptRow], material: Material) -> Markup:
    """The table of prompts: the first rows as HTML, all of them as data for the script."""
    has = {
        name for name in ("group", "target", "answers") if any(getattr(row, name) for row in rows)
    }
    heads, kinds = _columns(has, material)
    table = [_cells(row, has, material) for row in rows]
    first = [
        tag(
            "tr",
            [
                tag("td" if i else "th", text, class_="num" if kind == "n" else None)
                for i, (text, kind) in enumerate(zip(_shown(line), kinds, strict=True))
            ],
        )
        for line in table[:_PAGE]
    ]
    search = tag(
        "input",
        type="search",
        class_="filter",
        placeholder="Search prompts, texts and answers",
        aria_label="Search prompts, texts and answers",
    )
    head = [
        tag(
            "th",
            tag("button", name, type="button"),
            scope="col",
            class_="num" if kind == "n" else None,
        )
        for name, kind in zip(heads, kinds, strict=True)
    ]
    return tag(
        "div",
        search,
        tag(
            "div",
            tag(
                "table",
                tag("caption", "prompts", class_="unseen"),
                tag("thead", tag("tr", head)),
                tag("tbody", first),
                class_="listing",
                id="prompts-table",
            ),
            class_="scroll long",
            tabindex="0",
        ),
        tag("p", class_="note found", role="status"),
        tag("button", "Show more", type="button", class_="more"),
        data_block(
            {
                "kinds": kinds,
                "rows": table,
                "more": [_details(row) for row in rows],
            },
            class_="rows",
        ),
        class_="table prompts",
    )


def _columns(has: set[str], material: Material) -> tuple[list[str], list[str]]:
    """Heads, and what each holds: "t" text, "n" a number with its text."""
    columns = [("prompt", "t")]
    if len(material.benchmarks) > 1:
        columns.append(("benchmark", "t"))
    if "group" in has:
        columns.append(("group", "t"))
    level = f"{100 * material.options.ci_prob:g} % {material.options.ci_kind}"
    if len(material.llms) <= _LLMS:
        for llm in material.llms:
            name = f": {llm}" if len(material.llms) > 1 else ""
            columns += [(f"P(correct), %{name} ({level})", "n"), ("correct", "n")]
    else:
        columns += [("mean P(correct), %", "n"), ("lowest", "n"), ("highest", "n"), ("llms", "n")]
    if "target" in has:
        columns.append(("key", "t"))
    if "answers" in has:
        columns += [("most frequent answer", "t"), ("share, %", "n")]
    return [name for name, _ in columns], [kind for _, kind in columns]


def _cells(row: PromptRow, has: set[str], material: Material) -> list[Any]:
    """Cells of a row; a number is (value, text)."""
    cells: list[Any] = [row.prompt]
    if len(material.benchmarks) > 1:
        cells.append(row.benchmark)
    if "group" in has:
        cells.append(row.group)
    if len(material.llms) <= _LLMS:
        for llm in material.llms:
            if llm not in row.p:
                cells += [[None, "–"]] * 2
                continue
            mean, low, high, s, k = row.p[llm]
            cells += [
                [mean, f"{words.percent(mean)} ({words.interval(low, high)})"],
                [s / k if k else None, f"{s}/{k}"],
            ]
    else:
        means = [p[0] for p in row.p.values()]
        cells += [[value, words.percent(value)] for value in (row.mean, min(means), max(means))]
        cells.append([len(means), str(len(means))])
    if "target" in has:
        cells.append(row.target)
    if "answers" in has:
        total = sum(k for *_, k in row.p.values())
        answer, times = (row.answers[0][0], row.answers[0][1]) if row.answers else ("", 0)
        share = times / total if total and times else None
        cells += [answer or ("(empty)" if times else ""), [share, words.percent(share)]]
    return cells


def _shown(line: list[Any]) -> list[str]:
    return [item[1] if isinstance(item, list) else item for item in line]


def _details(row: PromptRow) -> list[Any]:
    """Text, key, number of different answers, answers."""
    return [row.text, row.target, row.n_answers, row.answers]
