r"""LaTeX of short answers as plain text: ``\dfrac{1}{2}`` is ``1/2``, ``11{,}111`` is ``11,111``.

Spelling only: no expression is evaluated or reordered here. Whatever is not understood stays as it
is, so that two texts become equal only if they differ in spelling.
"""

from __future__ import annotations

import re
import unicodedata
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
_ROOT = re.compile(r"\\sqrt(?![a-zA-Z])\s*|√\s*(?P<digits>\d+(?:\.\d+)?)?")
_MATRIX = re.compile(r"\\begin\{([pbvBV]?matrix)\}(.*?)\\end\{\1\}", re.DOTALL)
_POWER = re.compile(r"\^\{([^{}])\}|\^\{(-?\d+)\}")
_LOWERED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SUPERSCRIPT = re.compile(r"(?<=[\w)\]}])[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"(?<![\w)^])(?:(?P<whole>\d+) ?)?(?P<fraction>[¼½¾⅐-⅞])")
_ATOM = re.compile(r"\d+(?:\.\d+)?|[a-zA-Zπ]|sqrt\([^()]*\)")


def plain(text: str) -> str:
    """Text with simple LaTeX, superscripts and typeset fractions spelled out."""
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda m: "^" + m[0].translate(_LOWERED), text)
        text = _VULGAR.sub(_vulgar, text)
    if "\\" not in text and "{" not in text and "√" not in text:
        return text
    text = _MATRIX.sub(_matrix, text)
    text = _GONE.sub("", text)
    text = _arguments(text, _TEXT, lambda inner: inner)
    text = _SYMBOL.sub(lambda m: _SYMBOLS[m[0]], text)
    text = _roots(text)
    text = _fractions(text)
    return _POWER.sub(lambda m: "^" + (m[1] or m[2]), text)


def _vulgar(match: re.Match[str]) -> str:
    fraction = unicodedata.normalize("NFKC", match["fraction"]).replace("\u2044", "/")
    return f"{match['whole']} {fraction}" if match["whole"] else fraction


def _matrix(match: re.Match[str]) -> str:
    """Cells without the spaces around them: ``pmatrix(1&2;3&4)``."""
    rows = [row for row in match[2].split("\\\\") if row.strip()]
    cells = ["&".join(cell.strip() for cell in row.split("&")) for row in rows]
    return f"{match[1]}({';'.join(cells)})"


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
        # After \sqrt a single digit is meant, after √ the whole number.
        inner, end = match["digits"], match.end()
        if inner is None:
            inner, end = _argument(text, end)
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
