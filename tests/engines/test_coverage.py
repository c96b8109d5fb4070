"""A small version of benchmarks/accuracy/coverage.py: do 95 % intervals of the default hold?"""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.accuracy.coverage_methods import default
from pcorrect import PromptCounts
from pcorrect.fitting import run_fit

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy" / "coverage.py"


def run(out: Path, *options: str) -> list[dict[str, str]]:
    """Rows that the script writes, populations of real runs left out."""
    command = [sys.executable, str(SCRIPT), "--out", str(out), "--data", str(out.parent / "none")]
    subprocess.run([*command, *options], check=True, capture_output=True, text=True)
    with out.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_default_covers_where_the_beta_does_not(tmp_path):
    """300 data sets: a coverage of .95 leaves .95 -+ .038 once in 400 times."""
    out, once = tmp_path / "coverage.csv", ("--replications", "100")
    run(out, *once, "--only", "60% 1", "--n", "200", "--k", "16")
    run(out, *once, "--only", "Beta(2,3)", "--n", "20", "--k", "4")
    rows = run(out, *once, "--only", "85% 1", "--n", "50", "--k", "4")
    assert len({(row["population"], row["n"], row["k"]) for row in rows}) == 3

    def coverage(method: str, estimand: str, **cell: str) -> list[float]:
        wanted = {"method": method, "estimand": estimand} | cell
        return [float(r["coverage"]) for r in rows if wanted.items() <= r.items()]

    for estimand in ("mu", "score", "p"):
        found = coverage("dp_beta", estimand)
        assert len(found) == 3
        assert np.mean(found) == pytest.approx(0.95, abs=0.038)
    # what the test would say of a wrong interval: with 1000 data sets .2 and .0
    assert coverage("beta", "mu", n="200")[0] < 0.5
    assert coverage("pooled", "mu", n="200")[0] < 0.7


def test_more_replications_are_added_to_those_that_are_there(tmp_path):
    out = tmp_path / "coverage.csv"
    options = ("--only", "Beta(2,3)", "--n", "20", "--k", "1")
    once = run(out, *options, "--replications", "100")
    twice = run(out, *options, "--replications", "200")
    assert {row["replications"] for row in once} == {"100"}
    assert {row["replications"] for row in twice if row["method"] == "dp_beta"} == {"200"}
    again = run(out, *options, "--replications", "200")
    assert again == twice


def test_many_data_sets_at_once_are_fitted_as_one():
    """The script's batches are the same sampler as `fit`'s, with fewer draws."""
    rng = np.random.default_rng(3)
    p = np.where(rng.random((6, 50)) < 0.6, 1.0, rng.beta(2, 6, (6, 50)))
    s = rng.binomial(8, p)
    found = default(np.stack([np.bincount(x, minlength=9) for x in s]), 8, rng)
    for i, x in enumerate(s):
        fit = run_fit(PromptCounts.from_arrays(x, np.full(50, 8)), seed=i)
        for estimand, interval in (("mu", found.mu[i]), ("score", found.score[i])):
            draws = fit.draws[estimand]
            # an end of 800 draws with half of them effective: Monte Carlo error .13 sd
            ends = np.quantile(draws, [0.025, 0.975])
            np.testing.assert_allclose(interval, ends, atol=0.5 * draws.std())
