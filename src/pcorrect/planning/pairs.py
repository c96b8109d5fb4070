r"""Two llms on shared prompts: the k from which on they come out in the right order.

The difference of the two proportions of a prompt has the between-prompt variance
:math:`\tau^2 = \mathrm{Var}(p_{A,i} - p_{B,i})` and the within-prompt one
:math:`W_{A,i} / k_{A,i} + W_{B,i} / k_{B,i}`. Their posterior is the Bayesian bootstrap over
prompts (Rubin 1981): Dirichlet(1, .., 1) weights, one set for all quantities, so that they vary
together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.estimates import CI_PROB, Estimate
from pcorrect.planning.goals import MinimalK, smallest_k
from pcorrect.planning.variances import check_estimand
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

    Raises
    ------
    PcorrectError
        They share fewer than two scored prompts.
    """
    one, two = (x.counts if isinstance(x, Fit) else x for x in (a, b))
    at = {str(name): j for j, name in enumerate(two.prompt)}
    pairs = [(i, at[str(name)]) for i, name in enumerate(one.prompt) if str(name) in at]
    left, right = (
        (np.array(x, dtype=np.intp) for x in zip(*pairs, strict=True))
        if pairs
        else (
            np.zeros(0, np.intp),
            np.zeros(0, np.intp),
        )
    )
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
        unknown, within, error = "k = 1 everywhere", np.zeros(n), np.zeros(n)
    elif not within.any() and not d.any():
        unknown = "the two llms answer every prompt alike"
    delta, total, w, e = _bootstrap([d, d**2, within, error], draws, rng)
    # unbiased: a weighted variance is (n - 1) / (n + 1) of the sample variance on average
    spread = (total - delta**2) * (n + 1) / (n - 1)
    se_score = float(np.sqrt(error.sum()) / n)
    here = d.mean() + se_score * rng.standard_normal(draws)
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
    if estimand == "score":
        zero = np.zeros(1)
        k = smallest_k(np.array([pair.within_here]), zero, n, np.abs(pair.difference_here) / z)
        return MinimalK.of(text, estimand, k, pair.k_used, ci_prob)
    k = smallest_k(pair.within, pair.between, n, np.abs(pair.difference) / z)
    result = MinimalK.of(text, estimand, k, pair.k_used, ci_prob)
    if result.k is not None:
        return result
    now = pair.between + pair.within / pair.k_used
    more, best = (
        Estimate.of(np.maximum(_prompts(v, pair.difference, z) - n, 0), ci_prob)
        for v in (now, pair.between)
    )
    return MinimalK.of(
        text, estimand, k, pair.k_used, ci_prob, more_prompts=more, more_prompts_at_best=best
    )


def _prompts(variance: FloatArray, difference: FloatArray, z: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.ceil(z**2 * variance / difference**2)
