"""Within variance and decided prompts: closed forms, truth, and comparison between llms."""

import numpy as np
import pytest
from scipy.stats import beta

from pcorrect.comparison import randomness
from pcorrect.comparison.within import _elsewhere
from pcorrect.errors import DataError, PcorrectError
from pcorrect.populations.population import Population

FAST = {"model": "beta_bernoulli"}


def test_population_by_closed_form():
    population = Population(
        np.array([0.5]),
        np.array([2.0]),
        np.array([3.0]),
        np.array([[0.3, 0.2]]),
        np.array([[0.97, 0.4]]),
    )
    within, decided = _elsewhere(population, 0.05)
    rest = 2.0 * 3.0 / (5.0 * 6.0)
    assert within[0] == pytest.approx(0.5 * rest + 0.3 * 0.97 * 0.03 + 0.2 * 0.24)
    share = beta(2, 3).cdf(0.05) + beta(2, 3).sf(0.95)
    assert decided[0] == pytest.approx(0.5 * share + 0.3)


def test_truth_is_inside(beta_llms):
    counts, p = beta_llms(250, 12, [(0.5, 0.3), (3.0, 3.0)], 0.5, np.random.default_rng(0))
    table = randomness(counts, **FAST)
    for row, true in zip(table.rows, p, strict=True):
        within, decided = np.mean(true * (1 - true)), np.mean((true <= 0.05) | (true >= 0.95))
        assert abs(row.within.mean - within) < 4 * row.within.sd
        assert abs(row.decided.mean - decided) < 4 * row.decided.sd + 0.01
        assert row.within_moment == pytest.approx(row.within.mean, rel=0.1)
        assert row.within_new.sd > row.within.sd
    assert table.p_more_random[1, 0] > 0.999
    assert table.p_more_random[0, 1] < 0.001


def test_deterministic_llms(counts_of):
    """Equal counts under two names: neither is more random, and both hardly are."""
    row = [0, 10, 10, 0, 10] * 8
    table = randomness(counts_of([row, row], 10), **FAST)
    assert table.p_more_random[0, 1] == pytest.approx(0.5, abs=0.1)
    assert table.rows[0].within.mean < 0.02
    assert table.rows[0].decided.mean > 0.85
    assert 0 < table.rows[0].decided.lower < 1


def test_shared_prompts_only(counts_of):
    s, k = [[3, 4, 2], [2, 2, 0]], [[4, 4, 4], [4, 4, 0]]
    table = randomness(counts_of(s, k), **FAST)
    assert (table.n_prompts, table.n_left_out) == (2, 1)
    with pytest.raises(DataError, match="share prompts"):
        randomness(counts_of([[3, 0], [0, 2]], [[4, 0], [0, 4]]))


def test_single_generations_are_not_identified(counts_of):
    table = randomness(counts_of([[1, 0, 1], [3, 2, 4]], [[1] * 3, [4] * 3]), **FAST)
    assert table.rows[0].within is None
    assert "k = 1" in table.rows[0].notes[0]
    assert np.isnan(table.p_more_random[0, 1])
    assert table.to_dict()["llms"][0]["within"] is None


def test_margin(counts_of):
    with pytest.raises(PcorrectError, match="margin"):
        randomness(counts_of([[1]], 4), margin=0.5)
