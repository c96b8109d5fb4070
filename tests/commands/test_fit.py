"""The command as a user meets it: output, JSON contract, errors, files."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import pcorrect
from pcorrect.cli import main

TABLE = "llm,prompt,n_correct,n_generations\na,q1,3,8\na,q2,8,8\na,q3,0,8\na,q4,5,8\n"
BETA = ["--model", "beta_bernoulli"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(TABLE)
    return str(path)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pcorrect", *arguments], capture_output=True, text=True, check=False
    )


def numbers(capsys, *arguments: str) -> dict:
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)["results"][0]


def test_json_contract(table, capsys):
    found = numbers(capsys, "fit", table, "--json", "--per-prompt", *BETA)
    wanted = {"llm", "benchmark", "n_prompts", "k_min", "k_max", "model", "engine", "ci_prob"}
    assert wanted | {"ci_kind", "moments", "posterior", "rows", "warnings"} <= set(found)
    assert set(found["moments"]) == {
        "mu",
        "se_mu",
        "score",
        "se_score",
        "sigma2",
        "sigma",
        "within",
        "between",
    }
    assert {"mu", "score", "sigma", "rho"} <= set(found["posterior"])
    assert set(found["posterior"]["mu"]) == {"mean", "sd", "lower", "upper"}
    assert found["rows"]["read"] == found["rows"]["used"] == 32
    assert found["rows"]["left_out"] == {}
    prompt = found["prompts"][0]
    assert (prompt["prompt"], prompt["n_correct"], prompt["n_generations"]) == ("q1", 3, 8)
    assert set(prompt["p"]) == {"mean", "sd", "lower", "upper"}


def test_checks_are_printed_and_in_the_json(tmp_path, capsys):
    path = tmp_path / "failed.csv"
    rows = [f"m,{i},{j},{int(j != 2)}" for i in range(40) for j in range(5)]
    path.write_text("llm,prompt,generation,correct\n" + "\n".join(rows) + "\n")
    found = numbers(capsys, "fit", str(path), "--json", "--sensitivity", *BETA)
    assert found["runs"]["status"] == "differ"
    assert found["stopping"]["status"] == "equal k"
    assert found["runs"]["verdict"] in found["warnings"]
    assert {"mu", "sigma"} <= set(found["sensitivity"]["prior"])
    assert main(["fit", str(path), "--sensitivity", *BETA]) == 0
    text = capsys.readouterr().out
    assert "warning: The runs differ" in text
    assert "priors: The priors" in " ".join(text.split())


def test_json_has_null_where_nothing_is_defined(tmp_path, capsys):
    path = tmp_path / "once.csv"
    path.write_text("prompt,correct\n" + "".join(f"q{i},{i % 2}\n" for i in range(10)))
    found = numbers(capsys, "fit", str(path), "--json", *BETA)
    assert found["moments"]["sigma"] is None
    assert found["moments"]["se_score"] is None
    assert found["posterior"]["sigma"] is None
    assert any("not identified" in text for text in found["warnings"])
    assert found["llm"] == "once"


def test_same_seed_same_json(table, capsys):
    texts = []
    for seed in ("1", "1", "2"):
        assert main(["fit", table, "--json", "--per-prompt", "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["results"][0]["seed"] == 1


def test_block_names_both_questions(table, capsys):
    assert main(["fit", table, *BETA]) == 0
    out = capsys.readouterr().out
    for text in (
        "new prompts like these",
        "exactly these prompts",
        "95 % interval (eti)",
        "moments",
        "generations: 32 read, 32 used",
        "quadrature error",
    ):
        assert text in out


def test_many_results_become_a_table(tmp_path, capsys):
    path = tmp_path / "many.csv"
    rows = [f"llm{i},q{j},{(i + j) % 9},8\n" for i in range(5) for j in range(6)]
    path.write_text("llm,prompt,n_correct,n_generations\n" + "".join(rows))
    assert main(["fit", str(path), *BETA]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == [f"llm{i}" for i in range(5)]


def test_piped_output_is_clean(table):
    done = run("fit", table, "--per-prompt")
    assert done.returncode == 0
    assert "\r" not in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) < 50


def test_saved_result_and_its_summary(table, tmp_path, capsys):
    out = tmp_path / "out.nc"
    assert main(["fit", table, "-o", str(out), *BETA]) == 0
    assert str(out) in capsys.readouterr().out
    direct = numbers(capsys, "fit", table, "--json", "--per-prompt", *BETA)
    saved = numbers(capsys, "summary", str(out), "--json", "--per-prompt")
    assert saved == direct
    assert main(["summary", str(tmp_path / "none.nc")]) == 2
    assert "no file" in capsys.readouterr().err


def test_one_result_per_output_file(tmp_path, capsys):
    path = tmp_path / "two.csv"
    path.write_text(TABLE + "b,q1,1,8\n")
    assert main(["fit", str(path), "-o", str(tmp_path / "x.nc")]) == 2
    assert "--llm" in capsys.readouterr().err


def test_an_llm_without_a_score_is_left_out(tmp_path, capsys):
    path = tmp_path / "blank.csv"
    path.write_text(TABLE + "b,q1,,8\n")
    assert main(["fit", str(path), *BETA]) == 0
    text = capsys.readouterr().out
    assert "a on benchmark: 4 prompts" in text
    assert "left out, no scored generation: b on benchmark" in text
    assert main(["fit", str(path), *BETA, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["llm"] for one in found["results"]] == ["a"]
    assert found["left_out"] == ["b on benchmark"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["--model", "nothing"], "no model"),
        (["--engine", "fast"], "no engine"),
        (["--llm", "zz"], "zz"),
        (["--column", "prompt"], "OURS=THEIRS"),
        (["--prior-mu", "0,1"], "prior of mu"),
        (["--prior-mu", "inf,1"], "prior of mu"),
        (["--prior-mu", "1e20,1"], "prior of mu: needs two numbers from 0.1"),
        (["--prior-mu", "1,nan"], "prior of mu"),
        (["--prior-spread", "1e20,1"], "to 1,000,000 (above, the data have no say)"),
        (["--prior-spread", "0.01,1"], "prior of spread: needs two numbers from 0.1"),
        (["--seed", "-1"], "seed"),
        (["--draws", "3"], "draws must be at least 4"),
    ],
)
def test_mistakes_are_one_message(table, capsys, arguments, match):
    assert main(["fit", table, *arguments]) == 2
    error = capsys.readouterr().err
    assert match in error
    assert "Traceback" not in error


@pytest.mark.parametrize("arguments", [["--ci-prob", "95"], ["--draws", "0"], ["--ci-kind", "x"]])
def test_bad_options_leave_by_argparse(table, arguments):
    done = run("fit", table, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_missing_file_and_version():
    done = run("fit", "absent.csv")
    assert (done.returncode, "absent.csv" in done.stderr, "Traceback" in done.stderr) == (
        2,
        True,
        False,
    )
    assert run("--version").stdout.strip() == f"pcorrect {pcorrect.__version__}"
    assert run().returncode == 2


def test_a_closed_pipe_is_no_error(table):
    command = f"{sys.executable} -m pcorrect fit {table} --per-prompt --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "{\n"
    assert done.stderr == ""


def test_terminal_that_knows_ascii_only(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("prompt,n_correct,n_generations\nfrage-ü,3,8\nb,8,8\n", encoding="utf-8")
    env = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "pcorrect", "fit", str(path), "--per-prompt"],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\\xfc" in done.stdout


def test_simulate_round_trip(tmp_path, capsys):
    out = tmp_path / "made.csv"
    command = ["simulate", "-n", "50", "-k", "4", "--mu", "0.7", "--sigma", "0.2", "--truth"]
    assert main([*command, "-o", str(out), "--seed", "3"]) == 0
    assert "truth: mu 0.7" in capsys.readouterr().out
    found = numbers(capsys, "fit", str(out), "--json", *BETA)
    assert (found["n_prompts"], found["k_min"]) == (50, 4)
    assert found["posterior"]["mu"]["lower"] < 0.7 < found["posterior"]["mu"]["upper"]
    truth = np.loadtxt(out, delimiter=",", skiprows=1, usecols=5)
    assert len(np.unique(truth)) == 50
    assert main(["simulate", "--mu", "0.5", "--sigma", "0.6"]) == 2
    assert "sqrt(mu (1 - mu))" in capsys.readouterr().err


def test_spawned_script_without_main_guard(table, tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import multiprocessing as mp\nmp.set_start_method('spawn', force=True)\n"
        f"import pcorrect\npcorrect.fit({table!r}, draws=50)\nprint('RESULT')\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.count("RESULT") == 1
