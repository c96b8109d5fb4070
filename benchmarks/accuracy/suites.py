"""Coverage of 95 % intervals of macro averages over many benchmarks, where the truth is known.

Run from the repository root (10 minutes on one core)::

    python benchmarks/accuracy/suites.py
    python benchmarks/accuracy/suites.py --replications 50

``sizes``: prompts of each benchmark. ``benchmarks``: all alike, or with means of their own (a Beta
of the same mean, a + b = 10). ``lent`` is what `pcorrect.suite` and `pcorrect.rank` do; ``each``
gives every benchmark an unknown prompt of its own. ``shift``: posterior mean minus estimate.
Writes ``results/suites.csv``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from tables import RESULTS, write_each
from tqdm import tqdm

from pcorrect.prompt_weights import Units, macro_draws, mean_draws

SIZES = {
    "57 x 4": [4] * 57,
    "57 x 10": [10] * 57,
    "57 x 50": [50] * 57,
    "20 x 5": [5] * 20,
    "10 x 3": [3] * 10,
    "3 x 30": [30] * 3,
    "10 x 5, 10 x 100": [5] * 10 + [100] * 10,
    "24 x 2": [2] * 24,
    "24 x 1": [1] * 24,
}
POPULATIONS = {"Beta(9, 1)": (9.0, 1.0), "Beta(1, 1.5)": (1.0, 1.5)}
K, DRAWS = 5, 1000
_BETWEEN = 10.0


def rows(replications: int) -> Iterator[dict[str, object]]:
    """One row per suite and population."""
    bar = tqdm(
        total=2 * len(SIZES) * len(POPULATIONS) * replications, disable=not sys.stderr.isatty()
    )
    for name, (a, b) in POPULATIONS.items():
        for text, sizes in SIZES.items():
            for alike in (True, False):
                rng = np.random.default_rng([len(sizes), sizes[0], int(alike)])
                found: dict[str, list[tuple[float, float, float]]] = {"lent": [], "each": []}
                for _ in range(replications):
                    parts, truth = simulated(sizes, a, b, alike, rng)
                    estimate = float(np.mean([units.mean()[0] for units in parts]))
                    for method, drawn in macros(parts, rng).items():
                        low, high = np.quantile(drawn, [0.025, 0.975])
                        hit = float(low <= truth <= high)
                        found[method].append((hit, float(drawn.mean()) - estimate, high - low))
                    bar.update()
                row: dict[str, object] = {
                    "sizes": text,
                    "population": name,
                    "benchmarks": "alike" if alike else "different",
                    "replications": replications,
                }
                for method, values in found.items():
                    means = np.mean(values, axis=0)
                    for what, value in zip(("coverage", "shift", "width"), means, strict=True):
                        row[f"{what} {method}"] = round(float(value), 4)
                yield row
    bar.close()


def simulated(
    sizes: list[int], a: float, b: float, alike: bool, rng: np.random.Generator
) -> tuple[list[Units], float]:
    """Counts of every benchmark, and the macro average of their means."""
    parts, means = [], []
    for n in sizes:
        mean = a / (a + b)
        if not alike:
            mean = rng.beta(mean * _BETWEEN, (1 - mean) * _BETWEEN)
        s = rng.binomial(K, rng.beta(mean * (a + b), (1 - mean) * (a + b), n))[None]
        parts.append(Units.from_counts(s, np.full_like(s, K)))
        means.append(mean)
    return parts, float(np.mean(means))


def macros(parts: list[Units], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of the macro average by both methods."""
    share = np.full(len(parts), 1 / len(parts))
    rngs = [rng] * len(parts)
    each = np.mean([mean_draws(units, DRAWS, rng)[:, 0] for units in parts], axis=0)
    return {"lent": macro_draws(parts, share, DRAWS, rngs)[:, 0], "each": each}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=400)
    args = parser.parse_args()
    write_each(RESULTS / "suites.csv", rows(args.replications))


if __name__ == "__main__":
    main()
