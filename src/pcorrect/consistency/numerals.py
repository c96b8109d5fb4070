"""Numbers with units, whatever their spelling: digits of any script, separators, exponents.

A number is read exactly (no floating point): ``1,000``, ``1 000``, ``1e3``, ``1000.0`` and the
full-width digits are one number, ``0.1`` is ``1/10`` and nothing else. Units must agree: ``28``,
``28%`` and ``0.28`` are three answers, ``5 cm`` and ``5`` two. ``1.000,5`` is a number only where
the decimal sign is said to be a comma. Leading zeros count for nothing up to three digits (``007``,
``0.50``); longer integers that begin with one are codes, not numbers (``0101``).
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

# Longer ones are compared digit by digit; Python itself refuses to convert them.
_MOST_DIGITS = 2000
# Integers of more digits that begin with 0 are codes (bits, ids): "0101" is not "101".
_PADDED = 3
# No number is longer; the patterns need not prove it.
_LONGEST = 10_000

_SIGN = r"(?P<sign>[+\-–])?\s?"
_UNIT = r"(?P<unit>\s?[^\W\d_].*|\s?[%°$€£¥₹Ω].*)?"
_CURRENCY = r"[$€£¥₹]"
_POWER_OF_TEN = r"10\s?\^\s?(?:\(?(?P<power>[+-]?\d{1,9})\)?)"
_PLAIN = re.compile(
    rf"(?P<before>{_CURRENCY})?\s?{_SIGN}(?P<behind>{_CURRENCY})?\s?"
    r"(?P<whole>\d{1,3}(?P<group>[,_'’ ])\d{3}(?:(?P=group)\d{3})*|\d+|(?=\.\d))"
    r"(?:\.(?P<decimals>\d*))?"
    rf"(?:[eE](?P<exponent>[+-]?\d{{1,9}})|\s?[*x×·]\s?{_POWER_OF_TEN})?"
    rf"{_UNIT}"
)
_TEN = re.compile(rf"{_SIGN}{_POWER_OF_TEN}{_UNIT}")
_PART = r"(?:(?P<{0}>\d+(?:\.\d+)?)|\((?P<{0}_in_brackets>-?\d+(?:\.\d+)?)\))"
_FRACTION = re.compile(
    rf"{_SIGN}(?:(?P<whole>\d+) )?{_PART.format('above')}\s?/\s?{_PART.format('below')}{_UNIT}"
)
_COMPLEX = re.compile(
    r"(?P<real>[+-]?\s?(?:\d+(?:\.\d*)?|\.\d+))\s?(?P<sign>[+-])\s?"
    r"(?P<imaginary>\d+(?:\.\d*)?|\.\d+)?\s?\*?\s?[ij]"
)
# A unit has no digits apart from powers (m^2, m2, m²).
_UNIT_TEXT = re.compile(r"(?:[^\W\d_]|[%°$€£¥₹Ω²³·*/'() -]|\^-?\d|(?<=[a-z])[23](?![\d.])){0,40}")
# Squares and cubes of lengths and seconds are written without a sign too; "x2" may be x times 2.
_UNIT_POWER = re.compile(r"\b([kcdmn]?m|s|in|ft|yd|mi)([23])\b")
_UNIT_NAMES = {
    "percent": "%",
    "per cent": "%",
    "degree": "°",
    "degrees": "°",
    "dollar": "$",
    "dollars": "$",
    "euro": "€",
    "euros": "€",
}
# Words of a unit, not its symbols: MPa and mPa, mM and MM keep their case.
_UNIT_WORD = re.compile(r"\b[A-Z]?[a-z]{3,}\b")


def read(text: str, *, decimal: str = ".") -> str | None:
    """Canonical spelling of a number with its unit, or None if the text is something else.

    Parameters
    ----------
    text : str
        Without wrappers and LaTeX, and with single spaces.
    decimal : {".", ","}
        The decimal sign; the other one groups thousands.

    Returns
    -------
    str or None
        Equal for two texts exactly if they name the same number and unit.
    """
    text = _ascii_digits(text)
    if len(text) > _LONGEST or not any("0" <= char <= "9" for char in text):
        return None
    if decimal == ",":
        text = text.translate({ord("."): ",", ord(","): "."})
    for pattern, value in (
        (_COMPLEX, _complex),
        (_FRACTION, _fraction),
        (_TEN, _plain),
        (_PLAIN, _plain),
    ):
        match = pattern.fullmatch(text)
        if match is not None:
            number, unit = value(match), _unit(match)
            if number is not None and unit is not None:
                return f"{number} {unit}".rstrip()
    return None


def _ascii_digits(text: str) -> str:
    if text.isascii():
        return text
    # Superscripts and the numerals of ten, hundred, … are numeric but no decimal digits.
    return "".join(
        char if (digit := unicodedata.decimal(char, None)) is None else str(digit) for char in text
    )


def _plain(match: re.Match[str]) -> str | None:
    found = match.groupdict()
    whole = "".join(char for char in found.get("whole", "1") if char.isdigit())
    decimals = found.get("decimals") or ""
    if len(whole) > _PADDED and whole[0] == "0" and whole == match[0]:
        return None
    exponent = int(found.get("exponent") or found["power"] or 0) - len(decimals)
    digits = (whole + decimals).lstrip("0")
    kept = digits.rstrip("0")
    if not kept:
        return "0"
    exponent += len(digits) - len(kept)
    minus = "-" if found["sign"] in ("-", "–") else ""
    if len(kept) + abs(exponent) > _MOST_DIGITS:
        return f"{minus}{kept}e{exponent}"
    return f"{minus}{int(kept) * Fraction(10) ** exponent}"


def _fraction(match: re.Match[str]) -> str | None:
    whole = match["whole"] or "0"
    above = match["above"] or match["above_in_brackets"]
    below = match["below"] or match["below_in_brackets"]
    if max(map(len, (whole, above, below))) > _MOST_DIGITS or not below.strip("-0."):
        return None
    if match["whole"] and "-" in above + below:
        return None
    value = Fraction(whole) + Fraction(above) / Fraction(below)
    return str(-value if match["sign"] in ("-", "–") else value)


def _complex(match: re.Match[str]) -> str | None:
    real, imaginary = match["real"].replace(" ", ""), match["imaginary"] or "1"
    if max(len(real), len(imaginary)) > _MOST_DIGITS:
        return None
    return f"{Fraction(real)} {match['sign']} {Fraction(imaginary)}i"


def _unit(match: re.Match[str]) -> str | None:
    """Canonical unit, empty for none; None if the rest of the text is no unit."""
    found = match.groupdict()
    after = (found.get("unit") or "").strip()
    if not _UNIT_TEXT.fullmatch(after):
        return None
    after = _UNIT_WORD.sub(lambda word: word[0].lower(), after)
    after = _UNIT_POWER.sub(r"\1^\2", _UNIT_NAMES.get(after, after))
    signs = [sign for name in ("before", "behind") if (sign := found.get(name))]
    if not signs:
        return after
    return signs[0] if len(signs) == 1 and after in ("", signs[0]) else None
