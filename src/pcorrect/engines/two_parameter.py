"""Exact engine of the logit-normal population: the quadrature of the Beta model, reused.

Its two parameters (q, r) play the part of the Beta's (see `pcorrect.populations.logit_normal`), so
the same adaptive grid over their logits holds the posterior, and draws from it are independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.special import betaln, log_expit

from pcorrect.cells import Cells
from pcorrect.engines.exact import LogDensity, grid_posterior
from pcorrect.populations.beta import FloatArray, Shape
from pcorrect.populations.logit_normal import (
    LogitNormalLikelihood,
    location_scale,
    to_population,
)
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

# Benchmarks up to this many prompts: every p_i of the score is drawn; beyond, the mean of many
# independent p_i has the shape of the Beta with its mean and variance to O(1/n).
_FEW = 50
_TINY = 1e-300


@dataclass(frozen=True)
class FamilyResult:
    """Posterior draws of a parametric family; chain-major where they are flat.

    Parameters
    ----------
    population : Population
        ``chain * draw`` draws.
    score : ndarray, shape (chain, draw)
        mean(p_i) over all prompts, also those with k_i = 0.
    parameters : dict of ndarray, each of shape (chain, draw)
        The family's own parameters.
    log_prior : ndarray, shape (chain, draw)
        Log prior density in the unbounded parameters (logits, log ratios), up to a constant: there
        a power of a Beta or Dirichlet prior is one with as many times its pseudo-counts.
    diagnostics : dict of float
        ``quadrature_error`` and ``log_evidence``, or ``r_hat`` and ``ess``.
    """

    population: Population
    score: FloatArray
    parameters: Mapping[str, FloatArray]
    log_prior: FloatArray
    diagnostics: Mapping[str, float]


class LogitNormalDensity:
    """Unnormalised log posterior density in (logit q, logit r)."""

    def __init__(self, cells: Cells, priors: Priors) -> None:
        self.likelihood = LogitNormalLikelihood(cells)
        self._priors = priors

    def __call__(self, shape: Shape) -> FloatArray:
        """Log density at each point of `shape`."""
        return self.likelihood.log_prob(shape) + log_prior(shape, self._priors)


def log_prior(shape: Shape, priors: Priors) -> FloatArray:
    """Log prior density in the logits of the mean and of the spread."""
    value = np.zeros(np.broadcast(shape.logit_mu, shape.logit_r).shape)
    for x, (a, b) in ((shape.logit_mu, priors.mu), (shape.logit_r, priors.spread)):
        # Beta(a, b) density times the Jacobian of the logit
        value = value + a * log_expit(x) + b * log_expit(-x) - betaln(a, b)
    return np.asarray(value)


def sample_logit_normal(
    cells: Cells,
    priors: Priors,
    rng: np.random.Generator,
    *,
    chains: int = 4,
    draws: int = 1000,
    tolerance: float = 1e-5,
) -> FamilyResult:
    """Independent posterior draws of a logit-normal population.

    Parameters
    ----------
    cells : Cells
    priors : Priors
        ``mu`` is the prior of q, ``spread`` that of r.
    rng : numpy.random.Generator
    chains, draws : int
    tolerance : float
        Of the quadrature, see `grid_posterior`.

    Returns
    -------
    FamilyResult
        Parameters ``logit_mean`` (m) and ``logit_sd`` (t).

    Raises
    ------
    QuadratureError
        The tolerance was not reached.
    """
    density = LogitNormalDensity(cells, priors)
    s, k = cells.n_correct, cells.n_generations
    start = float(np.log((s @ cells.n_prompts + 0.5) / ((k - s) @ cells.n_prompts + 0.5)))
    # the quadrature asks nothing of a LogDensity but to be called
    grid = grid_posterior(cast(LogDensity, density), tolerance=tolerance, start=(start, 0.0))
    shape = grid.draws(chains * draws, density, rng)
    population = to_population(shape, int(k.max(initial=1)), rng)
    m, t = location_scale(shape)
    cube = (chains, draws)
    if len(cells.of_prompt) <= _FEW:
        score = draw_score(population, cells, rng)
    else:
        score = beta_of_moments(*density.likelihood.score_moments(shape), rng)
    return FamilyResult(
        population,
        score.reshape(cube),
        {"logit_mean": m.reshape(cube), "logit_sd": t.reshape(cube)},
        log_prior(shape, priors).reshape(cube),
        {"quadrature_error": grid.error, "log_evidence": grid.log_evidence},
    )


def draw_score(population: Population, cells: Cells, rng: np.random.Generator) -> FloatArray:
    """One draw of mean(p_i) given the data from each draw of a population, shape (D,)."""
    n = len(cells.of_prompt)
    if n <= _FEW:
        s, k = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
        return np.asarray(population.draw_p(s, k, rng).mean(axis=1))
    return beta_of_moments(*score_moments(population, cells), rng)


def beta_of_moments(mean: FloatArray, variance: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw from each of the Betas with these moments; the mean where nothing varies.

    Means of many p_i are so distributed to the order that matters, and stay in [0, 1].
    """
    out = np.array(mean, dtype=float)
    varies = (mean > 0) & (mean < 1) & (variance > 0)
    m, v = mean[varies], variance[varies]
    nu = np.maximum(m * (1 - m) / v - 1, 1e-12)
    out[varies] = rng.beta(np.maximum(m * nu, _TINY), np.maximum((1 - m) * nu, _TINY))
    return out


def score_moments(population: Population, cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of mean(p_i) given the data and each draw of a population, shape (D,)."""
    s, f = (x.astype(float) for x in (cells.n_correct, cells.n_generations - cells.n_correct))
    total = np.zeros((2, len(population)))
    step = max(1, 4_000_000 // (len(s) * (population.atom.shape[1] + 1)))
    for i in range(0, len(population), step):
        block = slice(i, i + step)
        part = population.take(np.arange(len(population))[block])
        parts = part.log_parts(cells.n_correct, cells.n_generations)
        share = np.exp(parts - parts.max(axis=2, keepdims=True))
        share /= share.sum(axis=2, keepdims=True)
        a, b = part.a[:, None] + s, part.b[:, None] + f
        mean = share[:, :, -1] * a / (a + b)
        second = mean * (a + 1) / (a + b + 1)
        mean += (share[:, :, :-1] @ part.atom[:, :, None])[:, :, 0]
        second += (share[:, :, :-1] @ part.atom[:, :, None] ** 2)[:, :, 0]
        total[0, block] = mean @ cells.n_prompts
        total[1, block] = (second - mean**2) @ cells.n_prompts
    n = float(cells.n_prompts.sum())
    return total[0] / n, total[1] / n**2
