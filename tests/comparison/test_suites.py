"""Macro and micro, each with its own error; groups as units."""

import json

import numpy as np
import pytest

from pcorrect.comparison import paired_difference, pass_at_k, rank, suite, suite_difference
from pcorrect.errors import ChoiceError, DataError, PcorrectError


def test_shared_case_07(shared):
    folder = shared / "cases" / "07"
    expected = json.loads((folder / "expected.json").read_text())["expected"]
    result = suite(str(folder / "counts.csv"))
    for row, name in ((result.macro, "macro"), (result.micro, "micro")):
        assert row.estimate == pytest.approx(expected[name]["mean"], abs=5e-5)
        assert row.se == pytest.approx(expected[name]["se"], abs=5e-5)
    assert [part.n_prompts for part in result.parts] == [4, 40]
    assert result.macro.mu.sd > result.micro.mu.sd


@pytest.fixture
def tables(counts_of):
    rng = np.random.default_rng(0)
    return [
        counts_of(rng.binomial(6, p, (2, n)), 6, benchmark=name)
        for name, p, n in (("easy", 0.9, 200), ("hard", 0.2, 30))
    ]


def test_macro_and_micro_by_hand(tables):
    result = suite(tables, "a", weights={"easy": 1, "hard": 3})
    shares = [t.n_correct[0] / 6 for t in tables]
    se = [x.std(ddof=1) / np.sqrt(len(x)) for x in shares]
    assert result.macro.estimate == pytest.approx(0.25 * shares[0].mean() + 0.75 * shares[1].mean())
    assert result.macro.se == pytest.approx(np.hypot(0.25 * se[0], 0.75 * se[1]))
    pooled = np.concatenate(shares)
    assert result.micro.estimate == pytest.approx(pooled.mean())
    assert result.micro.se == pytest.approx(pooled.std(ddof=1) / np.sqrt(230))
    for row in (*result.parts, result.macro, result.micro):
        assert row.mu.lower < row.estimate < row.mu.upper
        assert row.mu.sd == pytest.approx(row.se, rel=0.25)


def test_difference_is_paired_and_turns(tables):
    one, other = suite_difference(tables, "a", "b"), suite_difference(tables, "b", "a")
    for x, y in zip(
        (*one.parts, one.macro, one.micro), (*other.parts, other.macro, other.micro), strict=True
    ):
        assert x.estimate == pytest.approx(-y.estimate, abs=1e-15)
        assert x.mu.mean == pytest.approx(-y.mu.mean, abs=1e-12)
        assert x.p_above_zero == pytest.approx(1 - y.p_above_zero, abs=1e-12)
        assert x.se == pytest.approx(y.se)
    d = (tables[1].n_correct[0] - tables[1].n_correct[1]) / 6
    assert one.parts[1].se == pytest.approx(d.std(ddof=1) / np.sqrt(30))


def test_an_llm_against_itself(tables):
    result = suite_difference(tables, "a", "a")
    for row in (*result.parts, result.macro, result.micro):
        assert (row.estimate, row.se, row.p_above_zero) == (0, None, 0.5)
        assert (row.mu.mean, row.mu.sd, row.mu.lower, row.mu.upper) == (0, 0, 0, 0)


def test_choices(tables, counts_of):
    with pytest.raises(ChoiceError, match="several llms"):
        suite(tables)
    with pytest.raises(ChoiceError, match="no llm"):
        suite(tables, "x")
    with pytest.raises(ChoiceError, match="weights"):
        suite(tables, "a", weights={"easy": 1})
    with pytest.raises(PcorrectError, match="negative"):
        suite(tables, "a", weights={"easy": 2, "hard": -1})
    with pytest.raises(DataError, match="no groups"):
        suite(tables, "a", by_group=True)
    alone = counts_of([[1, 2]], 4, llm=["a"], benchmark="third")
    assert any("third" in note for note in suite_difference([*tables, alone], "a", "b").notes)
    assert any("third" in note for note in suite([*tables, alone], "b").notes)
    nothing = counts_of([[0, 0]], 0, llm=["a"])
    with pytest.raises(DataError, match="no benchmark has"):
        suite(nothing, "a")
    with pytest.raises(DataError, match="no benchmark holds"):
        suite_difference([alone], "a", "b")


def coverage_with_groups(counts_of, replications, seed):
    """Prompts in 25 groups of 8 whose p hardly differ inside a group."""
    rng = np.random.default_rng(seed)
    inside = np.zeros(2)
    for r in range(replications):
        p = np.repeat(rng.beta(2, 1, 25), 8)
        group = [f"g{i // 8}" for i in range(200)]
        counts = counts_of(rng.binomial(4, p)[None, :], 4, llm=["a"], group=group)
        plain = suite(
            [counts, counts_of([[2, 2]], 4, llm=["a"], benchmark="other")], "a", draws=1000, seed=r
        )
        aware = suite(counts, "a", by_group=True, draws=1000, seed=r)
        for i, row in enumerate((plain.parts[0], aware.micro)):
            inside[i] += row.mu.lower <= 2 / 3 <= row.mu.upper
    return inside / replications


def test_ignoring_groups_is_too_narrow(counts_of):
    """150 replications: standard errors .04 and .018."""
    ignoring, aware = coverage_with_groups(counts_of, 150, seed=1)
    assert ignoring < 0.75
    assert aware > 0.88


@pytest.mark.slow
def test_ignoring_groups_is_too_narrow_full(counts_of):
    ignoring, aware = coverage_with_groups(counts_of, 1500, seed=2)
    assert ignoring < 0.65
    assert 0.93 <= aware <= 0.98


def test_text_and_json(tables):
    result = suite_difference(tables, "a", "b")
    text = "\n".join(result.lines())
    assert "macro" in text
    assert "P(a better)" in text
    row = result.to_dict()
    assert row["llm"] == "a - b"
    assert 0 <= row["macro"]["p_better"] <= 1
    assert "p_better" not in suite(tables, "a").to_dict()["macro"]


def test_an_error_of_zero_is_no_answer(counts_of):
    same = [counts_of([[4] * 6, [0] * 6], 4, benchmark=name) for name in ("x", "y")]
    one, gap = suite(same, "a"), suite_difference(same, "a", "b")
    ranking = rank(same)
    for row in (*one.parts, one.macro, one.micro, *gap.parts, gap.macro, gap.micro):
        assert row.se is None
    for notes in (one.notes, gap.notes, ranking.notes):
        assert any("standard error of 0 would be no answer" in note for note in notes)
    assert np.isnan(ranking.se).all()
    assert json.loads(json.dumps(ranking.to_dict()))["llms"][0]["se"] is None
    pair = paired_difference(same[0], "a", "b")
    assert (pair.se_mu, pair.se_score) == (None, None)
    assert sum("standard error of 0" in note for note in pair.notes) == 2
    (passed,) = pass_at_k(same[0].select("a"), 1)
    assert passed.se is None
    assert any("standard error of 0" in note for note in passed.notes)


def test_a_benchmark_has_one_interval(tables):
    """In the suite's table as in the comparison on that benchmark alone."""
    found = suite_difference(tables, "a", "b")
    for part, table in zip(found.parts, tables, strict=True):
        alone = paired_difference(table, "a", "b")
        assert part.mu.to_dict() == pytest.approx(alone.mu.to_dict(), abs=1e-12)
        assert part.p_above_zero == alone.p_better
