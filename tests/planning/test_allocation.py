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
from pcorrect.planning.allocation import next_prompts
from pcorrect.planning.spending import Knowledge, _hull, level
from pcorrect.result import Fit


def knowledge(rng: np.random.Generator, cells: int, sizes: list[int], rank: int = 2) -> Knowledge:
    """Made-up knowledge: any noise, own and shared variance."""
    return Knowledge(
        np.repeat(np.arange(cells), sizes),
        np.array(sizes, dtype=float),
        rng.uniform(0.01, 0.25, cells),
        rng.uniform(0.0, 0.05, cells),
        rng.normal(0, 0.05, (cells, rank)),
    )


def left_over(known: Knowledge, m: np.ndarray) -> float:
    """Variance of the sum of all p after m more generations, from the full covariance matrix."""
    c = known.of_prompt
    shared = known.shared[c] @ known.shared[c].T
    p = shared + np.diag(known.own[c])
    seen = m > 0
    if not seen.any():
        return float(p.sum())
    data = p[np.ix_(seen, seen)] + np.diag(known.noise[c][seen] / m[seen])
    with_sum = p[seen].sum(axis=1)
    return float(p.sum() - with_sum @ np.linalg.solve(data, with_sum))


@given(seed=st.integers(0, 10_000))
def test_variance_that_is_left_is_that_of_the_full_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [3, 1, 2]
    known = knowledge(rng, 3, sizes)
    x = rng.integers(0, 6, 3)
    expected = left_over(known, np.repeat(x, sizes).astype(float))
    assert known.variance(x.astype(float)) == pytest.approx(expected, rel=1e-9)


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_gain_is_the_slope(seed: int) -> None:
    """One more generation of a cell, spread over its prompts, by finite differences."""
    rng = np.random.default_rng(seed)
    known = knowledge(rng, 3, [3, 1, 2])
    x = rng.uniform(0, 6, 3)
    for c in range(3):
        step = np.zeros(3)
        step[c] = 1e-5
        slope = (known.variance(x) - known.variance(x + step)) / (1e-5 * known.size[c])
        assert slope == pytest.approx(known.gain(x)[c], rel=1e-2, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), total=st.integers(1, 9))
def test_no_allocation_is_better(seed: int, total: int) -> None:
    """Real-valued numbers are at least as good as every whole one, and rounding costs little."""
    known = knowledge(np.random.default_rng(seed), 4, [1, 1, 1, 1])
    options = [
        np.array(x) for x in itertools.product(range(total + 1), repeat=4) if sum(x) == total
    ]
    listed = min(known.variance(x.astype(float)) for x in options)
    assert known.variance(known.best(total)) <= listed * 1.001
    m = known.spend(total)
    assert m.sum() == total
    assert m.min() >= 0
    gained, most = (known.variance(np.zeros(4)) - v for v in (known.variance(1.0 * m), listed))
    assert gained >= 0.7 * most


def test_prompts_that_look_alike_share_the_doubt() -> None:
    """What is expected of the fit agrees with its posterior; solved prompts are looked at again."""
    s = np.repeat(np.arange(5), [40, 17, 18, 12, 113])
    fit = run_fit(PromptCounts.from_arrays(s, 4), draws=250)
    known = Knowledge.of([fit])
    sd = np.sqrt(known.variance(np.zeros(len(known.size)))) / len(s)
    assert sd == pytest.approx(fit.marginals["score"].sd, rel=0.1)
    m = next_prompts(fit, 400).n_generations
    assert 0.2 < m[s == 4].mean() < 0.3 * m[s == 2].mean()
    # dealt out over the whole of the prompts that look alike, not to the first of them
    assert abs(m[s == 4][:56].sum() - m[s == 4][57:].sum()) <= 1


@given(seen=st.lists(st.integers(0, 30), min_size=1, max_size=40), total=st.integers(1, 2000))
def test_even_spread_levels_the_totals(seen: list[int], total: int) -> None:
    k = np.array(seen)
    after = k + level(k, total)
    assert after.sum() == k.sum() + total
    touched = after[after > k]
    assert touched.max() - touched.min() <= 1
    assert np.all(after >= touched.max() - 1)


def test_large_numbers() -> None:
    rng = np.random.default_rng(1)
    s = rng.binomial(16, rng.choice([0.0, 0.3, 0.9, 1.0], 300_000))
    known = Knowledge.of([run_fit(PromptCounts.from_arrays(s, 16), model="beta_bernoulli")])
    m = known.spend(3_000_001)
    assert m.sum() == 3_000_001
    for value in np.unique(s):
        assert np.ptp(m[s == value]) <= 1


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
    known = Knowledge.of([fit])
    table = fit.prompts.table(0.95, "eti")
    total = (known.own + np.sum(known.shared**2, axis=1))[known.of_prompt]
    np.testing.assert_allclose(total, table.sd**2, rtol=0.05)
    noise = known.noise[known.of_prompt]
    np.testing.assert_allclose(noise, table.mean * (1 - table.mean) - table.sd**2, rtol=0.03)
    drawn = Knowledge.of([with_population(fit, None)])
    np.testing.assert_allclose(drawn.noise, noise, rtol=0.15)


def test_generations_go_where_p_is_unsure(spiky: PromptCounts, spiky_fit: Fit) -> None:
    found = next_prompts(spiky_fit, 600)
    assert found.n_generations.sum() == 600
    # The least is flat: single counts get more or less from one fit to the next, these groups not.
    s = spiky.n_correct
    seldom, unsure = (found.n_generations[x].mean() for x in (s < 2, (s > 2) & (s < 7)))
    assert unsure > 2 * seldom
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
