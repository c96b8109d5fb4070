"""Scales and words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear, logarithmic

finite = st.floats(-1e6, 1e6, allow_subnormal=False)


@given(st.lists(finite, min_size=1, max_size=5))
def test_linear_covers_the_values_with_few_round_ticks(values):
    axis = linear(values, "")
    assert axis.low <= min(values)
    assert max(values) <= axis.high
    assert 1 <= len(axis.ticks) <= 8
    assert all(axis.low - 1e-6 <= t <= axis.high + 1e-6 for t in axis.ticks)
    assert np.all((axis.place(values) >= 0) & (axis.place(values) <= 1))


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=5))
def test_logarithmic_covers_the_values(values):
    axis = logarithmic(values, "", str)
    assert axis.low < min(values)
    assert max(values) < axis.high
    assert len(axis.ticks) <= 8


def test_nothing_to_cover():
    assert linear([np.nan], "").ticks
    assert logarithmic([np.nan, 0.0], "", str).low > 0


def test_ends_that_are_fixed_stay():
    axis = linear([0.2, 0.4], "", bounds=(0, 1))
    assert (axis.low, axis.high) == (0, 1)
    np.testing.assert_allclose(axis.place([-1, 0.5, 2]), [0, 0.5, 1])


@pytest.mark.parametrize(
    ("value", "width", "text"),
    [
        (0.4123, None, "41.2"),
        (0.4123, 0.005, "41.23"),
        (0.0, None, "0.0"),
        (1.0, None, "100.0"),
        (0.00004, None, "0.004"),
        (0.99996, None, "99.996"),
        (1e-9, None, "< 0.0001"),
        (1 - 1e-9, None, "> 99.9999"),
        (None, None, "–"),
        (float("nan"), None, "–"),
    ],
)
def test_percent_never_reads_0_or_100_without_being_it(value, width, text):
    assert words.percent(value, width) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.50"), (0.995, "0.995"), (0.9999, "> 0.999"), (1.0, "> 0.999"), (0.0, "< 0.001")],
)
def test_probability_is_never_certain(value, text):
    assert words.probability(value) == text


def test_words():
    assert words.fixed(-0.001) == "0.00"
    assert words.fixed(-1.5, 1) == "−1.5"
    assert words.p_value(1.0) == "1.00"
    assert words.p_value(0.0001) == "< 0.001"
    assert words.equals(0.25) == "= 0.25"
    assert words.equals(1.0) == "> 0.999"
    assert words.interval(0.1, 0.2) == "10.0 to 20.0"
    assert words.points(-0.012) == "−1.2"
    assert words.points_interval(-0.001, 0.002) == "−0.10 to +0.20"
    assert words.count(1, "prompt") == "1 prompt"
    assert words.count(2000, "prompt") == "2,000 prompts"
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed(list("abcdef"), 2) == "a, b and 4 more"
    assert words.shortened("abcdefghij", 10) == "abcdefghij"
    assert words.shortened("abcdefghijk", 6) == "ab…ijk"
    assert words.level(0.9, "hdi") == "90 % highest-density interval"
    assert words.number(12345.0) == "12,345"
    assert in_percent(-0.05) == "−5"
