"""Copies of one response are noticed, and counted once."""

import numpy as np
import pytest

from pcorrect import DataError, PromptCounts
from pcorrect.adequacy.repeats import LEFT_OUT, as_single, check_repeats


def table(texts):
    prompt = [name for name, values in texts.items() for _ in values]
    return prompt, [value for values in texts.values() for value in values]


def test_copies_are_noticed():
    found = check_repeats(*table({"a": ["x y", "x y"], "b": ["z", "z", "z"], "c": ["w"]}))
    assert found.cached
    assert (found.n_repeated, found.n_identical, found.n_texts) == (2, 2, 2)
    assert "cache" in found.verdict


@pytest.mark.parametrize(
    "texts",
    [
        {"a": ["x", "x"], "b": ["z", "z "]},  # one byte differs
        {"a": ["x", "x"], "b": ["x", "x"]},  # the same text everywhere is no cache
        {"a": ["x"], "b": ["z"]},
        {"a": ["x", "x"]},
        {"a": ["x", None], "b": ["y", None]},
    ],
)
def test_others_are_not(texts):
    assert not check_repeats(*table(texts)).cached


def test_right_answers_agree_by_themselves():
    texts = {f"q{i}": [str(i)] * 8 for i in range(45)}
    prompt, text = table(texts)
    saturated = check_repeats(prompt, text, np.ones(len(text), int), what="answer")
    assert not saturated.cached
    assert "as they may" in saturated.verdict
    wrong = [int(int(name[1:]) > 4) for name in prompt]
    assert check_repeats(prompt, text, wrong, what="answer").cached
    with pytest.raises(DataError, match="need `correct`"):
        check_repeats(prompt, text, what="answer")
    with pytest.raises(DataError, match="one of each"):
        check_repeats(prompt, text[1:])


def test_copies_count_once():
    counts = PromptCounts.from_arrays([8, 0, 8, 0], [8, 8, 8, 0])
    single = as_single(counts)
    np.testing.assert_array_equal(single.n_correct, [1, 0, 1, 0])
    np.testing.assert_array_equal(single.n_generations, [1, 1, 1, 0])
    assert single.rows.read == 24
    assert single.rows.used == 3
    assert single.rows.left_out == {LEFT_OUT: 21}


def test_a_grader_that_contradicts_itself_is_an_error():
    with pytest.raises(DataError, match="grader contradicts itself"):
        as_single(PromptCounts.from_arrays([8, 3], 8))


def test_real_runs(shared):
    import pandas as pd

    stable = pd.read_csv(shared / "data" / "llm_stability_balanced.csv.gz")
    run = stable[stable["model"] == "gpt-35_OAI-0.0-navigate-few"]
    assert check_repeats(list(run["prompt_id"]), list(run["resp_hash"])).cached
    sampled = pd.read_csv(shared / "data" / "epoch_otis_mock_aime.csv.gz", dtype={"answer": str})
    for _, run in sampled.groupby("model"):
        text = [None if pd.isna(value) else value for value in run["answer"]]
        found = check_repeats(list(run["prompt_id"]), text, list(run["correct"]), what="answer")
        assert not found.cached
