"""JSON and JSONL: records become a table of text; the engine for large files, Python otherwise."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers import files
from pcorrect.readers.columns import ColumnMap
from pcorrect.readers.names import NAMES, snake
from pcorrect.readers.refusal import NotResults
from pcorrect.readers.tables import RawTable
from pcorrect.readers.values import as_text

# Python reads smaller files faster than it takes to plan for them, and reads what the engine
# refuses: half surrogate pairs, NaN.
LARGE = 32 << 20
_BLANK = re.compile(r"[\s\x00]*")
Record = Mapping[str, object]


def read_jsonl(
    con: duckdb.DuckDBPyConnection, source: Source, path: Path, columns: ColumnMap
) -> RawTable:
    """Make a file with one JSON object per line a table of text in the engine.

    Raises
    ------
    DataError
        A line is not a JSON object, or ids 1 and "1" name two prompts.
    """
    packing = files.compression(path)
    if packing == "zstd":
        files.check_zstd(path)
    size = path.stat().st_size * (8 if packing else 1)
    if size >= LARGE and packing in (None, "gzip", "zstd"):
        try:
            return _engine(con, source, path, packing, columns)
        except duckdb.Error:
            con.execute(f"DROP VIEW IF EXISTS json_{source.number}")
    return table_of(con, source, list(records(path, source.name)), columns, "line")


def records(path: Path, where: str) -> Generator[Record]:
    """Objects of a JSONL file, one by one.

    Raises
    ------
    DataError
        A line is not a JSON object; the message names it.
    """
    try:
        with files.open_bytes(path) as file:
            if files.encoding(files.head(path)) not in ("utf-8", "utf-8-sig"):
                lines: Iterator[str] = iter(text_of(file.read()).split("\n"))
            else:
                lines = map(text_of, file)
            for number, line in enumerate(lines, 1):
                text = line.removeprefix("\ufeff")
                if _BLANK.fullmatch(text):
                    continue
                yield _record(text, f"{where}: line {number}")
    except (*files.DAMAGE, OSError) as error:
        raise files.damaged(path, error) from error


def text_of(data: bytes) -> str:
    """Text of JSON; what is not UTF-8 stays recognisable, as half a surrogate pair."""
    name = files.encoding(data)
    if name.startswith("utf-16"):
        return data.decode(name, "replace")
    try:
        return data.decode(name, "surrogatepass")
    except UnicodeDecodeError:
        return data.decode(name, "surrogateescape")


def _record(text: str, where: str) -> Record:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        cut = "" if text.endswith("\n") else "; it is the last one and has no line end: cut off?"
        raise DataError(f"{where} is not valid JSON ({error}){cut}") from error
    if not isinstance(value, dict):
        raise DataError(f"{where} holds a {type(value).__name__}, not an object with named values")
    return value


def table_of(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    rows: Sequence[Record],
    columns: ColumnMap,
    row_word: str = "record",
) -> RawTable:
    """Make records a table of text in the engine; their keys are the columns.

    A column of the user's map with dots (``scores.match``) reaches into nested objects.
    """
    names = list(dict.fromkeys(key for row in rows for key in row))
    if not names:
        raise NotResults(f"{source.name}: there are no records")
    dotted = [name for name in _dotted(columns) if name not in names]
    view = f"json_{source.number}"
    table: dict[str, tuple[str, Sequence[object]]] = {}
    for i, name in enumerate([*names, *dotted]):
        values = [reach(row, name) if name in dotted else row.get(name) for row in rows]
        if is_id(name, columns):
            unlike_ids(name, values, source.name)
        table[f"c{i}"] = ("VARCHAR", [as_text(value) for value in values])
    table["row"] = ("BIGINT", list(range(1, len(rows) + 1)))
    duck.store(con, view, table)
    names += dotted
    return RawTable(source, view, names, ["VARCHAR"] * len(names), row_word, protected=True)


def reach(row: object, name: str) -> object:
    """Value at a dotted path of nested objects; None where a step is absent."""
    for step in name.split("."):
        row = row.get(step) if isinstance(row, Mapping) else None
    return row


def _dotted(columns: ColumnMap) -> list[str]:
    wanted = [[v] if isinstance(v, str) else list(v or ()) for v in columns.values()]
    return [name for group in wanted for name in group if "." in name]


def is_id(name: str, columns: ColumnMap) -> bool:
    """Whether a column may hold the ids of prompts."""
    return columns.get("prompt") == name or snake(name) in " ".join(NAMES["prompt"]).split()


def unlike_ids(name: str, values: Iterable[object], where: str) -> None:
    """Raise an error if a column of ids holds a number and the same as text.

    Raises
    ------
    DataError
        Two prompts would have one name.
    """
    values = list(values)
    texts = {value for value in values if isinstance(value, str)}
    numbers = {value for value in values if isinstance(value, Real)}
    clash = [n for n in numbers if str(n) in texts]
    if clash:
        raise collision(where, name, clash[0])


def collision(where: str, name: str, number: object) -> DataError:
    """Error for ids that are equal only as text."""
    return DataError(
        f"{where}: {name!r} holds both the number {number} and the text '{number}': two prompts "
        "with one name; make the ids of one kind or tell them apart"
    )


def _engine(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    path: Path,
    packing: str | None,
    columns: ColumnMap,
) -> RawTable:
    scan = (
        f"read_ndjson_objects({duck.literal(glob.escape(str(path)))}, "
        f"compression = '{packing or 'none'}', maximum_object_size = 268435456)"
    )
    keys = con.execute(f"SELECT DISTINCT unnest(json_keys(json)) FROM {scan}").fetchall()
    found = {key for (key,) in keys}
    order = con.execute(f"SELECT json_keys(json) FROM {scan} LIMIT 1").fetchall()[0][0]
    names = [*order, *sorted(found - set(order))]
    names += [name for name in _dotted(columns) if name not in found]
    pointers = [
        "/" + "/".join(_escape(s) for s in ([n] if n in found else n.split("."))) for n in names
    ]
    cells = ", ".join(
        f"json_extract_string(json, {duck.literal(p)}) AS c{i}" for i, p in enumerate(pointers)
    )
    view = f"json_{source.number}"
    con.execute(
        f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {cells}, row_number() OVER () AS row "
        f"FROM {scan}"
    )
    for i, name in enumerate(names):
        if is_id(name, columns):
            pointer = duck.literal(pointers[i])
            both = con.execute(
                f"SELECT v FROM (SELECT DISTINCT json_extract_string(json, {pointer}) AS v, "
                f"json_type(json, {pointer}) = 'VARCHAR' AS t FROM {scan}) "
                "WHERE v IS NOT NULL GROUP BY v HAVING count(*) > 1 LIMIT 1"
            ).fetchall()
            if both:
                raise collision(source.name, name, both[0][0])
    return RawTable(source, view, names, ["VARCHAR"] * len(names), "line")


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")
