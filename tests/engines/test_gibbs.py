"""The Gibbs engine against its own prior, the exact engine, and ArviZ's diagnostics."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit

from pcorrect.cells import Cells
from pcorrect.engines import gibbs
from pcorrect.engines.exact import LogDensity, grid_posterior
from pcorrect.engines.gibbs_ladder import Ladder, thinned
from pcorrect.engines.gibbs_pieces import beta_parameters, log_beta_draw
from pcorrect.priors import Priors

FloatArray = NDArray[np.float64]


def from_prior(
    k: list[int], chains: int, levels: int, sticks: int, priors: Priors, seed: int
) -> Ladder:
    """Chains whose states come from the prior, and whose data, one set each, from the states.

    The chains of a group have unrelated data: exchanging states between them must still leave each
    data set with states of its own posterior.
    """
    rng = np.random.default_rng(seed)
    shape = (chains, sticks)
    base = logit(rng.beta(*priors.mu, chains)), logit(rng.beta(*priors.spread, chains))
    log_alpha = rng.uniform(*np.log(priors.alpha), chains)
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None], shape)
    a, b = (np.broadcast_to(x[:, None], shape) for x in beta_parameters(*base))
    sticks_, atoms = log_beta_draw(np.ones(shape), alpha, rng), log_beta_draw(a, b, rng)
    distinct = sorted(set(k))
    s_of = np.concatenate([np.arange(x + 1) for x in distinct])
    k_of = np.concatenate([np.full(x + 1, x) for x in distinct])
    cells = Cells(s_of, k_of, np.ones(len(s_of), np.int64), np.zeros(0, np.intp))
    state = Ladder(cells, priors, rng, base, log_alpha, sticks_, atoms)
    share = np.cumsum(np.exp(state.log_w), axis=1)
    counts = np.zeros((chains, len(s_of)), np.int64)
    for one in filter(None, k):
        part = np.minimum(np.sum(share < rng.random((chains, 1)), axis=1), sticks)
        p = np.exp(state.log_phi[np.arange(chains), np.maximum(part - 1, 0)])
        p = np.where(part == 0, rng.beta(state.a, state.b), p)
        s = rng.binomial(one, p)
        counts[np.arange(chains), np.searchsorted(k_of, one) + s] += 1
    state.set_levels(counts.reshape(-1, levels, len(s_of)))
    return state


def statistics(state: Ladder) -> dict[str, FloatArray]:
    """Functions of state and data whose means are compared, one value per data set."""
    first = np.arange(len(state.level))[:, None] * state.level.shape[1]
    i = np.argsort(state.level, axis=1) + first
    i = i.ravel()
    weights, atoms = np.exp(state.log_w[i]), np.exp(state.log_phi[i])
    a, b, alpha, n = state.a[i], state.b[i], state.log_alpha[i], state.n[i]
    m = a / (a + b)
    mu = weights[:, 0] * m + np.sum(weights[:, 1:] * atoms, axis=1)
    square = weights[:, 0] * m * (a + 1) / (a + b + 1) + np.sum(weights[:, 1:] * atoms**2, axis=1)
    share = n @ (state.s / (state.s + state.f)) / n.sum(axis=1)
    values = {
        "m": m,
        "r": expit(state.base[1, i]),
        "alpha": alpha,
        "mu": mu,
        "sigma": np.sqrt(np.maximum(square - mu**2, 0.0)),
        "rest": weights[:, 0],
        "first": weights[:, 1],
        "largest": weights[:, 1:].max(axis=1),
        "atom": atoms[:, 0],
        "late": weights[:, 1:] @ np.arange(weights.shape[1] - 1.0),
        "mu, data": mu * share,
        "mu - data": (mu - share) ** 2,
        "alpha, data": alpha * share * (1 - share),
        "alpha, m - data": alpha * (m - share) ** 2,
        "atom - data": np.abs(atoms[:, 0] - share) * weights[:, 1],
        "mu**2": square,
    }
    return values | {f"({name})**2": value**2 for name, value in values.items()}


def drift(state: Ladder, sweeps: int) -> dict[str, float]:
    """Change of each statistic's mean over sweeps that start at the truth, in standard errors.

    A right sampler leaves the joint distribution of states and data where it is (Geweke 2004, JASA
    99:799), however slowly it mixes.
    """
    before = statistics(state)
    for _ in range(sweeps):
        state.sweep()
    after = statistics(state)
    change = {name: after[name] - before[name] for name in before}
    return {
        name: float(x.mean() / (x.std() / np.sqrt(len(x)) + 1e-12)) for name, x in change.items()
    }


UNEQUAL = [1, 1, 2, 5, 5, 5, 12, 12]


@pytest.mark.parametrize("alpha", [(1.0, 1e4), (0.5, 20.0)])
@pytest.mark.parametrize("k", [UNEQUAL, [8] * 30], ids=["unequal", "balanced"])
@pytest.mark.parametrize("levels", [1, 2])
def test_sweeps_leave_states_and_data_in_their_joint_distribution(k, alpha, levels):
    priors = Priors(alpha=alpha, mu=(1.5, 1.0), spread=(1.0, 2.0))
    z = drift(from_prior(k, 8000, levels, 12, priors, seed=1), 4)
    # 32 statistics: one false alarm in 10 000 runs
    assert max(map(abs, z.values())) < 4.7, z


@pytest.mark.parametrize(
    "k", [[8] * 198, [50] * 30, UNEQUAL * 3], ids=["198x8", "30x50", "unequal"]
)
def test_large_alpha_is_the_beta_model(k):
    rng = np.random.default_rng(5)
    s = rng.binomial(k, rng.beta(0.7, 0.5, len(k)))
    cells = Cells.from_counts(s, np.array(k))
    exact = grid_posterior(LogDensity(cells, Priors()))
    result = gibbs.sample(cells, Priors(alpha=(1e7, 1e8)), rng, draws=2000)
    draws = {"mu": result.population.mean(), "sigma": np.sqrt(result.population.variance())}
    for name, x in (draws | {"score": result.score.ravel()}).items():
        truth = exact.score(cells, rng) if name == "score" else getattr(exact, name)()
        error = truth.sd / np.sqrt(result.ess[name])
        assert abs(x.mean() - truth.mean) < 4 * error
        assert x.std() == pytest.approx(truth.sd, rel=4 / np.sqrt(result.ess[name]))
        for prob in (0.025, 0.5, 0.975):
            below = truth.probability_below(float(np.quantile(x, prob)))
            error = np.sqrt(prob * (1 - prob) / result.ess[name])
            assert below == pytest.approx(prob, abs=4 * error)


def test_one_generation_shows_mu_only():
    """With k = 1 the data are Bernoulli(mu): the posterior is prior x likelihood."""
    priors = Priors()
    counts = np.repeat([0, 1], [12, 28])
    cells = Cells.from_counts(counts, np.ones(40, dtype=np.int64))
    result = gibbs.sample(cells, priors, np.random.default_rng(3), draws=4000)
    prior = statistics(from_prior([1], 200_000, 1, gibbs.STICKS, priors, seed=4))
    weight = prior["mu"] ** 28 * (1 - prior["mu"]) ** 12
    weight /= weight.sum()
    size = 1 / np.sum(weight**2)
    mu = result.population.mean()
    for x, name, y in ((mu, "mu", prior["mu"]), (mu**2, "mu", prior["mu"] ** 2)):
        expected = weight @ y
        sd = np.sqrt(weight @ (y - expected) ** 2)
        assert abs(x.mean() - expected) < 4 * sd * np.sqrt(1 / size + 1 / result.ess[name])
    sigma, alpha = weight @ prior["sigma"], weight @ prior["alpha"]
    assert np.sqrt(result.population.variance()).mean() == pytest.approx(sigma, abs=0.02)
    assert np.log(result.alpha).mean() == pytest.approx(alpha, abs=0.25)


def test_score_is_the_mean_of_p_given_the_data():
    """The score's draws come from allocations; draws of every p_i come from P: same posterior."""
    k = np.array([1, 2, 5, 5, 5, 12, 12, 40])
    s = np.array([1, 0, 5, 2, 5, 12, 11, 17])
    cells = Cells.from_counts(s, k)
    result = gibbs.sample(cells, Priors(), np.random.default_rng(2), draws=2000)
    p = result.population.draw_p(s, k, np.random.default_rng(3)).mean(axis=1)
    score = result.score.ravel()
    error = score.std() * np.sqrt(2 / result.ess["score"])
    assert abs(p.mean() - score.mean()) < 4 * error
    assert p.std() == pytest.approx(score.std(), rel=0.1)


