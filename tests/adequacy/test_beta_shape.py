"""The check of the Beta shape: uniform under the Beta, powerful where mu would be wrong."""

import numpy as np
import pytest
from scipy import stats

from pcorrect import PcorrectError, PromptCounts
from pcorrect.adequacy import histogram
from pcorrect.adequacy.beta_shape import assess_beta
from pcorrect.adequacy.histogram import check_histogram, thin
from pcorrect.cells import Cells
from pcorrect.engines.exact import LogDensity, grid_posterior
from pcorrect.fitting import run_fit
from pcorrect.priors import Priors

# The populations of the coverage study.
SMOOTH = {
    "Beta(.8, .4)": lambda n, rng: rng.beta(0.8, 0.4, n),
    "Beta(2, 3)": lambda n, rng: rng.beta(2, 3, n),
}
SPIKY = {
    "85 % at 1, 10 % at .3, 5 % at 0": lambda n, rng: rng.choice(
        [1, 0.3, 0], n, p=[0.85, 0.1, 0.05]
    ),
    "30 % at 1, 30 % at .5, 40 % at .02": lambda n, rng: rng.choice(
        [1, 0.5, 0.02], n, p=[0.3, 0.3, 0.4]
    ),
    "60 % at 1, 40 % Beta(2, 6)": lambda n, rng: np.where(
        rng.random(n) < 0.6, 1.0, rng.beta(2, 6, n)
    ),
    "Beta(40, 1), Beta(1, 30), Beta(2, 2) mixed": lambda n, rng: np.choose(
        rng.integers(0, 3, n), [rng.beta(40, 1, n), rng.beta(1, 30, n), rng.beta(2, 2, n)]
    ),
}


def check(s, k, rng, replicates=199):
    cells = Cells.from_counts(np.asarray(s), np.broadcast_to(np.asarray(k), np.shape(s)))
    grid = grid_posterior(LogDensity(cells, Priors()))
    return check_histogram(cells, grid, Priors(), rng, replicates=replicates)


def p_values(population, n, k, times, seed):
    """p_histogram and p_shift of simulated benchmarks; k a number, or a function of (n, rng)."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(times):
        each = k(n, rng) if callable(k) else np.full(n, k)
        result = check(rng.binomial(each, population(n, rng)), each, rng)
        found.append((result.p_histogram, 1.0 if result.p_shift is None else result.p_shift))
    return np.array(found)


def assert_uniform(p: np.ndarray) -> None:
    """Uniform on the multiples of 1/200, at 1e-3 each: as a whole and below .05."""
    rng = np.random.default_rng(0)
    spread = p - rng.random(len(p)) / 200
    assert stats.kstest(spread, "uniform").pvalue > 1e-3
    assert stats.binomtest(int(np.sum(p <= 0.05)), len(p), 0.05).pvalue > 1e-3


UNEQUAL = {"1 to 16": lambda n, rng: rng.integers(1, 17, n)}


def test_p_value_of_the_histogram_is_uniform_under_the_beta():
    assert_uniform(p_values(SMOOTH["Beta(.8, .4)"], 200, 8, 200, seed=1)[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize(("n", "k"), [(30, 5), (30, 50), (200, 3), (200, 8), (200, 50), (1000, 50)])
def test_both_p_values_are_uniform_under_the_beta(name, n, k):
    p = p_values(SMOOTH[name], n, k, 400, seed=n + k)
    assert_uniform(p[:, 0])
    # the shift is nearly fixed at small k and its test may be conservative, not the reverse
    assert stats.binomtest(int(np.sum(p[:, 1] <= 0.05)), len(p), 0.05, "greater").pvalue > 1e-3
    assert np.mean(p.min(axis=1) <= 0.025) < 0.09


@pytest.mark.slow
def test_p_value_is_uniform_where_k_differs():
    assert_uniform(p_values(SMOOTH["Beta(.8, .4)"], 200, UNEQUAL["1 to 16"], 400, seed=3)[:, 0])


def test_uncalibrated_comparison_would_fail(monkeypatch):
    """Replicates measured at the data's own fit, as a plain posterior predictive check does."""
    right = histogram._Fits.posterior

    def first_fit_for_all(self, histograms):
        weight = right(self, histograms)
        if len(histograms) == 1:
            self.kept = weight
        return np.repeat(self.kept, len(histograms), axis=0)

    monkeypatch.setattr(histogram._Fits, "posterior", first_fit_for_all)
    with pytest.raises(AssertionError):
        assert_uniform(p_values(SMOOTH["Beta(.8, .4)"], 200, 8, 200, seed=1)[:, 0])


@pytest.mark.parametrize("name", SPIKY)
def test_power(name):
    # the mixture of three Betas moves mu by half a standard error at most, and is hardest to see
    n, k, least = (1000, 50, 0.9) if "Beta(40, 1)" in name else (200, 8, 0.9)
    p = p_values(SPIKY[name], n, k, 20, seed=5)
    assert np.mean(p.min(axis=1) <= 0.025) >= least


