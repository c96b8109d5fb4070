"""Ranks, P(best), pairs told apart: identities, a brute-force bootstrap, false claims."""

import time

import numpy as np
import pytest

from pcorrect.comparison import rank
from pcorrect.comparison.ranks import pairwise, runs
from pcorrect.errors import ChoiceError, DataError
from pcorrect.prompt_weights import Units, mean_draws


@pytest.fixture
def seven(beta_llms):
    shapes = [(a, 2.0) for a in (1.0, 1.5, 2.0, 2.2, 3.0, 5.0, 6.0)]
    return beta_llms(80, 8, shapes, 0.7, np.random.default_rng(0))[0]


def test_identities(seven):
    result = rank(seven)
    size = len(result.llm)
    assert result.p_best.sum() == pytest.approx(1)
    assert result.rank_mean.sum() == pytest.approx(size * (size + 1) / 2)
    assert result.p_better + result.p_better.T == pytest.approx(np.ones((size, size)))
    # the expected rank is 1 + the expected number of better llms
    assert result.rank_mean == pytest.approx(1 + (result.p_better.T.sum(axis=1) - 0.5))
    assert np.all(np.diff(result.estimate) <= 0)
    assert np.all(result.rank_least <= result.rank_lower + 1e-9)
    assert np.all(result.rank_most >= result.rank_upper - 1e-9)
    assert np.array_equal(result.told_apart, result.told_apart.T)
    assert result.estimate == pytest.approx(np.sort((seven.n_correct / 8).mean(axis=1))[::-1])


def test_agrees_with_a_brute_force_bootstrap(seven):
    result = rank(seven)
    share = seven.n_correct / 8
    order = [list(seven.llm).index(name) for name in result.llm]
    rng = np.random.default_rng(1)
    means = np.array([share[:, rng.integers(0, 80, 80)].mean(axis=1)[order] for _ in range(4000)])
    best = means == means.max(axis=1, keepdims=True)
    p_best = np.mean(best / best.sum(axis=1, keepdims=True), axis=0)
    position = 1 + np.sum(means[:, None, :] > means[:, :, None], axis=2).mean(axis=0)
    assert result.p_best == pytest.approx(p_best, abs=0.04)
    assert result.rank_mean == pytest.approx(position, abs=0.25)
    assert result.sd == pytest.approx(means.std(axis=0), rel=0.12)


def test_agrees_with_compare(seven):
    from pcorrect.comparison import paired_difference

    result = rank(seven)
    pair = paired_difference(seven, result.llm[2], result.llm[3], model="beta_bernoulli")
    assert result.p_better[2, 3] == pytest.approx(pair.p_better, abs=0.03)


def test_equal_llms_share_everything(counts_of):
    row = [0, 3, 8, 8, 5] * 4
    result = rank(counts_of([row, row, row], 8))
    assert result.rank_mean == pytest.approx([2, 2, 2], abs=0.1)
    assert result.p_best == pytest.approx([1 / 3] * 3, abs=0.03)
    assert not result.told_apart.any()
    assert result.groups == (("a", "b", "c"),)


def test_clearly_different_llms_are_told_apart(counts_of):
    rng = np.random.default_rng(3)
    p = np.array([[0.9], [0.5], [0.1]])
    result = rank(counts_of(rng.binomial(8, np.broadcast_to(p, (3, 100))), 8))
    assert result.told_apart.sum() == 6
    assert result.groups == (("a",), ("b",), ("c",))
    assert result.rank_least.tolist() == result.rank_most.tolist() == [1, 2, 3]
    assert result.new_prompts.kendall_tau == pytest.approx(1)
    assert result.same_prompts.p_same_best == pytest.approx(1)


def test_runs():
    apart = np.zeros((4, 4), bool)
    apart[0, 2] = apart[2, 0] = apart[0, 3] = apart[3, 0] = True
    assert runs(("a", "b", "c", "d"), apart) == (("a", "b"), ("b", "c", "d"))


def false_claims(llms, n, replications, seed):
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(replications):
        difficulty = rng.standard_normal(n) * 1.5
        p = 1 / (1 + np.exp(-difficulty - rng.standard_normal((llms, n)) * 0.7))
        s = rng.binomial(8, p)
        draws = mean_draws(Units.from_counts(s, np.full_like(s, 8)), 2000, rng)
        wrong += pairwise(draws, 0.95).told_apart.any()
    return wrong / replications


def test_false_claims_small():
    """60 replications of equal llms: at most 9 wrong has a false-alarm rate of .1 % at .05."""
    assert false_claims(8, 60, 60, seed=1) <= 9 / 60


@pytest.mark.slow
@pytest.mark.parametrize(("llms", "n"), [(5, 30), (10, 45), (20, 200)])
def test_false_claims(llms, n):
    assert false_claims(llms, n, 400, seed=2) <= 0.085


