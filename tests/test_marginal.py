"""Quantiles and intervals of one-dimensional posteriors against scipy's distributions."""

import numpy as np
import pytest
from scipy import stats

from pcorrect import PcorrectError
from pcorrect.marginal import Marginal

DISTRIBUTIONS = [stats.beta(30, 3), stats.beta(0.5, 0.5), stats.beta(1, 40), stats.norm(0.4, 0.01)]


@pytest.mark.parametrize("truth", DISTRIBUTIONS)
def test_table_of_a_distribution_function(truth):
    low, high = truth.ppf([1e-12, 1 - 1e-12])
    found = Marginal.from_cdf(truth.cdf, (low, high), mean=truth.mean(), sd=truth.std())
    prob = np.array([0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.999])
    np.testing.assert_allclose(truth.cdf(found.quantile(prob)), prob, atol=2e-4)
    assert found.probability_below(truth.ppf(0.2)) == pytest.approx(0.2, abs=2e-4)


def test_interval_kinds_differ_as_they_should():
    truth = stats.beta(30, 3)
    found = Marginal.from_cdf(truth.cdf, (0, 1), mean=truth.mean(), sd=truth.std())
    eti, hdi = found.interval(0.95, "eti"), found.interval(0.95, "hdi")
    np.testing.assert_allclose(eti, truth.interval(0.95), atol=1e-4)
    assert truth.cdf(hdi[1]) - truth.cdf(hdi[0]) == pytest.approx(0.95, abs=1e-3)
    assert truth.pdf(hdi[0]) == pytest.approx(truth.pdf(hdi[1]), rel=0.05)
    assert hdi[1] - hdi[0] < eti[1] - eti[0]


def test_draws_use_the_usual_quantiles():
    draws = np.random.default_rng(0).normal(size=(4, 250))
    found = Marginal.from_draws(draws)
    np.testing.assert_allclose(found.interval(0.9), np.quantile(draws, [0.05, 0.95]))
    assert found.mean == pytest.approx(draws.mean())


def test_a_point_mass():
    found = Marginal.from_cdf(lambda x: x, (0.5, 0.5), mean=0.5, sd=0.0)
    assert found.interval(0.95) == (0.5, 0.5)


@pytest.mark.parametrize(("prob", "kind"), [(0, "eti"), (1, "eti"), (0.95, "central")])
def test_bad_requests_are_refused(prob, kind):
    with pytest.raises(PcorrectError, match="ci_"):
        Marginal.from_draws(np.arange(5.0)).interval(prob, kind)
