"""Filters, metrics and scorers as columns of a table: one is read, no choice is ignored."""

import pytest

from pcorrect import ChoiceError
from pcorrect.readers import counts
from tests.readers.test_odd_tables import notes
from tests.readers.test_tables import prompts, table

FORMS = {
    "long": ("exact_match", "0", "1"),
    "wide": ("gen_1,gen_2", "1,0", "1,1"),
    "counts": ("n_correct,n_generations", "1,2", "2,2"),
    "packed": ("scores", "1;0", "1;1"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["filter", "Filter", "filter_name"])
def test_every_form_keeps_one_filter(write, form, name):
    columns, strict, flex = FORMS[form]
    path = write("t.csv", f"doc_id,{name},{columns}\n0,strict,{strict}\n0,flex,{flex}\n")
    with pytest.raises(ChoiceError, match=r"several filters; .*'strict', 'flex'"):
        counts(path)
    only = write("u.csv", f"doc_id,{columns}\n0,{flex}\n")
    assert prompts(counts(path, filter="flex")) == prompts(counts(only))


@pytest.mark.parametrize("name", ["scorer", "scorer_name", "judge", "grader_model"])
def test_two_judges_are_no_two_generations(write, name):
    path = write("j.csv", f"id,{name},score\na,em,1\na,gpt,0\n")
    with pytest.raises(ChoiceError, match=r"several scorers; .*: 'em', 'gpt'") as error:
        counts(path)
    assert prompts(counts(path, scorer="gpt")) == {"a": (0, 1)}
    assert ("--column scorer=" in str(error.value)) == (name != "scorer")
    assert prompts(counts(path, columns={"scorer": None})) == {"a": (1, 2)}
    assert prompts(counts(path, columns={"scorer": ""})) == {"a": (1, 2)}


@pytest.mark.parametrize("form", FORMS)
def test_a_choice_that_is_absent_is_refused(write, form):
    columns, _, flex = FORMS[form]
    path = write("t.csv", f"doc_id,filter,{columns}\n0,flex,{flex}\n")
    with pytest.raises(ChoiceError, match=r"no filter 'strict'; .*'flex'"):
        counts(path, filter="strict")
    found = counts(path, filter="flex", scorer="zzz")
    assert "names no scorer: scorer 'zzz' chooses nothing" in notes(found)


def test_the_column_may_have_any_name(write):
    path = write("t.csv", "id,how,correct\na,x,1\na,y,0\n")
    found = counts(path, columns={"filter": "how"}, filter="y")
    assert prompts(found) == {"a": (0, 1)}


def test_a_choice_concerns_each_benchmark_that_has_several(write):
    rows = "t,q,strict,0\nt,q,flex,1\nu,q,none,1\n"
    path = write("t.csv", f"task,id,filter,correct\n{rows}")
    found = counts(path, filter="strict")
    assert table(found) == {("t", "t", "q"): (0, 1), ("u", "t", "q"): (1, 1)}
    assert "filter 'none' is the only one of benchmark 'u'" in notes(found)
    more = write("t.csv", f"task,id,filter,correct\n{rows}u,q,some,1\n")
    with pytest.raises(ChoiceError, match=r"benchmark 'u': no filter 'strict'; .*'none', 'some'"):
        counts(more, filter="strict")


def test_rows_without_a_filter_are_counted(write):
    rows = [{"id": "q", "filter": f, "correct": 1} for f in ("a", "b", None)]
    found = counts(write("t.jsonl", rows), filter="a")
    assert prompts(found) == {"q": (1, 1)}
    assert "1 line(s) without a filter: not read" in notes(found)
    found = counts(write("t.jsonl", [row for row in rows if row["filter"] != "b"]))
    assert prompts(found) == {"q": (2, 2)}
    assert "1 line(s) without a filter: read with 'a'" in notes(found)


def test_texts_of_a_judge_are_no_names(write, monkeypatch):
    monkeypatch.setattr("pcorrect.readers.choice.MOST_NAMES", 3)
    path = write("t.csv", "id,judge,correct\n" + "".join(f"q,text {i},1\n" for i in range(4)))
    found = counts(path)
    assert prompts(found) == {"q": (4, 4)}
    assert "holds texts, not names of scorers" in notes(found)
