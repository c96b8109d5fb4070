"""The generations table: one row per generation, whatever it was read from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import duckdb

from pcorrect import duck
from pcorrect.errors import ChoiceError, DataError
from pcorrect.parts import COLUMNS, DEFAULT_BENCHMARK, NO_COUNT, NOT_WRONG, Part, Selection

if TYPE_CHECKING:
    import narwhals as nw


class Generations:
    """Generations of any number of llms on any number of benchmarks, as a query.

    Nothing is loaded: tables stay in their files, and every question is answered by the embedded
    engine in a pass over them.

    Parameters
    ----------
    con : DuckDBPyConnection
        The engine that the parts live in.
    parts : sequence of Part
        What the readers found, one per source.
    selection : Selection
    notes : sequence of str
        Decisions that concern no single source.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        parts: Sequence[Part],
        selection: Selection,
        notes: Sequence[str] = (),
    ) -> None:
        self.con, self.parts, self.selection = con, tuple(parts), selection
        self.notes = tuple(notes)

    @cached_property
    def query(self) -> str:
        """Query of all rows, in the columns of the readers and `source`."""
        self.cells  # noqa: B018 - decides whether ids need their group
        return self._query

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """The table: benchmark, llm, prompt, generation, correct, answer, target, group, source.

        `correct` is 1, 0 or NULL. A row of a table of counts is spread over its generations,
        which then have no number.
        """
        names = " ".join(
            f"WHEN {part.source.number} THEN {duck.literal(part.source.name)}"
            for part in self.parts
        )
        return self.con.sql(
            "SELECT benchmark, llm, prompt, generation, "
            "CASE WHEN i < scored THEN (i < correct)::TINYINT END AS correct, answer, target, "
            f'"group", CASE source {names} END AS source '
            f"FROM (SELECT *, unnest(range(n)) AS i FROM ({self.query}))"
        )

    @property
    def frame(self) -> nw.LazyFrame[duckdb.DuckDBPyRelation]:
        """The same table as a lazy narwhals frame."""
        import narwhals as nw

        return nw.from_native(self.relation)

    @property
    def llms(self) -> list[str]:
        """Names of the llms, in order of appearance."""
        return self._names("llm")

    @property
    def benchmarks(self) -> list[str]:
        """Names of the benchmarks, in order of appearance."""
        return self._names("benchmark")

    def _names(self, column: str) -> list[str]:
        rows = self.con.execute(
            f"SELECT {column} FROM {self.cells} GROUP BY ALL ORDER BY min(first)"
        ).fetchall()
        return [name for (name,) in rows]

    @cached_property
    def cells(self) -> str:
        """Engine table with one row per benchmark, llm, prompt and source.

        Beside the sums it has `first` (order of appearance), `listed` (whether the prompt counts
        as present), `numbered` and `different` (generations with a number, and a lower bound of
        how many of these are different), `low` and `high` (the range of the numbers).
        """
        self._query = _union(self.parts, self.selection)
        self._group(self._query)
        reused = self.con.execute(
            "SELECT benchmark, any_value(prompt) FROM cells WHERE grp <> grp_last GROUP BY ALL"
        ).fetchall()
        if reused:
            names = [benchmark for benchmark, _ in reused]
            self._query = (
                "SELECT * REPLACE (CASE WHEN benchmark IN "
                f'{duck.in_list(names)} AND "group" IS NOT NULL THEN "group" || \'/\' || prompt '
                f"ELSE prompt END AS prompt) FROM ({self._query})"
            )
            self._group(self._query)
            self.notes += (
                f"prompt ids such as {reused[0][1]!r} occur in several groups: a prompt is named "
                "group/id",
            )
        self._check()
        return "cells"

    def _group(self, query: str) -> None:
        # Numbers are told apart by their remainder modulo 124, one bit each: a distinct count
        # would cost as much as all the rest. Equal remainders only send us to the exact check.
        slot = "((generation % 124 + 124) % 124)"
        bits = " + ".join(
            f"bit_count(coalesce(bit_or(1::BIGINT << ({slot} % 62)) FILTER ({slot} {half}), 0))"
            for half in ("< 62", ">= 62")
        )
        try:
            self.con.execute(
                "CREATE OR REPLACE TEMP TABLE cells AS SELECT benchmark, llm, prompt, source, "
                "sum(n)::BIGINT AS n, sum(scored)::BIGINT AS k, sum(correct)::BIGINT AS s, "
                "(source::BIGINT << 40) + min(row) AS first, "
                f"bool_or(reason IS DISTINCT FROM '{NO_COUNT}') AS listed, "
                'min("group") AS grp, max("group") AS grp_last, '
                f"count(generation) AS numbered, {bits} AS different, "
                "min(generation) AS low, max(generation) AS high "
                f"FROM ({query}) GROUP BY benchmark, llm, prompt, source"
            )
        except duckdb.Error as error:
            raise DataError(f"{self._sources}: {duck.reason(error)}") from error

    def _check(self) -> None:
        """Raise an error for rows without a name, and for a choice that leaves no row."""
        names = ("prompt", "llm", "benchmark")
        firsts = ", ".join(f"min(first) FILTER (coalesce({name}, '') = '')" for name in names)
        total, *bad = self.con.execute(f"SELECT count(*), {firsts} FROM cells").fetchall()[0]
        for name, first in zip(names, bad, strict=True):
            if first is not None:
                number, row = first >> 40, first & ((1 << 40) - 1)
                source = next(p.source for p in self.parts if p.source.number == number)
                raise DataError(
                    f"{source.name}: row {row} has no {name}; fill it in or delete the row"
                )
        wanted = self.selection
        if not total and not (wanted.llm or wanted.benchmark):
            raise DataError(f"{self._sources}: there are no rows")
        if not total:
            raise self._absent(wanted)
        found = self.con.execute("SELECT DISTINCT llm, benchmark FROM cells").fetchall()
        here = [{row[i] for row in found} for i in (0, 1)]
        llm, benchmark = (
            tuple(name for name in names if name not in known)
            for names, known in zip((wanted.llm, wanted.benchmark), here, strict=True)
        )
        if llm or benchmark:
            raise self._absent(Selection(llm, benchmark))

    def _absent(self, wanted: Selection) -> Exception:
        """The error for chosen names without a generation."""
        every = " UNION ".join(
            f"SELECT {_task(part)}, {_name(part)} FROM ({part.names or part.query})"
            for part in self.parts
        )
        found = self.con.execute(f"SELECT llm, benchmark FROM ({every}) ORDER BY ALL").fetchall()
        llms, benchmarks = (sorted({row[i] for row in found if row[i]}) for i in (0, 1))
        asked = [f"llm {name!r}" for name in wanted.llm]
        asked += [f"benchmark {name!r}" for name in wanted.benchmark]
        return ChoiceError(
            f"no generation of {' and '.join(asked)}; llms: {llms}; benchmarks: {benchmarks}",
            llms if wanted.llm else benchmarks,
        )

    @property
    def _sources(self) -> str:
        shown = ", ".join(part.source.name for part in self.parts[:3])
        return shown + (f" and {len(self.parts) - 3} more" if len(self.parts) > 3 else "")

    def __repr__(self) -> str:
        return f"Generations({self._sources})"


