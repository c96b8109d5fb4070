"""State of the Gibbs sampler of the Beta-centred Dirichlet process, and its moves.

All chains move in one set of array operations: axis 0 is always the chain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit, gammaln, log_expit

from pcorrect.cells import Cells
from pcorrect.priors import Priors

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# r = sigma / sqrt(mu (1 - mu)) is kept above this: with a + b > 1e10 differences of log-gammas lose
# their digits, and no data set can tell such a spread from none.
_MIN_LOGIT = -11.5
_MAX_LOGIT = 40.0


def log_gamma_draw(shape: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log of standard gamma draws, right also where the draw itself underflows (small shapes)."""
    return np.asarray(
        np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(shape.shape) / shape
    )


def log_beta_draw(
    a: FloatArray, b: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw x ~ Beta(a, b) and return (log x, log(1 - x)), both exact in the tails."""
    x, y = log_gamma_draw(np.stack([a, b]), rng)
    total = np.logaddexp(x, y)
    return x - total, y - total


def beta_parameters(logit_m: FloatArray, logit_r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(a, b) of the Beta with mean m and spread r (see `pcorrect.priors`)."""
    r = expit(logit_r)
    nu = expit(-logit_r) * (1 + r) / r**2
    return expit(logit_m) * nu, expit(-logit_m) * nu


class Chains:
    """C chains of the model, each with T sticks.

    Parameters
    ----------
    cells : Cells
        Without pairs of k = 0.
    priors : Priors
    rng : numpy.random.Generator
    logit_m, logit_r, log_alpha : ndarray, shape (C,)
    log_v, log_1v, log_phi, log_1phi : ndarray, shape (C, T)
        Logs of the stick fractions V and the atoms, and of one minus them.
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
        self.priors, self.rng = priors, rng
        self.s = cells.n_correct.astype(float)
        self.f = (cells.n_generations - cells.n_correct).astype(float)
        self.n = cells.n_prompts
        self.counts = np.stack([np.ones(len(self.s)), self.s, self.f])
        self.logit_m, self.logit_r = base
        self.log_alpha = log_alpha
        self.log_v, self.log_1v = sticks
        self.log_phi, self.log_1phi = atoms
        self.a, self.b = beta_parameters(self.logit_m, self.logit_r)
        self.log_alpha_bounds = np.log(np.array(priors.alpha))
        #: Step sizes, adapted in warm-up only: base given allocations, alpha given sticks' shares.
        self.log_step = np.zeros((2, len(log_alpha)))
        self.adapting = 0.0
        self.rest = np.zeros((len(log_alpha), len(self.s)), dtype=np.int64)
        self.taken = np.zeros((3, *self.log_v.shape))

    # -- weights and likelihood -------------------------------------------------------------

    def log_weights(self) -> FloatArray:
        """Log shares, shape (C, 1 + T): the Beta remainder first, then the atoms."""
        return _log_weights(self.log_v, self.log_1v)

    def rest_log_lik(self) -> FloatArray:
        """Log probability (no binomial coefficient) of each cell under Beta(a, b), shape (C, M)."""
        a, b = self.a[:, None], self.b[:, None]
        return np.asarray(betaln(a + self.s, b + self.f) - betaln(a, b))

    def likelihood(self) -> FloatArray:
        """Probability of each cell under each part, scaled by its largest; shape (C, M, 1 + T)."""
        both = np.stack([self.log_phi, self.log_1phi], axis=1)
        value = np.concatenate(
            [self.rest_log_lik()[:, :, None], np.stack([self.s, self.f], axis=1) @ both], axis=2
        )
        value -= value.max(axis=2, keepdims=True)
        return np.asarray(np.exp(value, out=value))

    # -- one sweep ---------------------------------------------------------------------------

    def sweep(self) -> None:
        """Update everything once."""
        lik = self.likelihood()
        self._move_alpha_and_sticks(lik)
        self._allocate(lik)
        self._swap_labels()
        self._move_base()
        self._move_alpha()
        self._draw_sticks_and_atoms()

    def _accept(self, log_ratio: FloatArray, which: int | None, target: float = 0.35) -> FloatArray:
        ok = np.log(self.rng.random(log_ratio.shape)) < log_ratio
        if which is not None and self.adapting > 0:
            rate = np.exp(np.minimum(log_ratio, 0.0))
            self.log_step[which] += self.adapting * (rate - target)
        return np.asarray(ok)

    def _move_alpha_and_sticks(self, lik: FloatArray) -> None:
        """Metropolis on alpha with the sticks' quantiles held fixed, allocations integrated out.

        With V = 1 - U**(1 / alpha) the sticks move along with alpha: big moves where the data say
        little about the weights, which is where alpha given the weights crawls.
        """
        low, high = self.log_alpha_bounds
        current = None
        for _ in range(2):
            if current is None:
                current = self._mixture_log_lik(lik, self.log_weights())
            step = np.exp(self.log_step[1]) * self.rng.standard_normal(len(self.a))
            proposal = self.log_alpha + step
            log_1v = self.log_1v * np.exp(self.log_alpha - proposal)[:, None]
            log_v = np.log(-np.expm1(log_1v))
            new = self._mixture_log_lik(lik, _log_weights(log_v, log_1v))
            inside = (proposal > low) & (proposal < high)
            ok = self._accept(np.where(inside, new - current, -np.inf), 1)
            self.log_alpha = np.where(ok, proposal, self.log_alpha)
            self.log_1v = np.where(ok[:, None], log_1v, self.log_1v)
            self.log_v = np.where(ok[:, None], log_v, self.log_v)
            current = np.where(ok, new, current)

    def _mixture_log_lik(self, lik: FloatArray, log_weights: FloatArray) -> FloatArray:
        marginal = (lik @ np.exp(log_weights)[:, :, None])[:, :, 0]
        return np.asarray(np.sum(np.log(np.maximum(marginal, 1e-300)) * self.n, axis=1))

    def _allocate(self, lik: FloatArray) -> None:
        """Draw how many prompts of each cell belong to each part."""
        share = lik * np.exp(self.log_weights())[:, None, :]
        share /= share.sum(axis=2, keepdims=True)
        chosen = self.rng.multinomial(np.broadcast_to(self.n, share.shape[:2]), share)
        self.rest = chosen[:, :, 0]
        # Prompts, correct and wrong generations of each atom: (3, C, T)
        self.taken = np.moveaxis(self.counts @ chosen[:, :, 1:], 1, 0)

    def _swap_labels(self) -> None:
        """Exchange sticks: without it big atoms stay on late sticks and alpha is misled.

        Random pairs given the weights; then neighbours with V integrated out.
        """
        chains, sticks = self.log_v.shape
        row = np.arange(chains)[:, None]
        half = sticks // 2
        pairs = self.rng.permuted(np.tile(np.arange(sticks), (chains, 1)), axis=1)
        one, two = pairs[:, :half], pairs[:, half : 2 * half]
        log_w = self.log_weights()[:, 1:]
        n = self.taken[0]
        log_ratio = (log_w[row, one] - log_w[row, two]) * (n[row, two] - n[row, one])
        self._swap(row, one, two, log_ratio)
        alpha = np.exp(self.log_alpha)[:, None]
        n_rest = self.rest.sum(axis=1)[:, None]
        for first in (0, 1):
            one = np.broadcast_to(np.arange(first, sticks - 1, 2), (chains, (sticks - first) // 2))
            two = one + 1
            n = self.taken[0]
            after = _remaining(n, n_rest)
            beyond = alpha + after[row, two]
            log_ratio = np.log(beyond + n[row, two]) - np.log(beyond + n[row, one])
            self._swap(row, one, two, log_ratio)

    def _swap(self, row: IntArray, one: IntArray, two: IntArray, log_ratio: FloatArray) -> None:
        ok = np.log(self.rng.random(log_ratio.shape)) < log_ratio
        first, second = self.taken[:, row, one], self.taken[:, row, two]
        self.taken[:, row, one] = np.where(ok, second, first)
        self.taken[:, row, two] = np.where(ok, first, second)

    def _base_log_density(self, logit_m: FloatArray, logit_r: FloatArray) -> FloatArray:
        """Log density of (logit m, logit r) given the allocations, atoms integrated out."""
        a, b = (x[:, None] for x in beta_parameters(logit_m, logit_r))
        n, s, f = self.taken
        value = np.sum((betaln(a + s, b + f) - betaln(a, b)) * (n > 0), axis=1) + np.sum(
            (betaln(a + self.s, b + self.f) - betaln(a, b)) * self.rest, axis=1
        )
        for x, (one, two) in ((logit_m, self.priors.mu), (logit_r, self.priors.spread)):
            value = value + one * log_expit(x) + two * log_expit(-x)
        inside = (np.abs(logit_m) < _MAX_LOGIT) & (logit_r > _MIN_LOGIT) & (logit_r < _MAX_LOGIT)
        return np.where(inside, value, -np.inf)

    def _move_base(self, times: int = 3) -> None:
        """Metropolis on (m, r) given the allocations.

        The number of things that (m, r) is seen through (occupied atoms and prompts of the
        remainder) is fixed here and sets the scale of the steps.
        """
        units = np.sum(self.taken[0] > 0, axis=1) + self.rest.sum(axis=1)
        scale = np.exp(self.log_step[0]) / np.sqrt(1.0 + units)
        current = self._base_log_density(self.logit_m, self.logit_r)
        for _ in range(times):
            step = self.rng.standard_normal((2, len(units))) * scale
            logit_m, logit_r = self.logit_m + step[0], self.logit_r + step[1]
            new = self._base_log_density(logit_m, logit_r)
            ok = self._accept(new - current, 0)
            self.logit_m = np.where(ok, logit_m, self.logit_m)
            self.logit_r = np.where(ok, logit_r, self.logit_r)
            current = np.where(ok, new, current)
        self.a, self.b = beta_parameters(self.logit_m, self.logit_r)

    def _alpha_log_density(self, log_alpha: FloatArray) -> FloatArray:
        """Log density of log alpha given how many prompts each stick has, V integrated out."""
        low, high = self.log_alpha_bounds
        alpha = np.exp(log_alpha)
        n_rest = self.rest.sum(axis=1)
        after = _remaining(self.taken[0], n_rest[:, None])
        before = after + self.taken[0]
        value = (
            before.shape[1] * log_alpha
            - np.sum(np.log(alpha[:, None] + before), axis=1)
            + gammaln(alpha + n_rest)
            - gammaln(alpha + before[:, 0])
        )
        return np.where((log_alpha > low) & (log_alpha < high), value, -np.inf)

    def _move_alpha(self, times: int = 2) -> None:
        current = self._alpha_log_density(self.log_alpha)
        for _ in range(times):
            # Steps of very different size: the target is sometimes flat, sometimes sharp.
            size = np.exp(self.rng.uniform(np.log(0.1), np.log(3.0), len(current)))
            proposal = self.log_alpha + size * self.rng.standard_normal(len(current))
            new = self._alpha_log_density(proposal)
            ok = self._accept(new - current, None)
            self.log_alpha = np.where(ok, proposal, self.log_alpha)
            current = np.where(ok, new, current)

    def _draw_sticks_and_atoms(self) -> None:
        n, s, f = self.taken
        n_rest = self.rest.sum(axis=1)[:, None]
        alpha = np.exp(self.log_alpha)[:, None]
        first = np.stack([1.0 + n, self.a[:, None] + s])
        second = np.stack([alpha + _remaining(n, n_rest), self.b[:, None] + f])
        log_x, log_1x = log_beta_draw(first, second, self.rng)
        self.log_v, self.log_phi = log_x
        self.log_1v, self.log_1phi = log_1x


def _log_weights(log_v: FloatArray, log_1v: FloatArray) -> FloatArray:
    left = np.cumsum(log_1v, axis=1)
    return np.concatenate([left[:, -1:], log_v[:, :1], log_v[:, 1:] + left[:, :-1]], axis=1)


def _remaining(n: FloatArray, n_rest: IntArray) -> FloatArray:
    """Prompts on later sticks or in the remainder, for each stick."""
    return np.asarray(np.cumsum(n[:, ::-1], axis=1)[:, ::-1] - n + n_rest)
