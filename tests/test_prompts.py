"""Intervals of the p_i."""

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.fitting import run_fit
from pcorrect.prompts import reach_ends


@pytest.mark.parametrize("ci_prob", [0.5, 0.9])
def test_hdi_of_the_exact_engine_is_the_shortest_interval(ci_prob):
    counts = PromptCounts.from_arrays([0, 1, 3, 4, 4, 0, 2], 4)
    prompts = run_fit(counts, model="beta_bernoulli").prompts
    table = prompts.table(ci_prob, "hdi")
    tails = np.linspace(0, 1 - ci_prob, 201)
    ends = prompts.grid.p_quantiles(prompts.cells, np.concatenate([tails, tails + ci_prob]))
    shortest = np.min(ends[:, 201:] - ends[:, :201], axis=1)[prompts.cells.of_prompt]
    np.testing.assert_allclose(table.upper - table.lower, shortest, rtol=2e-3)
    # none correct and all correct: the density is highest at the end
    assert table.lower[0] == 0
    assert table.upper[3] == 1


def test_quantiles_at_0_and_1_are_the_ends():
    counts = PromptCounts.from_arrays([1, 3], 4)
    prompts = run_fit(counts, model="beta_bernoulli").prompts
    found = prompts.grid.p_quantiles(prompts.cells, np.array([0.0, 0.5, 1.0]))
    assert np.all(found[:, 0] == 0)
    assert np.all((found[:, 1] > 0) & (found[:, 1] < 1))
    assert np.all(found[:, 2] == 1)


def test_levels_may_differ_between_cells():
    counts = PromptCounts.from_arrays([1, 3], 4)
    prompts = run_fit(counts, model="beta_bernoulli").prompts
    levels = np.array([[0.1], [0.7]])
    found = prompts.grid.p_quantiles(prompts.cells, levels)
    same = prompts.grid.p_quantiles(prompts.cells, levels[:, 0])
    np.testing.assert_allclose(found[:, 0], np.diag(same), atol=1e-6)


@pytest.mark.parametrize("ci_kind", ["eti", "hdi"])
@pytest.mark.parametrize(
    ("model", "engine"),
    [("dp_beta", "gibbs"), ("beta_bernoulli", "exact"), ("beta_bernoulli", "nuts")],
)
def test_intervals_reach_the_end_where_all_generations_agree(model, engine, ci_kind):
    """An llm may know an answer for good, and then p_i is exactly 1."""
    counts = PromptCounts.from_arrays([0] * 10 + [8] * 20 + [3, 5, 0], [8] * 32 + [0])
    draws = 200 if engine == "nuts" else None
    fit = run_fit(counts, model=model, engine=engine, draws=draws, seed=1)
    table = fit.prompts.table(0.95, ci_kind)
    np.testing.assert_array_equal(table.lower[:10], 0)
    np.testing.assert_array_equal(table.upper[10:30], 1)
    # the other bound is the quantile, or the shortest interval's
    assert np.all((table.upper[:10] > 0.005) & (table.upper[:10] < 0.3))
    assert np.all((table.lower[10:30] > 0.7) & (table.lower[10:30] < 0.995))
    # prompts whose generations differ are left alone
    assert np.all((table.lower[30:32] > 0.05) & (table.upper[30:32] < 0.95))


def test_intervals_stay_where_the_population_has_nothing_near_the_end():
    """1 of 1 correct does not say that the llm knows the answer, where all others are near .5."""
    counts = PromptCounts.from_arrays([100] * 40 + [1, 0], [200] * 40 + [1, 1])
    for model in ("dp_beta", "beta_bernoulli"):
        table = run_fit(counts, model=model).prompts.table(0.95, "eti")
        assert np.all((table.lower > 0.3) & (table.upper < 0.7))


def test_extended_intervals_hold_the_quantiles():
    lower, upper = np.array([0.1, 0.1, 0.6, 0.1, 0.1]), np.array([0.5, 0.5, 0.9, 0.6, 0.5])
    one_sided = np.array([0.15, 0.15, 0.75, 0.15, 0.15]), np.array([0.45, 0.35, 0.85, 0.55, 0.35])
    quantiles = np.stack([lower, upper, *one_sided])
    counts = PromptCounts.from_arrays([0, 0, 4, 2, 0], [4, 4, 4, 4, 0])
    found = reach_ends(quantiles[:2], quantiles, counts)
    # wider one-sided; narrower; at 1; prompts whose generations differ; none
    np.testing.assert_array_equal(found[0], [0.1, 0.0, 0.6, 0.1, 0.1])
    np.testing.assert_array_equal(found[1], [0.5, 0.5, 1.0, 0.6, 0.5])
