r"""The logit-normal population: logit p_i ~ Normal(m, t), what logistic mixed models use.

It is parametrised by the pair (q, r) that has the meaning of (mu, sigma / sqrt(mu (1 - mu))) of the
Beta population, so that one prior serves both:

.. math::

    t = \frac{\pi}{\sqrt 3} \frac{r}{\sqrt{1 - r^2}}, \qquad
    m = \frac{\operatorname{logit} q}{\sqrt{1 - r^2}}

``r**2`` is the intra-class correlation on the latent scale, where a logistic error has the variance
pi**2 / 3 (Goldstein, Browne & Rasbash 2002, Understanding Statistics 1:223), and q is the mean of
the p_i up to the accuracy of the attenuation formula (Zeger, Liang & Albert 1988, Biometrics
44:1049; within .03). As r tends to 1 the population tends to mass near q at 1 and the rest at 0.

Integrals over the population are sums over a uniform grid of x = logit p. For an analytic
integrand the trapezoid rule converges exponentially once the spacing resolves it, wherever the
grid lies (Trefethen & Weideman 2014, SIAM Review 56:385).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit, ndtr

from pcorrect.cells import Cells
from pcorrect.populations.beta import FloatArray, Shape
from pcorrect.populations.population import Population

IntArray = NDArray[np.int64]

# Normal tails beyond this many standard deviations are left out (1e-15).
_REACH = 8.0
# Below this log probability a count is as impossible as floating-point numbers can say.
_SMALLEST = 1e-300
# Spacings of shared grids fall by this factor from one to the next.
_LADDER = 1.3


def location_scale(shape: Shape) -> tuple[FloatArray, FloatArray]:
    """Mean m and standard deviation t of logit p at points (logit q, logit r).

    Parameters
    ----------
    shape : Shape
        ``logit_mu`` is read as logit q.
    """
    # sqrt(1 - r**2) without cancellation
    rest = np.sqrt(expit(-shape.logit_r) * (1 + shape.r))
    return shape.logit_mu / rest, np.pi / np.sqrt(3) * shape.r / rest


def spacing(t: FloatArray | float, k_max: int) -> FloatArray:
    """Spacing of x that integrates a count of k_max generations over Normal(., t) to 1e-10.

    The integrand is close to a normal density of precision A = k / 4 + 1 / t**2 at its sharpest;
    the rule's error is 2 exp(-2 (pi / h)**2 / A). The poles of the logistic function at x = i pi
    limit h as well.
    """
    # 0.9 / sqrt(A), written so that neither a tiny nor a huge t overflows
    return np.asarray(
        np.minimum(0.9 / np.hypot(1 / np.maximum(t, 1e-300), np.sqrt(k_max) / 2), 0.8)
    )


def edge(k_max: int) -> float:
    """|x| beyond which p is 0 or 1 for every count of at most k_max generations (to 1e-11)."""
    return 25.0 + float(np.log1p(k_max))


class LogitNormalLikelihood:
    """log P(all counts | m, t), p_i integrated out, at many parameter points at once.

    Parameters
    ----------
    cells : Cells
    """

    def __init__(self, cells: Cells) -> None:
        s, k, n = cells.n_correct, cells.n_generations, cells.n_prompts
        self._counts = np.stack([s, k - s], axis=1).astype(float)
        self._n = n.astype(float)
        self._choose = gammaln(k + 1.0) - gammaln(s + 1.0) - gammaln(k - s + 1.0)
        self._k_max = int(k.max(initial=1))

    def log_prob(self, shape: Shape) -> FloatArray:
        """Log-likelihood at each point of `shape`, same array shape."""
        m, t = (np.ravel(x) for x in np.broadcast_arrays(*location_scale(shape)))
        out = np.empty(m.shape)
        for index, log_total, _ in self._sums(m, t, powers=0):
            out[index] = log_total @ self._n
        return out.reshape(np.broadcast(shape.logit_mu, shape.logit_r).shape)

    def score_moments(self, shape: Shape) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of mean(p_i) given the data, at each point of `shape` (1-D)."""
        m, t = location_scale(shape)
        mean, variance = np.empty(m.shape), np.empty(m.shape)
        for index, _, (first, second) in self._sums(m, t, powers=2):
            mean[index] = first @ self._n
            variance[index] = (second - first**2) @ self._n
        total = self._n.sum()
        return mean / total, np.maximum(variance, 0.0) / total**2

    def _sums(self, m: FloatArray, t: FloatArray, powers: int) -> Iterator[_Sums]:
        """Integrals over the population, some points at a time.

        Yields the points' indices, the log probability of each cell at each of them, and the
        moments 1 to `powers` of p given the cell; arrays of shape (points, cells).
        """
        # A population narrow against one prompt's likelihood has a grid of its own at each point;
        # the others share grids, and the sums become matrix products.
        width = t * np.sqrt(self._k_max + 4.0)
        # nearly a point: 5 Gauss-Hermite nodes leave (width / 2)**10
        point, narrow = width < 0.05, (width >= 0.05) & (width < 1)
        for here, rule in ((point, _gauss(5)), (narrow, _trapezoid(0.5))):
            step = max(1, 2_000_000 // (len(rule[0]) * len(self._n)))
            for index in _blocks(here, step):
                yield index, *self._own_grid(m[index], t[index], rule, powers)
        rung = np.floor(np.log(0.8 / spacing(t, self._k_max)) / np.log(_LADDER)) + 1
        for number in np.unique(rung[width >= 1]):
            here = (width >= 1) & (rung == number)
            x, h = self._shared_grid(m[here], t[here], 0.8 * _LADDER**-number)
            prob = np.exp(self._binomial(x))
            for index in _blocks(here, max(1, 2_000_000 // (len(x) + len(self._n)))):
                weight = _grid_weights(x, h, m[index], t[index])
                total = np.maximum(weight @ prob.T, _SMALLEST)
                p = expit(x)
                moments = [weight @ (prob * p**i).T / total for i in range(1, powers + 1)]
                yield index, np.log(total), moments

    def _binomial(self, x: FloatArray) -> FloatArray:
        """Log probability of each cell at logit p = x: shape (m, ...)."""
        value = np.tensordot(self._counts, np.stack([log_expit(x), log_expit(-x)]), axes=1)
        return np.asarray(value + self._choose.reshape(-1, *[1] * x.ndim))

    def _own_grid(
        self, m: FloatArray, t: FloatArray, rule: tuple[FloatArray, FloatArray], powers: int
    ) -> tuple[FloatArray, list[FloatArray]]:
        z, weight = rule
        x = m[:, None] + t[:, None] * z
        value = self._binomial(x)
        top = value.max(axis=2, keepdims=True)
        prob = np.exp(value - top)
        total = prob @ weight
        moments = [((prob * expit(x) ** i) @ weight / total).T for i in range(1, powers + 1)]
        return (np.log(total) + top[:, :, 0]).T, moments

    def _shared_grid(self, m: FloatArray, t: FloatArray, h: float) -> tuple[FloatArray, float]:
        far = edge(self._k_max)
        low = max(float(np.min(m - _REACH * t)), -far)
        high = min(float(np.max(m + _REACH * t)), far)
        low, high = min(low, far - h), max(high, h - far)
        return h * np.arange(np.floor(low / h), np.ceil(high / h) + 1), h


_Sums = tuple[NDArray[np.intp], FloatArray, list[FloatArray]]


def _blocks(here: NDArray[np.bool_], step: int) -> Iterator[NDArray[np.intp]]:
    index = np.flatnonzero(here)
    for i in range(0, len(index), step):
        yield index[i : i + step]


def _gauss(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a standard normal, by Gauss and Hermite."""
    z, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return z, weight / weight.sum()


def _trapezoid(h: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of a standard normal, equally spaced."""
    z = np.arange(-_REACH, _REACH + h / 2, h)
    return z, h * _density(z)


def _grid_weights(x: FloatArray, h: float, m: FloatArray, t: FloatArray) -> FloatArray:
    """Weights of Normal(m, t) on the uniform grid x of spacing h, its tails lumped at the ends.

    Parameters
    ----------
    x : ndarray, shape (J,)
    h : float
    m, t : ndarray, shape (G,)

    Returns
    -------
    ndarray, shape (G, J)
    """
    weight = _density((x - m[:, None]) / t[:, None]) * (h / t)[:, None]
    weight[:, 0] += _tail((m - x[0] + h / 2) / t, h / t)
    weight[:, -1] += _tail((x[-1] + h / 2 - m) / t, h / t)
    return weight


def _density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def _tail(y: FloatArray, step: FloatArray) -> FloatArray:
    """Normal mass beyond y, where a midpoint sum of spacing `step` stops.

    With the Euler-Maclaurin correction of that sum at its end, step**2 / 24 times the slope.
    """
    return np.asarray(ndtr(-y) - step**2 / 24 * y * _density(y))


def to_population(shape: Shape, k_max: int, rng: np.random.Generator) -> Population:
    """Draws of the population as atoms, one grid per draw, each shifted at random.

    The grid is as coarse as sums over it allow, and the shift makes every draw of p continuous:
    the mean over shifts of a lattice's distribution is the distribution itself.

    Parameters
    ----------
    shape : Shape
        D points (logit q, logit r).
    k_max : int
        Most generations of any prompt that the population will be asked about.
    rng : numpy.random.Generator

    Returns
    -------
    Population
        With as many atoms as the widest draw needs: about 60 at k = 8, 150 at k = 50.
    """
    m, t = location_scale(shape)
    h = spacing(t, k_max)
    far = edge(k_max)
    low, high = (np.clip(m + sign * _REACH * t, -far, far) for sign in (-1, 1))
    last = np.ceil((high - low) / h).astype(int) + 1
    index = np.minimum(np.arange(int(last.max()) + 1), last[:, None])
    x = low[:, None] + h[:, None] * (index - rng.random((len(m), 1)))
    weight = _density((x - m[:, None]) / t[:, None]) * (h / t)[:, None]
    weight *= np.arange(weight.shape[1]) <= last[:, None]
    row = np.arange(len(m))
    weight[:, 0] += _tail((m - x[:, 0] + h / 2) / t, h / t)
    weight[row, last] += _tail((x[row, last] + h / 2 - m) / t, h / t)
    weight /= weight.sum(axis=1, keepdims=True)
    one = np.ones(len(m))
    return Population(np.zeros(len(m)), one, one, weight, np.asarray(expit(x)))
