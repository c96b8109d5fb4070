"""Copies of one response are noticed, and counted once."""

import pandas as pd
import pytest

from pcorrect.copies import LEFT_OUT
from pcorrect.readers import counts


def table(texts, correct=None):
    """Long rows of one llm; prompts named in `correct` (default: the first) are right."""
    right = set(texts if correct is None else correct)
    rows = [
        {"llm": "m", "prompt": name, "generation": j, "correct": int(name in right), "answer": text}
        for name, values in texts.items()
        for j, text in enumerate(values)
    ]
    return pd.DataFrame(rows)


RESPONSE = "After some thought the answer is "


def test_copied_responses_count_once():
    texts = {name: [RESPONSE + name] * 3 for name in "abc"} | {"d": [RESPONSE + "d"]}
    (found,) = counts(table(texts, correct="ab"))
    one = found.select("m")
    assert list(one.n_generations) == [1, 1, 1, 1]
    assert list(one.n_correct) == [1, 1, 0, 0]
    assert one.rows.read == 10
    assert one.rows.used == 4
    assert one.rows.left_out == {LEFT_OUT: 6}
    assert any("cache" in note for note in one.rows.notes)


@pytest.mark.parametrize(
    "texts",
    [
        # one byte differs
        {"a": [RESPONSE + "a"] * 2, "b": [RESPONSE + "b", RESPONSE + "b "]},
        # the same text for every prompt says nothing about a cache
        {"a": [RESPONSE] * 2, "b": [RESPONSE] * 2},
        {"a": [RESPONSE + "a", None], "b": [RESPONSE + "b", None]},
        {"a": [None, None], "b": [None, None]},
        # right answers agree by themselves
        {str(i): [str(i)] * 8 for i in range(45)},
    ],
)
def test_others_are_kept(texts):
    (found,) = counts(table(texts))
    one = found.select("m")
    assert list(one.n_generations) == [len(values) for values in texts.values()]
    assert not one.rows.left_out


def test_short_answers_are_worth_a_note_only():
    texts = {str(i): [str(i)] * 8 for i in range(45)}
    for wrong, notes in ((4, 0), (5, 1)):
        (found,) = counts(table(texts, correct=[str(i) for i in range(wrong, 45)]))
        one = found.select("m")
        assert set(one.n_generations) == {8}
        assert sum("if they are copies" in note for note in one.rows.notes) == notes


def test_long_right_answers_agree_by_themselves():
    texts = {name: [RESPONSE + name] * 3 for name in "abc"}
    rows = table(texts)
    (found,) = counts(rows.assign(target=rows["answer"]))
    assert set(found.select("m").n_generations) == {3}
    (found,) = counts(rows.assign(target=rows["prompt"]))
    assert set(found.select("m").n_generations) == {1}


def test_each_llm_by_itself():
    same = table({name: [RESPONSE + name] * 2 for name in "abc"})
    varied = table({name: [RESPONSE + name, name] for name in "abc"}).assign(llm="other")
    (found,) = counts(pd.concat([same, varied]))
    assert set(found.select("m").n_generations) == {1}
    assert set(found.select("other").n_generations) == {2}


def test_real_runs(shared):
    # four runs near 1.0 give every answer k times, as they may; the wrong ones of a yes-or-no
    # task are noted
    for name, noted in (("epoch_otis_mock_aime", 0), ("rg_zeroshot_easy_k3_answers", 2)):
        found = counts(shared / "data" / f"{name}.csv.gz")
        reports = [report for benchmark in found for report in benchmark.rows]
        assert not any(LEFT_OUT in report.left_out for report in reports)
        assert sum("copies" in str(report.notes) for report in reports) == noted


LONG = "This is a long response, longer than what is equal by chance: "


@pytest.mark.parametrize("change", ["none", "graded by chance", "one is other", "short"])
def test_many_equal_responses_are_noted(change):
    texts = {str(i): [f"{LONG}{i} {j % 2}" for j in range(4)] for i in range(20)}
    if change == "one is other":
        texts["3"][0] += "."
    if change == "short":
        texts = {name: [text[-3:] for text in values] for name, values in texts.items()}
    frame = table(texts)
    frame["correct"] = [i % 2 for i in range(len(frame))]
    if change == "graded by chance":
        frame["correct"] = [i % 3 == 0 for i in range(len(frame))]
    (found,) = counts(frame)
    one = found.select("m")
    assert set(one.n_generations) == {4}
    equal = {"one is other": "39 of 80", "short": ""}.get(change, "40 of 80")
    assert any(equal in note and "byte by byte" in note for note in one.rows.notes) == bool(equal)


def test_texts_of_a_few_prompts_say_nothing_of_the_others():
    texts = {str(i): [LONG + str(i)] * 8 for i in range(2)} | {
        str(i): [None] * 8 for i in range(2, 40)
    }
    (found,) = counts(table(texts, correct=["0", *map(str, range(5, 40))]))
    assert set(found.select("m").n_generations) == {8}
