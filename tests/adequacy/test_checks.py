"""The checks that accompany every fit."""

import numpy as np
import pandas as pd
import pytest

from pcorrect.adequacy import checks
from pcorrect.adequacy.checks import check_fit
from pcorrect.fitting import run_fit
from pcorrect.readers import counts, from_frame


def long_table(y):
    """Rows of a matrix of outcomes, -1 for generations that were not made."""
    i, j = np.nonzero(np.asarray(y) >= 0)
    return pd.DataFrame({"llm": "m", "prompt": i, "generation": j, "correct": np.asarray(y)[i, j]})


def checks_of(frame):
    generations = from_frame(frame)
    (table,) = counts(generations)
    return check_fit(run_fit(table.select("m"), model="beta_bernoulli"), generations)


@pytest.fixture
def y():
    rng = np.random.default_rng(0)
    return rng.binomial(1, rng.beta(1, 1, 80)[:, None], size=(80, 6))


def test_nothing_to_say_of_exchangeable_generations(y):
    found = checks_of(long_table(y))
    assert found.runs.status == "no sign"
    assert found.stopping.status == "equal k"
    assert found.shape is not None
    assert found.warnings == []


def test_the_plain_model_is_warned_of_where_its_shape_fails(spiky):
    for model, expected in (("beta_bernoulli", 1), ("dp_beta", 0)):
        found = check_fit(run_fit(spiky, model=model))
        assert found.shape.status == "rejected"
        assert sum("assumes the Beta shape" in text for text in found.warnings) == expected


def test_a_run_that_failed_is_a_warning(y):
    y[:, 2] = 0
    found = checks_of(long_table(y))
    assert found.runs.status == "differ"
    assert found.runs.outstanding[0] == 2
    assert found.runs.verdict in found.warnings


def test_stopping_at_the_first_right_answer_is_a_warning(y):
    seen = np.cumsum(y, axis=1) - y == 0
    found = checks_of(long_table(np.where(seen, y, -1)))
    assert found.stopping.status == "depends"
    # the population is a Beta and the runs are alike: what there is of them is not
    assert found.warnings == [found.stopping.verdict]
    for check in (found.runs, found.shape):
        assert check.status == "not checked"
        assert check.p_value is None
        assert "depends on the results" in check.verdict
    assert found.shape.p_histogram is found.shape.p_shift is None


def test_too_many_generations_are_left_alone(y, monkeypatch):
    y[:, 2] = 0
    monkeypatch.setattr(checks, "MOST_GENERATIONS", y.size - 1)
    assert checks_of(long_table(y)).runs is None


def test_counts_hold_no_runs():
    frame = pd.DataFrame({"llm": "m", "prompt": [1, 2], "n_correct": [3, 5], "n_generations": 8})
    assert checks_of(frame).runs is None


def test_a_real_run_that_went_wrong(shared):
    # generation 1 of this log has .10 correct and generation 2 .47, the others about .70
    path = shared / "data" / "epoch_gpqa_diamond.csv.gz"
    frame = pd.read_csv(path, dtype=str)
    frame = frame[frame["model"] == "grok-3-beta"].assign(llm="m").drop(columns="model")
    found = checks_of(frame)
    assert found.runs.status == "differ"
    assert found.runs.outstanding[0] == 0
    assert found.runs.gap == pytest.approx(0.631, abs=0.001)


def test_runs_have_the_numbers_of_the_input(y):
    y[:, 3] = 0
    frame = long_table(y)
    assert "generation 3 (" in checks_of(frame).runs.verdict
    assert (
        "generation 31 ("
        in checks_of(frame.assign(generation=frame.generation * 10 + 1)).runs.verdict
    )


def test_a_worse_last_run_is_no_stopping_rule(y):
    y[:, -1] = 0
    frame = long_table(y).drop(index=7)
    found = checks_of(frame)
    assert found.stopping.status == "no sign"
    assert found.runs.status == "differ"


def test_seeds_of_single_generations_form_no_runs(y):
    frame = long_table(y)
    frame["generation"] = np.random.default_rng(1).permutation(10**6)[: len(frame)]
    runs = checks_of(frame).runs
    assert runs.status == "not checked"
    assert "do not share the numbers" in runs.verdict
