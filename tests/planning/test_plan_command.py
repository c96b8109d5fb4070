"""`pcorrect plan`: verdict first, the JSON contract, files written whole, mistakes explained."""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pcorrect.commands import plan
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL

CURVE = {
    "k",
    "se_mu",
    "se_mu_lower",
    "se_mu_upper",
    "se_score",
    "se_score_lower",
    "se_score_upper",
    "half_width_mu",
    "half_width_score",
}


def run(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    plan.add_arguments(parser)
    # the model whose engine is exact: fast, and right for these data
    given = [str(x) for x in arguments]
    args = parser.parse_args(given if "--model" in given else [*given, "--model=beta_bernoulli"])
    return int(args.run(args))


@pytest.fixture
def text(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> str:
        assert run(*arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return call


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Counts of three llms on 80 prompts, k = 8; `c` differs little from `b`."""
    rng = np.random.default_rng(1)
    p = rng.beta(0.8, 0.5, 80)
    rows = ["llm,benchmark,prompt,n_correct,n_generations"]
    for llm, shift in (("a", 0.0), ("b", 0.25), ("c", 0.27)):
        s = rng.binomial(8, np.clip(p - shift, 0, 1))
        rows += [f"{llm},quiz,q{i},{x},8" for i, x in enumerate(s)]
    path = tmp_path / "counts.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def counts_file(tmp_path: Path, s: list[int], k: int) -> Path:
    path = tmp_path / "few.csv"
    rows = [f"q{i},{x},{k}" for i, x in enumerate(s)]
    path.write_text("\n".join(["prompt,n_correct,n_generations", *rows]) + "\n")
    return path


def test_verdict_comes_first(text: Any, table: Path) -> None:
    first = text(table, "--llm", "a").splitlines()[0]
    assert re.fullmatch(
        r"k = \d+( \(\d+ to \d+\))? is within 10 % of what any k can give for new prompts; "
        r"you used 8",
        first,
    )
    both = text(table, "--llm", "a", "--llm", "b").splitlines()
    assert both[0].startswith("a on quiz: k = ")
    assert both[1].startswith("b on quiz: k = ")


def test_json_contract(text: Any, table: Path) -> None:
    found = json.loads(text(table, "--json"))
    assert [x["llm"] for x in found["results"]] == ["a", "b", "c"]
    for result in found["results"]:
        assert result["benchmark"] == "quiz"
        assert (result["n_prompts"], result["k_used"]) == (80, 8)
        minimal = result["minimal_k"]
        assert minimal["lower"] <= minimal["k"] <= minimal["upper"]
        assert result["floor"] > 0
        assert result["curve"][0].keys() >= CURVE
        at = next(row for row in result["curve"] if row["k"] == 8)
        assert at["observed_se_mu"] == pytest.approx(at["se_mu"], rel=0.1)
        assert result["floor"] < at["se_mu"]


def test_goals_and_budget(text: Any, table: Path) -> None:
    arguments = (table, "--llm", "a", "--target", "0.01", "--cost", "5,1", "--budget", "3000")
    out = text(*arguments)
    assert "no k reaches that: you need" in out
    assert "best for new prompts:" in out
    found = json.loads(text(*arguments, "--json"))["results"][0]
    mu, score = found["targets"]
    assert mu["k"] is None
    assert mu["more_prompts"]["n"] > 1000
    assert score["k"] > 8
    assert found["budget"]["cost"] <= 3000
    assert found["budget"]["closed_form_k"]["k"] > 1
    both = json.loads(text(table, "--llm", "a", "--target", "0.1", "--target", "0.05", "--json"))
    assert len(both["results"][0]["targets"]) == 4
    cheapest = text(table, "--llm", "a", "--target", "0.05", "--cost", "5,1")
    assert "best for new prompts:" in cheapest


def test_goals_about_single_prompts(text: Any, table: Path) -> None:
    out = text(table, "--llm", "a", "--each", "0.15", "--decide", "0.1")
    assert "90 % of the p_i known to ±0.15 (95 %): k = " in out
    assert "90 % of the p_i decided at 0.1 (95 %): " in out
    assert re.search(r"\(\d+ wrong in a row settle that p <= 0\.1\)", out)


def test_comparison(text: Any, table: Path) -> None:
    out = text(table, "--compare", "a", "b")
    assert out.startswith("a - b, 80 shared prompts: difference +0.")
    assert "right order with probability 0.95 on new prompts (mu)" in out
    assert "P(right order): mu" in out
    found = json.loads(text(table, "--compare", "b", "c", "--json"))
    assert [x["llm"] for x in found["results"]] == ["b", "c"]
    pair = found["comparison"]
    assert pair["n_shared"] == 80
    assert 0.2 < pair["p_better"] <= 1
    assert pair["curve"][0]["right_order_mu"] <= pair["right_order_floor_mu"]


def test_next_prompts_are_written_whole(text: Any, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "next.csv"
    printed = text(table, "--llm", "a", "--spend", 100, "-o", out)
    assert f"written: {out}" in printed
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert sum(int(row["generations"]) for row in rows) == 100
    again = tmp_path / "next.json"
    text(table, "--compare", "a", "b", "--spend", 50, "-o", again)
    assert {row["llm"] for row in json.loads(again.read_text())} == {"a", "b"}
    assert sorted(x.name for x in tmp_path.iterdir()) == ["counts.csv", "next.csv", "next.json"]
    undecided = json.loads(
        text(table, "--llm", "a", "--spend", 100, "--strategy", "undecided", "--json")
    )
    assert undecided["next"]["undecided_after"] < undecided["next"]["undecided_uniform"]


def test_many_llms_get_a_row_each(text: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    path = tmp_path / "many.csv"
    rows = ["llm,prompt,n_correct,n_generations"]
    for j in range(6):
        rows += [f"m{j},q{i},{x},4" for i, x in enumerate(rng.binomial(4, rng.beta(1, 1, 30)))]
    path.write_text("\n".join(rows) + "\n")
    lines = text(path).splitlines()
    assert all(lines[j].startswith(f"m{j} on ") for j in range(6))
    assert "k within 10 %" in lines[7]
    assert "\x1b" not in "".join(lines)
    assert len(lines) < 50


@pytest.mark.parametrize(
    ("s", "k", "sentence"),
    [
        ([1, 0] * 20, 1, "k = 1 everywhere, so the data do not tell whether more generations"),
        ([5] * 20, 5, "all generations are correct: no k would show much more"),
        ([0] * 20, 5, "all generations are wrong: no k would show much more"),
        ([3], 5, "there is one prompt only: no k tells anything about new prompts"),
    ],
)
def test_no_finding_where_the_data_do_not_tell(
    text: Any, tmp_path: Path, s: list[int], k: int, sentence: str
) -> None:
    path = counts_file(tmp_path, s, k)
    options = (path, "--target", "0.05", "--budget", "100", "--cost", "1,1")
    out = text(*options)
    assert out.startswith(sentence)
    assert "nan" not in out
    assert "inf" not in out
    found = json.loads(text(*options, "--json"))["results"][0]
    assert found["minimal_k"]["k"] is None
    assert found["not_identified"]
    assert "not in the data" in found["budget"]["problem"]


def test_single_generations_give_no_number_of_them(text: Any, tmp_path: Path) -> None:
    found = json.loads(text(counts_file(tmp_path, [1, 0] * 20, 1), "--json"))["results"][0]
    assert found["floor"] is None
    assert all(row["se_score"] is None for row in found["curve"])
    assert [row["se_mu"] is None for row in found["curve"]] == [False] + [True] * 6


def test_equally_hard_prompts(text: Any, tmp_path: Path) -> None:
    """No floor in sight: the interval of k has no upper end, and the text says so."""
    out = text(counts_file(tmp_path, [6, 7, 5, 6, 7, 5] * 8, 12))
    assert re.match(
        r"k = [\d,]+ \([\d,]+ to ([\d,]+|no limit)\) is within .* almost equally hard"
        "|the prompts look equally",
        out,
    )


def test_model_that_the_data_contradict(text: Any, tmp_path: Path) -> None:
    """Solved or half solved: no Beta has that mean and variance at once."""
    path = counts_file(tmp_path, [50] * 70 + [0] * 40 + [25] * 90, 50)
    out = text(path, "--model", "beta_bernoulli")
    assert "warning: the model puts the error for new prompts at" in out
    warnings = json.loads(text(path, "--json"))["results"][0]["warnings"]
    assert "go by the columns" in warnings[-1]


def test_unequal_k_is_no_case_against_the_model(text: Any, tmp_path: Path) -> None:
    """The error that was reached is that of the k_i, not that of the largest k."""
    rng = np.random.default_rng(5)
    k = np.repeat([1, 2, 16], 60)
    s = rng.binomial(k, rng.beta(2, 2, 180))
    path = tmp_path / "unequal.csv"
    rows = [f"q{i},{x},{m}" for i, (x, m) in enumerate(zip(s, k, strict=True))]
    path.write_text("\n".join(["prompt,n_correct,n_generations", *rows]) + "\n")
    assert "warning: the model puts" not in text(path)


def test_runs_that_differ_are_named(text: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    p = np.where(np.arange(4) == 0, 0.1, 0.7)
    rows = [f"q{i},{j},{int(x)}" for i in range(100) for j, x in enumerate(rng.random(4) < p)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["prompt,generation,correct", *rows]) + "\n")
    assert "warning: The runs differ" in text(path)


def test_few_prompts_are_no_case_against_the_model(text: Any, tmp_path: Path) -> None:
    path = counts_file(tmp_path, [5, 5, 0, 4, 1], 5)
    assert "warning: the model" not in text(path)


def test_before_any_data(text: Any) -> None:
    out = text("--assume", "0.7,0.3,200", "--difference", "0.05", "--budget", "4000")
    assert out.startswith("k = 7 is within 10 % of what any k can give for new prompts\n")
    assert "detectable difference" in out
    found = json.loads(text("--assume", "0.7,0.3,200", "--difference", "0.05", "--json"))
    power = found["results"][0]["power"]
    assert {row["n"] for row in power} == {200, 400, 800}
    assert all(0 < row["power_mu"] < row["power_score"] <= 1 for row in power)
    assert all(math.isfinite(row["detectable_mu"]) for row in power)


def test_power_from_results(text: Any, table: Path) -> None:
    found = json.loads(text(table, "--llm", "a", "--difference", "0.05", "--json"))["results"][0]
    assert {row["n"] for row in found["power"]} == {80, 160, 320}
    assert "mu: power" in text(table, "--llm", "a", "--difference", "0.05")


def test_llm_without_a_score_is_left_out_and_named(text: Any, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = [f"a,q{i},{j},{(i + j) % 2}" for i in range(8) for j in range(3)]
    rows += [f"b,q{i},0," for i in range(8)]
    path.write_text("\n".join(["llm,prompt,generation,correct", *rows]) + "\n")
    out = text(path)
    assert "left out, no scored generation: b on " in out
    assert json.loads(text(path, "--json"))["left_out"][0].startswith("b on ")


def test_same_seed_same_output(text: Any, table: Path) -> None:
    assert text(table, "--json") == text(table, "--json")


def test_llm_that_is_asked_for_twice(text: Any, table: Path) -> None:
    assert "a - b" in text(table, "--llm", "a", "--compare", "a", "b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give results files"),
        (("--assume", "0.7,0.3,200", "FILE"), "without data"),
        (("--assume", "0.7,0.6,200"), "sigma"),
        (("--assume", "0.7,0.3,9.5"), "whole"),
        (("--assume", "0.7,0.3,9", "--spend", "5"), "--spend needs results"),
        (("FILE", "--difference", "2"), "--difference 2"),
        (("FILE", "--spend", "10"), "choose one by --llm"),
        (("FILE", "-o", "x.csv"), "--spend"),
        (("FILE", "--spend", "9", "-o", "x.txt"), "must end in"),
        (("FILE", "--strategy", "separate"), "--compare"),
        (("FILE", "--strategy", "uniform"), "--spend"),
        (("FILE", "--compare", "a", "z"), "z"),
        (("FILE", "--cost", "1,1"), "--budget"),
        (("FILE", "--cost", "one", "--budget", "9"), "two numbers"),
        (("FILE", "--cost", "1,tokens", "--budget", "9"), "no usage"),
        (("FILE", "--within", "0"), "--within 0: must be a positive"),
        (("FILE", "--target", "inf"), "--target inf"),
        (("FILE", "--target", "0.1", "--target", "0.05", "--cost", "1,1"), "one --target"),
        (("FILE", "--budget", "nan"), "--budget nan"),
        (("FILE", "--budget", "inf", "--cost", "5,1"), "--budget inf"),
        (("FILE", "--budget", "9", "--cost", "5,-1"), "--cost 5,-1: a prompt costs"),
        (("FILE", "--budget", "9", "--cost", "inf,1"), "--cost inf,1"),
        (("FILE", "--budget", "9", "--max-prompts", "1"), "max_prompts"),
        (("FILE", "--compare", "a", "a"), "twice"),
    ],
)
def test_mistakes_are_explained(table: Path, options: tuple[str, ...], message: str) -> None:
    arguments = [table if x == "FILE" else x for x in options]
    with pytest.raises((PcorrectError, ChoiceError), match=message):
        run(*arguments)


@pytest.mark.parametrize(
    "option", [("--k", "0"), ("--assume", "1,2"), ("--assume", "0.5,0.1,nan"), ("--prob", "2")]
)
def test_malformed_options(table: Path, option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit):
        run(table, *option)


def test_tokens_from_a_log(text: Any, shared: Path) -> None:
    folder = shared / "data" / "logs" / "generated" / "inspect" / "json"
    (path,) = folder.glob("*eoGcpnJidSZh9AWoRgFhJs.json")
    out = text(path, "--scorer", "match", "--budget", "100000", "--cost", "300,tokens")
    assert "best for new prompts" in out


@pytest.mark.parametrize(
    ("llm", "low", "high"),
    [("qwen-max-2025-01-25", 3, 5), ("grok-3-beta", 8, 10), ("gpt-5.5-pre-release_xhigh", 1, 2)],
)
def test_verdicts_on_real_runs(text: Any, shared: Path, llm: str, low: int, high: int) -> None:
    """W / (.21 B) of the moment estimates is 3.6, 8.4 and 1.1."""
    path = shared / "data" / "epoch_gpqa_diamond.csv.gz"
    found = json.loads(text(path, "--llm", llm, "--json", "--model", DEFAULT_MODEL))["results"][0]
    assert low <= found["minimal_k"]["k"] <= high
    assert found["k_used"] == 8


def test_an_llm_that_is_all_right_does_not_stop_the_power_of_others(
    text: Any, tmp_path: Path
) -> None:
    path = tmp_path / "mix.csv"
    rows = [f"a,q{i},{i % 9},8\nb,q{i},8,8\n" for i in range(30)]
    path.write_text("llm,prompt,n_correct,n_generations\n" + "".join(rows))
    out = text(path, "--difference", "0.05")
    assert "power: not in the data (all generations are correct)" in out
    assert "mu: power" in out
    found = json.loads(text(path, "--difference", "0.05", "--json"))["results"]
    assert [bool(one["power"]) for one in found] == [True, False]


def test_max_prompts_alone_is_refused(table: Path) -> None:
    with pytest.raises(PcorrectError, match="--max-prompts needs"):
        run(table, "--target", "0.05", "--max-prompts", "10")
