"""From the generations table to counts: grouped in the engine, then small arrays."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pcorrect import duck
from pcorrect.copies import count_once, find_copies
from pcorrect.data import Counts, IntArray, RowReport
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.parts import NOT_WRONG, REPEAT

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
    con.execute(
        "CREATE OR REPLACE TEMP TABLE llms AS SELECT benchmark, llm, "
        f"row_number() OVER (PARTITION BY benchmark ORDER BY min(first)) - 1 AS l FROM {cells} "
        "GROUP BY benchmark, llm"
    )
    prompts, groups = _lists(generations, "prompts", "prompt, grp", "p")
    llms, _ = _lists(generations, "llms", "llm, NULL", "l")
    found = con.execute(
        f"SELECT benchmark, l, p, sum(k)::BIGINT AS k, sum(s)::BIGINT AS s FROM {cells} "
        "JOIN prompts USING (benchmark, prompt) JOIN llms USING (benchmark, llm) "
        "WHERE listed GROUP BY ALL ORDER BY benchmark"
    ).fetchnumpy()
    copied = find_copies(generations, cells)
    names = np.asarray(found["benchmark"], object)
    edges = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1), len(names)]
    ranges = {names[i]: slice(i, j) for i, j in pairwise(edges) if i < j}
    out = []
    for benchmark in generations.benchmarks:
        rows = ranges.get(benchmark, slice(0, 0))
        shape = len(llms[benchmark]), len(prompts.get(benchmark, []))
        where = (np.asarray(found["l"][rows], np.intp), np.asarray(found["p"][rows], np.intp))
        k: IntArray = np.zeros(shape, np.int64)
        s: IntArray = np.zeros(shape, np.int64)
        listed = np.zeros(shape, np.bool_)
        k[where], s[where], listed[where] = found["k"][rows], found["s"][rows], True
        group = [name or "" for name in groups.get(benchmark, [])]
        every = Counts(
            benchmark=benchmark,
            llm=_objects(llms[benchmark]),
            prompt=_objects(prompts.get(benchmark, [])),
            n_correct=s,
            n_generations=k,
            listed=listed,
            rows=tuple(reports[benchmark, llm] for llm in llms[benchmark]),
            group=_objects(group) if any(group) else None,
        )
        out.append(count_once(every, copied))
    return out


def _lists(
    generations: Generations, table: str, columns: str, order: str
) -> tuple[dict[str, list[str]], dict[str, list[str | None]]]:
    """Two columns of each benchmark as lists, in order of appearance."""
    first: dict[str, list[str]] = defaultdict(list)
    second: dict[str, list[str | None]] = defaultdict(list)
    rows = generations.con.execute(f"SELECT benchmark, {columns} FROM {table} ORDER BY {order}")
    while batch := rows.fetchmany(100_000):
        for benchmark, one, other in batch:
            first[benchmark].append(one)
            second[benchmark].append(other)
    return first, second


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
        "max(answer) FILTER (real) AS other, list(row ORDER BY row)[:4] AS lines "
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
        "SELECT source, prompt, generation, worst, best, one, other, lines, count(*) OVER () "
        "FROM repeats WHERE worst <> best OR one IS DISTINCT FROM other "
        f"ORDER BY source, lines LIMIT {SHOWN}"
    ).fetchall()
    if not conflicts:
        return
    lines = []
    for source, prompt, generation, worst, best, one, other, rows, _ in conflicts:
        name = next(p.source.name for p in generations.parts if p.source.number == source)
        what = "both right and wrong" if worst != best else f"with answers {one!r} and {other!r}"
        lines.append(f"{name}: prompt {prompt!r}, generation {generation}: {what} (rows {rows})")
    total = conflicts[0][-1]
    more = f"\n  … and {total - len(lines)} more" if total > len(lines) else ""
    raise DataError(
        f"{total} generation(s) occur more than once with different content; keep one row each, or "
        "number them apart if they are different generations:\n  "
        + duck.unmarked("\n  ".join(lines))
        + more
    )


class _Total(NamedTuple):
    """Account of one llm on one benchmark."""

    benchmark: str
    llm: str
    n: int  # generations in the input
    k: int  # scored ones, repeats not counted again
    twice: int  # repeats of generations
    blank: int  # those of the repeats that have no score
    unlisted: int  # prompts without a count
    empty: int  # prompts without a scored generation
    single: bool  # one generation per prompt, though these are numbered differently
    sources: list[int]


def _reports(generations: Generations, cells: str) -> dict[Pair, RowReport]:
    """Account of the rows of every llm on every benchmark."""
    con, wrong = generations.con, generations.selection.errors == "wrong"
    repeats = "sum(twice)::BIGINT, sum(blank)::BIGINT" if cells == "cells_once" else "0, 0"
    totals = con.execute(
        f"SELECT benchmark, llm, sum(n)::BIGINT, sum(k)::BIGINT, {repeats}, "
        "count(DISTINCT prompt) FILTER (NOT listed), "
        "count(DISTINCT prompt) FILTER (listed) - count(DISTINCT prompt) FILTER (k > 0), "
        "max(n) = 1 AND count(*) > 1 AND min(low) < max(high) AND min(source) = max(source), "
        f"list(DISTINCT source ORDER BY source) FROM {cells} GROUP BY benchmark, llm"
    ).fetchall()
    reasons: dict[Pair, dict[str, int]] = defaultdict(dict)
    if wrong or any(_Total(*row).n > _Total(*row).k for row in totals):
        for b, m, reason, n in con.execute(
            f"SELECT benchmark, llm, reason, sum(n)::BIGINT FROM ({generations.query}) "
            "WHERE reason IS NOT NULL GROUP BY ALL ORDER BY reason"
        ).fetchall():
            reasons[b, m][reason] = n
    runs = _several_runs(generations, cells)
    reports = {}
    for total in map(_Total._make, totals):
        pair = total.benchmark, total.llm
        left_out, notes = _left_out(total, reasons[pair], wrong)
        notes = [*generations.notes, *_part_notes(generations, total.sources), *notes]
        notes += runs.get(pair, [])
        reports[pair] = RowReport(total.n, total.k, left_out, tuple(dict.fromkeys(notes)))
    return reports


def _left_out(
    total: _Total, reasons: dict[str, int], wrong: bool
) -> tuple[dict[str, int], list[str]]:
    """Reasons and numbers of what did not enter the counts, and notes on them."""
    left_out = dict(reasons)
    notes = []
    failed = sum(n for reason, n in reasons.items() if reason not in NOT_WRONG) - total.blank
    if failed:
        rule = "counted as wrong" if wrong else "left out"
        others = total.twice + sum(n for reason, n in reasons.items() if reason in NOT_WRONG)
        notes.append(f"{failed} of {total.n - others} generations have no score: {rule}")
    blank = total.blank
    for reason in [reason for reason in left_out if reason not in NOT_WRONG]:
        # A failed attempt that was repeated is a repeat.
        taken = left_out[reason] if wrong else min(blank, left_out[reason])
        left_out[reason] -= taken
        blank -= taken
    if total.twice:
        left_out[REPEAT] = left_out.get(REPEAT, 0) + total.twice
        notes.append(f"{total.twice} exact repeats of generations: dropped")
    if total.unlisted:
        notes.append(f"{total.unlisted} prompt(s) without a count: dropped")
    if total.empty:
        notes.append(f"{total.empty} prompt(s) without a scored generation (k = 0)")
    if total.single:
        notes.append(
            "every prompt has one generation, though these are numbered differently: is the "
            "column of prompts an id of rows?"
        )
    return {reason: n for reason, n in left_out.items() if n}, notes


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
        "SELECT a.benchmark, a.llm, a.source, b.source, bool_and(a.k = b.k AND a.s = b.s) "
        f"FROM {cells} a JOIN {cells} b USING (benchmark, llm, prompt) WHERE a.source < b.source "
        "AND a.k > 0 AND b.k > 0 AND (a.low IS NULL OR b.low IS NULL "
        "OR (a.low <= b.high AND b.low <= a.high)) GROUP BY ALL"
    ).fetchall()
    found: dict[Pair, set[int]] = defaultdict(set)
    copies: dict[Pair, bool] = {}
    for b, m, one, other, equal in rows:
        found[b, m].update((one, other))
        copies[b, m] = copies.get((b, m), False) or equal
    names = {part.source.number: part.source.name for part in generations.parts}
    notes = {}
    for pair, sources in found.items():
        listed = ", ".join(names[i] for i in sorted(sources)[:4])
        more = " and others" if len(sources) > 4 else ""
        notes[pair] = [
            f"the same prompts and generations come from {listed}{more}: read as {len(sources)} "
            "separate runs"
        ]
        if copies[pair]:
            notes[pair].append(
                "two of these runs have equal counts on every prompt: leave one out if it is a copy"
            )
    return notes
