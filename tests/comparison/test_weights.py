"""The weights against closed forms, a plain loop, and simulations with known truth."""

import numpy as np
import pytest
from scipy.special import betaincinv, ndtr

from pcorrect import prompt_weights as weights
from pcorrect.errors import PcorrectError
from pcorrect.prompt_weights import Lenders, Units, macro_draws, mean_draws, rerun_means


def exact_moments(n_correct, k):
    """Mean and variance of the difference of two llms, by the Dirichlet's moments.

    With x_1 … x_n fixed and x_0 random, values x_i weighted by Dirichlet(c, …, c) have mean
    mean(x) and variance var(x) / ((n + 1) c + 1); then the law of total variance over x_0.
    """
    n = n_correct.shape[1]
    c = n / (n + 5)
    x = (n_correct[0] - n_correct[1]) / k
    # x_0 = difference of two outcomes of k tries with uniform p; corr(z) = 1/2, so that
    # cov(p, p') = arcsin(1/4) / (2 pi)
    v0 = 2 * (1 / 12 + 1 / (6 * k) - np.arcsin(0.25) / (2 * np.pi))
    mean = x.sum() / (n + 1)
    second = (np.sum(x**2) + v0) / (n + 1)
    of_mean = v0 / (n + 1) ** 2
    within = second - (mean**2 + of_mean)
    return mean, within / ((n + 1) * c + 1) + of_mean


def standard_errors_off(n_correct, k, seed):
    draws = mean_draws(
        Units.from_counts(n_correct, np.full_like(n_correct, k)),
        200_000,
        np.random.default_rng(seed),
    )
    gap = draws[:, 0] - draws[:, 1]
    mean, variance = exact_moments(n_correct, k)
    # pairs of draws share their weights: half as many are independent
    size = len(gap) / 2
    kurtosis = np.mean((gap - gap.mean()) ** 4) / gap.var() ** 2
    return (
        (gap.mean() - mean) / np.sqrt(variance / size),
        (gap.var() / variance - 1) / np.sqrt((kurtosis - 1) / size),
    )


@pytest.mark.parametrize(("n", "k"), [(5, 1), (12, 4), (40, 16)])
def test_moments_match_closed_form(n, k):
    rng = np.random.default_rng(n)
    s = rng.binomial(k, rng.beta(1, 1, (2, n)))
    # six numbers within 4.5 standard errors: false alarms 4e-5
    assert np.all(np.abs(standard_errors_off(s, k, seed=1)) < 4.5)


def test_the_check_sees_the_plain_bootstrap(monkeypatch):
    """The same check fails where the imaginary prompt is left out."""
    monkeypatch.setattr(
        weights, "_imaginary", lambda u, count, *_: [np.full((count, 2, u.k.shape[1]), 0.5)]
    )
    rng = np.random.default_rng(1)
    s = rng.binomial(4, rng.beta(1, 1, (2, 12)))
    assert np.abs(standard_errors_off(s, 4, seed=1)).max() > 10


def test_collapsing_equal_prompts_changes_nothing():
    s = np.array([[3, 3, 1, 0, 4], [2, 2, 1, 4, 4]])
    k = np.full_like(s, 4)
    units = Units.from_counts(s, k)
    assert len(units) == 5
    assert len(units.times) == 4
    assert units.mean() == pytest.approx(s.mean(axis=1) / 4)
    x = s / 4
    expected = np.cov(x) / 5
    assert units.covariance() == pytest.approx(expected)


def test_groups_are_units():
    s = np.array([[4, 4, 0, 0, 2]])
    k = np.full_like(s, 4)
    group = np.array(["x", "x", "y", "y", "z"], object)
    units = Units.from_counts(s, k, group)
    assert len(units) == 3
    # ratio estimator, by hand: residuals 1, -1, 0 (sums over the group minus size * .5) over n
    assert units.mean()[0] == pytest.approx(0.5)
    assert units.covariance()[0, 0] == pytest.approx((1 + 1) / 25 * 3 / 2)


def test_equal_counts_are_exactly_equal():
    s = np.array([[4, 3, 0, 4], [4, 3, 0, 4]])
    draws = mean_draws(Units.from_counts(s, np.full_like(s, 4)), 999, np.random.default_rng(0))
    gap = draws[:, 0] - draws[:, 1]
    assert len(gap) == 1000
    assert gap[::2] == pytest.approx(-gap[1::2], abs=1e-15)
    assert np.sum(gap > 0) == np.sum(gap < 0)
    assert gap.std() > 0


def test_missing_prompts_and_llms_without_any():
    s = np.array([[4, 0, 3], [2, 0, 0]])
    k = np.array([[4, 0, 4], [4, 4, 0]])
    units = Units.from_counts(s, k)
    assert units.mean() == pytest.approx([7 / 8, 1 / 4])
    with pytest.raises(PcorrectError, match="no scored generation"):
        mean_draws(Units.from_counts(s, k * [[1], [0]]), 10, np.random.default_rng(0))


def test_rerun_has_the_variance_of_two_runs():
    rng = np.random.default_rng(5)
    s = rng.binomial(8, rng.beta(2, 1, (1, 300)))
    units = Units.from_counts(s, np.full_like(s, 8))
    again = rerun_means(units, 20_000, rng)[:, 0]
    # the population's mean is uncertain by se**2, and a new run scatters by se**2 around it
    assert again.var() == pytest.approx(2 * units.covariance()[0, 0], rel=0.06)


def of_sizes(sizes, rng, a=9.0, b=1.0, k=5):
    """Benchmarks of these sizes, all of one population."""
    tables = [rng.binomial(k, rng.beta(a, b, (1, n))) for n in sizes]
    return [Units.from_counts(s, np.full_like(s, k)) for s in tables]


