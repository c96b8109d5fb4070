"""What a stopping rule does on average: coverage, error rates and mean k, by simulation.

The truth is a table of p_i (of pairs for two llms) that prompts are drawn from with replacement:
real proportions of a long run, or draws of any population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.marginal import FloatArray
from pcorrect.planning.stop_rule import boundary, information
from pcorrect.planning.variances import CI_PROB, check_estimand

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class WidthRule:
    """Operating characteristics of "stop when the interval is narrow enough".

    Parameters
    ----------
    coverage, coverage_fixed : float
        Share of runs whose interval holds the truth: at the stop, and if every run went on to the
        last look.
    mean_k : float
        Generations per prompt at the stop.
    reached : float
        Share of runs that stop before or at the last look with the width that was wanted.
    mean_half_width : float
        At the stop.
    replications : int
    """

    coverage: float
    coverage_fixed: float
    mean_k: float
    reached: float
    mean_half_width: float
    replications: int


def simulate_width_rule(
    p: ArrayLike,
    *,
    n: int,
    looks: Sequence[int],
    half_width: float,
    estimand: str = "mu",
    interval: str = "moments",
    model: str = DEFAULT_MODEL,
    replications: int = 1000,
    seed: int = 0,
    ci_prob: float = CI_PROB,
    progress: bool = False,
) -> WidthRule:
    """Simulate a rule that looks after each batch and stops at the wanted half-width.

    Parameters
    ----------
    p : array_like
        Truth: the p_i of prompts, drawn from with replacement.
    n : int
        Prompts of one run.
    looks : sequence of int
        Generations per prompt at each look; the first at least 2.
    half_width : float
    estimand : {"mu", "score"}
    interval : {"moments", "posterior"}
        The moment interval (fast), or the credible interval of a fit.
    model : str
        Of the fit.
    replications, seed : int
    ci_prob : float
    progress : bool
        Show a bar.

    Raises
    ------
    PcorrectError
        A choice or number is out of range.
    """
    check_estimand(estimand)
    ks = _check_looks(looks)
    if interval not in ("moments", "posterior"):
        raise PcorrectError(f"interval must be 'moments' or 'posterior', got {interval!r}")
    truth, counts, target = _runs(np.ravel(np.asarray(p, float)), n, ks, replications, seed)
    want = np.full(replications, target) if estimand == "mu" else truth
    if interval == "moments":
        low, high = _moment_intervals(counts, ks, estimand, ci_prob)
    else:
        low, high = _posterior_intervals(counts, ks, estimand, ci_prob, model, seed, progress)
    width = (high - low) / 2
    narrow = width <= half_width
    at = np.where(narrow.any(axis=1), np.argmax(narrow, axis=1), len(ks) - 1)
    rows = np.arange(replications)
    inside = (low <= want[:, None]) & (want[:, None] <= high)
    return WidthRule(
        float(inside[rows, at].mean()),
        float(inside[:, -1].mean()),
        float(ks[at].mean()),
        float(narrow.any(axis=1).mean()),
        float(width[rows, at].mean()),
        replications,
    )


@dataclass(frozen=True)
class ComparisonRule:
    """Operating characteristics of "stop when one llm is significantly better".

    Parameters
    ----------
    wrong : float
        Share of runs that name the worse llm better; any llm, where the two are equal.
    right : float
        Share that name the better one; 0 where the two are equal.
    mean_k : float
        Generations per prompt at the stop.
    critical : float
        Critical value of |z|.
    """

    wrong: float
    right: float
    mean_k: float
    critical: float


def simulate_comparison_rule(
    p_a: ArrayLike,
    p_b: ArrayLike,
    *,
    n: int,
    looks: Sequence[int],
    estimand: str = "mu",
    level: float = 0.05,
    replications: int = 1000,
    seed: int = 0,
) -> dict[str, ComparisonRule]:
    """Simulate a comparison of two llms that is looked at after each batch.

    Parameters
    ----------
    p_a, p_b : array_like, same length
        Truth: the p_i of both llms on the same prompts, drawn together with replacement.
    n, looks, replications, seed
        As in `simulate_width_rule`.
    estimand : {"mu", "score"}
        For "score" the truth is the order on the prompts of each run.
    level : float
        Two-sided error rate that is meant.

    Returns
    -------
    dict of ComparisonRule
        "once": one test, at the last look. "peeking": the same critical value at every look.
        "corrected": the constant boundary of `boundary`, from each run's own variances.
    """
    check_estimand(estimand)
    ks = _check_looks(looks)
    a, b = np.ravel(np.asarray(p_a, float)), np.ravel(np.asarray(p_b, float))
    if len(a) != len(b):
        raise PcorrectError(f"p_a and p_b must have the same length, got {len(a)} and {len(b)}")
    rng = np.random.default_rng(seed)
    index = rng.integers(len(a), size=(replications, n))
    true = a.mean() - b.mean() if estimand == "mu" else (a - b)[index].mean(axis=1)
    sign = np.sign(np.where(np.abs(true) < 1e-12, 0.0, true)) * np.ones(replications)
    s_a, s_b = (_cumulative(x[index], ks, rng) for x in (a, b))
    z, variance = _paired_z(s_a, s_b, ks, estimand)
    plain = float(ndtri(1 - level / 2))
    # The boundary varies slowly with the variances: each run's from the median run's would do; the
    # run's own are taken in classes of similar ones to save time.
    corrected = _own_boundaries(variance, ks, estimand, level)
    found = {}
    for name, critical, first in (
        ("once", np.full(replications, plain), len(ks) - 1),
        ("peeking", np.full(replications, plain), 0),
        ("corrected", corrected, 0),
    ):
        over = np.abs(z[:, first:]) >= critical[:, None]
        stopped = over.any(axis=1)
        at = np.where(stopped, np.argmax(over, axis=1), over.shape[1] - 1) + first
        named = np.where(stopped, np.sign(z[np.arange(replications), at]), 0.0)
        found[name] = ComparisonRule(
            float(np.mean((named != 0) & (named != sign))),
            float(np.mean((named != 0) & (named == sign))),
            float(ks[at].mean()),
            float(np.median(critical)),
        )
    return found


def _check_looks(looks: Sequence[int]) -> IntArray:
    ks = np.asarray(looks)
    if (
        ks.dtype.kind not in "iu"
        or ks.ndim != 1
        or not ks.size
        or ks[0] < 2
        or np.any(np.diff(ks) < 1)
    ):
        raise PcorrectError(f"looks must be increasing whole numbers from 2 on, got {list(looks)}")
    return ks.astype(np.int64)


def _cumulative(p: FloatArray, ks: IntArray, rng: np.random.Generator) -> IntArray:
    """Correct generations up to each look, shape (R, n, J)."""
    steps = np.diff(ks, prepend=0)
    return np.cumsum(rng.binomial(steps, p[..., None]), axis=-1)


def _runs(
    p: FloatArray, n: int, ks: IntArray, replications: int, seed: int
) -> tuple[FloatArray, IntArray, float]:
    """True score of each run (R,), counts (R, n, J), and the true mu."""
    if n < 2 or replications < 1 or not p.size or not np.all((p >= 0) & (p <= 1)):
        raise PcorrectError("needs p in [0, 1], n >= 2 prompts and at least one replication")
    rng = np.random.default_rng(seed)
    drawn = p[rng.integers(len(p), size=(replications, n))]
    return drawn.mean(axis=1), _cumulative(drawn, ks, rng), float(p.mean())


def _moment_intervals(
    counts: IntArray, ks: IntArray, estimand: str, ci_prob: float
) -> tuple[FloatArray, FloatArray]:
    n = counts.shape[1]
    p_hat = counts / ks
    tail = (1 + ci_prob) / 2
    if estimand == "mu":
        se = np.sqrt(p_hat.var(axis=1, ddof=1) / n) * stdtrit(n - 1, tail)
    else:
        se = np.sqrt((p_hat * (1 - p_hat) / (ks - 1)).mean(axis=1) / n) * ndtri(tail)
    mean = p_hat.mean(axis=1)
    return mean - se, mean + se


def _posterior_intervals(
    counts: IntArray,
    ks: IntArray,
    estimand: str,
    ci_prob: float,
    model: str,
    seed: int,
    progress: bool,
) -> tuple[FloatArray, FloatArray]:
    from tqdm import tqdm

    bounds = np.empty((2, len(counts), len(ks)))
    for r, run in enumerate(tqdm(counts, disable=None if progress else True)):
        for j, k in enumerate(ks):
            fit = run_fit(PromptCounts.from_arrays(run[:, j], int(k)), model=model, seed=seed)
            bounds[:, r, j] = fit.marginals[estimand].interval(ci_prob)
    return bounds[0], bounds[1]


def _paired_z(
    s_a: IntArray, s_b: IntArray, ks: IntArray, estimand: str
) -> tuple[FloatArray, FloatArray]:
    """Normal scores (R, J), and the between and within variances at the last look (R, 2)."""
    n = s_a.shape[1]
    p, q = s_a / ks, s_b / ks
    within = (p * (1 - p) + q * (1 - q)).mean(axis=1) * ks / (ks - 1)
    d = p - q
    spread = d.var(axis=1, ddof=1)
    variance = spread if estimand == "mu" else within / ks
    t = np.divide(
        d.mean(axis=1), np.sqrt(variance / n), out=np.zeros_like(within), where=variance > 0
    )
    if estimand == "mu":
        t = -np.sign(t) * ndtri(np.maximum(stdtr(n - 1, -np.abs(t)), 1e-300))
    between = np.maximum(spread - within / ks, 0)
    return t, np.stack([between[:, -1], within[:, -1]], axis=1)


def _own_boundaries(variance: FloatArray, ks: IntArray, estimand: str, level: float) -> FloatArray:
    """Critical value of each run, from its between/within ratio rounded to a tenth of a decade."""
    if estimand == "score":
        return np.full(
            len(variance), boundary(information(ks, between=0, within=1, estimand="score"), level)
        )
    ratio = np.round(10 * np.log10((variance[:, 0] + 1e-3) / (variance[:, 1] + 1e-3)))
    values = {
        r: boundary(information(ks, between=float(10 ** (r / 10)), within=1.0), level)
        for r in np.unique(ratio)
    }
    return np.array([values[r] for r in ratio])
