"""Fits of every size and edge that a plot has to survive, by the exact engine."""

import functools

import numpy as np

from pcorrect.data import Counts, PromptCounts, RowReport
from pcorrect.fitting import Fit, run_fit


def _counts(name: str) -> PromptCounts:
    rng = np.random.default_rng(3)
    n_correct, k = {
        "ordinary": (np.repeat(np.arange(9), [24, 14, 14, 7, 6, 21, 49, 49, 14]), 8),
        "one prompt": ([5], 8),
        "ten thousand prompts": (rng.binomial(16, rng.beta(0.5, 0.3, 10_000)), 16),
        "one generation": (rng.binomial(1, 0.6, 100), 1),
        "all right": (np.full(40, 10), 10),
        "all wrong": (np.zeros(40, int), 10),
        "one of each": ([1], 1),
        "many generations": (rng.binomial(500, rng.beta(2, 2, 30)), 500),
        "unequal k": (rng.binomial(np.arange(1, 61), 0.4), np.arange(1, 61)),
        "some without": ([0, 3, 4, 0], [0, 4, 4, 4]),
    }[name]
    return PromptCounts.from_arrays(n_correct, k, llm=name, benchmark="quiz")


CASES = [
    "ordinary",
    "one prompt",
    "ten thousand prompts",
    "one generation",
    "all right",
    "all wrong",
    "one of each",
    "many generations",
    "unequal k",
    "some without",
]


@functools.cache
def fit_of(name: str) -> Fit:
    """The fit of a case, made once."""
    return run_fit(_counts(name), model="beta_bernoulli")


def many_counts(n_correct: np.ndarray, k: int) -> Counts:
    """Counts of several llms, shape (llms, prompts), all with k generations; long names."""
    llms, n = n_correct.shape
    return Counts(
        "quiz",
        np.array([f"an llm with a long name, number {i}" for i in range(llms)], object),
        np.array([f"q{i}" for i in range(n)], object),
        n_correct,
        np.full((llms, n), k),
        np.ones((llms, n), bool),
        tuple(RowReport(n * k, n * k) for _ in range(llms)),
    )
