"""Texts of prompts, from the result files themselves or from a table beside them.

Results are counted without their texts; a report shows them where it can. What cannot be read here
is no error: the results have been read, and a prompt without its text is shown by its id.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pcorrect.errors import DataError, PcorrectError
from pcorrect.readers import files
from pcorrect.readers.archive import Archive
from pcorrect.readers.columns import ColumnMap, resolve
from pcorrect.readers.paths import Paths, expand

# Names of columns, or of fields of a record, that hold the text of a prompt; the first one counts.
_TEXT = [
    "question",
    "problem",
    "question_text",
    "problem_text",
    "prompt_text",
    "query",
    "input",
    "text",
    "instruction",
    "prompt",
]
_IDS = ("prompt_id", "prompt", "id", "question_id", "doc_id")
# Files larger than this, unpacked, are not searched for texts.
_MOST_BYTES = 100_000_000


def read_texts(path: str) -> dict[str, str]:
    """Prompt id -> text, from a table (CSV, packed or not) with a head.

    Parameters
    ----------
    path : str

    Raises
    ------
    DataError
        The file is missing, is no table, or has no such columns.
    """
    try:
        text = _decoded(Path(path))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except (ValueError, *files.DAMAGE) as error:
        raise DataError(f"{path}: not a table in UTF-8 ({error})") from error
    rows = list(_table(text))
    names = list(rows[0]) if rows else []
    key = next((name for name in _IDS if name in names), None)
    value = next((name for name in _TEXT if name in names and name != key), None)
    if key is None or value is None:
        raise DataError(
            f"{path}: needs a column of prompt ids ({', '.join(_IDS)}) and one of texts "
            f"({', '.join(_TEXT)}), found {names}"
        )
    return {str(row[key]): str(row[value] or "") for row in rows}


def find_texts(paths: Paths, columns: ColumnMap | None = None) -> dict[str, str]:
    """Prompt id -> text, from result files: Inspect and lm-eval logs, JSON lines, tables.

    An id that stands for different texts (in files of several benchmarks) has none.

    Parameters
    ----------
    paths : path, glob, directory of logs, or iterable of these
    columns : dict, optional
        As for `read`.
    """
    found: dict[str, str | None] = {}
    for item in expand(paths):
        if not item.path.is_file():
            continue
        try:
            for key, text in _of_file(item.path, columns or {}):
                if text and found.setdefault(key, text) != text:
                    found[key] = None
        except (OSError, ValueError, RecursionError, PcorrectError, *files.DAMAGE):
            continue
    return {key: text for key, text in found.items() if text is not None}


def _of_file(path: Path, columns: ColumnMap) -> Iterator[tuple[str, str]]:
    if path.stat().st_size > _MOST_BYTES:
        return
    if zipfile.is_zipfile(path):
        yield from _of_inspect(_samples(path))
        return
    if files.head(path).startswith(b"PAR1"):
        yield from _of_records(_parquet(path), columns)
        return
    text = _decoded(path)
    if text.lstrip()[:1] not in ("{", "["):
        yield from _of_records(_table(text), columns)
        return
    try:
        whole: Any = json.loads(text)
    except ValueError:
        whole = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(whole, dict) and isinstance(whole.get("samples"), list):
        yield from _of_inspect(whole["samples"])
    elif isinstance(whole, dict):
        yield from _of_records([whole], columns)
    elif isinstance(whole, list):
        yield from _of_records((row for row in whole if isinstance(row, dict)), columns)


def _decoded(path: Path) -> str:
    with files.open_bytes(path) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES / 1e6:.0f} MB")
    return data.decode("utf-8-sig")


def _table(text: str) -> Iterator[Mapping[str, Any]]:
    # a text may be longer than the 128 KB that csv allows by default
    csv.field_size_limit(2**31 - 1)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    import duckdb

    with duckdb.connect() as con:
        try:
            rows = con.execute("FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise DataError(f"{path}: {error}") from error
        names = [column[0] for column in rows.description or []]
        while batch := rows.fetchmany(10_000):
            for row in batch:
                yield dict(zip(names, row, strict=True))


def _samples(path: Path) -> Iterator[Mapping[str, Any]]:
    """Samples of an Inspect log, each with its whole input where that is stored."""
    with Archive(path, path.name) as archive:
        members = [m for m in archive.members if m.startswith("samples/") and m.endswith(".json")]
        # one epoch tells the text
        first = [m for m in members if m.endswith("_epoch_1.json")] or members
        found: list[Any] = [archive.json(member) for member in first]
        if not found and "summaries.json" in archive.members:
            whole = archive.json("summaries.json")
            found = whole if isinstance(whole, list) else []
        yield from (sample for sample in found if isinstance(sample, dict))


def _of_inspect(samples: Iterable[Any]) -> Iterator[tuple[str, str]]:
    for sample in samples:
        if isinstance(sample, dict):
            yield str(sample.get("id")), _said(sample.get("input"))


def _said(value: object) -> str:
    """The text of an input: itself, or what the user says in a list of messages."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    parts = []
    for message in value:
        if not isinstance(message, dict) or message.get("role", "user") != "user":
            continue
        content = message.get("content")
        if isinstance(content, list):
            content = "\n".join(
                str(part.get("text", "")) for part in content if isinstance(part, dict)
            )
        parts.append(str(content or ""))
    return "\n".join(parts)


def _of_records(
    records: Iterable[Mapping[str, Any]], columns: ColumnMap
) -> Iterator[tuple[str, str]]:
    """Rows of a table, or samples of lm-eval, whose documents hold the text."""
    place: tuple[Sequence[str], str | None] = ((), None)
    for record in records:
        if isinstance(record.get("doc"), dict) and "doc_id" in record:
            yield str(record["doc_id"]), _of_document(record)
            continue
        names = list(record)
        if names != place[0]:
            at = resolve(names, columns, "texts").at.get("prompt")
            place = names, None if at is None else names[at]
        key = place[1]
        value = next((name for name in _TEXT if name in record and name != key), None)
        if key is not None and value is not None:
            yield str(record[key]), _said(record[value])


def _of_document(record: Mapping[str, Any]) -> str:
    document = record["doc"]
    text = next((document[n] for n in _TEXT if isinstance(document.get(n), str)), None)
    if text is None:
        arguments = record.get("arguments")
        first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
        text = first.get("arg_0") if isinstance(first, dict) else None
    return text if isinstance(text, str) else ""
