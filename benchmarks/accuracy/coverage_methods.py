"""Intervals that `coverage.py` compares: the default, and what others compute.

Each method gives 95 % intervals of mu and of score for every data set of a cell: arrays of shape
(data set, 2), NaN where it has none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from pcorrect.cells import Cells
from pcorrect.engines.exact import LogDensity, grid_posterior
from pcorrect.engines.gibbs import STICKS, sum_of_betas
from pcorrect.engines.gibbs_ladder import Ladder, thinned
from pcorrect.engines.gibbs_start import start_chains
from pcorrect.priors import Priors
from pcorrect.prompts import levels, reach_ends

LEVEL = np.array([0.025, 0.975])
Z = float(ndtri(LEVEL[1]))
# Posterior draws of the default: chains started at both ends, sweeps before the draws, and draws.
# Fewer than `pcorrect.fit` makes, for time: that costs a thousandth or two of coverage.
CHAINS, WARMUP, DRAWS = 2, 150, 400
# Chains x cells x parts that fit the cache.
_BATCH = 300_000


@dataclass(frozen=True)
class Intervals:
    """Intervals of one method.

    Parameters
    ----------
    mu, score : ndarray, shape (data set, 2)
    p : ndarray, shape (data set, k + 1, 2), optional
        Intervals of p_i given s_i.
    alpha : ndarray, shape (data set,), optional
        Posterior median.
    """

    mu: np.ndarray
    score: np.ndarray
    p: np.ndarray | None = None
    alpha: np.ndarray | None = None


def default(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """The Dirichlet process around a Beta: the sampler of `gibbs.sample`, many data sets at once.

    `counts` holds how many prompts have 0..k correct, shape (data set, k + 1).
    """
    seen = np.flatnonzero(counts.any(axis=0))
    counts = counts[:, seen]
    size = max(1, _BATCH // (CHAINS * len(thinned(counts[0])) * len(seen) * (STICKS + 1)))
    parts = [_default(counts[i : i + size], seen, k, rng) for i in range(0, len(counts), size)]
    mu, score, of_seen, alpha = (
        np.concatenate([getattr(x, name) for x in parts]) for name in ("mu", "score", "p", "alpha")
    )
    p = np.full((len(counts), k + 1, 2), np.nan)
    p[:, seen] = of_seen
    return Intervals(mu, score, p, alpha)


def _default(counts: np.ndarray, s: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """`default` for the counts `s` only."""
    ladders, thinner = [], []
    for n in counts:
        cells = Cells(s, np.full(len(s), k), n, np.zeros(0, np.intp))
        thinner.append(thinned(n))
        ladders.append(
            start_chains(cells, Priors(), rng, thinner[-1], groups=CHAINS, sticks=STICKS)
        )

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(ladder, name) for ladder in ladders])

    chains = Ladder(
        cells,
        Priors(),
        rng,
        tuple(np.concatenate([ladder.base for ladder in ladders], axis=1)),
        joined("log_alpha"),
        (joined("log_v"), joined("log_1v")),
        (joined("log_phi"), joined("log_1phi")),
    )
    chains.set_levels(np.repeat(np.stack(thinner), CHAINS, axis=0))
    draws: dict[str, list[np.ndarray]] = {"mu": [], "score": [], "p": [], "alpha": []}
    for i in range(WARMUP + DRAWS):
        chains.adapting = 2.0 / np.sqrt(i + 1.0) if i < WARMUP else 0.0
        chains.sweep()
        if i >= WARMUP:
            _record(draws, chains, rng, with_p=i % 2 == 0)

    def quantiles(name: str, prob: np.ndarray) -> np.ndarray:
        # (draw, data set * chain, ...) -> (data set, ..., prob)
        x = np.stack(draws[name])
        x = x.reshape(len(x), len(counts), CHAINS, *x.shape[2:])
        x = np.moveaxis(x, 2, 1).reshape(-1, len(counts), *x.shape[3:])
        return np.moveaxis(np.quantile(x, prob, axis=0), 0, -1)

    middle = quantiles("alpha", np.array([0.5]))[..., 0]
    p = [_of_prompts(x.T, cells) for x in quantiles("p", levels(0.95))]
    return Intervals(quantiles("mu", LEVEL), quantiles("score", LEVEL), np.stack(p), middle)


def _of_prompts(quantiles: np.ndarray, cells: Cells) -> np.ndarray:
    return np.stack(reach_ends(quantiles[:2], quantiles, cells), axis=1)


def _record(
    draws: dict[str, list[np.ndarray]], chains: Ladder, rng: np.random.Generator, with_p: bool
) -> None:
    i = chains.real()
    a, b, atoms, weights = (
        chains.a[i],
        chains.b[i],
        np.exp(chains.log_phi[i]),
        np.exp(chains.log_w[i]),
    )
    draws["mu"].append(weights[:, 0] * a / (a + b) + np.sum(weights[:, 1:] * atoms, axis=1))
    draws["alpha"].append(np.exp(chains.log_alpha[i]))
    of_cell = a[:, None] + chains.s, b[:, None] + chains.f
    total = np.sum(chains.taken[0, i] * atoms, axis=1) + sum_of_betas(*of_cell, chains.rest[i], rng)
    draws["score"].append(total / chains.n[i].sum(axis=1))
    if with_p:
        below = np.cumsum(chains.likelihood()[i] * weights[:, None, :], axis=2)
        part = np.sum(below < rng.random(below.shape[:2])[:, :, None] * below[:, :, -1:], axis=2)
        atom = np.take_along_axis(atoms, np.maximum(part - 1, 0), axis=1)
        draws["p"].append(np.where(part == 0, rng.beta(*of_cell), atom))


def plain_beta(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """The hierarchical Beta-Bernoulli model, exactly."""
    s = np.arange(k + 1)
    mu, score, p = [], [], []
    for n in counts:
        seen = n > 0
        cells = Cells(
            s[seen], np.full(seen.sum(), k), n[seen], np.repeat(np.arange(seen.sum()), n[seen])
        )
        posterior = grid_posterior(LogDensity(cells, Priors()), tolerance=1e-4)
        mu.append(posterior.mu().quantile(LEVEL))
        score.append(posterior.score(cells, rng).quantile(LEVEL))
        each = np.full((k + 1, 2), np.nan)
        each[seen] = _of_prompts(posterior.p_quantiles(cells, levels(0.95)).T, cells)
        p.append(each)
    return Intervals(np.stack(mu), np.stack(score), np.stack(p))


def t_interval(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """Moment estimate: t interval of the mean over prompts; normal interval for the score."""
    s, n = np.arange(k + 1), counts.sum(axis=1)
    mean = counts @ s / n / k
    variance = (counts @ (s / k) ** 2 - n * mean**2) / (n - 1)
    half = stdtrit(n - 1, LEVEL[1]) * np.sqrt(np.maximum(variance, 0) / n)
    within = counts @ ((s / k) * (1 - s / k) / max(k - 1, 1)) / n
    own = Z * np.sqrt(within / n)
    score = _around(mean, own) if k > 1 else np.full((len(n), 2), np.nan)
    return Intervals(_around(mean, half), score)


def pooled(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """All generations as one binomial sample: Beta(1, 1) posterior."""
    correct, total = counts @ np.arange(k + 1), counts.sum(axis=1) * k
    both = betaincinv(correct[:, None] + 1, (total - correct)[:, None] + 1, LEVEL)
    return Intervals(both, both)


def wilson_items(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """Wilson interval with the number of prompts as sample size and the mean as proportion."""
    n = counts.sum(axis=1)
    mean = counts @ np.arange(k + 1) / n / k
    centre = (mean + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(mean * (1 - mean) / n + Z**2 / (4 * n**2))
    both = _around(centre, half)
    return Intervals(both, both)


def independent(counts: np.ndarray, k: int, rng: np.random.Generator) -> Intervals:
    """p_i ~ Beta(1, 1) apart for every prompt; normal interval of their mean."""
    s, n = np.arange(k + 1), counts.sum(axis=1)
    m = (s + 1) / (k + 2)
    mean, variance = counts @ m / n, counts @ (m * (1 - m) / (k + 3)) / n**2
    both = _around(mean, Z * np.sqrt(variance))
    p = np.broadcast_to(betaincinv(s[:, None] + 1, k - s[:, None] + 1, LEVEL), (len(n), k + 1, 2))
    return Intervals(both, both, p)


def _around(centre: np.ndarray, half: np.ndarray) -> np.ndarray:
    return np.stack([centre - half, centre + half], axis=1)


METHODS = {
    "dp_beta": default,
    "beta": plain_beta,
    "t": t_interval,
    "pooled": pooled,
    "wilson_items": wilson_items,
    "independent": independent,
}
