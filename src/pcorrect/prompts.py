"""Posterior of every p_i, in the form in which an engine knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.engines.grid import GridPosterior
from pcorrect.marginal import CiKind, FloatArray, check_interval
from pcorrect.populations.population import Population

# A prompt's hdi is searched among intervals that leave so many shares of the tail below, and again
# between the neighbours of the best.
_TAILS = 11


@dataclass(frozen=True)
class PromptTable:
    """Summaries of p_i, each of shape (n,); intervals may reach to 0 or 1, see `reach_ends`."""

    mean: FloatArray
    sd: FloatArray
    lower: FloatArray
    upper: FloatArray


class PromptPosterior(Protocol):
    """What an engine offers about the p_i."""

    def table(self, ci_prob: float, ci_kind: CiKind) -> PromptTable:
        """Mean, sd and credible interval of every p_i."""
        ...

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n): row d belongs to draw d of the population."""
        ...


@dataclass(frozen=True)
class GridPrompts:
    """p_i under a Beta population known on a grid: intervals from the weights, not from draws."""

    cells: Cells
    grid: GridPosterior
    population: Callable[[], Population]

    def table(self, ci_prob: float, ci_kind: CiKind) -> PromptTable:
        """Mean, sd and credible interval of every p_i."""
        check_interval(ci_prob, ci_kind)
        mean, sd = self.grid.p_moments(self.cells)
        quantiles = self.grid.p_quantiles(self.cells, levels(ci_prob)).T
        bounds = quantiles[:2]
        if ci_kind == "hdi":
            tail = self._tail_of_shortest(ci_prob)
            bounds = self.grid.p_quantiles(self.cells, np.stack([tail, tail + ci_prob], axis=1)).T
        lower, upper = reach_ends(bounds, quantiles, self.cells)
        return PromptTable(*(x[self.cells.of_prompt] for x in (mean, sd, lower, upper)))

    def _tail_of_shortest(self, ci_prob: float) -> FloatArray:
        """Probability below the shortest interval of each cell."""
        low, high = np.zeros((2, len(self.cells.n_correct)))
        high += 1 - ci_prob
        for _ in range(2):
            tails = np.linspace(low, high, _TAILS, axis=1)
            ends = self.grid.p_quantiles(self.cells, np.hstack([tails, tails + ci_prob]))
            best = np.argmin(ends[:, _TAILS:] - ends[:, :_TAILS], axis=1)
            rows = np.arange(len(tails))
            low = tails[rows, np.maximum(best - 1, 0)]
            high = tails[rows, np.minimum(best + 1, _TAILS - 1)]
        return np.asarray(tails[rows, best])

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n)."""
        return _population_draws(self.population(), self.cells, rng)


@dataclass(frozen=True)
class PopulationPrompts:
    """p_i given draws of the population: summaries cell by cell, whatever the number of prompts."""

    cells: Cells
    population: Population
    seed: int

    def table(self, ci_prob: float, ci_kind: CiKind) -> PromptTable:
        """Mean, sd and credible interval of every p_i."""
        rng = np.random.default_rng([self.seed, 2])
        by_cell = self.population.draw_p(self.cells.n_correct, self.cells.n_generations, rng)
        table = _table_from_draws(by_cell, ci_prob, ci_kind, self.cells)
        return PromptTable(
            *(x[self.cells.of_prompt] for x in (table.mean, table.sd, table.lower, table.upper))
        )

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n)."""
        return _population_draws(self.population, self.cells, rng)


@dataclass(frozen=True)
class DrawnPrompts:
    """p_i as a sampler drew them, shape (D, n)."""

    counts: PromptCounts
    p: FloatArray

    def table(self, ci_prob: float, ci_kind: CiKind) -> PromptTable:
        """Mean, sd and credible interval of every p_i."""
        return _table_from_draws(self.p, ci_prob, ci_kind, self.counts)

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n)."""
        return self.p


def _population_draws(population: Population, cells: Cells, rng: np.random.Generator) -> FloatArray:
    s, k = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
    return population.draw_p(s, k, rng)


def levels(ci_prob: float) -> FloatArray:
    """Probabilities of the quantiles that `reach_ends` takes."""
    tail = (1 - ci_prob) / 2
    return np.array([tail, 1 - tail, 2 * tail, 1 - 2 * tail])


def reach_ends(
    bounds: FloatArray, quantiles: FloatArray, counts: Cells | PromptCounts
) -> tuple[FloatArray, FloatArray]:
    """Extend intervals of p to 0 where no generation is correct, and to 1 where all are.

    No posterior quantile is 0 or 1, but an llm may well know an answer for good. Jeffreys' interval
    of a proportion is extended likewise (Brown, Cai & DasGupta 2001, Statistical Science 16:101).
    Here the population can say otherwise, as where it has nothing near the end: extended are those
    whose one-sided interval of the same probability is no wider than the equal-tailed one.

    Parameters
    ----------
    bounds : ndarray, shape (2, m)
        Lower and upper bounds.
    quantiles : ndarray, shape (4, m)
        Posterior quantiles at `levels`.
    counts : Cells or PromptCounts
        m of them; what has no generations stays.

    Returns
    -------
    lower, upper : ndarray, shape (m,)
        They hold the probability of `bounds` or more, by at most one tail.
    """
    s, k = counts.n_correct, counts.n_generations
    low, high, one_sided_low, one_sided_high = quantiles
    none = (k > 0) & (s == 0) & (one_sided_high <= high - low)
    every = (k > 0) & (s == k) & (1 - one_sided_low <= high - low)
    return np.where(none, 0.0, bounds[0]), np.where(every, 1.0, bounds[1])


def _table_from_draws(
    draws: FloatArray, ci_prob: float, ci_kind: CiKind, counts: Cells | PromptCounts
) -> PromptTable:
    check_interval(ci_prob, ci_kind)
    quantiles = np.quantile(draws, levels(ci_prob), axis=0)
    if ci_kind == "eti":
        lower, upper = quantiles[:2]
    else:
        ordered = np.sort(draws, axis=0)
        inside = max(1, int(np.ceil(ci_prob * len(draws))) - 1)
        width = ordered[inside:] - ordered[: len(draws) - inside]
        best = np.argmin(width, axis=0)[None, :]
        lower = np.take_along_axis(ordered, best, axis=0)[0]
        upper = np.take_along_axis(ordered, best + inside, axis=0)[0]
    ends = reach_ends(np.stack([lower, upper]), quantiles, counts)
    return PromptTable(draws.mean(axis=0), draws.std(axis=0), *ends)
