"""Tables of answers without scores: enough to compare answers, not to count right ones."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from pcorrect.errors import DataError
from pcorrect.parts import Part
from pcorrect.readers.options import Options
from pcorrect.readers.tables import RawTable

NOTE = "no column of scores: P(correct) is not available for its answers"


def with_empty_scores(raw: RawTable, options: Options) -> tuple[RawTable, Options]:
    """Give a table a column of scores, all of them missing, and options that choose it."""
    if options.errors == "wrong":
        raise DataError(
            f"{raw.source.name}: there is no column of scores, so errors='wrong' would make every "
            "answer wrong; leave it out, or give the scores"
        )
    filled = replace(
        raw,
        view=f"(SELECT *, NULL::VARCHAR AS c{len(raw.names)} FROM {raw.view})",
        names=[*raw.names, "correct"],
        kinds=[*raw.kinds, "VARCHAR"],
        notes=(*raw.notes, NOTE),
    )
    return filled, replace(options, columns={**options.columns, "correct": "correct"})


def has_answers(con: duckdb.DuckDBPyConnection, part: Part) -> bool:
    """Whether a table without scores holds answers.

    Raises
    ------
    DataError
        A generation has two different answers: without a score, none is a failed attempt.
    """
    twice = con.execute(
        "SELECT prompt, generation, list(row ORDER BY row)[:4] AS rows "
        f"FROM ({part.query}) WHERE generation IS NOT NULL "
        "GROUP BY benchmark, llm, prompt, generation HAVING count(DISTINCT answer) > 1 "
        "ORDER BY rows LIMIT 1"
    ).fetchall()
    if twice:
        prompt, generation, rows = twice[0]
        raise DataError(
            f"{part.source.name}: prompt {prompt!r}, generation {generation} has different answers "
            f"(rows {rows}); keep one, or number them apart if they are different generations"
        )
    # where no row is of the llms asked for, the choice is what is wrong
    query = f"SELECT count(*) = 0 OR count(answer) > 0 FROM ({part.query})"
    return bool(con.execute(query).fetchall()[0][0])
