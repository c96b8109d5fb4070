"""Fits of every size and edge that a plot has to survive, by the exact engine."""

import functools

import numpy as np
import pytest

from pcorrect.data import PromptCounts
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


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Fit:
    """Each case in turn."""
    return fit_of(request.param)


@pytest.fixture
def ordinary() -> Fit:
    """198 prompts, k = 8."""
    return fit_of("ordinary")
