"""Two llms: pairing, symmetry, degenerate data, agreement with moments and between estimands."""

import json

import numpy as np
import pytest

from pcorrect.comparison import paired_difference
from pcorrect.errors import ChoiceError, DataError, PcorrectError

FAST = {"model": "beta_bernoulli"}


@pytest.fixture
def two(beta_llms):
    return beta_llms(120, 8, [(2.0, 1.0), (1.5, 1.0)], 0.7, np.random.default_rng(0))[0]


def test_swapping_flips_signs_only(two):
    one = paired_difference(two, "a", "b", rope=0.02, **FAST)
    other = paired_difference(two, "b", "a", rope=0.02, **FAST)
    assert other.mu == one.mu.negated()
    assert other.score == one.score.negated()
    assert other.p_better == pytest.approx(1 - one.p_better, abs=1e-12)
    assert other.p_better_score == pytest.approx(1 - one.p_better_score, abs=1e-12)
    assert other.p_equivalent == one.p_equivalent
    assert other.correlation == one.correlation
    assert other.difference == -one.difference
    assert (other.se_mu, other.gain) == (one.se_mu, one.gain)
    assert other.verdict == {"better": "worse", "worse": "better"}.get(one.verdict, one.verdict)


def test_renaming_changes_nothing(two, counts_of):
    renamed = counts_of(two.n_correct, two.n_generations, llm=["zz", "aa"])
    one, other = paired_difference(two, "a", "b", **FAST), paired_difference(renamed, **FAST)
    assert (one.mu, one.score) == (other.mu, other.score)


def test_an_llm_against_itself(two):
    result = paired_difference(two, "a", "a")
    assert (result.mu.mean, result.mu.sd, result.p_better) == (0.0, 0.0, 0.5)
    assert (result.score.lower, result.score.upper, result.p_better_score) == (0.0, 0.0, 0.5)


@pytest.mark.parametrize("share", ["right", "wrong", "mixed"])
def test_equal_counts_under_two_names(counts_of, share):
    row = {"right": [8] * 30, "wrong": [0] * 30, "mixed": [0, 8, 3] * 10}[share]
    result = paired_difference(counts_of([row, row], 8), **FAST)
    assert result.mu.mean == result.score.mean == 0
    assert result.mu.lower == -result.mu.upper
    assert result.p_better == 0.5
    assert result.p_better_score == 0.5
    assert result.mu.lower < 0 < result.mu.upper
    assert result.score.lower < 0 < result.score.upper


def test_saturated_with_unequal_k(counts_of):
    k = np.array([[8] * 30, [3] * 30])
    result = paired_difference(counts_of(k, k), **FAST)
    assert 0.45 <= result.p_better <= 0.55
    assert result.mu.lower < 0 < result.mu.upper
    assert 0.001 < result.mu.upper - result.mu.lower < 0.2
    assert result.verdict == "undecided"


def test_more_prompts_make_saturation_surer(counts_of):
    width = []
    for n in (5, 30, 500):
        result = paired_difference(counts_of(np.full((2, n), 8), 8), **FAST)
        width.append(result.mu.upper - result.mu.lower)
    assert width[0] > 2 * width[1] > 10 * width[2]


def test_close_to_the_paired_t_interval(two):
    result = paired_difference(two, "a", "b", **FAST)
    low, high = result.interval_of_moments()
    assert result.mu.lower == pytest.approx(low, abs=0.1 * (high - low))
    assert result.mu.upper == pytest.approx(high, abs=0.1 * (high - low))
    d = (two.n_correct[0] - two.n_correct[1]) / 8
    assert result.difference == pytest.approx(d.mean())
    assert result.se_mu == pytest.approx(d.std(ddof=1) / np.sqrt(120))


def test_pairing_gains_what_the_correlation_implies(two):
    paired = paired_difference(two, "a", "b", **FAST)
    unpaired = paired_difference(two, "a", "b", paired=False, **FAST)
    assert unpaired.correlation is None
    assert not unpaired.paired
    assert paired.gain == pytest.approx(unpaired.se_mu / paired.se_mu)
    assert unpaired.mu.sd / paired.mu.sd == pytest.approx(paired.gain, rel=0.05)
    x = two.n_correct / 8
    r = np.corrcoef(x)[0, 1]
    sd = x.std(axis=1, ddof=1)
    implied = np.sqrt(np.sum(sd**2) / (np.sum(sd**2) - 2 * r * sd.prod()))
    assert paired.gain == pytest.approx(implied)
    assert f"{implied:.2f} times smaller" in paired.gain_in_words
    assert unpaired.gain_in_words is None


def test_pairing_that_loses_is_not_called_a_gain(counts_of):
    """One llm right where the other is wrong: the differences vary more than two sets would."""
    s = np.array([8, 7, 6, 2, 1, 0] * 5)
    found = paired_difference(counts_of([s, 8 - s], 8), **FAST)
    assert "times larger than without" in found.gain_in_words


def test_score_is_surer_than_mu_and_matches_its_moments(two):
    result = paired_difference(two, "a", "b", **FAST)
    assert result.score.sd < result.mu.sd
    assert result.score.sd == pytest.approx(result.se_score, rel=0.15)
    assert result.score.mean == pytest.approx(result.difference, abs=0.3 * result.se_score)


