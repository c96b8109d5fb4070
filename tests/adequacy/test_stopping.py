"""Lengths that depend on the results are noticed, others pass at the nominal rate."""

import numpy as np
import pytest
from scipy import stats

from pcorrect import DataError, PromptCounts
from pcorrect.adequacy.stopping import check_stopping, text_codes


def until_varied(y):
    """Prompts stop at the first outcome that differs from their first."""
    differs = y != y[:, :1]
    k = np.where(differs.any(axis=1), np.argmax(differs, axis=1) + 1, y.shape[1])
    return np.where(np.arange(y.shape[1]) < k[:, None], y, -1)


def until_right(y):
    """Prompts stop at their first correct generation."""
    k = np.where((y == 1).any(axis=1), np.argmax(y == 1, axis=1) + 1, y.shape[1])
    return np.where(np.arange(y.shape[1]) < k[:, None], y, -1)


def simulated(n, k, rng):
    p = rng.beta(0.8, 0.4, n)
    return (rng.random((n, k)) < p[:, None]).astype(int)


def counts_of(y):
    return PromptCounts.from_arrays((y == 1).sum(axis=1), (y >= 0).sum(axis=1))


@pytest.mark.parametrize("rule", [until_varied, until_right])
def test_stopping_rules_are_noticed(rule):
    rng = np.random.default_rng(1)
    for _ in range(10):
        y = rule(simulated(100, 15, rng))
        found = check_stopping(counts_of(y))
        assert found.status == "depends"
        assert "biased" in found.verdict
        ordered = check_stopping(counts_of(y), outcomes=y)
        assert ordered.p_last is None or ordered.p_last < 0.01
        assert "first generation" in ordered.verdict


