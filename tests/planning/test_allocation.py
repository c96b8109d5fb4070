"""Which prompts next: optimal against listing every allocation, and what it is expected to gain."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import betabinom

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning.allocation import known, next_prompts
from pcorrect.planning.spread import remaining, spread
from pcorrect.planning.undecided import _hull
from pcorrect.result import Fit


@settings(deadline=None)
@given(
    weight=st.lists(st.floats(0.0, 0.25), min_size=4, max_size=4),
    seen=st.lists(st.floats(0.0, 20), min_size=4, max_size=4),
    total=st.integers(1, 9),
)
def test_no_allocation_is_better(weight: list[float], seen: list[float], total: int) -> None:
    w, nu = np.array(weight), np.array(seen)
    m = spread(w, nu, total)
    assert m.sum() == total
    assert m.min() >= 0
    if not w.any():
        return
    best = min(
        remaining(w, nu, np.array(x))
        for x in itertools.product(range(total + 1), repeat=4)
        if sum(x) == total
    )
    assert remaining(w, nu, m) <= best * (1 + 1e-6) + 1e-12


@given(seen=st.lists(st.integers(0, 30), min_size=1, max_size=40), total=st.integers(1, 2000))
def test_even_spread_levels_the_totals(seen: list[int], total: int) -> None:
    k = np.array(seen)
    after = k + spread(np.ones(len(k)), k.astype(float), total)
    assert after.sum() == k.sum() + total
    touched = after[after > k]
    assert touched.max() - touched.min() <= 1
    assert np.all(after >= touched.max() - 1)


def test_large_numbers() -> None:
    rng = np.random.default_rng(1)
    w = rng.choice([0.0, 0.1, 0.25], 300_000)
    m = spread(w, np.full(len(w), 8.0), 3_000_001)
    assert m.sum() == 3_000_001
    assert m[w == 0].sum() == 0
    for value in (0.1, 0.25):
        assert np.ptp(m[w == value]) <= 1


def test_expected_variance_of_a_beta_is_exact() -> None:
    """E Var(p | s, m more) = w / (nu + m), by summing over the outcomes of the m generations."""
    a, b, m = 2.5, 6.5, 7
    t = np.arange(m + 1)
    x, y = a + t, b + m - t
    variance = x * y / ((x + y) ** 2 * (x + y + 1))
    expected = float(betabinom.pmf(t, m, a, b) @ variance)
    nu = a + b
    w = a * b / (nu * (nu + 1))
    assert expected == pytest.approx(w / (nu + m), rel=1e-12)


def test_known_numbers_of_a_fit(spiky: PromptCounts, with_population) -> None:  # type: ignore[no-untyped-def]
    fit = run_fit(spiky, model="beta_bernoulli")
    weight, seen = known(fit)
    table = fit.prompts.table(0.95, "eti")
    np.testing.assert_allclose(weight / seen, table.sd**2, rtol=0.02)
    np.testing.assert_allclose(weight, table.mean * (1 - table.mean) - table.sd**2, rtol=0.02)
    drawn = known(with_population(fit, None))
    np.testing.assert_allclose(drawn[0], weight, rtol=0.15)


def test_generations_go_where_p_is_unsure(spiky: PromptCounts, spiky_fit: Fit) -> None:
    found = next_prompts(spiky_fit, 600)
    assert found.n_generations.sum() == 600
    mean = [found.n_generations[spiky.n_correct == s].mean() for s in range(9)]
    assert max(mean) == max(mean[2:6])
    assert mean[4] > mean[8]
    e = found.expected
    assert e["sd_after"] < e["sd_uniform"] < e["sd_now"]


def test_uniform_and_prompts_without_generations() -> None:
    counts = PromptCounts.from_arrays([3, 0, 0, 2], [4, 0, 0, 2], prompt=list("abcd"))
    found = next_prompts(counts, 8, strategy="uniform")
    assert (
        list(found.n_generations) == [0, 4, 3, 1]
        or list(found.n_generations) == [0, 3, 4, 1]
        or list(found.n_generations) == [0, 3, 3, 2]
    )
    assert next_prompts(counts, 2).n_generations[[1, 2]].sum() == 2


def test_file_holds_ids_and_counts(spiky: PromptCounts, spiky_fit: Fit) -> None:
    found = next_prompts(spiky_fit, 50)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert sum(int(row["generations"]) for row in rows) == 50
    assert all(int(row["generations"]) > 0 for row in rows)
    assert {row["prompt"] for row in rows} <= {str(x) for x in spiky.prompt}
    assert found.rows()[0].keys() == {"llm", "prompt", "generations"}
    assert int(found.to_dataset()["n_generations"].sum()) == 50


def test_undecided_prompts_first(spiky: PromptCounts, spiky_fit: Fit) -> None:
    found = next_prompts(spiky_fit, 300, strategy="undecided")
    m = found.n_generations
    assert m.sum() + found.unspent == 300
    assert m[spiky.n_correct >= 4].sum() == 0
    assert m[spiky.n_correct == 0].sum() > 0
    e = found.expected
    assert e["undecided_after"] < e["undecided_now"]
    # spread evenly, as many prompts that looked decided come into doubt
    assert e["undecided_after"] < e["undecided_uniform"]


def test_expected_decisions_are_those_that_come(spiky: PromptCounts, spiky_fit: Fit) -> None:
    """Run the allocation on p drawn from the posterior: as many are undecided as was expected."""
    from pcorrect.planning.per_prompt import GridPopulation, binomial, decided, posterior

    fit = spiky_fit
    found = next_prompts(fit, 300, strategy="undecided")
    assert fit.population is not None
    grid = GridPopulation.of(fit.population)
    rng = np.random.default_rng(2)
    kinds, times = np.unique(
        np.stack([spiky.n_correct, spiky.n_generations, found.n_generations]),
        axis=1,
        return_counts=True,
    )
    left = np.zeros(60)
    for (s, k, m), n in zip(kinds.T, times, strict=True):
        now = posterior(grid.mean, binomial(int(k), grid.p)[int(s)][None, :])[0]
        later = posterior(grid.mean, binomial(int(k + m), grid.p))
        open_ = decided(later, grid.below(0.1), 0.95) == 0
        p = rng.choice(grid.p, p=now / now.sum(), size=(60, n))
        left += open_[s + rng.binomial(m, p)].sum(axis=1)
    error = np.std(left) / np.sqrt(len(left))
    assert np.mean(left) == pytest.approx(found.expected["undecided_after"], abs=4 * error + 0.1)


def test_nothing_left_to_decide_is_not_spent() -> None:
    counts = PromptCounts.from_arrays([16] * 50, 16)
    found = next_prompts(counts, 100, strategy="undecided", threshold=0.1)
    assert found.unspent == 100
    assert found.rows() == []


def test_hull_skips_steps_that_do_not_pay() -> None:
    moves = _hull(np.array([0, 1, 2, 5]), np.array([0.0, 0.0, 0.4, 0.5]))
    assert [(low, high) for _, low, high in moves] == [(0, 2), (2, 5)]
    assert moves[0][0] == pytest.approx(0.2)
    assert _hull(np.array([0, 3]), np.array([1.0, 0.9])) == []


def test_two_llms(spiky: PromptCounts, spiky_fit: Fit) -> None:
    sure = replace(spiky, llm="sure", n_correct=np.where(spiky.n_correct > 4, 8, 0))
    found = next_prompts(spiky_fit, 400, strategy="separate", other=sure)
    assert len(found.n_generations) == 396
    assert set(found.llm) == {"llm", "sure"}
    assert found.n_generations[:198].sum() > 10 * found.n_generations[198:].sum()


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "best"},
        {"generations": 0},
        {"strategy": "separate"},
        {"strategy": "undecided", "threshold": 0.0},
        {"strategy": "undecided", "confidence": 1.0},
    ],
)
def test_out_of_range(spiky_fit: Fit, options: dict[str, object]) -> None:
    arguments = {"generations": 10} | options
    with pytest.raises(PcorrectError):
        next_prompts(spiky_fit, **arguments)  # type: ignore[arg-type]


def test_undecided_needs_a_population(spiky: PromptCounts, with_population) -> None:  # type: ignore[no-untyped-def]
    fit = with_population(run_fit(spiky, draws=50), None)
    with pytest.raises(PcorrectError, match="built-in model"):
        next_prompts(fit, 10, strategy="undecided")
    assert next_prompts(fit, 10).n_generations.sum() == 10
