r"""After each batch: stop, or go on to which k? For one llm's interval or a comparison of two.

How much wider must an interval be when one looks several times? The estimate after k generations of
each prompt has the information :math:`I_k = n / (B + W / k)` (:math:`n k / W` for exactly these
prompts), and later estimates contain the earlier ones, so that their z statistics are those of a
Brownian motion seen at the times :math:`I_j / I_J` (Jennison & Turnbull 2000, Group Sequential
Methods, chapter 3). The boundary is the constant (Pocock) one: the same critical value at every
look. Between-prompt variance makes the looks more alike, so that looking again costs less for new
prompts than for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri, stdtr

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import MinimalK, minimal_k
from pcorrect.planning.pairs import PairVariances, pair_variances
from pcorrect.planning.variances import CI_PROB, ONE_PROMPT, Source, as_fit, check_estimand
from pcorrect.result import Fit

_NODES = 161
# Looks that add less than this share of the last look's information are one look.
_STEP = 1e-3


def information(k: ArrayLike, *, between: float, within: float, estimand: str = "mu") -> FloatArray:
    """Information of each look relative to the last one, in (0, 1].

    Parameters
    ----------
    k : array_like, shape (J,)
        Generations per prompt at each look, increasing.
    between, within : float
        Variances of the quantity that is looked at (of the paired difference, for two llms).
    estimand : {"mu", "score"}

    Raises
    ------
    PcorrectError
        `k` does not increase from at least 1.
    """
    ks = np.atleast_1d(np.asarray(k, dtype=float))
    if not (ks.size and ks[0] >= 1 and np.all(np.diff(ks) > 0)):
        raise PcorrectError(f"looks must be increasing numbers of generations, got {list(ks)}")
    variance = (between if estimand == "mu" else 0.0) + within / ks
    if not variance[-1] > 0:
        return np.ones(len(ks))
    return np.asarray(variance[-1] / variance)


def crossing_probability(z: float, times: FloatArray) -> float:
    """P(|Z_j| > z at some look) when there is no difference.

    Recursive numerical integration over the value of the Brownian motion (Armitage, McPherson &
    Rowe 1969), by Gauss-Legendre quadrature on the continuation region of each look.
    """
    times = _merged(times)
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    edge = z * np.sqrt(times)
    crossed = 2 * ndtr(-z)
    x = node * edge[0]
    mass = weight * edge[0] * np.exp(-(x**2) / (2 * times[0])) / np.sqrt(2 * np.pi * times[0])
    for j in range(1, len(times)):
        sd = np.sqrt(times[j] - times[j - 1])
        crossed += mass @ (ndtr((x - edge[j]) / sd) + ndtr((-x - edge[j]) / sd))
        y = node * edge[j]
        step = np.exp(-(((y[:, None] - x) / sd) ** 2) / 2) / (np.sqrt(2 * np.pi) * sd)
        mass = weight * edge[j] * (step @ mass)
        x = y
    return float(crossed)


def boundary(times: FloatArray, level: float = 0.05) -> float:
    """Constant critical value that keeps the two-sided error rate over all looks.

    Parameters
    ----------
    times : ndarray, shape (J,)
        From `information`.
    level : float
        Error rate, in (0, 1).

    Raises
    ------
    PcorrectError
        `level` is out of range.
    """
    if not 0 < level < 1:
        raise PcorrectError(f"level must lie between 0 and 1, got {level}")
    low = float(ndtri(1 - level / 2))
    # Bonferroni is an upper bound
    high = float(ndtri(1 - level / (2 * len(times))))
    for _ in range(40):
        middle = (low + high) / 2
        if high - low < 1e-6:
            break
        above = crossing_probability(middle, times) > level
        low, high = (middle, high) if above else (low, middle)
    return high


def _merged(times: FloatArray) -> FloatArray:
    """Looks that differ by enough for the quadrature; those in between add next to nothing."""
    kept = [float(times[-1])]
    for t in times[-2::-1]:
        if kept[-1] - t >= _STEP:
            kept.append(float(t))
    return np.array(kept[::-1])


# A goal is given up as out of reach below this posterior probability that some k reaches it.
_HOPELESS = 0.05


@dataclass(frozen=True)
class Stop:
    """Advice after a batch of generations.

    Parameters
    ----------
    stop : bool
    reason : str
        "reached", "out of reach", "as good as it gets", "no more generations", "decided" or
        "go on"; `str` gives the sentence.
    value, goal : float
        What is compared: half-width now and wanted, or the size of z now and its boundary.
    next_k : int or None
        Generations per prompt to go on to.
    sentence : str
    """

    stop: bool
    reason: str
    value: float
    goal: float
    next_k: int | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def stopping(
    source: Source,
    *,
    half_width: float,
    estimand: str = "mu",
    max_k: int | None = None,
    ci_prob: float = CI_PROB,
) -> Stop:
    """Say whether the interval is narrow enough, or whether more generations can make it so.

    Looking after every batch does no harm here: the width of the interval, not its place, decides
    (see `simulate_width_rule` for the coverage that results).

    Parameters
    ----------
    source : Fit, DataTree or PromptCounts
    half_width : float
        Half-width of the credible interval that is wanted.
    estimand : {"mu", "score"}
    max_k : int, optional
        Generations per prompt that can be had.
    ci_prob : float

    Raises
    ------
    PcorrectError
        A choice or number is out of range.
    """
    check_estimand(estimand)
    fit = as_fit(source)
    low, high = fit.marginals[estimand].interval(ci_prob)
    now = (high - low) / 2
    text = f"half-width {now:.4f} for {estimand}, wanted {half_width:g}"
    k = int(fit.counts.n_generations.max())
    if now <= half_width:
        return Stop(True, "reached", now, half_width, None, f"stop: {text}")
    if max_k is not None and k >= max_k:
        return Stop(True, "no more generations", now, half_width, None, f"stop at k = {k}: {text}")
    found = minimal_k(fit, half_width=half_width, estimand=estimand, ci_prob=ci_prob)
    if found.unknown:
        more = _next(found, k, max_k)
        go = f"go on to k = {more}: {text}; how far it is, is not in the data ({found.unknown})"
        if found.unknown == ONE_PROMPT:
            text = f"stop: {text}; {ONE_PROMPT}, and more generations of it tell nothing of others"
            return Stop(True, "out of reach", now, half_width, None, text)
        return Stop(False, "go on", now, half_width, more, go)
    if found.reachable < _HOPELESS:
        return Stop(True, "out of reach", now, half_width, None, f"stop: {text}. {found}")
    near = minimal_k(fit) if estimand == "mu" else None
    if near is not None and found.k is None and near.upper is not None and k >= near.upper:
        return Stop(True, "as good as it gets", now, half_width, None, f"stop: {text}. {found}")
    next_k = _next(found, k, max_k)
    return Stop(False, "go on", now, half_width, next_k, f"go on to k = {next_k}: {text}")


def _next(found: MinimalK, k: int, max_k: int | None) -> int:
    """The k that should do, at least one more and at most twice as many as now."""
    wanted = 2 * k if found.k is None else min(max(found.k, k + 1), 2 * k)
    return wanted if max_k is None else min(wanted, max_k)


def stopping_pair(
    a: PromptCounts | Fit,
    b: PromptCounts | Fit,
    *,
    looks: Sequence[int],
    estimand: str = "mu",
    level: float = 0.05,
    seed: int = 0,
) -> Stop:
    """Say whether it is decided which of two llms is better.

    Parameters
    ----------
    a, b : PromptCounts or Fit
    looks : sequence of int
        All k at which one looks, past and future, as planned at the outset. The critical value
        makes up for looking that often, so that equal llms are told apart in `level` of all cases.
    estimand : {"mu", "score"}
    level : float
    seed : int

    Raises
    ------
    PcorrectError
        The data do not tell the variances, or a choice is out of range.
    """
    check_estimand(estimand)
    pair = pair_variances(a, b, seed=seed)
    if pair.unknown:
        raise PcorrectError(f"order of {pair.a!r} and {pair.b!r}: {pair.unknown}")
    z = paired_z(pair, estimand)
    times = information(
        looks, between=float(pair.between.mean()), within=pair.within_here, estimand=estimand
    )
    critical = boundary(times, level)
    better = pair.a if z > 0 else pair.b
    text = f"|z| = {abs(z):.2f}, boundary {critical:.2f} for {len(times)} looks"
    if abs(z) >= critical:
        return Stop(True, "decided", abs(z), critical, None, f"stop: {better} is better ({text})")
    later = [int(k) for k in looks if k > pair.k_used]
    if not later:
        end = f"stop: undecided after the last look ({text})"
        return Stop(True, "no more generations", abs(z), critical, None, end)
    return Stop(False, "go on", abs(z), critical, later[0], f"go on to k = {later[0]}: {text}")


def paired_z(pair: PairVariances, estimand: str) -> float:
    """Normal score of the paired difference (Student t for new prompts).

    Where nothing varies, and moments know no error, it is that of the posterior.
    """
    value, se, draws = pair.estimate, pair.se_mu, pair.difference
    if estimand == "score":
        se, draws = pair.se_score, pair.difference_here
    if np.isnan(se):
        value, se = float(draws.mean()), float(draws.std())
    t = value / se if se > 0 else 0.0
    if estimand == "score":
        return t
    # the lower tail keeps its digits where the upper one rounds to 1
    return float(-np.sign(t) * ndtri(max(stdtr(pair.n_prompts - 1, -abs(t)), 1e-300)))
