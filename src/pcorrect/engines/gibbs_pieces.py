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
    logit_r = np.clip(logit_r, *LOGIT_R)
    r = expit(logit_r)
    nu = expit(-logit_r) * (1 + r) / r**2
    return expit(logit_m) * nu, expit(-logit_m) * nu


def log_stick_weights(log_v: FloatArray, log_1v: FloatArray) -> FloatArray:
    """Log shares, shape (C, 1 + T): what the sticks leave first, then the sticks."""
    left = np.cumsum(log_1v, axis=1)
    return np.concatenate([left[:, -1:], log_v[:, :1], log_v[:, 1:] + left[:, :-1]], axis=1)
