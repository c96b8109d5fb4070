r"""Outcome-dependent k: whether the numbers of generations depend on the results.

If k_i was set beforehand, or at random, s_i / k_i has the same mean at every k, and so has
W_i = p_hat_i (1 - p_hat_i) k_i / (k_i - 1), which is unbiased for p_i (1 - p_i). A rule that stops
a prompt once its outputs vary, or once it is right, ties both to k. The tests are slopes of
either on the rank of k, studentised so that the unequal variances of short and long prompts do no
harm, with permutations of k as reference (DiCiccio & Romano 2017, JASA 112:1211).

Where the order of generations is known, the last one of a prompt that ended before others did tells
more: if it has a single odd outcome (or text), exchangeable generations have it at the end once in
k times, a stopping rule always.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pcorrect.data import PromptCounts
from pcorrect.errors import DataError
from pcorrect.marginal import FloatArray

REPLICATES = 999
# Permutations x prompts held at a time.
_MOST_AT_ONCE = 5_000_000
# From so many prompts on, sums over them are normal.
_LARGE = 5000

Status = Literal["depends", "doubtful", "no sign", "equal k"]


@dataclass(frozen=True)
class StoppingCheck:
    """Whether k_i depends on the results, and what the simple estimates are.

    Parameters
    ----------
    status : str
        "depends" (`p_value` below .01), "doubtful" (below .05), "no sign", or "equal k" where
        there is nothing to depend on.
    verdict : str
        One or two sentences; where k depends on the results, the assumption that is being made.
    p_value : float or None
        Smallest of the others, times their number (Bonferroni).
    p_mean, p_variation : float or None
        Association of k with p_hat_i, and with W_i.
    p_last, p_last_text : float or None
        Single odd outcomes, and single odd texts, at the end of their prompt; both need the order
        of generations.
    estimates : dict of str to (float, float)
        Estimate of mu and its standard error: "pooled" (each generation counts once), "prompt
        mean" (each prompt counts once) and, where the order is known, "first generation".
    """

    status: Status
    verdict: str
    p_value: float | None
    p_mean: float | None
    p_variation: float | None
    p_last: float | None
    p_last_text: float | None
    estimates: Mapping[str, tuple[float, float]]


def check_stopping(
    counts: PromptCounts,
    *,
    outcomes: NDArray[np.integer] | None = None,
    texts: NDArray[np.integer] | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> StoppingCheck:
    """Test whether the number of generations of a prompt depends on its results.

    Parameters
    ----------
    counts : PromptCounts
    outcomes : ndarray of int, shape (n, k), optional
        1 correct, 0 wrong, -1 missing, in the order in which the generations were made.
    texts : ndarray of int, shape (n, k), optional
        A number for each different answer or response (see `text_codes`), -1 missing.
    seed : int
    replicates : int
        Permutations; the smallest p-value is ``1 / (1 + replicates)``.

    Raises
    ------
    DataError
        `outcomes` or `texts` have another number of prompts.
    """
    for name, matrix in (("outcomes", outcomes), ("texts", texts)):
        if matrix is not None and len(matrix) != len(counts.prompt):
            raise DataError(f"{name} of {len(matrix)} prompts for {len(counts.prompt)} counts")
    seen = counts.n_generations > 0
    k = counts.n_generations[seen].astype(float)
    p_hat = counts.n_correct[seen] / k
    ordered = None if outcomes is None else outcomes[seen]
    estimates = _estimates(p_hat, k, ordered)
    if len(k) == 0 or k.min() == k.max():
        text = "All prompts have the same k."
        return StoppingCheck("equal k", text, None, None, None, None, None, estimates)
    if len(k) < 3:
        text = "Two prompts are too few to tell whether their k depends on the results."
        return StoppingCheck("no sign", text, None, None, None, None, None, estimates)
    rng = np.random.default_rng([seed, 7])
    p_mean = _slope_test(p_hat, k, replicates, rng)
    several = k >= 2
    w = p_hat[several] * (1 - p_hat[several]) * k[several] / (k[several] - 1)
    p_variation = _slope_test(w, k[several], replicates, rng)
    p_last, p_text = (None if x is None else _last_test(x) for x in (outcomes, texts))
    tests = [p for p in (p_mean, p_variation, p_last, p_text) if p is not None]
    p_value = min(1.0, len(tests) * min(tests)) if tests else None
    status: Status = "no sign"
    if p_value is not None and p_value < 0.05:
        status = "depends" if p_value < 0.01 else "doubtful"
    found = StoppingCheck(status, "", p_value, p_mean, p_variation, p_last, p_text, estimates)
    return replace(found, verdict=_sentence(found))


def _estimates(
    p_hat: FloatArray, k: FloatArray, outcomes: NDArray[np.integer] | None
) -> dict[str, tuple[float, float]]:
    n = len(k)
    if not n:
        return {}
    pooled = float(k @ p_hat / k.sum())
    # a ratio of sums over prompts: linearised (Cochran 1977, Sampling Techniques, 6.4)
    error = np.sqrt(np.sum((k * (p_hat - pooled)) ** 2) * n / max(n - 1, 1)) / k.sum()
    found = {
        "pooled": (pooled, float(error)),
        "prompt mean": (float(p_hat.mean()), _standard_error(p_hat)),
    }
    if outcomes is not None:
        first = outcomes[np.arange(n), np.argmax(outcomes >= 0, axis=1)].astype(float)
        found["first generation"] = (float(first.mean()), _standard_error(first))
    return found


def _standard_error(value: FloatArray) -> float:
    return float(value.std(ddof=1) / np.sqrt(len(value))) if len(value) > 1 else float("nan")


def _slope_test(
    value: FloatArray, k: FloatArray, replicates: int, rng: np.random.Generator
) -> float | None:
    """Two-sided permutation p-value of the studentised slope of `value` on the rank of k."""
    if len(k) < 3 or k.min() == k.max() or np.ptp(value) == 0:
        return None
    _, inverse, n = np.unique(k, return_inverse=True, return_counts=True)
    # mid-ranks
    rank = (np.cumsum(n) - (n - 1) / 2)[inverse]
    rank = rank - rank.mean()
    deviation = value - value.mean()
    statistic = float(_studentised(rank, deviation))
    if len(rank) > _LARGE:
        return float(2 * ndtr(-abs(statistic)))
    more = 0
    step = max(1, _MOST_AT_ONCE // len(rank))
    for i in range(0, replicates, step):
        size = min(step, replicates - i)
        drawn = rng.permuted(np.broadcast_to(rank, (size, len(rank))), axis=1)
        more += int(np.sum(np.abs(_studentised(drawn, deviation)) >= abs(statistic) - 1e-12))
    return (1 + more) / (1 + replicates)


def _studentised(rank: FloatArray, deviation: FloatArray) -> FloatArray:
    error = np.sqrt(rank**2 @ deviation**2)
    return np.asarray(rank @ deviation / np.where(error > 0, error, 1.0))


def _last_test(codes: NDArray[np.integer]) -> float | None:
    """Chance of as many single odd outcomes at the end of their prompt.

    Given that a prompt of k >= 3 generations has one odd outcome its place is uniform; the number
    of prompts that have it last is a sum of independent events of chance 1 / k. Prompts that have
    the last generation of all were not stopped, and a worse last run is no stopping rule.
    """
    scored = codes >= 0
    k = scored.sum(axis=1)
    some = (k >= 3) & ~scored[:, -1]
    codes, scored, k = codes[some], scored[some], k[some]
    if not len(k):
        return None
    row = np.arange(len(k))
    first = codes[row, np.argmax(scored, axis=1)]
    last = codes[row, codes.shape[1] - 1 - np.argmax(scored[:, ::-1], axis=1)]
    like_first, like_last = (np.sum(codes == x[:, None], axis=1) for x in (first, last))
    # the odd one is another than the first, or it is the first and all others are like the last
    single = (like_first == k - 1) | ((like_first == 1) & (like_last == k - 1))
    if not single.any():
        return None
    odd_last = int(np.sum(single & (like_last == 1)))
    p_odd = 1.0 / k[single]
    if len(p_odd) > _LARGE:
        excess = odd_last - 0.5 - p_odd.sum()
        return float(ndtr(-excess / np.sqrt(np.sum(p_odd * (1 - p_odd)))))
    chance = np.ones(1)
    for p in p_odd:
        chance = np.convolve(chance, [1 - p, p])
    return float(min(1.0, chance[odd_last:].sum()))


def text_codes(
    prompts: Sequence[str],
    prompt: Sequence[str],
    generation: Sequence[int],
    text: Sequence[str | None],
) -> NDArray[np.int64]:
    """Matrix of numbers for texts, equal where the texts are.

    Parameters
    ----------
    prompts : sequence of str, length n
        The rows.
    prompt, generation, text : sequences of equal length
        One entry per generation; columns are ordered by `generation`.

    Returns
    -------
    ndarray of int, shape (n, k)
        -1 where a prompt has no such generation, or no text.
    """
    row = {name: i for i, name in enumerate(prompts)}
    column = {number: j for j, number in enumerate(sorted(set(generation)))}
    code: dict[str, int] = {}
    matrix = np.full((len(row), len(column)), -1, dtype=np.int64)
    for name, number, value in zip(prompt, generation, text, strict=True):
        if name in row and value is not None:
            matrix[row[name], column[number]] = code.setdefault(value, len(code))
    return matrix


def _sentence(found: StoppingCheck) -> str:
    if found.p_value is None or found.status == "no sign":
        p = "" if found.p_value is None else f" (p = {found.p_value:.2g})"
        return f"No sign that the numbers of generations depend on the results{p}."
    opening = (
        "The numbers of generations depend on the results"
        if found.status == "depends"
        else "Some doubt whether the numbers of generations depend on the results"
    )
    values = ", ".join(f"{name} {value:.3f}" for name, (value, _) in found.estimates.items())
    text = (
        f"{opening} (p = {found.p_value:.2g}; {values}). The posterior assumes that whether to go "
        "on was decided by the grades so far and nothing else; pooled accuracy and prompt means "
        "are biased if so"
    )
    if "first generation" in found.estimates:
        text += ", first generations are not, whatever the rule"
    return text + ". Were lengths set beforehand by difficulty, the prompt mean is right instead."