def _union(parts: Sequence[Part], selection: Selection) -> str:
    """One query over all parts: names filled in, filters and the rule for errors applied."""
    llm = _given(selection.llm, any(p.has_llm for p in parts), [p.source.llm for p in parts])
    benchmark = _given(selection.benchmark, any(p.has_benchmark for p in parts), [])
    columns = [duck.ident(name) for name in COLUMNS if name not in ("llm", "benchmark", "scored")]
    scored = "scored"
    if selection.errors == "wrong":
        kept = duck.in_list(NOT_WRONG)
        scored = f"CASE WHEN reason IS NULL OR reason IN {kept} THEN scored ELSE n END AS scored"
    selects = [
        f"SELECT {_task(part, benchmark)}, {_name(part, llm)}, {scored}, {', '.join(columns)}, "
        f"{part.source.number}::INTEGER AS source FROM ({part.query})"
        for part in parts
    ]
    query = " UNION ALL ".join(selects)
    tests = [
        f"{column} IN {duck.in_list(kept)}"
        for column, kept in (("llm", selection.llm), ("benchmark", selection.benchmark))
        if kept
    ]
    return f"SELECT * FROM ({query}) WHERE {' AND '.join(tests)}" if tests else query


def _given(given: tuple[str, ...], named: bool, defaults: Sequence[str]) -> str | None:
    """A single given name is the name of sources that carry none, unless it picks among them."""
    return given[0] if len(given) == 1 and not named and given[0] not in defaults else None


def _name(part: Part, given: str | None = None) -> str:
    """SQL column llm of a part."""
    if part.has_llm:
        return f"{_shown(part, 'llm')} AS llm"
    return f"{duck.literal(given or part.source.llm)} AS llm"


def _task(part: Part, given: str | None = None) -> str:
    """SQL column benchmark of a part."""
    if part.has_benchmark:
        return f"{_shown(part, 'benchmark')} AS benchmark"
    return f"{duck.literal(given or DEFAULT_BENCHMARK)} AS benchmark"


def _shown(part: Part, name: str) -> str:
    return duck.visible_sql(name) if part.protected else name
