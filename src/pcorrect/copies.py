"""Cached responses: k generations that are one generation, k times.

A cache in front of an llm (or temperature 0) returns the same text each time. The repeats then hold
nothing about the chance of a correct answer, but every formula would take them for k tries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pcorrect import duck
from pcorrect.data import Counts, RowReport
from pcorrect.generations import Generations

LEFT_OUT = "identical to another generation of the prompt"

# Texts of at least so many characters (on average) are whole responses. Shorter ones are extracted
# answers, which an llm that is sure of itself repeats: with so many wrong ones they are worth a
# note, no more.
_WHOLE = 16
_WRONG_PROMPTS = 5
# So long, two texts are not equal by chance; a few are no cache.
_LONG = 50
_SOME, _SHARE = 5, 0.05

_COPIES = (
    "all generations of every prompt have the same text: they come from a cache, or from "
    "temperature 0, and count as one generation each (k = 1)"
)
_PERHAPS = (
    "all generations of every prompt have the same answer, the wrong ones too: if they are copies "
    "(a cache, temperature 0), keep one generation of each prompt"
)
_SEVERAL = (
    "{} of {} responses of {} characters or more equal another one of their prompt byte by byte "
    "(a cache, files that overlap?): they count as generations of their own; if they are copies, "
    "keep one of each"
)
Pair = tuple[str, str]


@dataclass(frozen=True)
class Copies:
    """What was found about the texts of one llm.

    Parameters
    ----------
    once : bool
        Whether its generations are copies, that count once.
    note : str
    """

    once: bool
    note: str


def find_copies(generations: Generations, cells: str) -> dict[Pair, Copies]:
    """(benchmark, llm) whose texts within a prompt are equal, byte by byte.

    They count once where all k texts are there and equal in every prompt, are whole responses, that
    differ between prompts, and are not simply the right answers. Notes only: where they are short
    and five prompts or more are answered wrong; where many long ones are equal, but not all.

    Parameters
    ----------
    generations : Generations
    cells : str
        Engine table of its cells.
    """
    found = _several_equal(generations, cells)
    for pair, whole in _all_equal(generations, cells).items():
        found[pair] = Copies(whole, _COPIES if whole else _PERHAPS)
    return found


def _several_equal(generations: Generations, cells: str) -> dict[Pair, Copies]:
    con = generations.con
    if con.execute(f"SELECT max(k) FROM {cells}").fetchall()[0][0] in (None, 0, 1):
        return {}
    # The same text with another grade is a copy too, graded by chance.
    rows = con.execute(
        "SELECT benchmark, llm, count(*) AS texts, texts - count(DISTINCT hash(prompt, answer)) "
        f"AS again FROM ({generations.query}) WHERE scored > 0 AND n = 1 "
        f"AND length(answer) >= {_LONG} GROUP BY ALL "
        f"HAVING again >= {_SOME} AND again >= {_SHARE} * texts"
    ).fetchall()
    return {
        (benchmark, llm): Copies(False, _SEVERAL.format(again, texts, _LONG))
        for benchmark, llm, texts, again in rows
    }


def _all_equal(generations: Generations, cells: str) -> dict[Pair, bool]:
    con = generations.con
    # Copies are graded alike: few pairs are left to be looked at.
    pairs = con.execute(
        f"SELECT benchmark, llm FROM {cells} GROUP BY ALL "
        "HAVING bool_and(s = 0 OR s = k) AND max(k) > 1 AND max(n) > 1"
    ).fetchall()
    if not pairs:
        return {}
    wanted = ", ".join(f"({duck.literal(b)}, {duck.literal(m)})" for b, m in pairs)
    rows = con.execute(
        f"SELECT benchmark, llm, avg(length(one)) >= {_WHOLE} "
        "AND NOT bool_and(coalesce(one = target, false)) AS whole FROM ("
        "SELECT benchmark, llm, prompt, min(answer) AS one, max(answer) AS other, "
        "count(answer) = count(*) AS known, max(target) AS target, max(correct) AS correct FROM "
        f"({generations.query}) WHERE scored > 0 AND n = 1 "
        f"AND (benchmark, llm) IN ({wanted}) GROUP BY ALL HAVING count(*) > 1) GROUP BY ALL "
        "HAVING bool_and(known AND one = other) AND min(one) <> max(one) "
        f"AND (whole OR count(*) FILTER (correct = 0) >= {_WRONG_PROMPTS})"
    ).fetchall()
    return {(benchmark, llm): whole for benchmark, llm, whole in rows}


def count_once(counts: Counts, found: dict[Pair, Copies]) -> Counts:
    """Counts with one generation per prompt where they are copies, which are listed as left out."""
    here = [found.get((counts.benchmark, str(llm))) for llm in counts.llm]
    if not any(here):
        return counts
    most = np.where([x is not None and x.once for x in here], 1, np.iinfo(np.int64).max)
    k = np.minimum(counts.n_generations, most[:, None])
    reports = []
    for i, (report, copies) in enumerate(zip(counts.rows, here, strict=True)):
        extra = int(counts.n_generations[i].sum() - k[i].sum())
        left_out = {**report.left_out, LEFT_OUT: extra} if extra else report.left_out
        note = () if copies is None else (copies.note,)
        reports.append(
            RowReport(report.read, report.used - extra, left_out, (*report.notes, *note))
        )
    return replace(
        counts, n_correct=np.minimum(counts.n_correct, k), n_generations=k, rows=tuple(reports)
    )