def test_stability_is_what_a_second_run_shows(beta_llms):
    """Runs on fresh prompts of the same population keep the order as often as predicted."""
    shapes = [(a, 2.0) for a in (1.6, 1.8, 2.0, 2.2)]
    predicted, seen = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        first = beta_llms(60, 4, shapes, 0.6, rng)[0]
        second = beta_llms(60, 4, shapes, 0.6, rng)[0]
        result = rank(first, draws=500)
        predicted.append(result.new_prompts.p_same_order.mean())
        means = second.n_correct.mean(axis=1)[[list(first.llm).index(x) for x in result.llm]]
        seen.append(np.mean(np.diff(means) < 0) + 0.5 * np.mean(np.diff(means) == 0))
    # differences of 180 neighbours: standard error about .04 (they are correlated)
    assert np.mean(predicted) == pytest.approx(np.mean(seen), abs=0.13)


def test_one_generation_has_no_same_prompt_stability(counts_of):
    rng = np.random.default_rng(0)
    result = rank(counts_of(rng.integers(0, 2, (3, 40)), 1))
    assert result.same_prompts is None
    assert result.to_dict()["if_run_again"]["same_prompts"] is None


def test_missing_prompts(counts_of):
    s = np.array([[3, 4, 2, 1], [2, 2, 2, 0], [1, 0, 4, 4]])
    k = np.array([[4, 4, 4, 4], [4, 4, 4, 0], [4, 4, 4, 4]])
    result = rank(counts_of(s, k))
    assert (result.n_prompts, result.n_left_out) == (3, 1)
    own = rank(counts_of(s, k), prompts="own")
    assert own.n_prompts == 4
    assert any("own prompts" in note for note in own.notes)
    k = np.array([[4, 4, 0, 0], [0, 0, 4, 4], [4, 4, 4, 4]])
    with pytest.raises(DataError, match="own-prompts"):
        rank(counts_of(np.minimum(s, k), k))


def test_choices(seven, counts_of):
    assert rank(seven, llm=["b", "g"]).llm == ("g", "b")
    with pytest.raises(ChoiceError, match="no llm"):
        rank(seven, llm=["b", "x"])
    with pytest.raises(DataError, match="two llms"):
        rank(seven, llm=["b"])
    with pytest.raises(ChoiceError, match="no benchmark"):
        rank(seven, benchmark="x")
    with pytest.raises(DataError, match="no groups"):
        rank(seven, by_group=True)


def test_several_benchmarks(counts_of):
    rng = np.random.default_rng(4)
    one = counts_of(rng.binomial(4, 0.7, (3, 30)), 4, benchmark="one")
    two = counts_of(rng.binomial(4, 0.3, (3, 50)), 4, benchmark="two")
    result = rank([one, two], weights={"one": 3, "two": 1})
    means = 0.75 * one.n_correct.mean(axis=1) / 4 + 0.25 * two.n_correct.mean(axis=1) / 4
    assert result.estimate == pytest.approx(np.sort(means)[::-1])
    assert result.benchmark == ("one", "two")
    with pytest.raises(ChoiceError, match="weights"):
        rank([one, two], weights={"one": 3})


def test_otis(shared):
    file = str(shared / "data" / "epoch_otis_mock_aime.csv.gz")
    start = time.perf_counter()
    result = rank(file)
    seconds = time.perf_counter() - start
    print(f"98 llms in {seconds:.1f} s")
    assert len(result.llm) == 98
    assert result.p_best.sum() == pytest.approx(1)
    assert result.n_prompts == 41
    assert result.told_apart.sum() / 2 > 2000
    names = [name for group in result.groups for name in group]
    assert set(names) == set(result.llm)


def test_two_prompts_of_its_own_do_not_put_an_llm_first(counts_of):
    s = np.zeros((2, 102), int)
    k = np.zeros((2, 102), int)
    k[0, :100], k[1, 100:] = 4, 4
    s[0, :100], s[1, 100:] = np.random.default_rng(0).binomial(4, 0.9, 100), 4
    found = rank(counts_of(s, k), prompts="own")
    b = found.llm.index("b")
    # 2 of 2 right: nobody knows (alone: .83, from .12)
    assert found.mean[b] < 0.9
    assert found.lower[b] < 0.5
    assert not found.told_apart.any()
    assert (found.n_prompts, found.n_shared) == (102, 0)


def test_prompts_without_a_group_are_units_of_their_own(counts_of):
    rng = np.random.default_rng(1)
    s = rng.binomial(4, rng.beta(1, 1, (2, 30)))
    blank = [f"g{i % 5}" for i in range(10)] + [""] * 20
    named = blank[:10] + [f"h{i}" for i in range(20)]
    one, two = (rank(counts_of(s, 4, group=group), by_group=True) for group in (blank, named))
    np.testing.assert_allclose(one.se, two.se)
    assert any("20 prompts have no group" in note for note in one.notes)
    assert not any("no group" in note for note in two.notes)
