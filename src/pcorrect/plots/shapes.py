"""What the pictures of one fit show, as arrays: shared by the plots and the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from pcorrect.cells import Cells
from pcorrect.fitting import Fit
from pcorrect.marginal import CiKind, FloatArray
from pcorrect.populations.population import Population

# Draws of the population that a picture looks at: its lines move by less than their width beyond.
_DRAWS = 1000
# More than this many different counts are put into classes of equal width.
_CLASSES = 26


@dataclass(frozen=True)
class Density:
    """Density of P(correct) over prompts, in classes of p; all arrays of shape (m,).

    Parameters
    ----------
    edges : ndarray, shape (m + 1,)
        From 0 to 1.
    mean, lower, upper : ndarray or None
        Of the fitted population, over its posterior draws; None for a program of the user's own.
        The mean is the density that a new prompt has; medians would not add up to 1.
    observed_edges, observed : ndarray
        The same for the shares of correct generations s / k, noise of the generations included;
        with k + 1 classes where there are few possible shares.
    n_prompts : int
        Prompts with a scored generation.
    """

    edges: FloatArray
    mean: FloatArray | None
    lower: FloatArray | None
    upper: FloatArray | None
    observed_edges: FloatArray
    observed: FloatArray
    n_prompts: int

    @property
    def middle(self) -> FloatArray:
        """Middle of each class."""
        return (self.edges[:-1] + self.edges[1:]) / 2


def density(fit: Fit, *, classes: int = 20, ci_prob: float = 0.95) -> Density:
    """The fitted population and the observed shares, in `classes` classes of p.

    Classes rather than a curve: where the data pile up at 0 or 1 the population has masses there,
    and a curve would be as high as one likes.

    Parameters
    ----------
    fit : Fit
    classes : int
    ci_prob : float
        Of the equal-tailed interval.
    """
    edges = np.linspace(0, 1, classes + 1)
    scored = fit.counts.n_generations > 0
    s, k = fit.counts.n_correct[scored], fit.counts.n_generations[scored]
    own = _own_classes(k, classes)
    # s = 0..k fall into k + 1 classes one by one; else 3 of 10 belong to the class from .3 on
    which = s if own == k[0] + 1 else np.minimum((s / k * own + 1e-9).astype(np.int64), own - 1)
    observed = np.bincount(which, minlength=own) / len(s) * own
    seen = (np.linspace(0, 1, own + 1), observed, len(s))
    population = fit.population
    if population is None:
        return Density(edges, None, None, None, *seen)
    share = class_shares(_some(population), edges) * classes
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(share, [tail, 1 - tail], axis=0)
    return Density(edges, share.mean(axis=0), lower, upper, *seen)


def _own_classes(k: NDArray[np.int64], classes: int) -> int:
    """Classes that hold equally many of the possible shares s / k, where all k are equal."""
    if k.min() < k.max():
        return classes
    one = int(k[0])
    if one < classes:
        return one + 1
    return next((m for m in range(classes + 5, classes // 2 - 1, -1) if one % m == 0), classes)


def class_shares(population: Population, edges: FloatArray) -> FloatArray:
    """Mass of each draw of the population between `edges`, shape (D, m)."""
    below = betainc(population.a[:, None], population.b[:, None], edges)
    share = population.beta_weight[:, None] * np.diff(below, axis=1)
    m = len(edges) - 1
    # The last class holds its upper edge, as in a histogram.
    which = np.clip(np.searchsorted(edges, population.atom, side="right") - 1, 0, m - 1)
    rows = np.broadcast_to(np.arange(len(population))[:, None], which.shape)
    np.add.at(share, (rows, which), population.weight)
    return np.asarray(share)


@dataclass(frozen=True)
class Frequencies:
    """How many prompts have each count, observed and predicted; arrays of shape (m,).

    Parameters
    ----------
    left, right : ndarray
        Limits of each class, in units of `unit`.
    unit : str
        "correct of k" where all prompts have the same k, else "share correct".
    k : int
        The number of generations where it is the same, else 0.
    observed, mean, lower, upper : ndarray or None
        Prompts; predictive mean and equal-tailed interval. None for a program of the user's own.
    """

    left: FloatArray
    right: FloatArray
    unit: str
    k: int
    observed: FloatArray
    mean: FloatArray | None
    lower: FloatArray | None
    upper: FloatArray | None

    @property
    def middle(self) -> FloatArray:
        """Middle of each class."""
        return (self.left + self.right) / 2


def frequencies(fit: Fit, *, ci_prob: float = 0.95) -> Frequencies:
    """The histogram of the counts, and what the fitted population predicts for new prompts.

    Parameters
    ----------
    fit : Fit
    ci_prob : float
        Of the predictive interval.
    """
    scored = fit.counts.n_generations > 0
    s, k = fit.counts.n_correct[scored], fit.counts.n_generations[scored]
    ks, n_of = np.unique(k, return_counts=True)
    balanced = len(ks) == 1
    top = int(ks[-1])
    # so many neighbouring counts make a class
    group = -(-(top + 1) // _CLASSES)
    left: FloatArray
    right: FloatArray
    if balanced:
        first = np.arange(0, top + 1, group).astype(float)
        left, right, unit = first - 0.5, first + group - 0.5, "correct of k"
    else:
        edges = np.linspace(0, 1, 21)
        left, right, unit = edges[:-1], edges[1:], "share correct"

    def classify(correct: NDArray[np.int64], of: NDArray[np.int64]) -> NDArray[np.int64]:
        if balanced:
            return correct // group
        # A whisker added: 3 of 10 belongs to the class that starts at .3.
        return np.minimum((correct / of * 20 + 1e-9).astype(np.int64), 19)

    m = len(left)
    observed = np.bincount(classify(s, k), minlength=m).astype(float)
    population = fit.population
    if population is None:
        return Frequencies(left, right, unit, top * balanced, observed, None, None, None)
    # memory goes with draws x counts, and many counts smooth the picture by themselves
    some = _some(population, max(50, 200_000 // (top + 1)))
    rng = np.random.default_rng([fit.seed, 5])
    predicted = np.zeros((len(some), m))
    for one, n in zip(ks, n_of, strict=True):
        counts = np.arange(one + 1)
        of = np.full(one + 1, one)
        prob = np.exp(some.log_prob(counts, of))
        prob /= prob.sum(axis=1, keepdims=True)
        drawn = rng.multinomial(n, prob)
        for j, which in enumerate(classify(counts, of)):
            predicted[:, which] += drawn[:, j]
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(predicted, [tail, 1 - tail], axis=0)
    mean = predicted.mean(axis=0)
    return Frequencies(left, right, unit, top * balanced, observed, mean, lower, upper)


@dataclass(frozen=True)
class SortedPrompts:
    """The p_i in the order of their means, prompts with equal counts as one step; shape (m,).

    Parameters
    ----------
    first, last : ndarray of int
        Places (1 is the smallest mean) of the step's prompts.
    n_correct, n_generations : ndarray of int
    mean, lower, upper : ndarray
    prompts : list of ndarray of int
        Positions of the step's prompts in the counts.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    n_correct: NDArray[np.int64]
    n_generations: NDArray[np.int64]
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    prompts: list[NDArray[np.intp]]


def sorted_prompts(fit: Fit, *, ci_prob: float = 0.95, ci_kind: CiKind = "eti") -> SortedPrompts:
    """Posterior means and intervals of the p_i, sorted."""
    counts = fit.counts
    table = fit.prompts.table(ci_prob, ci_kind)
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    members = np.split(np.argsort(cells.of_prompt, kind="stable"), np.cumsum(cells.n_prompts)[:-1])
    # Prompts with equal counts have one posterior, but a sampler that drew every p_i gives each its
    # own noise: their average is the step.
    mean, lower, upper = (
        np.array([np.mean(x[index]) for index in members])
        for x in (table.mean, table.lower, table.upper)
    )
    order = np.lexsort((cells.n_generations, mean))
    last = np.cumsum(cells.n_prompts[order])
    return SortedPrompts(
        last - cells.n_prompts[order] + 1,
        last,
        cells.n_correct[order],
        cells.n_generations[order],
        mean[order],
        lower[order],
        upper[order],
        [members[i] for i in order],
    )


def _some(population: Population, most: int = _DRAWS) -> Population:
    step = max(1, len(population) // min(most, _DRAWS))
    return population.take(np.arange(0, len(population), step))
