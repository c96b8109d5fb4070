"""Goals about single prompts against the Beta posterior in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc, betaincinv
from scipy.stats import betabinom

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning.per_prompt import (
    GridPopulation,
    binomial,
    decided,
    first_flag,
    half_widths,
    minimal_k_per_prompt,
    posterior,
)
from pcorrect.populations.population import Population
from pcorrect.result import Fit

A, B = 0.8, 0.4


@pytest.fixture(scope="module")
def beta_fit(with_population) -> Fit:  # type: ignore[no-untyped-def]
    """A fit whose population is known: Beta(.8, .4)."""
    fit = run_fit(PromptCounts.from_arrays([3, 1, 8, 0], 8), draws=50)
    return with_population(fit, Population.beta(np.full(200, A), np.full(200, B)))


def test_grid_posterior_is_the_beta_posterior() -> None:
    grid = GridPopulation.of(Population.beta(np.array([A]), np.array([B])))
    for k in (0, 3, 20):
        likelihood = binomial(k, grid.p)
        np.testing.assert_allclose(likelihood.sum(axis=0), 1, rtol=1e-12)
        s = np.arange(k + 1)
        np.testing.assert_allclose(
            likelihood @ grid.mean, betabinom.pmf(s, k, A, B), rtol=0.01, atol=1e-5
        )
        judged = posterior(grid.mean, likelihood)
        np.testing.assert_allclose(judged @ grid.p, (A + s) / (A + B + k), atol=2e-4)
        np.testing.assert_allclose(
            judged @ grid.below(0.3), betainc(A + s, B + k - s, 0.3), atol=0.001
        )
        exact = (betaincinv(A + s, B + k - s, 0.975) - betaincinv(A + s, B + k - s, 0.025)) / 2
        np.testing.assert_allclose(half_widths(judged, grid.p, 0.95), exact, atol=0.003)


def test_atoms_land_in_their_cells() -> None:
    population = Population(
        np.array([0.5]),
        np.array([2.0]),
        np.array([2.0]),
        np.array([[0.3, 0.2]]),
        np.array([[0, 1.0]]),
    )
    grid = GridPopulation.of(population)
    assert grid.mean[0] == pytest.approx(0.3, abs=1e-6)
    assert grid.mean[-1] == pytest.approx(0.2, abs=1e-6)
    assert grid.mean @ grid.p == pytest.approx(0.25 + 0.2, abs=1e-5)


def test_flag_after_wrong_answers_in_a_row(beta_fit: Fit) -> None:
    k = np.arange(1, 200)
    for threshold, confidence in ((0.1, 0.95), (0.3, 0.8)):
        exact = k[np.argmax(betainc(A, B + k, threshold) >= confidence)]
        assert abs((first_flag(beta_fit, threshold, confidence) or 0) - exact) <= 1


def share_decided(k: int, threshold: float, confidence: float) -> float:
    s = np.arange(k + 1)
    below = betainc(A + s, B + k - s, threshold)
    good = (below >= confidence) | (below <= 1 - confidence)
    return float(good @ betabinom.pmf(s, k, A, B))


def share_known(k: int, half_width: float) -> float:
    s = np.arange(k + 1)
    ends = (betaincinv(A + s, B + k - s, q) for q in (0.025, 0.975))
    low, high = ends
    return float(((high - low) / 2 <= half_width) @ betabinom.pmf(s, k, A, B))


def test_k_to_decide_prompts(beta_fit: Fit) -> None:
    found = minimal_k_per_prompt(beta_fit, decide=0.1, share=0.85)
    exact = next(k for k in range(1, 500) if share_decided(k, 0.1, 0.95) >= 0.85)
    assert found.k == pytest.approx(exact, abs=1 + 0.05 * exact)
    assert found.lower == found.k == found.upper


def test_k_to_know_prompts(beta_fit: Fit) -> None:
    found = minimal_k_per_prompt(beta_fit, half_width=0.15, share=0.9)
    exact = next(k for k in range(1, 500) if share_known(k, 0.15) >= 0.9)
    assert found.k == pytest.approx(exact, abs=1 + 0.05 * exact)


def test_prompts_at_the_threshold_are_never_decided(beta_fit: Fit, with_population) -> None:  # type: ignore[no-untyped-def]
    at = with_population(beta_fit, Population.beta(np.full(9, 1e7), np.full(9, 9e7)))
    found = minimal_k_per_prompt(at, decide=0.1)
    assert found.k is None
    assert "no k reaches that" in str(found)


def test_uncertain_population_gives_an_interval(spiky_fit: Fit) -> None:
    found = minimal_k_per_prompt(spiky_fit, decide=0.1)
    assert found.lower is not None
    assert found.k is not None
    assert found.lower < found.k
    assert found.estimand == "p"


def test_decisions() -> None:
    weight = np.array([[0.96, 0.04], [0.5, 0.5], [0.04, 0.96]])
    assert list(decided(weight, np.array([1.0, 0.0]), 0.95)) == [1, 0, -1]


def test_what_is_not_told_or_out_of_range(beta_fit: Fit, with_population) -> None:  # type: ignore[no-untyped-def]
    single = PromptCounts.from_arrays([1, 0, 1], 1)
    assert minimal_k_per_prompt(single, decide=0.1).unknown == "k = 1 everywhere"
    for options in (
        {},
        {"decide": 0.1, "half_width": 0.1},
        {"decide": 1.5},
        {"half_width": 0.0},
        {"decide": 0.1, "share": 1.0},
        {"decide": 0.1, "confidence": 0.0},
    ):
        with pytest.raises(PcorrectError):
            minimal_k_per_prompt(beta_fit, **options)
    with pytest.raises(PcorrectError, match="population"):
        minimal_k_per_prompt(with_population(beta_fit, None), decide=0.1)
