"""Data frames of any library that narwhals understands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.parts import Source
from pcorrect.readers import files
from pcorrect.readers.columns import resolve
from pcorrect.readers.forms import table_part
from pcorrect.readers.json_file import is_id, unlike_ids
from pcorrect.readers.names import snake
from pcorrect.readers.options import Options
from pcorrect.readers.parquet_file import read_parquet
from pcorrect.readers.tables import RawTable
from pcorrect.readers.values import as_text

if TYPE_CHECKING:
    import narwhals as nw

NAME = "data frame"


def read_frame(native: Any, options: Options) -> Generations:
    """Take a data frame as a table; see `pcorrect.readers.from_frame`."""
    import narwhals as nw

    try:
        frame = nw.from_native(native)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"{NAME}: two columns have one name: {error}") from error
    except TypeError as error:
        raise DataError(
            f"a {type(native).__name__} is neither a path nor a data frame that narwhals "
            "understands"
        ) from error
    if frame.implementation.is_pandas_like():
        # pivoted tables have numbers for names
        frame = nw.from_native(frame.to_native().rename(columns=str))
    con = duck.connect()
    source = Source(0, NAME, "llm")
    try:
        return _read(con, source, frame, options)
    except duckdb.Error as error:
        raise DataError(f"{NAME}: {duck.reason(error)}") from error


def _read(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    options: Options,
) -> Generations:
    if frame.implementation.is_pandas_like():
        part = table_part(
            con, _pandas(con, source, cast("nw.DataFrame[Any]", frame), options), options
        )
        return Generations(con, [part], options.selection)

    # Its own library writes the needed columns to disk, which all of them can, and nothing large
    # passes through Python.
    def written(folder: Path) -> Generations:
        raw = _written(con, source, frame, options, folder / "frame.parquet")
        return Generations(con, [table_part(con, raw, options)], options.selection)

    return files.with_folder(written)


def _names(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], options: Options
) -> tuple[list[str], tuple[str, ...]]:
    """Columns that the table needs, in the frame's order, and notes on the choice."""
    names = [str(name) for name in frame.collect_schema().names()]
    layout = resolve(names, options.columns, NAME)
    ids = {i for i, name in enumerate(names) if snake(name) == "id"}
    return [names[i] for i in sorted(layout.positions | ids)], layout.notes


def _written(
    con: duckdb.DuckDBPyConnection,
    source: Source,
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
    options: Options,
    path: Path,
) -> RawTable:
    """Write a frame to a Parquet file and take that as the table."""
    import narwhals as nw

    names, notes = _names(frame, options)
    chosen = frame.select(names)
    objects = [name for name, dtype in chosen.collect_schema().items() if dtype == nw.Object]
    if objects:
        raise DataError(
            f"{NAME}: column {objects[0]!r} holds Python objects, which its library cannot write; "
            "cast it to text or numbers"
        )
    if chosen.implementation.is_duckdb():
        chosen.to_native().write_parquet(str(path))
    elif isinstance(chosen, nw.LazyFrame):
        chosen.sink_parquet(str(path))
    else:
        chosen.write_parquet(str(path))
    return replace(read_parquet(con, source, path), notes=notes)


def _pandas(
    con: duckdb.DuckDBPyConnection, source: Source, frame: nw.DataFrame[Any], options: Options
) -> RawTable:
    """Scan a pandas frame where it is, but for columns of Python objects."""
    import narwhals as nw

    names, notes = _names(frame, options)
    frame = frame.select(names)
    protected = False
    for name, dtype in frame.schema.items():
        # The engine would take objects to be like the first few, and fails on text that is not
        # Unicode.
        if dtype == nw.Object or (dtype == nw.String and not _is_unicode(frame[name])):
            values = frame[name].to_list()
            if dtype == nw.Object and is_id(name, options.columns):
                unlike_ids(name, values, NAME)
            texts = [None if v is None else duck.protect(v) for v in map(as_text, values)]
            column = nw.new_series(name, texts, nw.String, backend=frame.implementation)
            frame, protected = frame.with_columns(column.alias(name)), True
    con.register("frame_in", frame.to_pandas())
    cells = ", ".join(f"{duck.ident(name)} AS c{i}" for i, name in enumerate(names))
    con.execute(
        f"CREATE TEMP VIEW frame AS SELECT {cells}, row_number() OVER () AS row FROM frame_in"
    )
    kinds = [kind for _, kind, *_ in con.execute("DESCRIBE frame").fetchall()][:-1]
    return RawTable(source, "frame", names, kinds, notes=notes, protected=protected)


def _is_unicode(series: nw.Series[Any]) -> bool:
    if getattr(series.to_native().dtype, "storage", None) == "pyarrow":
        return True
    try:
        "".join(text for text in series.to_list() if isinstance(text, str)).encode()
    except UnicodeEncodeError:
        return False
    return True
