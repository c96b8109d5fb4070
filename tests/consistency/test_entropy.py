"""S(consistency): the paper's number exactly, and a posterior that covers the truth.

The check of coverage is run on distributions of other kinds than the prior's, and once on a wrong
interval (of the plug-in, without clusters not met yet), which has to fail it.
"""

import itertools

import numpy as np
import pytest
from scipy.special import digamma

from pcorrect.consistency import entropy as module
from pcorrect.consistency.entropy import consistency, entropy


@pytest.mark.parametrize(
    ("sizes", "s"),
    [
        ([7, 1], -0.3768),
        ([3, 1], -0.5623),
        ([2, 2], -0.6931),
        ([1] * 5, -1.6094),
        ([40, 20, 4], -0.8305),
        ([5], 0.0),
        ([5, 0], 0.0),
    ],
)
def test_plug_in(sizes, s):
    assert consistency(sizes) == pytest.approx(s, abs=5e-5)
    assert not str(consistency(sizes)).startswith("-0.0")


def test_order_does_not_matter():
    values = {consistency(order) for order in itertools.permutations([5, 3, 2, 1])}
    assert len(values) == 1
    assert entropy([1, 5, 3]) == entropy([5, 3, 1])


def test_one_generation_has_no_consistency():
    assert entropy([1]) is None
    assert entropy([]) is None


def test_posterior_corrects_the_bias():
    few, many = entropy([3, 1, 1]), entropy([30, 10, 10])
    assert few is not None
    assert many is not None
    assert few.mean < few.plug_in
    assert few.upper - few.lower > 2 * (many.upper - many.lower)
    assert many.mean == pytest.approx(many.plug_in, abs=0.1)


def test_always_the_same_stays_possible():
    for k in (2, 5, 50):
        found = entropy([k])
        assert found is not None
        assert found.upper == 0.0
        assert str(found.plug_in) == "0.0"
        assert found.lower < 0


@pytest.mark.parametrize("sizes", [[], [0, 0], [-1, 2]])
def test_impossible_sizes(sizes):
    with pytest.raises(ValueError, match="cluster sizes"):
        consistency(sizes)


@pytest.mark.parametrize("sizes", [[-1, 3], [2.5, 1], [float("nan"), 2]])
def test_sizes_are_counts(sizes):
    with pytest.raises(ValueError, match="whole numbers"):
        entropy(sizes)


@pytest.mark.parametrize("theta", [0.5, 20.0, 300.0])
def test_entropy_of_a_dirichlet_process(theta):
    """Draws given theta against the closed form of the mean (Archer, Park & Pillow 2014)."""
    grid, _, pool = module._prior()
    t = int(np.argmin(np.abs(np.log(grid / theta))))
    expected = digamma(grid[t] + 1) - digamma(1)
    error = pool[t].std() / np.sqrt(pool.shape[1])
    assert pool[t].mean() == pytest.approx(expected, abs=4 * error + 1e-9)


def test_impossible_interval():
    with pytest.raises(ValueError, match="ci_prob"):
        entropy([2, 1], ci_prob=1.0)


TRUTHS = (np.array([0.9, 0.1]), np.array([0.5, 0.5]), np.full(4, 0.25), np.full(20, 0.05))


def missed(interval, k, replications=150):
    """Share of intervals that miss the truth, over all kinds."""
    rng = np.random.default_rng(k)
    misses = []
    for _ in range(replications):
        for p in TRUTHS:
            n = rng.multinomial(k, p)
            low, high = interval(sorted(n[n > 0].tolist()))
            misses.append(not low - 1e-9 <= consistency(p) <= high + 1e-9)
    return float(np.mean(misses))


def own(sizes):
    found = entropy(sizes)
    return found.lower, found.upper


def naive(sizes):
    """Dirichlet(n) on the clusters that were met."""
    rng = np.random.default_rng(0)
    share = rng.dirichlet(sizes, size=400)
    s = (share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
    return np.quantile(s, [0.025, 0.975])


@pytest.mark.parametrize("k", [5, 10, 50])
def test_coverage(k):
    # 600 intervals: a true rate of 5 % exceeds 8 % once in a thousand runs.
    assert missed(own, k) < 0.08


@pytest.mark.parametrize("k", [4, 16, 50])
@pytest.mark.parametrize("m", [200, 1000])
def test_many_answers_of_which_few_come_twice(m, k):
    """S of m equal clusters: 80 intervals, of which far from all missed with a cut-off prior."""
    rng = np.random.default_rng(m)
    inside = 0
    for _ in range(80):
        n = rng.multinomial(k, np.full(m, 1 / m))
        low, high = own(sorted(n[n > 0].tolist()))
        inside += low <= -np.log(m) <= high
    assert inside >= 60


def test_the_check_of_coverage_fails_a_wrong_interval():
    assert missed(naive, 5) > 0.2
    assert missed(naive, 10) > 0.2
