"""Several generations in one cell: JSON lists and the separators people use."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable

from pcorrect.readers.values import as_text

_SEPARATED = re.compile(r"[^;|,\s]+(\s*[;|]\s*[^;|,\s]+)+")
_SPACED = re.compile(r"[^;|,\s]+(\s+[^;|,\s]+)+")
_COMMAS = re.compile(r"[^;|,\s]+(\s*,\s*[^;|,\s]+)+")
_DECIMAL = re.compile(r"[+-]?\d+,\d+")


def looks_packed(values: Iterable[str]) -> bool:
    """Whether any of the distinct cells of a score column holds several scores.

    A single comma between digits is a decimal comma (``1,0``) unless other cells show lists.
    """
    return any(
        _bracketed(raw) or _SEPARATED.fullmatch(raw.strip()) or _commas(raw) for raw in values
    )


def unpack(raw: str) -> list[str | None]:
    """Scores in one cell, as texts; None for a missing one.

    Raises
    ------
    ValueError
        The cell is not a list of single scores.
    """
    text = raw.strip()
    if not text:
        return []
    if _bracketed(text):
        return [_single(item) for item in _parse_list(text)]
    if text.startswith("{"):
        raise ValueError("a mapping is not a list of scores")
    if _SEPARATED.fullmatch(text):
        return [item.strip() for item in re.split("[;|]", text)]
    if _COMMAS.fullmatch(text):
        return [item.strip() for item in text.split(",")]
    if _SPACED.fullmatch(text):
        return list(text.split())
    if re.fullmatch(r"[01]{2,}", text):
        raise ValueError("several scores without a separator")
    return [text]


def _bracketed(raw: str) -> bool:
    text = raw.strip()
    return text[:1] + text[-1:] in {"[]", "()"}


def _commas(raw: str) -> bool:
    text = raw.strip()
    return bool(_COMMAS.fullmatch(text)) and not _DECIMAL.fullmatch(text)


def _parse_list(text: str) -> list[object]:
    try:
        parsed = json.loads("[" + text[1:-1] + "]")
    except json.JSONDecodeError:
        try:
            parsed = list(ast.literal_eval("[" + text[1:-1] + "]"))
        except (ValueError, SyntaxError):
            # NumPy prints arrays with spaces: [1 0 1], [C, I] has bare words.
            inner = text[1:-1].strip()
            parsed = [item for item in re.split(r"[\s,;|]+", inner) if item]
    return list(parsed)


def _single(item: object) -> str | None:
    if isinstance(item, list | tuple | dict):
        raise ValueError("a list inside the list: one score per generation is expected")
    return as_text(item)
