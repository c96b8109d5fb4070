r"""Two llms on shared prompts: the k from which on they come out in the right order.

The difference of the two proportions of a prompt has the between-prompt variance
:math:`\tau^2 = \mathrm{Var}(p_{A,i} - p_{B,i})` and the within-prompt one
:math:`W_{A,i} / k_{A,i} + W_{B,i} / k_{B,i}`. Their posterior is that of the comparison
(`pcorrect.prompt_weights`): Dirichlet(c, .., c) weights over the prompts and one prompt about
which nothing is known, one set for all quantities, so that they vary together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from pcorrect.data import IntArray, PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import MinimalK, smallest_k, smallest_whole
from pcorrect.planning.variances import (
    CI_PROB,
    SINGLE,
    Estimate,
    check_estimand,
    planned,
    quantiles,
)
from pcorrect.prompt_weights import concentration, unknown_prompt
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


# With more different prompts the means are drawn from their normal limit.
_MANY = 20_000


@dataclass(frozen=True)
class PairVariances:
    """Posterior draws of a paired difference A - B and of its variances.

    Parameters
    ----------
    a, b : str
        The llms.
    n_prompts : int
        Shared prompts with a scored generation of both.
    estimate, se_mu, se_score : float
        Mean of the paired differences, and its moment standard errors for new and for these
        prompts; NaN where they would be 0, since nothing varies, or k = 1.
    difference, difference_here : ndarray, shape (D,)
        Of mu, and of the score on exactly these prompts.
    between, within : ndarray, shape (D,)
        tau**2 (truncated at 0), and W_A + W_B.
    within_here : float
        Estimate of W_A + W_B on exactly these prompts.
    k_used : int
        Largest number of generations of a prompt.
    unknown : str
        Why the split is not in the data; empty where it is.
    """

    a: str
    b: str
    n_prompts: int
    estimate: float
    se_mu: float
    se_score: float
    difference: FloatArray
    difference_here: FloatArray
    between: FloatArray
    within: FloatArray
    within_here: float
    k_used: int
    unknown: str = ""

    @property
    def p_better(self) -> float:
        """P(mu_A > mu_B)."""
        return float(np.mean(self.difference > 0) + np.mean(self.difference == 0) / 2)


def pair_variances(
    a: PromptCounts | Fit, b: PromptCounts | Fit, *, draws: int = 4000, seed: int = 0
) -> PairVariances:
    """Posterior of the paired difference of two llms on the prompts that they share.

    Parameters
    ----------
    a, b : PromptCounts or Fit
        Paired by prompt id.
    draws, seed : int
        Of the posterior.

    Raises
    ------
    PcorrectError
        They share fewer than two scored prompts.
    """
    one, two = (x.counts if isinstance(x, Fit) else x for x in (a, b))
    at = {str(name): j for j, name in enumerate(two.prompt)}
    pairs = [(i, at[str(name)]) for i, name in enumerate(one.prompt) if str(name) in at]
    left, right = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    scored = (one.n_generations[left] > 0) & (two.n_generations[right] > 0)
    left, right = left[scored], right[scored]
    n = len(left)
    if n < 2:
        raise PcorrectError(
            f"{one.llm!r} and {two.llm!r} share {n} scored prompts: a paired comparison needs two"
        )
    p_a, w_a, k_a = _prompt_moments(one, left)
    p_b, w_b, k_b = _prompt_moments(two, right)
    within, error = w_a + w_b, w_a / k_a + w_b / k_b
    d = p_a - p_b
    rng = np.random.default_rng([seed, 7])
    unknown = ""
    if np.isnan(within).any():
        single = [x.llm for x, w in ((one, w_a), (two, w_b)) if np.isnan(w).any()]
        unknown = SINGLE if len(single) == 2 else f"{SINGLE} for {single[0]}"
        within, error = np.zeros(n), np.zeros(n)
    elif not within.any() and not d.any():
        unknown = "the two llms answer every prompt alike"
    k = np.stack([k_a, k_b], axis=1).astype(np.int64)
    # One order of the two, so that swapping them flips signs only.
    sign = -1 if one.llm > two.llm else 1
    table = np.stack([sign * d, d**2, within, error], axis=1)
    delta, total, w, e = _means(table, k[:, ::sign], draws, rng)
    # Unbiased but for the unknown prompt: the factor of a weighted variance, and ddof = 1.
    size = (n + 1) * concentration(n)
    spread = (total - delta**2) * (size + 1) / size * n / (n - 1)
    se_here = float(np.sqrt(error.sum()) / n)
    middle, width = float(d.mean()), se_here
    if not se_here and not unknown.startswith(SINGLE):
        middle, width = _score_of_sure(p_a, k_a, p_b, k_b)
    here = middle + width * rng.standard_normal(draws)
    se_mu = float(np.sqrt(d.var(ddof=1) / n))
    se_mu, se_score = (x if x > 1e-12 else np.nan for x in (se_mu, se_here))
    return PairVariances(
        one.llm,
        two.llm,
        n,
        float(d.mean()),
        se_mu,
        se_score,
        sign * delta,
        here,
        np.maximum(spread - e, 0.0),
        w,
        float(within.mean()),
        int(max(k_a.max(), k_b.max())),
        unknown,
    )


def _prompt_moments(
    counts: PromptCounts, index: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Proportions, unbiased p (1 - p) and k; a single generation gets the average p (1 - p)."""
    k = counts.n_generations[index].astype(float)
    p = counts.n_correct[index] / k
    w = p * (1 - p) * k / np.maximum(k - 1, 1)
    w[k < 2] = w[k > 1].mean() if np.any(k > 1) else np.nan
    return p, w, k


