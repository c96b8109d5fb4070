"""`pcorrect report` as a user runs it."""

import argparse
import gzip

import pytest

from pcorrect.commands import report
from pcorrect.errors import DataError, PcorrectError
from tests.support.results import frame, results


def run(*arguments):
    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    args = parser.parse_args([*map(str, arguments), "--model", "beta_bernoulli"])
    return args.run(args)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "results.csv"
    frame(results(1, 12)).to_csv(path, index=False)
    return path


def test_writes_the_page_and_says_so(table, tmp_path, capsys):
    out = tmp_path / "out.html"
    assert run(table, "-o", out, "--title", "My <title>") == 0
    assert "<title>My &lt;title&gt;</title>" in out.read_text("utf-8")
    assert (
        capsys.readouterr().out
        == f"{out}: {out.stat().st_size / 1e6:.1f} MB, opens in any browser\n"
    )


def test_texts_of_prompts(table, tmp_path):
    texts = tmp_path / "texts.csv.gz"
    texts.write_bytes(gzip.compress(b'prompt_id,question\nq03,"What is\n3 + 4?"\n'))
    out = tmp_path / "out.html"
    run(table, "-o", out, "--texts", texts)
    assert "What is\\n3 + 4?" in out.read_text("utf-8")


def test_ci_and_reading_options(table, tmp_path):
    out = tmp_path / "out.html"
    run(table, "-o", out, "--ci-prob", "0.8", "--ci-kind", "hdi", "--llm", "llm-0")
    assert "80 % highest-density interval" in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("a,b\n1,2\n", "needs a column of prompt ids"),
        (b"\xff\xfe\x00", "not a table in UTF-8"),
        (None, "No such file"),
    ],
)
def test_texts_that_are_none(table, tmp_path, texts, message):
    path = tmp_path / "texts.csv"
    if texts is not None:
        path.write_bytes(texts if isinstance(texts, bytes) else texts.encode())
    with pytest.raises(DataError, match=message):
        run(table, "--texts", path)


def test_a_directory_is_no_output(table, tmp_path):
    with pytest.raises(PcorrectError, match="is a directory"):
        run(table, "-o", tmp_path)


def test_long_texts_pass(table, tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text\nq00," + "z" * 300_000 + "\n")
    run(table, "-o", tmp_path / "out.html", "--texts", path)


def test_a_report_needs_nothing_heavy(table, tmp_path):
    import subprocess
    import sys

    out = str(tmp_path / "out.html")
    code = (
        "import sys; from pcorrect.report import write_report;"
        f"write_report({str(table)!r}, {out!r}, model='beta_bernoulli');"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"matplotlib", "arviz", "arviz_plots", "xarray", "pandas", "pymc", "jinja2"}
    assert not set(run.stdout.split()) & heavy
