"""Runs that differ are noticed, exchangeable ones pass at the nominal rate."""

import numpy as np
import pytest
from scipy import stats

from pcorrect import DataError, PcorrectError, run_gap
from pcorrect.adequacy.published import check_published_gap, gap_p_value
from pcorrect.adequacy.runs import check_runs

# Mean, its standard error, n and the reported gap between best and worst of 50 runs (%)
PAPER = {
    "Llama 3.1 8B, GSM8K": (85.6, 0.68, 1319, 18.6, True),
    "Llama 3.1 8B, MMLU-Pro": (46.1, 0.39, 12187, 10.0, True),
    "Qwen 2.5 7B, GSM8K": (90.2, 0.65, 1319, 2.3, False),
}


def outcomes(n, k, rng, missing=0.0):
    p = rng.beta(0.8, 0.4, n)
    y = (rng.random((n, k)) < p[:, None]).astype(np.int8)
    y[rng.random((n, k)) < missing] = -1
    return y, p


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_gaps(name):
    mu, se, n, gap, differ = PAPER[name]
    found = check_published_gap(mu=mu / 100, se_mu=se / 100, n=n, k=50, gap=gap / 100)
    assert found.flagged == differ
    assert found.verdict.startswith("The runs differ" if differ else "No sign")
    if differ:
        # whatever the standard error
        assert found.p_gap_at_most < 1e-30
    else:
        assert found.p_gap > 0.1
    if "8B, GSM8K" in name:
        assert "give 3.1 (1 in 100 above 4.3)" in found.verdict


def test_gap_p_value_equals_simulation_and_both_ends():
    rng = np.random.default_rng(1)
    gaps = np.ptp(rng.standard_normal((100_000, 50)), axis=1)
    for width in (3.5, 4.5, 5.5, 6.0):
        expected = np.mean(gaps >= width)
        error = np.sqrt(expected * (1 - expected) / len(gaps))
        assert gap_p_value(width, 50, 1, 1.0) == pytest.approx(expected, abs=5 * error)
    # far out, one pair of runs does it
    assert gap_p_value(20.0, 50, 1, 1.0) == pytest.approx(
        50 * 49 * stats.norm.sf(20 / np.sqrt(2)), rel=1e-6
    )
    # two runs: a half-normal
    assert gap_p_value(1.0, 2, 1, 1.0) == pytest.approx(2 * stats.norm.sf(1 / np.sqrt(2)))
    assert gap_p_value(0.0, 50, 1, 1.0) == pytest.approx(1.0)
    assert gap_p_value(run_gap(50, 100, 0.2, 0.99), 50, 100, 0.2) == pytest.approx(0.01, rel=1e-3)
    assert gap_p_value(0.1, 5, 10, 0.0) == 0.0


def test_published_numbers_are_shares():
    with pytest.raises(PcorrectError, match="divide percent by 100"):
        check_published_gap(mu=0.856, se_mu=0.0068, n=1319, k=50, gap=18.6)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_exchangeable_runs_pass_at_the_nominal_rate(missing):
    rng = np.random.default_rng(2)
    p = []
    for seed in range(200):
        y, true = outcomes(60, 6, rng, missing)
        found = check_runs(y, p=np.tile(true, (3, 1)), replicates=199, seed=seed)
        p.append((found.p_gap, found.p_spread, found.p_gap_predictive, found.p_spread_predictive))
        assert found.p_run.min() >= 1 / 200
    for column in np.array(p).T:
        # a p-value of one of 200 levels: 5 % and uniform, each at 1e-3
        assert stats.binomtest(int(np.sum(column <= 0.05)), 200, 0.05).pvalue > 1e-3
        spread = column - np.random.default_rng(0).random(200) / 200
        assert stats.kstest(spread, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("size", [(198, 8), (1319, 50)])
def test_a_bad_run_is_named(size):
    rng = np.random.default_rng(3)
    y, p = outcomes(*size, rng)
    y[:, 2] = np.where(rng.random(size[0]) < 0.25, 0, y[:, 2])
    found = check_runs(y, p=np.tile(p, (3, 1)))
    assert found.status == "differ"
    assert found.p_spread_predictive < 0.01
    assert found.outstanding[0] == 2
    assert "generation 3 (-" in found.verdict
    assert found.effect[2] < 0
    assert found.mean[2] == pytest.approx(np.mean(y[:, 2]))


def test_normal_and_placed_runs_agree(monkeypatch):
    from pcorrect.adequacy import runs

    rng = np.random.default_rng(4)
    y, p = outcomes(400, 8, rng, 0.2)
    draws = np.tile(p, (3, 1))
    placed = check_runs(y, p=draws, replicates=1999)
    monkeypatch.setattr(runs, "_MOST_CELLS", 0)
    normal = check_runs(y, p=draws, replicates=1999)
    assert normal.gap_expected == pytest.approx(placed.gap_expected, rel=0.03)
    assert normal.gap_limit == pytest.approx(placed.gap_limit, rel=0.07)
    for name in ("p_gap", "p_spread", "p_gap_predictive", "p_spread_predictive"):
        assert getattr(normal, name) == pytest.approx(getattr(placed, name), abs=0.07)


def test_a_run_of_easy_prompts_is_no_better_run():
    # run 2 has only the prompts that are always right: its mean is 1, its effect 0
    y = np.array([[1, 1, 1], [1, 1, 1], [0, -1, 1], [1, -1, 0]] * 20)
    found = check_runs(y)
    assert found.mean[1] == 1
    assert found.effect[1] == 0
    assert found.status == "no sign"


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([[1], [0]]), "one generation per prompt"),
        (np.array([[1, 1], [0, 0]]), "no prompt has both"),
        (np.array([[1, -1], [-1, 0]]), "do not share the numbers"),
    ],
)
def test_what_cannot_be_compared_is_said(y, words):
    found = check_runs(y)
    assert found.status == "not checked"
    assert found.p_value is None
    assert words in found.verdict


def test_bad_input():
    with pytest.raises(DataError, match="1 \\(correct\\)"):
        check_runs(np.array([[0, 2]]))
    with pytest.raises(DataError, match="p has shape"):
        check_runs(np.array([[0, 1]]), p=np.zeros((5, 3)))


def test_real_runs_are_exchangeable(shared):
    from pcorrect import read
    from pcorrect.observations import outcomes as matrix

    generations = read(shared / "data" / "rg_llama3b_aime_amc_k50.csv.gz")
    for llm in generations.llms:
        for benchmark in generations.benchmarks:
            found = check_runs(matrix(generations, llm, benchmark).correct)
            assert found.status in ("no sign", "doubtful"), found.verdict


def test_runs_are_called_by_the_numbers_of_their_generations():
    rng = np.random.default_rng(4)
    y = (rng.random((60, 4)) < np.array([0.7, 0.7, 0.2, 0.7])).astype(int)
    assert "generation 3 (" in check_runs(y).verdict
    assert "generation 17 (" in check_runs(y, numbers=[11, 14, 17, 20]).verdict


def test_one_prompt_shows_no_runs():
    found = check_runs(np.array([[1, 0, 1, 1]]))
    assert found.p_value is None
    assert "one prompt only" in found.verdict
