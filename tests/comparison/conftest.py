"""Simulated llms on shared prompts, whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtr

from pcorrect.data import Counts, RowReport

FloatArray = NDArray[np.float64]


def _counts_of(
    n_correct: object,
    n_generations: object,
    *,
    llm: list[str] | None = None,
    group: list[str] | None = None,
    benchmark: str = "made-up",
) -> Counts:
    s = np.asarray(n_correct, np.int64)
    k = np.broadcast_to(np.asarray(n_generations, np.int64), s.shape).copy()
    names = llm or [chr(ord("a") + i) for i in range(len(s))]
    rows = tuple(RowReport(int(row.sum()), int(row.sum())) for row in k)
    return Counts(
        benchmark,
        np.array(names, object),
        np.array([f"q{i}" for i in range(s.shape[1])], object),
        s,
        k,
        np.ones(s.shape, bool),
        rows,
        None if group is None else np.array(group, object),
    )


def _beta_llms(
    n: int,
    k: int,
    shapes: list[tuple[float, float]],
    correlation: float,
    rng: np.random.Generator,
) -> tuple[Counts, FloatArray]:
    """Beta margins with a common Gaussian factor; also the p, shape (L, n)."""
    common = rng.standard_normal(n)
    own = rng.standard_normal((len(shapes), n))
    z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    p = np.stack([betaincinv(a, b, ndtr(row)) for (a, b), row in zip(shapes, z, strict=True)])
    return _counts_of(rng.binomial(k, p), k), p


@pytest.fixture
def counts_of() -> Callable[..., Counts]:
    """Counts from arrays of shape (L, n)."""
    return _counts_of


@pytest.fixture
def beta_llms() -> Callable[..., tuple[Counts, FloatArray]]:
    """Simulated llms with Beta margins."""
    return _beta_llms
