r"""Two llms on shared prompts: the k from which on they come out in the right order.

The difference of the two proportions of a prompt has the between-prompt variance
:math:`\tau^2 = \mathrm{Var}(p_{A,i} - p_{B,i})` and the within-prompt one
:math:`W_{A,i} / k_{A,i} + W_{B,i} / k_{B,i}`. Their posterior is the Bayesian bootstrap over
prompts (Rubin 1981): Dirichlet(1, .., 1) weights, one set for all quantities, so that they vary
together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import MinimalK, smallest_k, smallest_whole
from pcorrect.planning.variances import CI_PROB, SINGLE, Estimate, check_estimand, quantiles
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


# With more prompts the Bayesian bootstrap is drawn from its normal limit.
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
        prompts.
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
        Of the Bayesian bootstrap.

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
    delta, total, w, e = _bootstrap([d, d**2, within, error], draws, rng)
    # unbiased: a weighted variance is (n - 1) / (n + 1) of the sample variance on average
    spread = (total - delta**2) * (n + 1) / (n - 1)
    se_score = float(np.sqrt(error.sum()) / n)
    if unknown.startswith(SINGLE):
        se_score = np.nan
    here = d.mean() + np.nan_to_num(se_score) * rng.standard_normal(draws)
    return PairVariances(
        one.llm,
        two.llm,
        n,
        float(d.mean()),
        float(np.sqrt(d.var(ddof=1) / n)),
        se_score,
        delta,
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


def _bootstrap(values: list[FloatArray], draws: int, rng: np.random.Generator) -> list[FloatArray]:
    """Weighted means of each array under Dirichlet(1, .., 1) weights, the same for all.

    For very many prompts these means are normal, and drawn as such.
    """
    table = np.stack(values, axis=1)
    if len(table) > _MANY:
        cov = np.cov(table.T, bias=True) / len(table)
        return list(rng.multivariate_normal(table.mean(axis=0), cov, size=draws).T)
    out = np.empty((draws, len(values)))
    step = max(1, 4_000_000 // len(table))
    for i in range(0, draws, step):
        weight = rng.standard_exponential((min(step, draws - i), len(table)))
        out[i : i + step] = weight @ table / weight.sum(axis=1, keepdims=True)
    return list(out.T)


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
    n = n or pair.n_prompts
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
    n = n or pair.n_prompts
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
