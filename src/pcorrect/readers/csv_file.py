"""CSV and TSV: our own look at the header, the engine for the rows, Python where it refuses.

The engine's sniffer is not used: it guesses types, delimiters and missing words, and a guess
that is right for most files turns the id 007 into 7 and the answer NA into nothing.
"""

from __future__ import annotations

import csv
import glob
import io
from pathlib import Path

import duckdb

from pcorrect.errors import DataError
from pcorrect.readers import duck, files
from pcorrect.readers.parts import Source
from pcorrect.readers.tables import RawTable

DELIMITERS = ",\t;|"
# Below this size the rows are kept in the engine, so that a file is parsed once; above, each
# pass streams over the file.
KEPT = 64 << 20
csv.field_size_limit(1 << 30)


def read_csv(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> RawTable:
    """Make a CSV or TSV file, compressed or not, a table of text in the engine.

    Raises
    ------
    DataError
        The file is empty, damaged, or a row has another number of fields than the header.
    """
    first = files.head(path)
    packing = files.compression(path)
    if packing == "zstd":
        files.check_zstd(path)
    if files.encoding(first) in ("utf-8", "utf-8-sig") and packing in (None, "gzip", "zstd"):
        names, delimiter = _header(_sample(first), source.name)
        try:
            return _engine(con, source, path, names, delimiter, packing)
        except duckdb.Error:
            con.execute(f"DROP TABLE IF EXISTS csv_{source.number}")
    return _python(con, source, path)


def _engine(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    path: Path,
    names: list[str],
    delimiter: str,
    packing: str | None,
) -> RawTable:
    columns = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(names)))
    # An empty cell stays an empty text: nullstr is a text that no file holds.
    scan = (
        f"read_csv({duck.literal(glob.escape(str(path)))}, auto_detect = false, header = true, "
        f"delim = {duck.literal(delimiter)}, quote = '\"', escape = '\"', strict_mode = true, "
        f"nullstr = '\x01\x02', compression = '{packing or 'none'}', max_line_size = 67108864, "
        f"columns = {{{columns}}})"
    )
    view = f"csv_{source.number}"
    query = f"SELECT *, row_number() OVER () AS row FROM {scan}"
    kind = "TABLE" if path.stat().st_size * (8 if packing else 1) < KEPT else "VIEW"
    con.execute(f"CREATE TEMP {kind} {view} AS {query}")
    return RawTable(source, view, names, ["VARCHAR"] * len(names))


def _python(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> RawTable:
    """Read with Python: other encodings, mixed line ends; and say what is wrong with a bad file."""
    try:
        with files.open_bytes(path) as file:
            text, note = files.decode(file.read())
    except (*files.DAMAGE, OSError) as error:
        raise files.damaged(path, error) from error
    names, delimiter = _header(text[: files.HEAD], source.name)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    try:
        next(reader)
        for fields in reader:
            if not fields:
                continue
            if len(fields) != len(names):
                raise DataError(
                    f"{source.name}: line {reader.line_num} has {len(fields)} fields, the header "
                    f"has {len(names)} ({delimiter!r} separates them): {fields[:6]}"
                )
            rows.append(fields)
    except csv.Error as error:
        raise DataError(f"{source.name}: line {reader.line_num}: {error}") from error
    view = f"csv_{source.number}"
    table = {f"c{i}": ("VARCHAR", [r[i] for r in rows]) for i in range(len(names))}
    numbers = {"row": ("BIGINT", list(range(1, len(rows) + 1)))}
    duck.store(con, view, {**table, **numbers})
    notes = (note,) if note else ()
    return RawTable(source, view, names, ["VARCHAR"] * len(names), notes=notes)


def _sample(first: bytes) -> str:
    return first.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _header(text: str, where: str) -> tuple[list[str], str]:
    """Column names and delimiter, from the first line."""
    text = text.removeprefix("\ufeff")
    if not text.strip("\r\n\t ;,|\x00"):
        raise DataError(f"{where}: the file is empty")
    best: tuple[list[str], str] = ([], ",")
    for delimiter in DELIMITERS:
        try:
            fields = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except (csv.Error, StopIteration):
            continue
        if len(fields) > len(best[0]):
            best = fields, delimiter
    if not best[0]:
        raise DataError(f"{where}: the first line is blank; it must hold the column names")
    return best
