r"""Posterior predictive check of the Beta shape on the histogram of counts, calibrated.

The statistic is the squared distance of the hanging rootogram (Kleiber & Zeileis 2016, The American
Statistician 70:296), whose terms have the variance 1/4 whatever the height of the bar:

.. math::

    T = \sum_b \big( \sqrt{O_b} - \sqrt{E_b} \big)^2

with E expected under the posterior. The bars b are the possible shares s / k, or, where these are
many, none right, ten equal parts in arcsin(sqrt(s / k)) and all right: finer bars hold too few
prompts to show anything. A posterior predictive p-value that compares T of the data with
T of replicates *at the same parameters* uses the data twice and stays near 1/2. Here every
replicate, drawn from the posterior predictive, is fitted again as the data were, so that its T has
lost the same degrees of freedom (Hjort, Dahl & Steinbakk 2006, JASA 101:1157): the p-value is
uniform under the Beta. A fit is a quadrature on a fixed grid of parameters, hence a matrix product
for all replicates at once.

The same replicates calibrate the distance of mu from the moment estimate, which is consistent
whatever the shape: a specification test in the sense of Hausman (1978, Econometrica 46:1251).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pcorrect.cells import Cells
from pcorrect.data import IntArray
from pcorrect.engines.exact import LogDensity
from pcorrect.engines.grid import GridPosterior
from pcorrect.marginal import FloatArray
from pcorrect.populations.beta import Shape
from pcorrect.populations.beta_binomial import log_beta_binomial
from pcorrect.priors import Priors

REPLICATES = 999
# Nodes per axis of the grid that replicates share, and its half width in posterior sd: the sd of a
# replicate's estimate around the data's is sqrt(2), that of its posterior 1.
_NODES = 27
_HALF_WIDTH = 6.5
# Numbers of generations that the check keeps apart once they are many; others are thinned down to
# the next lower one, which leaves a Beta-Binomial a Beta-Binomial.
_LADDER = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128])
_MOST_LEVELS = 8
_MOST_BARS = 12
_MOST_GENERATIONS = 128


@dataclass(frozen=True)
class HistogramCheck:
    """What the check found.

    Parameters
    ----------
    low, high : ndarray, shape (b,)
        Smallest and largest share of correct generations of each bar.
    observed, expected : ndarray, shape (b,)
        Prompts in each bar.
    lower, upper : ndarray, shape (b,)
        Central 95 % of the replicates' bars.
    statistic, typical : float
        T of the data, and the replicates' median.
    p_histogram : float
        Share of replicates with T as large.
    mu : float
        Posterior mean of mu under the Beta.
    shift : float or None
        It minus the moment estimate, in standard errors of that; None where these are 0.
    p_shift : float or None
        Two-sided share of replicates with a shift as extreme.
    thinned : bool
        Whether the bars are those of a random part of the generations, see `thin`.
    """

    low: FloatArray
    high: FloatArray
    observed: FloatArray
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray
    statistic: float
    typical: float
    p_histogram: float
    mu: float
    shift: float | None
    p_shift: float | None
    thinned: bool


def check_histogram(
    cells: Cells,
    grid: GridPosterior,
    priors: Priors,
    rng: np.random.Generator,
    *,
    replicates: int = REPLICATES,
) -> HistogramCheck:
    """Compare the histogram of counts with what a fitted Beta population predicts.

    Parameters
    ----------
    cells : Cells
    grid : GridPosterior
        Posterior of the Beta model given `cells`.
    priors : Priors
        Its priors.
    rng : numpy.random.Generator
    replicates : int

    Returns
    -------
    HistogramCheck
    """
    s, k, n = thin(cells, rng)
    bars = _Bars(k)
    fits = _Fits(bars, _shared_grid(grid), priors)
    data = bars.histogram(s, k, n)[None, :]
    weight = fits.posterior(data)
    node = rng.choice(weight.shape[1], size=replicates, p=weight[0])
    # Row 0 holds the data, the others their replicates, from here on.
    rows = np.concatenate([data, fits.simulate(node, rng)])
    weight = np.concatenate([weight, fits.posterior(rows[1:])])
    observed, expected = rows @ bars.groups, fits.expected(weight) @ bars.groups
    statistic = np.sum((np.sqrt(observed) - np.sqrt(expected)) ** 2, axis=1)
    # The rounding of a perfect fit is no evidence.
    more = int(np.sum(statistic[1:] >= statistic[0] - 1e-9))
    mean, se = bars.moments(rows)
    mu = weight @ fits.shape.mu
    shift = np.where(se > 0, (mu - mean) / np.where(se > 0, se, 1.0), 0.0)
    known = bool(se[0] > 0)
    below, above = (int(np.sum(x)) for x in (shift[1:] <= shift[0], shift[1:] >= shift[0]))
    lower, upper = np.quantile(observed[1:], [0.025, 0.975], axis=0)
    return HistogramCheck(
        *bars.limits(),
        observed[0],
        expected[0],
        lower,
        upper,
        float(statistic[0]),
        float(np.median(statistic[1:])),
        (1 + more) / (1 + replicates),
        float(mu[0]),
        float(shift[0]) if known else None,
        min(1.0, 2 * (1 + min(below, above)) / (1 + replicates)) if known else None,
        bool(k @ n < cells.n_generations @ cells.n_prompts),
    )


def thin(cells: Cells, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
    """Counts, numbers of generations and multiplicities, with few enough different k.

    Where there are many, each prompt keeps a random subset of its generations, and both p-values
    belong to these.
    """
    seen = cells.n_generations > 0
    s, k, n = (x[seen] for x in (cells.n_correct, cells.n_generations, cells.n_prompts))
    levels = np.unique(k)
    if len(levels) <= _MOST_LEVELS and levels.max(initial=0) <= _MOST_GENERATIONS:
        return s, k, n
    s, k = np.repeat(s, n), np.repeat(k, n)
    kept = _LADDER[np.searchsorted(_LADDER, k, side="right") - 1]
    s = rng.hypergeometric(s, k - s, kept)
    return s, kept, np.ones(len(s), dtype=np.int64)


class _Bars:
    """All possible counts of the numbers of generations that occur, and their bars."""

    def __init__(self, k: IntArray) -> None:
        self.levels = np.unique(k)
        self.k = np.repeat(self.levels, self.levels + 1)
        self.s = np.concatenate([np.arange(level + 1) for level in self.levels])
        self.start = np.concatenate([[0], np.cumsum(self.levels + 1)])
        self.n_by_level = np.zeros(len(self.levels), dtype=np.int64)
        share = self.s / self.k
        distinct, group = np.unique(share, return_inverse=True)
        if len(distinct) > _MOST_BARS:
            inner = _MOST_BARS - 2
            angle = np.arcsin(np.sqrt(share)) / (np.pi / 2)
            group = 1 + np.minimum((angle * inner).astype(int), inner - 1)
            group[share == 0], group[share == 1] = 0, _MOST_BARS - 1
            _, group = np.unique(group, return_inverse=True)
        #: Which bar each count is in, as a matrix of shape (counts, bars).
        self.groups = (group[:, None] == np.arange(group.max() + 1)).astype(float)

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest share of each bar."""
        share = np.where(self.groups > 0, (self.s / self.k)[:, None], np.nan)
        return np.nanmin(share, axis=0), np.nanmax(share, axis=0)

    def histogram(self, s: IntArray, k: IntArray, n: IntArray) -> FloatArray:
        level = np.searchsorted(self.levels, k)
        self.n_by_level = np.bincount(level, weights=n, minlength=len(self.levels)).astype(np.int64)
        return np.bincount(self.start[level] + s, weights=n, minlength=len(self.s))

    def moments(self, histograms: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of s / k over prompts and its standard error, for each row."""
        p, n = self.s / self.k, float(self.n_by_level.sum())
        mean = histograms @ p / n
        square = histograms @ p**2 / n
        variance = np.maximum(square - mean**2, 0.0)
        # rounding must not turn a constant into a spread
        variance[variance < 1e-12] = 0.0
        return mean, np.sqrt(variance / max(n - 1, 1.0))


class _Fits:
    """The Beta model on a fixed grid of parameters, for many histograms at once."""

    def __init__(self, bars: _Bars, shape: Shape, priors: Priors) -> None:
        self.bars, self.shape = bars, shape
        none = np.zeros(0, dtype=np.int64)
        empty = Cells(none, none, none, np.zeros(0, dtype=np.intp))
        self.log_prior = LogDensity(empty, priors)(shape)
        self.log_prob = log_beta_binomial(bars.s, bars.k, shape)
        self.prob = np.exp(self.log_prob)

    def posterior(self, histograms: FloatArray) -> FloatArray:
        """Weights of the nodes given each histogram, shape (R, G)."""
        value = histograms @ self.log_prob + self.log_prior
        value -= value.max(axis=1, keepdims=True)
        np.exp(value, out=value)
        return np.asarray(value / value.sum(axis=1, keepdims=True))

    def expected(self, weight: FloatArray) -> FloatArray:
        """Expected histograms, shape (R, m)."""
        per_bar = np.repeat(self.bars.n_by_level, self.bars.levels + 1)
        return np.asarray(weight @ self.prob.T * per_bar)

    def simulate(self, node: IntArray, rng: np.random.Generator) -> FloatArray:
        """One histogram from each of the nodes, shape (R, m)."""
        parts = []
        for i, n in enumerate(self.bars.n_by_level):
            bars = slice(self.bars.start[i], self.bars.start[i + 1])
            prob = self.prob[bars, node].T
            parts.append(rng.multinomial(n, prob / prob.sum(axis=1, keepdims=True)))
        return np.concatenate(parts, axis=1).astype(float)


def _shared_grid(grid: GridPosterior) -> Shape:
    """Nodes that hold the posterior of the data and of its replicates, flat."""
    axes = []
    for d, axis in enumerate((grid.logit_mu, grid.logit_r)):
        weight = grid.weight.sum(axis=1 - d)
        mean = float(weight @ axis)
        sd = float(np.sqrt(weight @ (axis - mean) ** 2))
        axes.append(mean + sd * np.linspace(-_HALF_WIDTH, _HALF_WIDTH, _NODES))
    return Shape(*(x.ravel() for x in np.meshgrid(*axes, indexing="ij")))
