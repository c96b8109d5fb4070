"""What every reader hands on: a piece of the generations table, as a query over the engine."""

from __future__ import annotations

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
# Why a generation is left out. The first group can be counted as wrong, the second never: such a
# row is not a failed generation.
NO_SCORE = "no score"
ERROR = "error"
UNFINISHED = "not completed"
NO_COUNT = "no count"
REPEAT = "exact repeat"
NOT_WRONG = (NO_COUNT, REPEAT)


@dataclass(frozen=True)
class Source:
    """One input.

    Parameters
    ----------
    number : int
        Its place among the inputs.
    name : str
        Its name in messages.
    llm : str
        The llm it stands for if it names none.
    """

    number: int
    name: str
    llm: str


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
    """Rows that a log reader collects in Python, before they enter the engine.

    Parameters
    ----------
    source : Source
    columns : dict
        The columns of `COLUMNS`; llm and benchmark are None where the log names none.
    notes : list of str
    hashes : list of str or None
        For each row a fingerprint of its prompt, where the log has one.
    """

    source: Source
    columns: dict[str, list[object]] = field(default_factory=lambda: {k: [] for k in COLUMNS})
    notes: list[str] = field(default_factory=list)
    hashes: list[str | None] = field(default_factory=list)

    def add(self, prompt_hash: str | None = None, **cells: object) -> None:
        """Append one row; what is not given is NULL, `n` is 1, `row` the next number."""
        cells.setdefault("n", 1)
        cells.setdefault("row", len(self.hashes) + 1)
        for key, column in self.columns.items():
            column.append(cells.get(key))
        self.hashes.append(prompt_hash)

    def one(self, correct: int | None, reason: str = NO_SCORE, **cells: object) -> None:
        """Append one generation: right (1), wrong (0) or without a score (None)."""
        self.add(
            scored=0 if correct is None else 1,
            correct=correct or 0,
            reason=reason if correct is None else None,
            **cells,  # type: ignore[arg-type]
        )

    def part(self, con: duckdb.DuckDBPyConnection) -> Part:
        """Store the rows in the engine."""
        table = f"rows_{self.source.number}"
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
