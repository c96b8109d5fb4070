"""The Gibbs engine against its own prior, the exact engine, and ArviZ's diagnostics."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

from pcorrect.cells import Cells
from pcorrect.engines.gibbs_ladder import Ladder
from pcorrect.engines.gibbs_pieces import beta_parameters, log_beta_draw
from pcorrect.priors import Priors

FloatArray = NDArray[np.float64]


def from_prior(
    k: list[int], chains: int, levels: int, sticks: int, priors: Priors, seed: int
) -> Ladder:
    """Chains whose states come from the prior, and whose data, one set each, from the states.

    The chains of a group have unrelated data: exchanging states between them must still leave each
    data set with states of its own posterior.
    """
    rng = np.random.default_rng(seed)
    shape = (chains, sticks)
    base = logit(rng.beta(*priors.mu, chains)), logit(rng.beta(*priors.spread, chains))
    log_alpha = rng.uniform(*np.log(priors.alpha), chains)
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None], shape)
    a, b = (np.broadcast_to(x[:, None], shape) for x in beta_parameters(*base))
    sticks_, atoms = log_beta_draw(np.ones(shape), alpha, rng), log_beta_draw(a, b, rng)
    distinct = sorted(set(k) - {0})
    s_of = np.concatenate([np.arange(x + 1) for x in distinct])
    k_of = np.concatenate([np.full(x + 1, x) for x in distinct])
    cells = Cells(s_of, k_of, np.ones(len(s_of), np.int64), np.zeros(0, np.intp))
    state = Ladder(cells, priors, rng, base, log_alpha, sticks_, atoms)
    share = np.cumsum(np.exp(state.log_w), axis=1)
    counts = np.zeros((chains, len(s_of)), np.int64)
    for one in filter(None, k):
        part = np.minimum(np.sum(share < rng.random((chains, 1)), axis=1), sticks)
        p = np.exp(state.log_phi[np.arange(chains), np.maximum(part - 1, 0)])
        p = np.where(part == 0, rng.beta(state.a, state.b), p)
        s = rng.binomial(one, p)
        counts[np.arange(chains), np.searchsorted(k_of, one) + s] += 1
    state.set_levels(counts.reshape(-1, levels, len(s_of)))
    return state


def statistics(state: Ladder) -> dict[str, FloatArray]:
    """Functions of state and data whose means are compared, one value per data set."""
    i = np.argsort(state.level, axis=1) + np.arange(len(state.level))[:, None] * state.level.shape[1]
    i = i.ravel()
    weights, atoms = np.exp(state.log_w[i]), np.exp(state.log_phi[i])
    a, b, alpha, n = state.a[i], state.b[i], state.log_alpha[i], state.n[i]
    m = a / (a + b)
    mu = weights[:, 0] * m + np.sum(weights[:, 1:] * atoms, axis=1)
    square = weights[:, 0] * m * (a + 1) / (a + b + 1) + np.sum(weights[:, 1:] * atoms**2, axis=1)
    share = n @ (state.s / (state.s + state.f)) / n.sum(axis=1)
    values = {
        "m": m,
        "r": expit(state.logit_r[i]),
        "alpha": alpha,
        "mu": mu,
        "sigma": np.sqrt(np.maximum(square - mu**2, 0.0)),
        "rest": weights[:, 0],
        "first": weights[:, 1],
        "largest": weights[:, 1:].max(axis=1),
        "atom": atoms[:, 0],
        "mu, data": mu * share,
        "mu - data": (mu - share) ** 2,
        "alpha, data": alpha * share * (1 - share),
        "alpha, m - data": alpha * (m - share) ** 2,
        "atom - data": np.abs(atoms[:, 0] - share) * weights[:, 1],
        "mu**2": square,
    }
    return values | {f"({name})**2": value**2 for name, value in values.items()}


def drift(state: Ladder, sweeps: int) -> dict[str, float]:
    """Change of each statistic's mean over sweeps that start at the truth, in standard errors.

    A right sampler leaves the joint distribution of states and data where it is (Geweke 2004, JASA
    99:799), however slowly it mixes.
    """
    before = statistics(state)
    for _ in range(sweeps):
        state.sweep()
    after = statistics(state)
    change = {name: after[name] - before[name] for name in before}
    return {
        name: float(x.mean() / (x.std() / np.sqrt(len(x)) + 1e-12)) for name, x in change.items()
    }


UNEQUAL = [0, 1, 1, 2, 5, 5, 5, 12, 12]


@pytest.mark.parametrize("alpha", [(1.0, 1e4), (0.5, 20.0)])
@pytest.mark.parametrize("k", [UNEQUAL, [8] * 30], ids=["unequal", "balanced"])
@pytest.mark.parametrize("levels", [1, 2])
def test_sweeps_leave_states_and_data_in_their_joint_distribution(k, alpha, levels):
    priors = Priors(alpha=alpha, mu=(1.5, 1.0), spread=(1.0, 2.0))
    z = drift(from_prior(k, 8000, levels, 6, priors, seed=1), 2)
    # 30 statistics: one false alarm in 10 000 runs
    assert max(map(abs, z.values())) < 4.7, z
