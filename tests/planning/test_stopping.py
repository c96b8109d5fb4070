"""Stopping rules: boundaries against published ones, error rates against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.planning.characteristics import simulate_comparison_rule, simulate_width_rule
from pcorrect.planning.stop_rule import (
    boundary,
    crossing_probability,
    information,
    stopping,
    stopping_pair,
)
from pcorrect.result import Fit

# Constants of the Pocock test at the level .05 (Jennison & Turnbull 2000, table 2.1)
POCOCK = {1: 1.960, 2: 2.178, 3: 2.289, 4: 2.361, 5: 2.413, 10: 2.555, 20: 2.672}


@pytest.mark.parametrize("looks", POCOCK)
def test_published_boundaries(looks: int) -> None:
    found = boundary(np.arange(1, looks + 1) / looks)
    assert found == pytest.approx(POCOCK[looks], abs=6e-4)


def test_unequal_looks_against_simulated_paths() -> None:
    times = information([2, 4, 8, 16], between=0.05, within=0.2)
    assert times[-1] == 1
    assert np.all(np.diff(times) > 0)
    rng = np.random.default_rng(1)
    steps = np.sqrt(np.diff(times, prepend=0)) * rng.standard_normal((400_000, 4))
    z = np.abs(np.cumsum(steps, axis=1) / np.sqrt(times)).max(axis=1)
    for critical in (1.96, 2.3):
        share = float(np.mean(z > critical))
        assert crossing_probability(critical, times) == pytest.approx(share, abs=0.0015)


def test_information_is_the_inverse_variance() -> None:
    """Independent increments: the covariance of two looks is the variance of the later one."""
    rng = np.random.default_rng(2)
    p = rng.beta(1, 1, (200_000, 1))
    early = rng.binomial(3, p[:, 0])
    late = early + rng.binomial(9, p[:, 0])
    assert np.cov(early / 3, late / 12)[0, 1] == pytest.approx(np.var(late / 12), rel=0.02)
    times = information([3, 12], between=1 / 12, within=1 / 6)
    assert times[0] == pytest.approx(np.var(late / 12) / np.var(early / 3), rel=0.02)


def test_spread_between_prompts_makes_looking_cheaper() -> None:
    looks = [2, 4, 8, 16, 32]
    mu, score = (
        boundary(information(looks, between=0.1, within=0.1, estimand=e)) for e in ("mu", "score")
    )
    assert 1.96 < mu < 2.25 < score < POCOCK[5] + 0.08
    assert list(information([2, 4], between=0.0, within=0.0)) == [1, 1]


def test_looks_too_near_to_each_other_are_one() -> None:
    many = boundary(information(range(2, 200), between=0.1, within=0.1))
    few = boundary(information([2, 4, 8, 16, 32, 64, 199], between=0.1, within=0.1))
    assert few < many < few + 0.15


@pytest.mark.parametrize("looks", [[], [4, 2], [0, 3], [2, 2]])
def test_impossible_looks(looks: list[int]) -> None:
    with pytest.raises(PcorrectError, match="looks"):
        information(looks, between=0.1, within=0.1)


def test_impossible_level() -> None:
    with pytest.raises(PcorrectError, match="level"):
        boundary(np.array([1.0]), level=0.0)


def test_stop_when_narrow_enough(spiky_fit: Fit) -> None:
    found = stopping(spiky_fit, half_width=0.06)
    assert (found.stop, found.reason) == (True, "reached")
    assert "stop: half-width" in str(found)
    assert stopping(spiky_fit, half_width=0.01, estimand="score").next_k == 16
    assert stopping(spiky_fit, half_width=0.015, estimand="score", max_k=12).next_k == 12


def test_stop_when_no_k_helps(spiky_fit: Fit) -> None:
    found = stopping(spiky_fit, half_width=0.01)
    assert (found.stop, found.reason) == (True, "out of reach")
    assert "more prompts" in str(found)
    last = stopping(spiky_fit, half_width=0.01, estimand="score", max_k=8)
    assert last.reason == "no more generations"


def test_stop_when_it_is_as_good_as_it_gets() -> None:
    """The floor lies about at the goal, and k = 40 is within 10 % of it already."""
    rng = np.random.default_rng(3)
    counts = PromptCounts.from_arrays(rng.binomial(40, rng.beta(0.8, 0.4, 100)), 40)
    now = stopping(counts, half_width=1.0).value
    assert stopping(counts, half_width=0.97 * now).reason == "as good as it gets"


def test_go_on_where_the_data_do_not_tell() -> None:
    found = stopping(PromptCounts.from_arrays([1, 0] * 10, 1), half_width=0.05)
    assert (found.stop, found.next_k) == (False, 2)
    assert "k = 1 everywhere" in str(found)
    with pytest.raises(PcorrectError, match="estimand"):
        stopping(PromptCounts.from_arrays([1, 2], 3), half_width=0.05, estimand="p")


def two(shift: float, k: int, n: int = 150) -> tuple[PromptCounts, PromptCounts]:
    rng = np.random.default_rng(4)
    u = rng.standard_normal(n)
    one, other = (rng.binomial(k, expit(u + x)) for x in (shift, 0.0))
    return (
        PromptCounts.from_arrays(one, k, llm="a"),
        PromptCounts.from_arrays(other, k, llm="b"),
    )


def test_decided_comparison() -> None:
    a, b = two(1.0, 4)
    found = stopping_pair(a, b, looks=[2, 4, 8])
    assert found.reason == "decided"
    assert "a is better" in str(found)
    assert "a is better" in str(stopping_pair(b, a, looks=[2, 4, 8], estimand="score"))


def test_undecided_comparison() -> None:
    a, b = two(0.0, 4)
    found = stopping_pair(a, b, looks=[2, 4, 8])
    assert (found.stop, found.next_k) == (False, 8)
    assert found.goal > 1.96
    last = stopping_pair(a, b, looks=[2, 4])
    assert (last.stop, last.reason) == (True, "no more generations")
    single = PromptCounts.from_arrays([1, 0, 1], 1, llm="a")
    with pytest.raises(PcorrectError, match="k = 1"):
        stopping_pair(single, PromptCounts.from_arrays([0, 0, 1], 1, llm="b"), looks=[1, 2])


LOOKS = [2, 4, 8, 16, 32]


def pairs(correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Two llms with the same distribution of p."""
    u = np.random.default_rng(5).standard_normal((2, 200_000))
    v = correlation * u[0] + np.sqrt(1 - correlation**2) * u[1]
    p, q = expit(1.5 * u[0] + 0.5), expit(1.5 * v + 0.5)
    return np.concatenate([p, q]), np.concatenate([q, p])


