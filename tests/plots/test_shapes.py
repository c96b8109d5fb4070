"""The arrays behind the pictures of one fit."""

import numpy as np
import pytest
from scipy.stats import beta, betabinom

from pcorrect.data import PromptCounts
from pcorrect.fitting import run_fit
from pcorrect.plots.shapes import class_shares, density, frequencies, sorted_prompts
from pcorrect.populations.population import Population


def test_class_shares_of_a_mixture():
    edges = np.linspace(0, 1, 6)
    atoms = np.array([[0.0, 0.2, 0.5, 1.0]])
    population = Population(
        np.array([0.4]),
        np.array([2.0]),
        np.array([3.0]),
        np.array([[0.1, 0.2, 0.2, 0.1]]),
        atoms,
    )
    expected = 0.4 * np.diff(beta.cdf(edges, 2, 3)) + [0.1, 0.2, 0.2, 0.0, 0.1]
    np.testing.assert_allclose(class_shares(population, edges)[0], expected, atol=1e-12)


def test_density_adds_up_to_one(case):
    found = density(case)
    np.testing.assert_allclose(np.sum(found.mean * np.diff(found.edges)), 1, atol=1e-9)
    np.testing.assert_allclose(np.sum(found.observed * np.diff(found.observed_edges)), 1)
    assert np.all(found.lower <= found.upper)


@pytest.mark.parametrize(("k", "classes"), [(1, 2), (8, 9), (16, 17), (50, 25), (64, 16)])
def test_observed_shares_have_classes_of_equally_many_values(k, classes):
    s = np.arange(k + 1)
    found = density(run_fit(PromptCounts.from_arrays(s, k), model="beta_bernoulli"))
    assert len(found.observed) == classes
    # one prompt of each count: flat, but for the last count of all
    np.testing.assert_allclose(found.observed[:-1], found.observed[0])


def test_shares_on_an_edge_belong_to_the_class_above():
    counts = PromptCounts.from_arrays([3, 3, 0], [10, 10, 4])
    found = density(run_fit(counts, model="beta_bernoulli"))
    at = np.flatnonzero(found.observed)
    np.testing.assert_allclose(found.observed_edges[at], [0, 0.3])


def test_frequencies_count_every_prompt(case):
    found = frequencies(case)
    n = int(np.sum(case.counts.n_generations > 0))
    assert found.observed.sum() == n
    np.testing.assert_allclose(found.mean.sum(), n)
    assert len(found.observed) <= 26


def test_predicted_frequencies_are_the_beta_binomial(ordinary):
    found = frequencies(ordinary)
    assert found.unit == "correct of k"
    population = ordinary.population
    expected = 198 * np.mean(
        [
            betabinom.pmf(np.arange(9), 8, a, b)
            for a, b in zip(population.a[::4], population.b[::4], strict=True)
        ],
        axis=0,
    )
    # 1000 draws of a multinomial with variance below n/4 and the population's: 5 sd
    np.testing.assert_allclose(found.mean, expected, atol=5 * np.sqrt(198 / 4 / 1000))
    inside = (found.lower <= found.mean) & (found.mean <= found.upper)
    assert inside.all()


def test_sorted_prompts_are_steps_of_equal_counts(ordinary):
    found = sorted_prompts(ordinary)
    assert len(found.mean) == 9
    assert np.all(np.diff(found.mean) > 0)
    assert found.first[0] == 1
    assert found.last[-1] == 198
    np.testing.assert_array_equal(found.first[1:], found.last[:-1] + 1)
    table = ordinary.prompts.table(0.95, "eti")
    for i, members in enumerate(found.prompts):
        assert len(members) == found.last[i] - found.first[i] + 1
        assert np.all(ordinary.counts.n_correct[members] == found.n_correct[i])
        np.testing.assert_allclose(table.mean[members], found.mean[i])
        np.testing.assert_allclose(table.upper[members], found.upper[i])


def test_sorted_prompts_hold_each_prompt_once(case):
    found = sorted_prompts(case)
    everyone = np.sort(np.concatenate(found.prompts))
    np.testing.assert_array_equal(everyone, np.arange(len(case.counts.prompt)))