def test_real_like_counts_are_rejected_with_the_reason(spiky):
    fit = run_fit(spiky, seed=1)
    found = assess_beta(spiky, robust=fit.population, alpha=fit.draws["alpha"])
    assert found.status == "rejected"
    assert found.p_value == pytest.approx(0.002)
    # Beta .569 against the mean .594
    assert found.shift == pytest.approx(-0.025, abs=0.001)
    assert found.shift_se == pytest.approx(-1.08, abs=0.02)
    assert found.p_shift < 0.01
    assert found.elpd_diff > 3 * found.elpd_diff_se
    assert found.k_hat < 0.7
    assert 1 <= found.alpha_lower < found.alpha < found.alpha_upper < 20
    for part in ("is rejected", ".025 too low", "1.1 standard errors", "prompts have", "alpha"):
        assert part in found.verdict
    assert found.histogram.observed.sum() == pytest.approx(found.histogram.expected.sum())
    np.testing.assert_allclose(found.histogram.low, np.arange(9) / 8)


def test_a_beta_is_let_pass():
    rng = np.random.default_rng(2)
    counts = PromptCounts.from_arrays(rng.binomial(8, rng.beta(0.8, 0.4, 198)), 8)
    found = assess_beta(counts)
    assert found.status == "no sign"
    assert found.verdict.startswith("No sign against the Beta shape")
    assert found.elpd_diff is None
    assert found.alpha is None


@pytest.mark.parametrize(
    ("s", "k", "status", "words"),
    [
        ([1] * 60 + [0] * 40, 1, "not checked", "cannot be checked at k = 1"),
        ([2] * 20 + [1] * 20 + [0] * 20, 2, "hardly checked", "hardly be checked at k = 2"),
        ([3, 1], [4, 8], "hardly checked", "hardly be checked on 2 prompts"),
        ([3], 5, "not checked", "one prompt"),
        ([8] * 30, 8, "no sign", "30 prompts show gross misfits only"),
        ([0] * 5, 8, "no sign", "5 prompts show gross misfits only"),
        (
            [1] * 50 + [0] * 47 + [2] * 3,
            [1] * 97 + [3] * 3,
            "no sign",
            "3 prompts with k >= 3 show",
        ),
    ],
)
def test_what_cannot_be_seen_is_said(s, k, status, words):
    found = assess_beta(PromptCounts.from_arrays(s, k))
    assert found.status == status
    assert words in found.verdict
    assert (found.p_value is None) == (status != "no sign")
    assert "nan" not in str(found.to_dict())


def test_no_generation_is_an_error():
    with pytest.raises(PcorrectError, match="no scored generation"):
        assess_beta(PromptCounts.from_arrays([0, 0], 0))


def test_prompts_without_generations_change_nothing(spiky):
    more = PromptCounts.from_arrays([*spiky.n_correct, 0, 0], [*spiky.n_generations, 0, 0])
    one, two = assess_beta(spiky), assess_beta(more)
    assert one.to_dict() == two.to_dict()


def test_thinning_keeps_shares_and_bounds_levels():
    rng = np.random.default_rng(1)
    k = rng.integers(0, 1000, 5000)
    s = rng.binomial(k, 0.3)
    s2, k2, n2 = thin(Cells.from_counts(s, k), rng)
    assert len(np.unique(k2)) <= len(histogram._LADDER)
    assert n2.sum() == np.sum(k > 0)
    assert np.all((s2 >= 0) & (s2 <= k2))
    assert s2.sum() / k2.sum() == pytest.approx(0.3, abs=0.01)
    # few levels are left as they are
    s3, k3, _ = thin(Cells.from_counts(np.array([1, 2]), np.array([3, 50])), rng)
    np.testing.assert_array_equal((s3, k3), ([1, 2], [3, 50]))


def test_a_verdict_on_thinned_generations_says_so():
    rng = np.random.default_rng(5)
    k = rng.integers(9, 31, 400)
    found = assess_beta(PromptCounts.from_arrays(np.where(rng.random(400) < 0.5, k, k // 3), k))
    assert found.status == "rejected"
    assert "generations thinned to equal numbers" in found.verdict
    equal = assess_beta(PromptCounts.from_arrays([8] * 200 + [3] * 200, 8))
    assert equal.status == "rejected"
    assert "thinned" not in equal.verdict


def test_large_benchmarks_and_many_generations():
    rng = np.random.default_rng(4)
    p = rng.beta(0.8, 0.4, 100_000)
    assert assess_beta(PromptCounts.from_arrays(rng.binomial(8, p), 8)).status == "no sign"
    k = 10_000
    found = check(rng.binomial(k, p[:500]), k, rng)
    assert found.p_histogram > 0.01
    assert len(found.observed) == 12
    spikes = SPIKY["30 % at 1, 30 % at .5, 40 % at .02"](500, rng)
    assert check(rng.binomial(k, spikes), k, rng).p_histogram == pytest.approx(1 / 200)


def test_seed_decides(spiky):
    assert assess_beta(spiky, seed=3).to_dict() == assess_beta(spiky, seed=3).to_dict()


@pytest.mark.slow
def test_verdicts_on_real_runs(shared):
    from pcorrect.readers import counts, read

    table = counts(read(shared / "data" / "epoch_gpqa_diamond.csv.gz"))[0]
    found = {str(llm): assess_beta(table.select(str(llm))) for llm in table.llm}
    shifts = np.array([abs(f.shift_se) for f in found.values() if f.k_max > 2])
    # statistics measured with an independent implementation: .29 on average, 17 % above one half
    assert shifts.mean() == pytest.approx(0.29, abs=0.03)
    assert np.mean(shifts > 0.5) == pytest.approx(0.17, abs=0.05)
    moved = [f for f in found.values() if f.shift_se is not None and abs(f.shift_se) > 0.75]
    assert all(f.status == "rejected" for f in moved)
