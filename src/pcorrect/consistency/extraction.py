r"""The answer inside a raw response, for logs that hold nothing shorter.

A response is searched for what models are asked to write: the last ``\boxed{…}``, the last
``#### …`` or "answer: …" (or "answer is …"); if asked, in these for a choice letter or number.
Where nothing of the kind is found the response is kept whole: no answer is lost by extraction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pcorrect.consistency import equivalence, latex, numerals, texts
from pcorrect.errors import PcorrectError

How = Literal["auto", "none", "boxed", "line", "letter", "number"]
HOWS: tuple[How, ...] = ("auto", "none", "boxed", "line", "letter", "number")

# Shorter answers than this are answers already.
_RAW_LENGTH = 60
# No formula is longer; the patterns need not prove it.
_LONGEST = 1000

_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
# Four # before words mark an answer on the last line only; elsewhere they make a heading.
_LINE = re.compile(
    r"(?:(?:^|[ \t])#{4}(?!#)[ \t]*(?=[-+−–]?[ \t]?\\?[$€£¥]?\d|[^\n]*\s*\Z)"
    r"|\banswer(?:\*\*|__)?[ \t]*(?:is(?:[ \t]*:)?|:|=)(?:\*\*|__)?)"
    r"[ \t]*(?P<rest>(?![:*_ \t]+$)\S[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_LETTERS = (
    re.compile(r"\(([A-Z])\)"),
    re.compile(r"(?:^|\n)[ \t*]*([A-Z])[ \t*]*[.):]?[ \t*]*(?=\n|$)"),
    re.compile(r"(?:^|\n)[ \t*]*([A-Z])[.):][ \t]"),
    re.compile(r"\b(?:option|choice)\s+([A-Z])\b", re.IGNORECASE),
    re.compile(r"\b([A-Z])[ \t*]*\.?[ \t*]*$"),
)
# "A dog" and "I think" begin with a word, not with a letter; "A because …" with a letter.
_LEADING_LETTER = re.compile(
    r"(?:(?:[a-z]+ly|most|therefore|thus|indeed|hence|then),?\s+)*"
    r"(?:(?i:the\s+)?(?i:option|choice|letter)\s*:?\s*)?(?:\(([a-z])\)|[(\[{<*\"“`$]*"
    r"(?![AI]\s+(?!(?:because|since|as|and|or|is|are|but|not|for|due|with|which|so|if|by|in|on"
    r"|from|while|only)\b)[a-z])"
    r"([A-Z])(?![\w'’]))"
)
_OPTION = re.compile(r"[(\[]?([A-Z])(?:[)\]][.:]?|[.:]|\s[-–])\s+\S")
# A number as it is written: mixed ("3 1/2"), grouped, as a power or times a power of ten.
_POWER = r"\^\(?[-+]?\d+\)?"
_NUMBER = re.compile(
    r"(?<![\w.^])(?<![a-z]\()(?:[-–]|^[-–] )?(?:\d+ (?=\d+/\d))?"
    r"(?:\d{1,3}(?:[, ]\d{3})+(?![\d/])|\d+|(?=\.\d))(?:\.\d+)?"
    rf"(?:/\d+|{_POWER}|[eE][+-]?\d+| ?[*x×·] ?10{_POWER})?(?: ?%)?(?!\w)"
)
# A unit can stand right behind its number.
_UNIT = re.compile(r"(?=\\(?:text|mathrm)\b)")
_BRACKETS = "()[]{}<> "
_CURRENCY = str.maketrans("", "", "$€£¥₹")
# "x =" and "9 * 2 =" before a result.
_LEFT_SIDE = re.compile(r"(?:[^\W\d_] ?=|(?:[^=a-zA-Z]|(?<=[\d ])x(?=[\d ]))*=)+ ?(?=.*\d)")
_BULLET = re.compile(r"\s*[-–*•]\s+")
# The end of bold type that began before the answer.
_BOLD_END = re.compile(r"\*\*[ .]*$")


def extract_answer(response: str, how: How = "auto") -> str:
    """The answer inside a response.

    Parameters
    ----------
    response : str
    how : {"auto", "boxed", "line", "letter", "number", "none"}
        "auto" tries boxed, then the answer line. "letter" and "number" look for the first of their
        kind in what these find; only of a response that marks no answer is the last one taken.
        "none" changes nothing.

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
    marks = _marks(response, how)
    if how in ("letter", "number"):
        inside, last = (_letter, _last_letter) if how == "letter" else (_number, _last_number)
        found = next((found for mark in marks if (found := inside(mark))), None)
        return found or (None if marks else last(response)) or (marks or [response])[0]
    return marks[0] if marks else response


def _marks(response: str, how: How) -> list[str]:
    """What is marked as the answer: the last box first, then answer lines from the last one."""
    box = _boxed(response) if how != "line" else None
    lines = [] if how == "boxed" else [_rest(match["rest"]) for match in _LINE.finditer(response)]
    if how == "number":
        lines = [line.rstrip("!") for line in lines]
    return [*([] if box is None else [box]), *reversed(lines)]


def _rest(line: str) -> str:
    line = line.strip()
    return _BOLD_END.sub("", line).rstrip() if line.count("**") == 1 else line


def _boxed(response: str) -> str | None:
    # The last box that is closed; of a response that keeps opening boxes only the end is tried.
    for match in reversed(list(_BOXED.finditer(response))[-20:]):
        end = texts.closing_brace(response, match.end())
        if end > match.end():
            return response[match.end() : end].strip()
    return None


def _letter(marked: str) -> str | None:
    first = _LEADING_LETTER.match(texts.clean(marked))
    return (first[1] or first[2]).upper() if first else _last_letter(marked)


def option_letter(answer: str) -> str:
    """The letter of an answer that is an option with its text (``B) Paris``); others unchanged."""
    cleaned = texts.clean(answer)
    option = _OPTION.match(cleaned)
    return option[1] if option and not _LINE.search(cleaned) else answer


def _last_letter(text: str) -> str | None:
    for pattern in _LETTERS:
        found = pattern.findall(text.rstrip())
        if found:
            return str(found[-1]).upper()
    return None


def _number(marked: str) -> str | None:
    """The number that a marked answer is or begins with; an expression is kept whole.

    Keys that are numbers name no unit, so the answer's is left out (apart from %).
    """
    plain = _plain(_UNIT.sub(" ", marked))
    side = _LEFT_SIDE.match(plain) if "=" in plain and len(plain) < _LONGEST else None
    if side and side[0].count("(") == side[0].count(")"):
        plain = texts.clean(plain[side.end() :])
    first = _NUMBER.search(plain)
    if first is None or first[0] == plain.strip(_BRACKETS):
        return first and first[0]
    # What follows the number is a unit, unless it makes a complex number.
    unit = first.start() == 0 and plain[first.end() :].lstrip()[:1] not in "+-"
    if unit and numerals.read(plain) is not None:
        return first[0]
    return plain if equivalence.is_expression(plain) else first[0]


def _last_number(response: str) -> str | None:
    for line in reversed(response.splitlines()):
        found = _NUMBER.findall(_plain(_BULLET.sub("", line, count=1)))
        if found:
            return str(found[-1])
    return None


def _plain(text: str) -> str:
    text = texts.clean(text)
    if len(text) < _LONGEST:
        text = latex.plain(text)
    return texts.clean(text.translate(_CURRENCY))


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
