"""`pcorrect map`: what it prints and writes."""

import csv
import json

import pytest

from pcorrect.cli import main

HEAD = "llm,prompt,generation,answer,target,correct\n"


@pytest.fixture
def table(tmp_path):
    rows = []
    for i in range(30):
        for llm in ("a", "b", "c"):
            answer = "7" if i == 3 else str(i)
            rows.append(f"{llm},q{i},1,{answer},{i},{int(answer == str(i))}")
    path = tmp_path / "results.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n")
    return path


def test_tables(table, capsys):
    assert main(["map", str(table), "--map", "--top", "3"]) == 0
    out = capsys.readouterr().out
    assert "30 prompts of 1 benchmark, 3 llms, 90 answers" in out
    first = next(line for line in out.splitlines() if line.strip().startswith("1 "))
    assert "q3" in first
    assert "3/3" in first
    assert "\x1b" not in out
    assert "removed: without" in out
    assert "-0.000" not in out


def test_grades_without_answers_say_nothing_of_the_keys(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    rows = [f"a,q{i},{j},,{i},{int(i > 3)}" for i in range(8) for j in (1, 2)]
    path.write_text(HEAD + "\n".join(rows) + "\n")
    assert main(["map", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["prompts"]
    assert [prompt["p_mislabelled"] for prompt in found] == [None] * 8
    assert {prompt["prompt"] for prompt in found[:4]} == {"q0", "q1", "q2", "q3"}
    assert main(["map", str(path)]) == 0
    assert "no generation has an answer" in capsys.readouterr().out


def test_json(table, tmp_path, capsys):
    assert main(["map", str(table), "--json", "--csv", str(tmp_path / "out.csv")]) == 0
    found = json.loads(capsys.readouterr().out)
    first = found["prompts"][0]
    assert first["prompt"] == "q3"
    assert first["rank"] == 1
    assert (first["rival"], first["support"], first["p_correct"]) == ("7", 3, 0.0)
    assert first["consistency"] == 0.0
    assert 0 < first["p_mislabelled"] < 1
    p = [prompt["p_mislabelled"] for prompt in found["prompts"]]
    assert p == sorted(p, reverse=True)
    assert len(found["map"]) == 90
    assert all(row["consistency"] is None for row in found["map"])
    assert {row["llm"] for row in found["effect"]["llms"]} == {"a", "b", "c"}
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30
    assert rows[0]["supporters"] == "a;b;c"


def test_output_file_and_rule_of_the_paper(table, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["map", str(table), "--rule", "paper", "-o", str(out), "-q"]) == 0
    assert "suspects: 1 with p_correct <= 0.1" in capsys.readouterr().out
    found = json.loads(out.read_text())
    assert found["rule"] == "paper"
    assert [prompt["flagged"] for prompt in found["prompts"]] == [True] + [False] * 29


def test_half_a_surrogate_pair(shared, tmp_path, capsys):
    path = str(shared / "cases/44/responses.jsonl")
    out = tmp_path / "out"
    assert main(["map", path, "--map", "--csv", f"{out}.csv", "-o", f"{out}.json"]) == 0
    capsys.readouterr().out.encode("utf-8", errors="strict")
    for suffix in (".csv", ".json"):
        (tmp_path / f"out{suffix}").read_bytes().decode("utf-8", errors="strict")
    rows = {p["prompt"]: p for p in json.loads((tmp_path / "out.json").read_text())["prompts"]}
    assert rows["a"]["n_answers"] == 2
    assert rows["a"]["key"] != rows["a"]["rival"]


def test_words_for_missing_are_answers(shared, capsys):
    assert main(["map", str(shared / "cases/42/answers.csv"), "--json"]) == 0
    rows = {row["prompt"]: row for row in json.loads(capsys.readouterr().out)["map"]}
    assert {name: row["clusters"] for name, row in rows.items()} == {"NA": 2, "nan": 3, "x": 0}
    assert rows["NA"]["dominant"] == "None"
    assert rows["x"]["no_answer"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--equivalence", "math"], "pcorrect[math]"),
        (["--column", "answer=nothing"], "no column 'nothing'"),
    ],
)
def test_mistakes(table, capsys, arguments, message):
    import importlib.util

    if "math" in arguments and importlib.util.find_spec("math_verify"):
        pytest.skip("math-verify is installed")
    assert main(["map", str(table), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("46/answers.jsonl", {"q1": -0.3768, "q2": 0.0, "q3": -1.0986, "q5": -0.6931}),
        (
            "48/answers.jsonl",
            {
                **{"mc": -0.5623, "case": 0.0, "empty": None, "tie": -0.6931},
                **{"all5": -1.6094, "same": 0.0},
            },
        ),
        ("49/counts.jsonl", {"q": -0.8305}),
    ],
)
def test_answers_without_scores(shared, capsys, case, expected):
    assert main(["map", str(shared / "cases" / case), "--json"]) == 0
    out = capsys.readouterr().out
    assert ": -0.0," not in out
    found = {row["prompt"]: row for row in json.loads(out)["prompts"]}
    for name, s in expected.items():
        assert found[name]["consistency"] == (s if s is None else pytest.approx(s, abs=5e-5))
        assert found[name]["p_correct"] is None
        assert found[name]["p_mislabelled"] is None


def test_answers_without_scores_but_with_keys(tmp_path, capsys):
    path = tmp_path / "a.csv"
    rows = [f"m,q{i},{answer},{i}" for i in range(20) for answer in (i, i, i if i else 9)]
    path.write_text("model;id;response;target\n".replace(";", ",") + "\n".join(rows) + "\n")
    assert main(["map", str(path), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["prompts"][0]
    assert first["p_mislabelled"] is not None
    path.write_text("model,id,note\nm,q,x\n")
    assert main(["map", str(path)]) == 2
    assert "correct" in capsys.readouterr().err
