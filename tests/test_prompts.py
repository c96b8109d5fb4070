"""Intervals of the p_i."""

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.fitting import run_fit


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
