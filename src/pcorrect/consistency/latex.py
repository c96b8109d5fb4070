r"""LaTeX of short answers as plain text: ``\dfrac{1}{2}`` is ``1/2``, ``11{,}111`` is ``11,111``.

Spelling only: no expression is evaluated or reordered here. Whatever is not understood stays as it
is, so that two texts become equal only if they differ in spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pcorrect.consistency.texts import closing_brace

_GONE = re.compile(r"\\left(?![a-z])|\\right(?![a-z])|\\[!,;:]|\\quad(?![a-z])|\\displaystyle\s*")
_SYMBOLS = {
    "{,}": ",",
    "\\ ": " ",
    "~": " ",
    "\\%": "%",
    "\\$": "$",
    "\\#": "#",
    "\\_": "_",
    "\\{": "{",
    "\\}": "}",
    "^\\circ": "°",
    "^{\\circ}": "°",
    "\\degree": "°",
    "\\times": "*",
    "\\cdot": "*",
    "\\div": "/",
    "\\pi": "π",
    "\\infty": "∞",
    "\\pm": "±",
    "\\leq": "≤",
    "\\le": "≤",
    "\\geq": "≥",
    "\\ge": "≥",
    "\\neq": "≠",
    "\\ne": "≠",
    "\\cup": "∪",
    "\\cap": "∩",
    "\\in": "∈",
    "\\to": "→",
}
_SYMBOL = re.compile(
    "|".join(
        re.escape(key) + ("(?![a-zA-Z])" if key[-1].isalpha() else "")
        for key in sorted(_SYMBOLS, key=len, reverse=True)
    )
)
_TEXT = re.compile(r"\\(?:text|mathrm|mbox|textrm|textbf|mathbf|operatorname)\s*\{")
_FRACTION = re.compile(r"\\[dtc]?frac\s*")
_ROOT = re.compile(r"\\sqrt\s*\{|√\s*")
_POWER = re.compile(r"\^\{([^{}])\}|\^\{(-?\d+)\}")
_ATOM = re.compile(r"\d+(?:\.\d+)?|[a-zA-Zπ]|sqrt\([^()]*\)")


def plain(text: str) -> str:
    """Text with simple LaTeX spelled out."""
    if "\\" not in text and "{" not in text and "√" not in text:
        return text
    text = _GONE.sub("", text)
    text = _arguments(text, _TEXT, lambda inner: inner)
    text = _SYMBOL.sub(lambda m: _SYMBOLS[m[0]], text)
    text = _roots(text)
    text = _fractions(text)
    return _POWER.sub(lambda m: "^" + (m[1] or m[2]), text)


def _arguments(text: str, command: re.Pattern[str], put: Callable[[str], str]) -> str:
    """Replace each command with an argument by what `put` makes of the argument."""
    start = 0
    while (match := command.search(text, start)) is not None:
        end = closing_brace(text, match.end())
        if end < 0:
            return text
        text = text[: match.start()] + put(text[match.end() : end]) + text[end + 1 :]
        start = match.start()
    return text


def _fractions(text: str) -> str:
    start = 0
    while (match := _FRACTION.search(text, start)) is not None:
        parts, position = [], match.end()
        for _ in range(2):
            part, position = _argument(text, position)
            parts.append(part)
        if None in parts:
            start = match.end()
            continue
        above, below = (_bracket(part) for part in parts if part is not None)
        before = text[: match.start()]
        # A digit in front makes a mixed number (1\frac{1}{2}), anything else a product.
        gap = " " if before[-1:].isdigit() else ""
        text = f"{before}{gap}{above}/{below}{text[position:]}"
        start = match.start()
    return text


def _roots(text: str) -> str:
    start = 0
    while (match := _ROOT.search(text, start)) is not None:
        brace = match.end() - 1 if match[0].endswith("{") else match.end()
        inner, end = _argument(text, brace)
        if inner is None:
            start = match.end()
            continue
        text = f"{text[: match.start()]}sqrt({inner}){text[end:]}"
        start = match.start()
    return text


def _argument(text: str, position: int) -> tuple[str | None, int]:
    """The argument at `position`: in braces, or one character; and where it ends."""
    while text[position : position + 1] == " ":
        position += 1
    if text[position : position + 1] == "{":
        end = closing_brace(text, position + 1)
        return (None, position) if end < 0 else (text[position + 1 : end].strip(), end + 1)
    single = text[position : position + 1]
    return (single, position + 1) if single.isalnum() else (None, position)


def _bracket(part: str) -> str:
    return part if _ATOM.fullmatch(part) else f"({part})"
