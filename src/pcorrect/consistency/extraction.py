r"""The answer inside a raw response, for logs that hold nothing shorter.

A response is searched for what models are asked to write: the last ``\boxed{…}``, the last
``#### …`` or "answer: …" (or "answer is …"), then, if asked, the last choice letter or number.
Where nothing of the kind is found the response is kept whole: no answer is lost by extraction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pcorrect.consistency import texts
from pcorrect.errors import PcorrectError

How = Literal["auto", "none", "boxed", "line", "letter", "number"]
HOWS: tuple[How, ...] = ("auto", "none", "boxed", "line", "letter", "number")

# Shorter answers than this are answers already.
_RAW_LENGTH = 60

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LINE = re.compile(
    r"(?:^[ \t]*#{4}[ \t]*"
    r"|\banswer(?:\*\*|__)?[ \t]*(?:is[ \t]*:?|:|=)(?:\*\*|__)?)[ \t]*(?P<rest>\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_LETTERS = (
    re.compile(r"\(([A-Z])\)"),
    re.compile(r"(?:^|\n)[ \t*]*([A-Z])[ \t*]*[.):]?[ \t*]*(?=\n|$)"),
    re.compile(r"(?:^|\n)[ \t*]*([A-Z])[.):][ \t]"),
    re.compile(r"\b(?:option|choice)\s+([A-Z])\b", re.IGNORECASE),
    re.compile(r"\b([A-Z])[ \t*]*\.?[ \t*]*$"),
)
_LEADING_LETTER = re.compile(r"[(\[*]*([A-Z])(?:[)\].:*]|\s*$|\s+[-–(])")
_NUMBER = re.compile(
    r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?(?:[eE][+-]?\d+)?(?:\s?%)?(?![\w])"
)


def extract_answer(response: str, how: How = "auto") -> str:
    """The answer inside a response.

    Parameters
    ----------
    response : str
    how : {"auto", "boxed", "line", "letter", "number", "none"}
        "auto" tries boxed, then the answer line. "letter" and "number" look inside what these find,
        then in the whole response, for the last of their kind. "none" changes nothing.

    Returns
    -------
    str
        The whole response where nothing is found.

    Raises
    ------
    PcorrectError
        `how` is unknown.
    """
    if how not in HOWS:
        raise PcorrectError(f"extract must be one of {list(HOWS)}, got {how!r}")
    if how == "none" or texts.is_empty(response):
        return response
    marked = None
    if how != "line":
        marked = _boxed(response)
    if marked is None and how != "boxed":
        marked = _line(response)
    if how == "letter":
        found = None
        if marked is not None:
            first = _LEADING_LETTER.match(texts.clean(marked))
            found = first[1] if first else _last_letter(marked)
        return found or _last_letter(response) or marked or response
    if how == "number":
        return _last_number(marked or "") or _last_number(response) or marked or response
    return marked if marked is not None else response


def _boxed(response: str) -> str | None:
    # The last box that is closed; of a response that keeps opening boxes only the end is tried.
    for match in reversed(list(_BOXED.finditer(response))[-20:]):
        end = texts.closing_brace(response, match.end())
        if end > match.end():
            return response[match.end() : end].strip()
    return None


def _line(response: str) -> str | None:
    found = None
    for match in _LINE.finditer(response):
        found = match["rest"].strip().removesuffix("**").rstrip()
    return found


def _last_letter(text: str) -> str | None:
    for pattern in _LETTERS:
        found = pattern.findall(text.rstrip())
        if found:
            return str(found[-1]).upper()
    return None


def _last_number(text: str) -> str | None:
    found = _NUMBER.findall(text)
    return str(found[-1]) if found else None


def is_raw(responses: Sequence[str | None]) -> bool:
    """Whether most texts are whole responses that carry a marked answer.

    They are long (or have several lines), and at least half of those have a box or "answer:".
    """
    seen = [text for text in responses if not texts.is_empty(text)]
    long = [text for text in seen if text and (len(text) > _RAW_LENGTH or "\n" in text.strip())]
    if len(long) <= len(seen) / 2:
        return False
    marked = sum(_BOXED.search(text) is not None or _LINE.search(text) is not None for text in long)
    return marked >= len(long) / 2


def kind_of(targets: Sequence[str | None]) -> How:
    """How to extract, given the keys: letters, numbers or anything else."""
    seen = {texts.clean(text) for text in targets if text and not texts.is_empty(text)}
    if seen and all(re.fullmatch(r"\(?[A-Z]\)?", text) for text in seen):
        return "letter"
    if seen and all(_NUMBER.fullmatch(text) for text in seen):
        return "number"
    return "auto"
