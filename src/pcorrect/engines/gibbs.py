r"""Gibbs engine: the Beta-centred Dirichlet process, many chains at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pcorrect.cells import Cells
from pcorrect.convergence import ess_bulk, r_hat
from pcorrect.engines.gibbs_ladder import Ladder, thinned
from pcorrect.engines.gibbs_pieces import FloatArray, IntArray
from pcorrect.engines.gibbs_start import start_chains
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

STICKS = 32
WARMUP = 250


@dataclass(frozen=True)
class GibbsResult:
    """Posterior draws of a Beta-centred Dirichlet process.

    Parameters
    ----------
    population : Population
        ``chain * draw`` draws of P, those of the first chain first.
    alpha : ndarray, shape (chain, draw)
    score : ndarray, shape (chain, draw)
        mean(p_i) over all prompts, also those with k_i = 0.
    r_hat, ess : dict of str to float
        Rank-normalised split R-hat and bulk effective sample size of mu, sigma, alpha and score.
    """

    population: Population
    alpha: FloatArray
    score: FloatArray
    r_hat: dict[str, float]
    ess: dict[str, float]


def sample(
    cells: Cells,
    priors: Priors,
    rng: np.random.Generator,
    *,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = WARMUP,
    thin: int = 1,
    sticks: int = STICKS,
) -> GibbsResult:
    """Sample the posterior."""
    seen = cells.n_generations > 0
    used = Cells(
        cells.n_correct[seen], cells.n_generations[seen], cells.n_prompts[seen], cells.of_prompt
    )
    ladder = start_chains(used, priors, rng, thinned(used.n_prompts), groups=chains, sticks=sticks)
    trace = _Trace(chains, draws, sticks, len(used.n_prompts))
    for i in range(warmup + draws * thin):
        ladder.adapting = 2.0 / np.sqrt(i + 1.0) if i < warmup else 0.0
        ladder.sweep()
        kept, between = divmod(i - warmup, thin)
        if kept >= 0 and between == thin - 1:
            trace.record(kept, ladder)
    population = trace.population()
    score = trace.score(used, population, int(cells.n_prompts[~seen].sum()), rng)
    shape = (chains, draws)
    watched = {
        "mu": population.mean().reshape(shape),
        "sigma": np.sqrt(population.variance()).reshape(shape),
        "alpha": trace.alpha,
        "score": score.reshape(shape),
    }
    return GibbsResult(
        population,
        trace.alpha,
        watched["score"],
        {name: r_hat(x) for name, x in watched.items()},
        {name: ess_bulk(x) for name, x in watched.items()},
    )


class _Trace:
    """What is kept of each draw; axis 0 the chain, axis 1 the draw."""

    def __init__(self, chains: int, draws: int, sticks: int, cells: int) -> None:
        shape = (chains, draws)
        self.a, self.b, self.alpha, self.in_atoms = (np.empty(shape) for _ in range(4))
        self.weight = np.empty((*shape, sticks + 1))
        self.atom = np.empty((*shape, sticks))
        self.rest = np.empty((*shape, cells), dtype=np.int64)

    def record(self, i: int, state: Ladder) -> None:
        c = state.real()
        self.a[:, i], self.b[:, i] = state.a[c], state.b[c]
        self.alpha[:, i] = np.exp(state.log_alpha[c])
        self.weight[:, i] = np.exp(state.log_w[c])
        self.atom[:, i] = np.exp(state.log_phi[c])
        self.in_atoms[:, i] = np.sum(state.taken[0, c] * self.atom[:, i], axis=1)
        self.rest[:, i] = state.rest[c]

    def population(self) -> Population:
        flat = self.weight.reshape(-1, self.weight.shape[2])
        flat = flat / flat.sum(axis=1, keepdims=True)
        return Population(
            flat[:, 0],
            self.a.ravel(),
            self.b.ravel(),
            flat[:, 1:],
            self.atom.reshape(len(flat), -1),
        )

    def score(
        self, cells: Cells, population: Population, unseen: int, rng: np.random.Generator
    ) -> FloatArray:
        """mean(p_i) of each draw, given the allocations: atoms' prompts exactly, the rest drawn."""
        rest = self.rest.reshape(len(population), -1)
        total = self.in_atoms.ravel().copy()
        a, b = population.a[:, None], population.b[:, None]
        s, f = cells.n_correct, cells.n_generations - cells.n_correct
        step = max(1, 2_000_000 // max(1, len(s)))
        for i in range(0, len(rest), step):
            block = slice(i, i + step)
            total[block] += sum_of_betas(a[block] + s, b[block] + f, rest[block], rng)
        if unseen:
            parts = np.concatenate([population.beta_weight[:, None], population.weight], axis=1)
            chosen = rng.multinomial(unseen, parts)
            total += np.sum(chosen[:, 1:] * population.atom, axis=1)
            total += sum_of_betas(a, b, chosen[:, :1], rng)
        return total / (int(cells.n_prompts.sum()) + unseen)


# Sums of up to so many Betas are drawn term by term.
_FEW = 8


def sum_of_betas(
    a: FloatArray, b: FloatArray, times: IntArray, rng: np.random.Generator
) -> FloatArray:
    """Sum over axis 1 of sums of `times` independent Beta(a, b).

    Few are drawn one by one; the mean of more is drawn from the Beta of the same mean and variance,
    which is normal to the order that matters.
    """
    total = np.zeros(len(times))
    few = (times > 0) & (times <= _FEW)
    row, column = np.nonzero(few)
    index = np.repeat(np.arange(len(row)), times[few])
    a, b = np.broadcast_to(a, times.shape), np.broadcast_to(b, times.shape)
    p = rng.beta(a[row, column][index], b[row, column][index])
    total += np.bincount(row[index], p, minlength=len(total))
    row, column = np.nonzero(times > _FEW)
    n, x, y = times[row, column], a[row, column], b[row, column]
    nu = n * (x + y + 1) - 1
    mean = x / (x + y)
    total += np.bincount(row, n * rng.beta(mean * nu, y / (x + y) * nu), minlength=len(total))
    return total
