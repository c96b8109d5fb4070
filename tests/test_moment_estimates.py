"""Moment estimators against hand-computed values, unbiasedness and the paper's table."""

import itertools

import numpy as np
import pytest

from pcorrect import PcorrectError, PromptCounts, moments_from_table, run_gap
from pcorrect.moment_estimates import moments

# Zhang, Cai & Chen 2025, table 1, in %: (greedy score, SE), (mean of k = 50, SE) per llm, for
# MMLU-Pro (12187 prompts), GSM8K (1319), IFEval (541) and MuSR (756).
PAPER = {
    "Llama 3.1 8B": [
        (46.2, 0.45, 46.1, 0.39),
        (86.1, 0.95, 85.6, 0.68),
        (74.5, 1.87, 71.1, 1.51),
        (24.8, 1.65, 29.0, 1.00),
    ],
    "Llama 3.1 70B": [
        (63.8, 0.44, 63.4, 0.40),
        (95.6, 0.56, 95.3, 0.45),
        (82.6, 1.64, 80.2, 1.42),
        (56.3, 1.80, 57.9, 1.40),
    ],
    "Qwen 2.5 7B": [
        (53.3, 0.45, 53.0, 0.36),
        (90.2, 0.82, 90.2, 0.65),
        (72.6, 1.92, 71.2, 1.64),
        (49.2, 1.82, 50.9, 0.98),
    ],
    "Ministral 8B": [
        (39.7, 0.44, 36.3, 0.29),
        (86.1, 0.95, 84.9, 0.73),
        (51.4, 2.15, 49.8, 1.65),
        (49.7, 1.82, 50.8, 0.91),
    ],
}
SIZES = (12187, 1319, 541, 756)


def test_balanced_counts_by_hand():
    found = moments(PromptCounts.from_arrays([5, 5, 0, 4, 1], 5))
    assert found.mu == pytest.approx(0.6)
    assert found.se_mu == pytest.approx(0.2098, abs=5e-5)
    assert found.sigma2 == pytest.approx(0.204)
    assert found.within == pytest.approx(0.08)
    # the identity that keeps the noise from being counted twice
    assert found.sigma2 + found.within / 5 == pytest.approx(5 * found.se_mu**2)


def test_unequal_counts_by_hand():
    found = moments(PromptCounts.from_arrays([0, 1, 3, 8, 16, 2, 0], [8, 1, 4, 8, 16, 8, 0]))
    assert found.n_prompts == 6
    assert found.mu == pytest.approx(4 / 6)
    assert found.sigma2 == pytest.approx(0.1884, abs=5e-5)


def test_what_is_undefined_is_none_and_said():
    single = moments(PromptCounts.from_arrays([3], 5))
    assert single.se_mu is None
    assert single.sigma2 is None
    assert single.interval("mu") is None
    assert any("one prompt" in note for note in single.notes)
    once = moments(PromptCounts.from_arrays([1, 0, 1], 1))
    assert (once.sigma2, once.within, once.se_score) == (None, None, None)
    assert once.se_mu is not None
    assert any("not identified" in note for note in once.notes)
    right = moments(PromptCounts.from_arrays([8, 8], 8))
    assert right.se_mu is None
    assert right.se_score is None
    assert right.interval("mu") is None
    assert any("no answer" in note for note in right.notes)
    negative = moments(PromptCounts.from_arrays([4, 4, 4, 4], 8))
    assert negative.sigma2 < 0
    assert negative.sigma == 0
    assert any("below 0" in note for note in negative.notes)
    assert moments(PromptCounts.from_arrays([0], 0)).mu is None


def test_estimators_are_unbiased():
    rng = np.random.default_rng(4)
    p = np.array([0.02, 0.3, 0.3, 0.9, 1.0, 0.6, 0.5, 0.95])
    k = np.array([2, 3, 4, 8, 5, 2, 16, 3])
    found = [moments(PromptCounts.from_arrays(rng.binomial(k, p), k)) for _ in range(4000)]
    for name, truth in (
        ("mu", p.mean()),
        ("within", np.mean(p * (1 - p))),
        ("sigma2", p.var(ddof=1)),
    ):
        values = np.array([getattr(f, name) for f in found])
        # five standard errors of the mean
        assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(len(values))
    error = np.array([f.se_score for f in found]) ** 2
    spread = np.var([f.mu for f in found])
    assert error.mean() == pytest.approx(spread, rel=0.12)


