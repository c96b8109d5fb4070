"""Logit-normal and inflated Beta: independent integration, calibration, NUTS on their programs."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, gammaln, log_expit, log_ndtr, logit, logsumexp

from pcorrect.cells import Cells
from pcorrect.convergence import ess_bulk, r_hat
from pcorrect.data import PromptCounts
from pcorrect.engines import inflated, nuts, two_parameter
from pcorrect.engines.inflated import sample_inflated_beta
from pcorrect.engines.two_parameter import FamilyResult, sample_logit_normal
from pcorrect.populations import inflated_beta, logit_normal
from pcorrect.populations.beta import Shape
from pcorrect.populations.inflated_beta import InflatedBetaLikelihood, InflatedShape
from pcorrect.populations.logit_normal import (
    LogitNormalLikelihood,
    location_scale,
    to_population,
)
from pcorrect.priors import Priors

SAMPLERS = {"logit_normal": sample_logit_normal, "inflated_beta": sample_inflated_beta}


def cells_of(s, k) -> Cells:
    s = np.asarray(s)
    return Cells.from_counts(s, np.broadcast_to(np.asarray(k), s.shape))


def log_probability(s: int, k: int, m: float, t: float) -> float:
    """log P(s of k) under a logit-normal, by Gauss-Legendre panels that nothing is tuned to."""
    node, weight = np.polynomial.legendre.leggauss(10)
    choose = gammaln(k + 1) - gammaln(s + 1) - gammaln(k - s + 1)
    edges = np.linspace(-13, 13, 401) * t + m if t < 0.3 else np.linspace(-60, 60, 4001)
    half = np.diff(edges)[:, None] / 2
    x = ((edges[:-1] + edges[1:])[:, None] / 2 + half * node).ravel()
    density = stats.norm.logpdf(x, m, t) + np.log((half * weight).ravel())
    parts = [logsumexp(choose + s * log_expit(x) + (k - s) * log_expit(-x) + density)]
    if t >= 0.3:
        # beyond, p is 0 or 1
        parts += [log_ndtr((-60 - m) / t)] if s == 0 else []
        parts += [log_ndtr((m - 60) / t)] if s == k else []
    return float(logsumexp(parts))


@pytest.mark.parametrize("logit_r", [-12.0, -3.0, -1.5, 0.0, 1.5, 3.0, 6.0, 12.0])
def test_logit_normal_likelihood_and_atoms_equal_integration(logit_r):
    rng = np.random.default_rng(1)
    for logit_q in (-6.0, -1.0, 0.5, 3.0):
        shape = Shape(np.full(3, logit_q), np.full(3, logit_r))
        m, t = (float(x[0]) for x in location_scale(shape))
        for s, k in ((0, 1), (1, 1), (0, 8), (3, 8), (8, 8), (25, 50), (50, 50), (1, 50)):
            expected = log_probability(s, k, m, t)
            if expected < -30:  # 8 standard deviations from where the population is
                continue
            got = LogitNormalLikelihood(cells_of([s], k)).log_prob(shape)
            np.testing.assert_allclose(got, expected, atol=1e-5)
            atoms = to_population(shape, k, rng)
            both = atoms.log_prob(np.array([s]), np.array([k]))[:, 0]
            np.testing.assert_allclose(both, expected, atol=1e-5)
        # P(1 of 1) is the mean
        np.testing.assert_allclose(
            atoms.mean(), np.exp(log_probability(1, 1, m, t)), rtol=1e-4, atol=1e-12
        )


def test_logit_normal_likelihood_is_the_same_point_by_point_and_in_bulk():
    rng = np.random.default_rng(2)
    shape = Shape(rng.normal(0, 2, 300), rng.normal(0, 3, 300))
    likelihood = LogitNormalLikelihood(cells_of([0, 3, 8, 7, 50, 20, 0], [8, 8, 8, 9, 50, 50, 0]))
    together = likelihood.log_prob(shape)
    alone = [
        likelihood.log_prob(Shape(shape.logit_mu[i : i + 1], shape.logit_r[i : i + 1]))[0]
        for i in range(300)
    ]
    usable = together > -50
    np.testing.assert_allclose(together[usable], np.array(alone)[usable], atol=1e-4)


def test_location_is_nearly_the_mean():
    # the attenuation formula that the prior rests on
    grid = Shape(*(x.ravel() for x in np.meshgrid(np.linspace(-4, 4, 9), np.linspace(-3, 5, 9))))
    atoms = to_population(grid, 8, np.random.default_rng(3))
    assert np.max(np.abs(atoms.mean() - grid.mu)) < 0.03


def test_atoms_give_continuous_draws_of_p():
    # 5 of 8 under one fixed population, spread over 20,000 shifted grids
    n = 20_000
    shape = Shape(np.full(n, 0.4), np.full(n, 0.3))
    m, t = (float(x[0]) for x in location_scale(shape))
    atoms = to_population(shape, 8, np.random.default_rng(4))
    draws = atoms.draw_p(np.array([5]), np.array([8]), np.random.default_rng(5))[:, 0]
    x = np.linspace(-25, 25, 20_001)
    density = np.exp(5 * log_expit(x) + 3 * log_expit(-x) + stats.norm.logpdf(x, m, t))
    cdf = np.cumsum(density) / density.sum()
    assert len(np.unique(draws)) > 0.99 * n
    assert stats.kstest(logit(draws), lambda v: np.interp(v, x, cdf)).pvalue > 1e-4


def inflated_log_likelihood(w, m, r, s, k) -> np.ndarray:
    """Of each draw, prompt by prompt, from the definition."""
    nu = 1 / r**2 - 1
    total = np.zeros(len(m))
    for s_i, k_i in zip(s, k, strict=True):
        p = w[:, 2] * stats.betabinom.pmf(s_i, k_i, m * nu, (1 - m) * nu)
        p += w[:, 0] * (s_i == 0) + w[:, 1] * (s_i == k_i)
        total += np.log(p)
    return total


def test_inflated_likelihood_equals_its_definition():
    rng = np.random.default_rng(6)
    s, k = [0, 0, 3, 8, 1, 5, 8], [8, 1, 8, 8, 1, 9, 8]
    x = rng.normal(0, 2, (4, 50))
    point = InflatedShape.from_rows(x)
    w = np.exp(point.log_weight).T
    np.testing.assert_allclose(w.sum(axis=1), 1)
    expected = inflated_log_likelihood(w, point.beta.mu, point.beta.r, s, k)
    likelihood = InflatedBetaLikelihood(cells_of(s, k)).log_prob(point)
    # a prompt without generations says nothing
    more = InflatedBetaLikelihood(cells_of([*s, 0], [*k, 0])).log_prob(point)
    np.testing.assert_allclose(more, likelihood, atol=1e-12)
    np.testing.assert_allclose(likelihood, expected, atol=1e-8)
    flat = point.population()
    by_cell = flat.log_prob(np.array(s[:5]), np.array(k[:5]))
    expected = inflated_log_likelihood(w, point.beta.mu, point.beta.r, s[:5], k[:5])
    np.testing.assert_allclose(by_cell.sum(axis=1), expected, atol=1e-8)


def prior_draws(name: str, n: int, rng: np.random.Generator):
    """Populations from the prior, from its definition: mu, sigma and a function for counts."""
    q, r = rng.beta(1, 1, n), rng.beta(1, 1, n)
    if name == "inflated_beta":
        w = rng.dirichlet([0.5, 0.5, 1.0], n)
        mu = w[:, 1] + w[:, 2] * q
        second = w[:, 1] + w[:, 2] * (r**2 * q * (1 - q) + q**2)
        return mu, np.sqrt(second - mu**2), lambda s, k: inflated_log_likelihood(w, q, r, s, k)
    rest = np.sqrt(1 - r**2)
    m, t = logit(q) / rest, np.pi / np.sqrt(3) * r / rest
    z = np.linspace(-7, 7, 281)
    weight = stats.norm.pdf(z) / stats.norm.pdf(z).sum()
    p = expit(m[:, None] + t[:, None] * z)
    mu = p @ weight

    def log_likelihood(s, k):
        return sum(
            np.log(np.maximum((p**s_i * (1 - p) ** (k_i - s_i)) @ weight, 1e-300))
            for s_i, k_i in zip(s, k, strict=True)
        )

    return mu, np.sqrt(p**2 @ weight - mu**2), log_likelihood


@pytest.mark.parametrize("name", SAMPLERS)
def test_posterior_equals_the_weighted_prior(name):
    s, k = np.array([3, 8, 0, 5, 8]), np.array([8, 8, 4, 6, 8])
    rng = np.random.default_rng(7)
    size = 60_000 if name == "logit_normal" else 200_000
    mu, sigma, log_likelihood = prior_draws(name, size, rng)
    weight = np.exp(log_likelihood(s, k))
    weight /= weight.sum()
    result = SAMPLERS[name](cells_of(s, k), Priors(), rng, draws=4000)
    shape = result.score.shape
    for prior, draws in (
        (mu, result.population.mean().reshape(shape)),
        (sigma, np.sqrt(result.population.variance()).reshape(shape)),
    ):
        mean = weight @ prior
        error = np.sqrt(weight**2 @ (prior - mean) ** 2 + draws.var() / ess_bulk(draws))
        assert abs(draws.mean() - mean) < 5 * error
        assert draws.std() == pytest.approx(np.sqrt(weight @ (prior - mean) ** 2), rel=0.05)


def calibration_ranks(
    sampler: Callable[..., FamilyResult], name: str, replications: int, seed: int
) -> np.ndarray:
    """Posterior probability below the truth of (mu, sigma, score, p of the first prompt)."""
    rng = np.random.default_rng(seed)
    ranks = np.empty((replications, 4))
    for i in range(replications):
        n = int(rng.choice([3, 10, 60]))
        k = rng.choice([1, 2, 5, 20], n)
        k[0] = 5
        q, r = rng.beta(1, 1, 2)
        if name == "logit_normal":
            rest = np.sqrt(1 - r**2)
            m, t = logit(q) / rest, np.pi / np.sqrt(3) * r / rest
            p = expit(m + t * rng.standard_normal(n))
            z = np.linspace(-9, 9, 40_001)
            node, weight = expit(m + t * z), stats.norm.pdf(z) / stats.norm.pdf(z).sum()
            mu = weight @ node
            sigma = np.sqrt(weight @ (node - mu) ** 2)
        else:
            w = rng.dirichlet([0.5, 0.5, 1.0])
            nu = 1 / r**2 - 1
            p = rng.beta(max(q * nu, 1e-200), max((1 - q) * nu, 1e-200), n)
            p = np.where(np.isnan(p), rng.random(n) < q, p)
            p = np.where((u := rng.random(n)) < w[0], 0.0, np.where(u < w[0] + w[1], 1.0, p))
            mu = w[1] + w[2] * q
            sigma = np.sqrt(w[1] + w[2] * (r**2 * q * (1 - q) + q**2) - mu**2)
        s = rng.binomial(k, p)
        result = sampler(cells_of(s, k), Priors(), rng, draws=250)
        first = result.population.draw_p(s[:1], k[:1], rng)[:, 0]
        truth = (mu, sigma, p.mean(), p[0])
        draws = (
            result.population.mean(),
            np.sqrt(result.population.variance()),
            result.score.ravel(),
            first,
        )
        for j, (x, true) in enumerate(zip(draws, truth, strict=True)):
            below, equal = np.sum(x < true), np.sum(x == true)
            # a truth at a point mass ties with draws: its rank is any of theirs
            ranks[i, j] = (below + rng.random() * (equal + 1)) / (len(x) + 1)
    return ranks


def assert_uniform(ranks: np.ndarray) -> None:
    """Uniform as a whole and in the outer 5 %, both at 1e-4 for each of four columns."""
    for column in ranks.T:
        outside = int(np.sum(np.abs(column - 0.5) > 0.475))
        assert stats.binomtest(outside, len(column), 0.05).pvalue > 1e-4
        assert stats.kstest(column, "uniform").pvalue > 1e-4


def test_simulation_based_calibration_logit_normal():
    assert_uniform(calibration_ranks(sample_logit_normal, "logit_normal", 40, seed=1))


def test_simulation_based_calibration_inflated_beta():
    assert_uniform(calibration_ranks(sample_inflated_beta, "inflated_beta", 40, seed=1))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "times"), [("logit_normal", 1000), ("inflated_beta", 500)])
def test_simulation_based_calibration_full(name, times):
    assert_uniform(calibration_ranks(SAMPLERS[name], name, times, seed=2))


def test_a_wrong_prior_is_caught(monkeypatch):
    """The Jacobian of the logit counted twice."""
    right = two_parameter.log_prior

    def wrong(shape, priors):
        return right(shape, priors) + log_expit(shape.logit_r)

    monkeypatch.setattr(two_parameter, "log_prior", wrong)
    with pytest.raises(AssertionError):
        test_posterior_equals_the_weighted_prior("logit_normal")


def test_a_wrong_likelihood_is_caught(monkeypatch):
    """Unanimous prompts given to the point masses alone."""

    def wrong(self, point):
        log_w = point.log_weight
        value = self._inside.log_prob(point.beta) + self._n_inside * log_w[2]
        return value + np.tensordot(self._n, log_w[self._end], axes=1)

    monkeypatch.setattr(InflatedBetaLikelihood, "log_prob", wrong)
    with pytest.raises(AssertionError):
        test_posterior_equals_the_weighted_prior("inflated_beta")


AWKWARD = {
    "all right": (np.full(30, 8), 8),
    "all right, many": (np.full(100, 8), 8),
    "all wrong": (np.zeros(5, int), 8),
    "all wrong, many": (np.zeros(100, int), 500),
    "one prompt": ([3], 5),
    "one generation": ([1] * 60 + [0] * 40, 1),
    "none scored": ([0, 0], 0),
    "unequal": ([0, 1, 3, 8, 16, 2, 0], [8, 1, 4, 8, 16, 8, 0]),
    "near binomial": (np.full(10, 500), 1000),
    "large": (np.repeat([0, 3, 8], 300_000), 8),
}


@pytest.mark.parametrize("data", AWKWARD)
@pytest.mark.parametrize("name", SAMPLERS)
def test_awkward_data(name, data):
    cells = cells_of(*AWKWARD[data])
    result = SAMPLERS[name](cells, Priors(), np.random.default_rng(8))
    mu = result.population.mean()
    shares = result.population.beta_weight + result.population.weight.sum(axis=1)
    np.testing.assert_allclose(shares, 1)
    for values in (mu, result.score, result.log_prior, *result.parameters.values()):
        assert np.all(np.isfinite(values))
    assert np.all((mu > 0) & (mu < 1))
    assert r_hat(mu.reshape(result.score.shape)) < 1.02
    s, k = cells.n_correct @ cells.n_prompts, cells.n_generations @ cells.n_prompts
    if k:
        error = np.sqrt(mu.var() + result.score.var()) + 0.02
        assert abs(result.score.mean() - s / k) < 4 * error


def test_seeds_decide_and_size_is_as_asked(spiky):
    cells = cells_of(spiky.n_correct, spiky.n_generations)
    for sampler in SAMPLERS.values():
        one, two = (sampler(cells, Priors(), np.random.default_rng(1), draws=70) for _ in "ab")
        np.testing.assert_array_equal(one.score, two.score)
        assert one.score.shape == (4, 70)
        assert len(one.population) == 280


def test_inflated_engine_finds_the_spikes():
    rng = np.random.default_rng(9)
    p = np.where(rng.random(1000) < 0.6, 1.0, rng.beta(2, 6, 1000))
    result = sample_inflated_beta(cells_of(rng.binomial(50, p), 50), Priors(), rng)
    assert result.parameters["share_correct"].mean() == pytest.approx((p == 1).mean(), abs=0.005)
    assert result.population.mean().mean() == pytest.approx(0.7, abs=5 * 0.012)


def test_lost_walkers_are_put_back():
    x = np.zeros((4, 1, 4))
    x[:, 0, 3] = 50.0
    value = np.array([[-1.0, -2.0, -3.0, -400.0]])
    inflated._rescue(x, value, np.random.default_rng(0))
    assert np.all(x == 0)
    assert value[0, 3] in (-1.0, -2.0, -3.0)


def nuts_against_engine(name: str, counts: PromptCounts, draws: int) -> None:
    """Means of mu, sigma, score and p_i differ by less than 4 (p_i: 5) Monte Carlo errors."""
    sampled = nuts.sample(nuts.program_path(name), counts, Priors(), seed=3, draws=draws)
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    fast = SAMPLERS[name](cells, Priors(), np.random.default_rng(1))
    assert sampled.n_divergences == 0
    cube = fast.score.shape
    rng = np.random.default_rng(2)
    p = fast.population.draw_p(counts.n_correct, counts.n_generations, rng).reshape(*cube, -1)
    pairs = [
        (sampled.draws["mu"], fast.population.mean().reshape(cube), 4),
        (sampled.draws["sigma"], np.sqrt(fast.population.variance()).reshape(cube), 4),
        (sampled.draws["p"].mean(axis=2), fast.score, 4),
    ]
    pairs += [(sampled.draws["p"][:, :, i], p[:, :, i], 5) for i in range(len(counts.prompt))]
    for one, two, limit in pairs:
        error = np.hypot(*(x.std() / np.sqrt(ess_bulk(x)) for x in (one, two)))
        assert abs(one.mean() - two.mean()) < limit * error


SMALL = ([3, 5, 0, 8, 8, 2, 1, 6, 10, 0], [8, 8, 8, 8, 9, 2, 1, 6, 10, 0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SAMPLERS)
def test_program_agrees_with_the_engine(name):
    nuts_against_engine(name, PromptCounts.from_arrays(*SMALL), 1000)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SAMPLERS)
def test_program_agrees_with_the_engine_on_real_counts(name, spiky):
    nuts_against_engine(name, spiky, 2000)


def test_priors_move_both_families():
    cells = cells_of([3], 5)
    for sampler in SAMPLERS.values():
        narrow = Priors(mu=(200, 200), spread=(1, 200))
        result = sampler(cells, narrow, np.random.default_rng(1))
        assert (
            result.population.mean().std()
            < sampler(cells, Priors(), np.random.default_rng(1)).population.mean().std()
        )


def test_module_constants_match_the_programs():
    assert inflated_beta.WEIGHT_PRIOR == (0.5, 0.5, 1.0)
    assert logit_normal.edge(8) > 25
