r"""Leave-one-prompt-out predictive density, from cells: prompts of equal (s, k) share theirs.

.. math::

    p(s_i \mid s_{-i}) = \Big( \operatorname{E} \big[ 1 / p(s_i \mid \theta) \big] \Big)^{-1}

with the expectation over the posterior given all prompts (Gelfand & Dey 1994, JRSS B 56:501). Over
quadrature nodes that is exact; over draws the weights 1 / p are smoothed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from pcorrect.adequacy.psis import smooth
from pcorrect.cells import Cells
from pcorrect.data import IntArray
from pcorrect.engines.grid import GridPosterior
from pcorrect.marginal import FloatArray
from pcorrect.populations.beta import Shape
from pcorrect.populations.beta_binomial import log_beta_binomial
from pcorrect.populations.population import Population

_FEW = 20
# Draws at a time: keeps the (D, m, T) arrays of a mixture within about 50 MB.
_BLOCK = 6_000_000


@dataclass(frozen=True)
class LeaveOneOut:
    """Expected log predictive density of one more prompt, by cell.

    Parameters
    ----------
    elpd : ndarray, shape (m,)
        Log predictive density of a prompt of each cell, given all other prompts.
    n_prompts : ndarray of int, shape (m,)
    k_hat : float
        Largest Pareto shape of the importance weights; 0 for quadrature.
    """

    elpd: FloatArray
    n_prompts: IntArray
    k_hat: float = 0.0

    @property
    def total(self) -> float:
        """Sum over prompts (``elpd_loo`` of ArviZ)."""
        return float(self.n_prompts @ self.elpd)

    @property
    def se(self) -> float:
        """Standard error of `total`."""
        return _standard_error(self.elpd, self.n_prompts)

    def minus(self, other: LeaveOneOut) -> tuple[float, float]:
        """Difference of the totals, and its standard error from the differences by prompt."""
        difference = self.elpd - other.elpd
        return float(self.n_prompts @ difference), _standard_error(difference, self.n_prompts)


def _standard_error(value: FloatArray, n_prompts: IntArray) -> float:
    """Return sqrt(n Var(value)) over prompts (Vehtari, Gelman & Gabry 2017, eq. 23)."""
    n = n_prompts.sum()
    mean = n_prompts @ value / n
    return float(np.sqrt(n_prompts @ (value - mean) ** 2))


def loo_beta(cells: Cells, grid: GridPosterior) -> LeaveOneOut:
    """Leave-one-out densities of the Beta model, exact from quadrature nodes."""
    # Without one of few prompts the posterior is much wider: every node counts.
    shape, weight = grid.heaviest(1e-14 if cells.n_prompts.sum() > _FEW else 0.0)
    some = weight > 0
    shape, log_weight = Shape(shape.logit_mu[some], shape.logit_r[some]), np.log(weight[some])
    log_prob = log_beta_binomial(cells.n_correct, cells.n_generations, shape)
    return LeaveOneOut(-np.asarray(logsumexp(log_weight - log_prob, axis=1)), cells.n_prompts)


def loo_draws(cells: Cells, population: Population, r_eff: float = 1.0) -> LeaveOneOut:
    """Leave-one-out densities from posterior draws of the population.

    Parameters
    ----------
    cells : Cells
    population : Population
    r_eff : float
        Effective share of the draws.
    """
    s, k = cells.n_correct, cells.n_generations
    log_prob = np.empty((len(population), len(s)))
    step = max(1, _BLOCK // (len(s) * (population.atom.shape[1] + 1)))
    for i in range(0, len(population), step):
        block = np.arange(i, min(i + step, len(population)))
        log_prob[block] = population.take(block).log_prob(s, k)
    elpd, k_hat = np.empty(len(s)), np.empty(len(s))
    for j, column in enumerate(log_prob.T):
        log_weight, k_hat[j] = smooth(-column, r_eff)
        elpd[j] = logsumexp(log_weight + column)
    return LeaveOneOut(elpd, cells.n_prompts, float(k_hat.max(initial=-np.inf)))
