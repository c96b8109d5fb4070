r"""Gibbs engine: draws from the Dirichlet process around a Beta, the default population.

The model (`models/dp_beta.py` is the same as a PyMC program):

.. math::

    P = W_0\, \mathrm{Beta}(a, b) + \sum_{t=1}^{T} W_t\, \delta_{\phi_t}, \quad
    W_t = V_t \prod_{u<t} (1 - V_u), \quad V_t \sim \mathrm{Beta}(1, \alpha), \quad
    \phi_t \sim \mathrm{Beta}(a, b)

    p_i \sim P, \quad s_i \sim \mathrm{Binomial}(k_i, p_i)

with the Beta's mean and spread under the priors of mu and spread, and alpha log-uniform. It is a
Dirichlet process by stick-breaking, whose remainder after T sticks is its mean: the Beta itself.
As alpha grows P becomes that Beta, exactly, without a grid; small alpha lets atoms follow any data.

A sweep allocates prompts, by cells of equal (s, k), to atoms or the Beta (multinomial), and then
draws atoms and sticks (Betas), all conjugate because the Beta's prompts are beta-binomial. Atoms
are integrated out where (a, b) moves, sticks where alpha moves, allocations where alpha and all
sticks move together; labels are swapped (Papaspiliopoulos & Roberts 2008, Biometrika 95:169). Half
of the chains start at the best Beta, half at free atoms; chains with thinned data help them to get
from the one to the other (`pcorrect.engines.gibbs_ladder`).

What was chosen, and why (`benchmarks/accuracy/coverage.py`):

* alpha from 1 to 10^4. Below 1, P has next to one atom, which no benchmark has; above, the atoms
  hold a few thousandths and P is the Beta. Lower ends of 3 and 10, tried where little data meet a
  wrong Beta (n = 20 and 50, k = 4), changed neither the coverage of mu nor that of p_i.
* T = 32 sticks: 16 and 64 give the same posterior of mu to within Monte Carlo error on real runs.
* Atoms come from the Beta itself, not from a wider base: alpha keeps its meaning, and mu is covered
  where the Beta is wrong.

Chains that disagree on mu, sigma or the score are run on, up to eight times as long, and thinned.

Where it is slow: alpha, when atoms fit best and there are many prompts, because many sets of atoms
then explain the counts equally well. mu hardly depends on it; read its R-hat.
"""

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

#: Atoms of a draw of the population, and sweeps before the first draw.
STICKS = 32
WARMUP = 150

# Chains are run on until they agree so far; few draws make do with two fifths of their number.
_R_HAT, _ESS = 1.01, 400
# Sweeps per draw, at most.
_LONGEST = 8

# Allocations that are kept until the score is drawn from them.
_BUFFER = 2_000_000


@dataclass(frozen=True)
class GibbsResult:
    """Posterior draws of a Beta-centred Dirichlet process.

    Parameters
    ----------
    population : Population
        ``chain * draw`` draws of P, those of the first chain first.
    alpha : ndarray, shape (chain, draw)
    score : ndarray, shape (chain, draw)
        mean(p_i) over the prompts.
    r_hat, ess : dict of str to float
        Rank-normalised split R-hat and bulk effective sample size of mu, sigma, alpha and score.
    """

    population: Population
    alpha: FloatArray
    score: FloatArray
    r_hat: dict[str, float]
    ess: dict[str, float]

    def agrees(self, names: tuple[str, ...]) -> bool:
        """Whether the chains agree on these quantities, and move."""
        enough = min(_ESS, 0.4 * self.alpha.size)
        return all(self.r_hat[name] < _R_HAT and self.ess[name] >= enough for name in names)


