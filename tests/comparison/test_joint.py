"""The copula of two llms: against Monte Carlo, independence, and a known correlation."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from pcorrect.comparison.joint import copula_density, copula_kernel, couple
from pcorrect.comparison.pairing import make_pair
from pcorrect.comparison.prompt_level import clear_signs, prompt_differences
from pcorrect.errors import DataError, PcorrectError
from pcorrect.fitting import run_fit


def coupling_of(counts, seed=0):
    pair = make_pair(counts, "a", "b")
    fits = [run_fit(pair.select(i), model="beta_bernoulli") for i in range(2)]
    return couple(*fits, np.random.default_rng(seed)), fits


@pytest.mark.parametrize("omega", [-0.7, 0.0, 0.95])
def test_copula_density(omega):
    x, y = np.array([-1.2, 0.3, 2.0]), np.array([0.5, 0.1, 1.7])
    joint = multivariate_normal([0, 0], [[1, omega], [omega, 1]]).pdf(np.stack([x, y], axis=1))
    assert copula_density(omega, x, y) == pytest.approx(joint / norm.pdf(x) / norm.pdf(y))


@pytest.mark.parametrize("omega", [-0.9, 0.3, 0.97])
def test_kernel_keeps_the_margins(omega):
    rng = np.random.default_rng(0)
    pieces = []
    for size in (40, 70):
        mass = rng.dirichlet(np.full(size, 10.0))
        pieces.append((norm.ppf(np.cumsum(mass) - mass / 2), mass))
    kernel = copula_kernel(omega, *pieces)
    assert kernel @ pieces[1][1] == pytest.approx(np.ones(40), abs=0.02)
    assert pieces[0][1] @ kernel == pytest.approx(np.ones(70), abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_correlation_of_difficulty_is_found(beta_llms, correlation):
    shapes = [(2.0, 1.0), (0.7, 0.7)]
    counts, p = beta_llms(1500, 16, shapes, correlation, np.random.default_rng(3))
    coupling, _ = coupling_of(counts)
    draws = coupling.correlation_draws(4000, np.random.default_rng(0))
    # 4 posterior sd around the correlation of the p that were drawn
    assert draws.mean() == pytest.approx(np.corrcoef(p)[0, 1], abs=4 * draws.std())
    assert draws.std() < 0.05


def test_separate_posteriors_where_nothing_is_common(beta_llms):
    """With omega held at 0 the pieces have the Beta posterior's mean and variance."""
    counts, _ = beta_llms(200, 8, [(2.0, 1.0), (1.0, 1.0)], 0.5, np.random.default_rng(1))
    coupling, fits = coupling_of(counts)
    table = fits[0].prompts.table(0.95, "eti")
    mean = coupling.a.posterior @ coupling.a.p
    sd = np.sqrt(coupling.a.posterior @ coupling.a.p**2 - mean**2)
    assert mean[coupling.a.of_prompt] == pytest.approx(table.mean, abs=0.01)
    assert sd[coupling.a.of_prompt] == pytest.approx(table.sd, rel=0.1)


def test_pair_weights_match_importance_sampling(beta_llms):
    counts, _ = beta_llms(300, 4, [(2.0, 1.0), (1.0, 1.0)], 0.8, np.random.default_rng(2))
    coupling, fits = coupling_of(counts)
    omega = float(coupling.weight @ coupling.omega)
    rng = np.random.default_rng(5)
    # p from the population by the copula, weighted by the probability of the counts
    z = rng.multivariate_normal([0, 0], [[1, omega], [omega, 1]], 400_000).T
    p = [
        np.quantile(fit.population.draw_new(8, rng), norm.cdf(row))
        for fit, row in zip(fits, z, strict=True)
    ]
    for row, (x, y, weight) in list(enumerate(coupling.pair_weights()))[::7]:
        i, j = coupling.pairs()[0][row]
        where = [np.flatnonzero(n.of_prompt == c)[0] for n, c in ((coupling.a, i), (coupling.b, j))]
        s = [fits[m].counts.n_correct[where[m]] for m in range(2)]
        log = sum(s[m] * np.log(p[m]) + (4 - s[m]) * np.log1p(-p[m]) for m in range(2))
        share = np.exp(log - log.max())
        expected = np.average(p[0] - p[1], weights=share)
        got = weight.sum(axis=1) @ x - weight.sum(axis=0) @ y
        assert got == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("right", [0, 8])
def test_saturated_llms_say_little(counts_of, right):
    coupling, _ = coupling_of(counts_of(np.full((2, 30), right), 8))
    spread = np.sqrt(coupling.weight @ (coupling.omega - coupling.weight @ coupling.omega) ** 2)
    assert spread > 0.4


