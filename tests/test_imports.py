"""Start-up stays light, and imports point one way only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pcorrect

HEAVY = ("pymc", "pytensor", "nutpie", "arviz", "xarray", "pandas", "matplotlib", "numba")
SOURCE = Path(pcorrect.__file__).parent

# Layers from the data to the user: a module may import from its own layer or from earlier ones.
LAYERS = [
    ["errors", "plain"],
    ["data", "priors", "duck", "files"],
    ["parts", "observations", "generations", "copies", "counting"],
    ["readers"],
    ["cells", "marginal", "convergence", "moment_estimates", "simulation", "prompt_weights"],
    ["populations"],
    ["engines"],
    ["prompts", "result"],
    ["adapters", "fitting"],
    ["adequacy"],
    ["posterior", "storage", "summaries"],
    ["planning"],
    ["api"],
    ["comparison", "consistency"],
    ["plots"],
    ["report"],
    ["commands", "cli", "__main__"],
]


def modules_after(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has loaded after running `code`."""
    report = f"{code}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(run.stdout.split()[-5000:])


def test_import_is_light():
    loaded = modules_after("import pcorrect")
    assert not loaded & {*HEAVY, "numpy", "scipy", "duckdb"}


@pytest.mark.parametrize("name", ["fit", "moments", "summary"])
def test_public_names_are_there(name):
    assert callable(getattr(pcorrect, name))


def test_every_public_name_resolves():
    for name in pcorrect.__all__:
        assert getattr(pcorrect, name) is not None
        assert name in dir(pcorrect)
    with pytest.raises(AttributeError):
        _ = pcorrect.nothing


def test_no_public_name_is_hidden_by_a_module():
    files = {path.stem for path in SOURCE.iterdir()}
    assert not files & set(pcorrect.__all__)


def test_plain_fit_loads_nothing_heavy(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("prompt,n_correct,n_generations\nq1,3,8\nq2,8,8\nq3,0,8\n")
    command = ["fit", str(table), "--model", "beta_bernoulli"]
    loaded = modules_after(f"from pcorrect.cli import main\nassert main({command}) == 0")
    assert not loaded & set(HEAVY)


def test_imports_point_left():
    rank = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    wrong = []
    for file in SOURCE.rglob("*.py"):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        if parts == ("__init__",) or parts[0] == "models":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pcorrect."):
                target = (node.module or "").split(".")[1]
                if rank[target] > rank[parts[0]]:
                    wrong.append(f"{'/'.join(parts)} imports {target}")
    assert not wrong
