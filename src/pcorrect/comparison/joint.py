r"""The joint population of (p_A, p_B): each llm's own population, joined by a Gaussian copula.

The margins are what `pcorrect.fit` finds for each llm (whatever its model: a Beta, a Dirichlet
process, a user's program), as posterior mean populations F_A and F_B; the dependence is one number,
the copula's correlation omega, with a flat prior on (-1, 1). With :math:`z = \Phi^{-1}(F(p))` the
joint density is :math:`f_A(p_A) f_B(p_B)\, c_\omega(z_A, z_B)`, so that

.. math::

    p(p_A, p_B \mid s_i) \propto p(s_{Ai} \mid p_A)\, p(s_{Bi} \mid p_B)\, f_A f_B\, c_\omega,
    \qquad
    L(\omega) = \prod_i E[c_\omega(z_A, z_B) \mid s_{Ai}, s_{Bi}]

where the expectation is over the two separate posteriors of the prompt. Each population is cut into
about two hundred pieces, which makes everything a finite sum: no Markov chain, nothing to converge.

omega is learned under the mean populations; what is said of single prompts is averaged over draws
of the populations and of omega.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtri, xlog1py, xlogy

from pcorrect.cells import Cells
from pcorrect.fitting import Fit
from pcorrect.marginal import FloatArray
from pcorrect.populations.population import Population

# A population is cut at equal steps of probability, and of arcsin(sqrt(p)), in which binomial noise
# has the same size everywhere: the first keeps bulk and atoms, the second tails.
_STEPS = 96
_OMEGAS = 41
_HERMITE = 24
_LIMIT = 0.995
# Draws of (F_A, F_B, omega) that statements about single prompts are averaged over: at even steps
# of each, in random order.
_LEVELS = 48


View = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class Nodes:
    """A population as G pieces, and what the counts of its llm say about them.

    Parameters
    ----------
    p, z, mass : ndarray, shape (G,)
        Median of each piece, its normal score, and its share of the population.
    posterior : ndarray, shape (m, G)
        Probability of each piece given the counts of cell 0 … m - 1.
    of_prompt : ndarray, shape (n,)
        The cell of each prompt.
    hermite : ndarray
        Coefficients of p(z) in normalised Hermite polynomials of degree 1, 2 and on.
    draws : tuple of (z, mass, posterior)
        The same under single draws of the population.
    """

    p: FloatArray
    z: FloatArray
    mass: FloatArray
    posterior: FloatArray
    of_prompt: NDArray[np.intp]
    hermite: FloatArray
    draws: tuple[View, ...]


@dataclass(frozen=True)
class Coupling:
    """Posterior of the pairs (p_A, p_B) of two llms on the same prompts.

    Parameters
    ----------
    omega, weight : ndarray, shape (R,)
        Nodes of the copula's correlation and their posterior probabilities.
    a, b : Nodes
    correlation : ndarray, shape (R,)
        Correlation of p_A and p_B in the population at each node.
    same : bool
        Whether both llms have the same counts.
    """

    omega: FloatArray
    weight: FloatArray
    a: Nodes
    b: Nodes
    correlation: FloatArray
    same: bool = False

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The distinct pairs of counts, shape (C, 2), and which of them each prompt has, (n,)."""
        both = np.stack([self.a.of_prompt, self.b.of_prompt], axis=1)
        rows, of_prompt = np.unique(both, axis=0, return_inverse=True)
        return rows.astype(np.intp), of_prompt.ravel()

    def pair_weights(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Values of p_A (G,) and p_B (H,), and probabilities (G, H), for each of `pairs`."""
        omega = self._omega_at((np.arange(_LEVELS) + 0.5) / _LEVELS)
        kernels = [
            copula_kernel(float(o), x[:2], y[:2])
            for o, x, y in zip(omega, self.a.draws, self.b.draws, strict=True)
        ]
        for i, j in self.pairs()[0]:
            rows = _likely([view[2][i] for view in self.a.draws])
            columns = _likely([view[2][j] for view in self.b.draws])
            total = np.zeros((len(rows), len(columns)))
            for kernel, a, b in zip(kernels, self.a.draws, self.b.draws, strict=True):
                joint = np.outer(a[2][i, rows], b[2][j, columns]) * kernel[np.ix_(rows, columns)]
                total += joint / max(float(joint.sum()), 1e-300)
            if self.same:
                # equal counts: neither llm is better, whatever the draws
                total = (total + total.T) / 2
            yield self.a.p[rows], self.b.p[columns], total / total.sum()

    def _omega_at(self, level: FloatArray) -> FloatArray:
        """Quantiles of omega: each node spreads over its cell of atanh omega."""
        angle = np.arctanh(self.omega)
        half = (angle[1] - angle[0]) / 2
        edge = np.tanh(np.concatenate([[angle[0] - half], angle + half]))
        cdf = np.concatenate([[0.0], np.cumsum(self.weight)])
        return np.asarray(np.interp(level, cdf / cdf[-1], edge))

    def correlation_draws(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Draws of the correlation of difficulty, shape (draws,)."""
        omega = self._omega_at(rng.random(draws))
        return np.asarray(np.interp(omega, self.omega, self.correlation))


def copula_density(omega: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Density of the Gaussian copula at normal scores x and y."""
    rest = 1 - omega**2
    exponent = (2 * omega * x * y - omega**2 * (x**2 + y**2)) / (2 * rest)
    return np.asarray(np.exp(exponent) / np.sqrt(rest))


def copula_kernel(
    omega: float, a: tuple[FloatArray, FloatArray], b: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Copula density between pieces (z, mass) of two populations, margins kept exactly.

    The density at the middle of the pieces does not quite integrate to 1 over them, and the n-th
    power of that enters the likelihood: rows and columns are scaled until it does (Sinkhorn).
    """
    kernel = copula_density(omega, a[0][:, None], b[0][None, :])
    for _ in range(4):
        kernel /= np.maximum(kernel @ b[1], 1e-300)[:, None]
        kernel /= np.maximum(a[1] @ kernel, 1e-300)[None, :]
    return kernel


def _likely(posteriors: list[FloatArray]) -> NDArray[np.intp]:
    """Pieces that hold all but about 1e-6 of the probability under any of the posteriors."""
    return np.flatnonzero(np.max(posteriors, axis=0) > 1e-8)


def couple(fit_a: Fit, fit_b: Fit, rng: np.random.Generator) -> Coupling:
    """Join the fits of two llms on the same prompts in the same order."""
    same = fit_a.model == fit_b.model and all(
        np.array_equal(getattr(fit_a.counts, name), getattr(fit_b.counts, name))
        for name in ("n_correct", "n_generations")
    )
    a = _nodes(fit_a, rng)
    if same:
        b = replace(a, draws=tuple(a.draws[i] for i in rng.permutation(_LEVELS)))
    else:
        b = _nodes(fit_b, rng)
    omega, weight = _omega_posterior(a, b)
    power = omega[:, None] ** np.arange(1, _HERMITE + 1)
    scale = np.sqrt(np.sum(a.hermite**2) * np.sum(b.hermite**2))
    # Mehler's formula: corr(p_A(z), p_B(z')) where corr(z, z') = omega
    correlation = power @ (a.hermite * b.hermite) / max(float(scale), 1e-300)
    return Coupling(omega, weight, a, b, correlation, same)


def _nodes(fit: Fit, rng: np.random.Generator) -> Nodes:
    sample = np.sort(_population_sample(fit, rng))
    size = len(sample)
    grid = np.sin(np.linspace(0, np.pi / 2, _STEPS + 1)) ** 2
    places = np.linspace(0, 1, _STEPS + 1), np.searchsorted(sample, grid[1:-1]) / size
    cuts = np.unique(np.round(np.concatenate(places) * size)) / size
    middle = (cuts[1:] + cuts[:-1]) / 2
    p = sample[np.minimum((middle * size).astype(np.intp), size - 1)]
    cells = Cells.from_counts(fit.counts.n_correct, fit.counts.n_generations)
    s, k = cells.n_correct[:, None], cells.n_generations[:, None]
    log_likelihood = xlogy(s, p) + xlog1py(k - s, -p)

    def under(mass: FloatArray, middle: FloatArray) -> View:
        with np.errstate(divide="ignore"):
            log = log_likelihood + np.log(mass)
        posterior = np.exp(log - log.max(axis=1, keepdims=True))
        z = np.asarray(ndtri(np.clip(middle, 1e-9, 1 - 1e-9)))
        return z, mass, posterior / posterior.sum(axis=1, keepdims=True)

    mean = under(np.diff(cuts), middle)
    draws = [mean] * _LEVELS
    if fit.population is not None:
        edge = (p[1:] + p[:-1]) / 2
        level = (np.arange(_LEVELS) + 0.5) / _LEVELS
        by_mean = np.argsort(fit.population.mean())
        steps = by_mean[(level * len(fit.population)).astype(np.intp)]
        chosen = fit.population.take(rng.permutation(steps))
        for d, below in enumerate(_distribution(chosen, edge)):
            ends = np.concatenate([[0.0], below, [1.0]])
            draws[d] = under(np.diff(ends), (ends[1:] + ends[:-1]) / 2)
    return Nodes(p, *mean, cells.of_prompt, _hermite(sample), tuple(draws))


def _distribution(population: Population, at: FloatArray) -> FloatArray:
    """P(p <= at) under each draw of a population, shape (D, len(at))."""
    rest = population.beta_weight[:, None] * betainc(
        population.a[:, None], population.b[:, None], at
    )
    atoms = [
        np.concatenate([[0.0], np.cumsum(w[order])])[np.searchsorted(a[order], at, side="right")]
        for w, a in zip(population.weight, population.atom, strict=True)
        for order in [np.argsort(a)]
    ]
    return np.asarray(np.minimum(rest + np.array(atoms), 1.0))


def _population_sample(fit: Fit, rng: np.random.Generator) -> FloatArray:
    """Draws of p of a new prompt; a program without a population lends those of its prompts."""
    if fit.population is not None:
        return fit.population.draw_new(8, rng).ravel()
    p = fit.prompts.draws(rng).ravel()
    return rng.choice(p, size=min(len(p), 40_000), replace=False)


def _omega_posterior(a: Nodes, b: Nodes) -> tuple[FloatArray, FloatArray]:
    """Nodes and posterior probabilities of omega; the nodes are moved to where the mass is."""
    pairs, times = np.unique(
        np.stack([a.of_prompt, b.of_prompt], axis=1), axis=0, return_counts=True
    )

    def log_likelihood(omega: float) -> float:
        kernel = copula_kernel(omega, (a.z, a.mass), (b.z, b.mass))
        mean = a.posterior @ kernel @ b.posterior.T
        return float(times @ np.log(np.maximum(mean[pairs[:, 0], pairs[:, 1]], 1e-300)))

    low = high = np.arctanh(_LIMIT)
    low = -low
    while True:
        # Equal steps of atanh omega: steps of omega shrink towards the ends.
        angle = np.linspace(low, high, _OMEGAS)
        omega = np.tanh(angle)
        # flat in omega: the Jacobian of atanh
        value = np.array([log_likelihood(o) for o in omega]) + np.log1p(-(omega**2))
        weight = np.exp(value - value.max())
        weight /= weight.sum()
        inside = np.flatnonzero(weight > 1e-5)
        if inside[-1] - inside[0] > _OMEGAS / 3:
            return omega, weight
        low = angle[max(inside[0] - 1, 0)]
        high = angle[min(inside[-1] + 1, _OMEGAS - 1)]


def _hermite(population: FloatArray) -> FloatArray:
    """Coefficients of p(z) in normalised Hermite polynomials of degree 1, 2 and on."""
    prob = (np.arange(4000) + 0.5) / 4000
    z, p = ndtri(prob), np.quantile(population, prob)
    previous, current = np.zeros_like(z), np.ones_like(z)
    out = np.empty(_HERMITE)
    for m in range(_HERMITE):
        previous, current = current, (z * current - np.sqrt(m) * previous) / np.sqrt(m + 1)
        out[m] = np.mean(p * current)
    return out
