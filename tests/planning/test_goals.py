"""The smallest k that reaches a goal is one that does, and the one before it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning.goals import minimal_k, prompts_needed, smallest_k
from pcorrect.planning.variances import Estimate, Variances, quantiles, whole


@given(
    mu=st.floats(0.02, 0.98),
    share=st.floats(0.05, 0.95),
    of_floor=st.floats(0.02, 0.5),
)
def test_near_the_floor_by_definition(mu: float, share: float, of_floor: float) -> None:
    found = Variances.assume(mu, share * np.sqrt(mu * (1 - mu)), 50)
    k = minimal_k(found, of_floor=of_floor).k
    assert k is not None
    limit = (1 + of_floor) * found.se_mu(np.inf)[0] * (1 + 1e-9)
    assert found.se_mu(k)[0] <= limit
    assert k == 1 or found.se_mu(k - 1)[0] > limit * (1 - 2e-9)


@given(
    mu=st.floats(0.05, 0.95),
    share=st.floats(0.05, 0.95),
    half_width=st.floats(0.01, 0.3),
    estimand=st.sampled_from(["mu", "score"]),
)
def test_half_width_by_definition(
    mu: float, share: float, half_width: float, estimand: str
) -> None:
    found = Variances.assume(mu, share * np.sqrt(mu * (1 - mu)), 40)

    def width(k: float) -> float:
        se = found.se_mu(k) if estimand == "mu" else found.se_score(k)
        return float(se[0]) * found.factor(estimand)

    result = minimal_k(found, half_width=half_width, estimand=estimand)
    if result.k is None:
        assert estimand == "mu"
        assert width(np.inf) >= half_width * (1 - 1e-9)
        assert result.reachable == 0
        assert result.more_prompts_at_best is not None
        n = int(result.more_prompts_at_best.value) + 40
        assert stdtrit(n - 1, 0.975) * np.sqrt(found.between[0] / n) <= half_width * (1 + 1e-6)
    else:
        assert width(result.k) <= half_width * (1 + 1e-8)
        assert result.k == 1 or width(result.k - 1) > half_width * (1 - 1e-8)


@given(variance=st.floats(1e-4, 0.25), half_width=st.floats(0.005, 0.4))
def test_prompts_needed_is_the_smallest_number(variance: float, half_width: float) -> None:
    n = int(prompts_needed(np.array([variance]), half_width)[0])

    def width(m: int) -> float:
        return float(stdtrit(m - 1, 0.975) * np.sqrt(variance / m))

    assert width(n) <= half_width * (1 + 1e-6)
    assert n <= 2 or width(n - 1) > half_width * (1 - 1e-6)


def test_uncertainty_comes_from_the_draws() -> None:
    """Of ten thousand draws the median and the 95 % quantiles, each rounded up."""
    rng = np.random.default_rng(4)
    between, within = rng.gamma(20, 0.005, 10_000), rng.gamma(50, 0.002, 10_000)
    found = Variances(100, np.full(10_000, 0.5), between, within, within, 4, 4)
    result = minimal_k(found)
    real = np.quantile(within / 0.21 / between, [0.025, 0.5, 0.975])
    assert [result.lower, result.k, result.upper] == [int(np.ceil(x)) for x in real]


def test_draws_without_a_spread_have_no_k() -> None:
    between = np.where(np.arange(1000) < 300, 0.0, 0.05)
    one = np.full(1000, 0.1)
    result = minimal_k(Variances(50, one, between, one, one, 8, 8))
    assert result.k == whole(0.1 / 0.21 / 0.05)
    assert result.upper is None
    assert result.reachable == pytest.approx(0.7)
    assert "k = 10 (with probability 0.3 no k is enough)" in str(result)
    nothing = minimal_k(Variances(50, one, 0 * between, one, one, 8, 8))
    assert nothing.k is None
    assert nothing.reachable == 0


def test_nothing_within_prompts_needs_one_generation() -> None:
    one = np.ones(10)
    assert minimal_k(Variances(50, one, 0.2 * one, 0 * one, 0 * one, 8, 8)).k == 1


@pytest.mark.parametrize(
    ("s", "k", "why"),
    [
        ([1, 0] * 15, 1, "k = 1 everywhere"),
        ([8] * 30, 8, "all generations are correct"),
        ([0] * 30, 8, "all generations are wrong"),
        ([3], 5, "there is one prompt only"),
    ],
)
def test_no_finding_where_the_data_do_not_tell(s: list[int], k: int, why: str) -> None:
    counts = PromptCounts.from_arrays(s, k)
    for result in (minimal_k(counts), minimal_k(counts, half_width=0.05)):
        assert result.k is result.lower is result.upper is None
        assert result.unknown == why
        assert f"not in the data ({why}" in str(result)


def test_one_prompt_has_an_answer_for_itself() -> None:
    result = minimal_k(PromptCounts.from_arrays([3], 5), half_width=0.1, estimand="score")
    assert not result.unknown
    assert result.k is not None
    assert 20 < result.k < 100


def test_no_k_reaches_that_you_need_more_prompts() -> None:
    rng = np.random.default_rng(5)
    counts = PromptCounts.from_arrays(rng.binomial(8, rng.beta(0.8, 0.4, 198)), 8)
    result = minimal_k(counts, half_width=0.02)
    assert result.k is None
    assert result.more_prompts is not None
    assert result.more_prompts_at_best is not None
    assert result.more_prompts.value > result.more_prompts_at_best.value > 500
    assert "no k reaches that: you need" in str(result)
    assert "more prompts at k = 8" in str(result)


@pytest.mark.parametrize(
    "options",
    [
        {"of_floor": 0.1, "half_width": 0.1},
        {"of_floor": 0.0},
        {"half_width": -0.1},
        {"half_width": float("nan")},
        {"estimand": "sigma"},
    ],
)
def test_impossible_goals(options: dict[str, object]) -> None:
    with pytest.raises(PcorrectError):
        minimal_k(Variances.assume(0.5, 0.2, 20), **options)  # type: ignore[arg-type]


def test_whole_numbers_and_quantiles() -> None:
    assert list(whole(np.array([0.2, 6.0000000001, 6.1, np.inf]))) == [1, 6, 7, np.inf]
    low, middle, high = quantiles(np.array([np.inf, 1, 2, 3, np.inf]))
    assert (low, middle, high) == (1, 3, np.inf)
    assert Estimate.of(np.array([2.0])) == Estimate(2.0, 2.0, 2.0)
    assert smallest_k(np.zeros(1), np.zeros(1), 5, np.zeros(1))[0] == np.inf


@pytest.mark.slow
def test_interval_of_minimal_k_covers_the_true_one() -> None:
    """True k of the population, 95 % intervals, 300 data sets: 270 to 296 (4 sd) hold it."""
    rng = np.random.default_rng(6)
    a, b = 0.8, 0.4
    mu = a / (a + b)
    between = mu * (1 - mu) / (a + b + 1)
    true = whole((mu * (1 - mu) - between) / 0.21 / between)
    hits = 0
    for _ in range(300):
        counts = PromptCounts.from_arrays(rng.binomial(8, rng.beta(a, b, 100)), 8)
        result = minimal_k(counts)
        hits += (result.lower or 1) <= true <= (result.upper or np.inf)
    assert hits >= 270


def test_unequal_k_count_by_their_harmonic_mean() -> None:
    """One prompt that ran 64 times does not make 64 generations of the other 99."""
    rng = np.random.default_rng(0)
    p = rng.beta(2, 2, 100)
    k = np.array([2] * 99 + [64])
    fit = run_fit(PromptCounts.from_arrays(rng.binomial(k, p), k), model="beta_bernoulli")
    found = minimal_k(fit, half_width=0.02, estimand="mu")
    assert found.k is None
    assert found.k_used == 2
    assert "at k = 2" in str(found)
    score = minimal_k(fit, half_width=0.04, estimand="score")
    assert "you used 2" in str(score)


def test_impossibly_many_prompts_are_a_number_all_the_same() -> None:
    needed = prompts_needed(np.array([0.09]), 1e-10)
    assert needed[0] == pytest.approx(0.09 * 1.96**2 / 1e-20, rel=0.6)


@pytest.mark.parametrize(
    ("choice", "rule"),
    [
        ({"estimand": "score"}, "name a half_width"),
        ({"half_width": 0.05, "ci_prob": 1.0}, "ci_prob"),
        ({"half_width": 0.05, "n": 0}, "at least 1 prompt"),
        ({"half_width": 0.05, "n": -5}, "at least 1 prompt"),
    ],
)
def test_goals_out_of_range(choice, rule):
    with pytest.raises(PcorrectError, match=rule):
        minimal_k(PromptCounts.from_arrays([3, 8, 0, 5], 8), **choice)
