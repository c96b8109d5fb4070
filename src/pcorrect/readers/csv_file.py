"""CSV and TSV: our own look at the header, the engine for the rows, Python where it refuses.

The engine's sniffer is not used: it guesses types, delimiters and missing words, and a guess
that is right for most files turns the id 007 into 7 and the answer NA into nothing.
"""

from __future__ import annotations

import csv
import glob
import io
import re
from itertools import islice
from pathlib import Path

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers import files
from pcorrect.readers.tables import RawTable

DELIMITERS = ",\t;|"
ROWS_SEEN = 50
# Excel's own first line, which names the delimiter of the rest.
_SEPARATOR_LINE = re.compile('\ufeff?"?sep=(.)"?\r?\n')
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
    start = _start(first)
    plain = files.encoding(first) in ("utf-8", "utf-8-sig") and not _SEPARATOR_LINE.match(start)
    if plain and packing in (None, "gzip", "zstd"):
        names, delimiter = _header(start, source.name)
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
    con.execute(f"CREATE OR REPLACE TEMP {kind} {view} AS {query}")
    return RawTable(source, view, names, ["VARCHAR"] * len(names), all_text=True)


def _python(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> RawTable:
    """Read with Python: other encodings, mixed line ends; and say what is wrong with a bad file."""
    try:
        with files.open_bytes(path) as file:
            text, note = files.decode(file.read())
    except (*files.DAMAGE, OSError) as error:
        raise files.damaged(path, error) from error
    text = _SEPARATOR_LINE.sub("", text, count=1)
    names, delimiter = _header(text[: files.HEAD], source.name)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    before = 0
    try:
        for fields in reader:
            line = _lines(before + 1, reader.line_num)
            if fields and len(fields) != len(names):
                raise DataError(
                    f"{source.name}: {line}: {len(fields)} fields, the header has {len(names)} "
                    f"({delimiter!r} separates them): {fields[:6]}"
                )
            if fields and before:
                rows.append(fields)
            before = reader.line_num
    except csv.Error as error:
        raise DataError(
            f"{source.name}: {_lines(before + 1, reader.line_num)}: {error}: a text that begins "
            'with " must end with it, and a " inside it is written ""'
        ) from error
    view = f"csv_{source.number}"
    table = {f"c{i}": ("VARCHAR", [r[i] for r in rows]) for i in range(len(names))}
    numbers = {"row": ("BIGINT", list(range(1, len(rows) + 1)))}
    duck.store(con, view, {**table, **numbers})
    notes = (note,) if note else ()
    kinds = ["VARCHAR"] * len(names)
    return RawTable(source, view, names, kinds, notes=notes, all_text=True, protected=True)


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first >= last else f"lines {first} to {last} (one row by its quotes)"


def _start(first: bytes) -> str:
    return first.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _header(text: str, where: str) -> tuple[list[str], str]:
    """Column names and delimiter, from the first lines.

    The right delimiter splits the rows as it splits the header; of several, it splits most.
    """
    text = text.removeprefix("\ufeff")
    if not text.strip("\r\n\t ;,|\x00"):
        raise DataError(f"{where}: the file is empty")
    best: tuple[float, int, list[str], str] = (-1.0, 0, [], ",")
    for delimiter in DELIMITERS:
        rows = _first_rows(text, delimiter)
        if not rows or not rows[0]:
            continue
        alike = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        rank = alike if len(rows[0]) > 1 else -0.5
        if (rank, len(rows[0])) > best[:2]:
            best = rank, len(rows[0]), rows[0], delimiter
    if not best[2]:
        raise DataError(f"{where}: the first line is blank; it must hold the column names")
    return best[2:]


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    try:
        rows = list(islice(reader, ROWS_SEEN + 1))
    except csv.Error:
        return rows
    # The last row may be cut where the text ends.
    whole = rows[:-1] if len(rows) > 1 and not text.endswith(("\n", "\r")) else rows
    return [row for i, row in enumerate(whole) if row or i == 0]