def test_differences_are_ranked_and_turn(beta_llms):
    counts, p = beta_llms(150, 8, [(2.0, 1.0), (1.0, 1.0)], 0.7, np.random.default_rng(6))
    one = prompt_differences(counts, "a", "b", model="beta_bernoulli")
    other = prompt_differences(counts, "b", "a", model="beta_bernoulli")
    assert np.all(np.diff(one.difference) <= 0)
    back = np.argsort(other.prompt.astype(str))
    here = np.argsort(one.prompt.astype(str))
    assert one.difference[here] == pytest.approx(-other.difference[back], abs=1e-12)
    assert one.lower[here] == pytest.approx(-other.upper[back], abs=1e-12)
    assert one.p_better[here] == pytest.approx(1 - other.p_better[back], abs=1e-12)
    assert one.p_only_a[here] == pytest.approx(other.p_only_b[back], abs=1e-12)
    # identities: p_only_a - p_only_b = E[p_a - p_b]
    assert one.p_only_a - one.p_only_b == pytest.approx(one.difference)
    assert one.p_a - one.p_b == pytest.approx(one.difference)
    true = (p[0] - p[1])[[int(name[1:]) for name in one.prompt]]
    inside = np.mean((one.lower <= true) & (true <= one.upper))
    assert 0.89 <= inside <= 1
    wrong = np.mean(np.sign(true[one.clear]) != np.sign(one.difference[one.clear]))
    assert one.clear.sum() > 5
    assert wrong <= 0.2


@pytest.mark.slow
def test_per_prompt_calibration(beta_llms):
    inside, wrong, clear = [], 0, 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 1])
        counts, p = beta_llms(100, 6, [(2.0, 1.0), (1.0, 1.0)], 0.8, rng)
        one = prompt_differences(counts, "a", "b", model="beta_bernoulli", seed=seed)
        true = (p[0] - p[1])[[int(name[1:]) for name in one.prompt]]
        inside.append(np.mean((one.lower <= true) & (true <= one.upper)))
        wrong += np.sum(np.sign(true[one.clear]) != np.sign(one.difference[one.clear]))
        clear += one.clear.sum()
    assert np.mean(inside) == pytest.approx(0.95, abs=0.015)
    # 5 % expected; the two populations are uncertain at n = 100, and 7 % were measured
    assert wrong / clear < 0.09


def test_exports(counts_of):
    counts = counts_of([[3, 0, 4], [1, 2, 4]], 4)
    table = prompt_differences(counts, model="beta_bernoulli")
    lines = table.to_csv().splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("prompt,n_correct_a,n_generations_a,")
    assert lines[1].startswith("q0,3,4,1,4,")
    assert len(table.to_records()) == len(table) == 3
    assert any("clear differences" in line for line in table.lines(2))


def test_an_llm_against_itself(counts_of):
    table = prompt_differences(
        counts_of([[3, 0, 4], [1, 2, 4]], 4), "a", "a", model="beta_bernoulli"
    )
    assert not table.difference.any()
    assert np.all(table.p_better == 0.5)
    assert not table.clear.any()


def test_refusals(counts_of):
    s, k = [[3, 0], [0, 2]], [[4, 0], [0, 4]]
    with pytest.raises(DataError, match="share no prompt"):
        prompt_differences(counts_of(s, k))
    with pytest.raises(PcorrectError, match="ci_prob"):
        prompt_differences(counts_of([[1], [1]], 4), ci_prob=2)


def test_clear_signs_take_the_surest_first():
    p = np.array([0.99, 0.5, 0.02, 0.93, 0.8])
    # errors .01, .02, .07, .2, .5: running means .01, .015, .033, .075, …
    assert clear_signs(p, 0.05).tolist() == [True, False, True, True, False]
    assert not clear_signs(np.array([0.6, 0.5]), 0.05).any()


def test_equal_counts_give_even_odds_for_every_prompt(counts_of):
    s = np.random.default_rng(2).binomial(8, 0.5, 30)
    found = prompt_differences(counts_of([s, s], 8), "a", "b", model="beta_bernoulli", seed=1)
    np.testing.assert_allclose(found.difference, 0, atol=1e-12)
    np.testing.assert_allclose(found.p_better, 0.5, atol=1e-9)
    np.testing.assert_allclose(found.lower, -found.upper, atol=1e-9)


def test_statements_about_prompts_hardly_depend_on_the_seed(beta_llms):
    counts = beta_llms(30, 8, [(2.0, 2.0), (2.0, 2.0)], 0.5, np.random.default_rng(3))[0]
    found = [
        dict(zip(x.prompt, x.p_better, strict=True))
        for seed in range(4)
        for x in [prompt_differences(counts, "a", "b", model="beta_bernoulli", seed=seed)]
    ]
    spread = [np.ptp([one[name] for one in found]) for name in found[0]]
    # with 16 unsorted draws of the populations it was up to .26
    assert max(spread) < 0.1
