r"""Posterior of population means from weights over prompts, for any number of llms at once.

Prompts are drawn from a population; prompt i shows llm l with the observed share
:math:`\hat p_{li} = s_{li} / k_{li}`, whose mean over the population is exactly :math:`\mu_l`
whatever the k. Nothing else is assumed: the law of the vector :math:`(\hat p_{1i}, …, \hat p_{Li})`
is left free, and its posterior is a Dirichlet distribution over the prompts seen (the Bayesian
bootstrap, Rubin 1981) and one imaginary prompt:

.. math::

    \mu_l = \sum_{i=0}^{n} w_i\, \hat p_{li}, \qquad w \sim \mathrm{Dirichlet}(c, …, c), \qquad
    c = \frac{n}{n + 5}

All llms share the weights, so that every correlation between them is kept.

Two departures from the plain bootstrap (c = 1, no prompt 0) make small n right. Its variance is
:math:`s^2/n` times (n-1)/(n+1) where the Student t posterior has (n-1)/(n-3): n/(n + 4) would
restore that to order :math:`n^{-2}`, and the 5 allows for the skewness that rare differences have
(measured: `benchmarks/accuracy/pairs.py`). And where all prompts agree (both llms all right) it is
certain, which nobody can be: prompt 0 is a prompt about which nothing is known. Its p is uniform
for every llm, correlated between llms as difficulty is (Gaussian copula, correlation .5), and it is
answered k times like the others. It weighs as much as one prompt and is forgotten as n grows.

A macro average over B benchmarks must not have B of them: each would pull its benchmark towards 1/2
by 1/(n_b + 1), and their average by as much, while its error falls with 1/sqrt(B). There the
unknown prompt weighs 1/B in every benchmark; the rest of the imaginary prompt is one that another
benchmark lends (`Lenders`), which makes benchmarks of few prompts uncertain and, lent in the
proportion in which it is borrowed, leaves the average where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pcorrect.data import IntArray
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray

# Correlation of the imaginary prompt's difficulty between llms.
_COMMON = 0.5
# Entries of one block of weights: 64 MB.
_BLOCK = 8_000_000


@dataclass(frozen=True)
class Units:
    """Exchangeable units with weights of their own: prompts, or groups of prompts.

    Parameters
    ----------
    size, total : ndarray, shape (U, L)
        Prompts of the unit that llm l answered, and the sum of its shares over them.
    times : ndarray of int64, shape (U,)
        How many units look like this one.
    k : ndarray of int64, shape (n, L)
        Generations of each prompt (0: the llm did not answer it).
    """

    size: FloatArray
    total: FloatArray
    times: IntArray
    k: IntArray

    @classmethod
    def from_counts(
        cls,
        n_correct: IntArray,
        n_generations: IntArray,
        group: NDArray[np.object_] | None = None,
    ) -> Units:
        """Collapse counts of shape (L, n); prompts of one `group` stand and fall together."""
        seen = (n_generations > 0).T
        share = np.where(seen, n_correct.T / np.maximum(n_generations.T, 1), 0.0)
        size = seen.astype(float)
        if group is not None:
            _, of_prompt = np.unique(group.astype(str), return_inverse=True)
            size, share = (_sum_by(x, of_prompt) for x in (size, share))
        llms = size.shape[1]
        rows, times = np.unique(np.hstack([size, share]), axis=0, return_counts=True)
        return cls(rows[:, :llms], rows[:, llms:], times.astype(np.int64), n_generations.T)

    def __len__(self) -> int:
        return int(self.times.sum())

    def mean(self) -> FloatArray:
        """Mean of the shares of each llm, shape (L,)."""
        return np.asarray(self.times @ self.total / (self.times @ self.size))

    def mean_size(self) -> FloatArray:
        """Prompts of a unit, among the units in which an llm has any, shape (L,)."""
        return np.asarray(self.times @ self.size / self._own())

    def _own(self) -> FloatArray:
        return np.asarray(self.times @ (self.size > 0))

    def covariance(self) -> FloatArray:
        """Covariance of the means' errors, shape (L, L).

        Each prompt (or group, linearised: Miller 2024, arXiv 2411.00640, section 2.2) is one
        independent unit; ``ddof = 1`` over the units of each llm, so that the square roots are the
        usual standard errors, ``sd / sqrt(n)``.
        """
        own, prompts = self._own(), self.times @ self.size
        scale = np.sqrt(np.where(own > 1, own / np.maximum(own - 1, 1), np.nan))
        residual = scale * (self.total - self.mean() * self.size) / prompts
        return np.asarray((residual.T * self.times) @ residual)


@dataclass(frozen=True)
class Lenders:
    """The prompts of a suite, of which its benchmarks take their imaginary prompts.

    Parameters
    ----------
    share : ndarray, shape (R, L)
        Observed shares of prompts (or means of groups of them).
    prob : ndarray, shape (R,)
        How often each is lent.
    n_parts : int
        Benchmarks B of the suite.
    """

    share: FloatArray
    prob: FloatArray
    n_parts: int

    @classmethod
    def of(cls, parts: Sequence[Units], weights: Sequence[float] | FloatArray) -> Lenders | None:
        """Prompts of a benchmark are lent in proportion to its weight over n_b + 1.

        Just so much of the macro average is borrowed by it: what its own mean loses, the means of
        the others win. A single benchmark has none to borrow from.
        """
        if len(parts) == 1:
            return None
        shares, probs = [], []
        for units, weight in zip(parts, weights, strict=True):
            whole = (units.size > 0).all(axis=1)
            share, times = units.mean()[None, :], np.ones(1)
            if whole.any():
                share, times = (
                    units.total[whole] / units.size[whole],
                    units.times[whole].astype(float),
                )
            shares.append(share)
            probs.append(weight / (len(units) + 1) * times / times.sum())
        prob = np.concatenate(probs)
        return cls(np.concatenate(shares), prob / prob.sum(), len(parts))

    def draw(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw lent prompts, shape (count, L)."""
        return self.share[rng.choice(len(self.prob), size=count, p=self.prob)]


