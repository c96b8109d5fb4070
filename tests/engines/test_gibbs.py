"""The Gibbs engine against its own prior, the exact engine, and ArviZ's diagnostics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import kstest

from pcorrect.cells import Cells
from pcorrect.engines.gibbs_state import Chains, beta_parameters, log_beta_draw
from pcorrect.priors import Priors

FloatArray = NDArray[np.float64]


def prior_chains(
    k: list[int], chains: int, sticks: int, priors: Priors, rng: np.random.Generator
) -> Chains:
    """Chains whose state is drawn from the prior and whose data, one set each, from the state."""
    shape = (chains, sticks)
    m, r = rng.beta(*priors.mu, chains), rng.beta(*priors.spread, chains)
    base = (logit(m), logit(np.clip(r, 1e-4, 1 - 1e-12)))
    log_alpha = rng.uniform(*np.log(priors.alpha), chains)
    sticks_ = log_beta_draw(
        np.ones(shape), np.broadcast_to(np.exp(log_alpha)[:, None], shape), rng
    )
    a, b = (np.broadcast_to(x[:, None], shape) for x in beta_parameters(*base))
    atoms = log_beta_draw(a, b, rng)
    distinct = sorted(set(k) - {0})
    s_cells = np.concatenate([np.arange(x + 1) for x in distinct])
    k_cells = np.concatenate([np.full(x + 1, x) for x in distinct])
    cells = Cells(s_cells, k_cells, np.ones(len(s_cells), np.int64), np.zeros(0, np.intp))
    state = Chains(cells, priors, rng, base, log_alpha, sticks_, atoms)
    weights = np.exp(state.log_weights())
    counts = np.zeros((chains, len(s_cells)), np.int64)
    for one in k:
        if one == 0:
            continue
        part = np.sum(np.cumsum(weights, axis=1) < rng.random((chains, 1)), axis=1)
        part = np.minimum(part, sticks)
        p = np.exp(state.log_phi[np.arange(chains), np.maximum(part - 1, 0)])
        p = np.where(part == 0, rng.beta(state.a, state.b), p)
        s = rng.binomial(one, p)
        for value in range(one + 1):
            counts[s == value, np.flatnonzero((s_cells == value) & (k_cells == one))[0]] += 1
    state.n = counts
    return state


def statistics(state: Chains) -> dict[str, FloatArray]:
    weights = np.exp(state.log_weights())
    atoms = np.exp(state.log_phi)
    m = state.a / (state.a + state.b)
    mu = weights[:, 0] * m + np.sum(weights[:, 1:] * atoms, axis=1)
    second = m * (state.a + 1) / (state.a + state.b + 1)
    sigma = np.sqrt(
        np.maximum(
            weights[:, 0] * second + np.sum(weights[:, 1:] * atoms**2, axis=1) - mu**2, 0
        )
    )
    share = state.n @ (state.s / (state.s + state.f)) / state.n.sum(axis=1)
    return {
        "m": m,
        "r": expit(state.logit_r),
        "alpha": state.log_alpha,
        "mu": mu,
        "sigma": sigma,
        "rest": weights[:, 0],
        "first": weights[:, 1],
        "largest": weights[:, 1:].max(axis=1),
        "atom": atoms[:, 0],
        "mu*share": mu * share,
        "sigma*spread": sigma * np.abs(share - 0.5),
        "fit": (mu - share) ** 2,
        "alpha*spread": state.log_alpha * share * (1 - share),
        "alpha*m": state.log_alpha * (m - share) ** 2,
        "atom*rest": np.abs(atoms[:, 0] - share) * weights[:, 1],
    }


def joint_distribution_errors(
    k: list[int], sweeps: int, chains: int, sticks: int, priors: Priors, seed: int
) -> dict[str, float]:
    """Change of each statistic's mean over `sweeps` sweeps that start at the truth, in errors.

    A right sampler leaves the joint distribution of state and data where it is (Geweke 2004),
    however slowly it mixes.
    """
    state = prior_chains(k, chains, sticks, priors, np.random.default_rng(seed))
    before = statistics(state)
    for _ in range(sweeps):
        state.sweep()
    after = statistics(state)
    z = {}
    for name in before:
        change = after[name] - before[name]
        z[name] = float(change.mean() / (change.std() / np.sqrt(chains) + 1e-12))
        change = after[name] ** 2 - before[name] ** 2
        z[name + "^2"] = float(change.mean() / (change.std() / np.sqrt(chains) + 1e-12))
    return z


def test_sweeps_leave_the_joint_distribution_of_state_and_data() -> None:
    k = [0, 1, 1, 2, 5, 5, 5, 12, 12]
    for alpha in ((1.0, 1e4), (0.5, 20.0)):
        priors = Priors(alpha=alpha, mu=(1.5, 1.0), spread=(1.0, 2.0))
        z = joint_distribution_errors(k, 5, 4000, 6, priors, seed=1)
        assert max(map(abs, z.values())) < 4.5, z
