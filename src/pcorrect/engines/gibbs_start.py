"""Where the chains of the Gibbs sampler start: half at the best Beta, half at free atoms."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from pcorrect.cells import Cells
from pcorrect.engines.gibbs_ladder import Ladder
from pcorrect.engines.gibbs_pieces import FloatArray, IntArray, beta_parameters, log_beta_draw
from pcorrect.priors import Priors


def nonparametric_fit(cells: Cells, atoms: int, steps: int = 60) -> tuple[FloatArray, FloatArray]:
    """Weights and positions of `atoms` point masses near the largest likelihood, by EM.

    Heaviest first. Only a place to start: EM is stopped long before it converges.
    """
    s, f = cells.n_correct.astype(float), (cells.n_generations - cells.n_correct).astype(float)
    phi = np.sin(np.linspace(0.0, np.pi / 2, atoms + 2)[1:-1]) ** 2
    weight = np.full(atoms, 1 / atoms)
    if not len(s):
        return weight, phi
    for _ in range(steps):
        log_share = np.log(weight) + np.outer(s, np.log(phi)) + np.outer(f, np.log1p(-phi))
        share = np.exp(log_share - log_share.max(axis=1, keepdims=True))
        share *= (cells.n_prompts / share.sum(axis=1))[:, None]
        n = share.sum(axis=0)
        # The half generation on either side keeps atoms off 0 and 1, where they could not move.
        phi = (s @ share + 0.5 / atoms) / ((s + f) @ share + 1.0 / atoms)
        weight = np.maximum(n / n.sum(), 1e-12)
    order = np.argsort(weight)[::-1]
    return weight[order], phi[order]


def moment_fit(cells: Cells) -> tuple[float, float]:
    """(logit m, logit r) of a Beta with the moments of the data, pulled inside (0, 1)."""
    s, k, n = cells.n_correct, cells.n_generations, cells.n_prompts
    total = n.sum()
    if total == 0:
        return 0.0, 0.0
    mean = float(n @ ((s + 0.5) / (k + 1.0)) / total)
    variance = float(n @ ((s / k) - n @ (s / k) / total) ** 2) / total
    within = mean * (1 - mean) / float(total / (n @ (1.0 / k)))
    rho = (variance - within) / (mean * (1 - mean))
    return float(logit(mean)), float(logit(np.sqrt(np.clip(rho, 0.01, 0.95))))


def start_chains(
    cells: Cells,
    priors: Priors,
    rng: np.random.Generator,
    n: IntArray,
    *,
    groups: int,
    sticks: int,
) -> Ladder:
    """Even groups start at the Beta with large alpha, odd ones at free atoms with small alpha.

    Parameters
    ----------
    cells : Cells
        Without pairs of k = 0.
    n : ndarray of int, shape (levels, M)
        Counts of each level, see `Ladder.set_levels`.
    groups, sticks : int
        Size of the chains.
    """
    chains = groups * len(n)
    free = np.arange(chains) // len(n) % 2 == 1
    low, high = np.log(np.array(priors.alpha))
    distance = rng.uniform(0.05, 0.2, chains) * (high - low)
    log_alpha = np.where(free, low + distance, high - distance)
    at = moment_fit(cells)
    base = at[0] + 0.3 * rng.standard_normal(chains), at[1] + 0.3 * rng.standard_normal(chains)
    shape = (chains, sticks)
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None], shape)
    log_v, log_1v = log_beta_draw(np.ones(shape), alpha, rng)
    a, b = (np.broadcast_to(x[:, None], shape) for x in beta_parameters(*base))
    log_phi, log_1phi = log_beta_draw(a, b, rng)
    weight, phi = nonparametric_fit(cells, sticks)
    v = np.clip(weight / (1 - np.cumsum(weight) + weight), 1e-9, 1 - 1e-3)
    log_v[free], log_1v[free] = np.log(v), np.log1p(-v)
    log_phi[free], log_1phi[free] = np.log(phi), np.log1p(-phi)
    ladder = Ladder(cells, priors, rng, base, log_alpha, (log_v, log_1v), (log_phi, log_1phi))
    ladder.set_levels(n)
    return ladder
