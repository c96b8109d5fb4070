r"""How new generations are spread over prompts: by what is learnt of their sum, or by decisions.

Prompts with the same counts are one cell. Given the population P, their p have the expected
variance d; what is unknown of P moves the means of all cells, with the covariance :math:`F F^T`.
With x more generations of each of the N prompts of a cell, each with the error variance
:math:`w = E[p (1 - p)]`, the best linear estimate (Goldstein & Wooff 2007, Bayes Linear
Statistics, chapter 3) leaves for the sum of all p the variance

.. math:: \sum_c N d t + a^T F (I + F^T J F)^{-1} F^T a,
    \quad t = \frac{w}{w + x d},\; a = N t,\; J = \frac{N x}{w + x d}

The first part is exact for a Beta posterior, where it is :math:`w / (\nu + x)`. The second one is
why a few generations go to prompts that look solved: all that look alike share the doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.cells import Cells
from pcorrect.data import IntArray
from pcorrect.marginal import FloatArray
from pcorrect.planning.per_prompt import GridPopulation, binomial, decided, posterior
from pcorrect.planning.variances import conditional_moments, evenly
from pcorrect.populations.population import Population
from pcorrect.result import Fit

# Draws of the population behind the covariance of the cells, and directions kept of it.
_DRAWS, _RANK = 400, 20
_ROUNDS = 300
_TINY = 1e-12


@dataclass(frozen=True)
class Knowledge:
    """What is known of every p, by cell: shape (C,), or (C, r) for the shared part.

    Parameters
    ----------
    of_prompt : ndarray of int, shape (n,)
    size : ndarray
        Prompts N.
    noise : ndarray
        w = E[p (1 - p)], above 0.
    own : ndarray
        d: expected variance of one p given the population.
    shared : ndarray
        F: the covariance of the cells' means over draws of the population is F F'.
    """

    of_prompt: NDArray[np.intp]
    size: FloatArray
    noise: FloatArray
    own: FloatArray
    shared: FloatArray

    @classmethod
    def of(cls, fits: Sequence[Fit]) -> Knowledge:
        """From fits of one llm or of several: independent of each other, given the data."""
        parts = [cls._of_one(fit) for fit in fits]
        if len(parts) == 1:
            return parts[0]
        first = np.cumsum([0, *(len(x.size) for x in parts)])
        rank = np.cumsum([0, *(x.shared.shape[1] for x in parts)])
        shared = np.zeros((first[-1], rank[-1]))
        for i, part in enumerate(parts):
            shared[first[i] : first[i + 1], rank[i] : rank[i + 1]] = part.shared
        of_prompt = [x.of_prompt + f for x, f in zip(parts, first, strict=False)]
        size, noise, own = (
            np.concatenate([getattr(x, name) for x in parts]) for name in ("size", "noise", "own")
        )
        return cls(np.concatenate(of_prompt), size, noise, own, shared)

    @classmethod
    def _of_one(cls, fit: Fit) -> Knowledge:
        if fit.population is None:
            # A program of the user's own: the draws of p do not say what their prompts share.
            p = fit.prompts.draws(np.random.default_rng([fit.seed, 8]))
            each = np.ones(p.shape[1])
            noise = np.maximum((p * (1 - p)).mean(axis=0), _TINY)
            return cls(np.arange(len(each)), each, noise, p.var(axis=0), np.zeros((len(each), 1)))
        cells = Cells.from_counts(fit.counts.n_correct, fit.counts.n_generations)
        some = evenly(len(fit.population), _DRAWS)
        mean, second = conditional_moments(fit.population.take(some), cells, [(1, 0), (2, 0)])
        own = np.maximum((second - mean**2).mean(axis=0), 0.0)
        noise = np.maximum((mean - second).mean(axis=0), _TINY)
        _, value, direction = np.linalg.svd(mean - mean.mean(axis=0), full_matrices=False)
        shared = (direction[:_RANK].T * value[:_RANK]) / np.sqrt(max(len(some) - 1, 1))
        return cls(cells.of_prompt, cells.n_prompts.astype(float), noise, own, shared)

    def _left(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """t, and the sum's covariance with each cell's mean: through P, by (F M F'a); M F'a."""
        total = self.noise + x * self.own
        t = self.noise / total
        weight = self.shared.T @ (self.size * t)
        inner = (self.shared.T * (self.size * x / total)) @ self.shared
        solved = np.linalg.solve(np.eye(len(inner)) + inner, weight)
        return t, self.shared @ solved, weight * solved

    def variance(self, x: FloatArray) -> float:
        """Expected variance of the sum of all p after x more generations per prompt of a cell."""
        t, _, shared = self._left(x)
        return float(np.sum(self.size * self.own * t) + shared.sum())

    def gain(self, x: FloatArray) -> FloatArray:
        """How fast one more generation of a cell lowers `variance`, shape (C,)."""
        t, covariance, _ = self._left(x)
        return np.asarray(t**2 * (self.own + covariance) ** 2 / self.noise)

    def per_prompt(self, m: IntArray) -> FloatArray:
        """Average of a number by prompt, by cell."""
        return np.bincount(self.of_prompt, weights=m, minlength=len(self.size)) / self.size

    def best(self, generations: int) -> FloatArray:
        """Real-valued generations by cell that leave the least variance, shape (C,).

        The multiplicative algorithm for optimal designs (Silvey, Titterington & Torsney 1978).
        """
        total = generations * self.size / self.size.sum()
        for _ in range(_ROUNDS):
            gain = self.gain(total / self.size)
            mean = float(total @ gain) / generations
            if not mean > 0 or gain.max() <= 1.001 * mean:
                break
            total = total * np.sqrt(gain / mean)
            total *= generations / total.sum()
        return total

    def spend(self, generations: int) -> IntArray:
        """Whole numbers of new generations by prompt, shape (n,)."""
        wanted = self.best(generations)
        total = np.floor(wanted).astype(np.int64)
        rest = generations - int(total.sum())
        total[np.argsort(total - wanted, kind="stable")[:rest]] += 1
        m = np.zeros(len(self.of_prompt), dtype=np.int64)
        order = np.argsort(self.of_prompt, kind="stable")
        start = np.cumsum(self.size.astype(np.int64)) - self.size.astype(np.int64)
        rank = np.arange(len(order)) - start[self.of_prompt[order]]
        n, all_ = self.size.astype(np.int64)[self.of_prompt[order]], total[self.of_prompt[order]]
        # Prompts of a cell look alike: what does not go round is dealt out at even distances.
        m[order] = (rank + 1) * all_ // n - rank * all_ // n
        return m


def level(so_far: IntArray, generations: int) -> IntArray:
    """New generations by prompt that make the totals as even as possible, shape (n,)."""
    k = np.sort(so_far)
    # Raising the j + 1 smallest to one level takes cost[j]; the last j that can be paid for counts.
    cost = np.arange(1, len(k) + 1) * k - np.cumsum(k)
    j = int(np.searchsorted(cost, generations, side="right"))
    base, rest = divmod(generations + int(k[:j].sum()), j)
    m = np.maximum(base - so_far, 0)
    lowest = np.flatnonzero(so_far <= base)
    m[lowest[np.arange(rest) * len(lowest) // max(rest, 1)]] += 1
    return np.asarray(m, dtype=np.int64)


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
