"""What every subcommand reads: files, pipes and column maps, as the command line gives them."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from pcorrect.cli import main

FIT = ["--model", "beta_bernoulli", "--draws", "20", "--json"]
WIDE = "id,first,second,third\na,1,0,1\nb,0,0,1\n"


@pytest.fixture
def table(tmp_path):
    def make(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return make


@pytest.mark.parametrize(
    "pairs",
    [
        ["generations=first", "generations=second", "generations=third"],
        ["generations=first,second,third"],
        ["generations=first, second", 'generations="third"'],
    ],
)
def test_one_column_per_generation(table, capsys, pairs):
    columns = [word for pair in pairs for word in ("--column", pair)]
    assert main(["fit", table(WIDE), *columns, *FIT]) == 0
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert (found["k_min"], found["k_max"], found["rows"]["used"]) == (3, 3, 6)


def test_a_name_with_a_comma_is_quoted(table, capsys):
    path = table('id,"a,b",c\nx,1,1\ny,0,1\n')
    assert main(["fit", path, "--column", 'generations="a,b",c', *FIT]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["k_max"] == 2


def test_the_advice_for_several_series_works(table, capsys):
    path = table("id,gen_1,gen_2,run_1,run_2\na,1,0,1,1\nb,0,0,1,1\n")
    assert main(["fit", path, *FIT]) == 2
    advice = capsys.readouterr().err.partition("column map: ")[2].split()[0]
    assert advice == "generations=gen_1,gen_2"
    assert main(["fit", path, "--column", advice, *FIT]) == 0


@pytest.mark.parametrize("command", ["fit", "map", "report"])
@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["prompt=id", "prompt=first"], "prompt is 'id' already"),
        (["prompt"], "write OURS=THEIRS"),
    ],
)
def test_a_column_is_mapped_once(table, capsys, command, pairs, message):
    columns = [word for pair in pairs for word in ("--column", pair)]
    assert main([command, table(WIDE), *columns]) == 2
    assert message in capsys.readouterr().err


def test_standard_input(tmp_path):
    text = "prompt,correct\na,1\nb,0\n"
    for name in ("-", "/dev/stdin"):
        run = subprocess.run(
            [sys.executable, "-m", "pcorrect", "fit", name, *FIT],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        (found,) = json.loads(run.stdout)["results"]
        assert (found["llm"], found["n_prompts"]) == ("stdin", 2)


def test_a_folder_is_not_replaced_by_a_result(table, tmp_path, capsys, monkeypatch):
    (tmp_path / "out.zarr").mkdir()
    (tmp_path / "out.zarr/keep.txt").write_text("x")
    # said before the work, not after it
    monkeypatch.setattr("pcorrect.commands.fit.run_fit", None)
    arguments = ["fit", table("prompt,correct\na,1\nb,0\n"), "-o", str(tmp_path / "out.zarr")]
    assert main([*arguments, *FIT]) == 2
    assert "not a zarr store" in capsys.readouterr().err
    assert (tmp_path / "out.zarr/keep.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("where", "code", "message"),
    [("> /dev/full", 2, "cannot write the output: No space left"), (">&-", 0, ""), ("2>&-", 0, "")],
)
def test_output_that_goes_nowhere(table, where, code, message):
    if where == "> /dev/full" and not os.path.exists("/dev/full"):
        pytest.skip("no device that is always full")
    command = [sys.executable, "-m", "pcorrect", "fit", table("prompt,correct\na,1\nb,0\n"), *FIT]
    run = subprocess.run(
        f"{shlex.join(command)} {where}", shell=True, capture_output=True, text=True, check=False
    )
    assert run.returncode == code
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert "Exception" not in run.stderr


def test_few_draws_give_numbers(table, recwarn, capsys):
    path = table("prompt,n_correct,n_generations\na,1,4\nb,3,4\nc,4,4\n")
    for model in ("beta_bernoulli", "dp_beta"):
        assert main(["fit", path, "--model", model, "--draws", "4", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["results"][0]["diagnostics"]
        assert found.get("r_hat", 1) is not None
    assert not [warning for warning in recwarn if warning.category is RuntimeWarning]
