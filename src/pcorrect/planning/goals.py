"""The smallest number of generations that reaches a goal, or how many prompts are missing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.variances import (
    CI_PROB,
    ONE_PROMPT,
    SINGLE,
    Estimate,
    Source,
    Variances,
    check_estimand,
    planned,
    quantiles,
    variances,
    whole,
)

#: A standard error of mu is near enough to its floor when it exceeds it by this fraction.
OF_FLOOR = 0.10


@dataclass(frozen=True)
class MinimalK:
    """The answer to "how many generations are enough?" for one goal.

    Parameters
    ----------
    goal : str
        In words.
    estimand : {"mu", "score", "p"}
        "p" where the goal concerns single prompts.
    k : int or None
        Smallest k that reaches the goal with a posterior probability of one half or more; None
        where no k does.
    lower, upper : int or None
        Equal-tailed interval; None where no k is enough.
    reachable : float
        Posterior probability that some k reaches the goal.
    k_used : int
        Generations of a prompt behind the answer (their harmonic mean, rounded, where k differs).
    ci_prob : float
    more_prompts : Estimate or None
        Prompts to add at `k_used` generations each (or one) where no k reaches the goal.
    more_prompts_at_best : Estimate or None
        The same if every prompt had infinitely many generations.
    unknown : str
        Why the data do not tell; then `k` says nothing.
    note : str
        A remark for the reader.
    """

    goal: str
    estimand: str
    k: int | None
    lower: int | None
    upper: int | None
    reachable: float
    k_used: int
    ci_prob: float = CI_PROB
    more_prompts: Estimate | None = None
    more_prompts_at_best: Estimate | None = None
    unknown: str = ""
    note: str = ""

    @classmethod
    def of(
        cls, goal: str, estimand: str, k: FloatArray, k_used: int, ci_prob: float, **more: object
    ) -> MinimalK:
        """From draws of the (real-valued) smallest k, inf where no k is enough."""
        k = whole(k)
        lower, middle, upper = (int(x) if np.isfinite(x) else None for x in quantiles(k, ci_prob))
        reachable = float(np.mean(np.isfinite(k)))
        return cls(goal, estimand, middle, lower, upper, reachable, k_used, ci_prob, **more)  # type: ignore[arg-type]

    @classmethod
    def not_told(cls, goal: str, estimand: str, k_used: int, why: str) -> MinimalK:
        """The data do not answer the question."""
        return cls(goal, estimand, None, None, None, math.nan, k_used, unknown=why)

    def to_json(self) -> dict[str, Any]:
        """One entry of ``targets``."""
        more = self.more_prompts
        return {
            "goal": self.goal,
            "estimand": self.estimand,
            "k": self.k,
            "lower": self.lower,
            "upper": self.upper,
            "reachable": plain(self.reachable),
            "more_prompts": None
            if more is None
            else {"n": plain(more.value), "lower": plain(more.lower), "upper": plain(more.upper)},
            "answer": str(self),
        }

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note and not self.unknown else ""
        return self._sentence() + note

    def _sentence(self) -> str:
        if self.unknown:
            why = f"{self.unknown}; {self.note}" if self.note else self.unknown
            return f"{self.goal}: not in the data ({why})"
        if self.k is None:
            text = f"{self.goal}: no k reaches that"
            if self.more_prompts is not None:
                more, best = self.more_prompts, self.more_prompts_at_best
                if not math.isfinite(more.value):
                    return f"{text}, and no number of prompts does"
                text += f": you need {_count(more)} more prompts at k = {max(self.k_used, 1)}"
                if best is not None and best.value < more.value:
                    text += f", {_count(best)} more with any k"
            return text
        spread = f" ({self.lower:,} to {self.upper or 0:,})"
        if self.upper is None:
            spread = f" (with probability {1 - self.reachable:.2g} no k is enough)"
        elif self.lower == self.upper == self.k:
            spread = ""
        used = f"; you used {self.k_used}" if self.k_used else ""
        return f"{self.goal}: k = {self.k:,}{spread}{used}"


def plain(value: float) -> float | None:
    """A finite number, or None."""
    return float(value) if math.isfinite(value) else None


def _count(estimate: Estimate) -> str:
    if estimate.lower == estimate.upper:
        return f"{estimate.value:,.0f}"
    high = f"{estimate.upper:,.0f}" if math.isfinite(estimate.upper) else "more"
    return f"{estimate.value:,.0f} ({estimate.lower:,.0f} to {high})"


def minimal_k(
    source: Source | Variances,
    *,
    of_floor: float | None = None,
    half_width: float | None = None,
    estimand: str = "mu",
    n: int | None = None,
    ci_prob: float = CI_PROB,
) -> MinimalK:
    r"""Smallest k that reaches a goal; by default, within 10 % of what any k can give.

    Parameters
    ----------
    source : Fit, DataTree, PromptCounts or Variances
    of_floor : float, optional
        Goal: the standard error of mu is at most ``1 + of_floor`` times its floor. With
        :math:`f = 1 +` `of_floor`, :math:`k \ge W / ((f^2 - 1) B)`.
    half_width : float, optional
        Goal: the interval of `estimand` has at most this half-width h. With its quantile z,
        :math:`k \ge W / (n h^2 / z^2 - B)` for "mu", :math:`k \ge W / (n h^2 / z^2)` for "score".
    estimand : {"mu", "score"}
    n : int, optional
        Prompts; default as observed.
    ci_prob : float
        Level of the interval whose half-width is the goal, and of the uncertainty of k.

    Raises
    ------
    PcorrectError
        Both goals, or one that is not positive; no `half_width` for "score"; `n` is below 1.
    """
    if of_floor is not None and half_width is not None:
        raise PcorrectError("one goal at a time: of_floor or half_width")
    check_estimand(estimand)
    goal = OF_FLOOR if of_floor is None else of_floor
    goal = goal if half_width is None else half_width
    if not 0 < goal < np.inf:
        name = "of_floor" if half_width is None else "half_width"
        raise PcorrectError(f"{name} must be a positive, finite number, got {goal:g}")
    found = variances(source)
    n = planned(n, found.n_prompts)
    if half_width is None:
        if estimand == "score":
            raise PcorrectError(
                "score has no floor to be near to, its error goes to 0: name a half_width"
            )
        return _near_floor(found, goal, ci_prob)
    text = f"half-width {half_width:g} for {_ABOUT[estimand]}"
    if unknown := unanswerable(found, estimand):
        result = MinimalK.not_told(text, estimand, found.k_used, unknown)
        if unknown == SINGLE and estimand == "mu":
            # what is known is B + W, the variance of one generation of a new prompt
            needed = prompts_needed(found.between + found.within, half_width, ci_prob)
            note = f"with k = 1, {_count(Estimate.of(needed, ci_prob))} prompts give that"
            result = replace(result, note=note)
        return result
    se = half_width / found.factor(estimand, ci_prob, n)
    if estimand == "score":
        k = smallest_k(found.within_here, np.zeros(1), n, np.array([se]))
        return MinimalK.of(text, estimand, k, found.k_used, ci_prob)
    k = smallest_k(found.within, found.between, n, np.array([se]))
    result = MinimalK.of(text, estimand, k, found.k_used, ci_prob)
    if result.k is not None:
        return result
    now = found.between + found.within / max(found.k_used, 1)
    more, best = (
        Estimate.of(np.maximum(prompts_needed(v, half_width, ci_prob) - n, 0), ci_prob)
        for v in (now, found.between)
    )
    return MinimalK.of(
        text, estimand, k, found.k_used, ci_prob, more_prompts=more, more_prompts_at_best=best
    )


_ABOUT = {"mu": "new prompts (mu)", "score": "these prompts (score)"}


def _near_floor(found: Variances, of_floor: float, ci_prob: float) -> MinimalK:
    text = f"within {100 * of_floor:g} % of the floor for new prompts (mu)"
    if unknown := unanswerable(found, "mu"):
        return MinimalK.not_told(text, "mu", found.k_used, unknown)
    with np.errstate(divide="ignore", invalid="ignore"):
        k = found.within / ((1 + of_floor) ** 2 - 1) / found.between
    # 0 / 0: nothing within prompts, so one generation is as good as any number
    return MinimalK.of(text, "mu", np.where(found.within <= 0, 1.0, k), found.k_used, ci_prob)


def unanswerable(found: Variances, estimand: str) -> str:
    """Why the variances of this estimand are not in the data; empty where they are."""
    if found.unknown == ONE_PROMPT and estimand == "score" and found.k_max > 1:
        return ""
    return found.unknown


def smallest_k(within: FloatArray, between: FloatArray, n: int, se: FloatArray) -> FloatArray:
    """Real-valued k at which ``sqrt((between + within / k) / n) = se``; inf below the floor."""
    room = n * se**2 - between
    with np.errstate(divide="ignore", invalid="ignore"):
        k = np.where(room > 0, within / room, np.inf)
    return np.asarray(np.where(np.isnan(k), 1.0, k))


def smallest_whole(enough: Callable[[int], bool]) -> int | None:
    """Smallest whole number from which on `enough` is true; None beyond a billion."""
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > 1_000_000_000:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def prompts_needed(variance: FloatArray, half_width: float, ci_prob: float = CI_PROB) -> FloatArray:
    """Prompts n at which ``t_{n-1} sqrt(variance / n)`` is at most `half_width`, rounded up."""
    tail = (1 + ci_prob) / 2
    # With the normal quantile n is too small, by a number that does not grow with n.
    low = np.floor(np.maximum(float(ndtri(tail)) ** 2 * variance / half_width**2, 2.0)) - 1
    high = np.ceil(1.5 * low + 100)
    # beyond 2**53 whole numbers have no neighbours
    while np.any((high - low > 1) & (high < 2.0**53)):
        # an entry that is done stands still: its middle is its low end, where t may be undefined
        middle = np.floor((low + high) / 2)
        enough = stdtrit(middle - 1, tail) * np.sqrt(variance / middle) <= half_width * (1 + 1e-9)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return np.asarray(high)
