"""Ranks and pairs from joint posterior draws of the means of many llms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.marginal import FloatArray


@dataclass(frozen=True)
class Stability:
    """How much of the order would survive if everything were run again.

    Parameters
    ----------
    kendall_tau : float
        Expected rank correlation of the new order with this one.
    p_same_best : float
        P(the same llm comes first).
    p_same_order : ndarray, shape (L - 1,)
        P(each llm stays ahead of the next one).
    """

    kendall_tau: float
    p_same_best: float
    p_same_order: FloatArray


@dataclass(frozen=True)
class Pairwise:
    """Ranks of each draw, shape (D, L), and what they say of each llm and each pair."""

    rank: FloatArray
    p_best: FloatArray
    p_better: FloatArray
    told_apart: NDArray[np.bool_]


def pairwise(mu: FloatArray, ci_prob: float) -> Pairwise:
    """Everything that compares pairs of columns, one column at a time."""
    llms = mu.shape[1]
    # A column is a tie with itself, and ties share their mean rank.
    rank = np.ones_like(mu)
    p_better = np.full((llms, llms), 0.5)
    # Differences are held against their own 99 % quantile rather than their sd: llms that are all
    # right have differences with long tails, which would otherwise set the bar for every pair.
    mean, scale = np.zeros((llms, llms)), np.full((llms, llms), np.inf)
    place = int(0.99 * (len(mu[::2]) - 1))
    largest = np.zeros(len(mu))
    for i in range(llms - 1):
        gap = mu[:, i : i + 1] - mu[:, i + 1 :]
        ahead = (gap > 0) + 0.5 * (gap == 0)
        rank[:, i] += np.sum(1 - ahead, axis=1)
        rank[:, i + 1 :] += ahead
        p_better[i, i + 1 :] = ahead.mean(axis=0)
        p_better[i + 1 :, i] = 1 - p_better[i, i + 1 :]
        mean[i, i + 1 :] = gap.mean(axis=0)
        off = np.abs(gap - mean[i, i + 1 :])
        reach = np.partition(off[::2], place, axis=0)[place]
        scale[i, i + 1 :] = np.where(reach > 0, reach, np.inf)
        np.maximum(largest, np.max(off / scale[i, i + 1 :], axis=1), out=largest)
    told_apart = np.abs(mean) > np.quantile(largest, ci_prob) * scale
    told_apart |= told_apart.T
    return Pairwise(rank, _p_first(mu), p_better, told_apart)


def _p_first(values: FloatArray) -> FloatArray:
    """Share of rows in which each column is the largest; ties share it."""
    best = values == values.max(axis=1, keepdims=True)
    return np.asarray(np.mean(best / best.sum(axis=1, keepdims=True), axis=0))


def runs(names: tuple[str, ...], told_apart: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """The maximal runs of the order in which no two are told apart."""
    spans: list[tuple[int, int]] = []
    for first in range(len(names)):
        last = first
        while last + 1 < len(names) and not told_apart[first : last + 1, last + 1].any():
            last += 1
        if not spans or last > spans[-1][1]:
            spans.append((first, last))
    return tuple(names[first : last + 1] for first, last in spans)


def stability(again: FloatArray, estimate: FloatArray) -> Stability:
    """Hold means of runs made again, shape (R, L), against the sorted estimates of this one."""
    llms = len(estimate)
    one, two = np.triu_indices(llms, 1)
    now = np.sign(estimate[one] - estimate[two])
    agree = np.zeros(len(again))
    for start in range(0, len(one), 2000):
        block = slice(start, start + 2000)
        gap = again[:, one[block]] - again[:, two[block]]
        agree += np.sign(gap) @ now[block]
    step = again[:, :-1] - again[:, 1:]
    return Stability(
        float(agree.mean() / len(one)),
        float(_p_first(again)[0]),
        np.mean((step > 0) + 0.5 * (step == 0), axis=0),
    )
