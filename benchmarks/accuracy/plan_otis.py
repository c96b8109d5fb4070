"""Hold predictions from the first generations of real runs against the whole runs.

Every run of OTIS Mock AIME with 16 generations is cut to its first 4, and the standard errors, the
minimal k and the mean that all 16 will show are predicted; likewise 2 of 8 generations, and 4 of 8
on GPQA Diamond. Reported: the share of runs whose value lies in its 90 % prediction interval (and
the 95 % range that binomial noise leaves a calibrated method), and the median width of the interval
relative to the value.

    python benchmarks/accuracy/plan_otis.py [--model dp_beta]
"""

from __future__ import annotations

import argparse

import numpy as np
from plan_common import balanced, outcomes, write
from scipy.stats import binom
from tqdm import tqdm

from pcorrect.data import PromptCounts
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning import extend
from pcorrect.planning.variances import quantiles

TASKS = [
    ("epoch_otis_mock_aime", 4, 16),
    ("epoch_otis_mock_aime", 2, 8),
    ("epoch_gpqa_diamond", 4, 8),
]
LEVEL = 0.9


def near_floor(within: np.ndarray, sigma2: np.ndarray) -> np.ndarray:
    """Minimal k within 10 % of the floor, from moment estimates, before it is rounded up.

    Rounding would only make the intervals hold more. inf where no spread is seen.
    """
    some = sigma2 > 0
    return np.where(some, within / 0.21 / np.where(some, sigma2, 1.0), np.inf)


def one_run(prompts: list[list[int]], first: int, last: int, model: str) -> dict[str, list[float]]:
    """Prediction interval (lower, upper) and the value seen, by quantity."""
    start = PromptCounts.from_arrays([sum(x[:first]) for x in prompts], first)
    whole_run = moments(PromptCounts.from_arrays([sum(x) for x in prompts], last))
    found = extend(run_fit(start, model=model), np.array([last]))
    draws = {name: getattr(found, name)[:, 0] for name in ("mean", "se_mu", "se_score")}
    draws["minimal_k"] = near_floor(found.within, found.sigma2)[:, 0]
    seen = {name: getattr(whole_run, name) for name in ("se_mu", "se_score")}
    seen["mean"] = whole_run.mu
    seen["minimal_k"] = near_floor(np.array(whole_run.within), np.array(whole_run.sigma2)).item()
    out = {}
    for name, value in draws.items():
        low, _, high = quantiles(value, LEVEL)
        out[name] = [float(low), float(high), float(seen[name])]
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", help="default: the package's and the Beta")
    models = parser.parse_args().model or list(dict.fromkeys([DEFAULT_MODEL, "beta_bernoulli"]))
    summary, details = [], []
    for data, first, last in TASKS:
        runs = balanced(outcomes(data), last)
        for model in models:
            table = []
            label = f"{data} {first} -> {last}, {model}"
            for (_, llm), prompts in tqdm(runs.items(), desc=label, disable=None, leave=False):
                table.append(one_run(prompts, first, last, model))
                for name, (low, high, seen) in table[-1].items():
                    details.append(
                        {
                            "data": data,
                            "first": first,
                            "last": last,
                            "model": model,
                            "llm": llm,
                            "quantity": name,
                            "lower": low,
                            "upper": high,
                            "seen": seen,
                        }
                    )
            for name in table[0]:
                low, high, seen = np.array([row[name] for row in table]).T
                inside = (low - 1e-12 <= seen) & (seen <= high + 1e-12)
                usable = np.isfinite(high) & (seen > 0) & np.isfinite(seen)
                width = np.median((high - low)[usable] / seen[usable])
                noise = binom.ppf([0.025, 0.975], len(table), LEVEL) / len(table)
                summary.append(
                    {
                        "data": data,
                        "first": first,
                        "last": last,
                        "model": model,
                        "quantity": name,
                        "runs": len(table),
                        "share_inside": float(inside.mean()),
                        "expected": f"{noise[0]:.2f}-{noise[1]:.2f}",
                        "relative_width": float(width),
                    }
                )
    write("plan_otis", summary)
    write("plan_otis_runs", [row for row in details if row["last"] == 16])


if __name__ == "__main__":
    main()
