"""Numbers and lists in words, for sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence


def percent(value: float | None, width: float | None = None) -> str:
    """A share in [0, 1] in percent, without the sign.

    One decimal; more where the interval is narrower than a point, or where it would read 0 or 100
    without being it.

    Parameters
    ----------
    value : float or None
    width : float, optional
        Width of its interval.
    """
    if value is None or not math.isfinite(value):
        return "–"
    digits = _digits(width)
    while digits < 4 and value not in (0.0, 1.0) and _rounds_away(value, digits):
        digits += 1
    if value not in (0.0, 1.0) and _rounds_away(value, digits):
        return "< 0.0001" if abs(value) < 0.5 else "> 99.9999"
    text = f"{100 * value:.{digits}f}"
    return text.replace("-", "−")


def _digits(width: float | None) -> int:
    """Decimals of percentages in an interval so wide."""
    if width is None or not math.isfinite(width) or width <= 0:
        return 1
    return min(4, max(1, math.ceil(-math.log10(width)) - 1))


def _rounds_away(value: float, digits: int) -> bool:
    return round(100 * abs(value), digits) in (0.0, 100.0)


def interval(low: float, high: float) -> str:
    """Both ends in percent."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "–"
    digits = _digits(high - low)
    # an end may well read 0 or 100: it is an end, not the estimate
    return f"{100 * low:.{digits}f} to {100 * high:.{digits}f}".replace("-", "−")


def points(value: float | None, width: float | None = None) -> str:
    """A difference of shares in percentage points, with its sign."""
    if value is None or not math.isfinite(value):
        return "–"
    digits = _digits(width)
    text = f"{100 * value:+.{digits}f}"
    return text.replace("-", "−")


def points_interval(low: float, high: float) -> str:
    """Both ends in percentage points."""
    return f"{points(low, high - low)} to {points(high, high - low)}"


def probability(value: float | None) -> str:
    """A probability with as many digits as it deserves; never 0 or 1 by rounding."""
    if value is None or not math.isfinite(value):
        return "–"
    # Draws that all agree still make no certainty.
    if value < 0.001:
        return "< 0.001"
    if value > 0.999:
        return "> 0.999"
    return f"{value:.3f}" if value < 0.01 or value > 0.99 else f"{value:.2f}"


def p_value(value: float | None) -> str:
    """A p-value, which may well be 1."""
    if value is None or not math.isfinite(value):
        return "–"
    if value < 0.001:
        return "< 0.001"
    return f"{value:.3f}" if value < 0.01 else f"{value:.2f}"


def equals(value: float | None) -> str:
    """A probability behind what it is the probability of: "= 0.93", "> 0.999"."""
    text = probability(value)
    return text if text[0] in "<>" else f"= {text}"


def number(value: float | None, digits: int = 3) -> str:
    """Any number with `digits` significant digits."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.{digits}g}"
    return (f"{value:,.0f}" if "e+" in text else text).replace("-", "−")


def fixed(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals."""
    if value is None or not math.isfinite(value):
        return "–"
    # + 0.0 turns -0 into 0
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def count(n: int, noun: str, plural: str = "") -> str:
    """A count with its noun."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence, at most so many."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def shortened(text: str, most: int) -> str:
    """The text with its middle left out where it is longer than `most`: names differ at the end."""
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def level(ci_prob: float, ci_kind: str = "eti") -> str:
    """Kind and level of an interval in words."""
    kind = {"eti": "equal-tailed", "hdi": "highest-density"}[ci_kind]
    return f"{100 * ci_prob:g} % {kind} interval"


def generations_used(low: int, high: int) -> str:
    """Generations per prompt."""
    return f"{high:,}" if low == high else f"{low:,} to {high:,}"