@pytest.mark.parametrize(("estimand", "correlation"), [("mu", 0.8), ("score", 1.0)])
def test_peeking_misleads_and_the_boundary_repairs_it(estimand: str, correlation: float) -> None:
    """Equal llms: 4 sd of 3000 replications at .05 are .016."""
    p, q = pairs(correlation)
    found = simulate_comparison_rule(
        p, q, n=100, looks=LOOKS, estimand=estimand, replications=3000, seed=6
    )
    assert found["once"].wrong == pytest.approx(0.05, abs=0.016)
    assert found["peeking"].wrong > 0.1
    assert found["corrected"].wrong == pytest.approx(0.05, abs=0.018)


def test_correction_keeps_most_of_the_power_and_saves_generations() -> None:
    u = np.random.default_rng(7).standard_normal((2, 100_000))
    p, q = expit(1.5 * u[0] + 0.9), expit(1.5 * (0.9 * u[0] + np.sqrt(0.19) * u[1]))
    found = simulate_comparison_rule(p, q, n=100, looks=LOOKS, replications=1500, seed=8)
    assert found["corrected"].right > 0.9
    assert found["corrected"].mean_k < 0.6 * found["once"].mean_k
    assert found["corrected"].wrong < 0.005


def test_order_on_these_prompts_is_found_more_often_than_on_new_ones() -> None:
    """Little correlation: most of the error for new prompts is the prompts' own."""
    u = np.random.default_rng(15).standard_normal((2, 100_000))
    p, q = expit(1.5 * u[0] + 0.25), expit(1.5 * u[1])
    mu, score = (
        simulate_comparison_rule(p, q, n=100, looks=LOOKS, estimand=e, replications=1000, seed=16)
        for e in ("mu", "score")
    )
    assert score["once"].right > mu["once"].right + 0.2
    assert score["once"].wrong < 0.01


