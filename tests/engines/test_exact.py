"""The exact engine against closed forms, independent integration and simulation."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, expit

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.engines import exact
from pcorrect.engines.exact import LogDensity, QuadratureError, grid_posterior
from pcorrect.engines.grid import GridPosterior
from pcorrect.fitting import run_fit
from pcorrect.populations.beta import BetaBinomialLikelihood, Shape
from pcorrect.priors import Priors


def posterior(s, k, priors=None) -> tuple[GridPosterior, Cells, LogDensity]:
    s = np.asarray(s)
    cells = Cells.from_counts(s, np.broadcast_to(np.asarray(k), s.shape))
    density = LogDensity(cells, priors or Priors())
    return grid_posterior(density), cells, density


@pytest.mark.parametrize("k_max", [1, 8, 63, 64, 65, 200, 5000])
def test_likelihood_equals_log_gamma_form(k_max):
    rng = np.random.default_rng(k_max)
    k = rng.integers(0, k_max + 1, 40)
    s = rng.binomial(k, rng.beta(0.5, 0.3, 40))
    shape = Shape(rng.normal(0, 2, 6), rng.normal(0, 1, 6))
    a, b = (x[:, None] for x in shape.ab)
    expected = np.sum(betaln(s + a, k - s + b) - betaln(a, b), axis=1)
    likelihood = BetaBinomialLikelihood(Cells.from_counts(s, k))
    got = likelihood.log_prob(shape) - likelihood.log_coefficient
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-9)


def test_likelihood_tends_to_the_binomial_without_cancellation():
    # log P(500 of 1000 | a = b) for a -> infinity
    likelihood = BetaBinomialLikelihood(Cells.from_counts(np.array([500]), np.array([1000])))
    expected = stats.binom.logpmf(500, 1000, 0.5)
    for logit_r in (-12.0, -20.0, -35.0):
        value = likelihood.log_prob(Shape(np.array(0.0), np.array(logit_r)))
        assert value == pytest.approx(expected, abs=1e-5)


def test_one_generation_each_has_a_closed_form():
    # k = 1: the likelihood is that of sum(s) of n, so mu ~ Beta(1 + S, 1 + n - S); sigma = prior
    grid, _, _ = posterior([1] * 60 + [0] * 40, 1)
    mu = grid.mu()
    reference = stats.beta(61, 41)
    assert mu.mean == pytest.approx(reference.mean(), abs=1e-9)
    assert mu.sd == pytest.approx(reference.std(), abs=1e-9)
    for level in (0.5, 0.89, 0.95, 0.999):
        np.testing.assert_allclose(mu.interval(level), reference.interval(level), atol=2e-5)
    rho = grid.rho()
    np.testing.assert_allclose(rho.quantile([0.1, 0.5, 0.9]), [0.01, 0.25, 0.81], atol=1e-3)


@pytest.mark.parametrize(
    ("s", "k"),
    [
        ([3], [5]),
        ([0, 1, 3, 8, 16, 2], [8, 1, 4, 8, 16, 8]),
        ([8] * 6, [8] * 6),
        ([0, 10, 9, 4, 7], [10] * 5),
    ],
)
def test_moments_equal_independent_integration(s, k):
    s, k = np.asarray(s), np.asarray(k)

    def likelihood(mu, r):
        nu = 1 / r**2 - 1
        a, b = mu * nu, (1 - mu) * nu
        return np.exp(np.sum(betaln(s + a, k - s + b) - betaln(a, b)))

    def expectation(value):
        # in theta with mu = sin(theta)**2 the end-point singularities of the density are tame
        def inner(theta, r):
            mu = np.sin(theta) ** 2
            return value(mu, r) * likelihood(mu, r) * np.sin(2 * theta)

        result, _ = integrate.dblquad(
            inner, 1e-6, 1 - 1e-6, 1e-6, np.pi / 2 - 1e-6, epsabs=0, epsrel=1e-6
        )
        return result

    total = expectation(lambda mu, r: 1.0)
    mean = expectation(lambda mu, r: mu) / total
    sigma = expectation(lambda mu, r: r * np.sqrt(mu * (1 - mu))) / total
    grid, _, _ = posterior(s, k)
    assert grid.mu().mean == pytest.approx(mean, abs=2e-5)
    assert grid.sigma().mean == pytest.approx(sigma, abs=2e-5)
    coefficient = BetaBinomialLikelihood(Cells.from_counts(s, k)).log_coefficient
    assert grid.log_evidence - coefficient == pytest.approx(np.log(total), abs=5e-5)


SHAPES = {
    "mixed": (np.repeat(np.arange(9), [24, 14, 14, 7, 6, 21, 49, 49, 14]), 8),
    "all right": (np.full(30, 8), 8),
    "all wrong": (np.zeros(5, int), 8),
    "one prompt": ([3], 5),
    "one generation": ([1], 1),
    "none scored": ([0, 0], 0),
    "unequal": ([0, 1, 3, 8, 16, 2, 0], [8, 1, 4, 8, 16, 8, 0]),
    "near binomial": (np.full(10, 500), 1000),
}


@pytest.mark.parametrize("name", SHAPES)
def test_weights_and_draws_tell_the_same(name):
    grid, cells, density = posterior(*SHAPES[name])
    assert grid.error < 1e-5
    rng = np.random.default_rng(1)
    n = 40_000
    shape = grid.draws(n, density, rng)
    a, b = shape.ab
    s, k = (x[cells.of_prompt] for x in (cells.n_correct, cells.n_generations))
    score = np.zeros(n)
    for s_i, k_i in zip(s, k, strict=True):
        p = rng.beta(s_i + a, k_i - s_i + b)
        score += p / len(s)
    for marginal, draws in (
        (grid.mu(), shape.mu),
        (grid.sigma(), shape.sigma),
        (grid.rho(), shape.rho),
        (grid.score(cells, rng), score),
    ):
        # five standard errors: a false alarm in 2 million
        assert abs(draws.mean() - marginal.mean) < 5 * marginal.sd / np.sqrt(n)
        levels = np.array([0.025, 0.25, 0.5, 0.75, 0.975])
        slack = 5 * np.sqrt(levels * (1 - levels) / n) + 1e-3
        for level, q, error in zip(levels, marginal.quantile(levels), slack, strict=True):
            # floating-point numbers near 1 are too coarse to tell the last 1e-12 apart
            assert np.mean(draws < q - 1e-12) - error < level < np.mean(draws <= q + 1e-12) + error


@pytest.mark.parametrize("name", ["mixed", "all right", "one prompt", "unequal"])
def test_prompt_quantiles_equal_those_of_draws(name):
    grid, cells, density = posterior(*SHAPES[name])
    n = 200_000
    a, b = grid.draws(n, density, np.random.default_rng(2)).ab
    levels = np.array([0.025, 0.5, 0.975])
    quantiles = grid.p_quantiles(cells, levels)
    mean, _ = grid.p_moments(cells)
    for i, (s, k) in enumerate(zip(cells.n_correct, cells.n_generations, strict=True)):
        p = np.random.default_rng(3).beta(s + a, k - s + b)
        below = np.mean(p[:, None] < quantiles[i], axis=0)
        # ties at exactly 1 (a Beta of tiny second shape) sit on either side
        below = np.where(quantiles[i] >= 1 - 1e-15, levels, below)
        assert np.all(np.abs(below - levels) < 5 * np.sqrt(levels * (1 - levels) / n) + 5e-4)
        assert abs(p.mean() - mean[i]) < 5 * p.std() / np.sqrt(n)


def test_a_large_benchmark_is_exact_too():
    rng = np.random.default_rng(0)
    k = np.full(1_000_000, 100_000)
    grid, cells, _ = posterior(rng.binomial(k, rng.beta(0.5, 0.3, len(k))), k)
    assert grid.error < 1e-5
    assert grid.mu().mean == pytest.approx(0.625, abs=5 * 0.0004)
    assert grid.score(cells, rng).sd < 2e-6


def test_priors_move_the_posterior_and_integers_are_floats():
    # Beta(100, 100) on mu and 3 of 5 at sigma ~ 0: 103 / 205
    narrow = [Priors(mu=(a, a), spread=(1, 1e6)) for a in (100, 100.0)]
    means = [posterior([3], 5, prior)[0].mu().mean for prior in narrow]
    assert means[0] == means[1] == pytest.approx(103 / 205, abs=1e-4)


@pytest.mark.parametrize(
    ("s", "k"), [([500], 1000), ([700, 700, 700], 1000), ([500, 3], [1000, 4]), ([350, 350], 500)]
)
def test_few_prompts_with_many_generations(s, k):
    """A narrow ridge beneath a wide hill, against draws of the prior weighted by the likelihood."""
    s, k = np.broadcast_arrays(s, k)
    grid = grid_posterior(LogDensity(Cells.from_counts(s, k), Priors()))
    assert grid.error < 1e-5
    rng = np.random.default_rng(9)
    mu, r = rng.uniform(size=(2, 400_000))
    nu = 1 / r**2 - 1
    log = sum(
        stats.betabinom.logpmf(a, b, mu * nu, (1 - mu) * nu) for a, b in zip(s, k, strict=True)
    )
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    for found, x in ((grid.mu(), mu), (grid.sigma(), r * np.sqrt(mu * (1 - mu)))):
        mean = weight @ x
        error = np.sqrt(weight**2 @ (x - mean) ** 2)
        assert found.mean == pytest.approx(mean, abs=4.5 * error)


def test_a_tolerable_error_is_said(monkeypatch):
    monkeypatch.setattr("pcorrect.engines.exact._MOST_NODES", 300_000)
    counts = PromptCounts.from_arrays([350, 350], 500)
    fit = run_fit(counts, model="beta_bernoulli")
    assert any("not 1e-05 as usual" in text for text in fit.warnings)
    with pytest.raises(QuadratureError, match="use the default model"):
        run_fit(PromptCounts.from_arrays([500], 1000), model="beta_bernoulli")


def test_failure_is_said_and_carries_the_best_grid():
    _, _, density = posterior([3], 5)
    with pytest.raises(QuadratureError, match="above the tolerance") as caught:
        grid_posterior(density, tolerance=0.0)
    assert abs(caught.value.posterior.weight.sum() - 1) < 1e-12


def calibration_ranks(replications: int, seed: int, tolerance: float = 1e-5) -> np.ndarray:
    """Posterior probability below the truth, for (mu, sigma, score) of simulated benchmarks."""
    rng = np.random.default_rng(seed)
    ranks = np.empty((replications, 3))
    for i in range(replications):
        n = int(rng.choice([3, 10, 40]))
        k = rng.choice([0, 1, 2, 5, 20], n)
        mu, r = rng.beta(1, 1, 2)
        nu = 1 / r**2 - 1
        p = rng.beta(max(mu * nu, 1e-200), max((1 - mu) * nu, 1e-200), n)
        p = np.where(np.isnan(p), rng.random(n) < mu, p)
        cells = Cells.from_counts(rng.binomial(k, p), k)
        grid = grid_posterior(LogDensity(cells, Priors()), tolerance=tolerance)
        ranks[i] = (
            grid.mu().probability_below(mu),
            grid.sigma().probability_below(r * np.sqrt(mu * (1 - mu))),
            grid.score(cells, rng).probability_below(p.mean()),
        )
    return ranks


def assert_uniform(ranks: np.ndarray) -> None:
    """Ranks are uniform as a whole, and as often in the outer 5 % as they should be.

    Both at 1e-4 for each of three columns: a false alarm in 1700 seeds.
    """
    for column in ranks.T:
        outside = int(np.sum(np.abs(column - 0.5) > 0.475))
        assert stats.binomtest(outside, len(column), 0.05).pvalue > 1e-4
        assert stats.kstest(column, "uniform").pvalue > 1e-4


def test_simulation_based_calibration():
    assert_uniform(calibration_ranks(100, seed=1))


@pytest.mark.slow
def test_simulation_based_calibration_full():
    assert_uniform(calibration_ranks(600, seed=2))


def test_calibration_fails_on_a_truncated_grid(monkeypatch):
    """The fault of a grid that is scaled once and cuts the posterior off (here at 1 sd)."""
    find = exact._find_window

    def truncated(density, start):
        whole = exact._evaluate(density, find(density, start), (65, 65))
        window = []
        for axis, weight in (
            (whole.logit_mu, whole.weight.sum(1)),
            (whole.logit_r, whole.weight.sum(0)),
        ):
            mean = weight @ axis
            sd = np.sqrt(weight @ (axis - mean) ** 2)
            window.append((mean - sd, mean + sd))
        return tuple(window)

    monkeypatch.setattr(exact, "_find_window", truncated)
    with pytest.raises(AssertionError):
        assert_uniform(calibration_ranks(100, seed=1, tolerance=np.inf))


def test_fit_is_reproducible_and_seeds_differ():
    counts = PromptCounts.from_arrays([3, 0, 5, 8], 8)
    one, two, other = (run_fit(counts, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.draws["mu"], two.draws["mu"])
    assert not np.array_equal(one.draws["mu"], other.draws["mu"])
    assert len(np.unique(one.draws["mu"])) == one.draws["mu"].size


def test_shape_keeps_both_tails():
    shape = Shape(np.array([40.0, -40.0]), np.array([30.0, -30.0]))
    assert shape.one_minus_mu[0] == pytest.approx(np.exp(-40))
    assert shape.theta[0] == pytest.approx(np.exp(30) / 2, rel=1e-9)
    assert shape.theta[1] == pytest.approx(expit(-30) ** 2, rel=1e-9)
