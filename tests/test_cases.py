"""The shared cases and real results, through the command, against their reference values.

The references are posterior values from an 801 x 801 grid under the default prior, given to four
digits; tolerances are twice their rounding unless a case says otherwise.
"""

import csv
import gzip
import json
from collections import defaultdict

import numpy as np
import pytest

from pcorrect.cli import main

BETA = ("--model", "beta_bernoulli")


@pytest.fixture
def fits(shared, capsys):
    """Run `pcorrect fit --json` on a shared file; the list of results."""

    def run(path: str, *arguments: str) -> list[dict]:
        code = main(["fit", str(shared / path), "--json", *arguments])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return json.loads(captured.out)["results"]

    return run


def close(value: dict, *, mean=None, sd=None, lower=None, upper=None, tolerance=1.5e-4):
    for name, expected in (("mean", mean), ("sd", sd), ("lower", lower), ("upper", upper)):
        if expected is not None:
            assert value[name] == pytest.approx(expected, abs=tolerance), name


def test_case_08_saturated(fits):
    (right,) = fits("cases/08/allcorrect_30x8.csv", *BETA)
    close(right["posterior"]["mu"], mean=0.9853, lower=0.9332, tolerance=5e-4)
    (wrong,) = fits("cases/08/allzero_30x8.csv", *BETA)
    close(wrong["posterior"]["mu"], mean=0.0147, upper=0.0668, tolerance=5e-4)
    (small,) = fits("cases/08/allzero_5x8.csv", *BETA)
    close(small["posterior"]["mu"], mean=0.0756, upper=0.3165, tolerance=5e-4)


@pytest.mark.parametrize("name", ["allcorrect_30x8", "allzero_30x8", "allzero_5x8"])
def test_case_08_by_default(fits, name):
    (found,) = fits(f"cases/08/{name}.csv")
    mu = found["posterior"]["mu"]
    if name == "allcorrect_30x8":
        assert 0.88 < mu["lower"] < 0.95
    else:
        assert mu["upper"] > (0.2 if "5x8" in name else 0.05)
    assert any("no answer" in text for text in found["warnings"])


def test_case_21(fits):
    (found,) = fits("cases/21/counts.csv", *BETA)
    close(
        found["posterior"]["mu"], mean=0.5992, sd=0.0938, lower=0.4076, upper=0.7722, tolerance=4e-4
    )
    close(found["posterior"]["sigma"], mean=0.3260, sd=0.0436, lower=0.2376, upper=0.4066)
    assert found["moments"]["sigma"] == pytest.approx(0.3559, abs=1e-4)


def test_case_24_one_prompt(fits):
    for arguments in ((), BETA):
        (found,) = fits("cases/24/counts.csv", "--per-prompt", *arguments)
        assert found["moments"]["se_mu"] is None
        # .1987 by default (160,000 draws), .206 with the Beta; 4 Monte Carlo standard errors
        assert 0.187 <= found["posterior"]["mu"]["sd"] <= 0.213
        assert found["posterior"]["sigma"] is None
        assert found["prompts"][0]["p"]["sd"] < found["posterior"]["mu"]["sd"]
        assert any("not identified" in text for text in found["warnings"])


def test_case_25_one_generation_each(fits):
    for name, mean, sd in (("k1_100", 0.598, 0.0483), ("k1_200", 0.599, 0.0344)):
        (found,) = fits(f"cases/25/{name}.csv", *BETA)
        close(found["posterior"]["mu"], mean=mean, sd=sd, tolerance=6e-4)
        assert found["posterior"]["sigma"] is None
        assert found["posterior"]["rho"] is None
        assert any("k = 1" in text for text in found["warnings"])