@pytest.mark.parametrize(("estimand", "half_width"), [("mu", 0.075), ("score", 0.02)])
def test_stopping_by_width_keeps_coverage(estimand: str, half_width: float) -> None:
    """4 sd of 1500 replications at .95 are .0225."""
    p = np.random.default_rng(9).beta(0.8, 0.4, 100_000)
    found = simulate_width_rule(
        p, n=100, looks=LOOKS, half_width=half_width, estimand=estimand, replications=1500, seed=10
    )
    assert found.coverage == pytest.approx(0.95, abs=0.0225)
    assert 2 < found.mean_k < 32
    assert found.reached > 0.8


def test_posterior_intervals_in_the_simulation() -> None:
    p = np.random.default_rng(11).beta(0.8, 0.4, 10_000)
    found = simulate_width_rule(
        p,
        n=60,
        looks=[2, 6],
        half_width=0.09,
        interval="posterior",
        model="beta_bernoulli",
        replications=12,
        seed=12,
    )
    assert 0.6 < found.coverage <= 1
    assert 2 <= found.mean_k <= 6


@pytest.mark.slow
def test_posterior_coverage_at_the_stop() -> None:
    """300 replications of the full posterior: .95 +- 4 sd (.05)."""
    p = np.random.default_rng(13).beta(0.8, 0.4, 10_000)
    for estimand, half_width in (("mu", 0.075), ("score", 0.02)):
        found = simulate_width_rule(
            p,
            n=100,
            looks=[2, 4, 8, 16],
            half_width=half_width,
            estimand=estimand,
            interval="posterior",
            model="beta_bernoulli",
            replications=300,
            seed=14,
        )
        assert found.coverage == pytest.approx(0.95, abs=0.05)


def test_simulations_refuse_what_makes_no_sense() -> None:
    p = np.array([0.2, 0.8])
    for looks in ([1, 2], [4, 2], []):
        with pytest.raises(PcorrectError, match="looks"):
            simulate_width_rule(p, n=10, looks=looks, half_width=0.1)
    with pytest.raises(PcorrectError, match="interval"):
        simulate_width_rule(p, n=10, looks=[2], half_width=0.1, interval="wald")
    with pytest.raises(PcorrectError, match="n >= 2"):
        simulate_width_rule(p, n=1, looks=[2], half_width=0.1)
    with pytest.raises(PcorrectError, match="same length"):
        simulate_comparison_rule(p, p[:1], n=10, looks=[2])


def test_no_more_generations_than_there_can_be() -> None:
    right = PromptCounts.from_arrays([8] * 5, 8)
    assert stopping(right, half_width=0.01, max_k=10).next_k == 10
    one = stopping(PromptCounts.from_arrays([3], 8), half_width=0.05)
    assert one.stop
    assert "one prompt only" in str(one)


@pytest.mark.parametrize(("right", "wrong"), [(8, 0), (8, 4)])
@pytest.mark.parametrize("estimand", ["mu", "score"])
def test_many_prompts_that_all_differ_alike_are_decided(
    right: int, wrong: int, estimand: str
) -> None:
    a, b = (PromptCounts.from_arrays([s] * 200, 8, llm=x) for s, x in ((right, "a"), (wrong, "b")))
    found = stopping_pair(a, b, looks=[2, 4, 8, 16], estimand=estimand)
    assert found.stop
    assert "a is better" in str(found)


@pytest.mark.parametrize("estimand", ["mu", "score"])
def test_a_difference_without_any_spread_decides_nothing(estimand: str) -> None:
    a, b = (PromptCounts.from_arrays(s, 2, llm=x) for s, x in (([2, 2], "a"), ([1, 1], "b")))
    if estimand == "score":
        a, b = (PromptCounts.from_arrays(s, 2, llm=x) for s, x in (([2, 2], "a"), ([0, 2], "b")))
    assert not stopping_pair(a, b, looks=[2, 4, 8], estimand=estimand).stop