def _means(table: FloatArray, k: IntArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Weighted means of d, d**2, within and error over prompts, shape (4, draws).

    Draws come in pairs, with opposite outcomes of the unknown prompt. For very many different
    prompts the means are normal, and drawn as such.
    """
    n = len(table)
    rows, times = np.unique(table, axis=0, return_counts=True)
    if len(rows) > _MANY:
        cov = np.cov(table.T, bias=True) / n
        return np.asarray(rng.multivariate_normal(table.mean(axis=0), cov, size=draws).T)
    c = concentration(n)
    out = np.empty((-(-draws // 2), 2, table.shape[1]))
    step = max(1, 4_000_000 // len(rows))
    for i in range(0, len(out), step):
        count = min(step, len(out) - i)
        weight = rng.standard_gamma(c * times, (count, len(rows)))
        spare = rng.standard_gamma(c, count)
        unknown = _unknown_pair(k, count, rng)
        above = (weight @ rows)[:, None, :] + spare[:, None, None] * unknown
        out[i : i + count] = above / (weight.sum(axis=1) + spare)[:, None, None]
    return out.reshape(-1, table.shape[1])[:draws].T


def _unknown_pair(k: IntArray, count: int, rng: np.random.Generator) -> FloatArray:
    """d, d**2, within and error of the unknown prompt, of both signs, shape (count, 2, 4)."""
    share, tries = unknown_prompt(k, count, rng)
    d = share[:, 0] - share[:, 1]
    w = share * (1 - share) * tries / np.maximum(tries - 1, 1)
    same = np.stack([d**2, w.sum(axis=1), (w / tries).sum(axis=1)], axis=1)
    return np.stack([np.column_stack([x, same]) for x in (d, -d)], axis=1)


def _score_of_sure(*shares_and_k: FloatArray) -> tuple[float, float]:
    """Mean and error of the score's difference where no prompt has both outcomes.

    The posterior under Jeffreys' prior of every p_i: moments would say that nothing varies.
    """
    p_a, k_a, p_b, k_b = shares_and_k
    mean, variance = 0.0, 0.0
    for sign, p, k in ((1, p_a, k_a), (-1, p_b, k_b)):
        middle = (p * k + 0.5) / (k + 1)
        mean += sign * float(middle.mean())
        variance += float(np.sum(middle * (1 - middle) / (k + 2)))
    return mean, float(np.sqrt(variance) / len(p_a))


@dataclass(frozen=True)
class RightOrder:
    """Probability that a new run puts two llms in the right order.

    Parameters
    ----------
    k : ndarray, shape (m,)
    mu, score : ndarray, shape (m,)
        For new prompts, and for exactly these; averaged over the posterior of the difference.
    floor_mu : float
        What no k exceeds for new prompts.
    """

    k: FloatArray
    mu: FloatArray
    score: FloatArray
    floor_mu: float

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy over k."""
        import xarray as xr

        return xr.Dataset(
            {"right_order_mu": ("k", self.mu), "right_order_score": ("k", self.score)},
            coords={"k": self.k},
            attrs={"floor_mu": self.floor_mu},
        )


def right_order(pair: PairVariances, k: ArrayLike, *, n: int | None = None) -> RightOrder:
    """P(the better llm scores higher) with `k` generations of each of `n` prompts.

    Parameters
    ----------
    pair : PairVariances
    k : array_like, shape (m,)
    n : int, optional
        Prompts; default the shared ones.

    Raises
    ------
    PcorrectError
        The split is not in the data.
    """
    if pair.unknown:
        raise PcorrectError(f"order of {pair.a!r} and {pair.b!r}: {pair.unknown}")
    n = planned(n, pair.n_prompts)
    ks = np.append(np.atleast_1d(np.asarray(k, dtype=float)), np.inf)
    se_mu = np.sqrt((pair.between[:, None] + pair.within[:, None] / ks) / n)
    se_score = np.sqrt(pair.within_here / ks / n)[None, :]
    mu, score = (
        ndtr(np.abs(d)[:, None] / np.maximum(se, 1e-300)).mean(axis=0)
        for d, se in ((pair.difference, se_mu), (pair.difference_here, se_score))
    )
    return RightOrder(ks[:-1], mu[:-1], score[:-1], float(mu[-1]))


def minimal_k_order(
    pair: PairVariances,
    *,
    prob: float = 0.95,
    estimand: str = "mu",
    n: int | None = None,
    ci_prob: float = CI_PROB,
) -> MinimalK:
    """Smallest k from which the better of two llms comes out ahead with probability `prob`.

    The probability is `right_order`, averaged over the posterior of the difference; the interval
    is that of the k which single draws of the difference need.

    Parameters
    ----------
    pair : PairVariances
    prob : float
        In (1/2, 1).
    estimand : {"mu", "score"}
    n : int, optional
        Prompts; default the shared ones.
    ci_prob : float

    Raises
    ------
    PcorrectError
        `prob` is not between 1/2 and 1.
    """
    if not 0.5 < prob < 1:
        raise PcorrectError(f"prob must lie between 1/2 and 1, got {prob}")
    check_estimand(estimand)
    where = "new prompts (mu)" if estimand == "mu" else "these prompts (score)"
    text = f"right order with probability {prob:g} on {where}"
    if pair.unknown:
        return MinimalK.not_told(text, estimand, pair.k_used, pair.unknown)
    n = planned(n, pair.n_prompts)
    z = float(ndtri(prob))
    mine = (pair.difference, pair.between, pair.within)
    if estimand == "score":
        mine = (pair.difference_here, np.zeros(1), np.array([pair.within_here]))
    difference, between, within = mine
    draws = smallest_k(within, between, n, np.abs(difference) / z)
    result = MinimalK.of(text, estimand, draws, pair.k_used, ci_prob)

    def enough(k: float, prompts: float) -> bool:
        se = np.sqrt((between + within / k) / prompts)
        return bool(ndtr(np.abs(difference) / np.maximum(se, 1e-300)).mean() >= prob)

    k = smallest_whole(lambda k: enough(k, n)) if enough(np.inf, n) else None
    if k is not None:
        low, high = result.lower, result.upper
        low = k if low is None else min(low, k)
        return replace(result, k=k, lower=low, upper=None if high is None else max(high, k))
    more, best = (
        _more(
            smallest_whole(partial(enough, at)), between + within / at, difference / z, n, ci_prob
        )
        for at in (float(pair.k_used), np.inf)
    )
    return replace(
        result, k=None, lower=None, upper=None, more_prompts=more, more_prompts_at_best=best
    )


def _more(
    needed: int | None, variance: FloatArray, size: FloatArray, n: int, ci_prob: float
) -> Estimate:
    """Prompts to add, with the interval of what single draws of the difference would need."""
    with np.errstate(divide="ignore", invalid="ignore"):
        low, _, high = quantiles(np.ceil(variance / size**2), ci_prob)
    value = np.inf if needed is None else float(needed)
    return Estimate(*(max(x - n, 0.0) for x in (value, min(low, value), max(high, value))))
