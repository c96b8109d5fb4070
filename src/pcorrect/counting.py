"""From the generations table to counts: grouped in the engine, then small arrays."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from pcorrect.counts import Counts, IntArray, RowReport
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.readers import duck
from pcorrect.readers.parts import NOT_WRONG, REPEAT

SHOWN = 5
_KEY = "benchmark, llm, prompt, source"
Pair = tuple[str, str]


def count(generations: Generations) -> list[Counts]:
    """Count the correct generations of every llm on every prompt.

    Parameters
    ----------
    generations : Generations

    Returns
    -------
    list of Counts
        One per benchmark, in order of appearance.

    Raises
    ------
    DataError
        A row lacks a prompt or llm, or one generation has two different scores.
    ChoiceError
        The chosen llm or benchmark does not occur.
    """
    con = generations.con
    cells = _without_repeats(generations)
    reports = _reports(generations, cells)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE prompts AS SELECT benchmark, prompt, min(grp) AS grp, "
        f"row_number() OVER (PARTITION BY benchmark ORDER BY min(first)) - 1 AS p FROM {cells} "
        "WHERE listed GROUP BY benchmark, prompt"
    )
    llms: dict[str, list[str]] = defaultdict(list)
    for benchmark, llm in con.execute(
        f"SELECT benchmark, llm FROM {cells} GROUP BY ALL ORDER BY min(first)"
    ).fetchall():
        llms[benchmark].append(llm)
    names = _names(generations)
    return [
        _one(generations, cells, b, llms[b], names.get(b, ([], [])), reports)
        for b in generations.benchmarks
    ]


def _names(generations: Generations) -> dict[str, tuple[list[str], list[str | None]]]:
    """Prompts and their groups of each benchmark, in order of appearance."""
    names: dict[str, tuple[list[str], list[str | None]]] = defaultdict(lambda: ([], []))
    rows = generations.con.execute("SELECT benchmark, prompt, grp FROM prompts ORDER BY p")
    while batch := rows.fetchmany(100_000):
        for benchmark, prompt, group in batch:
            names[benchmark][0].append(prompt)
            names[benchmark][1].append(group)
    return names


def _one(
    generations: Generations,
    cells: str,
    benchmark: str,
    llms: list[str],
    names: tuple[list[str], list[str | None]],
    reports: dict[Pair, RowReport],
) -> Counts:
    order = ", ".join(duck.literal(llm) for llm in llms)
    found = generations.con.execute(
        f"SELECT list_position([{order}], llm) - 1 AS l, p, sum(k)::BIGINT AS k, "
        f"sum(s)::BIGINT AS s FROM {cells} JOIN prompts USING (benchmark, prompt) "
        "WHERE benchmark = ? AND listed GROUP BY ALL",
        [benchmark],
    ).fetchnumpy()
    shape = (len(llms), len(names[0]))
    k: IntArray = np.zeros(shape, np.int64)
    s: IntArray = np.zeros(shape, np.int64)
    listed = np.zeros(shape, np.bool_)
    where = np.asarray(found["l"], np.intp), np.asarray(found["p"], np.intp)
    k[where], s[where], listed[where] = found["k"], found["s"], True
    group = None
    if any(name is not None for name in names[1]):
        group = _objects([name or "" for name in names[1]])
    return Counts(
        benchmark=benchmark,
        llm=_objects(llms),
        prompt=_objects(names[0]),
        n_correct=s,
        n_generations=k,
        listed=listed,
        rows=tuple(reports[benchmark, llm] for llm in llms),
        group=group,
    )


def _objects(values: list[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
    array = np.empty(len(values), object)
    array[:] = [duck.visible(value) for value in values]
    return array


def _without_repeats(generations: Generations) -> str:
    """Name of the cells in which every numbered generation counts once.

    Raises
    ------
    DataError
        Two rows of one generation disagree.
    """
    con, cells = generations.con, generations.cells
    suspects = con.execute(
        f"SELECT DISTINCT benchmark, llm FROM {cells} WHERE different < numbered"
    ).fetchall()
    if not suspects:
        return cells
    pairs = ", ".join(f"({duck.literal(b)}, {duck.literal(m)})" for b, m in suspects)
    # A repeat of a scored generation that has no score itself is a failed attempt, not a conflict.
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE repeats AS SELECT {_KEY}, generation, count(*) AS c, "
        "sum(scored)::BIGINT AS k, sum(correct)::BIGINT AS s, max(scored) AS failed, "
        "count(*) FILTER (real) AS real, min(correct) FILTER (real) AS worst, "
        "max(correct) FILTER (real) AS best, min(answer) FILTER (real) AS one, "
        "max(answer) FILTER (real) AS other, list(row ORDER BY row)[:4] AS at "
        "FROM (SELECT *, scored > 0 AND reason IS NULL AS real "
        f"FROM ({generations.query}) WHERE generation IS NOT NULL "
        f"AND reason IS DISTINCT FROM '{REPEAT}' AND (benchmark, llm) IN ({pairs})) "
        f"GROUP BY {_KEY}, generation HAVING count(*) > 1"
    )
    _refuse_conflicts(generations)
    con.execute(
        "CREATE OR REPLACE TEMP TABLE cells_once AS SELECT cells.* REPLACE ("
        "cells.k - coalesce(r.k, 0) AS k, cells.s - coalesce(r.s, 0) AS s), "
        "coalesce(r.twice, 0) AS twice, coalesce(r.blank, 0) AS blank FROM cells LEFT JOIN ("
        f"SELECT {_KEY}, sum(k - CASE WHEN real > 0 THEN 1 ELSE failed END)::BIGINT AS k, "
        "sum(s - coalesce(best, 0))::BIGINT AS s, sum(c - 1)::BIGINT AS twice, "
        "sum(c - greatest(real, 1))::BIGINT AS blank "
        f"FROM repeats GROUP BY {_KEY}) AS r USING ({_KEY})"
    )
    return "cells_once"


def _refuse_conflicts(generations: Generations) -> None:
    conflicts = generations.con.execute(
        "SELECT source, prompt, generation, worst, best, one, other, at, count(*) OVER () "
        "FROM repeats WHERE worst <> best OR one IS DISTINCT FROM other "
        f"ORDER BY source, at LIMIT {SHOWN}"
    ).fetchall()
    if not conflicts:
        return
    lines = []
    for source, prompt, generation, worst, best, one, other, at, _ in conflicts:
        name = next(p.source.name for p in generations.parts if p.source.number == source)
        what = "both right and wrong" if worst != best else f"with answers {one!r} and {other!r}"
        lines.append(f"{name}: prompt {prompt!r}, generation {generation}: {what} (rows {at})")
    total = conflicts[0][-1]
    more = f"\n  … and {total - len(lines)} more" if total > len(lines) else ""
    raise DataError(
        f"{total} generation(s) occur more than once with different content; keep one row each, or "
        "number them apart if they are different generations:\n  " + "\n  ".join(lines) + more
    )


def _reports(generations: Generations, cells: str) -> dict[Pair, RowReport]:
    """Account of the rows of every llm on every benchmark."""
    con, wrong = generations.con, generations.options.errors == "wrong"
    twice = "sum(twice)::BIGINT" if cells == "cells_once" else "0"
    blank = "sum(blank)::BIGINT" if cells == "cells_once" else "0"
    totals = con.execute(
        f"SELECT benchmark, llm, sum(n)::BIGINT, sum(k)::BIGINT, {twice}, {blank}, "
        "count(DISTINCT prompt) FILTER (NOT listed), list(DISTINCT source ORDER BY source) "
        f"FROM {cells} GROUP BY ALL"
    ).fetchall()
    reasons: dict[Pair, dict[str, int]] = defaultdict(dict)
    if wrong or any(row[2] > row[3] for row in totals):
        for b, m, reason, n in con.execute(
            f"SELECT benchmark, llm, reason, sum(n)::BIGINT FROM ({generations.query}) "
            "WHERE reason IS NOT NULL GROUP BY ALL ORDER BY reason"
        ).fetchall():
            reasons[b, m][reason] = n
    empty = con.execute(
        f"SELECT benchmark, llm, count(*) FROM (SELECT benchmark, llm, prompt FROM {cells} "
        "WHERE listed GROUP BY ALL HAVING sum(k) = 0) GROUP BY ALL"
    ).fetchall()
    k0 = {(b, m): n for b, m, n in empty}
    runs = _several_runs(generations, cells)
    reports = {}
    for b, m, n, k, again, blanks, unlisted, sources in totals:
        left_out = dict(reasons[b, m])
        notes = [*generations.notes, *_part_notes(generations, sources)]
        failed = sum(v for reason, v in left_out.items() if reason not in NOT_WRONG) - blanks
        if failed and wrong:
            notes.append(f"{failed} of {n - again} generations have no score: counted as wrong")
            left_out = {key: v for key, v in left_out.items() if key in NOT_WRONG}
        elif failed:
            notes.append(f"{failed} of {n - again} generations have no score: left out")
        if again:
            left_out[REPEAT] = left_out.get(REPEAT, 0) + again
            for key in [key for key in left_out if key not in NOT_WRONG]:
                taken = min(blanks, left_out[key])
                left_out[key] -= taken
                blanks -= taken
            notes.append(f"{again} exact repeats of generations: dropped")
        if unlisted:
            notes.append(f"{unlisted} prompt(s) without a count: dropped")
        if k0.get((b, m)):
            notes.append(f"{k0[b, m]} prompt(s) without a scored generation (k = 0)")
        notes += runs.get((b, m), [])
        left_out = {key: v for key, v in left_out.items() if v}
        reports[b, m] = RowReport(n, k, left_out, tuple(dict.fromkeys(notes)))
    return reports


def _part_notes(generations: Generations, sources: list[int]) -> list[str]:
    several = len(generations.parts) > 1
    return [
        f"{part.source.name}: {note}" if several else note
        for part in generations.parts
        if part.source.number in sources
        for note in part.notes
    ]


def _several_runs(generations: Generations, cells: str) -> dict[Pair, list[str]]:
    """Notes on llms whose generations carry the same numbers in several sources."""
    if len(generations.parts) < 2:
        return {}
    rows = generations.con.execute(
        f"SELECT DISTINCT a.benchmark, a.llm, a.source, b.source FROM {cells} a JOIN {cells} b "
        "ON a.benchmark = b.benchmark AND a.llm = b.llm AND a.prompt = b.prompt "
        "AND a.source < b.source AND (a.low IS NULL OR b.low IS NULL "
        "OR (a.low <= b.high AND b.low <= a.high)) WHERE a.n > 0 AND b.n > 0"
    ).fetchall()
    found: dict[Pair, set[int]] = defaultdict(set)
    for b, m, *sources in rows:
        found[b, m].update(sources)
    names = {part.source.number: part.source.name for part in generations.parts}
    return {
        pair: [
            "the same prompts and generations come from "
            f"{', '.join(names[i] for i in sorted(sources)[:4])}"
            f"{' and others' if len(sources) > 4 else ''}: read as {len(sources)} separate runs"
        ]
        for pair, sources in found.items()
    }

