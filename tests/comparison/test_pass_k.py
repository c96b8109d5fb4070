"""pass@k and pass^k: hand values, unbiasedness by enumeration, integrals, and what is undefined."""

import csv
from math import comb

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom

from pcorrect.comparison import pass_at_k, unbiased_pass
from pcorrect.comparison.pass_k import population_pass
from pcorrect.data import PromptCounts
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.populations.population import Population

FAST = {"model": "beta_bernoulli"}


@pytest.mark.parametrize(
    ("n", "c", "k", "expected"),
    [
        (2, 0, 5, None),
        (99, 0, 100, None),
        (4, 1, 4, 1.0),
        (8, 2, 3, 0.642857),
        (200, 10, 50, 0.947906),
    ],
)
def test_known_values(n, c, k, expected):
    assert unbiased_pass(n, c, k) == (
        None if expected is None else pytest.approx(expected, abs=5e-7)
    )


def test_shared_case_17(shared):
    with (shared / "cases" / "17" / "passk_table.csv").open() as file:
        for row in csv.DictReader(file):
            value = unbiased_pass(int(row["n"]), int(row["c"]), int(row["k"]))
            if row["expected"]:
                assert value == pytest.approx(float(row["expected"]), abs=5e-7)
            else:
                assert value is None
    assert unbiased_pass(8, 6, 2, "pass^k") == pytest.approx(0.535714, abs=5e-7)


@pytest.mark.parametrize("kind", ["pass@k", "pass^k"])
def test_every_value_by_binomials(kind):
    for n in range(1, 9):
        for c in range(n + 1):
            for k in range(1, n + 1):
                some = (
                    1 - comb(n - c, k) / comb(n, k) if kind == "pass@k" else comb(c, k) / comb(n, k)
                )
                assert unbiased_pass(n, c, k, kind) == pytest.approx(some, abs=1e-12)


@pytest.mark.parametrize("kind", ["pass@k", "pass^k"])
def test_unbiased(kind):
    p, n, k = 0.3, 10, 4
    c = np.arange(n + 1)
    mean = sum(unbiased_pass(n, int(x), k, kind) * binom.pmf(x, n, p) for x in c)
    assert mean == pytest.approx(1 - (1 - p) ** k if kind == "pass@k" else p**k)


@pytest.mark.parametrize("k", [1, 3, 200])
def test_population_against_quadrature(k):
    population = Population(
        np.array([0.6]),
        np.array([0.7]),
        np.array([2.0]),
        np.array([[0.3, 0.1]]),
        np.array([[1.0, 0.2]]),
    )
    for kind, f in (("pass@k", lambda p: 1 - (1 - p) ** k), ("pass^k", lambda p: p**k)):
        rest = quad(lambda p, f=f: f(p) * beta.pdf(p, 0.7, 2.0), 0, 1)[0]
        expected = 0.6 * rest + 0.3 * f(1.0) + 0.1 * f(0.2)
        assert population_pass(population, k, kind)[0] == pytest.approx(expected, abs=1e-6)


def test_posterior_agrees_with_the_unbiased_estimate():
    rng = np.random.default_rng(0)
    counts = PromptCounts.from_arrays(rng.binomial(16, rng.beta(0.8, 1.2, 400)), 16)
    for result in pass_at_k(counts, [1, 4, 16], **FAST):
        assert not result.extrapolated
        assert result.unbiased is not None
        assert result.mu.mean == pytest.approx(result.unbiased, abs=3 * result.se)
        truth = population_pass(
            Population.beta(np.array([0.8]), np.array([1.2])), result.k, "pass@k"
        )
        assert result.mu.mean == pytest.approx(truth[0], abs=3.5 * result.mu.sd)
        # the model knows the shape, the unbiased estimator does not
        assert 0.5 < result.mu.sd / result.se < 1.05
        assert result.score.sd < result.mu.sd


def test_pass_at_1_is_the_mean(counts_of):
    counts = counts_of([[3, 0, 8], [1, 2, 8]], 8)
    one, two = pass_at_k(counts, 1, **FAST)
    assert (one.llm, two.llm) == ("a", "b")
    assert one.unbiased == pytest.approx(11 / 24)


def test_extrapolation_is_labelled():
    counts = PromptCounts.from_arrays([3, 0, 8, 1], [8, 8, 8, 4])
    inside, partly, beyond = pass_at_k(counts, [4, 8, 20], **FAST)
    assert not inside.extrapolated
    assert partly.extrapolated
    assert (partly.n_unbiased, partly.n_prompts) == (3, 4)
    assert beyond.extrapolated
    assert beyond.unbiased is None
    assert beyond.mu is not None
    assert any("extrapolated" in note for note in beyond.notes)
    assert any("not estimable" in note for note in beyond.notes)
    assert beyond.to_dict()["unbiased"] is None


def test_not_identified_from_single_generations():
    counts = PromptCounts.from_arrays((np.arange(164) % 3 == 0).astype(int), 1)
    (result,) = pass_at_k(counts, 10, **FAST)
    assert (result.mu, result.score, result.unbiased) == (None, None, None)
    assert any("not identified" in note for note in result.notes)
    (one,) = pass_at_k(counts, 1, **FAST)
    assert one.unbiased == pytest.approx(55 / 164)


def test_refusals(counts_of):
    counts = counts_of([[3]], 8)
    for k in (0, -1, 1.5):
        with pytest.raises(PcorrectError, match="k = "):
            pass_at_k(counts, k)
    with pytest.raises(ChoiceError, match="kind"):
        pass_at_k(counts, 2, kind="maj@k")
    with pytest.raises(PcorrectError, match="0 <= c <= n"):
        unbiased_pass(3, 4, 1)
    with pytest.raises(ChoiceError, match="no llm"):
        pass_at_k(counts, 2, llm="x")


def test_an_llm_without_a_score_does_not_stop_the_others(counts_of):
    found = pass_at_k(counts_of([[1, 2], [0, 0]], [[4, 4], [0, 0]]), [1, 2], model="beta_bernoulli")
    assert found[0].unbiased == pytest.approx(3 / 8)
    assert found[2].unbiased is None
    assert "no scored generation" in found[2].notes[-1]
