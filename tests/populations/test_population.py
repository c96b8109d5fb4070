"""Mixture populations against direct simulation and scipy's distributions."""

import numpy as np
import pytest
from scipy import stats

from pcorrect.populations.population import Population

ONE = Population(
    beta_weight=np.array([0.5]),
    a=np.array([2.0]),
    b=np.array([3.0]),
    weight=np.array([[0.3, 0.2]]),
    atom=np.array([[1.0, 0.25]]),
)


def test_moments_by_hand():
    mu = 0.5 * 0.4 + 0.3 * 1 + 0.2 * 0.25
    second = 0.5 * (0.04 + 0.16) + 0.3 + 0.2 * 0.0625
    assert ONE.mean()[0] == pytest.approx(mu)
    assert ONE.variance()[0] == pytest.approx(second - mu**2)


def test_probability_of_counts_sums_to_one_and_is_a_mixture():
    s = np.arange(6)
    found = np.exp(ONE.log_prob(s, np.full(6, 5)))[0]
    expected = (
        0.5 * stats.betabinom.pmf(s, 5, 2, 3) + 0.3 * (s == 5) + 0.2 * stats.binom.pmf(s, 5, 0.25)
    )
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.sum() == pytest.approx(1)


def test_p_given_counts_follows_bayes():
    n = 200_000
    many = ONE.take(np.zeros(n, dtype=int))
    rng = np.random.default_rng(0)
    s, k = np.array([5, 1, 0, 5]), np.array([5, 5, 0, 5])
    p = many.draw_p(s, k, rng)
    # 5 of 5: the atom at 1 has 0.3 of 0.3 + 0.2 * 0.25**5 + 0.5 * P(5 | Beta(2, 3))
    parts = np.array([0.3, 0.2 * 0.25**5, 0.5 * stats.betabinom.pmf(5, 5, 2, 3)])
    share = parts / parts.sum()
    # five standard errors
    assert np.mean(p[:, 0] == 1) == pytest.approx(share[0], abs=5 * 0.5 / np.sqrt(n))
    rest = p[:, 0][(p[:, 0] != 1) & (p[:, 0] != 0.25)]
    assert stats.kstest(rest[:5000], stats.beta(7, 3).cdf).pvalue > 1e-4
    # no data: the population itself
    assert p[:, 2].mean() == pytest.approx(ONE.mean()[0], abs=5 * 0.35 / np.sqrt(n))
    # prompts with equal counts are drawn apart
    assert 0.1 < np.mean(p[:, 0] == p[:, 3]) < 0.95


def test_plain_beta_and_new_prompts():
    beta = Population.beta(np.full(50_000, 2.0), np.full(50_000, 3.0))
    p = beta.draw_new(2, np.random.default_rng(1))
    assert p.shape == (50_000, 2)
    assert stats.kstest(p[:, 0], stats.beta(2, 3).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(p.T)[0, 1]) < 0.03


def test_mean_stays_in_the_unit_interval():
    # shares that add up to a little more than 1, all of it at p = 1
    weight = np.full((1, 3), 0.1 + 0.2)
    population = Population(
        np.array([0.1]), np.ones(1), np.full(1, 1e-300), weight, np.ones((1, 3))
    )
    assert 0.1 + weight.sum() > 1
    assert population.mean()[0] <= 1
    assert population.variance()[0] >= 0
