"""Two llms: unbiased variances, and the predicted order against new simulated runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pcorrect import paired_difference
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning.pairs import minimal_k_order, pair_variances, right_order


def logit_pairs(size: int, seed: int, shift: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    u = np.random.default_rng(seed).standard_normal((2, size))
    return expit(1.5 * u[0] + shift), expit(1.5 * (0.8 * u[0] + 0.6 * u[1]))


def test_variances_are_unbiased_over_data_sets() -> None:
    p, q = logit_pairs(400_000, 1)
    true_between, true_within = np.var(p - q), np.mean(p * (1 - p) + q * (1 - q))
    rng = np.random.default_rng(2)
    between, within, difference = [], [], []
    for _ in range(300):
        i = rng.integers(len(p), size=80)
        one = PromptCounts.from_arrays(rng.binomial(4, p[i]), 4, llm="a")
        two = PromptCounts.from_arrays(rng.binomial(6, q[i]), 6, llm="b")
        pair = pair_variances(one, two, draws=200)
        between.append(pair.between.mean())
        within.append(pair.within.mean())
        difference.append(pair.difference.mean())
    for found, true in (
        (between, true_between),
        (within, true_within),
        (difference, np.mean(p - q)),
    ):
        assert np.mean(found) == pytest.approx(true, abs=4 * np.std(found) / np.sqrt(300) + 1e-3)


def test_moments_of_few_sure_prompts_match_the_closed_form() -> None:
    """Nine prompts without noise and the unknown one, of 4 generations each."""
    s = np.array([4, 4, 4, 4, 4, 4, 0, 0, 0])
    n, k = len(s), 4
    one = PromptCounts.from_arrays(s, k, llm="a")
    two = PromptCounts.from_arrays(k - s[::-1], k, llm="b")
    d = (s - (k - s[::-1])) / k
    pair = pair_variances(one, two, draws=40_000)
    # E d**2 of the unknown prompt: two outcomes of k tries, uniform p of correlation 1/2 in z
    v = 2 * (1 / 12 + 1 / (6 * k) - np.arcsin(0.25) / (2 * np.pi))
    size = n / (n + 5) * (n + 1)
    variance = (d @ d + v) / (n + 1) - (d.sum() ** 2 + v) / (n + 1) ** 2
    spread = variance * n / (n - 1)
    error = 2 / (6 * k) / (n + 1)
    noise = 4 / np.sqrt(20_000)
    assert pair.difference.mean() == pytest.approx(
        d.sum() / (n + 1), abs=noise * pair.difference.std()
    )
    of_mean = v / (n + 1) ** 2
    assert pair.difference.var() == pytest.approx(variance / (size + 1) + of_mean, rel=0.05)
    assert pair.between.mean() == pytest.approx(spread - error, abs=noise * pair.between.std())
    assert pair.within.mean() == pytest.approx(2 / 6 / (n + 1), abs=noise * pair.within.std())


@pytest.mark.parametrize("n", [3, 8, 20])
def test_few_prompts_that_agree_do_not_make_sure(n: int) -> None:
    """All differences the same: neither certain nor without an error."""
    one = PromptCounts.from_arrays([3] * n, 4, llm="a")
    two = PromptCounts.from_arrays([2] * n, 4, llm="b")
    pair = pair_variances(one, two)
    judged = paired_difference(_table(one, two), "a", "b")
    assert pair.p_better == pytest.approx(judged.p_better, abs=0.03)
    assert pair.p_better < 1
    assert np.isnan(pair.se_mu)
    sure = pair_variances(
        PromptCounts.from_arrays([4] * n, 4, llm="a"), PromptCounts.from_arrays([0] * n, 4, llm="b")
    )
    assert np.isnan([sure.se_mu, sure.se_score]).all()
    assert sure.difference_here.std() > 0


def _table(one: PromptCounts, two: PromptCounts) -> pd.DataFrame:
    return pd.concat(
        pd.DataFrame(
            {
                "llm": x.llm,
                "prompt": x.prompt,
                "n_correct": x.n_correct,
                "n_generations": x.n_generations,
            }
        )
        for x in (one, two)
    )


def test_very_many_prompts_are_drawn_from_the_normal_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    p, q = logit_pairs(3000, 11)
    rng = np.random.default_rng(12)
    one, two = (PromptCounts.from_arrays(rng.binomial(4, x), 4) for x in (p, q))
    exact = pair_variances(one, two)
    monkeypatch.setattr("pcorrect.planning.pairs._MANY", 100)
    limit = pair_variances(one, two)
    for name in ("difference", "between", "within"):
        a, b = getattr(exact, name), getattr(limit, name)
        assert a.mean() == pytest.approx(b.mean(), abs=0.1 * a.std())
        assert a.std() == pytest.approx(b.std(), rel=0.08)


def test_spread_of_the_difference_is_its_standard_error() -> None:
    p, q = logit_pairs(150, 3)
    rng = np.random.default_rng(4)
    one, two = (
        PromptCounts.from_arrays(rng.binomial(8, x), 8, llm=n) for x, n in ((p, "a"), (q, "b"))
    )
    pair = pair_variances(one, two)
    assert pair.difference.std() == pytest.approx(pair.se_mu, rel=0.05)
    assert pair.difference.mean() == pytest.approx(pair.estimate, abs=0.002)
    assert pair.difference_here.std() == pytest.approx(pair.se_score, rel=0.05)
    d = one.n_correct / 8 - two.n_correct / 8
    assert pair.estimate == pytest.approx(d.mean(), abs=1e-12)
    assert pair.se_mu == pytest.approx(d.std(ddof=1) / np.sqrt(150), rel=1e-12)


def test_right_order_is_that_of_new_runs() -> None:
    """P(right order) from a large pilot against 20 000 new runs of 40 prompts."""
    p, q = logit_pairs(5_000, 5, shift=0.25)
    rng = np.random.default_rng(6)
    one = PromptCounts.from_arrays(rng.binomial(30, p), 30, llm="a")
    two = PromptCounts.from_arrays(rng.binomial(30, q), 30, llm="b")
    pair = pair_variances(one, two)
    for k in (1, 4, 32):
        i = rng.integers(len(p), size=(20_000, 40))
        d = rng.binomial(k, p[i]).mean(axis=1) - rng.binomial(k, q[i]).mean(axis=1)
        # ties count half
        share = np.mean(d > 0) + np.mean(d == 0) / 2
        found = right_order(pair, k, n=40)
        assert found.mu[0] == pytest.approx(share, abs=0.02)
    # on exactly these prompts the order is right in the end
    assert right_order(pair, 10_000).score[0] > 0.999
    assert found.mu[0] < found.floor_mu < 1
    assert list(found.to_dataset()["right_order_mu"].values) == [found.mu[0]]


def test_minimal_k_by_definition() -> None:
    p, q = logit_pairs(2000, 7, shift=0.2)
    rng = np.random.default_rng(8)
    one = PromptCounts.from_arrays(rng.binomial(8, p), 8, llm="a")
    two = PromptCounts.from_arrays(rng.binomial(8, q), 8, llm="b")
    pair = pair_variances(one, two)
    for estimand in ("mu", "score"):
        found = minimal_k_order(pair, prob=0.9, estimand=estimand, n=500)
        assert found.k is not None
        order = right_order(pair, np.arange(1, found.k + 1), n=500)
        reached = getattr(order, estimand) >= 0.9
        assert int(np.argmax(reached)) + 1 == found.k
        assert (found.lower or 0) <= found.k <= (found.upper or found.k)
    far = minimal_k_order(pair, prob=0.99, n=20)
    assert far.k is None
    assert far.more_prompts is not None
    assert far.more_prompts_at_best is not None
    assert "you need" in str(far)
    for more, k in ((far.more_prompts, pair.k_used), (far.more_prompts_at_best, np.inf)):
        n = 20 + int(more.value)
        assert right_order(pair, k, n=n).mu[0] >= 0.99 > right_order(pair, k, n=n - 1).mu[0]
        assert more.lower <= more.value <= more.upper


def test_table_and_minimal_k_agree() -> None:
    """Equal llms: no k and no number of prompts tells them apart."""
    one = PromptCounts.from_arrays([0, 4, 8, 4] * 20, 8, llm="a")
    pair = pair_variances(one, PromptCounts.from_arrays([4, 0, 4, 8] * 20, 8, llm="b"))
    found = minimal_k_order(pair)
    assert found.k is None
    assert right_order(pair, 1000).floor_mu < 0.95


def test_only_shared_prompts_count() -> None:
    one = PromptCounts.from_arrays([8, 4, 2, 1], 8, llm="a", prompt=["w", "x", "y", "z"])
    two = PromptCounts.from_arrays([1, 4, 0, 3], [4, 4, 0, 4], llm="b", prompt=["y", "x", "z", "v"])
    pair = pair_variances(one, two)
    assert pair.n_prompts == 2
    assert pair.estimate == pytest.approx(((4 / 8 - 1) + (2 / 8 - 1 / 4)) / 2)
    with pytest.raises(PcorrectError, match="share 0 scored prompts"):
        pair_variances(one, PromptCounts.from_arrays([1, 2], 4, prompt=["m", "n"]))


def test_swapping_flips_the_sign_only() -> None:
    p, q = logit_pairs(60, 9)
    rng = np.random.default_rng(10)
    one = PromptCounts.from_arrays(rng.binomial(4, p), 4, llm="a")
    two = PromptCounts.from_arrays(rng.binomial(4, q), 4, llm="b")
    there, back = pair_variances(one, two), pair_variances(two, one)
    np.testing.assert_allclose(there.difference, -back.difference, atol=1e-15)
    np.testing.assert_allclose(there.between, back.between, rtol=1e-9, atol=1e-15)
    assert there.p_better == pytest.approx(1 - back.p_better)


def test_what_the_data_do_not_tell() -> None:
    single = PromptCounts.from_arrays([1, 0, 1], 1, llm="a")
    pair = pair_variances(single, PromptCounts.from_arrays([0, 0, 1], 1, llm="b"))
    assert pair.unknown == "k = 1 everywhere"
    assert minimal_k_order(pair).k is None
    with pytest.raises(PcorrectError, match="k = 1"):
        right_order(pair, 4)
    right = PromptCounts.from_arrays([4, 4, 4], 4, llm="a")
    assert "alike" in pair_variances(right, right).unknown
    with pytest.raises(PcorrectError, match="prob"):
        minimal_k_order(pair, prob=0.4)


def test_fits_are_taken_too(spiky: PromptCounts) -> None:
    fit = run_fit(spiky, draws=50)
    assert pair_variances(fit, spiky).estimate == 0
    assert pair_variances(fit, spiky).p_better == 0.5
