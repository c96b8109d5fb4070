"""Fewer generations against every subset listed; more of them against simulation and real runs."""

from __future__ import annotations

import csv
import gzip
import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning.observed import _Few, _Many, _raw_moments, extend, subset_expectations
from pcorrect.planning.variances import quantiles
from pcorrect.result import Fit

CASES = {
    "balanced": ([0, 1, 3, 4], [4, 4, 4, 4]),
    "all right": ([3, 3], [3, 3]),
    "unequal": ([2, 0, 1, 3], [4, 2, 1, 3]),
    "unscored prompt": ([2, 0, 1], [3, 0, 3]),
    "one prompt": ([2], [4]),
}


def listed(s: list[int], big_k: list[int], k: int) -> dict[str, float]:
    """Every choice of min(k, K_i) of the generations of each prompt, one by one."""
    outcomes = [[1] * right + [0] * (all_ - right) for right, all_ in zip(s, big_k, strict=True)]
    subsets = [
        list(itertools.combinations(prompt, min(k, len(prompt)))) for prompt in outcomes if prompt
    ]
    means, variances, errors = [], [], []
    for chosen in itertools.product(*subsets):
        p_hat = np.array([np.mean(x) for x in chosen])
        used = np.array([len(x) for x in chosen])
        means.append(p_hat.mean())
        if len(p_hat) > 1:
            variances.append(p_hat.var(ddof=1) / len(p_hat))
        if k > 1:
            w = np.zeros(len(p_hat))
            many = used > 1
            w[many] = p_hat[many] * (1 - p_hat[many]) / (used[many] - 1)
            # a single generation carries the average of the others' variance
            if many.any():
                within = np.mean(w[many] * used[many])
                w[~many] = within / used[~many]
                errors.append(w.mean() / len(p_hat))
    return {
        "mean": float(np.mean(means)),
        "sd": float(np.std(means)),
        "se2_mu": float(np.mean(variances)) if variances else np.nan,
        "se2_score": float(np.mean(errors)) if errors else np.nan,
    }


@pytest.mark.parametrize(
    ("name", "k"),
    [(name, k) for name, (_, big_k) in CASES.items() for k in (1, 2, 3, 4) if k <= max(big_k)],
)
def test_equals_the_list_of_all_subsets(name: str, k: int) -> None:
    s, big_k = CASES[name]
    found = subset_expectations(PromptCounts.from_arrays(s, big_k), np.array([k]))
    wanted = listed(s, big_k, k)
    for key, value in wanted.items():
        got = float(getattr(found, key)[0])
        assert got == pytest.approx(value, abs=1e-12, nan_ok=True), (key, got, value)


