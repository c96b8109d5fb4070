"""A table of any format, long, wide, counts or packed, becomes a piece of the generations table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from pcorrect.errors import DataError
from pcorrect.readers import duck, packed
from pcorrect.readers.columns import Layout, resolve
from pcorrect.readers.options import Options
from pcorrect.readers.parts import NO_COUNT, NO_SCORE, Part, Rows, Source
from pcorrect.readers.values import MISSING, Verdict, judge, scale_of

MOST_VALUES = 100_000
SHOWN = 10


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
        What a row number means to the user: "row" or "line".
    """

    source: Source
    view: str
    names: Sequence[str]
    kinds: Sequence[str]
    row_word: str = "row"
    notes: tuple[str, ...] = ()


def table_part(con: duckdb.DuckDBPyConnection, raw: RawTable, options: Options) -> Part:
    """Understand a table's columns and values.

    Raises
    ------
    DataError
        A column is missing or ambiguous, or a cell breaks a rule.
    """
    layout = resolve(raw.names, options.columns, raw.source.name)
    return _Table(con, raw, layout, options).part()


class _Table:
    def __init__(
        self, con: duckdb.DuckDBPyConnection, raw: RawTable, layout: Layout, options: Options
    ) -> None:
        self.con, self.raw, self.layout, self.options = con, raw, layout, options
        self.at = layout.at
        self.notes = [*raw.notes, *layout.notes]
        self.where = self.selection()

    def part(self) -> Part:
        match self.layout.form:
            case "counts":
                query = self.counts()
            case "wide":
                query = self.wide()
            case "packed":
                return self.packed()
            case _:
                values = self.distinct(self.outside(self.text("correct")))
                if "generation" not in self.at and packed.looks_packed(values):
                    return self.packed()
                query = self.long(values)
        return self.done(query)

    def done(self, query: str) -> Part:
        return Part(
            self.raw.source, query, "llm" in self.at, "benchmark" in self.at, tuple(self.notes)
        )

    # ---- columns as text

    def text(self, name: str) -> str:
        """SQL text of one of our columns; NULL where the table has none."""
        return self.cell(self.at[name]) if name in self.at else "NULL::VARCHAR"

    def cell(self, position: int) -> str:
        column, kind = f"c{position}", self.raw.kinds[position]
        if kind == "VARCHAR":
            return column
        if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
            # Whole numbers often arrive as floats, where a column has gaps.
            whole = f"{column} = floor({column}) AND abs({column}) < 1e15"
            return (
                f"CASE WHEN {whole} THEN {column}::BIGINT::VARCHAR "
                f"WHEN isnan({column}::DOUBLE) THEN NULL ELSE {column}::VARCHAR END"
            )
        return f"{column}::VARCHAR"

    def prompt(self) -> str:
        return self.text("prompt") if "prompt" in self.at else "row::VARCHAR"

    def keys(self) -> str:
        group = f"nullif({self.text('group')}, '')"
        return (
            f"{self.text('benchmark')} AS benchmark, {self.text('llm')} AS llm, "
            f'{self.prompt()} AS prompt, {group} AS "group"'
        )

    def selection(self) -> str:
        """WHERE clause: rows that are not blank, of the llms and benchmarks asked for."""
        filled = [f"coalesce({self.cell(i)}, '') <> ''" for i in self.used()]
        tests = ["(" + " OR ".join(filled) + ")"]
        for name, kept in (("llm", self.options.llm), ("benchmark", self.options.benchmark)):
            if kept and name in self.at:
                tests.append(f"{self.text(name)} IN {duck.in_list(kept)}")
        return " AND ".join(tests)

    def used(self) -> list[int]:
        return sorted({*self.at.values(), *(i for _, i in self.layout.wide)})

    # ---- values

    def distinct(self, expression: str) -> list[str]:
        """Return the distinct texts of an expression, missing ones left out."""
        rows = self.con.execute(
            f"SELECT DISTINCT {expression} AS v FROM {self.raw.view} WHERE {self.where} "
            f"LIMIT {MOST_VALUES + 1}"
        ).fetchall()
        if len(rows) > MOST_VALUES:
            some = [value for (value,) in rows[:3]]
            raise DataError(
                f"{self.raw.source.name}: the column of scores holds more than {MOST_VALUES} "
                f"different values, such as {some}: not right or wrong; choose another column or "
                "a threshold"
            )
        return [value for (value,) in rows if value is not None]

    def verdict(self, values: Sequence[str], expression: str, columns: Sequence[int]) -> Verdict:
        verdict = judge(values, self.options.threshold)
        if verdict.bad:
            self.refuse(verdict.bad, expression, columns)
        self.notes.extend(note for note in verdict.notes if note not in self.notes)
        return verdict

    def refuse(self, bad: object, expression: str, columns: Sequence[int]) -> None:
        """Raise the error that shows where bad values stand."""
        assert isinstance(bad, dict)
        found: list[tuple[int, str, str, str]] = []
        total = 0
        for position in columns:
            cell = self.cell(position)
            test = f"{self.where} AND {cell} IN {duck.in_list(list(bad))}"
            query = f"FROM {self.raw.view} WHERE {test}"
            rows = self.con.execute(
                f"SELECT row, {self.prompt()}, {cell} {query} ORDER BY row LIMIT {SHOWN}"
            ).fetchall()
            total += self.con.execute(f"SELECT count(*) {query}").fetchall()[0][0]
            found += [(row, self.raw.names[position], prompt, v) for row, prompt, v in rows]
        found.sort(key=lambda item: item[0])
        lines = [
            f"{self.raw.row_word} {row} (prompt {prompt!r}), column {name!r}: {value!r}: {bad[value]}"
            for row, name, prompt, value in found[:SHOWN]
        ]
        more = f"\n  … and {total - len(lines)} more" if total > len(lines) else ""
        raise DataError(
            f"{self.raw.source.name}: {total} value(s) cannot be read as right or wrong:\n  "
            + "\n  ".join(lines)
            + more
        )

    # ---- forms

    def number(self, expression: str) -> str | None:
        """SQL number of a score on the threshold's scale; these can be too many to list."""
        if self.options.threshold is None:
            return None
        number = f"TRY_CAST({expression} AS DOUBLE)"
        top = scale_of(self.options.threshold)
        return f"CASE WHEN {number} BETWEEN 0 AND {top} THEN {number} END"

    def outside(self, expression: str) -> str:
        """SQL text of what `number` does not understand."""
        number = self.number(expression)
        return f"CASE WHEN {number} IS NULL THEN {expression} END" if number else expression

    def scores(self, expression: str, verdict: Verdict) -> str:
        """SQL columns n, scored, correct and reason of one generation."""
        right = f"{expression} IN {duck.in_list(verdict.right)}"
        wrong = f"{expression} IN {duck.in_list(verdict.wrong)}"
        number = self.number(expression)
        if number is not None:
            right = f"(coalesce({number} >= {self.options.threshold}, false) OR {right})"
            wrong = f"(coalesce({number} < {self.options.threshold}, false) OR {wrong})"
        return (
            f"1::BIGINT AS n, coalesce({right} OR {wrong}, false)::BIGINT AS scored, "
            f"coalesce({right}, false)::BIGINT AS correct, "
            f"CASE WHEN coalesce({right} OR {wrong}, false) THEN NULL ELSE '{NO_SCORE}' END AS reason"
        )

    def long(self, values: Sequence[str] | None) -> str:
        position = self.at["correct"]
        expression = self.text("correct")
        verdict = self.verdict(values or [], expression, [position])
        return (
            f"SELECT {self.keys()}, {self.generation()} AS generation, "
            f"{self.scores(expression, verdict)}, {self.text('answer')} AS answer, "
            f"{self.text('target')} AS target, row FROM {self.raw.view} WHERE {self.where}"
        )

    def generation(self) -> str:
        if "generation" not in self.at:
            return "NULL::BIGINT"
        position = self.at["generation"]
        if self.raw.kinds[position].removeprefix("U") in (
            "BIGINT",
            "INTEGER",
            "SMALLINT",
            "TINYINT",
        ):
            return f"c{position}::BIGINT"
        labels = self.distinct(self.cell(position))
        numbers: dict[str, int] = {}
        for label in labels:
            try:
                numbers[label] = int(label)
            except ValueError:
                break
        if len(numbers) == len(labels):
            return f"TRY_CAST({self.cell(position)} AS BIGINT)"
        ordered = ", ".join(duck.literal(label) for label in sorted(labels) if label)
        return f"nullif(list_position([{ordered}], {self.cell(position)}), 0)::BIGINT"

    def wide(self) -> str:
        positions = [i for _, i in self.layout.wide]
        every = " UNION ALL ".join(
            f"SELECT DISTINCT {self.outside(self.cell(i))} AS v FROM {self.raw.view} WHERE {self.where}"
            for i in positions
        )
        values = [v for (v,) in self.con.execute(f"SELECT DISTINCT v FROM ({every})").fetchall()]
        verdict = self.verdict([v for v in values if v is not None], "v", positions)
        cells = ", ".join(
            f"{{'g': {g}, 'v': {self.cell(i)}, 'a': "
            + (self.cell(self.layout.wide_answers[g]) if g in self.layout.wide_answers else "NULL")
            + "}"
            for g, i in self.layout.wide
        )
        missing = duck.in_list(verdict.missing)
        empty, total = self.con.execute(
            f"SELECT count(*) FILTER (WHERE c.v IS NULL OR c.v IN {missing}), count(*) FROM "
            f"(SELECT unnest([{cells}]) AS c FROM {self.raw.view} WHERE {self.where})"
        ).fetchall()[0]
        if empty:
            self.notes.append(f"{empty} of {total} cells empty")
        return (
            f'SELECT benchmark, llm, prompt, "group", c.g::BIGINT AS generation, '
            f"{self.scores('c.v', verdict)}, c.a::VARCHAR AS answer, "
            f"NULL::VARCHAR AS target, row FROM "
            f"(SELECT {self.keys()}, unnest([{cells}]) AS c, row FROM {self.raw.view} "
            f"WHERE {self.where})"
        )

    def counts(self) -> str:
        n, c = self.text("n_generations"), self.text("n_correct")
        blank = duck.in_list([*MISSING, *(word.upper() for word in MISSING)])
        # A decimal comma is a decimal point; TRY_CAST gives NULL for what is no number.
        number = "TRY_CAST(replace({}, ',', '.') AS DOUBLE)"
        rows = (
            f"SELECT *, v_c IS NULL OR trim(v_c) IN {blank} AS no_c, "
            f"v_n IS NULL OR trim(v_n) IN {blank} AS no_n, {number.format('v_c')} AS x_c, "
            f"{number.format('v_n')} AS x_n FROM (SELECT {self.keys()}, {c} AS v_c, {n} AS v_n, row "
            f"FROM {self.raw.view} WHERE {self.where})"
        )
        self.check_counts(rows)
        return (
            f'SELECT benchmark, llm, prompt, "group", NULL::BIGINT AS generation, '
            f"CASE WHEN no_n THEN 0 ELSE x_n::BIGINT END AS n, "
            f"CASE WHEN no_c THEN 0 ELSE x_n::BIGINT END AS scored, "
            f"CASE WHEN no_c THEN 0 ELSE x_c::BIGINT END AS correct, "
            f"CASE WHEN no_c THEN '{NO_COUNT}' END AS reason, NULL::VARCHAR AS answer, "
            f"NULL::VARCHAR AS target, row FROM ({rows})"
        )

    def check_counts(self, rows: str) -> None:
        whole = "({0} IS NULL OR {0} <> floor({0}) OR isinf({0}) OR isnan({0}))"
        rules = {
            f"NOT no_c AND {whole.format('x_c')}": "n_correct must be a whole number",
            f"NOT no_n AND {whole.format('x_n')}": "n_generations must be a whole number",
            "no_n AND NOT no_c": "n_generations is missing",
            "NOT no_c AND x_c < 0": "n_correct must not be negative",
            "NOT no_n AND x_n < 0": "n_generations must not be negative",
            "NOT no_c AND x_c > x_n": "n_correct must not exceed n_generations",
        }
        case = " ".join(f"WHEN {test} THEN '{rule}'" for test, rule in rules.items())
        bad = self.con.execute(
            f"SELECT row, prompt, v_c, v_n, rule, count(*) OVER () FROM "
            f"(SELECT *, CASE {case} END AS rule FROM ({rows})) WHERE rule IS NOT NULL "
            f"ORDER BY row LIMIT {SHOWN}"
        ).fetchall()
        if bad:
            names = [self.raw.names[self.at[key]] for key in ("n_correct", "n_generations")]
            lines = [
                f"{self.raw.row_word} {row} (prompt {prompt!r}), columns {names[0]!r} and "
                f"{names[1]!r}: {c!r} of {n!r}: {rule}"
                for row, prompt, c, n, rule, _ in bad
            ]
            more = f"\n  … and {bad[0][-1] - len(bad)} more" if bad[0][-1] > len(bad) else ""
            raise DataError(
                f"{self.raw.source.name}: {bad[0][-1]} row(s) hold impossible counts:\n  "
                + "\n  ".join(lines)
                + more
            )

    def packed(self) -> Part:
        """Several scores per cell: one row per prompt, so Python can unpack them."""
        position = self.at.get("scores", self.at.get("correct", -1))
        cell = self.cell(position)
        records = self.con.execute(
            f"SELECT {self.keys()}, {cell}, {self.text('target')}, row FROM {self.raw.view} "
            f"WHERE {self.where} ORDER BY row"
        ).fetchall()
        cells: dict[str, list[str | None]] = {}
        bad: dict[str, str] = {}
        for value in {record[4] for record in records if record[4] is not None}:
            try:
                cells[value] = packed.unpack(value)
            except ValueError as error:
                bad[value] = str(error)
        single = {item for items in cells.values() for item in items if item is not None}
        verdict = judge(single, self.options.threshold)
        for value, items in cells.items():
            for item in items:
                if item is not None and item in verdict.bad:
                    bad[value] = f"{item!r}: {verdict.bad[item]}"
        if bad:
            self.refuse(bad, cell, [position])
        self.notes.extend(verdict.notes)
        rows = Rows(self.raw.source)
        for benchmark, llm, prompt, group, value, target, row in records:
            shared = {
                "benchmark": benchmark,
                "llm": llm,
                "prompt": prompt,
                "group": group,
                "target": target,
                "row": row,
            }
            items = cells.get(value, [])
            for generation, item in enumerate(items, 1):
                rows.one(verdict.outcome(item), generation=generation, **shared)
            if not items:
                rows.add(n=0, scored=0, correct=0, **shared)
        part = rows.part(self.con)
        return Part(
            part.source, part.query, "llm" in self.at, "benchmark" in self.at, tuple(self.notes)
        )
