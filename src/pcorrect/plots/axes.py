"""Scales of pictures: where a value lies, and which values get a label."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pcorrect.marginal import FloatArray


@dataclass(frozen=True)
class Axis:
    """One axis.

    Parameters
    ----------
    low, high : float
        Its ends; positive where `log`.
    ticks : tuple of float
    label : str
        The quantity and its unit.
    text : callable
        Tick value -> its label.
    log : bool
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    label: str
    text: Callable[[float], str]
    log: bool = False

    def place(self, value: ArrayLike) -> FloatArray:
        """Share of the axis at which values lie; values beyond its ends are put at the ends."""
        at = np.asarray(value, dtype=float)
        low, high = self.low, self.high
        if self.log:
            at, low, high = np.log(np.maximum(at, low)), math.log(low), math.log(high)
        return np.asarray(np.clip((at - low) / (high - low), 0.0, 1.0))


def linear(
    values: ArrayLike,
    label: str,
    text: Callable[[float], str] | None = None,
    *,
    bounds: tuple[float | None, float | None] = (None, None),
    most: int = 6,
    pad: float = 0.05,
) -> Axis:
    """An axis that covers finite `values`, with round ticks.

    Parameters
    ----------
    values : array_like
    label, text
        As in `Axis`; ticks are plain numbers by default.
    bounds : pair of float or None
        Fixed ends, where the quantity has them.
    most : int
        Ticks to have at most.
    pad : float
        Share of the range to leave free at an end that is not fixed.
    """
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    low = float(finite.min()) if len(finite) else 0.0
    high = float(finite.max()) if len(finite) else 1.0
    room = pad * (high - low) or 0.05 * (abs(high) or 1.0)
    low = low - room if bounds[0] is None else bounds[0]
    high = high + room if bounds[1] is None else bounds[1]
    if not low < high:
        high = low + 1.0
    step = _round_step((high - low) / most)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    # + 0.0 turns -0 into 0
    ticks = tuple(round(i * step, 12) + 0.0 for i in range(first, last + 1))
    return Axis(low, high, ticks, label, text or _plain)


def logarithmic(
    values: ArrayLike, label: str, text: Callable[[float], str], ticks: Sequence[float] = ()
) -> Axis:
    """A logarithmic axis over positive `values`.

    Parameters
    ----------
    values : array_like
    label, text
        As in `Axis`.
    ticks : sequence of float
        Default: 1, 2 and 5 times powers of ten.
    """
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite) & (finite > 0)]
    low = float(finite.min()) if len(finite) else 0.1
    high = float(finite.max()) if len(finite) else 1.0
    low, high = low / 1.12, high * 1.12
    if not ticks:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [m * 10.0**p for p in powers for m in (1, 2, 5)]
    inside = [t for t in ticks if low <= t <= high]
    if len(inside) > 8:
        inside = inside[:: math.ceil(len(inside) / 8)]
    return Axis(low, high, tuple(inside), label, text, log=True)


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= least * (1 - 1e-9))


def _plain(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def in_percent(value: float) -> str:
    """A tick label: a share in percent, without the sign."""
    return f"{round(100 * value, 6):g}".replace("-", "−")
