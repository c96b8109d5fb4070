"""Every block of the README runs, shows what is printed, and links to files that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line[line.index("pcorrect ") :].removeprefix("pcorrect ").split("#")[0].split()
    for language, block in BLOCKS
    if language in ("", "bash", "sh", "console")
    for line in block.replace("\\\n", " ").splitlines()
    if re.match(r"(\$ |pip install .*&& )?(uv run )?pcorrect ", line)
]
PYTHON = [block for language, block in BLOCKS if language == "python"]


@pytest.fixture
def folder(tmp_path):
    """A place that looks like a checkout, with the results and the program that it speaks of."""
    for name in ("examples", "models"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    outcomes = [
        f"{llm},q{i},{','.join(str(int(j < (i + shift) % 5)) for j in range(4))}"
        for shift, llm in enumerate("AB")
        for i in range(20)
    ]
    table = "\n".join(["llm,prompt,gen_1,gen_2,gen_3,gen_4", *outcomes])
    (tmp_path / "results.csv").write_text(table)
    answers = [f"A,q{i},{j},{i + (j < i % 3)},{i}" for i in range(20) for j in range(4)]
    head = "llm,prompt,generation,answer,target,correct"
    (tmp_path / "answers.csv").write_text(
        "\n".join(
            [head, *(f"{row},{int(row.split(',')[3] == row.split(',')[4])}" for row in answers)]
        )
    )
    shutil.copy(ROOT / "models/beta_binomial.py", tmp_path / "my_model.py")
    return tmp_path


def run(arguments, folder):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_something_to_run():
    assert COMMANDS
    assert PYTHON


@pytest.mark.parametrize("command", COMMANDS[1:], ids=" ".join)  # the first: below
def test_commands(command, folder):
    printed = run(["-m", "pcorrect", *command], folder)
    assert "Traceback" not in printed


@pytest.mark.parametrize("block", PYTHON)
def test_python(block, folder):
    run(["-W", "ignore", "-c", f"import matplotlib\nmatplotlib.use('Agg')\n{block}"], folder)


def test_shows_what_the_first_command_prints(folder):
    shown = next(b for _, b in BLOCKS if b.startswith("smollm2")).split("\n(the same")[0]
    printed = run(["-m", "pcorrect", *COMMANDS[0]], folder)

    def words(text):
        """Words without their digits, which differ in the last place between machines."""
        return re.sub(r"\d+", "0", " ".join(text.split()))

    for line in shown.strip().splitlines():
        assert words(line) in words(printed), line


def test_links():
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", README):
        if not target.startswith("http"):
            assert (ROOT / target).exists(), target