#: Said where every prompt agrees.
NO_ERROR = (
    "every prompt shows the same: a standard error of 0 would be no answer, use the interval of mu"
)


def standard_error(variance: float) -> float | None:
    """Square root; None where the variance is undefined, or 0 up to rounding."""
    return float(np.sqrt(variance)) if variance > 1e-24 else None


def mean_draws(
    units: Units, draws: int, rng: np.random.Generator, lenders: Lenders | None = None
) -> FloatArray:
    """Draws of mu of every llm, shape (2 * ceil(draws / 2), L).

    They come in pairs that share their weights and have opposite outcomes of the unknown prompt
    (o and 1 - o, which are equally likely), so that llms with the same counts differ by exactly 0
    in the mean and are each better in exactly half of the draws.

    Raises
    ------
    PcorrectError
        An llm has no scored generation.
    """
    if np.any(units.times @ units.size == 0):
        raise PcorrectError("an llm has no scored generation on these prompts: nothing to compare")
    c = concentration(len(units))
    out = []
    for count in _blocks(-(-draws // 2), len(units.times)):
        weight = rng.standard_gamma(c * units.times, (count, len(units.times)))
        spare = _spare(c, count, rng, lenders)
        below, above = weight @ units.size, weight @ units.total
        pair = np.stack([above, above], axis=1)
        for times, outcomes in zip(spare, _imaginary(units, count, rng, lenders), strict=True):
            below = below + times * units.mean_size()
            pair += (times * units.mean_size())[:, None, :] * outcomes
        out.append((pair / below[:, None, :]).reshape(2 * count, -1))
    return np.concatenate(out)


def macro_draws(
    parts: Sequence[Units],
    weights: Sequence[float] | FloatArray,
    draws: int,
    rngs: Sequence[np.random.Generator],
) -> FloatArray:
    """Draws of the weighted average over benchmarks, as `mean_draws`; a generator for each."""
    lenders = Lenders.of(parts, weights)
    return np.asarray(
        sum(
            w * mean_draws(units, draws, rng, lenders)
            for w, units, rng in zip(weights, parts, rngs, strict=True)
        )
    )


def concentration(n: int) -> float:
    """Shape c of the weights of n units."""
    return n / (n + 5.0)


def rerun_means(
    units: Units, draws: int, rng: np.random.Generator, lenders: Lenders | None = None
) -> FloatArray:
    """Means that another run on as many *new* prompts would give, shape (draws, L).

    Posterior predictive: the weights are the law of a new prompt (or group), of which n are drawn.
    """
    n = len(units)
    c = concentration(n)
    out = []
    for count in _blocks(draws, len(units.times)):
        weight = rng.standard_gamma(c * units.times, (count, len(units.times)))
        shares = np.hstack([weight, *_spare(c, count, rng, lenders)])
        drawn = rng.multinomial(n, shares / shares.sum(axis=1, keepdims=True))
        known = drawn[:, : len(units.times)]
        below, above = known @ units.size, known @ units.total
        for i, outcomes in enumerate(_imaginary(units, count, rng, lenders), len(units.times)):
            times = drawn[:, [i]] * units.mean_size()
            below, above = below + times, above + times * outcomes[:, 0]
        # a run in which an llm meets none of its own prompts has no mean: 0 by convention
        out.append(above / np.maximum(below, 1e-300))
    return np.concatenate(out)


def _spare(
    c: float, count: int, rng: np.random.Generator, lenders: Lenders | None
) -> list[FloatArray]:
    """Weights of the imaginary prompts, (count, 1) each: the unknown one, and one that is lent."""
    if lenders is None:
        return [rng.standard_gamma(c, (count, 1))]
    unknown = 1.0 / lenders.n_parts
    return [rng.standard_gamma(c * part, (count, 1)) for part in (unknown, 1.0 - unknown)]


def _imaginary(
    units: Units, count: int, rng: np.random.Generator, lenders: Lenders | None
) -> list[FloatArray]:
    """Shares of the imaginary prompts in pairs, (count, 2, L) or (count, 1, L) where both agree."""
    unknown, _ = unknown_prompt(units.k, count, rng)
    pair = np.stack([unknown, 1 - unknown], axis=1)
    return [pair] if lenders is None else [pair, lenders.draw(count, rng)[:, None, :]]


def unknown_prompt(
    k: IntArray, count: int, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Shares right of a prompt about which nothing is known, and of how many, shape (count, L)."""
    llms = k.shape[1]
    common = rng.standard_normal((count, 1))
    own = rng.standard_normal((count, llms))
    p = ndtr(np.sqrt(_COMMON) * common + np.sqrt(1 - _COMMON) * own)
    # As many generations as some prompt that all llms answered (or, failing that, as any did).
    rows = k[(k > 0).all(axis=1)]
    if not len(rows):
        rows = np.broadcast_to(np.maximum(np.round(k.mean(axis=0)), 1).astype(np.int64), (1, llms))
    tries = rows[rng.integers(len(rows), size=count)]
    return np.asarray(rng.binomial(tries, p) / tries), tries


def _blocks(count: int, width: int) -> Iterator[int]:
    step = max(1, _BLOCK // max(1, width))
    for start in range(0, count, step):
        yield min(step, count - start)


def _sum_by(values: FloatArray, of: NDArray[np.intp]) -> FloatArray:
    out = np.zeros((int(of.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(out, of, values)
    return out