def test_intervals_follow_the_t_and_the_normal():
    counts = PromptCounts.from_arrays([5, 5, 0, 4, 1], 5)
    found = moments(counts)
    low, high = found.interval("mu", 0.9)
    assert high == 1.0
    assert low == pytest.approx(0.6 - 2.131847 * found.se_mu, abs=1e-6)
    low, high = found.interval("score", 0.9)
    assert high - low == pytest.approx(2 * 1.644854 * found.se_score, abs=1e-6)
    with pytest.raises(PcorrectError, match="estimand"):
        found.interval("mean")


@pytest.mark.parametrize(("llm", "column"), list(itertools.product(PAPER, range(4))))
def test_the_papers_greedy_errors_are_predicted(llm, column):
    _, greedy_se, mean, se = (x / 100 for x in PAPER[llm][column])
    found = moments_from_table(mean, se, SIZES[column], 50)
    assert float(found.predicted_se(50)) == pytest.approx(se, abs=1e-9)
    # One run has the variance mu (1 - mu) / n whatever sigma is. Greedy scores differ from the mean
    # by up to 4 points, so the columns agree to that, not to rounding.
    assert float(found.predicted_se(1)) == pytest.approx(greedy_se, rel=0.06)
    assert found.sigma > 0


def test_recovering_sigma_refuses_the_impossible():
    with pytest.raises(PcorrectError, match="at least 2"):
        moments_from_table(0.5, 0.01, 100, 1)
    with pytest.raises(PcorrectError, match="outside"):
        moments_from_table(0.5, 0.2, 100, 50)


def test_predicted_errors_have_a_floor():
    found = moments(PromptCounts.from_arrays([5, 5, 0, 4, 1], 5))
    se = found.predicted_se(np.array([1, 5, np.inf]))
    assert se[1] == pytest.approx(found.se_mu)
    assert se[2] == pytest.approx(found.sigma / np.sqrt(5))
    assert np.all(np.diff(se) < 0)
    with pytest.raises(PcorrectError, match="k >= 2"):
        moments(PromptCounts.from_arrays([1, 0], 1)).predicted_se(3)


def test_run_gap_equals_simulation():
    rng = np.random.default_rng(5)
    n, runs, p = 400, 10, 0.8
    scores = rng.binomial(n, p, (20_000, runs)) / n
    gaps = np.ptp(scores, axis=1)
    within = p * (1 - p)
    assert run_gap(runs, n, within) == pytest.approx(gaps.mean(), rel=0.01)
    assert run_gap(runs, n, within, 0.99) == pytest.approx(np.quantile(gaps, 0.99), rel=0.03)


def test_papers_gap_of_18_points_is_not_exchangeable():
    within = moments_from_table(0.856, 0.0068, 1319, 50).within
    assert run_gap(50, 1319, within) == pytest.approx(0.031, abs=0.001)
    assert run_gap(50, 1319, within, 0.99) == pytest.approx(0.043, abs=0.001)


def test_dataset_is_labelled_by_estimand():
    data = moments(PromptCounts.from_arrays([5, 5, 0, 4, 1], 5)).to_dataset()
    assert list(data["estimand"].values) == ["mu", "score"]
    assert float(data["se"].sel(estimand="mu")) > float(data["se"].sel(estimand="score"))


@pytest.mark.parametrize(
    ("s", "k"), [([8] * 30 + [0] * 10, 8), ([0] + [1] * 5 + [0] * 5, [2] + [1] * 10)]
)
def test_an_error_of_0_for_the_score_is_no_answer(s, k):
    found = moments(PromptCounts.from_arrays(s, k))
    assert found.within == 0
    assert found.se_score is None
    assert any("both right and wrong" in note for note in found.notes)
    assert found.se_mu > 0
