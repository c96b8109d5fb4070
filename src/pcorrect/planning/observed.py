r"""What the data show beside the model: of fewer generations, exactly; of more, by prediction.

Choose k of a prompt's K generations at random, s of which are correct. The number of correct ones
among them is hypergeometric, so the prompt's estimate keeps its mean s / K and has the variance

.. math:: v = \frac{\hat p (1 - \hat p)}{k} \, \frac{K - k}{K - 1}

and with prompts thinned independently of each other

.. math:: E[s^2_k] = s^2_K + \overline{v}, \qquad E[W_k] = W_K

(the variance within prompts is a U-statistic: thinning leaves its expectation alone). For balanced
counts this is ``sigma_hat**2 + W_hat / k``: the moment prediction is the exact average.

If the same prompts are run on, the standard error that will be computed is random also where the
population is known: what the prompts have answered so far is fixed, the rest is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.variances import conditional_moments, evenly
from pcorrect.populations.population import Population
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class SubsetExpectations:
    """Expectations over all subsets of at most k generations per prompt; arrays of shape (m,).

    Parameters
    ----------
    k : ndarray of int
        Generations kept of each prompt; prompts with fewer keep all of theirs.
    mean : ndarray
        Expectation of the benchmark mean: the same at every k.
    sd : ndarray
        Its standard deviation over subsets: how far a report from k generations strays from the
        one from all of them.
    se2_mu, se2_score : ndarray
        Expected squares of the two moment standard errors; nan where these are not defined.
    n_short : ndarray of int
        Prompts with fewer than k generations.
    """

    k: NDArray[np.int64]
    mean: FloatArray
    sd: FloatArray
    se2_mu: FloatArray
    se2_score: FloatArray
    n_short: NDArray[np.int64]

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy over k."""
        import xarray as xr

        names = ("mean", "sd", "se_mu", "se_score", "n_short")
        return xr.Dataset({x: ("k", getattr(self, x)) for x in names}, coords={"k": self.k})

    @property
    def se_mu(self) -> FloatArray:
        """Root of `se2_mu`: the root-mean-square standard error for new prompts."""
        return np.sqrt(self.se2_mu)

    @property
    def se_score(self) -> FloatArray:
        """Root of `se2_score`: the root-mean-square standard error for these prompts."""
        return np.sqrt(self.se2_score)


def thinned_variance(
    s: NDArray[np.int64], big_k: NDArray[np.int64], k: NDArray[np.int64]
) -> FloatArray:
    """Variance of the proportion among k of K generations, s of which are correct."""
    p_hat = s / big_k
    # K = 1 leaves no choice: 0 / 0 is 0 here
    rest = (big_k - k) / np.maximum(big_k - 1, 1)
    return np.asarray(p_hat * (1 - p_hat) / k * rest)


def subset_expectations(counts: PromptCounts, k: NDArray[np.int64]) -> SubsetExpectations:
    """Expectations over the subsets of at most `k` generations of each prompt.

    Parameters
    ----------
    counts : PromptCounts
    k : ndarray of int, shape (m,)
        Each between 1 and the largest number of generations observed.

    Raises
    ------
    PcorrectError
        A `k` is out of range, or there is no scored generation.
    """
    k = np.atleast_1d(np.asarray(k, dtype=np.int64))
    scored = counts.n_generations > 0
    if not scored.any():
        raise PcorrectError("no scored generation: there are no subsets to look at")
    cells = Cells.scored(counts)
    s, big_k = cells.n_correct, cells.n_generations
    if k.min() < 1 or k.max() > big_k.max():
        raise PcorrectError(
            f"k must lie between 1 and the {big_k.max()} generations observed, got "
            f"{k[(k < 1) | (k > big_k.max())][0]}"
        )
    share = cells.n_prompts / cells.n_prompts.sum()
    n = int(cells.n_prompts.sum())
    p_hat = s / big_k
    mean = float(share @ p_hat)
    within = p_hat * (1 - p_hat) * big_k / np.maximum(big_k - 1, 1)
    repeated = big_k > 1
    if repeated.any():
        # as in `moments`: a prompt with one generation carries the average of the others
        within[~repeated] = share[repeated] @ within[repeated] / share[repeated].sum()
    kept = np.minimum(k[:, None], big_k)
    variance = np.stack([thinned_variance(s, big_k, row) for row in kept])
    spread = share @ (p_hat - mean) ** 2 * n / (n - 1) if n > 1 else np.nan
    se2_score = np.where((k > 1) & repeated.any(), (within / kept) @ share / n, np.nan)
    return SubsetExpectations(
        k,
        np.full(len(k), mean),
        np.sqrt(variance @ share / n),
        (spread + variance @ share) / n,
        se2_score,
        np.array([cells.n_prompts[big_k < one].sum() for one in k]),
    )


