"""Pareto smoothed importance sampling (Vehtari, Simpson, Gelman, Yao & Gabry 2024, JMLR 25:72).

The definitions of ArviZ, which takes seconds to import; a test holds the two equal.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from pcorrect.marginal import FloatArray

# Constants of the generalised Pareto fit (Zhang & Stephens 2009, Technometrics 51:316), and the
# weight of the prior that pulls the shape to 1/2.
_PRIOR_SCALE = 3.0
_PRIOR_WEIGHT = 10.0


def smooth(log_ratio: FloatArray, r_eff: float = 1.0) -> tuple[FloatArray, float]:
    """Normalised log weights with a smoothed upper tail, and the tail's shape.

    Parameters
    ----------
    log_ratio : ndarray, shape (D,)
        Log importance ratios.
    r_eff : float
        Effective share of the draws, in (0, 1].

    Returns
    -------
    log_weight : ndarray, shape (D,)
    k_hat : float
        Above .7 the estimate cannot be relied on; -inf where the tail is constant.
    """
    size = len(log_ratio)
    value = log_ratio - log_ratio.max()
    tail = int(3 * np.sqrt(size / r_eff)) if size * r_eff > 225 else size // 5
    k_hat = -np.inf
    if tail >= 5:
        order = np.argsort(value)[size - tail - 1 :]
        cutoff, largest = value[order[0]], value[order[-1]]
        if largest - value[order[1]] > np.finfo(float).tiny:
            k_hat, scale = pareto_fit(np.exp(value[order[1:]]) - np.exp(cutoff))
            if np.isfinite(k_hat) and scale > 0:
                prob = np.arange(0.5, tail) / tail
                excess = scale * np.expm1(-k_hat * np.log1p(-prob)) / k_hat
                value[order[1:]] = np.minimum(np.log(np.exp(cutoff) + excess), largest)
    return value - logsumexp(value), k_hat


def pareto_fit(excess: FloatArray) -> tuple[float, float]:
    """Shape and scale of a generalised Pareto distribution.

    Parameters
    ----------
    excess : ndarray, shape (m,)
        Increasing, positive.

    Returns
    -------
    shape, scale : float
        Not finite where the lowest quarter is constant.
    """
    n = len(excess)
    quarter = excess[int(n / 4 + 0.5) - 1]
    if quarter <= excess[0]:
        return np.inf, np.nan
    m = 30 + int(np.sqrt(n))
    b = 1 - np.sqrt(m / (np.arange(1, m + 1) - 0.5))
    b = b / (_PRIOR_SCALE * quarter) + 1 / excess[-1]
    shape = np.log1p(-b[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-b / shape) - shape - 1)
    weight = np.exp(profile - logsumexp(profile))
    best = float(b @ weight)
    at = float(np.log1p(-best * excess).mean())
    return (n * at + _PRIOR_WEIGHT * 0.5) / (n + _PRIOR_WEIGHT), -at / best