def test_sum_of_betas_has_their_mean_and_variance():
    rng = np.random.default_rng(1)
    times = np.tile([0, 1, 5, 500], (20_000, 1))
    a, b = np.array([[1.0, 0.4, 3.0, 0.02]]), np.array([[1.0, 0.7, 9.0, 0.05]])
    total = gibbs.sum_of_betas(a, b, times, rng)
    mean = a / (a + b)
    variance = float((times[0] * mean * (1 - mean) / (a + b + 1)).sum())
    assert total.mean() == pytest.approx((times[0] * mean).sum(), abs=4 * np.sqrt(variance / 2e4))
    assert total.var() == pytest.approx(variance, rel=0.05)


def test_reproducible(spiky):
    cells = Cells.from_counts(spiky.n_correct, spiky.n_generations)
    one, two = (gibbs.sample(cells, Priors(), np.random.default_rng(9), draws=50) for _ in "ab")
    np.testing.assert_array_equal(one.population.mean(), two.population.mean())
    np.testing.assert_array_equal(one.score, two.score)


def test_chains_agree_and_mu_follows_the_data(spiky):
    cells = Cells.from_counts(spiky.n_correct, spiky.n_generations)
    result = gibbs.sample(cells, Priors(), np.random.default_rng(0))
    assert result.alpha.shape == result.score.shape == (4, 500)
    assert len(result.population) == 2000
    assert result.ess["mu"] > 400
    assert max(result.r_hat["mu"], result.r_hat["score"]) < 1.01
    # where the Beta is wrong the estimate stays at the mean of the data (the Beta says .569)
    assert result.population.mean().mean() == pytest.approx(0.5941, abs=0.006)
    assert np.median(result.alpha) < 5


