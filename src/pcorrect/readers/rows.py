"""Rows that a log reader collects in Python, before they enter the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import COLUMNS, NO_SCORE, Part, Source
from pcorrect.readers.json_file import collision
from pcorrect.readers.values import as_text


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
    _texts: dict[str, bool] = field(default_factory=dict)
    _counted: set[tuple[object, ...]] = field(default_factory=set)

    def prompt(self, value: object, key: str = "id") -> str | None:
        """Name of a prompt by its id in the log; None where it has none, which counting refuses.

        Parameters
        ----------
        value : object
        key : str
            What the log calls the id, for messages.

        Raises
        ------
        DataError
            The id is a number that is an id as text too.
        """
        name, text = as_text(value), isinstance(value, str)
        if name is not None and self._texts.setdefault(name, text) != text:
            raise collision(self.source.name, key, name)
        return name

    def add(self, cells: Mapping[str, object]) -> None:
        """Append one row; what is not given is NULL, `n` is 1, `row` the next number.

        Beside the columns, `cells` may hold `prompt_hash`.
        """
        defaults = {"n": 1, "row": len(self.hashes) + 1}
        for key, column in self.columns.items():
            column.append(cells.get(key, defaults.get(key)))
        fingerprint = cells.get("prompt_hash")
        self.hashes.append(None if fingerprint is None else str(fingerprint))

    def one(self, correct: int | None, cells: Mapping[str, object], reason: str = NO_SCORE) -> None:
        """Append one generation: right (1), wrong (0) or without a score (None)."""
        scored = {
            "scored": 0 if correct is None else 1,
            "correct": correct or 0,
            "reason": reason if correct is None else None,
        }
        self.add({**cells, **scored})

    def none(self, cells: Mapping[str, object]) -> None:
        """Append a prompt that has no generation."""
        self.add({**cells, "n": 0, "scored": 0, "correct": 0})

    def total(self, correct: int | None, n: int, cells: Mapping[str, object]) -> None:
        """Append all n generations of a prompt, of which only the number of right ones is known.

        Raises
        ------
        DataError
            The prompt has such a row already: its generations would count twice.
        """
        key = tuple(cells.get(name) for name in ("benchmark", "llm", "prompt"))
        if key in self._counted and cells.get("prompt") is not None:
            raise DataError(
                f"{self.source.name}: prompt {cells['prompt']!r} occurs twice, each time as the "
                f"mean of {n} generations; keep one, or give different prompts different ids"
            )
        self._counted.add(key)
        scored = {"n": n, "scored": 0 if correct is None else n, "correct": correct or 0}
        self.add({**cells, **scored, "reason": NO_SCORE if correct is None else None})

    def part(self, con: duckdb.DuckDBPyConnection) -> Part:
        """Store the rows in the engine."""
        table = f"rows_{self.source.number}"
        duck.store(con, table, {k: (kind, self.columns[k]) for k, kind in COLUMNS.items()})
        named = {k: any(v is not None for v in self.columns[k]) for k in ("llm", "benchmark")}
        listed = ", ".join(duck.ident(k) for k in COLUMNS)
        return Part(
            source=self.source,
            query=f"SELECT {listed} FROM {duck.ident(table)}",
            has_llm=named["llm"],
            has_benchmark=named["benchmark"],
            notes=tuple(self.notes),
            protected=True,
        )
