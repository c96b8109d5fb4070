"""Cached responses: k generations that are one generation, k times.

A cache in front of an llm (or temperature 0) returns the same text each time. The repeats then hold
nothing about the chance of a correct answer, but every formula would take them for k tries.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pcorrect import duck
from pcorrect.data import Counts, RowReport
from pcorrect.generations import Generations

LEFT_OUT = "identical to another generation of the prompt"

# Extracted answers are short, and an llm that knows the answer repeats it. Texts of at least so
# many characters (on average) are whole responses; of shorter ones, only wrong answers that never
# vary are evidence, in at least so many prompts.
_WHOLE = 20
_WRONG_PROMPTS = 5


def find_copies(generations: Generations, cells: str) -> set[tuple[str, str]]:
    """(benchmark, llm) whose k texts are equal, byte by byte, in every prompt.

    Texts have to differ between prompts. Where they are extracted answers, five prompts or more
    have to be answered wrong in one way only: right answers agree whether or not they are copies.

    Parameters
    ----------
    generations : Generations
    cells : str
        Engine table of its cells.
    """
    con = generations.con
    # Copies are graded alike: few pairs are left to be looked at.
    pairs = con.execute(
        f"SELECT benchmark, llm FROM {cells} GROUP BY ALL "
        "HAVING bool_and(s = 0 OR s = k) AND max(k) > 1 AND max(n) > 1"
    ).fetchall()
    if not pairs:
        return set()
    wanted = ", ".join(f"({duck.literal(b)}, {duck.literal(m)})" for b, m in pairs)
    rows = con.execute(
        "SELECT benchmark, llm FROM (SELECT benchmark, llm, prompt, min(answer) AS one, "
        "max(answer) AS other, max(correct) AS correct FROM "
        f"({generations.query}) WHERE answer IS NOT NULL AND n = 1 "
        f"AND (benchmark, llm) IN ({wanted}) GROUP BY ALL HAVING count(*) > 1) GROUP BY ALL "
        "HAVING bool_and(one = other) AND min(one) <> max(one) AND (avg(length(one)) >= "
        f"{_WHOLE} OR count(*) FILTER (correct = 0) >= {_WRONG_PROMPTS})"
    ).fetchall()
    return {(benchmark, llm) for benchmark, llm in rows}


def count_once(counts: Counts, copied: set[tuple[str, str]]) -> Counts:
    """Counts with one generation per prompt where they are copies, which are listed as left out."""
    which = np.array([(counts.benchmark, str(llm)) in copied for llm in counts.llm], bool)
    if not which.any():
        return counts
    most = np.where(which[:, None], 1, np.iinfo(np.int64).max)
    k = np.minimum(counts.n_generations, most)
    reports = []
    for i, report in enumerate(counts.rows):
        extra = int(counts.n_generations[i].sum() - k[i].sum())
        if not extra:
            reports.append(report)
            continue
        note = (
            "all generations of every prompt have the same text: they come from a cache, or from "
            "temperature 0, and count as one generation each (k = 1)"
        )
        reports.append(
            RowReport(
                report.read,
                report.used - extra,
                {**report.left_out, LEFT_OUT: extra},
                (*report.notes, note),
            )
        )
    return replace(
        counts, n_correct=np.minimum(counts.n_correct, k), n_generations=k, rows=tuple(reports)
    )
