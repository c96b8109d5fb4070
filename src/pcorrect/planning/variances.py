r"""The two variances that decide about precision, as posterior draws, and summaries of such draws.

Between prompts :math:`B = \sigma^2`, within them
:math:`W = E[p (1 - p)] = \mu - \mu^2 - \sigma^2`. With n prompts and k generations of each,

.. math::

    SE_\mu(k)^2 = (B + W / k) / n, \qquad SE_{score}(k)^2 = W_{here} / (n k)

where :math:`W_{here}` is the mean of :math:`p_i (1 - p_i)` over exactly these prompts (Zhang, Cai &
Chen 2025, arXiv 2502.08943, section 2; Miller 2024, arXiv 2411.00640, section 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from pcorrect.cells import Cells
from pcorrect.data import IntArray, PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.marginal import FloatArray, check_interval
from pcorrect.moment_estimates import moments_from_table
from pcorrect.populations.population import Population
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


#: Probability of the intervals of this package's plans.
CI_PROB = 0.95


@dataclass(frozen=True)
class Estimate:
    """Median and equal-tailed interval of a posterior; `inf` is a legal value of all three.

    Parameters
    ----------
    value, lower, upper : float
    """

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, draws: FloatArray, ci_prob: float = CI_PROB) -> Estimate:
        """Summarise draws, which may be infinite (not nan)."""
        lower, value, upper = quantiles(draws, ci_prob)
        return cls(float(value), float(lower), float(upper))


def quantiles(draws: FloatArray, ci_prob: float = CI_PROB) -> FloatArray:
    """Lower end, median and upper end over axis 0; shape (3, ...).

    Order statistics, never a mean of two draws: half of infinity is no number of generations.
    """
    check_interval(ci_prob, "eti")
    tail = (1 - ci_prob) / 2
    ordered = np.sort(draws, axis=0)
    last = len(ordered) - 1
    index = [round(q * last) for q in (tail, 0.5, 1 - tail)]
    return np.asarray(ordered[index])


def planned(n: int | None, found: int) -> int:
    """Prompts to plan for: those of the data where none are given.

    Raises
    ------
    PcorrectError
        `n` is below 1.
    """
    if n is not None and not n >= 1:
        raise PcorrectError(f"n must be at least 1 prompt, got {n}")
    return found if n is None else n


def whole(k: FloatArray | float) -> FloatArray:
    """Numbers of generations (or prompts) that are at least `k`: rounded up, at least 1.

    A relative slack of 1e-9 keeps a k that is whole up to rounding where it is.
    """
    k = np.asarray(k, dtype=float)
    return np.maximum(np.ceil(k * (1 - 1e-9)), 1.0)


#: Why the split into between and within is not in the data.
ONE_PROMPT = "there is one prompt only"
SINGLE = "k = 1 everywhere"
ALL_WRONG = "all generations are wrong"
ALL_RIGHT = "all generations are correct"

#: What every function of this package takes: a fit, a saved result, or counts to be fitted.
type Source = Fit | xr.DataTree | PromptCounts

# Draws of one population are handled in blocks of about so many numbers.
_BLOCK = 4_000_000


@dataclass(frozen=True)
class Variances:
    """Posterior draws of both variances; one draw where they are assumed.

    Parameters
    ----------
    n_prompts : int
        Prompts with a scored generation, or that are planned.
    mu, between, within, within_here : ndarray, shape (D,)
        Mean of the population, B, W and W_here; within_here >= 0.
    k_min, k_max, k_used : int
        Generations per prompt behind the draws, least, most and harmonic mean (rounded), which is
        what the error of the mean goes by; 0 where they are assumed.
    unknown : str
        Why the split into between and within is not in the data; empty where it is.
    """

    n_prompts: int
    mu: FloatArray
    between: FloatArray
    within: FloatArray
    within_here: FloatArray
    k_min: int = 0
    k_max: int = 0
    k_used: int = 0
    unknown: str = ""

    @classmethod
    def assume(cls, mu: float, sigma: float, n: int) -> Variances:
        """Variances of a benchmark that has not been run.

        Parameters
        ----------
        mu, sigma : float
            Mean of the p_i, in (0, 1), and their sd, in [0, sqrt(mu (1 - mu))].
        n : int
            Prompts.

        Raises
        ------
        PcorrectError
            `mu`, `sigma` or `n` is out of range.
        """
        bound = np.sqrt(mu * (1 - mu)) if 0 < mu < 1 else np.nan
        if not 0 <= sigma <= bound:
            raise PcorrectError(
                f"mu = {mu}, sigma = {sigma}: needs 0 < mu < 1 and "
                f"0 <= sigma <= sqrt(mu (1 - mu)){'' if np.isnan(bound) else f' = {bound:.4g}'}"
            )
        if n < 1:
            raise PcorrectError(f"n = {n}: needs at least one prompt")
        within = np.array([mu - mu**2 - sigma**2])
        return cls(int(n), np.array([float(mu)]), np.array([sigma**2]), within, within)

    @classmethod
    def from_table(cls, mu: float, se_mu: float, n: int, k: int) -> Variances:
        """Variances behind a published mean and standard error (see `moments_from_table`)."""
        return cls.assume(mu, moments_from_table(mu, se_mu, n, k).sigma or 0.0, n)

    @classmethod
    def from_fit(cls, fit: Fit) -> Variances:
        """Posterior draws from a fit, whatever its model."""
        mu, sigma = (np.ravel(fit.draws[name]) for name in ("mu", "sigma"))
        between = np.minimum(sigma**2, mu * (1 - mu))
        k = fit.counts.n_generations[fit.counts.n_generations > 0]
        return cls(
            len(k),
            mu,
            between,
            mu * (1 - mu) - between,
            _within_here(fit, np.random.default_rng([fit.seed, 5])),
            int(k.min()),
            int(k.max()),
            round(1 / np.mean(1 / k)),
            unknown_split(fit.counts),
        )

    def se_mu(self, k: FloatArray | float, n: int | None = None) -> FloatArray:
        """Standard error for new prompts, shape ``(D, *k.shape)``; ``k = inf`` is the floor."""
        k = np.asarray(k, dtype=float)
        b, w = (x.reshape(-1, *[1] * k.ndim) for x in (self.between, self.within))
        return np.sqrt((b + w / k) / planned(n, self.n_prompts))

    def se_score(self, k: FloatArray | float, n: int | None = None) -> FloatArray:
        """Standard error for exactly these prompts, shape ``(D, *k.shape)``."""
        k = np.asarray(k, dtype=float)
        return np.sqrt(self.within_here.reshape(-1, *[1] * k.ndim) / k / planned(n, self.n_prompts))

    def factor(self, estimand: str, ci_prob: float = CI_PROB, n: int | None = None) -> float:
        """Half-width of an interval over its standard error.

        Student t with n - 1 degrees of freedom for "mu" (inf for one prompt), normal for "score":
        what the posterior's intervals come to.
        """
        check_estimand(estimand)
        check_interval(ci_prob, "eti")
        n = planned(n, self.n_prompts)
        tail = (1 + ci_prob) / 2
        if estimand == "score":
            return float(ndtri(tail))
        return float(stdtrit(n - 1, tail)) if n > 1 else np.inf


def variances(source: Source | Variances) -> Variances:
    """Variances of anything that this package plans from."""
    return source if isinstance(source, Variances) else Variances.from_fit(as_fit(source))


def as_fit(source: Source) -> Fit:
    """The fit behind a result; counts are fitted with the default model.

    Raises
    ------
    PcorrectError
        It is nothing of the kind.
    """
    if isinstance(source, Fit):
        return source
    if isinstance(source, PromptCounts):
        return run_fit(source)
    if hasattr(source, "children") and hasattr(source, "attrs"):
        from pcorrect.posterior import from_datatree

        return from_datatree(source)
    raise PcorrectError(
        f"cannot plan from a {type(source).__name__}: give the result of pcorrect.fit, counts of "
        "one llm, or planning.Variances.assume(mu, sigma, n)"
    )


def check_estimand(estimand: str) -> None:
    """Raise `PcorrectError` unless `estimand` is "mu" or "score"."""
    if estimand not in ("mu", "score"):
        raise PcorrectError(f"estimand must be 'mu' or 'score', got {estimand!r}")


def unknown_split(counts: PromptCounts) -> str:
    """Why the data do not split the variance into between and within; empty where they do."""
    s, k = (x[counts.n_generations > 0] for x in (counts.n_correct, counts.n_generations))
    if len(k) < 2:
        return ONE_PROMPT
    if k.max() < 2:
        return SINGLE
    if s.sum() == 0:
        return ALL_WRONG
    if s.sum() == k.sum():
        return ALL_RIGHT
    return ""


def evenly(size: int, wanted: int) -> NDArray[np.intp]:
    """Indices of about `wanted` of `size` draws, evenly over chains and time."""
    return np.unique(np.linspace(0, size - 1, min(wanted, size)).round().astype(np.intp))


def conditional_moments(
    population: Population, cells: Cells, powers: list[tuple[int, int]]
) -> list[FloatArray]:
    """E[p**a (1 - p)**b | s, k] under each draw, one array (D, m) per pair of `powers`."""
    s, k = cells.n_correct, cells.n_generations
    step = max(1, _BLOCK // (max(1, len(s)) * (population.atom.shape[1] + 1)))
    blocks = [
        _block_moments(population.take(np.arange(i, min(i + step, len(population)))), s, k, powers)
        for i in range(0, len(population), step)
    ]
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _block_moments(
    population: Population, s: IntArray, k: IntArray, powers: list[tuple[int, int]]
) -> list[FloatArray]:
    log = population.log_parts(s, k)
    share = np.exp(log - log.max(axis=2, keepdims=True))
    share /= share.sum(axis=2, keepdims=True)
    x, y = s + population.a[:, None], k - s + population.b[:, None]
    found = []
    for a, b in powers:
        # of the Beta part: rising factorials
        beta = np.ones_like(x)
        for i in range(a + b):
            beta *= (x + i if i < a else y + i - a) / (x + y + i)
        atoms = population.atom**a * (1 - population.atom) ** b
        found.append(np.einsum("dmt,dt->dm", share[:, :, :-1], atoms) + share[:, :, -1] * beta)
    return found


def _within_here(fit: Fit, rng: np.random.Generator) -> FloatArray:
    """Draws of mean(p_i (1 - p_i)) over the prompts with a scored generation, shape (D,).

    Mean and variance given the population are exact; in between, 4 p (1 - p) is taken as a Beta.
    """
    scored = fit.counts.n_generations > 0
    if fit.population is None:
        p = fit.prompts.draws(rng)[:, scored]
        return np.asarray(np.mean(p * (1 - p), axis=1))
    cells = Cells.scored(fit.counts)
    first, second = conditional_moments(fit.population, cells, [(1, 1), (2, 2)])
    share = cells.n_prompts / cells.n_prompts.sum()
    mean = 4 * first @ share
    variance = 16 * (second - first**2) @ share / cells.n_prompts.sum()
    nu = mean * (1 - mean) / np.maximum(variance, 1e-300) - 1
    # A variance of (nearly) zero, an atom: the mean itself
    sure = ~((nu > 1e-8) & (nu < 1e12))
    nu = np.where(sure, 1.0, nu)
    inside = np.clip(mean, 1e-12, 1 - 1e-12)
    drawn = rng.beta(inside * nu, (1 - inside) * nu)
    return np.where(sure, mean, drawn) / 4