def test_partial_overlap_is_counted_and_said(counts_of):
    s = np.array([[3, 4, 2, 1, 0, 0], [0, 0, 2, 2, 4, 1]])
    k = np.array([[4, 4, 4, 4, 0, 0], [0, 8, 8, 8, 8, 8]])
    result = paired_difference(counts_of(s, k), **FAST)
    assert (result.n_shared, result.only_a, result.only_b) == (3, 1, 2)
    assert "1 only in a, 2 only in b" in result.notes[0]
    x = s[:, 1:4] / k[:, 1:4]
    assert result.difference == pytest.approx((x[0] - x[1]).mean())


def test_nothing_shared(counts_of):
    s = np.array([[3, 4, 0, 0], [0, 0, 2, 2]])
    k = np.array([[4, 4, 0, 0], [0, 0, 4, 4]])
    with pytest.raises(DataError, match="--unpaired"):
        paired_difference(counts_of(s, k))
    result = paired_difference(counts_of(s, k), paired=False, **FAST)
    assert result.difference == pytest.approx(7 / 8 - 4 / 8)
    assert (result.n_shared, result.only_a, result.only_b) == (0, 2, 2)


def test_one_generation_each(beta_llms):
    counts, _ = beta_llms(300, 1, [(2.0, 1.0), (1.0, 1.0)], 0.8, np.random.default_rng(2))
    result = paired_difference(counts, **FAST)
    assert result.correlation is None
    assert any("k = 1" in note for note in result.notes)
    assert result.se_score is None
    # McNemar: with n10 and n01 discordant prompts the variance of the difference is
    # (n10 + n01 - (n10 - n01)**2 / n) / n**2
    one, two = counts.n_correct
    n10, n01 = np.sum(one > two), np.sum(one < two)
    se = np.sqrt(n10 + n01 - (n10 - n01) ** 2 / 300) / 300
    assert result.mu.sd == pytest.approx(se, rel=0.05)


def test_one_shared_prompt(counts_of):
    result = paired_difference(counts_of([[3], [1]], 4), **FAST)
    assert result.se_mu is None
    assert result.gain is None
    assert result.mu.upper - result.mu.lower > 0.5


@pytest.mark.parametrize("spread", [0.0, 0.02])
def test_stable_over_seeds(beta_llms, spread):
    counts, _ = beta_llms(60, 4, [(2, 1), (2, 1 + spread)], 0.6, np.random.default_rng(8))
    values = [paired_difference(counts, seed=seed, **FAST).p_better for seed in range(20)]
    assert np.std(values, ddof=1) < 0.01


def test_same_seed_same_result(two):
    results = [paired_difference(two, seed=3, **FAST) for _ in range(2)]
    assert results[0] == results[1]


def test_groups(beta_llms, counts_of):
    counts, _ = beta_llms(40, 8, [(2.0, 1.0), (1.5, 1.0)], 0.7, np.random.default_rng(4))
    wide = counts_of(
        np.repeat(counts.n_correct, 5, axis=1), 8, group=[f"g{i // 5}" for i in range(200)]
    )
    naive = paired_difference(wide, **FAST)
    aware = paired_difference(wide, by_group=True, **FAST)
    # five copies of each prompt hold no more than one
    assert aware.mu.sd / naive.mu.sd == pytest.approx(np.sqrt(5), rel=0.1)
    assert aware.n_groups == 40
    assert any("by_group" in note for note in naive.notes)
    with pytest.raises(DataError, match="no groups"):
        paired_difference(counts, by_group=True)


def test_choices(two, beta_llms):
    three, _ = beta_llms(20, 4, [(2, 1)] * 3, 0.5, np.random.default_rng(1))
    with pytest.raises(ChoiceError, match="name the two"):
        paired_difference(three)
    with pytest.raises(ChoiceError, match="no llm 'x'"):
        paired_difference(three, "a", "x")
    with pytest.raises(ChoiceError, match="no benchmark"):
        paired_difference(two, benchmark="other")
    with pytest.raises(PcorrectError, match="seed"):
        paired_difference(two, seed=-1)


def test_shared_case_38(shared):
    folder = shared / "cases" / "38"
    expected = json.loads((folder / "expected.json").read_text())["expected"]
    files = [str(folder / "A_k8.csv"), str(folder / "B_k4.csv")]
    result = paired_difference(files)
    assert (result.n_shared, result.only_a, result.only_b) == (6, 2, 2)
    assert result.difference == pytest.approx(expected["diff"], abs=5e-5)
    assert result.se_mu == pytest.approx(expected["se"], abs=5e-5)
    assert result.mu.mean == pytest.approx(expected["diff"] * 6 / 7, abs=0.003)
    assert result.mu.sd > expected["se"]


def test_gpqa_pair(shared):
    """Two llms of similar strength: narrower than unpaired by what their correlation implies."""
    file = str(shared / "data" / "epoch_gpqa_diamond.csv.gz")
    names = ("gpt-5.1-2025-11-13_high", "gpt-5.2-2025-12-11_medium")
    paired = paired_difference(file, *names, **FAST)
    unpaired = paired_difference(file, *names, paired=False, **FAST)
    assert 1.5 < paired.gain < 4
    assert unpaired.mu.sd / paired.mu.sd == pytest.approx(paired.gain, rel=0.05)


def test_equal_counts_without_pairing_are_a_half(counts_of):
    table = counts_of([[3, 1, 4, 2, 0]] * 2, 4)
    there = paired_difference(table, "a", "b", paired=False)
    back = paired_difference(table, "b", "a", paired=False)
    assert there.p_better == back.p_better == 0.5
    assert there.mu.mean == 0
    assert there.mu.upper > 0.1
