"""Verdicts: shares of the whole posterior, and undecided where it is wide."""

import csv
import json

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from pcorrect.comparison import equivalence
from pcorrect.comparison.estimates import Estimate
from pcorrect.errors import PcorrectError

GRID = ndtri((np.arange(40_000) + 0.5) / 40_000)


def test_share_of_the_whole_posterior():
    judged = equivalence(0.02 + 0.02 * GRID, 0.01)
    assert judged.p_equivalent == pytest.approx(ndtr(-0.5) - ndtr(-1.5), abs=1e-3)
    assert judged.p_better == pytest.approx(0.8413, abs=1e-3)
    assert judged.verdict == "undecided"


def test_wide_is_undecided():
    judged = equivalence(0.5 * GRID, 0.01)
    assert judged.p_equivalent == pytest.approx(0.016, abs=1e-3)
    assert judged.verdict == "undecided"


def test_shared_case_34(shared):
    folder = shared / "cases" / "34"
    expected = json.loads((folder / "expected.json").read_text())["expected"]

    def draws(name):
        with (folder / name).open() as file:
            return [float(row["diff"]) for row in csv.DictReader(file)]

    narrow = equivalence(draws("draws_diff.csv"), 0.01)
    assert narrow.p_equivalent == pytest.approx(expected["full"], abs=2e-3)
    assert narrow.p_better == pytest.approx(expected["p_gt0"], abs=2e-3)
    wide = equivalence(draws("draws_wide.csv"), 0.01)
    assert wide.p_equivalent == pytest.approx(expected["wide_full"], abs=2e-3)
    assert wide.verdict == "undecided"


@pytest.mark.parametrize(
    ("shift", "verdict"), [(0.05, "better"), (-0.05, "worse"), (0.0, "equivalent")]
)
def test_verdicts(shift, verdict):
    assert equivalence(shift + 0.004 * GRID, 0.01).verdict == verdict


def test_asymmetric_region_and_ties():
    judged = equivalence([-1.0, 0.0, 0.0, 1.0], (-0.5, 2.0))
    assert judged.p_better == 0.5
    assert judged.p_equivalent == 0.75


@pytest.mark.parametrize("rope", [(0.1, -0.1), float("nan"), (0.0, float("inf"))])
def test_bad_region(rope):
    with pytest.raises(PcorrectError, match="rope"):
        equivalence([0.0], rope)


def test_no_draws():
    with pytest.raises(PcorrectError, match="no draws"):
        equivalence([], 0.1)


def test_estimate_turned_round():
    one = Estimate(0.1, 0.2, -0.3, 0.5)
    assert one.negated() == Estimate(-0.1, 0.2, -0.5, 0.3)
    assert one.negated().negated() == one