def macro(parts, draws, seed):
    share = np.full(len(parts), 1 / len(parts))
    rngs = [np.random.default_rng([seed, i]) for i in range(len(parts))]
    return macro_draws(parts, share, draws, rngs)


@pytest.mark.parametrize("sizes", [[4] * 57, [10] * 57, [5] * 10 + [60] * 10, [2] * 24])
def test_macro_average_of_many_benchmarks_is_covered(sizes):
    """An imaginary prompt of its own in each benchmark covers in 0 to .3 of the first two.

    100 replications: .87 is 3.7 standard errors below .95.
    """
    rng = np.random.default_rng(2)
    inside, shift = 0, 0.0
    for seed in range(100):
        parts = of_sizes(sizes, rng)
        drawn = macro(parts, 500, seed)[:, 0]
        low, high = np.quantile(drawn, [0.025, 0.975])
        inside += low <= 0.9 <= high
        shift += (drawn.mean() - np.mean([u.mean()[0] for u in parts])) / 100
    assert 87 <= inside <= 100
    # what is left of the pull towards 1/2: the one unknown prompt
    pull = -0.4 / len(sizes) * np.mean(1 / (np.array(sizes) + 1))
    assert shift == pytest.approx(pull, abs=0.0005)


def test_lent_prompts_leave_the_macro_average_where_it_is():
    rng = np.random.default_rng(3)
    parts = [*of_sizes([3], rng, 1, 9), *of_sizes([50], rng, 9, 1)]
    share = np.array([0.3, 0.7])
    lenders = Lenders.of(parts, share)
    means = np.array([u.mean()[0] for u in parts])
    of_part = np.array([len(u.times) for u in parts])
    lent = [x.sum() for x in np.split(lenders.prob, of_part[:1])]
    assert lent == pytest.approx(np.array([0.3 / 4, 0.7 / 51]) / (0.3 / 4 + 0.7 / 51))
    borrowed = share / np.array([4, 51]) @ (lenders.prob @ lenders.share[:, 0] - means)
    assert borrowed == pytest.approx(0, abs=1e-12)


def test_macro_of_equal_llms_is_symmetric_and_that_of_one_benchmark_its_own():
    rng = np.random.default_rng(4)
    tables = [np.repeat(rng.binomial(4, 0.7, (1, n)), 2, axis=0) for n in (3, 8)]
    parts = [Units.from_counts(s, np.full_like(s, 4)) for s in tables]
    drawn = macro(parts, 2000, 0)
    gap = drawn[:, 0] - drawn[:, 1]
    assert gap[::2] == pytest.approx(-gap[1::2], abs=1e-15)
    assert gap.std() > 0
    alone = mean_draws(parts[0], 100, np.random.default_rng([0, 0]))
    np.testing.assert_array_equal(macro(parts[:1], 100, 0), alone)


def test_macro_of_all_right_is_near_one_but_not_certain():
    s = np.full((1, 4), 8)
    parts = [Units.from_counts(s, s) for _ in range(57)]
    drawn = macro(parts, 4000, 0)[:, 0]
    assert drawn.mean() == pytest.approx(1 - 0.5 / 57 / 5, abs=5e-4)
    assert 0.99 < np.quantile(drawn, 0.025) < 1


def test_rerun_of_a_macro_average_has_the_variance_of_two_runs():
    rng = np.random.default_rng(6)
    parts = of_sizes([40] * 20, rng)
    lenders = Lenders.of(parts, np.full(20, 1 / 20))
    again = np.mean([rerun_means(u, 5000, rng, lenders)[:, 0] for u in parts], axis=0)
    mean = np.mean([u.mean()[0] for u in parts])
    se2 = sum(u.covariance()[0, 0] for u in parts) / 400
    assert again.mean() == pytest.approx(mean, abs=0.001)
    # c < 1 and lent prompts: wider by up to a tenth where benchmarks have 40 prompts
    assert 0.95 * 2 * se2 < again.var() < 1.35 * 2 * se2


def coverage(margin_a, margin_b, correlation, n, k, replications, seed):
    rng = np.random.default_rng(seed)
    inside, width, t_width = 0, 0.0, 0.0
    truth = margin_a[0] / sum(margin_a) - margin_b[0] / sum(margin_b)
    for _ in range(replications):
        z = rng.standard_normal((2, n))
        z[1] = correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]
        p = np.stack(
            [betaincinv(*m, ndtr(x)) for m, x in zip((margin_a, margin_b), z, strict=True)]
        )
        s = rng.binomial(k, p)
        draws = mean_draws(Units.from_counts(s, np.full_like(s, k)), 2000, rng)
        low, high = np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])
        inside += low <= truth <= high
        width += high - low
        t_width += 2 * 2.045 * np.std((s[0] - s[1]) / k, ddof=1) / np.sqrt(n)
    return inside / replications, width / t_width


@pytest.mark.parametrize(("correlation", "k"), [(0.0, 4), (0.9, 1), (0.9, 16)])
def test_coverage_small(correlation, k):
    """300 replications: .905 to .985 is 3.5 standard errors around .95 (false alarms 5e-4)."""
    share, width = coverage((0.8, 0.4), (1.2, 0.8), correlation, 30, k, 300, seed=3)
    assert 0.905 <= share <= 0.99
    assert width < 1.1


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("k", [1, 4, 16])
@pytest.mark.parametrize("shapes", [((0.8, 0.4), (1.2, 0.8)), ((0.1, 0.1), (0.2, 0.1))])
def test_coverage_full(correlation, k, shapes):
    """2000 replications: standard error .005."""
    share, width = coverage(*shapes, correlation, 30, k, 2000, seed=4)
    assert 0.93 <= share <= 0.975
    assert width < 1.1
