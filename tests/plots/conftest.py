"""Fits to draw."""

import pytest

from pcorrect.fitting import Fit
from tests.support.fits import CASES, fit_of


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Fit:
    """Each case in turn."""
    return fit_of(request.param)


@pytest.fixture
def ordinary() -> Fit:
    """198 prompts, k = 8."""
    return fit_of("ordinary")
