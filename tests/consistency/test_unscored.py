"""Tables of answers without scores are read as any other table is."""

import json

import numpy as np
import pytest

from pcorrect.cli import main
from pcorrect.consistency.grouping import group_answers
from pcorrect.consistency.unscored import read_answers
from pcorrect.errors import ChoiceError, DataError
from pcorrect.readers import answers, csv_file, json_file, read

ROWS = [
    {"model": llm, "id": f"q{i}", "answer": str(i if j else 7), "target": str(i)}
    for llm in ("m", "n")
    for i in range(4)
    for j in range(3)
]
TABLE = "model,id,answer,target\n" + "".join(",".join(row.values()) + "\n" for row in ROWS)


def said(found):
    return sorted(zip(found.llm, found.prompt, found.answer, found.target, strict=True))


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TABLE),
        ("a.csv", TABLE.replace(",", "|")),
        ("a.csv", TABLE.encode("utf-16")),
        ("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("a.json", json.dumps(ROWS)),
        ("a.parquet", ""),
        ("logs/a.csv", TABLE),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_every_form_of_a_table(write, name, content, large, monkeypatch):
    path = write(name, content)
    if name.endswith("parquet"):
        pytest.importorskip("polars").DataFrame(ROWS).write_parquet(path)
    if large:
        monkeypatch.setattr(csv_file, "KEPT", 0)
        monkeypatch.setattr(json_file, "LARGE", 0)
    found = answers(read_answers(path.parent if name.startswith("logs") else path))
    assert said(found) == sorted(tuple(row.values()) for row in ROWS)
    assert set(found.correct) == {-1}


def test_names_are_chosen_as_from_other_tables(write):
    path = write("a.csv", TABLE)
    assert set(answers(read_answers(path, llm="m")).llm) == {"m"}
    for choice in ({"llm": "zzz"}, {"benchmark": ["x", "y"]}, {"llm": ["m", "zzz"]}):
        with pytest.raises(ChoiceError, match="no generation of"):
            group_answers(read_answers(path, **choice))


def test_scores_of_other_files_are_kept(write):
    plain = write("plain.csv", "id,answer\nq0,1\nq0,2\n")
    scored = write("scored.csv", "id,answer,correct\nq0,1,1\nq0,2,0\n")
    groups = group_answers([plain, scored])
    assert groups.llm.tolist() == ["plain", "scored"]
    assert groups.n_scored.tolist() == [[0, 2]]
    assert groups.n_correct.tolist() == [[0, 1]]
    note = next(note for note in groups.notes if "no column of scores" in note)
    assert note.startswith(f"{plain}: ")


def test_ids_of_two_kinds_are_refused_in_every_file(write):
    first = write("a.jsonl", '{"id": "x", "answer": "1"}\n' * 2)
    clash = write("b.jsonl", '{"id": 1, "answer": "1"}\n{"id": "1", "answer": "1"}\n')
    with pytest.raises(DataError, match="the text '1'"):
        group_answers([first, clash])


def test_generations_are_told_apart(write):
    path = write("a.csv", "id,gen,answer\nq,1,x\nq,1,x\nq,2,y\n")
    assert answers(read_answers(path)).answer.tolist() == ["x", "y"]
    path = write("b.csv", "id,gen,answer\nq,1,x\nq,1,y\n")
    with pytest.raises(DataError, match=r"b\.csv: prompt 'q', generation 1 has different answers"):
        read_answers(path)


def test_columns_that_look_like_counts(write):
    path = write("a.csv", "id,answer,n,k\nq,x,1,2\nq,y,1,2\n")
    assert np.all(answers(read_answers(path)).correct == -1)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("id,note\nq,x\n", {}, "no column for 'correct'"),
        ("id,answer\nq,x\n", {"errors": "wrong"}, "no column of scores, so errors='wrong'"),
        ("id,answer\n", {}, "there are no rows"),
    ],
)
def test_what_is_refused(write, content, options, message):
    with pytest.raises(DataError, match=message):
        read_answers(write("a.csv", content), **options)


def test_scores_are_needed_elsewhere(write):
    with pytest.raises(DataError, match="no column for 'correct'"):
        read(write("a.csv", TABLE))


def test_the_command_says_so(write, capsys):
    path = str(write("a.csv", TABLE))
    assert main(["map", path]) == 0
    assert "no column of scores: P(correct) is not available" in capsys.readouterr().out
    assert main(["map", path, "--llm", "zzz"]) == 2
    assert "no generation of llm 'zzz'; llms: ['m', 'n']" in capsys.readouterr().err
    assert main(["map", path, "--llm", "m", "--column", "answer=target", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["llm"] for row in found["map"]} == {"m"}
