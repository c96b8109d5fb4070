"""Probability of single counts under many Betas at once."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from pcorrect.cells import Cells
from pcorrect.data import IntArray
from pcorrect.marginal import FloatArray
from pcorrect.populations.beta import BetaBinomialLikelihood, Shape

# Beyond so many generations one table of partial sums would be larger than it is worth.
_LONG = 1000


def log_beta_binomial(s: IntArray, k: IntArray, shape: Shape) -> FloatArray:
    """Log probability of s of k generations correct, p integrated out.

    Partial sums of the logs of the rising factors (see `pcorrect.populations.beta`), so that
    nothing cancels.

    Parameters
    ----------
    s, k : ndarray of int, shape (m,)
    shape : Shape
        G points.

    Returns
    -------
    ndarray, shape (m, G)
    """
    if k.max(initial=0) > _LONG:
        return np.stack([_one(s[i : i + 1], k[i : i + 1], shape) for i in range(len(s))])
    j = np.arange(int(k.max(initial=0)))[:, None]
    theta = shape.theta
    tables = []
    for first in (shape.mu, shape.one_minus_mu, np.ones_like(theta)):
        steps = np.cumsum(np.log(first + j * theta), axis=0)
        tables.append(np.concatenate([np.zeros((1, len(theta))), steps]))
    choose = gammaln(k + 1.0) - gammaln(s + 1.0) - gammaln(k - s + 1.0)
    return np.asarray(tables[0][s] + tables[1][k - s] - tables[2][k] + choose[:, None])


def _one(s: IntArray, k: IntArray, shape: Shape) -> FloatArray:
    once = np.ones(1, dtype=np.int64)
    return BetaBinomialLikelihood(Cells(s, k, once, np.zeros(0, dtype=np.intp))).log_prob(shape)
