r"""Exact engine: two-dimensional adaptive quadrature of the Beta-Bernoulli posterior.

The posterior of (logit mu, logit r) is smooth with exponential tails, so the trapezoid rule on a
uniform grid converges exponentially once the grid spans the mass. The grid is moved and scaled on
the posterior itself until nothing is left at its edges, then halved in spacing until the result
stands still; both are reported as the error. (A grid scaled once by an optimiser's curvature cuts
skewed posteriors off and looks fine: intervals then cover 80 % instead of 95 %.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, expit, log_expit, logit, sici

from pcorrect.cells import Cells
from pcorrect.errors import PcorrectError
from pcorrect.marginal import Marginal
from pcorrect.populations.beta import BetaBinomialLikelihood, FloatArray, Shape
from pcorrect.priors import Priors

# Grid points whose density is below exp(-LOG_DROP) of the mode carry < 1e-13 of the mass.
LOG_DROP = 34.0
_COARSE = 33
_FINEST = 513
# Nodes lighter than this are left out of distribution functions, not out of moments.
_NEGLIGIBLE = 1e-11


class QuadratureError(PcorrectError):
    """The quadrature did not reach its tolerance; `posterior` is the best grid that was reached."""

    def __init__(self, message: str, posterior: GridPosterior) -> None:
        super().__init__(message)
        self.posterior = posterior


@dataclass(frozen=True)
class GridPosterior:
    """Nodes and weights of the joint posterior of (mu, r).

    Parameters
    ----------
    logit_mu, logit_r : ndarray, shape (g,), (h,)
        Uniform grids.
    weight : ndarray, shape (g, h)
        Posterior probability of each node; sums to 1.
    log_evidence : float
        Log marginal likelihood of the counts.
    error : float
        Largest change, in posterior standard deviations, of the means and standard deviations of
        mu and sigma when the spacing was last halved, plus the density left at the edges.
    """

    logit_mu: FloatArray
    logit_r: FloatArray
    weight: FloatArray
    log_evidence: float
    error: float

    @property
    def shape(self) -> Shape:
        """The nodes as points of the parameter space, arrays of shape (g, h)."""
        return Shape(*np.broadcast_arrays(self.logit_mu[:, None], self.logit_r[None, :]))

    def heaviest(self, tail: float) -> tuple[Shape, FloatArray]:
        """The nodes that hold all but `tail` of the mass, and their weights (renormalised)."""
        flat = self.weight.ravel()
        order = np.argsort(flat)[::-1]
        keep = order[: int(np.searchsorted(np.cumsum(flat[order]), 1 - tail)) + 1]
        i, j = np.unravel_index(keep, self.weight.shape)
        return Shape(self.logit_mu[i], self.logit_r[j]), flat[keep] / flat[keep].sum()

    def mean(self, value: FloatArray) -> float:
        """Posterior mean of a function given at the nodes."""
        return float(np.sum(self.weight * value))

    def mu(self) -> Marginal:
        """Posterior of the population mean."""
        return self._axis(self.logit_mu, self.weight.sum(axis=1), self.shape.mu, 1)

    def rho(self) -> Marginal:
        """Posterior of the intra-class correlation."""
        return self._axis(self.logit_r, self.weight.sum(axis=0), self.shape.rho, 2)

    def _axis(
        self, axis: FloatArray, weight: FloatArray, value: FloatArray, power: int
    ) -> Marginal:
        """Posterior of ``expit(axis)**power``, whose values at the nodes are `value`."""
        mean, sd = self._moments(value)
        step = axis[1] - axis[0]
        keep = weight > _NEGLIGIBLE
        on_axis = Marginal.from_cdf(
            lambda x: _sinc_cdf((x[:, None] - axis[keep]) / step) @ weight[keep],
            (axis[0], axis[-1]),
            mean=mean,
            sd=sd,
        )
        return Marginal(expit(on_axis.value) ** power, on_axis.cdf, mean, sd)

    def _moments(self, value: FloatArray) -> tuple[float, float]:
        mean = self.mean(value)
        return mean, float(np.sqrt(self.mean((value - mean) ** 2)))

    def sigma(self) -> Marginal:
        """Posterior of the population standard deviation."""
        shape = self.shape
        mean, sd = self._moments(shape.sigma)
        bound = np.sqrt(shape.mu * shape.one_minus_mu)[:, 0]
        step = self.logit_r[1] - self.logit_r[0]
        rows = np.flatnonzero(self.weight.max(axis=1) > _NEGLIGIBLE)
        columns = [np.flatnonzero(self.weight[i] > _NEGLIGIBLE) for i in rows]

        def cdf(sigma: FloatArray) -> FloatArray:
            # P(sigma <= t) = sum over mu of P(r <= t / bound(mu))
            total = np.zeros(len(sigma))
            for i, j in zip(rows, columns, strict=True):
                limit = logit(np.clip(sigma / bound[i], 1e-300, 1 - 1e-16))
                total += _sinc_cdf((limit[:, None] - self.logit_r[j]) / step) @ self.weight[i, j]
            return total

        bounds = (max(mean - 12 * sd, 0.0), min(mean + 12 * sd, 0.5))
        return Marginal.from_cdf(cdf, bounds, mean=mean, sd=sd)

    def score(self, cells: Cells) -> Marginal:
        """Posterior of the score of this benchmark, mean(p_i).

        Given (mu, rho) the p_i are independent Betas. Mean and variance of their mean are exact;
        its shape is taken as the Beta with these two moments, which is exact for one prompt and
        normal to O(1/n) for many.
        """
        shape, weight = self.heaviest(1e-8)
        m, v = score_moments(cells, shape)
        mean = float(weight @ m)
        sd = float(np.sqrt(weight @ (v + (m - mean) ** 2)))
        # With many prompts the variance is nearly the same at all nodes, with one it is not.
        m, v, weight = _merge(m, v, weight, rows=40, columns=5 + 30 // len(cells.of_prompt))
        nu = np.maximum(m * (1 - m) / np.maximum(v, 1e-300) - 1, 1e-12)
        a, b = (m * nu)[:, None], ((1 - m) * nu)[:, None]
        bounds = (max(mean - 14 * sd, 0.0), min(mean + 14 * sd, 1.0))
        return Marginal.from_cdf(lambda x: weight @ betainc(a, b, x), bounds, mean=mean, sd=sd)

    def draws(self, size: int, log_density: LogDensity, rng: np.random.Generator) -> Shape:
        """Independent draws of (mu, r).

        Nodes are drawn by weight, jittered over their cell, and accepted by the exact density at
        the jittered point (rejection sampling), so that the draws do not stand on a lattice.
        """
        steps = np.array(
            [self.logit_mu[1] - self.logit_mu[0], self.logit_r[1] - self.logit_r[0]]
        )
        flat = self.weight.ravel()
        kept: list[NDArray[np.float64]] = []
        count, ceiling = 0, 0.0
        while count < size:
            node = rng.choice(len(flat), size=2 * size, p=flat)
            i, j = np.unravel_index(node, self.weight.shape)
            point = np.stack([self.logit_mu[i], self.logit_r[j]], axis=1)
            point += steps * (rng.random(point.shape) - 0.5)
            log_ratio = log_density(Shape(point[:, 0], point[:, 1])) - np.log(flat[node])
            # The envelope is the largest ratio seen, of at least 2 x size proposals.
            ceiling = max(ceiling, float(log_ratio.max())) if kept else float(log_ratio.max())
            accepted = point[np.log(rng.random(len(point))) < log_ratio - ceiling]
            kept.append(accepted)
            count += len(accepted)
        points = np.concatenate(kept)[:size]
        return Shape(points[:, 0], points[:, 1])


class LogDensity:
    """Unnormalised log posterior density in (logit mu, logit r)."""

    def __init__(self, cells: Cells, priors: Priors) -> None:
        self._likelihood = BetaBinomialLikelihood(cells)
        self._priors = priors

    def __call__(self, shape: Shape) -> FloatArray:
        """Log density at each point of `shape`."""
        value = self._likelihood.log_prob(shape)
        for x, (a, b) in (
            (shape.logit_mu, self._priors.mu),
            (shape.logit_r, self._priors.spread),
        ):
            # Beta(a, b) density times the Jacobian of the logit
            value = value + a * log_expit(x) + b * log_expit(-x) - betaln(a, b)
        return np.asarray(value)


def grid_posterior(
    log_density: LogDensity, *, tolerance: float = 1e-6, start: tuple[float, float] = (0.0, 0.0)
) -> GridPosterior:
    """Find the grid that holds the posterior and refine it until it stands still.

    Parameters
    ----------
    log_density : LogDensity
    tolerance : float
        Largest `error` (see `GridPosterior`) that is accepted.
    start : pair of float
        A point (logit mu, logit r) near the mode; it only saves time.

    Raises
    ------
    QuadratureError
        The tolerance was not reached on a grid of 513 x 513 nodes.
    """
    window = _find_window(log_density, start)
    size = _COARSE
    previous = _evaluate(log_density, window, size)
    while True:
        size = 2 * size - 1
        current = _evaluate(log_density, window, size)
        error = _difference(previous, current) + _edge_density(current.weight)
        current = GridPosterior(
            current.logit_mu, current.logit_r, current.weight, current.log_evidence, error
        )
        if error <= tolerance:
            return current
        if size >= _FINEST:
            raise QuadratureError(
                f"the quadrature error is {error:.1e} posterior sd, above the tolerance "
                f"{tolerance:.1e}: use engine='nuts', or pass a larger tolerance",
                current,
            )
        previous = current


Window = tuple[tuple[float, float], tuple[float, float]]


def _find_window(log_density: LogDensity, start: tuple[float, float]) -> Window:
    """Ranges of (logit mu, logit r) outside of which the density is below exp(-LOG_DROP)."""
    centre, half = np.array(start, float), np.array([4.0, 4.0])
    for _ in range(100):
        axes = [np.linspace(c - h, c + h, _COARSE) for c, h in zip(centre, half, strict=True)]
        value = log_density(Shape(*np.meshgrid(*axes, indexing="ij")))
        change = False
        for d, axis in enumerate(axes):
            profile = value.max(axis=1 - d)
            inside = np.flatnonzero(profile > profile.max() - LOG_DROP)
            first, last = int(inside[0]), int(inside[-1])
            # one spare node on either side of the mass
            low, high = axis[max(first - 1, 0)], axis[min(last + 1, _COARSE - 1)]
            if first == 0:
                low = axis[0] - half[d]
            if last == _COARSE - 1:
                high = axis[-1] + half[d]
            # A profile that is too narrow to be seen well: zoom in before trusting its edges.
            if first == 0 or last == _COARSE - 1 or high - low < 1.5 * half[d]:
                change = True
                centre[d], half[d] = (low + high) / 2, (high - low) / 2
        if not change:
            break
    return tuple((float(c - h), float(c + h)) for c, h in zip(centre, half, strict=True))  # type: ignore[return-value]


def _evaluate(log_density: LogDensity, window: Window, size: int) -> GridPosterior:
    x, z = (np.linspace(low, high, size) for low, high in window)
    value = log_density(Shape(*np.meshgrid(x, z, indexing="ij")))
    top = value.max()
    weight = np.exp(value - top)
    total = weight.sum()
    log_evidence = float(top + np.log(total * (x[1] - x[0]) * (z[1] - z[0])))
    return GridPosterior(x, z, weight / total, log_evidence, np.inf)


def _difference(one: GridPosterior, two: GridPosterior) -> float:
    """Largest change of mean and sd of mu and sigma, in posterior standard deviations."""
    worst = 0.0
    for name in ("mu", "sigma"):
        values = [getattr(g.shape, name) for g in (one, two)]
        means = [g.mean(v) for g, v in zip((one, two), values, strict=True)]
        sds = [
            np.sqrt(g.mean((v - m) ** 2))
            for g, v, m in zip((one, two), values, means, strict=True)
        ]
        worst = max(worst, abs(means[1] - means[0]) / sds[1], abs(sds[1] - sds[0]) / sds[1])
    return float(worst)


def _edge_density(weight: FloatArray) -> float:
    """Mass of the outermost nodes: what the tails beyond them hold, up to a small factor."""
    return float(
        max(weight[0].sum(), weight[-1].sum(), weight[:, 0].sum(), weight[:, -1].sum())
    )


def _sinc_cdf(u: FloatArray) -> FloatArray:
    """Integral of sinc from -inf to u: the trapezoid rule's own interpolation, integrated."""
    return np.asarray(0.5 + sici(np.pi * u)[0] / np.pi)


