"""A planned quantity with its uncertainty: median and quantiles of posterior draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pcorrect.marginal import FloatArray

#: Probability of the intervals of this package's plans.
CI_PROB = 0.95


@dataclass(frozen=True)
class Estimate:
    """Median and equal-tailed interval of a posterior; `inf` is a legal value of all three.

    Parameters
    ----------
    value, lower, upper : float
    """

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, draws: FloatArray, ci_prob: float = CI_PROB) -> Estimate:
        """Summarise draws, which may be infinite (not nan)."""
        lower, value, upper = quantiles(draws, ci_prob)
        return cls(float(value), float(lower), float(upper))


def quantiles(draws: FloatArray, ci_prob: float = CI_PROB) -> FloatArray:
    """Lower end, median and upper end over axis 0; shape (3, ...).

    Order statistics, never a mean of two draws: half of infinity is no number of generations.
    """
    tail = (1 - ci_prob) / 2
    ordered = np.sort(draws, axis=0)
    last = len(ordered) - 1
    index = [round(q * last) for q in (tail, 0.5, 1 - tail)]
    return np.asarray(ordered[index])


def whole(k: FloatArray | float) -> FloatArray:
    """Numbers of generations (or prompts) that are at least `k`: rounded up, at least 1.

    A relative slack of 1e-9 keeps a k that is whole up to rounding where it is.
    """
    k = np.asarray(k, dtype=float)
    return np.maximum(np.ceil(k * (1 - 1e-9)), 1.0)
