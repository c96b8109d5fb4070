"""The embedded engine: one private DuckDB database per reading, and the few helpers it needs."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence

import duckdb
import numpy as np

# Text that is not Unicode (half a surrogate pair) cannot enter the engine: it goes in as this
# noncharacter and six hexadecimal digits, and comes out as it was.
_MARK = "\U0010fffe"
_UNSAFE = re.compile("[\ud800-\udfff\U0010fffe]")
# The mark of half a pair, as repr writes it.
_WRITTEN = re.compile(r"\\U0010fffe00(d[0-9a-f]{3})")
_SAFE = re.compile(_MARK + "([0-9a-f]{6})")


def connect() -> duckdb.DuckDBPyConnection:
    """Open a private in-memory database that never reaches for the network."""
    # Spilled data belongs with temporary files, not into the current directory.
    spill = os.path.join(tempfile.gettempdir(), f"pcorrect-{os.getpid()}")
    options: dict[str, str] = {"autoinstall_known_extensions": "false", "temp_directory": spill}
    con = duckdb.connect(config=dict(options))
    # In a notebook without ipywidgets there is no progress bar, and DuckDB refuses to set it.
    with contextlib.suppress(duckdb.InvalidInputException):
        con.execute("SET enable_progress_bar = false")
    return con


def ident(name: str) -> str:
    """Quote a column or table name."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Quote a value for use in a statement."""
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


def in_list(values: Sequence[str] | frozenset[str]) -> str:
    """Right-hand side of IN; never empty."""
    return "(" + (", ".join(literal(value) for value in sorted(values)) or "NULL") + ")"


def protect(text: str) -> str:
    """Make any Python text storable; `restore` gives it back exactly."""
    return _UNSAFE.sub(lambda m: f"{_MARK}{ord(m[0]):06x}", text)


def restore(text: str) -> str:
    """Undo `protect`."""
    if _MARK not in text:
        return text
    return _SAFE.sub(lambda m: chr(int(m[1], 16)), text)


def store(
    con: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, tuple[str, Sequence[object]]]
) -> None:
    """Create a table from Python columns.

    Parameters
    ----------
    con : DuckDBPyConnection
    name : str
        Table to create; rows keep their order.
    columns : mapping
        Column name -> (SQL type, values); None is NULL.
    """
    arrays: dict[str, object] = {}
    for key, (kind, values) in columns.items():
        if kind != "VARCHAR" and None not in values:
            arrays[key] = np.array(values, np.int64)
        else:
            # Numbers with gaps go in as text: older engines do not see the mask of an array.
            texts = [None if v is None else protect(str(v)) for v in values]
            arrays[key] = np.array([*texts, None], dtype=object)[:-1]
    casts = ", ".join(f"{ident(k)}::{kind} AS {ident(k)}" for k, (kind, _) in columns.items())
    if not next(iter(columns.values()))[1]:
        kinds = ", ".join(f"{ident(k)} {kind}" for k, (kind, _) in columns.items())
        con.execute(f"CREATE OR REPLACE TEMP TABLE {ident(name)} ({kinds})")
        return
    con.register("incoming", arrays)
    con.execute(f"CREATE OR REPLACE TEMP TABLE {ident(name)} AS SELECT {casts} FROM incoming")
    con.unregister("incoming")


def visible(text: str) -> str:
    """Text that can be written anywhere: half a surrogate pair becomes its escape."""
    if _MARK not in text:
        return text
    return restore(text).encode("utf-8", "backslashreplace").decode("utf-8")


def visible_sql(expression: str) -> str:
    """SQL text of `visible`: names are chosen by what is shown of them."""
    marked = f"regexp_replace({expression}, '{_MARK}00(d[0-9a-f]{{3}})', '\\\\u\\1', 'g')"
    whole = f"replace({marked}, '{_MARK}10fffe', '{_MARK}')"
    return f"CASE WHEN contains({expression}, '{_MARK}') THEN {whole} ELSE {expression} END"


def unmarked(message: str) -> str:
    """Message about texts of the engine, written by their repr: half a pair is its escape."""
    return _WRITTEN.sub(r"\\u\1", message)


def reason(error: duckdb.Error) -> str:
    """What the engine has to say, without its list of possible fixes."""
    lines = []
    for line in str(error).splitlines():
        if not line.strip() or line.startswith(("Possible", "LINE", "Candidate")):
            break
        lines.append(line.strip())
    return "; ".join(lines[:3]) or type(error).__name__
