"""State of the Gibbs sampler of the Beta-centred Dirichlet process, and its moves.

All chains move in one set of array operations: axis 0 is always the chain (C of them), M is the
number of cells and T the number of sticks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pcorrect.cells import Cells
from pcorrect.engines.gibbs_pieces import (
    LOGIT_BASE,
    FloatArray,
    LogGammas,
    beta_parameters,
    log_beta_draw,
    log_stick_weights,
)
from pcorrect.priors import Priors

# Acceptance rate that the step sizes are adapted to, for moves of one dimension.
_ACCEPT = 0.35
_TINY = 1e-300
_CANDIDATES = 8
# Directions of the moves of (logit m, logit r): along the axes, and along ridges. A sweep tries all
# where there are few prompts and the Beta is what mixes slowly, else two of them.
_DIRECTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]])[:, :, None]
_FEW_PROMPTS = 100


class Chains:
    """C chains of the model, each with T sticks.

    Parameters
    ----------
    cells : Cells
        Without pairs of k = 0. `n` may afterwards be set to other counts, shape (C, M).
    priors : Priors
    rng : numpy.random.Generator
    base : pair of ndarray, shape (C,)
        logit m and logit r of the Beta.
    log_alpha : ndarray, shape (C,)
    sticks, atoms : pair of ndarray, shape (C, T)
        Logs of the stick fractions V and of the atoms, each with the log of one minus them.
    """

    def __init__(
        self,
        cells: Cells,
        priors: Priors,
        rng: np.random.Generator,
        base: tuple[FloatArray, FloatArray],
        log_alpha: FloatArray,
        sticks: tuple[FloatArray, FloatArray],
        atoms: tuple[FloatArray, FloatArray],
    ) -> None:
        chains = len(log_alpha)
        self.priors, self.rng = priors, rng
        self.s = cells.n_correct.astype(float)
        self.f = (cells.n_generations - cells.n_correct).astype(float)
        self.n = np.tile(cells.n_prompts, (chains, 1))
        #: logit m and logit r of the Beta, (2, C), and its parameters.
        self.base = np.stack(base)
        self.a, self.b = beta_parameters(*base)
        self.log_alpha = log_alpha
        self.log_v, self.log_1v = sticks
        self.log_w = log_stick_weights(*sticks)
        self.log_phi, self.log_1phi = atoms
        #: Prompts of each cell that the Beta has, (C, M); prompts, correct and wrong generations of
        #: each atom, (3, C, T).
        self.rest = np.zeros((chains, len(self.s)), dtype=np.int64)
        self.taken = np.zeros((3, *self.log_v.shape))
        #: Log step sizes of the moves along `_DIRECTIONS` and of alpha, and how fast they adapt.
        self.log_step = np.zeros((chains, 1 + len(_DIRECTIONS)))
        self.adapting = 0.0
        self._alpha_bounds = np.log(np.array(priors.alpha))
        self._sums = np.stack([np.ones(len(self.s)), self.s, self.f])
        self._log_gammas = LogGammas(self.s, self.f, self.log_v.shape)
        one, two = np.array([priors.mu, priors.spread]).T[:, :, None]
        self._exponents = one, one + two
        self._moves = len(_DIRECTIONS) if cells.n_prompts.sum() < _FEW_PROMPTS else 2

    def sweep(self) -> None:
        """Update everything once."""
        lik = self.likelihood()
        marginal = self.log_marginal(lik, self.log_w)
        self.exchange(marginal + self.scale)
        self._move_alpha_and_sticks(lik, marginal)
        self._allocate(lik)
        self._swap_random_labels()
        # From here on V is integrated out, until it is drawn again.
        self._swap_neighbours(int(self.rng.integers(2)))
        self._move_base()
        self._move_alpha()
        self._draw_sticks_and_atoms()

    def exchange(self, log_marginal: FloatArray) -> None:
        """Exchange data between chains, see `Ladder`; these chains have nothing to exchange.

        Parameters
        ----------
        log_marginal : ndarray, shape (C, M)
            Log probability of each cell.
        """

    # -- with the allocations integrated out ------------------------------------------------

    def likelihood(self) -> FloatArray:
        """Probability of each cell under each part, shape (C, M, 1 + T), the Beta first.

        Binomial coefficients are left out, and each cell is scaled by its largest value, whose log
        is left in `scale`, (C, M).
        """
        value = np.empty((len(self.a), len(self.s), 1 + self.log_v.shape[1]))
        value[:, :, 0] = self._log_gammas.of_cells(self.a, self.b)
        logs = np.array([self.log_phi, self.log_1phi])
        np.matmul(self._sums[1:].T, logs.transpose(1, 0, 2), out=value[:, :, 1:])
        self.scale = value.max(axis=2)
        value -= self.scale[:, :, None]
        return np.asarray(np.exp(value, out=value))

    def log_marginal(self, lik: FloatArray, log_w: FloatArray) -> FloatArray:
        """Log probability of each cell given the weights, up to `scale`; shape (C, M)."""
        return np.asarray(np.log(np.maximum((lik @ np.exp(log_w)[:, :, None])[:, :, 0], _TINY)))

    def _move_alpha_and_sticks(self, lik: FloatArray, marginal: FloatArray) -> None:
        """Metropolis on alpha with the sticks' quantiles held fixed, allocations integrated out.

        With V = 1 - U**(1 / alpha) the sticks move along with alpha: big moves where the data say
        little about the weights, which is where alpha given the weights crawls.
        """
        step = np.exp(self.log_step[:, -1]) * self.rng.standard_normal(len(self.a))
        proposal = self.log_alpha + step
        log_1v = self.log_1v * np.exp(-step)[:, None]
        log_v = np.log(-np.expm1(log_1v))
        log_w = log_stick_weights(log_v, log_1v)
        change = self.log_marginal(lik, log_w) - marginal
        log_ratio = np.where(self._allowed(proposal), (change * self.n).sum(axis=1), -np.inf)
        self._adapt(-1, log_ratio)
        ok = self._accept(log_ratio)
        self.log_alpha = np.where(ok, proposal, self.log_alpha)
        ok = ok[:, None]
        self.log_1v = np.where(ok, log_1v, self.log_1v)
        self.log_v = np.where(ok, log_v, self.log_v)
        self.log_w = np.where(ok, log_w, self.log_w)

    def _allocate(self, lik: FloatArray) -> None:
        """Draw how many prompts of each cell belong to each part."""
        share = lik * np.exp(self.log_w)[:, None, :]
        share /= share.sum(axis=2, keepdims=True)
        chosen = self.rng.multinomial(self.n, share)
        self.rest = chosen[:, :, 0]
        self.taken = (self._sums @ chosen[:, :, 1:]).transpose(1, 0, 2)

    # -- given the allocations --------------------------------------------------------------

    def _swap_random_labels(self) -> None:
        """Exchange what random pairs of sticks hold, given the weights.

        Without label swaps big atoms stay on late sticks, and alpha is misled.
        """
        sticks = self.log_v.shape[1]
        order = self.rng.permutation(sticks)
        one, two = order[: sticks // 2], order[sticks // 2 : sticks // 2 * 2]
        first, second = self.taken[:, :, one], self.taken[:, :, two]
        gain = self.log_w[:, 1 + one] - self.log_w[:, 1 + two]
        ok = self._accept(gain * (second[0] - first[0]))
        self.taken[:, :, one] = np.where(ok, second, first)
        self.taken[:, :, two] = np.where(ok, first, second)

    def _swap_neighbours(self, start: int) -> None:
        """Exchange what sticks start and start + 1, ... hold, with V integrated out."""
        sticks = self.log_v.shape[1]
        stop = start + (sticks - start) // 2 * 2
        one, two = slice(start, stop, 2), slice(start + 1, stop, 2)
        first, second = self.taken[:, :, one], self.taken[:, :, two]
        beyond = self._remaining()[:, two] + np.exp(self.log_alpha)[:, None]
        ok = self._accept(np.log((beyond + second[0]) / (beyond + first[0])))
        swapped = np.where(ok, second, first), np.where(ok, first, second)
        self.taken[:, :, one], self.taken[:, :, two] = swapped

    def _move_base(self) -> None:
        """Metropolis on (m, r), atoms integrated out.

        What they are seen through is fixed here: occupied atoms and prompts of the remainder.
        Their number sets the scale of the steps, which come in all sizes.
        """
        chains = len(self.a)
        units = self._log_gammas.set_counts(self.taken, self.rest)
        current = self._base_log_density(self.base)
        for which in self.rng.permutation(len(_DIRECTIONS))[: self._moves]:
            size = self.log_step[:, which] + self.rng.uniform(-0.7, 0.7, chains)
            step = np.exp(size) / np.sqrt(1.0 + units) * self.rng.standard_normal(chains)
            proposal = self.base + _DIRECTIONS[which] * step
            new = self._base_log_density(proposal)
            self._adapt(which, new - current)
            ok = self._accept(new - current)
            self.base = np.where(ok, proposal, self.base)
            current = np.where(ok, new, current)
        self.a, self.b = beta_parameters(*self.base)

    def _base_log_density(self, base: FloatArray) -> FloatArray:
        """Log density of (logit m, logit r), shape (2, C), given the allocations."""
        # Beta(one, two) density times the Jacobian of the logit
        one, both = self._exponents
        value = (one * base - both * np.logaddexp(0.0, base)).sum(axis=0)
        value += self._log_gammas.of_counts(*beta_parameters(*base))
        inside = ((base > LOGIT_BASE[0]) & (base < LOGIT_BASE[1])).all(axis=0)
        return np.where(inside, value, -np.inf)

    def _move_alpha(self) -> None:
        """Choose alpha among its value and draws from its prior, V integrated out.

        The target is flat or sharp from one data set to the next; candidates all over the prior
        serve both, and choosing in proportion to the density needs no step size.
        """
        low, high = self._alpha_bounds
        candidates = self.rng.uniform(low, high, (_CANDIDATES, len(self.a)))
        candidates[0] = self.log_alpha
        alpha = np.exp(candidates)
        after = self._remaining()
        before = after + self.taken[0]
        value = (
            before.shape[1] * candidates
            - np.log(alpha[:, :, None] + before).sum(axis=2)
            + gammaln(alpha + after[:, -1])
            - gammaln(alpha + before[:, 0])
        )
        chosen = np.argmax(value + self.rng.gumbel(size=value.shape), axis=0)
        self.log_alpha = candidates[chosen, np.arange(len(chosen))]

    def _draw_sticks_and_atoms(self) -> None:
        n, s, f = self.taken
        alpha = np.exp(self.log_alpha)[:, None]
        first = np.array([1.0 + n, self.a[:, None] + s])
        second = np.array([alpha + self._remaining(), self.b[:, None] + f])
        log_x, log_1x = log_beta_draw(first, second, self.rng)
        self.log_v, self.log_phi = log_x
        self.log_1v, self.log_1phi = log_1x
        self.log_w = log_stick_weights(self.log_v, self.log_1v)

    # -- pieces -------------------------------------------------------------------------------

    def _remaining(self) -> FloatArray:
        """Prompts on later sticks or in the remainder, for each stick."""
        return np.asarray(self.n.sum(axis=1)[:, None] - np.cumsum(self.taken[0], axis=1))

    def _allowed(self, log_alpha: FloatArray) -> NDArray[np.bool_]:
        low, high = self._alpha_bounds
        return np.asarray((log_alpha > low) & (log_alpha < high))

    def _accept(self, log_ratio: FloatArray) -> NDArray[np.bool_]:
        return np.asarray(-self.rng.standard_exponential(log_ratio.shape) < log_ratio)

    def _adapt(self, which: int, log_ratio: FloatArray) -> None:
        if self.adapting > 0:
            rate = np.exp(np.minimum(log_ratio, 0.0))
            self.log_step[:, which] += self.adapting * (rate - _ACCEPT)
