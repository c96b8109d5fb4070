"""Goals about single prompts: know every p_i to within a width, or decide on which side it lies.

Draws of the population are laid out on a grid of p that is equally spaced in arcsin(sqrt(p)), where
binomial noise has the same size everywhere. How a prompt's count would be judged follows from the
posterior mean of the population; how often each count occurs follows from each draw of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, gammaln, xlog1py, xlogy

from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import MinimalK
from pcorrect.planning.variances import CI_PROB, Source, as_fit, evenly, unknown_split
from pcorrect.populations.population import Population
from pcorrect.result import Fit

_NODES = 801
_DRAWS = 400
# Beyond so many generations a goal counts as out of reach.
_LAST_K = 3000


@dataclass(frozen=True)
class GridPopulation:
    """Draws of a population as weights on a grid.

    Parameters
    ----------
    p : ndarray, shape (J,)
        Grid, from 0 to 1.
    weight : ndarray, shape (D, J)
        Rows sum to 1.
    """

    p: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, population: Population, draws: int = _DRAWS, nodes: int = _NODES) -> GridPopulation:
        """Lay out `draws` draws of a population: the Beta by its mass per cell, atoms in theirs."""
        some = population.take(evenly(len(population), draws))
        angle = np.linspace(0, np.pi / 2, nodes)
        p = np.sin(angle) ** 2
        edge = np.concatenate([[0.0], np.sin((angle[1:] + angle[:-1]) / 2) ** 2, [1.0]])
        mass = np.diff(betainc(some.a[:, None], some.b[:, None], edge), axis=1)
        weight = some.beta_weight[:, None] * mass
        cell = np.clip(np.searchsorted(edge, some.atom, side="right") - 1, 0, nodes - 1)
        rows = np.broadcast_to(np.arange(len(some))[:, None], cell.shape)
        np.add.at(weight, (rows, cell), some.weight)
        return cls(p, weight / weight.sum(axis=1, keepdims=True))

    @property
    def mean(self) -> FloatArray:
        """Posterior mean of the population, shape (J,)."""
        return np.asarray(self.weight.mean(axis=0))

    def below(self, threshold: float) -> FloatArray:
        """Share of each node's cell that lies at or below the threshold, shape (J,)."""
        angle = np.linspace(0, np.pi / 2, len(self.p))
        position = (np.arcsin(np.sqrt(threshold)) - angle) / (angle[1] - angle[0])
        return np.asarray(np.clip(position + 0.5, 0.0, 1.0))


def binomial(k: int, p: FloatArray) -> FloatArray:
    """Probability of s = 0..k correct of k at each p, shape (k + 1, J)."""
    s = np.arange(k + 1)[:, None]
    choose = gammaln(k + 1) - gammaln(s + 1) - gammaln(k - s + 1)
    return np.asarray(np.exp(choose + xlogy(s, p) + xlog1py(k - s, -p)))


def posterior(prior: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Rows proportional to prior x likelihood, each summing to 1."""
    joint = prior * likelihood
    return np.asarray(joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300))


def half_widths(weight: FloatArray, p: FloatArray, ci_prob: float) -> FloatArray:
    """Half-widths of the equal-tailed intervals of rows of weights on the grid."""
    cdf = np.cumsum(weight, axis=1)
    tail = (1 - ci_prob) / 2
    low = np.sum(cdf < tail, axis=1)
    high = np.minimum(np.sum(cdf < 1 - tail, axis=1), len(p) - 1)
    return np.asarray((p[high] - p[low]) / 2)


def decided(weight: FloatArray, below: FloatArray, confidence: float) -> NDArray[np.int8]:
    """1 where a row puts `confidence` below the threshold, -1 where above, 0 undecided."""
    share = weight @ below
    return (share >= confidence).astype(np.int8) - (share <= 1 - confidence).astype(np.int8)


def minimal_k_per_prompt(
    source: Source,
    *,
    half_width: float | None = None,
    decide: float | None = None,
    confidence: float = 0.95,
    share: float = 0.9,
    ci_prob: float = CI_PROB,
) -> MinimalK:
    """Smallest k at which a share of all prompts like these is known well enough.

    Parameters
    ----------
    source : Fit, DataTree or PromptCounts
    half_width : float, optional
        Goal: the interval of p_i has at most this half-width.
    decide : float, optional
        Goal: p_i is known, with `confidence`, to lie at or below this threshold, or above it.
    confidence : float
        Level of the interval, or of the decision.
    share : float
        Share of the prompts that has to reach the goal.
    ci_prob : float
        Of the uncertainty of k.

    Returns
    -------
    MinimalK
        No k where even thousands of generations leave too many prompts undecided, as where many
        p_i lie at the threshold.

    Raises
    ------
    PcorrectError
        Not exactly one goal, one out of range, or a model whose population is not known.
    """
    if (half_width is None) == (decide is None):
        raise PcorrectError("exactly one goal: half_width or decide")
    for name, value in (("decide", decide), ("confidence", confidence), ("share", share)):
        if value is not None and not 0 < value < 1:
            raise PcorrectError(f"{name} must lie between 0 and 1, got {value}")
    if half_width is not None and not half_width > 0:
        raise PcorrectError(f"half_width must be positive, got {half_width}")
    fit = as_fit(source)
    level = f"{100 * confidence:g} %"
    about = f"{100 * share:g} % of the p_i "
    about += (
        f"known to ±{half_width:g} ({level})"
        if decide is None
        else f"decided at {decide:g} ({level})"
    )
    used = int(fit.counts.n_generations.max())
    if unknown := unknown_split(fit.counts):
        return MinimalK.not_told(about, "p", used, unknown)
    grid = GridPopulation.of(_population(fit))
    reached = np.full(len(grid.weight), np.inf)
    prior, below = grid.mean, None if decide is None else grid.below(decide)
    for k in _candidates():
        likelihood = binomial(k, grid.p)
        judged = posterior(prior, likelihood)
        if below is None:
            good = half_widths(judged, grid.p, confidence) <= (half_width or 0.0)
        else:
            good = decided(judged, below, confidence) != 0
        enough = grid.weight @ (good @ likelihood) >= share
        reached = np.where(enough & np.isinf(reached), k, reached)
        if np.isfinite(reached).all():
            break
    return MinimalK.of(about, "p", reached, used, ci_prob)


def first_flag(source: Source, threshold: float, confidence: float = 0.95) -> int | None:
    """How many wrong generations in a row decide that p_i <= threshold; None if over 3000.

    Raises
    ------
    PcorrectError
        The population of the fit's model is not known.
    """
    grid = GridPopulation.of(_population(as_fit(source)))
    k = np.arange(1, _LAST_K + 1)[:, None]
    judged = posterior(grid.mean, np.exp(xlog1py(k, -grid.p)))
    hit = np.flatnonzero(decided(judged, grid.below(threshold), confidence) == 1)
    return int(hit[0]) + 1 if len(hit) else None


def _population(fit: Fit) -> Population:
    if fit.population is None:
        raise PcorrectError(
            "goals about single prompts need a built-in model: the population of a program of "
            "your own is not known"
        )
    return fit.population


def _candidates() -> list[int]:
    """Numbers of generations to try: all up to 64, then in steps of about 5 %."""
    later = np.unique((64 * 1.05 ** np.arange(1, 80)).round().astype(int))
    return [*range(1, 65), *(int(k) for k in later if 64 < k <= _LAST_K)]
