"""A table in the engine whose columns are understood: its cells as SQL, its values judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import NO_SCORE, Part, Source
from pcorrect.readers import ids
from pcorrect.readers.choice import keep_one
from pcorrect.readers.columns import Layout, resolve
from pcorrect.readers.names import CHOICES, OUTSIDE
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import SHOWN, report
from pcorrect.readers.values import Verdict, judge, scale_of, wrong_scale

MOST_VALUES = 100_000


@dataclass(frozen=True)
class RawTable:
    """A table in the engine before its columns are understood.

    Parameters
    ----------
    source : Source
    view : str
        Table or view with columns ``c0, c1, …`` and ``row`` (from 1).
    names, kinds : sequence of str
        Their names and the engine's types of the columns.
    row_word : str
        What a row number means to the user: "row", "line" or "record".
    notes : tuple of str
    all_text : bool
        Whether every column is text, as in CSV, where a row of empty cells is no row.
    protected : bool
        Whether texts went through `duck.protect`.
    """

    source: Source
    view: str
    names: Sequence[str]
    kinds: Sequence[str]
    row_word: str = "row"
    notes: tuple[str, ...] = ()
    all_text: bool = False
    protected: bool = False


class Table:
    """A table with its layout.

    Parameters
    ----------
    con : DuckDBPyConnection
    raw : RawTable
    options : Options
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, raw: RawTable, options: Options) -> None:
        self.con, self.raw, self.options = con, raw, options
        self.layout: Layout = resolve(raw.names, options.columns, raw.source.name)
        self.at = self.layout.at
        self.notes = [*raw.notes, *self.layout.notes]
        self.where = self._selection(self._filled())
        for what in CHOICES:
            self.where += keep_one(self, what)
        ids.refuse_reused(self)
        if self.layout.form == "long":
            ids.note_better(self)

    def part(self, query: str) -> Part:
        """Part for a query with the columns of the generations table."""
        return Part(
            source=self.raw.source,
            query=query,
            has_llm="llm" in self.at,
            has_benchmark="benchmark" in self.at,
            notes=tuple(dict.fromkeys(self.notes)),
            protected=self.raw.protected,
            names=f"SELECT DISTINCT {self.text('llm')} AS llm, "
            f"{self.text('benchmark')} AS benchmark FROM {self.raw.view}",
        )

    # ---- cells as SQL

    def text(self, name: str) -> str:
        """SQL text of one of our columns; NULL where the table has none."""
        if name not in self.at:
            return "NULL::VARCHAR"
        cell = self.cell(self.at[name])
        named = self.raw.protected and name in ("llm", "benchmark")
        return duck.visible_sql(cell) if named else cell

    def cell(self, position: int) -> str:
        """SQL text of a column."""
        column, kind = f"c{position}", self.raw.kinds[position]
        if kind == "VARCHAR":
            return column
        if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
            # Whole numbers arrive as floats where a column has gaps: id 7.0 is id 7.
            whole = f"{column} = floor({column}) AND abs({column}) < 1e15"
            return (
                f"CASE WHEN isnan({column}::DOUBLE) THEN NULL "
                f"WHEN {whole} THEN TRY_CAST({column} AS BIGINT)::VARCHAR "
                f"ELSE {column}::VARCHAR END"
            )
        return f"{column}::VARCHAR"

    @property
    def prompt(self) -> str:
        """SQL text of the prompt's id; rows are numbered where there is none."""
        return self.text("prompt") if "prompt" in self.at else "row::VARCHAR"

    @property
    def keys(self) -> str:
        """SQL columns benchmark, llm, prompt and group."""
        return (
            f"{self.text('benchmark')} AS benchmark, {self.text('llm')} AS llm, "
            f"{self.prompt} AS prompt, nullif({self.text('group')}, '') AS \"group\""
        )

    @property
    def rows(self) -> str:
        """FROM and WHERE of the rows to read."""
        return f"FROM {self.raw.view} WHERE {self.where}"

    def _filled(self) -> str:
        """Test for rows that hold something, other than the header once more; others are noted."""
        at = [i for name, i in self.at.items() if name not in CHOICES]
        used = sorted({*at, *(i for _, i in self.layout.wide)})
        looked_at = range(len(self.raw.names)) if self.raw.all_text else used
        filled = " OR ".join(f"coalesce({self.cell(i)}, '') <> ''" for i in looked_at)
        header = "false"
        if self.raw.all_text and len(used) > 1:
            same = (self._is_name(i) for i in looked_at)
            # The scores, which are short, say where to look at the rest.
            header = f"CASE WHEN {self._is_name(self._scored)} THEN {' AND '.join(same)} END"
        word = self.raw.row_word
        blank, again = self.con.execute(
            f"SELECT count(*) FILTER (NOT ({filled})), count(*) FILTER (coalesce({header}, false)) "
            f"FROM {self.raw.view}"
        ).fetchall()[0]
        if blank:
            self.notes.append(
                f"{blank} {word}(s) with nothing in any column that is used: not read"
            )
        if again:
            self.notes.append(f"{again} {word}(s) repeat the header: not read")
        # Every later pass would pay for a test that leaves nothing out.
        tests = [f"({filled})"] if blank else []
        tests += [f"NOT coalesce({header}, false)"] if again else []
        return " AND ".join(tests) or "true"

    @property
    def _scored(self) -> int:
        """Position of the first column of scores."""
        known = [self.at[name] for name in ("correct", "n_correct", "scores") if name in self.at]
        return known[0] if known else self.layout.wide[0][1]

    def _is_name(self, position: int) -> str:
        """Test for cells that hold the column's name, as text glued to a file may write it."""
        plain = f"lower(trim({{}}, {duck.literal(OUTSIDE)}))"
        name = duck.literal(self.raw.names[position])
        return f"{plain.format(self.cell(position))} = {plain.format(name)}"

    def _selection(self, filled: str) -> str:
        """Test for rows that hold something, of the llms and benchmarks asked for."""
        tests = [filled]
        for name, kept in (("llm", self.options.llm), ("benchmark", self.options.benchmark)):
            if kept and name in self.at:
                tests.append(f"{self.text(name)} IN {duck.in_list(kept)}")
        return " AND ".join(tests)

    # ---- values

    def distinct(self, expression: str) -> list[str]:
        """Return the distinct texts of a score column, missing ones left out.

        Raises
        ------
        DataError
            There are too many to be right and wrong.
        """
        found = self.con.execute(
            f"SELECT DISTINCT {self.outside(expression)} AS v {self.rows} LIMIT {MOST_VALUES + 1}"
        ).fetchall()
        if len(found) > MOST_VALUES:
            some = [value for (value,) in found[:3]]
            raise DataError(
                f"{self.raw.source.name}: the column of scores holds more than {MOST_VALUES} "
                f"different values, such as {some}: not right or wrong; choose another column or "
                "a threshold"
            )
        return [value for (value,) in found if value is not None]

    def verdict(self, values: Sequence[str], columns: Sequence[int]) -> Verdict:
        """Judge the distinct values of score columns.

        Raises
        ------
        DataError
            A value is neither right, wrong nor missing.
        """
        verdict = judge(values, self.options.threshold)
        self._check_scale(columns)
        if verdict.bad:
            self.refuse(verdict.bad, columns)
        self.notes.extend(verdict.notes)
        return verdict

    def _check_scale(self, columns: Sequence[int]) -> None:
        """Refuse scores up to 1 with a threshold for scores up to 100."""
        threshold = self.options.threshold
        if threshold is None or scale_of(threshold) == 1:
            return
        top = ", ".join(f"max({self._number(self.cell(i))})" for i in columns)
        found = self.con.execute(f"SELECT greatest({top}) {self.rows}").fetchall()[0][0]
        if found is not None and 0 < found <= 1:
            raise DataError(f"{self.raw.source.name}: {wrong_scale(threshold, found)}")

    def refuse(self, bad: Mapping[str, str], columns: Sequence[int]) -> None:
        """Raise the error that shows where bad values stand.

        Parameters
        ----------
        bad : mapping of str to str
            Value -> the rule it breaks.
        columns : sequence of int
            Where to look for them.

        Raises
        ------
        DataError
        """
        found: list[tuple[int, str, str, str]] = []
        total = 0
        for position in columns:
            cell = self.cell(position)
            query = f"{self.rows} AND {cell} IN {duck.in_list(list(bad))}"
            first = self.con.execute(
                f"SELECT row, {self.prompt}, {cell} {query} ORDER BY row LIMIT {SHOWN}"
            ).fetchall()
            total += self.con.execute(f"SELECT count(*) {query}").fetchall()[0][0]
            found += [(row, self.raw.names[position], prompt, v) for row, prompt, v in first]
        found.sort()
        lines = [
            f"{self.raw.row_word} {row} (prompt {prompt!r}), column {name!r}: {value!r}: "
            f"{bad[value]}"
            for row, name, prompt, value in found[:SHOWN]
        ]
        raise report(self.raw.source.name, lines, total)

    def _number(self, expression: str) -> str | None:
        """SQL number of a score on the threshold's scale; these can be too many to list."""
        if self.options.threshold is None:
            return None
        number = f"TRY_CAST({expression} AS DOUBLE)"
        top = scale_of(self.options.threshold)
        return f"CASE WHEN {number} BETWEEN 0 AND {top} THEN {number} END"

    def outside(self, expression: str) -> str:
        """SQL text of a score, NULL where the threshold alone decides."""
        number = self._number(expression)
        return f"CASE WHEN {number} IS NULL THEN {expression} END" if number else expression

    def scores(self, expression: str, verdict: Verdict) -> str:
        """SQL columns n, scored, correct and reason of one generation."""
        right = f"{expression} IN {duck.in_list(verdict.right)}"
        wrong = f"{expression} IN {duck.in_list(verdict.wrong)}"
        number = self._number(expression)
        if number is not None:
            right = f"(coalesce({number} >= {self.options.threshold}, false) OR {right})"
            wrong = f"(coalesce({number} < {self.options.threshold}, false) OR {wrong})"
        scored = f"coalesce({right} OR {wrong}, false)"
        return (
            f"1::BIGINT AS n, {scored}::BIGINT AS scored, "
            f"coalesce({right}, false)::BIGINT AS correct, "
            f"CASE WHEN NOT {scored} THEN '{NO_SCORE}' END AS reason"
        )
