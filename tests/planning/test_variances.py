"""The two variances against simulated benchmarks, and where the data do not hold them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln, comb

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning.variances import (
    Variances,
    as_fit,
    conditional_moments,
    unknown_split,
    variances,
)
from pcorrect.populations.population import Population

BETA = Population.beta(np.array([0.8, 3.0]), np.array([0.4, 7.0]))
MIXED = Population(
    np.array([0.3]),
    np.array([2.0]),
    np.array([5.0]),
    np.array([[0.2, 0.5]]),
    np.array([[0.0, 0.9]]),
)


def test_standard_errors_are_those_of_simulated_benchmarks() -> None:
    """The sd of the mean over repeated benchmarks: new prompts each time, or the same ones."""
    rng = np.random.default_rng(1)
    a, b, n, runs = 0.8, 0.4, 30, 40_000
    mu = a / (a + b)
    sigma = float(np.sqrt(mu * (1 - mu) / (a + b + 1)))
    found = Variances.assume(mu, sigma, n)
    for k in (1, 4, 20):
        p = rng.beta(a, b, (runs, n))
        means = rng.binomial(k, p).mean(axis=1) / k
        # the sd of a normal sd estimate is sd / sqrt(2 runs): 4 of them
        assert found.se_mu(k)[0] == pytest.approx(means.std(), rel=4 / np.sqrt(2 * runs))
    p = rng.beta(a, b, n)
    here = Variances(n, *(np.array([x]) for x in (mu, sigma**2, 0.0, np.mean(p * (1 - p)))))
    means = rng.binomial(4, p, (runs, n)).mean(axis=1) / 4
    assert here.se_score(4)[0] == pytest.approx(means.std(), rel=4 / np.sqrt(2 * runs))


def test_moments_given_a_count() -> None:
    """E[p**a (1 - p)**b | s, k]: the Beta in closed form, a mixture by summing its parts."""
    s, k = np.array([0, 2, 5]), np.array([5, 5, 5])
    cells = Cells(s, k, np.ones(3, np.int64), np.arange(3))
    (found,) = conditional_moments(BETA, cells, [(2, 1)])
    a, b = BETA.a[:, None] + s, BETA.b[:, None] + k - s
    np.testing.assert_allclose(found, np.exp(betaln(a + 2, b + 1) - betaln(a, b)), rtol=1e-10)
    (found,) = conditional_moments(MIXED, cells, [(1, 0)])
    atoms = (
        MIXED.weight[0, :, None]
        * MIXED.atom[0, :, None] ** s
        * (1 - MIXED.atom[0, :, None]) ** (k - s)
    )
    rest = 0.3 * np.exp(betaln(2 + s, 5 + k - s) - betaln(2, 5))
    first = rest * (2 + s) / (7 + k) + MIXED.atom[0] @ atoms
    np.testing.assert_allclose(found[0], first / (rest + atoms.sum(axis=0)), rtol=1e-10)


def test_moments_are_ratios_of_probabilities() -> None:
    """E[p**a (1-p)**b | s, k] is P(s + a of k + a + b) over P(s of k), up to binomials."""
    s, k = np.array([1, 0, 3]), np.array([2, 4, 6])
    cells = Cells(s, k, np.ones(3, np.int64), np.arange(3))
    for population in (BETA, MIXED):
        for a, b in ((1, 1), (2, 2), (3, 0)):
            (found,) = conditional_moments(population, cells, [(a, b)])
            ratio = population.log_prob(s + a, k + a + b) - population.log_prob(s, k)
            np.testing.assert_allclose(
                found, np.exp(ratio) * comb(k, s) / comb(k + a + b, s + a), rtol=1e-11
            )


def test_moments_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    import pcorrect.planning.variances as module

    cells = Cells(np.array([1, 0, 3]), np.array([2, 4, 6]), np.ones(3, np.int64), np.arange(3))
    (whole,) = conditional_moments(BETA, cells, [(1, 1)])
    monkeypatch.setattr(module, "_BLOCK", 4)
    np.testing.assert_array_equal(conditional_moments(BETA, cells, [(1, 1)])[0], whole)


def test_within_here_is_that_of_the_prompts_own_draws() -> None:
    rng = np.random.default_rng(2)
    counts = PromptCounts.from_arrays(rng.binomial(6, rng.beta(0.8, 0.4, 40)), 6)
    fit = run_fit(counts, model="beta_bernoulli")
    p = fit.prompts.draws(np.random.default_rng(9))
    direct = np.mean(p * (1 - p), axis=1)
    found = Variances.from_fit(fit).within_here
    assert np.all((found >= 0) & (found <= 0.25))
    assert found.mean() == pytest.approx(direct.mean(), abs=5 * direct.std() / np.sqrt(len(p)))
    assert found.std() == pytest.approx(direct.std(), rel=0.08)


def test_within_here_without_a_known_population(with_population) -> None:  # type: ignore[no-untyped-def]
    """A program of one's own has draws of the p_i only."""
    fit = run_fit(PromptCounts.from_arrays([3, 5, 0, 6, 2], [6, 6, 0, 6, 6]), draws=200)
    drawn = Variances.from_fit(with_population(fit, None)).within_here
    known = Variances.from_fit(fit).within_here
    assert drawn.mean() == pytest.approx(known.mean(), rel=0.1)


@pytest.mark.parametrize(
    ("s", "k", "why"),
    [
        ([3], [5], "there is one prompt only"),
        ([3, 0], [5, 0], "there is one prompt only"),
        ([1, 0, 1], [1, 1, 1], "k = 1 everywhere"),
        ([4, 4], [4, 4], "all generations are correct"),
        ([0, 0], [4, 2], "all generations are wrong"),
        ([1, 0, 1], [1, 2, 1], ""),
    ],
)
def test_what_the_data_do_not_tell(s: list[int], k: list[int], why: str) -> None:
    assert unknown_split(PromptCounts.from_arrays(s, k)) == why


def test_prompts_without_generations_do_not_count() -> None:
    found = variances(PromptCounts.from_arrays([3, 1, 0], [4, 2, 0]))
    assert (found.n_prompts, found.k_min, found.k_max) == (2, 2, 4)


def test_assumed_variances() -> None:
    found = Variances.assume(0.7, 0.3, 200)
    assert found.between[0] == pytest.approx(0.09)
    assert found.within[0] == pytest.approx(0.12)
    for mu, sigma, n in (
        (0.0, 0.1, 5),
        (1.2, 0.1, 5),
        (0.5, 0.51, 5),
        (0.5, -0.1, 5),
        (0.5, 0.1, 0),
    ):
        with pytest.raises(PcorrectError):
            Variances.assume(mu, sigma, n)


def test_interval_factors() -> None:
    found = Variances.assume(0.5, 0.2, 11)
    assert found.factor("mu") == pytest.approx(2.228, abs=5e-4)
    assert found.factor("score") == pytest.approx(1.960, abs=5e-4)
    assert found.factor("mu", n=1) == np.inf
    with pytest.raises(PcorrectError, match="estimand"):
        found.factor("sigma")


def test_sources() -> None:
    from pcorrect.posterior import to_datatree

    counts = PromptCounts.from_arrays([3, 1, 4], 4)
    fit = run_fit(counts, draws=50)
    assert as_fit(fit) is fit
    np.testing.assert_array_equal(as_fit(to_datatree(fit)).draws["mu"], fit.draws["mu"])
    assert as_fit(counts).counts is counts
    with pytest.raises(PcorrectError, match="cannot plan from"):
        as_fit({"a": 1})
