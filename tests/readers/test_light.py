"""Reading is light: what is not needed is not imported, and nothing reaches for the network."""

import subprocess
import sys

import pytest

HEAVY = {
    "pandas",
    "xarray",
    "arviz",
    "pymc",
    "scipy",
    "matplotlib",
    "polars",
    "pyarrow",
    "narwhals",
}


def loaded_after(code: str) -> set[str]:
    code += "\nimport sys\nprint(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.eval"])
def test_files_need_duckdb_and_numpy_only(write, name, zip_zstd, tmp_path):
    if name.endswith("eval"):
        header = b'{"eval": {"model": "m", "task": "t"}, "status": "success"}'
        rows = b'[{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]'
        path = zip_zstd(tmp_path / name, {"header.json": header, "summaries.json": rows})
    else:
        text = '{"id": "q", "correct": 1}' if name.endswith("jsonl") else "id,correct\nq,1\n"
        path = write(name, text)
    code = (
        f"from pcorrect.readers import counts\nassert counts({str(path)!r})[0].n_correct[0, 0] == 1"
    )
    assert not loaded_after(code) & HEAVY


def test_a_pandas_frame_needs_no_other_library():
    code = (
        "import sys\nsys.modules['pyarrow'] = None\nsys.modules['polars'] = None\n"
        "import pandas as pd\nfrom pcorrect.readers import counts\n"
        "c = counts(pd.DataFrame({'id': ['a', 'b'], 'correct': [1, 0]}))\n"
        "assert c[0].n_correct.tolist() == [[1, 0]]\ndel sys.modules['pyarrow']"
    )
    loaded_after(code)


def test_a_polars_frame_needs_no_pyarrow():
    code = (
        "import sys\nsys.modules['pyarrow'] = None\n"
        "import polars as pl\nfrom pcorrect.readers import counts\n"
        "c = counts(pl.DataFrame({'id': ['a', 'b'], 'correct': [1, 0]}))\n"
        "assert c[0].n_correct.tolist() == [[1, 0]]\n"
        "c = counts(pl.LazyFrame({'id': ['a', 'b'], 'correct': [1, 0]}))\n"
        "assert c[0].n_correct.tolist() == [[1, 0]]\ndel sys.modules['pyarrow']"
    )
    loaded_after(code)


def test_the_engine_stays_offline_and_out_of_the_current_folder():
    from pcorrect import duck

    con = duck.connect()
    settings = dict(
        con.execute(
            "SELECT name, value FROM duckdb_settings() WHERE name IN "
            "('autoinstall_known_extensions', 'temp_directory')"
        ).fetchall()
    )
    assert settings["autoinstall_known_extensions"] == "false"
    assert settings["temp_directory"].startswith("/")
