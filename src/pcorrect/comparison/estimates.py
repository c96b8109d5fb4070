"""What a comparison reports of one number, and how a posterior becomes a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pcorrect.errors import PcorrectError
from pcorrect.marginal import CiKind, FloatArray, Marginal

Verdict = Literal["better", "worse", "equivalent", "undecided"]


@dataclass(frozen=True)
class Estimate:
    """Mean, standard deviation and credible interval of one number."""

    mean: float
    sd: float
    lower: float
    upper: float

    @classmethod
    def from_draws(cls, draws: FloatArray, ci_prob: float, ci_kind: CiKind) -> Estimate:
        """From posterior draws of any shape.

        Raises
        ------
        PcorrectError
            `ci_prob` or `ci_kind` is out of range.
        """
        marginal = Marginal.from_draws(draws)
        return cls(marginal.mean, marginal.sd, *marginal.interval(ci_prob, ci_kind))

    def negated(self) -> Estimate:
        """The same posterior of the difference taken the other way round."""
        return Estimate(0.0 - self.mean, self.sd, 0.0 - self.upper, 0.0 - self.lower)

    def symmetric(self) -> Estimate:
        """The same one about 0: for a posterior that is symmetric, without its rounding errors."""
        reach = (self.upper - self.lower) / 2
        return Estimate(0.0, self.sd, -reach, reach)

    def to_dict(self) -> dict[str, float]:
        """Keys ``mean``, ``sd``, ``lower``, ``upper``."""
        return {"mean": self.mean, "sd": self.sd, "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class Equivalence:
    """A posterior of a difference held against zero and against a region of practical equivalence.

    Parameters
    ----------
    p_better : float
        P(difference > 0); half of any mass at exactly 0 counts.
    p_equivalent : float
        Share of the *whole* posterior inside the region (not of its highest-density interval).
    verdict : {"better", "worse", "equivalent", "undecided"}
        Never "better" or "worse" because the posterior is wide: a posterior with little mass in the
        region and mass on both sides of it is undecided.
    rope : tuple of float
        The region.
    """

    p_better: float
    p_equivalent: float
    verdict: Verdict
    rope: tuple[float, float]


def equivalence(
    draws: ArrayLike, rope: float | tuple[float, float] = 0.01, *, ci_prob: float = 0.95
) -> Equivalence:
    """Judge posterior draws of a difference.

    Parameters
    ----------
    draws : array_like
        Draws of the difference, of any shape.
    rope : float or pair of float
        Region of practical equivalence: ``(low, high)``, or half the width of a symmetric one.
    ci_prob : float
        How sure a verdict has to be: "better" needs P(difference > 0) > (1 + ci_prob) / 2 (the
        equal-tailed interval lies above 0), "equivalent" needs p_equivalent >= ci_prob.

    Raises
    ------
    PcorrectError
        The region is empty, or there are no draws.
    """
    low, high = check_rope(rope)
    x = np.ravel(np.asarray(draws, float))
    if not len(x):
        raise PcorrectError("no draws: a posterior needs at least one")
    p_better = probability_above(x)
    inside = float(np.mean((x >= low) & (x <= high)))
    sure = (1 + ci_prob) / 2
    verdict: Verdict = "undecided"
    if inside >= ci_prob:
        verdict = "equivalent"
    elif p_better > sure:
        verdict = "better"
    elif 1 - p_better > sure:
        verdict = "worse"
    return Equivalence(p_better, inside, verdict, (low, high))


def check_rope(rope: float | tuple[float, float]) -> tuple[float, float]:
    """The region as a pair.

    Raises
    ------
    PcorrectError
        It is empty, or its bounds are not finite.
    """
    low, high = (-abs(rope), abs(rope)) if isinstance(rope, int | float) else rope
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise PcorrectError(
            f"rope {rope}: needs a lower bound, then an upper one (or half the width), "
            "in units of the score: 0.01 is one percentage point"
        )
    return float(low), float(high)


def probability_above(draws: NDArray[np.float64]) -> float:
    """P(X > 0), ties at 0 counted half."""
    return float(np.mean(draws > 0) + 0.5 * np.mean(draws == 0))
