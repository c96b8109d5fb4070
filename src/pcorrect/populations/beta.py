r"""The Beta population: p_i ~ Beta with mean mu and intra-class correlation rho.

With :math:`\theta = \rho / (1 - \rho) = 1 / (a + b)` the probability of the data after the p_i are
integrated out is, up to binomial coefficients,

.. math::

    \prod_i \frac{\prod_{j < s_i} (\mu + j\theta) \prod_{j < k_i - s_i} (1 - \mu + j\theta)}
                 {\prod_{j < k_i} (1 + j\theta)}

(Prentice 1986, JASA 81:321). Written this way nothing cancels: theta = 0 *is* the binomial, where
differences of log-gamma functions at shapes of 1e12 have lost every digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from pcorrect.cells import Cells

FloatArray = NDArray[np.float64]

# Products are kept factor by factor up to here; beyond, blocks [j, 2j) are summed by interpolation.
_EXACT_FACTORS = 64
# log(mu + j theta) on [j, 2j) has its singularity at j <= 0, so that Chebyshev interpolation gains
# a factor of 3 + sqrt(8) a node: 22 nodes leave 1e-17.
_NODES = 22


@dataclass(frozen=True)
class Shape:
    """Points (mu, r) of the parameter space, ``r = sigma / sqrt(mu (1 - mu))``, from their logits.

    Both tails are kept exactly (``1 - mu`` is not computed by subtraction), which matters for
    data that are all correct or all wrong.
    """

    logit_mu: FloatArray
    logit_r: FloatArray

    @property
    def mu(self) -> FloatArray:
        """Population mean."""
        return np.asarray(expit(self.logit_mu))

    @property
    def one_minus_mu(self) -> FloatArray:
        """1 - mu without cancellation."""
        return np.asarray(expit(-self.logit_mu))

    @property
    def r(self) -> FloatArray:
        """Standard deviation as a share of its largest value."""
        return np.asarray(expit(self.logit_r))

    @property
    def rho(self) -> FloatArray:
        """Intra-class correlation r**2."""
        return self.r**2

    @property
    def theta(self) -> FloatArray:
        """rho / (1 - rho) = 1 / (a + b)."""
        return self.rho / (expit(-self.logit_r) * (1 + self.r))

    @property
    def sigma(self) -> FloatArray:
        """Population standard deviation."""
        return self.r * np.sqrt(self.mu * self.one_minus_mu)

    @property
    def ab(self) -> tuple[FloatArray, FloatArray]:
        """The Beta parameters."""
        nu = 1 / self.theta
        return self.mu * nu, self.one_minus_mu * nu


class BetaBinomialLikelihood:
    """log P(all counts | mu, rho), p_i integrated out, at many parameter points at once.

    Cost per point: O(min(max k, 64 + 22 log2(max k))), whatever the number of prompts.

    Parameters
    ----------
    cells : Cells
    """

    def __init__(self, cells: Cells) -> None:
        s, k, n = cells.n_correct, cells.n_generations, cells.n_prompts
        self._correct = _rising_factors(s, n)
        self._wrong = _rising_factors(k - s, n)
        self._all = _rising_factors(k, n)
        #: Sum of the log binomial coefficients that `log_prob` includes.
        self.log_coefficient = float(
            np.sum(n * (gammaln(k + 1) - gammaln(s + 1) - gammaln(k - s + 1)))
        )

    def log_prob(self, shape: Shape) -> FloatArray:
        """Log-likelihood at each point of `shape`, same array shape."""
        theta = shape.theta
        return (
            _sum_logs(shape.mu, theta, self._correct)
            + _sum_logs(shape.one_minus_mu, theta, self._wrong)
            - _sum_logs(np.ones_like(theta), theta, self._all)
            + self.log_coefficient
        )


def _rising_factors(
    value: NDArray[np.int64], n: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Positions j and weights T so that sum_i sum_{j < value_i} f(j) = sum T f(j)."""
    histogram = np.bincount(value, weights=n, minlength=1)
    # T_j = number of prompts with value > j
    above = np.cumsum(histogram[::-1])[::-1][1:]
    positions = [np.arange(min(len(above), _EXACT_FACTORS), dtype=float)]
    weights = [above[:_EXACT_FACTORS]]
    start = _EXACT_FACTORS
    while start < len(above):
        stop = min(2 * start, len(above))
        block = np.arange(start, stop, dtype=float)
        if len(block) <= _NODES:
            positions.append(block)
            weights.append(above[start:stop])
        else:
            x, lagrange = _chebyshev(block)
            positions.append(x)
            weights.append(above[start:stop] @ lagrange)
        start = stop
    return np.concatenate(positions), np.concatenate(weights)


def _chebyshev(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Chebyshev nodes on the range of `points` and the Lagrange basis there (points x nodes)."""
    angle = np.pi * np.arange(_NODES) / (_NODES - 1)
    low, high = points[0], points[-1]
    x = low + (high - low) * (1 - np.cos(angle)) / 2
    sign = (-1.0) ** np.arange(_NODES)
    sign[[0, -1]] /= 2
    gap = points[:, None] - x
    hit = gap == 0
    gap[hit] = 1.0
    basis = sign / gap
    basis[hit.any(axis=1)] = 0.0
    basis[hit] = 1.0
    return x, basis / basis.sum(axis=1, keepdims=True)


def _sum_logs(
    first: FloatArray, theta: FloatArray, factors: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Sum over j of T_j log(first + j theta), in blocks that fit the cache."""
    position, weight = factors
    flat_first, flat_theta = first.ravel(), theta.ravel()
    out = np.empty(flat_first.shape)
    step = max(1, 200_000 // max(1, len(position)))
    for i in range(0, len(out), step):
        block = slice(i, i + step)
        out[block] = np.log(flat_first[block, None] + flat_theta[block, None] * position) @ weight
    return out.reshape(first.shape)
