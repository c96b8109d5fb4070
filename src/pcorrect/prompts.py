"""Posterior of every p_i, in the form in which an engine knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pcorrect.cells import Cells
from pcorrect.engines.grid import GridPosterior
from pcorrect.marginal import CiKind, FloatArray, check_interval
from pcorrect.populations.population import Population

# A prompt's hdi is searched among intervals that leave so many shares of the tail below, and again
# between the neighbours of the best.
_TAILS = 11


@dataclass(frozen=True)
class PromptTable:
    """Summaries of p_i, each of shape (n,)."""

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
        tail = np.full(len(mean), (1 - ci_prob) / 2)
        if ci_kind == "hdi":
            tail = self._tail_of_shortest(ci_prob)
        bounds = self.grid.p_quantiles(self.cells, np.stack([tail, tail + ci_prob], axis=1)).T
        return PromptTable(*(x[self.cells.of_prompt] for x in (mean, sd, *bounds)))

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
        table = _table_from_draws(by_cell, ci_prob, ci_kind)
        return PromptTable(
            *(x[self.cells.of_prompt] for x in (table.mean, table.sd, table.lower, table.upper))
        )

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n)."""
        return _population_draws(self.population, self.cells, rng)


@dataclass(frozen=True)
class DrawnPrompts:
    """p_i as a sampler drew them, shape (D, n)."""

    p: FloatArray

    def table(self, ci_prob: float, ci_kind: CiKind) -> PromptTable:
        """Mean, sd and credible interval of every p_i."""
        return _table_from_draws(self.p, ci_prob, ci_kind)

    def draws(self, rng: np.random.Generator) -> FloatArray:
        """Joint posterior draws, shape (D, n)."""
        return self.p


def _population_draws(population: Population, cells: Cells, rng: np.random.Generator) -> FloatArray:
    s, k = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
    return population.draw_p(s, k, rng)


def _table_from_draws(draws: FloatArray, ci_prob: float, ci_kind: CiKind) -> PromptTable:
    check_interval(ci_prob, ci_kind)
    if ci_kind == "eti":
        lower, upper = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0)
    else:
        ordered = np.sort(draws, axis=0)
        inside = max(1, int(np.ceil(ci_prob * len(draws))) - 1)
        width = ordered[inside:] - ordered[: len(draws) - inside]
        best = np.argmin(width, axis=0)[None, :]
        lower = np.take_along_axis(ordered, best, axis=0)[0]
        upper = np.take_along_axis(ordered, best + inside, axis=0)[0]
    return PromptTable(draws.mean(axis=0), draws.std(axis=0), lower, upper)
