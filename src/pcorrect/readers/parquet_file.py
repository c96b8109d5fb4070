"""Parquet: scanned in place, columns as they are typed."""

from __future__ import annotations

import glob
import re
from pathlib import Path

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers import files
from pcorrect.readers.tables import RawTable


def read_parquet(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> RawTable:
    """Make a Parquet file, or a folder of the parts of one, a view in the engine.

    Raises
    ------
    DataError
        The file is damaged.
    """
    row = "file_row_number + 1"
    listed = duck.literal(glob.escape(str(path)))
    if path.is_dir():
        parts = sorted(path.rglob("*.parquet"), key=_in_number_order)
        if not parts:
            raise DataError(f"{source.name}: a folder without Parquet files")
        row = "row_number() OVER ()"
        listed = "[" + ", ".join(duck.literal(glob.escape(str(part))) for part in parts) + "]"
    elif packing := files.compression(path):
        # the engine needs to jump in the file
        raise DataError(
            f"{source.name}: a Parquet file packed by {packing}; unpack it first (Parquet is "
            "compressed in itself)"
        )
    scan = f"read_parquet({listed}, file_row_number = true, union_by_name = true)"
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    except duckdb.Error as error:
        raise DataError(
            f"{source.name}: not a readable Parquet file ({duck.reason(error)})"
        ) from error
    columns = [(name, kind) for name, kind, *_ in described if name != "file_row_number"]
    cells = ", ".join(f"{duck.ident(name)} AS c{i}" for i, (name, _) in enumerate(columns))
    view = f"parquet_{source.number}"
    con.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {cells}, {row} AS row FROM {scan}")
    return RawTable(source, view, [name for name, _ in columns], [kind for _, kind in columns])


def _in_number_order(path: Path) -> list[tuple[int, str]]:
    """Sort key by which part.2 comes before part.10."""
    pieces = re.split(r"(\d+)", str(path))
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
