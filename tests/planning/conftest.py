"""What the tests of planning share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.fitting import run_fit
from pcorrect.populations.population import Population
from pcorrect.result import Fit


@pytest.fixture(autouse=True)
def exact_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts that are planned from are fitted by the exact engine here: it takes no time."""
    fast = partial(run_fit, model="beta_bernoulli")
    monkeypatch.setattr("pcorrect.planning.variances.run_fit", fast)


@pytest.fixture(scope="session")
def with_population() -> Callable[[Fit, Population | None], Fit]:
    """A copy of a fit whose population is another one, or not known (None)."""
    return lambda fit, population: replace(fit, make_population=lambda: population)


@pytest.fixture(scope="session")
def spiky_fit() -> Fit:
    """A fit of the counts of the fixture `spiky` by the default model."""
    s = np.repeat(np.arange(9), [24, 14, 14, 7, 6, 21, 49, 49, 14])
    return run_fit(PromptCounts.from_arrays(s, 8))
