"""Size and power of the check of the Beta shape, on populations whose shape is known.

Run from the repository root (10 minutes on one core)::

    python benchmarks/accuracy/adequacy.py
    python benchmarks/accuracy/adequacy.py --replications 50 --seed 2

Writes ``results/adequacy.csv`` and prints it. ``shift_se`` is the mean error of the Beta's mu
beside the mean over prompts, in standard errors of the latter: what a miss costs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from tables import RESULTS, write_table
from tqdm import tqdm

from pcorrect import PromptCounts
from pcorrect.adequacy.beta_shape import assess_beta

SIZES = ((30, 5), (30, 50), (200, 3), (200, 8), (200, 50), (1000, 50))
POPULATIONS = {
    "Beta(.8, .4)": lambda n, rng: rng.beta(0.8, 0.4, n),
    "Beta(2, 3)": lambda n, rng: rng.beta(2, 3, n),
    "85 % at 1, 10 % at .3, 5 % at 0": lambda n, rng: rng.choice(
        [1, 0.3, 0], n, p=[0.85, 0.1, 0.05]
    ),
    "30 % at 1, 30 % at .5, 40 % at .02": lambda n, rng: rng.choice(
        [1, 0.5, 0.02], n, p=[0.3, 0.3, 0.4]
    ),
    "60 % at 1, 40 % Beta(2, 6)": lambda n, rng: np.where(
        rng.random(n) < 0.6, 1.0, rng.beta(2, 6, n)
    ),
    "Beta(40, 1), Beta(1, 30), Beta(2, 2)": lambda n, rng: np.choose(
        rng.integers(0, 3, n), [rng.beta(40, 1, n), rng.beta(1, 30, n), rng.beta(2, 2, n)]
    ),
}


def row(name: str, n: int, k: int, times: int, seed: int) -> dict[str, object]:
    rng = np.random.default_rng([seed, n, k])
    found = [
        assess_beta(
            PromptCounts.from_arrays(rng.binomial(k, POPULATIONS[name](n, rng)), k),
            seed=int(rng.integers(2**31)),
            replicates=499,
        )
        for _ in range(times)
    ]
    shift = [f.shift_se or 0.0 for f in found]

    def share(of: str, limit: float) -> float:
        # no p-value: all generations alike, nothing to reject
        values = [getattr(f, of) for f in found]
        return float(np.mean([v is not None and v < limit for v in values]))

    return {
        "population": name,
        "n": n,
        "k": k,
        "histogram_05": share("p_histogram", 0.05),
        "shift_05": share("p_shift", 0.05),
        "doubtful_or_rejected": share("p_value", 0.05),
        "rejected": share("p_value", 0.01),
        "shift_se": round(float(np.mean(shift)), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200, help="per row (200)")
    parser.add_argument("--seed", type=int, default=1, help="all randomness comes from it (1)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the table")
    args = parser.parse_args()
    cases = [(name, n, k) for name in POPULATIONS for n, k in SIZES]
    rows = [
        row(*case, args.replications, args.seed)
        for case in tqdm(cases, unit="row", disable=not sys.stderr.isatty())
    ]
    write_table(args.out / "adequacy.csv", rows)
    print("| " + " | ".join(rows[0]) + " |\n|" + "---|" * len(rows[0]))
    for values in rows:
        print("| " + " | ".join(str(v) for v in values.values()) + " |")


if __name__ == "__main__":
    main()
