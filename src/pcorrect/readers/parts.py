"""What every reader hands on: a piece of the generations table, as a query over the engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import duckdb

from pcorrect.readers import duck

# A row stands for `n` generations, of which `scored` have a score and `correct` are right: one
# generation in long tables and logs, all generations of a prompt in tables of counts.
COLUMNS = {
    "benchmark": "VARCHAR",
    "llm": "VARCHAR",
    "prompt": "VARCHAR",
    "group": "VARCHAR",
    "generation": "BIGINT",
    "n": "BIGINT",
    "scored": "BIGINT",
    "correct": "BIGINT",
    "reason": "VARCHAR",
    "answer": "VARCHAR",
    "target": "VARCHAR",
    "row": "BIGINT",
}
NO_SCORE = "no score"
NO_COUNT = "no count"
ERROR = "error"


@dataclass(frozen=True)
class Source:
    """One input: its number, its name for messages, and the llm it stands for by default."""

    number: int
    name: str
    stem: str


@dataclass(frozen=True)
class Part:
    """Rows of one source.

    Parameters
    ----------
    source : Source
    query : str
        SELECT with the columns of `COLUMNS`; NULL llm or benchmark where the source has none.
    has_llm, has_benchmark : bool
        Whether the source itself names the llm and the benchmark.
    notes : tuple of str
    """

    source: Source
    query: str
    has_llm: bool
    has_benchmark: bool
    notes: tuple[str, ...] = ()


@dataclass
class Rows:
    """Rows that a log reader collects in Python.

    `llm` and `benchmark` are None where the log names none.
    """

    source: Source
    columns: dict[str, list[object]] = field(default_factory=lambda: {k: [] for k in COLUMNS})
    notes: list[str] = field(default_factory=list)

    def add(self, **cells: object) -> None:
        """Append one row; what is not given is NULL, `n` is 1."""
        cells.setdefault("n", 1)
        for key, column in self.columns.items():
            column.append(cells.get(key))

    def one(self, correct: int | None, reason: str = NO_SCORE, **cells: object) -> None:
        """Append one generation: right (1), wrong (0) or without a score (None)."""
        self.add(
            scored=0 if correct is None else 1,
            correct=correct or 0,
            reason=reason if correct is None else None,
            **cells,
        )

    def part(self, con: duckdb.DuckDBPyConnection) -> Part:
        """Store the rows in the engine."""
        table = f"rows_{self.source.number}"
        numbers: Iterable[object] = range(1, len(self.columns["n"]) + 1)
        if all(row is None for row in self.columns["row"]):
            self.columns["row"] = list(numbers)
        duck.store(con, table, {k: (kind, self.columns[k]) for k, kind in COLUMNS.items()})
        named = {k: any(v is not None for v in self.columns[k]) for k in ("llm", "benchmark")}
        listed = ", ".join(duck.ident(k) for k in COLUMNS)
        return Part(
            self.source,
            f"SELECT {listed} FROM {duck.ident(table)}",
            named["llm"],
            named["benchmark"],
            tuple(self.notes),
        )