# Prompts of a cell are simulated one by one up to so many; sums over more are normal.
_FEW = 100
_NUMBERS = 5_000_000


@dataclass(frozen=True)
class Extension:
    """Predictive draws of the moment estimates from k generations of the same prompts.

    Parameters
    ----------
    k : ndarray of int, shape (m,)
        Prompts that have more already keep what they have.
    mean, se_mu, se_score, sigma2, within : ndarray, shape (D, m)
        As `moments` will compute them; sigma2 can be negative.
    """

    k: NDArray[np.int64]
    mean: FloatArray
    se_mu: FloatArray
    se_score: FloatArray
    sigma2: FloatArray
    within: FloatArray

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy over (prediction, k)."""
        import xarray as xr

        names = ("mean", "se_mu", "se_score", "sigma2", "within")
        return xr.Dataset(
            {name: (("prediction", "k"), getattr(self, name)) for name in names},
            coords={"k": self.k},
        )


def extend(fit: Fit, k: NDArray[np.int64], *, draws: int = 1000, seed: int = 0) -> Extension:
    """Predict the moment estimates from `k` generations of each prompt.

    Parameters
    ----------
    fit : Fit
    k : ndarray of int, shape (m,)
        At least 2.
    draws : int
        Predictive draws; fewer where there are very many different prompts.
    seed : int

    Raises
    ------
    PcorrectError
        A `k` is below 2, or only one prompt has generations.
    """
    k = np.atleast_1d(np.asarray(k, dtype=np.int64))
    scored = fit.counts.n_generations > 0
    n = int(scored.sum())
    if k.min(initial=2) < 2 or n < 2:
        raise PcorrectError("a moment standard error needs k >= 2 and at least two prompts")
    rng = np.random.default_rng([seed, 6])
    cells = Cells.scored(fit.counts)
    if fit.population is None:
        p = fit.prompts.draws(rng)[:, scored]
        p = p[evenly(len(p), draws)]
        s, big_k = fit.counts.n_correct[scored], fit.counts.n_generations[scored]
        groups: list[_Few | _Many] = [_Few(s, big_k, p)]
    else:
        few = cells.n_prompts <= _FEW
        size = int(cells.n_prompts[few].sum())
        draws = min(draws, max(200, _NUMBERS // max(size, 1)))
        population = fit.population.take(evenly(len(fit.population), draws))
        groups = _groups(population, cells, few, rng)
    parts = [_estimates(groups, int(one), n, rng) for one in k]
    return Extension(k, *(np.stack(x, axis=1) for x in zip(*parts, strict=True)))


class _Few:
    """Prompts whose remaining generations are drawn one prompt at a time."""

    def __init__(self, s: NDArray[np.int64], k: NDArray[np.int64], p: FloatArray) -> None:
        self.s, self.k, self.p = s, k, p

    def sums(self, k: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
        """Sums of x, x**2, w and w / k over the prompts, by draw."""
        total = np.maximum(self.k, k)
        x = (self.s + rng.binomial(total - self.k, self.p)) / total
        w = x * (1 - x) * total / (total - 1)
        return x.sum(axis=1), (x**2).sum(axis=1), w.sum(axis=1), (w / total).sum(axis=1)


class _Many:
    """One cell with many prompts: (sum x, sum x**2) is drawn from its normal limit."""

    def __init__(self, s: int, k: int, n: int, powers: FloatArray) -> None:
        # powers: E[p**j | s, k] for j = 1..4 by draw, shape (4, D)
        self.s, self.k, self.n, self.powers = s, k, n, powers

    def sums(self, k: int, rng: np.random.Generator) -> tuple[FloatArray, ...]:
        """Sums of x, x**2, w and w / k over the prompts, by draw."""
        total = max(self.k, k)
        raw = _raw_moments(total - self.k, self.powers)
        # moments of s + t from those of t, by the binomial theorem
        s = float(self.s)
        m1 = s + raw[0]
        m2 = s**2 + 2 * s * raw[0] + raw[1]
        m3 = s**3 + 3 * s**2 * raw[0] + 3 * s * raw[1] + raw[2]
        m4 = s**4 + 4 * s**3 * raw[0] + 6 * s**2 * raw[1] + 4 * s * raw[2] + raw[3]
        v1, v2, c12 = m2 - m1**2, m4 - m2**2, m3 - m1 * m2
        z = rng.standard_normal((2, len(m1)))
        sd1 = np.sqrt(np.maximum(v1, 0))
        slope = c12 / np.where(v1 > 0, v1, 1)
        rest = np.sqrt(np.maximum(v2 - slope * c12, 0))
        root = np.sqrt(self.n)
        sum_x = (self.n * m1 + root * sd1 * z[0]) / total
        sum_x2 = (self.n * m2 + root * (slope * sd1 * z[0] + rest * z[1])) / total**2
        w = (sum_x - sum_x2) * total / (total - 1)
        return sum_x, sum_x2, w, w / total


def _raw_moments(t: int, powers: FloatArray) -> list[FloatArray]:
    """Raw moments 1..4 of Binomial(t, p), p random, from its factorial moments t(t-1).. E[p**j]."""
    f = [np.prod([max(t - i, 0) for i in range(j)]) * powers[j - 1] for j in (1, 2, 3, 4)]
    return [f[0], f[1] + f[0], f[2] + 3 * f[1] + f[0], f[3] + 6 * f[2] + 7 * f[1] + f[0]]


def _groups(
    population: Population, cells: Cells, few: NDArray[np.bool_], rng: np.random.Generator
) -> list[_Few | _Many]:
    times = cells.n_prompts[few]
    s, k = (np.repeat(x[few], times) for x in (cells.n_correct, cells.n_generations))
    groups: list[_Few | _Many] = [_Few(s, k, population.draw_p(s, k, rng))] if len(s) else []
    if not few.all():
        many = Cells(
            cells.n_correct[~few],
            cells.n_generations[~few],
            cells.n_prompts[~few],
            np.zeros(0, np.intp),
        )
        powers = conditional_moments(population, many, [(j, 0) for j in (1, 2, 3, 4)])
        for i, (one, big_k, n) in enumerate(
            zip(many.n_correct, many.n_generations, many.n_prompts, strict=True)
        ):
            column = np.stack([power[:, i] for power in powers])
            groups.append(_Many(int(one), int(big_k), int(n), column))
    return groups


def _estimates(
    groups: list[_Few | _Many], k: int, n: int, rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Mean, se_mu, se_score, sigma2 and within, as `moments` computes them."""
    x, x2, w, w_over_k = (
        np.sum(parts, axis=0) for parts in zip(*(g.sums(k, rng) for g in groups), strict=True)
    )
    s2 = np.maximum(x2 - x**2 / n, 0) / (n - 1)
    se_score = np.sqrt(np.maximum(w_over_k, 0)) / n
    return x / n, np.sqrt(s2 / n), se_score, s2 - w_over_k / n, w / n
