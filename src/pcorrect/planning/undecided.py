"""Spend generations on the prompts that are not yet decided: the most decisions per generation."""

from __future__ import annotations

import numpy as np

from pcorrect.cells import Cells
from pcorrect.marginal import FloatArray
from pcorrect.planning.per_prompt import GridPopulation, binomial, decided, posterior
from pcorrect.planning.spread import IntArray
from pcorrect.populations.population import Population


def decide_next(
    population: Population,
    cells: Cells,
    generations: int,
    even: IntArray,
    threshold: float,
    confidence: float,
) -> tuple[IntArray, dict[str, float]]:
    """New generations by prompt, and the expected number of undecided prompts.

    Parameters
    ----------
    population : Population
    cells : Cells
        Of all prompts, also those with k = 0.
    generations : int
    even : ndarray of int, shape (n,)
        The same number spread evenly, for comparison.
    threshold, confidence : float
        A prompt is decided where P(p <= threshold) is >= confidence or <= 1 - confidence.

    Returns
    -------
    m : ndarray of int, shape (n,)
        Their sum can be below `generations`: what would decide nothing is not spent.
    expected : dict
        ``undecided_now``, ``undecided_after``, ``undecided_uniform``.
    """
    grid = GridPopulation.of(population)
    below = grid.below(threshold)
    steps = _steps(generations)
    p_cell = _cell_posteriors(grid, cells)
    chance = np.stack([_chances(row, grid.p, below, confidence, steps) for row in p_cell])
    hulls = [_hull(steps, row) for row in chance]
    m = _greedy(hulls, cells, generations)
    at = {int(step): j for j, step in enumerate(steps)}
    cell = cells.of_prompt
    now = float(np.sum(1 - chance[cell, 0]))
    after = float(np.sum(1 - chance[cell, [at[int(x)] for x in m]]))
    pairs, inverse = np.unique(np.stack([cell, even]), axis=1, return_inverse=True)
    uniform = np.array(
        [1 - _chances(p_cell[c], grid.p, below, confidence, np.array([x]))[0] for c, x in pairs.T]
    )
    expected = {
        "undecided_now": now,
        "undecided_after": after,
        "undecided_uniform": float(np.sum(uniform[np.ravel(inverse)])),
    }
    return m, expected


def _steps(generations: int) -> IntArray:
    """Numbers of new generations to consider for one prompt: 0, then every tenth or so."""
    grown = np.unique((1.12 ** np.arange(0, 70)).round().astype(np.int64))
    return np.concatenate([[0], grown[grown <= min(generations, 1500)]])


def _cell_posteriors(grid: GridPopulation, cells: Cells) -> FloatArray:
    rows = [
        posterior(grid.mean, binomial(int(k), grid.p)[int(s)][None, :])[0]
        for s, k in zip(cells.n_correct, cells.n_generations, strict=True)
    ]
    return np.stack(rows)


def _chances(
    prior: FloatArray,
    p: FloatArray,
    below: FloatArray,
    confidence: float,
    steps: IntArray,
) -> FloatArray:
    """Probability that a prompt is decided after each number of new generations."""
    found = []
    for m in steps:
        likelihood = binomial(int(m), p)
        good = decided(posterior(prior, likelihood), below, confidence) != 0
        found.append(float(good @ (likelihood @ prior)))
    return np.array(found)


Move = tuple[float, int, int]  # decisions per generation, new generations before and after it


def _hull(steps: IntArray, chance: FloatArray) -> list[Move]:
    """Moves along the upper concave hull of `chance` over `steps`, with falling rates."""
    moves: list[Move] = []
    i = 0
    while i + 1 < len(steps):
        rate = (chance[i + 1 :] - chance[i]) / (steps[i + 1 :] - steps[i])
        best = int(np.argmax(rate))
        if rate[best] <= 1e-9:
            break
        j = i + 1 + best
        moves.append((float(rate[best]), int(steps[i]), int(steps[j])))
        i = j
    return moves


def _greedy(hulls: list[list[Move]], cells: Cells, generations: int) -> IntArray:
    """Make the moves of all prompts in order of decisions per generation, while they last."""
    m = np.zeros(len(cells.of_prompt), dtype=np.int64)
    moves = [(-rate, c, low, high) for c, hull in enumerate(hulls) for rate, low, high in hull]
    left = generations
    for _, c, before, after in sorted(moves):
        prompts = np.flatnonzero((cells.of_prompt == c) & (m == before))
        prompts = prompts[: left // (after - before)]
        m[prompts] = after
        left -= len(prompts) * (after - before)
    return m