def _merge(
    m: FloatArray, v: FloatArray, weight: FloatArray, rows: int, columns: int
) -> tuple[FloatArray, ...]:
    """Merge mixture components of similar mean and variance, keeping the first two moments.

    They are cut into `rows` groups of equal weight by mean, then `columns` by variance.
    """
    order = np.argsort(m)
    row = np.minimum((np.cumsum(weight[order]) * rows).astype(int), rows - 1)
    order = order[np.lexsort((v[order], row))]
    m, v, weight = m[order], v[order], weight[order]
    position = np.cumsum(weight) * rows
    bins = np.minimum((position * columns).astype(int), rows * columns - 1)
    total = np.bincount(bins, weight, minlength=rows * columns)
    safe = np.where(total > 0, total, 1.0)
    centre = np.bincount(bins, weight * m, minlength=rows * columns) / safe
    spread = np.bincount(bins, weight * (v + (m - centre[bins]) ** 2), minlength=rows * columns)
    some = total > 0
    return centre[some], (spread / safe)[some], total[some]


def score_moments(cells: Cells, shape: Shape) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of mean(p_i) given the data, at each point of `shape` (1-D).

    Only sums over prompts of equal k are needed: of 1, s, k - s and s (k - s).
    """
    k, of_cell = np.unique(cells.n_generations, return_inverse=True)
    s, f = cells.n_correct.astype(float), (cells.n_generations - cells.n_correct).astype(float)
    n_prompts, n_correct, n_wrong, both = (
        np.bincount(of_cell, weights=cells.n_prompts * value)
        for value in (np.ones(len(s)), s, f, s * f)
    )
    mu, nu_mu, theta = shape.mu[:, None], shape.one_minus_mu[:, None], shape.theta[:, None]
    scale = k * theta + 1
    mean = (n_correct * theta + n_prompts * mu) / scale
    # sum of m (1 - m) with m = (s theta + mu) / scale, 1 - m = (f theta + 1 - mu) / scale
    product = both * theta**2 + (n_correct * nu_mu + n_wrong * mu) * theta + n_prompts * mu * nu_mu
    variance = product / scale**2 * theta / (scale + theta)
    return mean.sum(axis=1) / n_prompts.sum(), variance.sum(axis=1) / n_prompts.sum() ** 2
