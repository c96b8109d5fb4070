"""When are two answers the same? A cascade of rules, each of which reads a text on its own.

The first rule that can read a text gives it a key, and two answers are the same exactly if they
have equal keys. So the relation is an equivalence whatever the order of the answers, and the rule
that merged two texts can be named:

========== ===================================================================================
code       syntax trees are equal (Python), or lists, tuples, sets and dicts of constants
letter     the same choice letter: ``A``, ``a``, ``(A)``, ``A.``, ``Answer: A``
number     the same number and unit (see `pcorrect.consistency.numerals`)
expression equal but for white space, without words (``x = 5``, ``x=5``)
text       equal but for typography and the case of words
========== ===================================================================================

When unsure, nothing is merged: no articles are dropped, no unit is converted, no synonym is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from pcorrect.consistency import latex, numerals, syntax, texts

Rule = Literal["empty", "code", "letter", "number", "expression", "text", "exact", "math", "user"]

#: What each rule says about the texts that it put together.
REASONS: dict[Rule, str] = {
    "empty": "no answer",
    "code": "same syntax tree",
    "letter": "same choice letter",
    "number": "same number and unit",
    "expression": "same expression but for white space",
    "text": "same text but for typography and case",
    "exact": "identical texts",
    "math": "equal expressions (math-verify)",
    "user": "the caller's function",
}

# Longer texts are no letters, numbers or formulas.
_LONGEST = 10_000
_LETTER = re.compile(r"[(\[]?\s?([A-Za-z])\s?[)\]]?[.:)]?")
_LABEL = re.compile(r"[(\[](\d{1,2})[)\]]")
_FUNCTIONS = re.compile(
    r"(?:arc)?(?:sin|cos|tan)h?|cot|sec|csc|log|ln|exp|sqrt|abs|max|min|mod|gcd|lcm|pi"
    r"|[pbvBV]?matrix"
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_OPERATOR = re.compile(r"[-+*/^=<>≤≥≠,()\[\]{}|!∪∩±√]")
_LOOSE_SPACE = re.compile(r"(?<!\w) | (?!\w)")


class Key(NamedTuple):
    """What a rule made of a text; equal keys are the same answer."""

    rule: Rule
    value: str


EMPTY = Key("empty", "")


def cascade(text: str | None, *, decimal: str = ".") -> Key:
    """Key of an answer by the rules above.

    Parameters
    ----------
    text : str or None
    decimal : {".", ","}
        Decimal sign of numbers.
    """
    if texts.is_empty(text):
        return EMPTY
    assert text is not None
    tree = syntax.read(text)
    if tree is not None:
        return Key("code", tree)
    cleaned = texts.clean(text)
    if cleaned.isascii() and cleaned.isdigit() and cleaned[0] != "0" and len(cleaned) < 300:
        return Key("number", str(int(cleaned)))
    if len(cleaned) > _LONGEST:
        return Key("text", texts.fold(cleaned))
    plain = texts.clean(latex.plain(cleaned))
    tree = syntax.literal(plain)
    if tree is not None:
        return Key("code", tree)
    letter = _LETTER.fullmatch(plain)
    if letter:
        return Key("letter", letter[1].upper())
    label = _LABEL.fullmatch(plain)
    number = numerals.read(label[1] if label else plain, decimal=decimal)
    if number is not None:
        return Key("number", number)
    if is_expression(plain):
        return Key("expression", _LOOSE_SPACE.sub("", plain))
    return Key("text", texts.fold(plain))


def exact(text: str | None) -> Key:
    """Key under which only identical texts are the same answer."""
    return EMPTY if texts.is_empty(text) else Key("exact", str(text))


def is_expression(plain: str) -> bool:
    """Whether a text without LaTeX spelling is a formula: operators, and no words."""
    words = _WORD.findall(plain)
    return _OPERATOR.search(plain) is not None and all(
        _FUNCTIONS.fullmatch(word) or word.startswith("\\") for word in words
    )


Reader = Callable[[str | None], Key]
