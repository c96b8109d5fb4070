"""Fixtures that all tests share."""

from pathlib import Path

import numpy as np
import pytest

from pcorrect.data import PromptCounts


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real results and cases beside the repository; tests skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("real data are not beside this checkout (../shared)")
    return folder


@pytest.fixture
def spiky() -> PromptCounts:
    """Counts as many llms have them: 0..8 of 8, heaped near both ends."""
    return PromptCounts.from_arrays(np.repeat(np.arange(9), [24, 14, 14, 7, 6, 21, 49, 49, 14]), 8)