def test_equals_the_moment_extrapolation() -> None:
    """With balanced counts the expected squared error is (sigma_hat**2 + W_hat / k) / n."""
    from pcorrect.moment_estimates import moments

    rng = np.random.default_rng(3)
    counts = PromptCounts.from_arrays(rng.binomial(16, rng.beta(0.5, 0.5, 45)), 16)
    closed = moments(counts)
    k = np.arange(1, 17)
    found = subset_expectations(counts, k)
    assert closed.sigma2 is not None
    assert closed.within is not None
    np.testing.assert_allclose(
        found.se2_mu, (closed.sigma2 + closed.within / k) / 45, rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(found.se2_score[1:], closed.within / k[1:] / 45, rtol=1e-12)


def test_cost_depends_on_cells_not_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million prompts in nine cells: the arithmetic sees nine numbers."""
    import pcorrect.planning.observed as module

    seen: list[int] = []
    original = module.thinned_variance

    def spy(s: np.ndarray, big_k: np.ndarray, k: np.ndarray) -> np.ndarray:
        seen.append(len(np.ravel(s)))
        return original(s, big_k, k)

    monkeypatch.setattr(module, "thinned_variance", spy)
    s = np.arange(1_000_000) % 9
    subset_expectations(PromptCounts.from_arrays(s, 8), np.arange(1, 9))
    assert seen
    assert max(seen) <= 9


def test_dataset() -> None:
    data = subset_expectations(PromptCounts.from_arrays([1, 3], [4, 2 + 1]), np.array([1, 4]))
    assert list(data.to_dataset()["n_short"].values) == [0, 1]
    with pytest.raises(PcorrectError, match="between 1 and the 4"):
        subset_expectations(PromptCounts.from_arrays([1, 3], 4), np.array([5]))
    with pytest.raises(PcorrectError, match="no scored generation"):
        subset_expectations(PromptCounts.from_arrays([0], 0), np.array([1]))


def test_raw_moments_by_enumeration() -> None:
    from math import comb

    p, t = 0.3, 7
    powers = np.array([[p], [p**2], [p**3], [p**4]])
    prob = [comb(t, x) * p**x * (1 - p) ** (t - x) for x in range(t + 1)]
    wanted = [sum(q * x**j for x, q in enumerate(prob)) for j in (1, 2, 3, 4)]
    np.testing.assert_allclose(np.ravel(_raw_moments(t, powers)), wanted, rtol=1e-12)


def test_normal_sums_have_the_moments_of_the_sums_themselves() -> None:
    """One cell of 400 prompts, p ~ Beta(4, 5): the sums drawn prompt by prompt, and at once."""
    rng = np.random.default_rng(1)
    s, k, n, draws, later = 2, 5, 400, 20_000, 12
    a, b = 4.0, 5.0
    power = [1.0]
    for j in range(4):
        power.append(power[-1] * (a + j) / (a + b + j))
    many = _Many(s, k, n, np.repeat(np.array(power[1:])[:, None], draws, axis=1))
    few = _Few(np.full(n, s), np.full(n, k), rng.beta(a, b, (draws // 10, n)))
    for one, two in zip(many.sums(later, rng), few.sums(later, rng), strict=True):
        error = two.std() / np.sqrt(len(two))
        assert one.mean() == pytest.approx(two.mean(), abs=5 * error)
        assert one.std() == pytest.approx(two.std(), rel=0.09)
    x, x2, _, _ = many.sums(later, rng)
    y, y2, _, _ = few.sums(later, rng)
    assert np.corrcoef(x, x2)[0, 1] == pytest.approx(np.corrcoef(y, y2)[0, 1], abs=0.02)


def test_running_on_to_the_same_k_changes_nothing(spiky: PromptCounts, spiky_fit: Fit) -> None:
    closed = moments(spiky)
    found = extend(spiky_fit, np.array([8]), draws=50)
    for name in ("se_mu", "se_score", "sigma2", "within"):
        np.testing.assert_allclose(getattr(found, name), getattr(closed, name), rtol=1e-9)
    assert found.to_dataset()["se_mu"].sizes == {"prediction": 50, "k": 1}


def test_unequal_counts_match_moments() -> None:
    """Prompts that have more than k keep what they have, as `moments` would see them."""
    counts = PromptCounts.from_arrays([3, 9, 0, 2], [4, 10, 4, 3])
    found = extend(run_fit(counts, model="beta_bernoulli"), np.array([4]), draws=300)
    # only the last prompt runs on, by one generation: two possible outcomes
    possible = [
        moments(PromptCounts.from_arrays([3, 9, 0, 2 + x], [4, 10, 4, 4])).se_mu for x in (0, 1)
    ]
    gaps = np.abs(found.se_mu[:, 0][:, None] - np.array(possible, dtype=float))
    assert np.all(gaps.min(axis=1) < 1e-12)
    assert np.all(gaps.min(axis=0) < 1e-12)


def test_many_prompts_and_no_population(with_population) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    counts = PromptCounts.from_arrays(rng.binomial(4, rng.beta(2, 1, 20_000)), 4)
    fit = run_fit(counts, model="beta_bernoulli")
    found = extend(fit, np.array([16]))
    assert np.quantile(found.se_mu, 0.5) == pytest.approx(
        np.sqrt((1 / 18 + (2 / 9 - 1 / 18) / 16) / 20_000), rel=0.02
    )
    few = PromptCounts.from_arrays(rng.binomial(4, rng.beta(2, 1, 60)), 4)
    small = run_fit(few, model="beta_bernoulli")
    with_, without = (
        extend(x, np.array([16]), draws=4000) for x in (small, with_population(small, None))
    )
    assert np.median(with_.se_mu) == pytest.approx(np.median(without.se_mu), rel=0.01)


def test_what_cannot_be_predicted() -> None:
    fit = run_fit(PromptCounts.from_arrays([1, 2], 3), draws=50)
    with pytest.raises(PcorrectError, match="k >= 2"):
        extend(fit, np.array([1]))
    with pytest.raises(PcorrectError, match="two prompts"):
        extend(run_fit(PromptCounts.from_arrays([1], 3), draws=50), np.array([8]))


def calibration(runs: int, seed: int) -> dict[str, int]:
    """How many of `runs` longer runs lie in their 90 % prediction intervals, by quantity."""
    rng = np.random.default_rng(seed)
    hits: dict[str, int] = defaultdict(int)
    for _ in range(runs):
        # a Beta from the prior of the model: the posterior is calibrated over it
        mu, r = rng.uniform(0.05, 0.95), rng.uniform(0.2, 0.95)
        nu = 1 / r**2 - 1
        p = rng.beta(mu * nu, (1 - mu) * nu, 45)
        s = rng.binomial(4, p)
        later = moments(PromptCounts.from_arrays(s + rng.binomial(12, p), 16))
        fit = run_fit(PromptCounts.from_arrays(s, 4), model="beta_bernoulli", draws=250)
        found = extend(fit, np.array([16]))
        for name in ("mean", "se_mu", "se_score", "sigma2"):
            low, _, high = quantiles(getattr(found, name)[:, 0], 0.9)
            value = later.mu if name == "mean" else getattr(later, name)
            hits[name] += bool(low - 1e-12 <= value <= high + 1e-12)
    return hits


def test_prediction_intervals_hold_simulated_longer_runs() -> None:
    """30 runs: 90 % is 27; fewer than 20 has a chance of 1e-3 (binomial)."""
    for name, hits in calibration(30, 4).items():
        assert hits >= 20, name


@pytest.mark.slow
def test_prediction_intervals_are_calibrated() -> None:
    """600 runs: 540 +- 4 sd (7.3); discrete quantities may lie on the upper side."""
    for name, hits in calibration(600, 5).items():
        assert 511 <= hits <= 585, (name, hits)


def otis(shared: Path) -> dict[str, list[list[int]]]:
    """Outcomes in order of generation by prompt, of the runs with 16 generations of each."""
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(shared / "data" / "epoch_otis_mock_aime.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            found[row["model"]][row["prompt_id"]].append(int(row["correct"]))
    return {
        llm: list(prompts.values())
        for llm, prompts in found.items()
        if all(len(x) == 16 for x in prompts.values())
    }


def test_first_four_epochs_predict_sixteen(shared: Path) -> None:
    """Thirty real runs: at least 22 in the 90 % interval (27 expected; chance of fewer: 1 %).

    With the exact engine; the default model is in benchmarks/accuracy/plan_otis.py.
    """
    runs = otis(shared)
    assert len(runs) == 30
    hits = 0
    for llm, prompts in runs.items():
        first = PromptCounts.from_arrays([sum(x[:4]) for x in prompts], 4, llm=llm)
        later = moments(PromptCounts.from_arrays([sum(x) for x in prompts], 16))
        low, _, high = quantiles(
            extend(run_fit(first, model="beta_bernoulli"), np.array([16])).se_mu[:, 0], 0.9
        )
        hits += bool(low - 1e-12 <= (later.se_mu or 0.0) <= high + 1e-12)
    assert hits >= 22