LENGTHS = {
    "any": lambda n, rng: rng.integers(1, 17, n),
    "few lost": lambda n, rng: 8 - rng.binomial(1, 0.1, n) * rng.integers(1, 4, n),
    "two sizes": lambda n, rng: rng.choice([2, 20], n),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_random_lengths_pass_at_the_nominal_rate(name):
    rng = np.random.default_rng(2)
    p, times = [], 300
    for seed in range(times):
        k = LENGTHS[name](40, rng)
        y = np.where(np.arange(k.max()) < k[:, None], simulated(40, k.max(), rng), -1)
        found = check_stopping(counts_of(y), outcomes=y, replicates=199, seed=seed)
        p.append(1.0 if found.p_value is None else found.p_value)
    rejected = int(np.sum(np.array(p) <= 0.05))
    assert stats.binomtest(rejected, times, 0.05, "greater").pvalue > 1e-3
    assert np.mean(np.array(p) < 0.01) < 0.04


def test_unstudentised_slopes_would_fail(monkeypatch):
    """Plain correlation, permuted: short prompts' larger variance counts as a difference."""
    from pcorrect.adequacy import stopping

    rng = np.random.default_rng(3)
    value = np.concatenate([rng.normal(0, 10, (4000, 10)), rng.normal(0, 0.1, (4000, 90))], axis=1)
    k = np.repeat([2.0, 50.0], [10, 90])

    def size():
        p = [stopping._slope_test(v, k, 99, rng) for v in value[:300]]
        return int(np.sum(np.array(p) <= 0.05))

    assert stats.binomtest(size(), 300, 0.05, "greater").pvalue > 1e-6
    monkeypatch.setattr(stopping, "_studentised", lambda rank, d: rank @ d)
    assert size() > 100


def test_large_benchmarks_give_the_same_p_values(monkeypatch):
    from pcorrect.adequacy import stopping

    rng = np.random.default_rng(6)
    k = rng.integers(3, 10, 600)
    y = np.where(np.arange(9) < k[:, None], simulated(600, 9, rng), -1)
    small = check_stopping(counts_of(y), outcomes=y, replicates=9999)
    monkeypatch.setattr(stopping, "_LARGE", 0)
    large = check_stopping(counts_of(y), outcomes=y)
    for name in ("p_mean", "p_variation", "p_last"):
        assert getattr(large, name) == pytest.approx(getattr(small, name), abs=0.02)
    stopped = until_varied(simulated(600, 9, rng))
    assert check_stopping(counts_of(stopped), outcomes=stopped).p_value < 1e-6


def test_equal_k_has_nothing_to_depend_on():
    found = check_stopping(PromptCounts.from_arrays([3, 5, 8, 0], 8))
    assert found.status == "equal k"
    assert found.p_value is None
    assert found.estimates["pooled"] == pytest.approx(found.estimates["prompt mean"])


def test_estimates_and_their_errors():
    y = np.array([[1, 0, 0], [1, -1, -1], [0, 1, -1], [-1, 1, 1]])
    found = check_stopping(counts_of(y), outcomes=y)
    assert found.estimates["pooled"][0] == pytest.approx(5 / 8)
    assert found.estimates["prompt mean"][0] == pytest.approx((1 / 3 + 1 + 0.5 + 1) / 4)
    assert found.estimates["first generation"][0] == pytest.approx(0.75)
    assert found.estimates["first generation"][1] == pytest.approx(np.sqrt(0.25 / 4))


def test_texts_tell_where_grades_do_not():
    # all wrong, but the text changes at the end
    rng = np.random.default_rng(4)
    prompts = [f"q{i}" for i in range(20)]
    rows = [
        (name, j, "b" if j == length - 1 else "a")
        for name, length in zip(prompts, rng.integers(3, 9, 20), strict=True)
        for j in range(length)
    ]
    codes = text_codes(prompts, *zip(*rows, strict=True))
    y = np.where(codes >= 0, 0, -1)
    found = check_stopping(counts_of(y), outcomes=y, texts=codes)
    assert found.p_last is None
    assert found.p_last_text < 1e-6
    assert found.status == "depends"


def test_bad_input():
    with pytest.raises(DataError, match="outcomes of 1 prompts for 2 counts"):
        check_stopping(PromptCounts.from_arrays([1, 2], 3), outcomes=np.zeros((1, 3), int))


def test_real_runs(shared):
    import pandas as pd

    stopped = pd.read_csv(shared / "data" / "llm_stability_sequential.csv.gz")
    for _, run in stopped.groupby("model"):
        run = run.sort_values(["prompt_id", "generation"])
        prompts = sorted(set(run["prompt_id"]))
        columns = (list(run["prompt_id"]), list(run["generation"]))
        right = text_codes(prompts, *columns, [str(v) for v in run["correct"]])
        y = run.pivot(index="prompt_id", columns="generation", values="correct")
        y = y.fillna(-1).to_numpy().astype(int)
        assert np.array_equal(right >= 0, y >= 0)
        texts = text_codes(prompts, *columns, list(run["resp_hash"]))
        found = check_stopping(counts_of(y), outcomes=y, texts=texts)
        # four runs did not record the generation that differed: all that is left are copies
        cached = run.groupby("prompt_id")["resp_hash"].nunique().max() == 1
        assert found.status == "depends" or cached
    balanced = pd.read_csv(shared / "data" / "llm_stability_balanced.csv.gz")
    for _, run in balanced.groupby(["model", "benchmark"]):
        sums = run.groupby("prompt_id")["correct"].agg(["sum", "size"])
        counts = PromptCounts.from_arrays(sums["sum"].to_numpy(), sums["size"].to_numpy())
        assert check_stopping(counts).status == "equal k"


def by_difficulty(y, p, rng):
    """Length set beforehand, longer for harder prompts."""
    k = np.where(p < 0.5, y.shape[1], 3)
    return np.where(np.arange(y.shape[1]) < k[:, None], y, -1)


RULES = {
    "fixed k": lambda y, p, rng: y,
    "random k": lambda y, p, rng: np.where(
        np.arange(y.shape[1]) < rng.integers(1, y.shape[1] + 1, len(y))[:, None], y, -1
    ),
    "until varied": lambda y, p, rng: until_varied(y),
    "until right": lambda y, p, rng: until_right(y),
    "more for hard prompts": by_difficulty,
}
POPULATIONS = {
    "Beta(.8, .4)": (lambda n, rng: rng.beta(0.8, 0.4, n), 2 / 3),
    "60 % at 1, 40 % Beta(2, 6)": (
        lambda n, rng: np.where(rng.random(n) < 0.6, 1.0, rng.beta(2, 6, n)),
        0.7,
    ),
}


def estimates_under(rule, population, truth, times, model, rng):
    """Bias and coverage of each estimate of mu, n = 100, at most 15 generations."""
    from pcorrect.fitting import run_fit

    found = {}
    for seed in range(times):
        p = population(100, rng)
        y = rule((rng.random((100, 15)) < p[:, None]).astype(int), p, rng)
        counts = counts_of(y)
        values = dict(check_stopping(counts, outcomes=y, replicates=9).estimates)
        mu = run_fit(counts, model=model, seed=seed).marginals["mu"]
        intervals = {n: (v, v - 1.984 * se, v + 1.984 * se) for n, (v, se) in values.items()}
        intervals[model] = (mu.mean, *mu.interval(0.95))
        for name, (value, low, high) in intervals.items():
            found.setdefault(name, []).append((value - truth, low <= truth <= high))
    return {name: np.mean(np.array(rows), axis=0) for name, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", POPULATIONS)
def test_which_estimate_is_least_hurt(name):
    """Run with -s for the table."""
    population, truth = POPULATIONS[name]
    rng = np.random.default_rng(5)
    model, times = ("beta_bernoulli", 300) if "Beta(.8" in name else ("dp_beta", 60)
    table = {
        rule: estimates_under(RULES[rule], population, truth, times, model, rng) for rule in RULES
    }
    for rule, rows in table.items():
        cells = [f"{n} {bias:+.3f} ({cover:.2f})" for n, (bias, cover) in rows.items()]
        print(f"| {name} | {rule} | {' | '.join(cells)} |")
    for rule in ("until varied", "until right"):
        rows = table[rule]
        assert abs(rows["pooled"][0]) > 0.05
        assert rows["pooled"][1] < 0.8
        assert rows["first generation"][1] > 0.87
        assert rows[model][1] > 0.85
        assert abs(rows[model][0]) < abs(rows["prompt mean"][0]) < abs(rows["pooled"][0])
    assert abs(table["more for hard prompts"]["pooled"][0]) > 0.1
    assert abs(table["more for hard prompts"]["prompt mean"][0]) < 0.02
    for row in table["fixed k"].values():
        assert abs(row[0]) < 0.02


def test_two_prompts_of_unequal_k_are_not_called_equal():
    found = check_stopping(PromptCounts.from_arrays([3, 1], [4, 8]))
    assert found.status == "no sign"
    assert "too few" in found.verdict
