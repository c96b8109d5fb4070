"""Greedy answers against sampled generations: no alarm for draws, alarms for what is not."""

from pathlib import Path

import numpy as np
import pytest

from pcorrect.comparison import greedy_gap
from pcorrect.errors import DataError, PcorrectError

FAST = {"model": "beta_bernoulli", "draws": 2000}


def pair(counts_of, p, greedy, k, rng):
    s = np.stack([greedy, rng.binomial(k, p)]).astype(int)
    n_generations = np.stack([np.ones(len(p), int), np.full(len(p), k)])
    return counts_of(s, n_generations, llm=["greedy", "sampled"])


def p_values(counts_of, replications, make):
    out = []
    for seed in range(replications):
        rng = np.random.default_rng([seed, 9])
        p = rng.beta(1, 0.8, 80)
        result = greedy_gap(pair(counts_of, p, make(p, rng), 20, rng), "greedy", "sampled", **FAST)
        out.append((result.p_gap, result.p_sharpening))
    return np.array(out)


def test_draws_raise_no_alarm(counts_of):
    """Under the hypothesis p-values below .05 are rare: at most 7 of 40 in each test (.4 %)."""
    found = p_values(counts_of, 40, lambda p, rng: rng.random(len(p)) < p)
    assert np.all(np.sum(found < 0.05, axis=0) <= 7)
    assert np.all(found.mean(axis=0) > 0.3)


def test_sharpening_is_seen(counts_of):
    found = p_values(counts_of, 5, lambda p, rng: p > 0.5)
    assert np.all(found[:, 1] < 0.01)


def test_a_gap_is_seen(counts_of):
    found = p_values(counts_of, 5, lambda p, rng: rng.random(len(p)) < p * 0.6)
    assert np.all(found[:, 0] < 0.05)


def test_gap_by_hand(counts_of):
    rng = np.random.default_rng(1)
    p = rng.beta(1, 1, 150)
    greedy = rng.random(150) < p
    counts = pair(counts_of, p, greedy, 10, rng)
    result = greedy_gap(counts, "greedy", "sampled", **FAST)
    shares = counts.n_correct[1] / 10
    assert result.greedy_score == pytest.approx(greedy.mean())
    assert result.sampled_mean == pytest.approx(shares.mean())
    d = greedy - shares
    assert result.mu.mean == pytest.approx(d.mean(), abs=0.01)
    assert result.mu.sd == pytest.approx(d.std(ddof=1) / np.sqrt(150), rel=0.1)
    # the greedy score of these prompts is known exactly: only the p are uncertain
    assert result.score.sd == pytest.approx(np.sqrt(np.mean(p * (1 - p)) / 10 / 150), rel=0.2)
    assert np.all(np.diff(result.probability) >= 0)
    assert len(result.to_dict()["prompts"]) == 150


def test_surprises_come_first(counts_of):
    s = np.array([[0, 1, 1, 0], [10, 9, 5, 0]])
    k = np.array([[1] * 4, [10] * 4])
    result = greedy_gap(counts_of(s, k, llm=["greedy", "sampled"]), "greedy", "sampled", **FAST)
    assert result.prompt[0] == "q0"
    assert not result.right[0]


def test_repeated_greedy_answers(counts_of):
    s = np.array([[3, 0, 1, 2], [5, 5, 5, 5]])
    k = np.array([[3, 3, 2, 3], [10] * 4])
    result = greedy_gap(counts_of(s, k, llm=["greedy", "sampled"]), "greedy", "sampled", **FAST)
    # the third prompt is a tie
    assert result.n_prompts == 3
    assert result.greedy_score == pytest.approx(2 / 3)
    assert any("disagree" in note for note in result.notes)
    with pytest.raises(DataError, match="definite"):
        greedy_gap(counts_of([[1], [2]], [[2], [4]]), "a", "b", **FAST)


def test_smollm2():
    """Real answers: greedy 54 of 108, sampled 42.9 %, a gap in every sense."""
    folder = Path(__file__).resolve().parents[2] / "examples" / "smollm2"
    files = [str(folder / "results.csv.gz"), str(folder / "greedy.csv.gz")]
    result = greedy_gap(files, "smollm2-135m-greedy", "smollm2-135m-t0.7", **FAST)
    assert result.n_prompts == 108
    assert result.greedy_score == 0.5
    assert result.sampled_mean == pytest.approx(0.4285, abs=1e-4)
    assert 0.02 < result.mu.lower < 0.0715 < result.mu.upper < 0.13
    assert result.p_gap < 0.05
    assert result.p_greedy_better > 0.99


@pytest.mark.parametrize("choice", [{"seed": -1}, {"seed": 1.5}, {"draws": 0}])
def test_single_samples_and_impossible_choices(counts_of, choice):
    table = counts_of([[1, 0, 1, 1, 0], [1, 1, 0, 1, 0]], 1)
    assert any("rest on the prior" in note for note in greedy_gap(table, "a", "b").notes)
    with pytest.raises(PcorrectError, match="must be a whole number"):
        greedy_gap(table, "a", "b", **choice)
