"""From whatever holds results to a fit, and the choice among several."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import pcorrect
from pcorrect import ChoiceError, PromptCounts
from pcorrect.api import one_benchmark, select

ROWS = pd.DataFrame(
    {
        "llm": ["a"] * 3 + ["b"] * 3 + ["a"] * 2,
        "benchmark": ["x"] * 6 + ["y"] * 2,
        "prompt": ["q1", "q2", "q3", "q1", "q2", "q3", "r1", "r2"],
        "n_correct": [3, 8, 0, 1, 2, 3, 4, 5],
        "n_generations": 8,
    }
)


@pytest.fixture
def path(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


@pytest.fixture(params=["path", "text", "list", "pandas", "polars", "generations", "counts"])
def data(request, path):
    return {
        "path": lambda: path,
        "text": lambda: str(path),
        "list": lambda: [path],
        "pandas": lambda: ROWS,
        "polars": lambda: pl.from_pandas(ROWS),
        "generations": lambda: pcorrect.read(path),
        "counts": lambda: pcorrect.counts(path),
    }[request.param]()


def test_every_kind_of_data(data):
    one = select(data, llm="b", benchmark="x")
    assert (one.llm, one.benchmark) == ("b", "x")
    np.testing.assert_array_equal(one.n_correct, [1, 2, 3])
    assert select(one) is one
    assert list(one_benchmark(data, "y").llm) == ["a"]


def test_what_is_left_open_is_asked_for(data):
    with pytest.raises(ChoiceError, match=r"several benchmarks.*\['x', 'y'\]"):
        select(data)
    with pytest.raises(ChoiceError, match=r"several llms.*\['a', 'b'\]"):
        select(data, benchmark="x")
    with pytest.raises(ChoiceError, match="'z'"):
        select(data, llm="a", benchmark="z")
    with pytest.raises(ChoiceError, match="'z'"):
        select(data, llm="z", benchmark="x")


def test_a_name_for_data_without_names(tmp_path):
    path = tmp_path / "rows.csv"
    ROWS[:3].drop(columns=["llm", "benchmark"]).to_csv(path, index=False)
    one = select(path, llm="mine", benchmark="quiz")
    assert (one.llm, one.benchmark) == ("mine", "quiz")


def test_fit_and_fit_all(path):
    options = {"model": "beta_bernoulli", "draws": 20}
    results = pcorrect.fit_all(path, **options)
    assert list(results) == [("a", "x"), ("b", "x"), ("a", "y")]
    single = pcorrect.fit(path, llm="b", benchmark="x", **options)
    for tree in (single, results["b", "x"]):
        assert tree["posterior"].sizes["draw"] == 20
    table = pcorrect.summary(single)
    pd.testing.assert_frame_equal(table, pcorrect.summary(results["b", "x"]))
    direct = pcorrect.fit(PromptCounts.from_arrays([1, 2, 3], 8), **options)
    assert table.loc["mu", "mean"] == pytest.approx(pcorrect.summary(direct).loc["mu", "mean"])


@pytest.mark.parametrize("model", ["dp_beta", "beta_bernoulli", "inflated_beta", "logit_normal"])
def test_the_score_is_that_of_the_scored_prompts(model):
    """Listed prompts without a generation have a p_i, and do not move score, as in the moments."""
    s, k = np.array([3, 8, 0, 5, 7, 8]), np.full(6, 8)
    alone = pcorrect.fit(PromptCounts.from_arrays(s, k), model=model)
    more = pcorrect.fit(
        PromptCounts.from_arrays(np.append(s, [0] * 9), np.append(k, [0] * 9)), model=model
    )
    np.testing.assert_array_equal(more.posterior.score, alone.posterior.score)
    assert more.posterior.sizes["prompt"] == 15
    assert np.isfinite(more.posterior.p).all()
    goal = {"half_width": 0.05, "estimand": "score"}
    assert str(pcorrect.stopping(more, **goal)) == str(pcorrect.stopping(alone, **goal))
