"""The precision curve: observed beside predicted, floors, and what is undefined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning.curve import add_planning, default_k, planning_group, precision_curve
from pcorrect.planning.goals import minimal_k
from pcorrect.planning.variances import Variances
from pcorrect.result import Fit

# Standard errors and scores of one llm on 30 questions (AIME 2024), at k generations, as posted in
# github.com/huggingface/lighteval/pull/661; a user asks why the error stops falling.
SERIES_K = np.array([1, 4, 8, 16, 32, 64])
SERIES_SE = np.array([0.0910, 0.0643, 0.0653, 0.0604, 0.0595, 0.0596])
SERIES_SCORE = np.array([0.4000, 0.2833, 0.3000, 0.3187, 0.3198, 0.3182])


def test_published_series_follows_from_its_last_value() -> None:
    """Predicted from (score, SE) at k = 64; the noise is that of thinning 64 generations to k."""
    found = Variances.from_table(0.3182, 0.0596, 30, 64)
    predicted = found.se_mu(SERIES_K.astype(float))[0]
    assert predicted[-1] == pytest.approx(0.0596, abs=1e-12)
    assert found.se_mu(np.inf)[0] == pytest.approx(0.0591, abs=5e-5)
    rng = np.random.default_rng(7)
    mu, sigma = 0.3182, np.sqrt(found.between[0])
    nu = mu * (1 - mu) / sigma**2 - 1
    # benchmarks like this one: 30 prompts with the mean and SE of the series at k = 64
    p = rng.beta(mu * nu, (1 - mu) * nu, (60_000, 30))
    steps = np.diff(SERIES_K, prepend=0)
    s = np.cumsum(rng.binomial(steps, p[:, :, None]), axis=2)
    p_hat = s / SERIES_K
    se = p_hat.std(axis=1, ddof=1) / np.sqrt(30)
    alike = (np.abs(se[:, -1] - 0.0596) < 0.001) & (
        np.abs(p_hat[:, :, -1].mean(axis=1) - mu) < 0.01
    )
    assert alike.sum() > 300
    low, high = np.quantile(se[alike], [0.025, 0.975], axis=0)
    inside = (low - 5e-5 <= SERIES_SE) & (high + 5e-5 >= SERIES_SE)
    assert inside.all(), (low, SERIES_SE, high)
    # and the score, which the standard error at k = 1 goes with
    low, high = np.quantile(p_hat[alike].mean(axis=1), [0.025, 0.975], axis=0)
    assert np.all((low - 5e-5 <= SERIES_SCORE) & (high + 5e-5 >= SERIES_SCORE))
    assert np.max(np.abs(predicted - SERIES_SE)) < 0.0065


def test_series_stops_falling_at_a_few_generations() -> None:

    assert minimal_k(Variances.from_table(0.3182, 0.0596, 30, 64)).k == 6


def test_observed_at_full_k_is_the_moment_estimate(spiky: PromptCounts, spiky_fit: Fit) -> None:
    closed = moments(spiky)
    curve = precision_curve(spiky_fit)
    at = int(np.flatnonzero(curve.k == 8)[0])
    assert curve.observed_se_mu[at] == pytest.approx(closed.se_mu, rel=1e-12)
    assert curve.observed_se_score[at] == pytest.approx(closed.se_score, rel=1e-12)
    beyond = curve.k > 8
    assert np.isnan(curve.observed_se_mu[beyond]).all()
    assert np.isnan(curve.seen_se_mu[:, ~beyond]).all()
    assert np.isfinite(curve.seen_se_mu[:, beyond]).all()


def test_model_and_subsets_agree_below_the_observed_k() -> None:
    """On data from the model the two ways differ by less than the posterior leaves open."""
    rng = np.random.default_rng(8)
    counts = PromptCounts.from_arrays(rng.binomial(16, rng.beta(0.8, 0.4, 200)), 16)
    curve = precision_curve(counts, np.arange(1, 17))
    assert np.all(curve.observed_se_mu > curve.se_mu[0])
    assert np.all(curve.observed_se_mu < curve.se_mu[2])
    assert np.all(curve.observed_se_score[1:] > curve.se_score[0, 1:])
    assert np.all(curve.observed_se_score[1:] < curve.se_score[2, 1:])


def test_shape_of_the_curve(spiky_fit: Fit) -> None:
    curve = precision_curve(spiky_fit)
    assert np.all(np.diff(curve.se_mu, axis=1) < 0)
    assert np.all(curve.se_mu[1] > curve.floor.value)
    assert curve.floor.lower < curve.floor.value < curve.floor.upper
    # four times as many generations halve the error of the score
    ratio = curve.se_score[1, curve.k == 4] / curve.se_score[1, curve.k == 1]
    assert ratio == pytest.approx(0.5)
    assert curve.half_width_mu[1] / curve.se_mu[1] == pytest.approx(1.972, abs=1e-3)


def test_half_widths_are_those_of_the_posterior(spiky_fit: Fit) -> None:
    """At the observed k, the interval that the fit gives is about as wide as is predicted."""
    curve = precision_curve(spiky_fit, [8])
    for name, predicted in (("mu", curve.half_width_mu), ("score", curve.half_width_score)):
        low, high = spiky_fit.marginals[name].interval(0.95)
        assert (high - low) / 2 == pytest.approx(predicted[1, 0], rel=0.06)
    few = precision_curve(PromptCounts.from_arrays([3, 8, 0, 5], 8))
    assert few.half_width_mu.max() <= 0.5


def test_single_generations_show_no_split() -> None:
    curve = precision_curve(PromptCounts.from_arrays([1] * 60 + [0] * 40, 1), [1, 2, 8])
    assert curve.unknown == "k = 1 everywhere"
    assert curve.se_mu[1, 0] == pytest.approx(np.sqrt(0.24 / 100), rel=0.03)
    assert curve.observed_se_mu[0] == pytest.approx(np.sqrt(0.24 / 99), rel=1e-12)
    assert np.isnan(curve.se_mu[:, 1:]).all()
    assert np.isnan(curve.se_score).all()
    assert np.isnan(curve.floor.value)
    assert np.isnan(curve.seen_se_mu).all()


def test_one_prompt_says_nothing_about_new_ones() -> None:
    curve = precision_curve(PromptCounts.from_arrays([3], 5))
    assert np.isnan(curve.se_mu).all()
    assert np.isnan(curve.half_width_mu).all()
    assert np.isfinite(curve.se_score).all()


@pytest.mark.parametrize("s", [0, 8])
def test_all_alike_shows_no_errors(s: int) -> None:
    curve = precision_curve(PromptCounts.from_arrays([s] * 30, 8))
    assert "all generations" in curve.unknown
    for name in ("se_mu", "se_score", "half_width_mu", "half_width_score", "seen_se_mu"):
        assert np.isnan(getattr(curve, name)).all()
    assert np.isnan(curve.floor.value)
    # the 0 of the moments is no error bar either
    assert np.isnan(curve.observed_se_mu).all()


def test_unequal_numbers_of_generations() -> None:
    curve = precision_curve(PromptCounts.from_arrays([2, 7, 0, 1, 0], [4, 8, 8, 1, 0]))
    assert curve.n_prompts == 4
    assert np.isfinite(curve.se_mu).all()
    assert np.isfinite(curve.observed_se_mu[curve.k <= 8]).all()


def test_assumed_variances_have_no_data() -> None:
    curve = precision_curve(Variances.assume(0.7, 0.3, 200), [1, 4])
    assert np.isnan(curve.observed_se_mu).all()
    assert np.array_equal(curve.se_mu[0], curve.se_mu[2])


def test_rows() -> None:
    found = Variances.assume(0.5, 0.2, 10)
    rows = {k: list(default_k(replace(found, k_max=k, k_used=k))) for k in (0, 8, 50, 1000)}
    assert rows[0] == rows[8] == [1, 2, 4, 8, 16, 32, 64]
    assert rows[50] == [1, 2, 4, 8, 16, 32, 50, 64]
    assert rows[1000][-1] == 1024
    assert 3 in default_k(replace(found, k_max=64, k_used=3))
    for bad in ([0], [1.5], [-1]):
        with pytest.raises(PcorrectError, match="whole numbers"):
            precision_curve(Variances.assume(0.5, 0.2, 10), bad)


def test_dataset(spiky_fit: Fit) -> None:
    data = precision_curve(spiky_fit, [4, 16]).to_dataset()
    assert data["se_mu"].dims == ("bound", "k")
    assert data.attrs["n_prompts"] == 198
    assert float(data["floor_mu"].sel(bound="median")) < float(
        data["se_mu"].sel(bound="median", k=16)
    )
    assert "not_identified" not in data.attrs


def test_same_seed_same_curve(spiky_fit: Fit) -> None:
    one, two = (precision_curve(spiky_fit, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.seen_se_mu, two.seen_se_mu)


def test_real_runs_are_predicted_by_their_first_generations(shared) -> None:  # type: ignore[no-untyped-def]
    """Three GPQA runs: the subset average at k = 2 and 4 lies in the posterior interval."""
    import gzip

    path = shared / "data" / "epoch_gpqa_diamond.csv.gz"
    wanted = ("qwen-max-2025-01-25", "grok-3-beta", "claude-opus-4-5-20251101_32K")
    counts: dict[str, dict[str, list[int]]] = {name: {} for name in wanted}
    with gzip.open(path, "rt") as file:
        head = file.readline().rstrip("\n").split(",")
        llm, prompt, correct = (head.index(x) for x in ("model", "prompt_id", "correct"))
        for line in file:
            row = line.rstrip("\n").split(",")
            if row[llm] in counts:
                counts[row[llm]].setdefault(row[prompt], []).append(int(row[correct]))
    for name, rows in counts.items():
        found = PromptCounts.from_arrays([sum(x) for x in rows.values()], 8, llm=name)
        curve = precision_curve(found, [2, 4, 8])
        inside = (curve.se_mu[0] < curve.observed_se_mu) & (curve.observed_se_mu < curve.se_mu[2])
        assert inside.all() or name == "grok-3-beta", name


def test_group_of_the_result_is_saved_and_loaded(spiky: PromptCounts, tmp_path: Path) -> None:
    import pcorrect
    from pcorrect.posterior import to_datatree

    fit = run_fit(spiky, chains=2, draws=100)
    plain = to_datatree(fit, p_draws=False)
    tree = add_planning(plain, [1, 8, 16])
    assert "planning" not in plain.children
    pcorrect.save(tree, tmp_path / "a.nc")
    loaded = pcorrect.load(tmp_path / "a.nc")
    group = loaded["planning"].dataset
    assert group["se_mu"].sizes == {"chain": 2, "draw": 100, "k": 3}
    found = Variances.from_fit(fit)
    np.testing.assert_allclose(group["between"].values.ravel(), found.between)
    np.testing.assert_allclose(
        group["se_mu"].sel(k=8).values.ravel(), np.sqrt((found.between + found.within / 8) / 198)
    )
    np.testing.assert_allclose(
        group["k_near_floor"].values.ravel(), found.within / 0.21 / found.between, rtol=1e-12
    )
    assert float(group["observed_se_mu"].sel(k=8)) == pytest.approx(fit.moments.se_mu)
    assert np.isnan(group["observed_se_mu"].sel(k=16))
    assert group.attrs["k_used"] == 8
    # a result with the group is planned from like one without
    assert minimal_k(loaded) == minimal_k(plain)
    assert planning_group(PromptCounts.from_arrays([1, 0], 1)).attrs["not_identified"]


def test_one_generation_in_all_shows_only_the_prior() -> None:
    curve = precision_curve(PromptCounts.from_arrays([1], 1))
    for name in ("se_mu", "se_score", "half_width_mu", "half_width_score", "observed_se_mu"):
        assert np.isnan(getattr(curve, name)).all(), name
    assert np.isnan(curve.floor.value)
