"""Small pieces of the Gibbs sampler: draws and weights in logs, the shape of the Beta."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Ranges of logit m and logit r, r = sigma / sqrt(mu (1 - mu)), lower ends first: nothing of the
# sharpest prior that is allowed lies beyond.
LOGIT_BASE = np.array([[-40.0, -120.0], [40.0, 40.0]])[:, :, None]
# At smaller r, a + b > 1e10 and differences of log-gammas lose their digits; at larger,
# a + b < 1e-17. No data can tell either from the limit, whose Beta is used.
_LOGIT_R = -11.5, 40.0


def log_gamma_draw(shape: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log of standard gamma draws, right also where the draw itself underflows (small shapes)."""
    return np.asarray(
        np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(shape.shape) / shape
    )


def log_beta_draw(
    a: FloatArray, b: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw x ~ Beta(a, b) and return (log x, log(1 - x)), both exact in the tails."""
    x, y = log_gamma_draw(np.array([a, b]), rng)
    total = np.logaddexp(x, y)
    return x - total, y - total


def beta_parameters(logit_m: FloatArray, logit_r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(a, b) of the Beta with mean m and spread r (see `pcorrect.priors`)."""
    odds = np.exp(-np.minimum(np.maximum(logit_r, _LOGIT_R[0]), _LOGIT_R[1]))
    nu = odds * (odds + 2.0)  # 1 / r**2 - 1
    return expit(logit_m) * nu, expit(-logit_m) * nu


def log_stick_weights(log_v: FloatArray, log_1v: FloatArray) -> FloatArray:
    """Log shares, shape (C, 1 + T): what the sticks leave first, then the sticks."""
    left = np.cumsum(log_1v, axis=1)
    return np.concatenate([left[:, -1:], log_v[:, :1], log_v[:, 1:] + left[:, :-1]], axis=1)


class LogGammas:
    """Beta-binomial log probabilities, by log-gammas at the distinct values of s, f and s + f.

    Parameters
    ----------
    s, f : ndarray, shape (M,)
        Correct and wrong generations of each cell.
    shape : pair of int
        Chains C and sticks T.
    """

    def __init__(self, s: FloatArray, f: FloatArray, shape: tuple[int, int]) -> None:
        chains, sticks = shape
        values = [np.unique(np.append(x, 0.0), return_inverse=True) for x in (s, f, s + f)]
        width = max(len(value) for value, _ in values)
        self._sticks = sticks
        #: Where the value of each cell, and 0, stands in its row of `_value`.
        self._index = [index for _, index in values]
        self._value = np.zeros((3, 1, width))
        self._member = np.zeros((3, len(s), width))
        for row, member, (value, index) in zip(self._value, self._member, values, strict=True):
            row[0, : len(value)] = value
            member[np.arange(len(s)), index[:-1]] = 1.0
        self._member[2] *= -1.0
        self._seen = np.zeros((3, chains, sticks + width))
        self._seen[:, :, sticks:] = self._value
        self._times = np.zeros_like(self._seen)

    def of_cells(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Log probability of each cell under Beta(a, b), no binomial coefficient, (C, M)."""
        s, f, k = (
            value[:, index]
            for value, index in zip(
                gammaln(np.array([a, b, a + b])[:, :, None] + self._value),
                self._index,
                strict=True,
            )
        )
        each = s + f - k
        return np.asarray(each[:, :-1] - each[:, -1:])

    def set_counts(self, taken: FloatArray, rest: IntArray) -> FloatArray:
        """Take over allocations: to atoms, (3, C, T), and to the Beta, (C, M); see `of_counts`.

        Returns how many Beta-binomial counts each chain has: occupied atoms and prompts.
        """
        sticks = self._sticks
        occupied = taken[0] > 0
        units = occupied.sum(axis=1) + rest.sum(axis=1, dtype=float)
        self._seen[:2, :, :sticks] = taken[1:]
        self._seen[2, :, :sticks] = taken[1] + taken[2]
        self._times[:2, :, :sticks] = occupied
        self._times[2, :, :sticks] = -occupied.astype(float)
        self._times[:, :, sticks:] = rest @ self._member
        for i, sign in enumerate((1.0, 1.0, -1.0)):
            self._times[i, :, sticks + self._index[i][-1]] -= sign * units
        # Most sticks are empty, and log-gammas dear.
        which, chain, _ = needed = np.nonzero(self._times)
        self._needed = which * len(units) + chain, chain, self._seen[needed], self._times[needed]
        return np.asarray(units)

    def of_counts(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Log probability of the allocated counts, atoms integrated out, (C,)."""
        which, chain, seen, times = self._needed
        each = gammaln(np.concatenate([a, b, a + b])[which] + seen)
        return np.bincount(chain, each * times, minlength=len(a))
