"""The posterior of (mu, r) on a grid of weighted nodes, and what follows from it exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import betainc, betaln, expit, logit, sici, xlog1py, xlogy

from pcorrect.cells import Cells
from pcorrect.marginal import Marginal
from pcorrect.populations.beta import FloatArray, Shape

# Nodes lighter than this are left out of distribution functions, not out of moments.
_NEGLIGIBLE = 1e-11
# Benchmarks up to this many prompts: the shape of the score's posterior is drawn.
_FEW = 50


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

    @cached_property
    def _fine(self) -> tuple[Shape, FloatArray]:
        """Nodes dense enough to be mixture components, and their weights.

        A distribution function that is a mixture over nodes has steps where its components are
        narrower than their distance: as rho tends to 0 every p_i becomes mu itself. The weights
        vanish at the edges, so padding their Fourier transform interpolates them to rounding.
        """
        axes, weight = [], self.weight
        for d, (axis, finest) in enumerate(((self.logit_mu, 0.08), (self.logit_r, 0.25))):
            marginal = self.weight.sum(axis=1 - d)
            sd = float(np.sqrt(marginal @ (axis - marginal @ axis) ** 2))
            step = axis[1] - axis[0]
            factor = max(1, int(np.ceil(step / (finest * min(sd, 1.0)))))
            size = factor * len(axis)
            weight = np.fft.irfft(np.fft.rfft(weight, axis=d), size, axis=d)
            axes.append(axis[0] + step / factor * np.arange(size))
        i, j = np.nonzero(weight > 1e-8 * weight.max())
        return Shape(axes[0][i], axes[1][j]), weight[i, j] / weight[i, j].sum()

    def score(self, cells: Cells, rng: np.random.Generator) -> Marginal:
        """Posterior of the score of this benchmark, mean(p_i).

        Given (mu, rho) the p_i are independent Betas; mean and variance of their mean are exact.
        Its shape for more than 50 prompts is taken as the Beta with these two moments, normal to
        O(1/n). For fewer it is drawn, since a single U-shaped p_i can bend it: 50,000 draws put an
        error of 7e-4 on either tail of a 95 % interval.
        """
        n = len(cells.of_prompt)
        shape, weight = self.heaviest(1e-10)
        m, v = score_moments(cells, shape)
        mean = float(weight @ m)
        sd = float(np.sqrt(weight @ (v + (m - mean) ** 2)))
        shape, weight = self._fine
        if n <= _FEW:
            node = rng.choice(len(weight), size=50_000, p=weight)
            a, b = (x[node] for x in shape.ab)
            s_of, k_of = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
            total = np.zeros(len(a))
            for s, k in zip(s_of, k_of, strict=True):
                total += rng.beta(s + a, k - s + b)
            return Marginal.from_draws(total / n).summarised(mean, sd)
        m, v, weight = _merge(*score_moments(cells, shape), weight, rows=60, columns=4)
        a, b = (x[:, None] for x in _beta_shapes(m, v))
        bounds = (max(mean - 14 * sd, 0.0), min(mean + 14 * sd, 1.0))
        return Marginal.from_cdf(lambda x: weight @ betainc(a, b, x), bounds, mean=mean, sd=sd)

    def p_moments(self, cells: Cells) -> tuple[FloatArray, FloatArray]:
        """Mean and sd of p given the data for a prompt of each cell, shape (m,)."""
        shape, weight = self.heaviest(1e-12)
        mean, second = np.empty(len(cells.n_correct)), np.empty(len(cells.n_correct))
        for i, (s, k) in enumerate(zip(cells.n_correct, cells.n_generations, strict=True)):
            scale = k * shape.theta + 1
            m = (s * shape.theta + shape.mu) / scale
            rest = ((k - s) * shape.theta + shape.one_minus_mu) / scale
            mean[i] = weight @ m
            second[i] = weight @ (
                m * rest * shape.theta / (scale + shape.theta) + (m - mean[i]) ** 2
            )
        return mean, np.sqrt(second)

    def p_quantiles(self, cells: Cells, prob: FloatArray) -> FloatArray:
        """Quantiles of p given the data for a prompt of each cell, shape (m, q).

        Newton steps inside a bracket, on the mixture of Beta(s + a, k - s + b) over the nodes,
        neighbours merged.

        Parameters
        ----------
        cells : Cells
        prob : ndarray, shape (q,) or (m, q)
            The same levels for all cells, or levels of their own.
        """
        shape, weight = self._fine
        prob = np.broadcast_to(prob, (len(cells.n_correct), prob.shape[-1]))
        out = np.empty(prob.shape)
        for i, (s, k) in enumerate(zip(cells.n_correct, cells.n_generations, strict=True)):
            scale = k * shape.theta + 1
            m = (s * shape.theta + shape.mu) / scale
            rest = ((k - s) * shape.theta + shape.one_minus_mu) / scale
            v = m * rest * shape.theta / (scale + shape.theta)
            # The fewer generations, the more p depends on the population's own shape.
            mean, variance, mass = _merge(m, v, weight, rows=60, columns=10 + 60 // (k + 1))
            out[i] = _mixture_quantile(*_beta_shapes(mean, variance), mass, prob[i])
        return out

    def draws(
        self, size: int, log_density: Callable[[Shape], FloatArray], rng: np.random.Generator
    ) -> Shape:
        """Independent draws of (mu, r).

        Nodes are drawn by weight, jittered over their cell, and accepted by the exact density at
        the jittered point (rejection sampling), so that the draws do not stand on a lattice.
        """
        steps = np.array([self.logit_mu[1] - self.logit_mu[0], self.logit_r[1] - self.logit_r[0]])
        flat = self.weight.ravel()
        kept: list[FloatArray] = []
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


def _sinc_cdf(u: FloatArray) -> FloatArray:
    """Integral of sinc from -inf to u: the trapezoid rule's own interpolation, integrated."""
    return np.asarray(0.5 + sici(np.pi * u)[0] / np.pi)


def _beta_shapes(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Parameters of the Betas with these moments."""
    nu = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-12)
    return mean * nu, (1 - mean) * nu


def _mixture_quantile(
    a: FloatArray, b: FloatArray, weight: FloatArray, prob: FloatArray
) -> FloatArray:
    """Solve sum weight * betainc(a, b, p) = prob for p, one for each of `prob`."""
    out = np.where(prob <= 0, 0.0, 1.0)
    # no step leads to the ends of the unit interval
    todo = np.flatnonzero((prob > 0) & (prob < 1))
    norm = betaln(a, b)
    low, high = np.full(len(todo), -80.0), np.full(len(todo), 40.0)
    u = np.full(len(todo), logit(np.clip(weight @ (a / (a + b)), 1e-15, 1 - 1e-15)))
    for _ in range(100):
        p = expit(u)[:, None]
        excess = betainc(a, b, p) @ weight - prob[todo]
        low, high = np.where(excess < 0, u, low), np.where(excess < 0, high, u)
        slope = np.exp(xlogy(a, p) + xlog1py(b, -p) - norm) @ weight
        step = excess / np.maximum(slope, 1e-300)
        inside = (u - step > low) & (u - step < high) & (np.abs(step) < 3)
        u = np.where(inside, u - step, (low + high) / 2)
        out[todo] = expit(u)
        left = np.where(inside, np.abs(step), high - low) >= 1e-6
        if not left.any():
            break
        todo, u, low, high = todo[left], u[left], low[left], high[left]
    return out


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