def test_chains_that_disagree_are_run_on(monkeypatch):
    # A limit that nothing meets: eight times as many sweeps for the same number of draws.
    cells = Cells.from_counts(np.array([3]), np.array([5]))
    short = gibbs.sample(cells, Priors(), np.random.default_rng(4))
    monkeypatch.setattr(gibbs, "_R_HAT", 0.5)
    long = gibbs.sample(cells, Priors(), np.random.default_rng(4))
    assert long.score.shape == short.score.shape
    assert long.ess["mu"] > 1.4 * short.ess["mu"]
    # what is thinned stays together: alpha, the score and the population of one draw
    mu = long.population.mean().reshape(long.score.shape)
    assert np.corrcoef(mu.ravel(), long.score.ravel())[0, 1] > 0.3
    # 4 Monte Carlo standard errors about the mean and sd of 160,000 draws
    assert mu.mean() == pytest.approx(0.5528, abs=4 * 0.199 / np.sqrt(long.ess["mu"]))
    assert mu.std() == pytest.approx(0.1987, abs=4 * 0.199 / np.sqrt(2 * long.ess["mu"]))


@pytest.mark.parametrize(
    ("s", "k"),
    [([1], 1), ([3], 5), ([8] * 30, 8), ([0] * 30, 8), ([0, 8] * 15, 8)],
)
def test_extreme_data(s, k):
    s = np.array(s, dtype=np.int64)
    cells = Cells.from_counts(s, np.full(len(s), k, dtype=np.int64))
    result = gibbs.sample(cells, Priors(), np.random.default_rng(1), draws=300)
    mu = result.population.mean()
    assert np.isfinite(result.alpha).all()
    assert ((mu > 0) & (mu < 1 + 1e-12)).all()
    assert ((result.score >= 0) & (result.score <= 1 + 1e-12)).all()
    total = result.population.beta_weight + result.population.weight.sum(axis=1)
    np.testing.assert_allclose(total, 1.0)


def test_generations_in_the_hundred_thousands():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 3, 30)
    cells = Cells.from_counts(rng.binomial(100_000, p), np.full(30, 100_000))
    result = gibbs.sample(cells, Priors(), rng, draws=300)
    assert result.score.mean() == pytest.approx(p.mean(), abs=0.001)


def test_thinning_keeps_the_proportions():
    levels = thinned(np.ones(600, dtype=np.int64))
    assert list(levels.sum(axis=1)) == sorted(levels.sum(axis=1), reverse=True)
    assert levels[-1].sum() == 30
    assert np.ptp([chunk.sum() for chunk in np.split(levels[-1], 6)]) <= 1