def sample(
    cells: Cells,
    priors: Priors,
    rng: np.random.Generator,
    *,
    chains: int = 4,
    draws: int = 500,
    warmup: int = WARMUP,
    sticks: int = STICKS,
) -> GibbsResult:
    """Sample the posterior of the population, of alpha and of the score.

    Parameters
    ----------
    cells : Cells
        Any k >= 1, equal or not.
    priors : Priors
    rng : numpy.random.Generator
        The result is reproducible given its state.
    chains, draws : int
        Size of the result. Even chains start at the best Beta, odd ones at free atoms.
    warmup : int
        Sweeps before the first draw, in which step sizes are adapted.
    sticks : int
        Atoms of each draw of the population.
    """
    thinner = thinned(cells.n_prompts)
    ladder = start_chains(cells, priors, rng, thinner, groups=chains, sticks=sticks)
    for i in range(warmup):
        ladder.adapting = 2.0 / np.sqrt(i + 1.0)
        ladder.sweep()
    ladder.adapting = 0.0
    trace = _Trace(chains, draws, sticks, cells, rng)
    trace.fill(ladder)
    # sigma is the prior's own where no prompt, or only one, has two generations
    sigma = np.any(cells.n_generations > 1) and cells.n_prompts.sum() > 1
    judged = ("mu", "sigma", "score") if sigma else ("mu", "score")
    result = trace.result()
    while trace.sweeps < _LONGEST and not result.agrees(judged):
        trace.thin()
        trace.fill(ladder)
        result = trace.result()
    return result


class _Trace:
    """What is kept of each draw; axis 0 the chain, axis 1 the draw."""

    def __init__(
        self,
        chains: int,
        draws: int,
        sticks: int,
        cells: Cells,
        rng: np.random.Generator,
    ) -> None:
        shape = (chains, draws)
        self.cells, self.rng = cells, rng
        self.a, self.b, self.alpha, self.total = (np.empty(shape) for _ in range(4))
        self.weight = np.empty((*shape, sticks + 1))
        self.atom = np.empty((*shape, sticks))
        #: How many prompts of each cell the Beta had in the latest draws: drawn from in blocks.
        self.rest: list[IntArray] = []
        self.sweeps, self.draws, self.done = 1, 0, 0

    def fill(self, ladder: Ladder) -> None:
        """Sweep until all draws are there."""
        for i in range(self.draws, self.alpha.shape[1]):
            for _ in range(self.sweeps):
                ladder.sweep()
            self._record(i, ladder)
        self._add_rest()
        self.draws = self.alpha.shape[1]

    def thin(self) -> None:
        """Keep every second draw, and make room for as many that lie as far apart."""
        self.sweeps *= 2
        self.draws = self.done = (self.draws + 1) // 2
        for x in (self.a, self.b, self.alpha, self.total, self.weight, self.atom):
            x[:, : self.draws] = x[:, ::2].copy()

    def _record(self, i: int, state: Ladder) -> None:
        c = state.real()
        self.a[:, i], self.b[:, i] = state.a[c], state.b[c]
        self.alpha[:, i] = np.exp(state.log_alpha[c])
        self.weight[:, i] = np.exp(state.log_w[c])
        self.atom[:, i] = np.exp(state.log_phi[c])
        self.total[:, i] = np.sum(state.taken[0, c] * self.atom[:, i], axis=1)
        self.rest.append(state.rest[c])
        if len(self.rest) * self.rest[0].size > _BUFFER:
            self._add_rest()

    def _add_rest(self) -> None:
        """Add p of the prompts that the Beta had, in the draws since the last call."""
        start, self.done = self.done, self.done + len(self.rest)
        if start == self.done:
            return
        times = np.stack(self.rest, axis=1)
        block = slice(start, self.done)
        s, f = self.cells.n_correct, self.cells.n_generations - self.cells.n_correct
        a, b = (x[:, block].reshape(-1, 1) for x in (self.a, self.b))
        sums = sum_of_betas(a + s, b + f, times.reshape(len(a), len(s)), self.rng)
        self.total[:, block] += sums.reshape(times.shape[:2])
        self.rest = []

    def population(self) -> Population:
        weight = self.weight.reshape(-1, self.weight.shape[2])
        weight = weight / weight.sum(axis=1, keepdims=True)
        atom = self.atom.reshape(len(weight), -1)
        return Population(weight[:, 0], self.a.ravel(), self.b.ravel(), weight[:, 1:], atom)

    def result(self) -> GibbsResult:
        population = self.population()
        score = self.total / self.cells.n_prompts.sum()
        watched = {
            "mu": population.mean().reshape(score.shape),
            "sigma": np.sqrt(population.variance()).reshape(score.shape),
            "alpha": self.alpha,
            "score": score,
        }
        return GibbsResult(
            population,
            self.alpha,
            score,
            {name: r_hat(x) for name, x in watched.items()},
            {name: ess_bulk(x) for name, x in watched.items()},
        )


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
