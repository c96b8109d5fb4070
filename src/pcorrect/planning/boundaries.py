r"""How much wider must an interval be when one looks several times? Group-sequential boundaries.

The estimate after k generations of each prompt has the information :math:`I_k = n / (B + W / k)`
(:math:`n k / W` for exactly these prompts), and later estimates contain the earlier ones, so that
their z statistics are those of a Brownian motion seen at the times :math:`I_j / I_J` (Jennison &
Turnbull 2000, Group Sequential Methods, chapter 3). The boundary is the constant (Pocock) one: the
same critical value at every look. Between-prompt variance makes the looks more alike, so that
looking again costs less for new prompts than for these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray

_NODES = 161
# Looks that add less than this share of the last look's information are one look.
_STEP = 1e-3


def information(k: ArrayLike, *, between: float, within: float, estimand: str = "mu") -> FloatArray:
    """Information of each look relative to the last one, in (0, 1].

    Parameters
    ----------
    k : array_like, shape (J,)
        Generations per prompt at each look, increasing.
    between, within : float
        Variances of the quantity that is looked at (of the paired difference, for two llms).
    estimand : {"mu", "score"}

    Raises
    ------
    PcorrectError
        `k` does not increase from at least 1.
    """
    ks = np.atleast_1d(np.asarray(k, dtype=float))
    if not (ks.size and ks[0] >= 1 and np.all(np.diff(ks) > 0)):
        raise PcorrectError(f"looks must be increasing numbers of generations, got {list(ks)}")
    variance = (between if estimand == "mu" else 0.0) + within / ks
    if not variance[-1] > 0:
        return np.ones(len(ks))
    return np.asarray(variance[-1] / variance)


def crossing_probability(z: float, times: FloatArray) -> float:
    """P(|Z_j| > z at some look) when there is no difference.

    Recursive numerical integration over the value of the Brownian motion (Armitage, McPherson &
    Rowe 1969), by Gauss-Legendre quadrature on the continuation region of each look.
    """
    times = _merged(times)
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    edge = z * np.sqrt(times)
    crossed = 2 * ndtr(-z)
    x = node * edge[0]
    mass = weight * edge[0] * np.exp(-(x**2) / (2 * times[0])) / np.sqrt(2 * np.pi * times[0])
    for j in range(1, len(times)):
        sd = np.sqrt(times[j] - times[j - 1])
        crossed += mass @ (ndtr((x - edge[j]) / sd) + ndtr((-x - edge[j]) / sd))
        y = node * edge[j]
        step = np.exp(-(((y[:, None] - x) / sd) ** 2) / 2) / (np.sqrt(2 * np.pi) * sd)
        mass = weight * edge[j] * (step @ mass)
        x = y
    return float(crossed)


def boundary(times: FloatArray, level: float = 0.05) -> float:
    """Constant critical value that keeps the two-sided error rate over all looks.

    Parameters
    ----------
    times : ndarray, shape (J,)
        From `information`.
    level : float
        Error rate, in (0, 1).

    Raises
    ------
    PcorrectError
        `level` is out of range.
    """
    if not 0 < level < 1:
        raise PcorrectError(f"level must lie between 0 and 1, got {level}")
    low = float(ndtri(1 - level / 2))
    # Bonferroni is an upper bound
    high = float(ndtri(1 - level / (2 * len(times))))
    for _ in range(40):
        middle = (low + high) / 2
        if high - low < 1e-6:
            break
        above = crossing_probability(middle, times) > level
        low, high = (middle, high) if above else (low, middle)
    return high


def _merged(times: FloatArray) -> FloatArray:
    """Looks that differ by enough for the quadrature; those in between add next to nothing."""
    kept = [float(times[-1])]
    for t in times[-2::-1]:
        if kept[-1] - t >= _STEP:
            kept.append(float(t))
    return np.array(kept[::-1])
