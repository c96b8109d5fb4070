r"""Consistency of one prompt's answers: entropy of their clusters, with its posterior.

S(consistency) is minus the entropy of the cluster shares, in nats (Zhang, Cai & Chen 2025, arXiv
2502.08943, section 3):

.. math:: S = \sum_c \mathrm{Prop}_c \log \mathrm{Prop}_c

0 when all answers agree, -log m for m clusters of equal size. Shares of few generations make a
prompt look more consistent than it is: clusters not met yet are missing, by about (m - 1) / (2 k)
(Miller 1955). So S comes with a posterior. The shares are a Dirichlet process with concentration
theta, of which there may be infinitely many clusters; given the cluster sizes,

.. math::

    (w_1, …, w_m, w_0) \sim \mathrm{Dirichlet}(n_1, …, n_m, \theta), \qquad
    p(n \mid \theta) \propto \theta^m\, \Gamma(\theta) / \Gamma(\theta + k)

w_0 is split among unseen clusters as a new Dirichlet process with the same theta (Archer, Park &
Pillow 2014, JMLR 15:2833, with discount 0); its entropy is :math:`\psi(\theta + 1) - \psi(1)` on
average. log theta is Student's t, with an atom at theta = 0: a prompt that is always answered the
same way. Its tails leave room for answers that never come twice, where the data only bound S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pcorrect.errors import PcorrectError

FloatArray = NDArray[np.float64]

# Prior of theta: probability of 0; median, scale and degrees of freedom of the log of the rest.
# Chosen by coverage on simulated cluster distributions of other kinds
# (benchmarks/accuracy/flags.py): with normal tails, S of 200 equal clusters is never covered at
# k = 4.
_ALWAYS_SAME = 0.1
_MEDIAN, _SCALE, _DF = 0.8, 1.6, 5
# Grid of log theta in scales, from next to none to far more clusters than generations.
_GRID = -3.0, 9.0, 49
_STICKS = 100
_POOL = 500
_DRAWS = 4000


@dataclass(frozen=True)
class Entropy:
    """S(consistency) of one prompt.

    Parameters
    ----------
    plug_in : float
        From the observed shares, as the paper defines it.
    mean, lower, upper : float
        Posterior mean and equal-tailed interval of the S that infinitely many generations give.
    """

    plug_in: float
    mean: float
    lower: float
    upper: float


def consistency(sizes: Sequence[float] | FloatArray) -> float:
    """S from cluster sizes (or shares) alone: a number from -log(number of clusters) to 0.

    Raises
    ------
    PcorrectError
        There is no answer, or a size is negative.
    """
    n = np.asarray(sizes, float)
    if n.size == 0 or np.any(n < 0) or not n.sum() > 0:
        raise PcorrectError(f"cluster sizes must be positive numbers, got {list(sizes)[:5]}")
    share = np.sort(n[n > 0]) / n.sum()
    # 0.0 rather than -0.0 where all agree
    return float(np.sum(share * np.log(share))) + 0.0 if len(share) > 1 else 0.0


def entropy(sizes: Sequence[int], *, ci_prob: float = 0.95) -> Entropy | None:
    """S(consistency) with its posterior, from the sizes of one prompt's clusters.

    Parameters
    ----------
    sizes : sequence of int
        Of the clusters that hold an answer.
    ci_prob : float
        Probability of the interval.

    Returns
    -------
    Entropy or None
        None with fewer than two answers: one generation cannot agree or disagree with itself.

    Raises
    ------
    PcorrectError
        A size is no whole number of at least 0, or `ci_prob` is not between 0 and 1.
    """
    if not 0 < ci_prob < 1:
        raise PcorrectError(f"ci_prob must lie between 0 and 1, got {ci_prob}")
    counts = np.asarray(list(sizes), float)
    if np.any((counts < 0) | (counts != np.floor(counts)) | ~np.isfinite(counts)):
        raise PcorrectError(
            f"cluster sizes must be whole numbers of at least 0, got {list(sizes)[:5]}"
        )
    if counts.sum() < 2:
        return None
    return _entropy(tuple(sorted((int(n) for n in counts if n), reverse=True)), ci_prob)


@cache
def _entropy(sizes: tuple[int, ...], ci_prob: float) -> Entropy:
    draws = np.sort(-entropy_draws(sizes))
    lower, upper = np.quantile(draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return Entropy(
        consistency(sizes), float(draws.mean()) + 0.0, float(lower) + 0.0, float(upper) + 0.0
    )


def entropy_draws(sizes: tuple[int, ...], draws: int = _DRAWS) -> FloatArray:
    """Posterior draws of the entropy, shape (draws,); the same for the same sizes."""
    from scipy.special import gammaln

    theta, log_prior, pool = _prior()
    k, m = sum(sizes), len(sizes)
    log_weight = log_prior[1:] + m * np.log(theta) + gammaln(theta) - gammaln(theta + k)
    log_weight += gammaln(np.array(sizes)).sum()
    log_weight = np.concatenate([[log_prior[0] if m == 1 else -np.inf], log_weight])
    weight = np.exp(log_weight - log_weight.max())
    rng = np.random.default_rng([m, *sizes[:50]])
    chosen = rng.multinomial(draws, weight / weight.sum())
    parts = [np.zeros(chosen[0])]
    for t in np.flatnonzero(chosen[1:]):
        share = rng.dirichlet([*sizes, theta[t]], size=chosen[1 + t])
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = -np.where(share > 0, share * np.log(share), 0.0).sum(axis=1)
        parts.append(seen + share[:, -1] * rng.choice(pool[t], size=chosen[1 + t]))
    return np.concatenate(parts)


@cache
def _prior() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Grid of theta, log prior of (0, grid), draws of a Dirichlet process's entropy by theta."""
    from scipy.special import digamma, xlogy

    z = np.linspace(*_GRID)
    theta = _MEDIAN * np.exp(_SCALE * z)
    weight = (1 + z**2 / _DF) ** (-(_DF + 1) / 2)
    weight *= (1 - _ALWAYS_SAME) / weight.sum()
    rng = np.random.default_rng(0)
    pool = np.empty((len(theta), _POOL))
    for t, value in enumerate(theta):
        stick = rng.beta(1, value, size=(_POOL, _STICKS))
        left = np.cumprod(1 - stick, axis=1)
        share = np.concatenate([stick[:, :1], stick[:, 1:] * left[:, :-1], left[:, -1:]], axis=1)
        # what the sticks leave is such a process again, of this mean entropy
        beyond = left[:, -1] * (digamma(value + 1) - digamma(1))
        pool[t] = beyond - xlogy(share, share).sum(axis=1)
    return theta, np.log(np.concatenate([[_ALWAYS_SAME], weight])), pool
