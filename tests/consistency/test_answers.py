"""Answers and keys as they are before they are clustered, and what is said of them."""

import numpy as np
import pytest

from pcorrect.consistency.answers import AnswerRows
from pcorrect.consistency.grouping import group_answers

RESPONSE = "Let us think about it for a while, step by step.\nThe answer is {}."


def rows(*found):
    """AnswerRows of one benchmark from (llm, prompt, answer, target)."""
    columns = [np.array(column, object) for column in zip(*found, strict=True)]
    llm, prompt, answer, target = columns
    none = np.full(len(llm), -1)
    return AnswerRows(np.full(len(llm), "b", object), llm, prompt, answer, none, target, group={})


def test_whether_answers_are_raw_is_decided_for_each_llm():
    data = rows(
        *[("long", f"q{i}", RESPONSE.format(i), str(i)) for i in range(3)],
        *[("short", f"q{i}", str(i), str(i)) for i in range(3) for _ in range(4)],
    )
    groups = group_answers(data)
    assert groups.row_text.tolist() == ["0", "1", "2"]
    assert groups.count.tolist() == [[1, 4]] * 3
    assert groups.notes == (
        "b: answers of long are whole responses; the answer in each was looked for "
        "(extract 'number')",
    )


@pytest.mark.parametrize("answer", [RESPONSE, "{}"])
def test_keys_that_are_whole_solutions(answer):
    solution = "He has {0} apples in 2 boxes: <<2*{0}={1}>>{1} in all, with 5 pears.\n#### 1,00{0}"
    keys = [solution.format(i, 2 * i) for i in range(3)]
    data = rows(*[("m", f"q{i}", answer.format(f"100{i}"), keys[i]) for i in range(3)])
    groups = group_answers(data)
    assert groups.row_key.tolist() == [True] * 3
    assert groups.count.tolist() == [[1]] * 3
    assert groups.notes[0] == ("b: the keys are whole solutions; the answer in each was looked for")
    assert data.target.tolist() == keys


def test_option_with_its_text_is_its_letter():
    said = ["B", "B. Paris", "B) Paris", "(B) Paris", "Answer: B: Paris", "B - Paris"]
    groups = group_answers(rows(*[("m", "q", text, "B") for text in said]))
    assert groups.count.tolist() == [[6]]
    assert "b: 5 answers hold the letter and the text of an option" in groups.notes[0]
    groups = group_answers(rows(*[("m", "q", text, "B. Paris") for text in said[:2]]))
    assert len(groups.count) == 2
    assert not groups.notes


def test_generations_without_a_score_are_added_up(tmp_path):
    path = tmp_path / "a.csv"
    blank = {"l": 8, "m": 16, "n": 0}
    lines = [
        f"{llm},q{i % 8},{i // 8},{i},{'' if i < blank[llm] else 1}"
        for llm in blank
        for i in range(32)
    ]
    path.write_text("model,id,run,answer,correct\n" + "\n".join(lines) + "\n")
    notes = [note for note in group_answers(path).notes if "no score" in note]
    assert notes == ["24 of 96 generations have no score: left out of P(correct)"]
    path.write_text("model,id,run,answer\n" + "\n".join(x.rpartition(",")[0] for x in lines))
    notes = [note for note in group_answers(path).notes if "no score" in note]
    assert notes == ["96 of 96 generations have no score: left out of P(correct)"]