def test_case_26_unequal(fits):
    (found,) = fits("cases/26/counts.csv", "--per-prompt", *BETA)
    close(found["posterior"]["mu"], mean=0.6338, sd=0.141, lower=0.339, upper=0.877, tolerance=1e-3)
    empty = [p for p in found["prompts"] if p["n_generations"] == 0]
    assert [p["p"]["mean"] for p in empty] == [pytest.approx(0.6338, abs=2e-4)]
    assert found["moments"]["mu"] == pytest.approx(0.6667, abs=1e-4)
    assert found["moments"]["sigma2"] == pytest.approx(0.1884, abs=1e-4)
    assert any("no scored generation" in text for text in found["warnings"])


def test_case_31_near_binomial(fits):
    (found,) = fits("cases/31/near_binomial.csv", *BETA)
    close(
        found["posterior"]["mu"], mean=0.5, sd=0.00562, lower=0.48899, upper=0.51101, tolerance=5e-5
    )
    close(found["posterior"]["sigma"], mean=0.00628, tolerance=5e-5)


def test_case_32_thousands_of_prompts(fits):
    (found,) = fits("cases/32/counts_5000x8.csv", *BETA)
    close(found["posterior"]["mu"], mean=0.6012, sd=0.0047)
    close(found["posterior"]["sigma"], mean=0.3090)
    assert found["moments"]["mu"] == pytest.approx(0.5988, abs=1e-4)
    assert found["moments"]["sigma"] == pytest.approx(0.3102, abs=1e-4)


def test_grok_3_beta(fits):
    (found,) = fits("data/epoch_gpqa_diamond.csv.gz", "--llm", "grok-3-beta", *BETA)
    assert found["moments"]["mu"] == pytest.approx(0.5941, abs=5e-5)
    assert found["moments"]["se_mu"] == pytest.approx(0.0232, abs=5e-5)
    close(found["posterior"]["mu"], mean=0.5690, sd=0.0225, tolerance=3e-4)
    assert found["posterior"]["rho"]["mean"] == pytest.approx(0.333, abs=0.003)


@pytest.mark.parametrize("name", ["epoch_gpqa_diamond", "epoch_otis_mock_aime"])
def test_every_run_gives_the_logged_accuracy(fits, shared, name):
    found = fits(f"data/{name}.csv.gz", *BETA)
    tallies: dict = defaultdict(lambda: defaultdict(list))
    with gzip.open(shared / f"data/{name}.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["correct"] != "":
                tallies[row["model"]][row["prompt_id"]].append(int(row["correct"]))
    assert (
        len(found) == len(tallies) == {"epoch_gpqa_diamond": 61, "epoch_otis_mock_aime": 98}[name]
    )
    for result in found:
        by_prompt = tallies[result["llm"]]
        expected = np.mean([np.mean(values) for values in by_prompt.values()])
        assert result["moments"]["mu"] == pytest.approx(expected, abs=1e-12)


FAULTS = [
    "01/samples_gsm8k_2025-01-01T00-00-00.000000.jsonl",
    "09/values.jsonl",
    "12/log_three_scorers.json",
    "13/reduced_max.json",
    "15/resumed.csv",
    "28/bad.csv",
    "41/mixed.csv",
]


@pytest.mark.parametrize("path", FAULTS)
def test_faults_are_one_clear_message(shared, capsys, path):
    assert main(["fit", str(shared / "cases" / path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("pcorrect: ")
    assert "Traceback" not in captured.err
    assert path.split("/")[1] in captured.err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [
        "08/allcorrect_30x8",
        "21/counts",
        "24/counts",
        "25/k1_100",
        "26/counts",
        "31/near_binomial",
        "32/counts_5000x8",
    ],
)
def test_nuts_agrees_on_the_cases(shared, path):
    from pcorrect.api import select
    from pcorrect.convergence import ess_bulk
    from pcorrect.fitting import run_fit

    counts = select(shared / "cases" / f"{path}.csv")
    exact = run_fit(counts, model="beta_bernoulli")
    sampled = run_fit(counts, model="beta_bernoulli", engine="nuts", draws=2000, seed=4)
    for name in ("mu", "sigma"):
        draws = sampled.draws[name]
        error = draws.std() / np.sqrt(ess_bulk(draws))
        assert abs(draws.mean() - exact.marginals[name].mean) < 4 * error
