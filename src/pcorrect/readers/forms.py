"""The forms of a table: long, wide, counts, packed."""

from __future__ import annotations

import duckdb

from pcorrect import duck
from pcorrect.data import MOST_GENERATIONS
from pcorrect.errors import DataError
from pcorrect.parts import NO_COUNT, REPEAT, Part
from pcorrect.readers import packed
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import SHOWN
from pcorrect.readers.rows import Rows
from pcorrect.readers.tables import RawTable, Table
from pcorrect.readers.unscored import with_empty_scores
from pcorrect.readers.values import MISSING, judge

# More labels than this are names of rows, not of generations.
MOST_LABELS = 10_000
_SHOWN = 8
_WHOLE_KINDS = (
    *("BIGINT", "INTEGER", "SMALLINT", "TINYINT"),
    *("UINTEGER", "USMALLINT", "UTINYINT"),
)
_WHOLE = r"\s*[+-]?\d+(\.0*)?\s*"
# 1,000 and 1.000 may be one or a thousand.
_THOUSANDS = r"\s*[+-]?[1-9]\d{0,2}([.,]\d{3})+\s*"


def table_part(con: duckdb.DuckDBPyConnection, raw: RawTable, options: Options) -> Part:
    """Understand a table's columns and values.

    Parameters
    ----------
    con : DuckDBPyConnection
    raw : RawTable
    options : Options

    Returns
    -------
    Part

    Raises
    ------
    DataError
        A column is missing or ambiguous, or a cell breaks a rule.
    ChoiceError
        The table holds several filters, metrics or scorers and none was chosen.
    """
    if options.unscored:
        raw, options = with_empty_scores(raw, options)
    table = Table(con, raw, options)
    match table.layout.form:
        case "counts":
            return _counts(table)
        case "wide":
            return _wide(table)
        case "packed":
            return _packed(table, table.at["scores"])
        case _:
            values = table.distinct(table.text("correct"))
            if "generation" not in table.at and packed.looks_packed(values):
                return _packed(table, table.at["correct"])
            return _long(table, values)


def _long(table: Table, values: list[str]) -> Part:
    verdict = table.verdict(values, [table.at["correct"]])
    return table.part(
        f"SELECT {table.keys}, {_generation(table)} AS generation, "
        f"{table.scores(table.text('correct'), verdict)}, {table.text('answer')} AS answer, "
        f"{table.text('target')} AS target, row {table.rows}"
    )


def _generation(table: Table) -> str:
    """SQL number of the generation: the number given, or the place of its label among all."""
    if "generation" not in table.at:
        return "NULL::BIGINT"
    position = table.at["generation"]
    if table.raw.kinds[position] in _WHOLE_KINDS:
        return f"c{position}::BIGINT"
    label = f"nullif({table.cell(position)}, '')"
    whole = table.con.execute(
        f"SELECT coalesce(bool_and(regexp_full_match(v, '{_WHOLE}') "
        "AND TRY_CAST(v AS BIGINT) IS NOT NULL), true) "
        f"FROM (SELECT {label} AS v {table.rows}) WHERE v IS NOT NULL"
    ).fetchall()[0][0]
    if whole:
        return f"TRY_CAST({label} AS BIGINT)"
    found = table.con.execute(
        f"SELECT {label} AS v {table.rows} AND {label} IS NOT NULL GROUP BY v "
        f"ORDER BY min(row) LIMIT {MOST_LABELS + 1}"
    ).fetchall()
    if len(found) > MOST_LABELS:
        name = table.raw.names[position]
        table.notes.append(f"column {name!r} labels rows, not generations: not used")
        return "NULL::BIGINT"
    shown = ", ".join(f"{i} = {v!r}" for i, (v,) in enumerate(found[:_SHOWN], 1))
    more = ", …" if len(found) > _SHOWN else ""
    table.notes.append(f"generations are numbered in the order of their labels: {shown}{more}")
    labels = ", ".join(duck.literal(v) for (v,) in found)
    return f"nullif(list_position([{labels}], {label}), 0)::BIGINT"


def _wide(table: Table) -> Part:
    positions = [i for _, i in table.layout.wide]
    answers = table.layout.wide_answers
    values = {v for i in positions for v in table.distinct(table.cell(i))}
    verdict = table.verdict(sorted(values), positions)
    cells = ", ".join(
        f"{{'g': {g}, 'v': {table.cell(i)}, "
        f"'a': {table.cell(answers[g]) if g in answers else 'NULL::VARCHAR'}}}"
        for g, i in table.layout.wide
    )
    missing = duck.in_list(verdict.missing)
    empty, total = table.con.execute(
        f"SELECT count(*) FILTER (c.v IS NULL OR c.v IN {missing}), count(*) "
        f"FROM (SELECT unnest([{cells}]) AS c {table.rows})"
    ).fetchall()[0]
    if empty:
        table.notes.append(f"{empty} of {total} cells empty")
    return table.part(
        f'SELECT benchmark, llm, prompt, "group", c.g::BIGINT AS generation, '
        f"{table.scores('c.v', verdict)}, c.a AS answer, NULL::VARCHAR AS target, row "
        f"FROM (SELECT {table.keys}, unnest([{cells}]) AS c, row {table.rows})"
    )


