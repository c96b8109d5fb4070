r"""Spread a number of new generations over prompts so that a sum of variances falls fastest.

A prompt whose p has the posterior variance v, and :math:`w = E[p (1 - p)]`, behaves as if
:math:`\nu = w / v` generations had been seen; m more leave the expected variance
:math:`w / (\nu + m)` (exact for a Beta posterior, where :math:`\nu = a + b`). The sum of these over
prompts is convex in every m, so that giving one generation at a time to the prompt that gains most
is optimal; the next one gains :math:`w / ((\nu + m)(\nu + m + 1))`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pcorrect.marginal import FloatArray

IntArray = NDArray[np.int64]

# Stands for "no information yet": the first generation of such a prompt gains most of all.
_NONE = 1e-9


def spread(weight: FloatArray, seen: FloatArray, total: int) -> IntArray:
    """Integers m >= 0 that sum to `total` and minimise ``sum(weight / (seen + m))``.

    Found as one at a time would find them, but by the gain of the last one: O(n log) whatever the
    total. Ties go to the prompts that come first.

    Parameters
    ----------
    weight : ndarray, shape (n,)
        w >= 0; prompts of weight 0 get nothing unless all are 0.
    seen : ndarray, shape (n,)
        nu >= 0.
    total : int

    Returns
    -------
    ndarray of int, shape (n,)
    """
    seen = np.maximum(np.asarray(seen, dtype=float), _NONE)
    weight = np.asarray(weight, dtype=float)
    top = weight.max(initial=0.0)
    # Only ratios matter; what is 1e-30 of the largest one is nothing.
    weight = np.where(weight > 1e-30 * top, weight / (top or 1.0), 0.0) if top else weight + 1.0
    low, high = 0.0, float(np.log(np.max(weight / (seen * (seen + 1)))) + 1)
    low = high - 200.0
    for _ in range(200):
        middle = (low + high) / 2
        if _taken(weight, seen, np.exp(middle), total).sum() > total:
            low = middle
        else:
            high = middle
    m = _taken(weight, seen, np.exp(high), total)
    rest = int(total - m.sum())
    # What is left is less than one for each of the prompts whose next gains are equal.
    while rest > 0:
        gain = weight / ((seen + m) * (seen + m + 1))
        order = np.argsort(-gain, kind="stable")[:rest]
        top = order[gain[order] >= gain[order[0]] * (1 - 1e-9)]
        m[top] += 1
        rest -= len(top)
    return m


def _taken(weight: FloatArray, seen: FloatArray, gain: float, total: int) -> IntArray:
    """How many generations of each prompt gain at least `gain`; at most ``total + 1``."""
    # (nu + m)(nu + m + 1) <= w / gain holds up to m = (sqrt(1 + 4 w / gain) - 1) / 2 - nu
    last = (np.sqrt(1 + 4 * weight / gain) - 1) / 2 - seen
    taken = np.clip(np.floor(last * (1 + 1e-12)) + 1, 0, total + 1)
    return np.asarray(taken, dtype=np.int64)


def remaining(weight: FloatArray, seen: FloatArray, m: IntArray) -> float:
    """Sum of the expected variances after `m` more generations of each prompt."""
    return float(np.sum(weight / np.maximum(seen + m, _NONE)))
