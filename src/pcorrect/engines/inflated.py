"""Engine of the inflated Beta: an ensemble sampler in its four unbounded parameters.

Differential evolution Markov chains (ter Braak 2006, Statistics and Computing 16:239): each walker
steps along the difference of two others, so that steps have the scale and the direction of the
posterior without tuning. One half of an ensemble moves given the other (Foreman-Mackey et al. 2013,
PASP 125:306), all ensembles in one set of array operations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logit

from pcorrect.cells import Cells
from pcorrect.convergence import ess_bulk, r_hat
from pcorrect.engines.two_parameter import FamilyResult, draw_score
from pcorrect.populations.beta import FloatArray
from pcorrect.populations.inflated_beta import InflatedBetaLikelihood, InflatedShape, log_prior
from pcorrect.priors import Priors

_WALKERS = 64
_WARM_UP = 300
_THIN = 15
# In the first half of the warm-up, so often, walkers that are lost in the tails (by so much in log
# density, where four normal parameters have a chance of 5e-6) are put back among the others.
_RESCUE = 20
_LOST = 15.0
# Share of steps that jump by the whole difference of two walkers: from mode to mode.
_JUMPS = 0.1
# No data set tells logits or log ratios beyond this from infinity.
_BOUND = 60.0

LogDensity = Callable[[FloatArray], FloatArray]


def sample_inflated_beta(
    cells: Cells,
    priors: Priors,
    rng: np.random.Generator,
    *,
    chains: int = 4,
    draws: int = 1000,
) -> FamilyResult:
    """Posterior draws of an inflated Beta population.

    A "chain" is an ensemble of walkers, its draws those of the first walker first; ensembles share
    nothing and start apart.

    Parameters
    ----------
    cells : Cells
    priors : Priors
        Of m and r, the mean and spread of the Beta part.
    rng : numpy.random.Generator
    chains, draws : int

    Returns
    -------
    FamilyResult
        Parameters ``share_wrong`` (w_0), ``share_correct`` (w_1), ``beta_mean`` (m) and
        ``beta_spread`` (r).
    """
    likelihood = InflatedBetaLikelihood(cells)

    def log_density(x: FloatArray) -> FloatArray:
        point = InflatedShape.from_rows(x)
        value = likelihood.log_prob(point) + log_prior(point, priors)
        return np.where(np.all(np.abs(x) < _BOUND, axis=0), value, -np.inf)

    x = _ensembles(log_density, _starts(cells, chains, rng), -(-draws // _WALKERS), rng)
    # (parameter, chain, step, walker) to (parameter, chain, draw), walker by walker
    x = np.swapaxes(x, 2, 3).reshape(4, chains, -1)[:, :, :draws]
    point = InflatedShape.from_rows(x)
    flat = InflatedShape.from_rows(x.reshape(4, -1))
    population = flat.population()
    weight = np.exp(point.log_weight)
    score = draw_score(population, cells, rng).reshape(chains, draws)
    watched = [
        population.mean().reshape(chains, draws),
        np.sqrt(population.variance()).reshape(chains, draws),
        score,
    ]
    return FamilyResult(
        population,
        score,
        {
            "share_wrong": weight[0],
            "share_correct": weight[1],
            "beta_mean": point.beta.mu,
            "beta_spread": point.beta.r,
        },
        log_prior(point, priors),
        {"r_hat": max(r_hat(v) for v in watched), "ess": min(ess_bulk(v) for v in watched)},
    )


def _starts(cells: Cells, chains: int, rng: np.random.Generator) -> FloatArray:
    """Start of every walker, shape (4, chain, walker).

    Even ensembles start with hardly any inflation, odd ones with all unanimous prompts inflated.
    """
    s, k = cells.n_correct.astype(float), cells.n_generations
    n = cells.n_prompts * (k > 0)
    shape = (chains, _WALKERS)
    x = np.empty((4, *shape))
    odd = np.arange(chains) % 2 == 1
    total = float(n.sum())
    for end, value in ((0, 0), (1, k)):
        share = float(n[s == value].sum()) / max(total, 1.0)
        x[end] = logit(0.9 * share + 0.05) + rng.standard_normal(shape)
        x[end, ~odd] -= 3.0
    mean = (float(n @ ((s + 0.5) / (k + 1.0))) + 0.5) / (total + 1.0)
    x[2] = logit(mean) + 0.5 * rng.standard_normal(shape)
    x[3] = rng.standard_normal(shape)
    x[3, ~odd] += 1.0
    return x


def _ensembles(
    log_density: LogDensity, x: FloatArray, steps: int, rng: np.random.Generator
) -> FloatArray:
    """Run the ensembles; keep `steps` states after warm-up, shape (4, chain, step, walker)."""
    size, chains, walkers = x.shape
    half = walkers // 2
    value = log_density(x)
    kept = np.empty((size, chains, steps, walkers))
    row = np.arange(chains)[:, None]
    for i in range(_WARM_UP + steps * _THIN):
        for first in (0, half):
            moving, fixed = slice(first, first + half), half - first
            one = rng.integers(half, size=(chains, half))
            two = (one + rng.integers(1, half, size=(chains, half))) % half
            step = x[:, row, fixed + one] - x[:, row, fixed + two]
            scale = 2.38 / np.sqrt(2 * size) * rng.uniform(0.5, 1.2, (chains, half))
            scale = np.where(rng.random((chains, half)) < _JUMPS, 1.0, scale)
            noise = 1e-3 * rng.standard_normal((size, chains, half))
            proposal = x[:, :, moving] + scale * step + noise
            new = log_density(proposal)
            ok = np.log(rng.random((chains, half))) < new - value[:, moving]
            x[:, :, moving] = np.where(ok, proposal, x[:, :, moving])
            value[:, moving] = np.where(ok, new, value[:, moving])
        if i < _WARM_UP // 2 and i % _RESCUE == 0:
            _rescue(x, value, rng)
        done = i + 1 - _WARM_UP
        if done > 0 and done % _THIN == 0:
            kept[:, :, done // _THIN - 1] = x
    return kept


def _rescue(x: FloatArray, value: FloatArray, rng: np.random.Generator) -> None:
    """Move lost walkers, in place, onto others of their ensemble."""
    for c in range(x.shape[1]):
        lost = value[c] < value[c].max() - _LOST
        if lost.any():
            found = rng.choice(np.flatnonzero(~lost), size=int(lost.sum()))
            x[:, c, lost], value[c, lost] = x[:, c, found], value[c, found]
