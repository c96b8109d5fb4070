"""What a score cell means: the one vocabulary of right, wrong and missing that every format uses.

A column of scores holds few distinct values, so a reader collects these, judges them here in one
go (some rules, such as the 0-100 scale, need to see all of them), and maps the rows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

RIGHT = frozenset(
    ["c", "correct", "yes", "y", "true", "t", "pass", "passed", "right", "success", "✓", "✔", "✅"]
)
WRONG = frozenset(
    [
        "i",
        "incorrect",
        "n",
        "no",
        "noanswer",
        "false",
        "f",
        "fail",
        "failed",
        "wrong",
        "failure",
        "✗",
        "✘",
        "❌",
    ]
)
PARTIAL = frozenset({"p", "partial", "partially correct", "partially_correct"})
MISSING = frozenset({"", *["na", "n/a", "nan", "null", "none", "#n/a", "<na>", "nat"]})

# `float` also reads "1_0" and "infinity", which no results file means as a number.
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?(\s*%)?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Verdict:
    """What the distinct values of one score column mean.

    Parameters
    ----------
    right, wrong, missing : frozenset of str
        The raw values of each kind.
    bad : mapping of str to str
        Raw value -> the rule it breaks and the remedy.
    notes : tuple of str
        Decisions the user should see.
    """

    right: frozenset[str]
    wrong: frozenset[str]
    missing: frozenset[str]
    bad: Mapping[str, str]
    notes: tuple[str, ...]

    def outcome(self, raw: str | None) -> int | None:
        """1 for right, 0 for wrong, None for missing; the value must not be a bad one."""
        if raw is None or raw in self.missing:
            return None
        return 1 if raw in self.right else 0


def as_text(value: object) -> str | None:
    """Text of a cell that came as a Python object; None where it is missing.

    Lists and mappings become JSON, so that every format hands the same text on.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    if isinstance(value, float) and math.isnan(value):
        return None
    text = str(value)
    return None if text in {"NaT", "<NA>", "nan"} else text


def parse_score(raw: str) -> float | None:
    """Read one score cell as a number: 1 is right, 0 is wrong, None is missing.

    Parameters
    ----------
    raw : str
        The cell's text. Words of the vocabulary count in any case; a decimal comma and a per cent
        sign are understood.

    Returns
    -------
    float or None

    Raises
    ------
    ValueError
        The text is neither a number nor a word of the vocabulary.
    """
    word = raw.strip().lower()
    if word in MISSING:
        return None
    if word in RIGHT:
        return 1.0
    if word in WRONG:
        return 0.0
    if word in PARTIAL:
        return 0.5
    if not _NUMBER.fullmatch(word):
        raise ValueError("not a score (known: 1/0, true/false, C/I/P/N, yes/no, pass/fail)")
    number = float(word.removesuffix("%").strip().replace(",", "."))
    return number / 100 if word.endswith("%") else number


def judge(values: Iterable[str], threshold: float | None = None) -> Verdict:
    """Decide what the distinct values of a score column mean.

    Parameters
    ----------
    values : iterable of str
        Distinct raw texts of the column.
    threshold : float, optional
        A score at or above it is right. Up to 1 it refers to scores in [0, 1], above 1 to scores
        in [0, 100].

    Returns
    -------
    Verdict
    """
    numbers: dict[str, float] = {}
    missing: set[str] = set()
    bad: dict[str, str] = {}
    for raw in values:
        try:
            number = parse_score(raw)
        except ValueError as error:
            bad[raw] = str(error)
            continue
        if number is None:
            missing.add(raw)
        else:
            numbers[raw] = number
    notes: list[str] = []
    if threshold is not None:
        top = scale_of(threshold)
        plain = [x for raw, x in numbers.items() if not _on_any_scale(raw)]
        if top > 1 and 0 < max(plain, default=0) <= 1:
            bad |= {raw: wrong_scale(threshold, max(plain)) for raw in numbers}
        numbers = {raw: x * top if _on_any_scale(raw) else x for raw, x in numbers.items()}
        right = {raw for raw, x in numbers.items() if threshold <= x <= top}
        wrong = {raw for raw, x in numbers.items() if 0 <= x < threshold}
        for raw in numbers.keys() - right - wrong:
            bad[raw] = f"outside [0, {top:g}], the scale of threshold {threshold:g}"
    else:
        found = set(numbers.values())
        one = 1.0
        if 100.0 in found and found <= {0.0, 100.0}:
            one = 100.0
            notes.append("scores are 0 and 100: read as 0 and 1")
        right = {raw for raw, x in numbers.items() if x == one}
        wrong = {raw for raw, x in numbers.items() if x == 0}
        for raw in numbers.keys() - right - wrong:
            bad[raw] = _rule(numbers[raw], found)
    if any(raw.strip().lower() in {"n", "noanswer"} for raw in wrong) and _letters(numbers):
        notes.append("score 'N' (no answer) counts as wrong")
    return Verdict(frozenset(right), frozenset(wrong), frozenset(missing), bad, tuple(notes))


def scale_of(threshold: float) -> float:
    """Upper end of the score scale that a threshold refers to."""
    return 1.0 if threshold <= 1 else 100.0


def wrong_scale(threshold: float, largest: float) -> str:
    """Rule that scores up to 1 break with a threshold above 1."""
    return (
        f"threshold {threshold:g} is for scores from 0 to 100, and the largest here is "
        f"{largest:g}: for scores from 0 to 1 give {threshold / 100:g}"
    )


def _on_any_scale(raw: str) -> bool:
    """Whether a score is a share of the whole: a word, or a number with a per cent sign."""
    word = raw.strip().lower()
    return word in RIGHT | WRONG | PARTIAL or word.endswith("%")


def _letters(numbers: Mapping[str, float]) -> bool:
    """Whether N stands beside C, I and P, where it means no answer, not no."""
    words = {raw.strip().lower() for raw in numbers}
    return bool(words & {"c", "i", "p", "noanswer"}) or words <= {"n", "noanswer"}


def _rule(number: float, found: set[float]) -> str:
    if 0 < number < 1:
        return "partial credit is not right or wrong: choose a threshold (score >= threshold)"
    if 1 < number <= 100 and max(found) <= 100 and min(found) >= 0:
        if 1.0 in found:
            return (
                "the column holds 1 and larger scores, so its scale is ambiguous (0-1, 0-100, …): "
                "choose a threshold"
            )
        return "a 0-100 scale with partial credit: choose a threshold above 1, such as 100"
    return "outside the scale of scores (0 to 1)"
