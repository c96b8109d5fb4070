"""Leave-one-out densities against refits, and against ArviZ on the same draws."""

import numpy as np
import pytest

from pcorrect.adequacy.loo import LeaveOneOut, loo_beta, loo_draws
from pcorrect.adequacy.psis import pareto_fit, smooth
from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.engines.exact import LogDensity, grid_posterior
from pcorrect.fitting import run_fit
from pcorrect.priors import Priors


def beta_posterior(s, k):
    cells = Cells.from_counts(np.asarray(s), np.broadcast_to(np.asarray(k), np.shape(s)))
    return cells, grid_posterior(LogDensity(cells, Priors()))


def test_beta_leave_one_out_equals_the_ratio_of_evidences():
    # p(s_i | s_-i) = evidence of all / evidence without i: two other quadratures
    s, k = np.array([0, 1, 3, 8, 16, 2, 8]), np.array([8, 1, 4, 8, 16, 8, 8])
    cells, grid = beta_posterior(s, k)
    loo = loo_beta(cells, grid)
    for i in range(len(s)):
        keep = np.arange(len(s)) != i
        _, rest = beta_posterior(s[keep], k[keep])
        expected = grid.log_evidence - rest.log_evidence
        assert loo.elpd[cells.of_prompt[i]] == pytest.approx(expected, abs=1e-6)
    np.testing.assert_array_equal(loo.n_prompts, cells.n_prompts)


@pytest.mark.filterwarnings("ignore")
def test_draws_equal_arviz(spiky):
    import arviz as az
    import xarray as xr

    fit = run_fit(spiky, model="beta_bernoulli")
    cells = Cells.from_counts(spiky.n_correct, spiky.n_generations)
    by_prompt = fit.population.log_prob(spiky.n_correct, spiky.n_generations)
    cube = by_prompt.reshape(*fit.draws["mu"].shape, -1)
    dims = ("chain", "draw", "prompt")
    posterior = xr.Dataset({"mu": (("chain", "draw"), fit.draws["mu"])})
    tree = xr.DataTree.from_dict(
        {"/posterior": posterior, "/log_likelihood": xr.Dataset({"n_correct": (dims, cube)})}
    )
    arviz = az.loo(tree, reff=1.0, pointwise=True)
    mine = loo_draws(cells, fit.population)
    assert mine.total == pytest.approx(arviz.elpd, abs=1e-8)
    np.testing.assert_allclose(mine.elpd[cells.of_prompt], arviz.elpd_i.values, atol=1e-9)
    assert mine.k_hat == pytest.approx(float(np.max(arviz.pareto_k)), abs=1e-9)
    n = len(spiky.prompt)
    # ArviZ: sqrt(n Var) with the population variance
    assert mine.se == pytest.approx(arviz.se, rel=1 / n)
    # draws against quadrature: the sum's Monte Carlo error is .03
    exact = loo_beta(cells, fit.grid)
    assert mine.total == pytest.approx(exact.total, abs=0.15)


def test_difference_is_by_prompt():
    one = LeaveOneOut(np.array([-1.0, -2.0]), np.array([3, 1]))
    two = LeaveOneOut(np.array([-1.5, -2.0]), np.array([3, 1]))
    difference, se = one.minus(two)
    values = np.array([0.5, 0.5, 0.5, 0.0])
    assert difference == pytest.approx(1.5)
    assert se == pytest.approx(np.sqrt(4 * values.var()))


def test_smoothing_equals_arviz_where_the_tail_is_heavy():
    from arviz_stats.base import array_stats

    rng = np.random.default_rng(3)
    for shape in (0.2, 0.6, 1.1):
        ratio = np.log(rng.pareto(1 / shape, 2000) + 1)
        weight, k_hat = smooth(ratio)
        expected, k_expected = array_stats.psislw(-ratio)
        np.testing.assert_allclose(weight, expected, atol=1e-10)
        assert k_hat == pytest.approx(float(k_expected), abs=1e-10)


def test_constant_and_few_weights_are_left_alone():
    weight, k_hat = smooth(np.zeros(400))
    np.testing.assert_allclose(weight, -np.log(400))
    assert k_hat == -np.inf
    np.testing.assert_allclose(np.exp(smooth(np.log([1.0, 3.0]))[0]), [0.25, 0.75])
    assert pareto_fit(np.array([1.0] * 10 + [2.0] * 10))[0] == np.inf


def test_the_better_population_wins(spiky):
    cells, grid = beta_posterior(spiky.n_correct, 8)
    robust = run_fit(spiky, seed=1)
    difference, se = loo_draws(cells, robust.population).minus(loo_beta(cells, grid))
    assert difference > 3 * se > 0


def test_a_prompt_with_no_generation_predicts_nothing():
    counts = PromptCounts.from_arrays([3, 5, 0], [8, 8, 0])
    cells, grid = beta_posterior(counts.n_correct, counts.n_generations)
    assert loo_beta(cells, grid).elpd[0] == pytest.approx(0.0, abs=1e-12)
