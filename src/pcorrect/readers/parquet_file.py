"""Parquet: scanned in place, columns as they are typed."""

from __future__ import annotations

import glob
from pathlib import Path

import duckdb

from pcorrect.errors import DataError
from pcorrect.readers import duck
from pcorrect.readers.parts import Source
from pcorrect.readers.tables import RawTable


def read_parquet(con: duckdb.DuckDBPyConnection, source: Source, path: Path) -> RawTable:
    """Make a Parquet file a view in the engine.

    Raises
    ------
    DataError
        The file is damaged.
    """
    scan = f"read_parquet({duck.literal(glob.escape(str(path)))}, file_row_number = true)"
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{source.name}: not a readable Parquet file ({reason})") from error
    columns = [(name, kind) for name, kind, *_ in described if name != "file_row_number"]
    cells = ", ".join(f"{duck.ident(name)} AS c{i}" for i, (name, _) in enumerate(columns))
    view = f"parquet_{source.number}"
    con.execute(
        f"CREATE TEMP VIEW {view} AS SELECT {cells}, file_row_number + 1 AS row FROM {scan}"
    )
    return RawTable(source, view, [name for name, _ in columns], [kind for _, kind in columns])
