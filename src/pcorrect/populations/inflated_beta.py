r"""The zero-one-inflated Beta population: point masses at 0 and 1, and a Beta in between.

.. math::

    P = w_0 \delta_0 + w_1 \delta_1 + w_B \mathrm{Beta}(m \nu, (1 - m) \nu), \qquad \nu = 1/r^2 - 1

(Ospina & Ferrari 2010, Statistical Papers 51:111.) With weights drawn from a Dirichlet of
parameters 1/2, 1/2 and 1 the inflated share is uniform on (0, 1) before the data are seen; m and r
have the priors of the mean and spread of a Beta population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln, log_expit, log_softmax

from pcorrect.cells import Cells
from pcorrect.populations.beta import BetaBinomialLikelihood, FloatArray, Shape
from pcorrect.populations.beta_binomial import log_beta_binomial
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

#: Dirichlet parameters of the weights of 0, 1 and the Beta.
WEIGHT_PRIOR = (0.5, 0.5, 1.0)

# Beyond a + b = 1e8 differences of log-gammas lose their digits, and the Beta is a point anyway.
_MAX_NU = 1e8


@dataclass(frozen=True)
class InflatedShape:
    """Points of the parameter space in unbounded coordinates.

    Parameters
    ----------
    log_ratio : ndarray, shape (2, ...)
        log(w_0 / w_B) and log(w_1 / w_B).
    beta : Shape
        Logits of m and r, arrays of shape (...).
    """

    log_ratio: FloatArray
    beta: Shape

    @classmethod
    def from_rows(cls, x: FloatArray) -> InflatedShape:
        """From an array of shape (4, ...): the two log ratios, logit m, logit r."""
        return cls(x[:2], Shape(x[2], x[3]))

    @property
    def log_weight(self) -> FloatArray:
        """Logs of w_0, w_1 and w_B, shape (3, ...)."""
        full = np.concatenate([self.log_ratio, np.zeros_like(self.log_ratio[:1])])
        return np.asarray(log_softmax(full, axis=0))

    def population(self) -> Population:
        """The draws as populations; the points must be of shape (D,)."""
        w0, w1, rest = np.exp(self.log_weight)
        nu = np.minimum(1 / self.beta.theta, _MAX_NU)
        atom = np.broadcast_to([0.0, 1.0], (len(nu), 2))
        weight = np.stack([w0, w1], axis=1)
        return Population(rest, self.beta.mu * nu, self.beta.one_minus_mu * nu, weight, atom)


class InflatedBetaLikelihood:
    """log P(all counts | weights, m, r), p_i integrated out, at many parameter points at once.

    Only prompts with all generations wrong, or all correct, can belong to a point mass; the others
    see the Beta alone, and are summed as for a Beta population.

    Parameters
    ----------
    cells : Cells
    """

    def __init__(self, cells: Cells) -> None:
        s, k = cells.n_correct, cells.n_generations
        wrong, correct = (s == 0) & (k > 0), (s == k) & (k > 0)
        inside = ~wrong & ~correct & (k > 0)
        self._inside = BetaBinomialLikelihood(_subset(cells, inside))
        self._n_inside = float(cells.n_prompts[inside].sum())
        ends = wrong | correct
        self._end = correct[ends].astype(int)
        self._s, self._k = cells.n_correct[ends], cells.n_generations[ends]
        self._n = cells.n_prompts[ends].astype(float)

    def log_prob(self, point: InflatedShape) -> FloatArray:
        """Log-likelihood at each point."""
        log_w = point.log_weight
        value = self._inside.log_prob(point.beta) + self._n_inside * log_w[2]
        flat = Shape(np.ravel(point.beta.logit_mu), np.ravel(point.beta.logit_r))
        # shape (unanimous cells, points)
        by_beta = log_beta_binomial(self._s, self._k, flat)
        spike = log_w.reshape(3, -1)
        both = np.logaddexp(spike[self._end], spike[2] + by_beta)
        return np.asarray(value + (self._n @ both).reshape(value.shape))


def log_prior(point: InflatedShape, priors: Priors) -> FloatArray:
    """Log prior density in the unbounded coordinates."""
    alpha = np.array(WEIGHT_PRIOR)
    value = np.tensordot(alpha, point.log_weight, axes=1)
    value = value + gammaln(alpha.sum()) - gammaln(alpha).sum()
    for x, (a, b) in ((point.beta.logit_mu, priors.mu), (point.beta.logit_r, priors.spread)):
        value = value + a * log_expit(x) + b * log_expit(-x) - betaln(a, b)
    return np.asarray(value)


def _subset(cells: Cells, keep: np.ndarray) -> Cells:
    none = np.zeros(0, dtype=np.intp)
    return Cells(cells.n_correct[keep], cells.n_generations[keep], cells.n_prompts[keep], none)
