"""Tables of answers without a score: enough for clusters and consistency, not for flags."""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pcorrect.consistency.answers import AnswerRows
from pcorrect.errors import DataError
from pcorrect.readers import files
from pcorrect.readers.json_file import records
from pcorrect.readers.names import NAMES, snake

_WANTED = ("benchmark", "llm", "prompt", "group", "answer", "target")
_NO_SCORE = "no column for 'correct'"


def lacks_scores(error: DataError) -> bool:
    """Whether a table was refused for nothing but its missing scores."""
    return _NO_SCORE in str(error)


def read_unscored(
    paths: str | Path | Sequence[str | Path],
    *,
    columns: Mapping[str, Any] | None = None,
    llm: Sequence[str] | None = None,
    benchmark: Sequence[str] | None = None,
) -> AnswerRows:
    """Read answers from CSV or JSON-lines tables that have no scores.

    Parameters
    ----------
    paths : path or sequence of paths
    columns : mapping, optional
        Our name -> their column.
    llm, benchmark : sequence of str, optional
        Keep these only.

    Raises
    ------
    DataError
        A table has no column of prompts or of answers.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    expanded = [
        Path(name)
        for path in given
        for name in ([str(path)] if Path(path).exists() else sorted(glob.glob(str(path))))
    ]
    found: list[dict[str, str | None]] = []
    for path in expanded:
        found += _table(path, columns or {})
    for name, kept in (("llm", llm), ("benchmark", benchmark)):
        if kept and {row[name] for row in found} & set(kept):
            found = [row for row in found if row[name] in kept]
    if not found:
        raise DataError(f"{', '.join(map(str, given))}: there are no rows")
    arrays = {name: np.array([row[name] for row in found], object) for name in _WANTED}
    return AnswerRows(
        arrays["benchmark"],
        arrays["llm"],
        arrays["prompt"],
        arrays["answer"],
        np.full(len(found), -1, np.int64),
        arrays["target"],
        {(str(r["benchmark"]), str(r["prompt"])): r["group"] for r in found if r["group"]},
        ("the answers have no scores: P(correct) is not available",),
    )


def _table(path: Path, columns: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    where, at = path.name, None
    for record in _records(path):
        if at is None:
            at = _columns(record, columns, where)
        row = {name: _text(record.get(at[name])) if name in at else None for name in _WANTED}
        row["llm"] = row["llm"] or files.stem(path)
        row["benchmark"] = row["benchmark"] or "benchmark"
        if not row["prompt"]:
            raise DataError(f"{where}: a row has no prompt: {dict(list(record.items())[:4])}")
        yield row


def _records(path: Path) -> Iterable[Mapping[str, Any]]:
    if files.head(path).lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"{", b"[")):
        return (record for record in records(path, path.name) if isinstance(record, dict))
    with files.open_bytes(path) as file:
        text = file.read().decode("utf-8-sig", "surrogateescape")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)


def _columns(record: Mapping[str, Any], given: Mapping[str, Any], where: str) -> dict[str, str]:
    """Our name -> their column, by the names that the other readers know."""
    keys = {snake(name): name for name in record}
    at = {name: str(their) for name, their in given.items() if their and their in record}
    for name in _WANTED:
        for tier in NAMES[name]:
            known = next((keys[key] for key in tier.split() if key in keys), None)
            if name not in at and known is not None and known not in at.values():
                at[name] = known
    for name in ("prompt", "answer"):
        if name not in at:
            raise DataError(
                f"{where}: no column of the {name}s; columns found: {list(record)}; give one by a "
                f"column map, such as {name}=THEIR_NAME"
            )
    return at


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