def _counts(table: Table) -> Part:
    blank = duck.in_list(MISSING)
    # A decimal comma is a decimal point; TRY_CAST gives NULL for what is no number.
    number = "TRY_CAST(replace({}, ',', '.') AS DOUBLE)"
    rows = (
        f"SELECT *, v_c IS NULL OR lower(trim(v_c)) IN {blank} AS no_c, "
        f"v_n IS NULL OR lower(trim(v_n)) IN {blank} AS no_n, "
        f"{number.format('v_c')} AS x_c, {number.format('v_n')} AS x_n "
        f"FROM (SELECT {table.keys}, {table.text('n_correct')} AS v_c, "
        f"{table.text('n_generations')} AS v_n, row {table.rows})"
    )
    _check_counts(table, rows)
    again = _repeated_counts(table, rows)
    reason = f"WHEN {again} > 1 THEN '{REPEAT}'" if again else ""
    kept = f"no_c OR {again} > 1" if again else "no_c"
    return table.part(
        f'SELECT benchmark, llm, prompt, "group", NULL::BIGINT AS generation, '
        f"CASE WHEN no_n THEN 0 ELSE x_n::BIGINT END AS n, "
        f"CASE WHEN {kept} THEN 0 ELSE x_n::BIGINT END AS scored, "
        f"CASE WHEN {kept} THEN 0 ELSE x_c::BIGINT END AS correct, "
        f"CASE WHEN no_c THEN '{NO_COUNT}' {reason} END AS reason, "
        f"NULL::VARCHAR AS answer, NULL::VARCHAR AS target, row FROM ({rows})"
    )


def _check_counts(table: Table, rows: str) -> None:
    whole = "({0} IS NULL OR {0} <> floor({0}) OR isinf({0}) OR isnan({0}) OR abs({0}) > 1e15)"
    thousands = (f"regexp_full_match({cell}, '{_THOUSANDS}')" for cell in ("v_c", "v_n"))
    rules = {
        " OR ".join(thousands): ("thousands or decimals? write whole numbers without a separator"),
        f"NOT no_c AND {whole.format('x_c')}": "n_correct must be a whole number",
        f"NOT no_n AND {whole.format('x_n')}": "n_generations must be a whole number",
        "no_n AND NOT no_c": "n_generations is missing",
        "NOT no_c AND x_c < 0": "n_correct must not be negative",
        "NOT no_n AND x_n < 0": "n_generations must not be negative",
        "NOT no_c AND x_c > x_n": "n_correct must not exceed n_generations",
        f"NOT no_n AND x_n > {MOST_GENERATIONS}": f"more than {MOST_GENERATIONS:,} generations",
    }
    case = " ".join(f"WHEN {test} THEN '{rule}'" for test, rule in rules.items())
    bad = table.con.execute(
        f"SELECT row, prompt, v_c, v_n, rule, count(*) OVER () FROM "
        f"(SELECT *, CASE {case} END AS rule FROM ({rows})) WHERE rule IS NOT NULL "
        f"ORDER BY row LIMIT {SHOWN}"
    ).fetchall()
    if bad:
        names = [table.raw.names[table.at[key]] for key in ("n_correct", "n_generations")]
        lines = [
            f"{table.raw.row_word} {row} (prompt {prompt!r}), column {names[0]!r}: {c!r} of "
            f"{n!r} (column {names[1]!r}): {rule}"
            for row, prompt, c, n, rule, _ in bad
        ]
        total = bad[0][-1]
        more = f"\n  … and {total - len(bad)} more" if total > len(bad) else ""
        raise DataError(
            f"{table.raw.source.name}: {total} row(s) hold impossible counts:\n  "
            + "\n  ".join(lines)
            + more
        )


def _repeated_counts(table: Table, rows: str) -> str | None:
    """SQL number of a prompt's row among its repeats; None where no prompt has two rows.

    Raises
    ------
    DataError
        Two rows of one prompt differ.
    """
    keys = 'benchmark, llm, prompt, "group"'
    found = table.con.execute(
        f"SELECT prompt, list(row ORDER BY row), "
        f"count(DISTINCT (coalesce(v_c, ''), coalesce(v_n, ''))) AS kinds "
        f"FROM ({rows}) GROUP BY {keys} HAVING count(*) > 1 ORDER BY kinds DESC, 2 LIMIT 1"
    ).fetchall()
    if not found:
        return None
    prompt, places, kinds = found[0]
    if kinds > 1:
        raise DataError(
            f"{table.raw.source.name}: prompt {prompt!r} has several rows of counts that differ "
            f"({table.raw.row_word}s {places[:5]}); add them up or keep one"
        )
    return f"row_number() OVER (PARTITION BY {keys} ORDER BY row)"


def _packed(table: Table, position: int) -> Part:
    """Several scores per cell: one row per prompt, so Python can unpack them."""
    cell = table.cell(position)
    records = table.con.execute(
        f"SELECT {table.keys}, {cell}, {table.text('target')}, row {table.rows} ORDER BY row"
    ).fetchall()
    cells: dict[str, list[str | None]] = {}
    bad: dict[str, str] = {}
    for value in {record[4] for record in records if record[4] is not None}:
        try:
            cells[value] = packed.unpack(value)
        except ValueError as error:
            bad[value] = str(error)
    single = {item for items in cells.values() for item in items if item is not None}
    verdict = judge(single, table.options.threshold)
    for value, items in cells.items():
        for item in items:
            if item is not None and item in verdict.bad:
                bad[value] = f"{item!r}: {verdict.bad[item]}"
    if bad:
        table.refuse(bad, [position])
    table.notes.extend(verdict.notes)
    rows = Rows(table.raw.source)
    keys = ("benchmark", "llm", "prompt", "group")
    for *names, value, target, row in records:
        shared = dict(zip(keys, names, strict=True)) | {"target": target, "row": row}
        items = cells.get(value, [])
        for generation, item in enumerate(items, 1):
            rows.one(verdict.outcome(item), {**shared, "generation": generation})
        if not items:
            rows.none(shared)
    return table.part(rows.part(table.con).query)
