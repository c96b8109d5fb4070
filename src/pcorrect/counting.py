"""From the generations table to counts: grouped in the engine, one pass, then small arrays."""

from __future__ import annotations

import numpy as np

from pcorrect.counts import Counts, RowReport
from pcorrect.errors import DataError
from pcorrect.generations import Generations, nothing_left
from pcorrect.readers import duck

REPEAT = "exact repeat"


def count(generations: Generations) -> list[Counts]:
    """Counts of every llm on every prompt, one `Counts` per benchmark.

    Parameters
    ----------
    generations : Generations

    Returns
    -------
    list of Counts

    Raises
    ------
    DataError
        A row lacks a prompt or llm, or one generation has two different scores.
    ChoiceError
        The chosen llm or benchmark does not occur.
    """
    con = generations.con
    con.execute("DROP TABLE IF EXISTS cells")
    con.execute(
        f'CREATE TEMP TABLE cells AS SELECT benchmark, llm, prompt, source, "group", '
        f"sum(n)::BIGINT AS n, sum(scored)::BIGINT AS k, sum(correct)::BIGINT AS s, "
        f"min(row) AS row FROM ({generations.query}) GROUP BY ALL"
    )
    benchmarks = [
        b
        for (b,) in con.execute(
            "SELECT benchmark FROM cells GROUP BY 1 ORDER BY min((source,row))"
        ).fetchall()
    ]
    if not benchmarks:
        raise nothing_left(generations)
    out = []
    for benchmark in benchmarks:
        rows = con.execute(
            "SELECT llm, prompt, n, k, s FROM cells WHERE benchmark = ? ORDER BY source, row",
            [benchmark],
        ).fetchall()
        llms = list(dict.fromkeys(r[0] for r in rows))
        prompts = list(dict.fromkeys(r[1] for r in rows))
        li = {x: i for i, x in enumerate(llms)}
        pi = {x: i for i, x in enumerate(prompts)}
        shape = (len(llms), len(prompts))
        n, k, s = (np.zeros(shape, np.int64) for _ in range(3))
        listed = np.zeros(shape, bool)
        for llm, prompt, a, b, c in rows:
            ij = li[llm], pi[prompt]
            n[ij] += a
            k[ij] += b
            s[ij] += c
            listed[ij] = True
        reports = tuple(
            RowReport(
                int(n[i].sum()),
                int(k[i].sum()),
                {"no score": int((n[i] - k[i]).sum())} if (n[i] != k[i]).any() else {},
                generations.notes,
            )
            for i in range(len(llms))
        )
        out.append(
            Counts(
                benchmark, np.array(llms, object), np.array(prompts, object), s, k, listed, reports
            )
        )
    return out
