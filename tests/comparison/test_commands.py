"""The subcommands compare and rank, from files to text and JSON."""

import argparse
import csv
import json

import numpy as np
import pytest

from pcorrect.commands import compare, rank
from pcorrect.errors import ChoiceError, DataError, PcorrectError

KEYS = {
    "a",
    "b",
    "n_shared",
    "only_a",
    "only_b",
    "paired",
    "mu",
    "score",
    "p_better",
    "p_equivalent",
    "correlation",
}


def call(module, *words):
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    args = parser.parse_args([str(word) for word in words])
    return args.run(args)


@pytest.fixture
def table(tmp_path):
    """Three llms on two benchmarks with groups."""
    rng = np.random.default_rng(0)
    path = tmp_path / "results.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["llm", "benchmark", "group", "prompt", "n_correct", "n_generations"])
        for benchmark, n in (("maths", 40), ("code", 25)):
            difficulty = rng.normal(0, 1.5, n)
            for llm, skill in (("x", 0.9), ("y", 0.5), ("z", -2.0)):
                for i in range(n):
                    p = 1 / (1 + np.exp(-difficulty[i] - skill))
                    row = [llm, benchmark, f"g{i // 5}", f"q{i}", rng.binomial(6, p), 6]
                    writer.writerow(row)
    return path


FAST = ("--model", "beta_bernoulli")


def test_compare_json(table, capsys):
    words = (table, "--llm", "x", "--llm", "y", "--benchmark", "maths", *FAST)
    assert call(compare, *words, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result) >= KEYS
    assert set(result["mu"]) == set(result["score"]) == {"mean", "sd", "lower", "upper"}
    assert result["n_shared"] == 40
    assert result["paired"] is True
    assert 0 <= result["p_equivalent"] <= 1
    call(compare, *words, "--json")
    assert json.loads(capsys.readouterr().out) == result


def test_compare_text(table, capsys, tmp_path):
    out = tmp_path / "prompts.csv"
    call(
        compare,
        table,
        "--llm",
        "x",
        "--llm",
        "z",
        "--benchmark",
        "maths",
        *FAST,
        "--per-prompt",
        "5",
        "--csv",
        out,
    )
    text = capsys.readouterr().out
    assert "verdict on mu: x is better" in text
    assert "40 shared prompts" in text
    assert "clear differences" in text
    assert "\r" not in text
    assert len(out.read_text().splitlines()) == 41


def test_compare_suite(table, capsys):
    call(compare, table, "--llm", "x", "--llm", "y", *FAST, "--json")
    result = json.loads(capsys.readouterr().out)
    assert [row["benchmark"] for row in result["results"]] == ["maths", "code"]
    assert {"macro", "micro"} <= set(result["suite"])
    call(compare, table, "--llm", "x", "--llm", "y", *FAST, "--by-group")
    assert "macro" in capsys.readouterr().out


def test_compare_refusals(table, tmp_path):
    with pytest.raises(ChoiceError, match="name the two"):
        call(compare, table)
    with pytest.raises(PcorrectError, match="pcorrect rank"):
        call(compare, table, "--llm", "x", "--llm", "y", "--llm", "z")
    with pytest.raises(PcorrectError, match="name both"):
        call(compare, table, "--llm", "x")
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("prompt,n_correct,n_generations\na,1,4\nb,2,4\n")
    two.write_text("prompt,n_correct,n_generations\nc,1,4\nd,2,4\n")
    with pytest.raises(DataError, match="--unpaired"):
        call(compare, one, two, *FAST)
    assert call(compare, one, two, "--unpaired", "--json", *FAST) == 0


def test_compare_rope(table, capsys):
    words = (table, "--llm", "x", "--llm", "y", "--benchmark", "maths", *FAST, "--json")
    found = []
    for rope in ("0", "0.05", "-0.05,0.2", "1"):
        call(compare, *words, f"--rope={rope}")
        found.append(json.loads(capsys.readouterr().out)["p_equivalent"])
    assert found[0] == 0
    assert found[0] < found[1] < found[2] < found[3] == 1


def test_rank(table, capsys):
    call(rank, table, "--benchmark", "maths", "--json")
    result = json.loads(capsys.readouterr().out)
    assert [row["llm"] for row in result["llms"]][2] == "z"
    assert sum(row["p_best"] for row in result["llms"]) == pytest.approx(1)
    call(rank, table, "--top", "2", "--weight", "maths=2", "--weight", "code=1")
    text = capsys.readouterr().out
    assert "3 llms on maths, code" in text
    assert "told apart" in text
    assert "… 1 more" in text


def test_benchmarks_that_cannot_be_compared_are_named(tmp_path, capsys):
    path = tmp_path / "multi.csv"
    rows = [
        f"{llm},{task},q{i},{(i + len(llm)) % 5},4\n"
        for llm, tasks in (("a", "xyz"), ("b", "xy"))
        for task in tasks
        for i in range(6)
    ]
    path.write_text("llm,benchmark,prompt,n_correct,n_generations\n" + "".join(rows))
    call(compare, path, "--unpaired", *FAST)
    assert "left out: z: " in capsys.readouterr().out
    call(compare, path, "--unpaired", *FAST, "--json")
    found = json.loads(capsys.readouterr().out)
    assert len(found["results"]) == 2
    assert found["left_out"][0].startswith("z: ")
