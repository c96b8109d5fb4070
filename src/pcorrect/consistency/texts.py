r"""The text of an answer without its typography: what may differ while the answer is the same.

Only differences that cannot carry meaning are removed: invisible characters, composed against
decomposed letters, full-width forms, runs of white space, wrappers (``**x**``, ``$x$``,
``\boxed{x}``, quotation marks), a final full stop, "Answer:" in front. Articles, accents,
superscripts and everything else stay: when unsure, two answers are different.
"""

from __future__ import annotations

import re
import unicodedata

# Invisible characters. The joiners U+200C and U+200D stay: they tell words and emoji apart.
_INVISIBLE = dict.fromkeys(
    [
        *(0xAD, 0x200B, 0x200E, 0x200F, 0xFEFF),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2065),
        *range(0x2066, 0x206A),
    ]
)
# Full-width forms of ASCII, the minus sign (elsewhere than in prose no dash is meant by it).
_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0x2212: "-"}
_SPACE = re.compile(r"\s+")

_PAIRS = (
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("```", "```"),
    ("`", "`"),
    ("$$", "$$"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("„", "“"),
    ("«", "»"),
    ("「", "」"),
)
_OPENERS = frozenset(opening[0] for opening, _ in _PAIRS)
_COMMAND = re.compile(
    r"\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|operatorname)\s*\{"
)
_PREFIX = re.compile(
    r"(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|option|choice)\s*(?:is\s*:?|:|=)\s*(?=\S)"
    r"|(?:option|choice)\s+(?=\(?[a-z]\)?[.)]?$)",
    re.IGNORECASE,
)
# Short words whose case carries nothing; other words of one or two letters keep it (CO, Co).
_SHORT_WORDS = frozenset({"no", "ok"})
_WORD = re.compile(r"[^\W\d_]+")


def typography(text: str) -> str:
    """Text without invisible characters, in composed form, with single spaces."""
    if text.isascii():
        return _SPACE.sub(" ", text).strip()
    text = unicodedata.normalize("NFC", text.translate(_INVISIBLE)).translate(_WIDTH)
    return _SPACE.sub(" ", text).strip()


def is_empty(text: str | None) -> bool:
    """Whether there is no answer: missing, or nothing that can be seen."""
    return text is None or not text.translate(_INVISIBLE).strip()


def clean(text: str) -> str:
    """Text without typography and wrappers; never empty unless `text` is."""
    found = typography(text)
    while True:
        inner = _unwrap(found)
        if inner == found or not inner:
            return found
        found = inner


def _unwrap(text: str) -> str:
    """Remove one layer."""
    for opening, closing in _PAIRS if text[:1] in _OPENERS else ():
        size = len(opening) + len(closing)
        if len(text) > size and text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            # "$5 and $6" and 'a' or 'b' are no pairs; an escaped \$ is an amount's.
            rest = inner.replace("\\$", "") if opening == "$" else inner
            if opening not in rest and closing not in rest:
                return inner.strip()
    command = _COMMAND.match(text)
    if command and closing_brace(text, command.end()) == len(text) - 1:
        return text[command.end() : -1].strip()
    prefix = _PREFIX.match(text)
    if prefix:
        return text[prefix.end() :].strip()
    if text[-1:] in ".。" and text[-2:-1] not in (".", "。", ""):
        return text[:-1].rstrip()
    return text


def closing_brace(text: str, start: int) -> int:
    """Position of the brace that closes the one before `start`, or -1."""
    depth = 1
    for position in range(start, len(text)):
        if text[position] in "{}" and text[position - 1] != "\\":
            depth += 1 if text[position] == "{" else -1
            if not depth:
                return position
    return -1


def fold(text: str) -> str:
    """Fold the case of words where it carries nothing.

    Words of three letters and more in lower, upper or title case lose it (Paris, PARIS). Case
    inside a word stays (NaCl, MPa), and so does that of shorter words (NO, No, CO and Co can be
    different things), apart from a capital that only begins the answer.
    """
    return _WORD.sub(_fold_word, text)


def _fold_word(match: re.Match[str]) -> str:
    word = match[0]
    lower = word.lower()
    if lower in _SHORT_WORDS or (len(word) >= 3 and word in (lower, word.upper(), word.title())):
        return lower
    if len(word) == 2 and match.start() == 0 and word[1].islower():
        return lower
    return word
