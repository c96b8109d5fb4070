"""Small pieces of the Gibbs sampler: draws and weights in logs, the shape of the Beta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Range of logit r, r = sigma / sqrt(mu (1 - mu)). Below, a + b > 1e10 and differences of log-gammas
# lose their digits; above, a + b < 1e-17. No data set can tell either from the limit.
LOGIT_R = (-11.5, 40.0)
LOGIT_M = (-40.0, 40.0)


def log_gamma_draw(shape: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log of standard gamma draws, right also where the draw itself underflows (small shapes)."""
    return np.asarray(
        np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(shape.shape) / shape
    )


def log_beta_draw(
    a: FloatArray, b: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw x ~ Beta(a, b) and return (log x, log(1 - x)), both exact in the tails."""
    x, y = log_gamma_draw(np.stack([a, b]), rng)
    total = np.logaddexp(x, y)
    return x - total, y - total


def beta_parameters(logit_m: FloatArray, logit_r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(a, b) of the Beta with mean m and spread r (see `pcorrect.priors`)."""
    odds = np.exp(-np.clip(logit_r, *LOGIT_R))
    nu = odds * (odds + 2.0)  # 1 / r**2 - 1
    return expit(logit_m) * nu, expit(-logit_m) * nu


def log_stick_weights(log_v: FloatArray, log_1v: FloatArray) -> FloatArray:
    """Log shares, shape (C, 1 + T): what the sticks leave first, then the sticks."""
    left = np.cumsum(log_1v, axis=1)
    return np.concatenate([left[:, -1:], log_v[:, :1], log_v[:, 1:] + left[:, :-1]], axis=1)


class Distinct:
    """The distinct values of a whole number that each cell has."""

    def __init__(self, of_cell: FloatArray) -> None:
        self.value, self._index = np.unique(of_cell, return_inverse=True)
        self._member = (self._index[:, None] == np.arange(len(self.value))).astype(float)

    def spread(self, x: FloatArray) -> FloatArray:
        """From one column per value to one per cell."""
        return np.asarray(x[:, self._index])

    def sum(self, x: NDArray[np.int64]) -> FloatArray:
        """From one column per cell to one per value."""
        return np.asarray(x @ self._member)
