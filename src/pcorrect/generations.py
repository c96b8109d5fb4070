"""The generations table: one row per generation, whatever it was read from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb

from pcorrect.errors import ChoiceError
from pcorrect.readers import duck
from pcorrect.readers.options import DEFAULT_BENCHMARK, Options
from pcorrect.readers.parts import COLUMNS, NO_COUNT, Part

if TYPE_CHECKING:
    import narwhals as nw


class Generations:
    """Generations of any number of llms on any number of benchmarks, as a query.

    Nothing is loaded: tables stay in their files and every question is answered by the embedded
    engine in one pass over them.

    Parameters
    ----------
    con : DuckDBPyConnection
        The engine that the parts live in.
    parts : sequence of Part
        What the readers found, one per source.
    options : Options
    notes : sequence of str
        Decisions that concern no single source.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        parts: Sequence[Part],
        options: Options,
        notes: Sequence[str] = (),
    ) -> None:
        self.con, self.parts, self.options = con, tuple(parts), options
        prefix = len(parts) > 1
        self.notes = (
            *notes,
            *(
                f"{part.source.name}: {note}" if prefix else note
                for part in parts
                for note in part.notes
            ),
        )
        self.query = _union(self.parts, options)

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """The table with columns benchmark, llm, prompt, generation, correct, answer, target, …

        `correct` is 1, 0 or NULL; a row of a table of counts is spread over its generations, which
        then have no number.
        """
        names = ", ".join(
            f"WHEN {part.source.number} THEN {duck.literal(part.source.name)}"
            for part in self.parts
        ).replace(", WHEN", " WHEN")
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
            f"SELECT {column} FROM ({self.query}) GROUP BY ALL ORDER BY min((source, row))"
        ).fetchall()
        return [name for (name,) in rows]

    def __repr__(self) -> str:
        shown = ", ".join(part.source.name for part in self.parts[:3])
        more = f" and {len(self.parts) - 3} more" if len(self.parts) > 3 else ""
        return f"Generations({shown}{more})"


def _union(parts: Sequence[Part], options: Options) -> str:
    """One query over all parts: names filled in, filters and the rule for errors applied."""
    llm = _given_name(parts, options.llm, [p.source.stem for p in parts if not p.has_llm], "llm")
    benchmark = _given_name(parts, options.benchmark, [DEFAULT_BENCHMARK], "benchmark")
    columns = [duck.ident(name) for name in COLUMNS if name not in ("llm", "benchmark", "scored")]
    scored = "scored"
    if options.errors == "wrong":
        scored = (
            f"CASE WHEN reason IS NULL OR reason = '{NO_COUNT}' THEN scored ELSE n END AS scored"
        )
    selects = []
    for part in parts:
        default = duck.literal(llm or part.source.stem)
        name = "llm" if part.has_llm else f"{default}::VARCHAR AS llm"
        bench = duck.literal(benchmark or DEFAULT_BENCHMARK)
        task = "benchmark" if part.has_benchmark else f"{bench}::VARCHAR AS benchmark"
        selects.append(
            f"SELECT {name}, {task}, {scored}, {', '.join(columns)}, "
            f"{part.source.number}::INTEGER AS source FROM ({part.query})"
        )
    query = " UNION ALL ".join(selects)
    tests = [
        f"{column} IN {duck.in_list(kept)}"
        for column, kept in (("llm", options.llm), ("benchmark", options.benchmark))
        if kept
    ]
    return f"SELECT * FROM ({query}) WHERE {' AND '.join(tests)}" if tests else query


def _given_name(
    parts: Sequence[Part], given: tuple[str, ...], defaults: list[str], column: str
) -> str | None:
    """A single name that is given names the sources that carry none, unless it picks among them."""
    named = any(part.has_llm if column == "llm" else part.has_benchmark for part in parts)
    if len(given) == 1 and not named and given[0] not in defaults:
        return given[0]
    return None


def nothing_left(generations: Generations) -> ChoiceError:
    """Error for a choice of llm or benchmark that leaves no row."""
    options = generations.options
    unfiltered = Options(errors=options.errors)
    query = _union(generations.parts, unfiltered)
    con = generations.con
    found = con.execute(f"SELECT DISTINCT llm, benchmark FROM ({query}) ORDER BY ALL").fetchall()
    llms = sorted({llm for llm, _ in found})
    benchmarks = sorted({benchmark for _, benchmark in found})
    wanted = [f"llm {name!r}" for name in options.llm]
    wanted += [f"benchmark {name!r}" for name in options.benchmark]
    return ChoiceError(
        f"no generation of {' and '.join(wanted) or 'any llm'}; llms: {llms}, benchmarks: "
        f"{benchmarks}",
        llms if options.llm else benchmarks,
    )
