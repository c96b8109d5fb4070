"""Posterior of one number: from a table of its distribution function, or from draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pcorrect.errors import PcorrectError

FloatArray = NDArray[np.float64]
CiKind = Literal["eti", "hdi"]

# Tables reach to this many normal scores (tail probabilities of 1e-9), in steps of at most _STEP,
# found by at most _ROUNDS halvings: enough for a power law at an edge down to 1e-18.
_REACH = 6.0
_STEP = 0.1
_ROUNDS = 60


@dataclass(frozen=True)
class Marginal:
    """A one-dimensional posterior.

    Parameters
    ----------
    value : ndarray, shape (m,)
        Increasing.
    cdf : ndarray, shape (m,)
        P(X <= value).
    mean, sd : float
    """

    value: FloatArray
    cdf: FloatArray
    mean: float
    sd: float

    @classmethod
    def from_cdf(
        cls,
        cdf: Callable[[FloatArray], FloatArray],
        bounds: tuple[float, float],
        *,
        mean: float,
        sd: float,
    ) -> Marginal:
        """Tabulate a distribution function that is dear to evaluate.

        Points are added where the normal score of the probability rises by more than a tenth of a
        unit. In between most posteriors are nearly straight lines in that score, so the table is
        filled up by linear interpolation there.
        """
        low, high = (float(b) for b in bounds)
        if not low < high:
            return cls(np.array([mean]), np.ones(1), float(mean), float(sd))
        value = np.linspace(low, high, 65)
        score = _normal_score(cdf(value))
        for _ in range(_ROUNDS):
            wide = np.diff(score) > _STEP
            # nothing between neighbouring floating-point numbers
            wide &= np.diff(value) > 4 * np.spacing(value[1:])
            if not wide.any():
                break
            middle = (value[:-1][wide] + value[1:][wide]) / 2
            value = np.concatenate([value, middle])
            score = np.concatenate([score, _normal_score(cdf(middle))])
            order = np.argsort(value)
            value, score = value[order], np.maximum.accumulate(score[order])
        fine = np.linspace(0, len(value) - 1, 16 * (len(value) - 1) + 1)
        index = np.arange(len(value))
        return cls(
            np.interp(fine, index, value),
            np.asarray(ndtr(np.interp(fine, index, score))),
            float(mean),
            float(sd),
        )

    @classmethod
    def from_draws(cls, draws: FloatArray) -> Marginal:
        """From draws of any shape (the empirical distribution, quantiles of Hyndman-Fan type 7)."""
        value = np.sort(np.ravel(draws))
        cdf = np.linspace(0.0, 1.0, len(value)) if len(value) > 1 else np.ones(1)
        return cls(value, cdf, float(value.mean()), float(value.std(ddof=min(1, len(value) - 1))))

    def summarised(self, mean: float, sd: float) -> Marginal:
        """The same distribution as a table of 4001 points, with mean and sd known better."""
        cdf = np.concatenate([[0.0], ndtr(np.linspace(-4, 4, 3999)), [1.0]])
        return Marginal(self.quantile(cdf), cdf, mean, sd)

    def quantile(self, prob: FloatArray | float) -> FloatArray:
        """Quantiles at the probabilities `prob` in [0, 1]."""
        return np.asarray(np.interp(prob, self.cdf, self.value))

    def probability_below(self, value: float) -> float:
        """P(X <= value)."""
        return float(np.interp(value, self.value, self.cdf, left=0.0, right=1.0))

    def interval(self, ci_prob: float, ci_kind: CiKind = "eti") -> tuple[float, float]:
        """Credible interval: equal-tailed ("eti") or of highest density ("hdi").

        Parameters
        ----------
        ci_prob : float
            Probability of the interval, in (0, 1).
        ci_kind : {"eti", "hdi"}

        Raises
        ------
        PcorrectError
            `ci_prob` or `ci_kind` is out of range.
        """
        check_interval(ci_prob, ci_kind)
        if ci_kind == "eti":
            low, high = self.quantile(np.array([(1 - ci_prob) / 2, (1 + ci_prob) / 2]))
            return float(low), float(high)
        # The shortest interval of the wanted mass, over its possible lower tails.
        tail = np.linspace(0.0, 1 - ci_prob, 2001)
        lower, upper = self.quantile(tail), self.quantile(tail + ci_prob)
        best = int(np.argmin(upper - lower))
        return float(lower[best]), float(upper[best])


def check_interval(ci_prob: float, ci_kind: str) -> None:
    """Raise `PcorrectError` unless ``0 < ci_prob < 1`` and `ci_kind` is "eti" or "hdi"."""
    if not 0 < ci_prob < 1:
        raise PcorrectError(f"ci_prob must lie between 0 and 1, got {ci_prob}")
    if ci_kind not in ("eti", "hdi"):
        raise PcorrectError(f"ci_kind must be 'eti' or 'hdi', got {ci_kind!r}")


def check_draws(draws: object, seed: object) -> None:
    """Raise `PcorrectError` unless `draws` is a whole number >= 2, and `seed` one >= 0."""
    for name, value, least in (("draws", draws, 2), ("seed", seed, 0)):
        if not isinstance(value, Integral) or value < least:
            raise PcorrectError(f"{name} must be a whole number of at least {least}, got {value}")


def _normal_score(cdf: FloatArray) -> FloatArray:
    """Normal scores of probabilities, cut at the reach of a table."""
    return np.asarray(ndtri(np.clip(cdf, ndtr(-_REACH), ndtr(_REACH))))
