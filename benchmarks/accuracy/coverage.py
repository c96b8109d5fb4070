"""Coverage and width of 95 % intervals of mu and score, where the truth is known.

Run from the repository root::

    python benchmarks/accuracy/coverage.py --cells small             # a few minutes
    python benchmarks/accuracy/coverage.py --cells full --replications 1000 --processes 2
    python benchmarks/accuracy/coverage.py --n 50 --k 4 --only "60% 1"

Populations: the made and real ones of `coverage_truths.py`. Methods: `coverage_methods.py`; those
that need a table of counts get the same data. Replications come in blocks of 100 with seeds of
their own; ``results/coverage.csv`` is written after each block, and a later call with a larger
``--replications`` adds the blocks that are missing.

A replication draws p_i of n prompts from the population and s_i ~ Binomial(k, p_i). ``coverage`` of
mu: share of intervals that hold the population's mean; of score: that hold mean(p_i) of the drawn
prompts (not at k = 1); of p: mean over prompts of holding p_i. ``low`` and ``high``: share of
intervals that miss, the truth lying below or above. ``width``: mean, in mean widths of the t
interval for mu; ``alpha``: posterior median, over data sets the median. With R replications a
coverage of .95 has standard error sqrt(.0475 / R).
"""

from __future__ import annotations

import argparse
import functools
import zlib
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from coverage_methods import METHODS
from coverage_truths import MADE, Truth, real
from tables import RESULTS, Rows, read_table, write_table
from tqdm import tqdm

SIZES = {
    "small": ((50, 200), (4, 16)),
    "full": ((20, 50, 200, 1000), (1, 4, 16, 64)),
}
# A point mass and an interval that ends there agree to rounding.
_SLACK = 1e-9
_BLOCK = 100
# The exact fit of the Beta is slow beside the closed forms, and its failures are seen in one block.
_ONCE = ("beta",)


@functools.cache
def truths(folder: Path) -> dict[str, Truth]:
    return MADE | (real(folder) if folder.is_dir() else {})


def run_block(task: tuple[str, int, int, int, int, Path]) -> Rows:
    """All methods on the same data sets."""
    name, n, k, block, seed, folder = task
    truth = truths(folder)[name]
    # Python's own hash differs from run to run.
    rng = np.random.default_rng([seed, block, zlib.crc32(name.encode()), n, k])
    p = np.stack([truth.draw(rng, n) for _ in range(_BLOCK)])
    s = rng.binomial(k, p)
    counts = np.stack([np.bincount(x, minlength=k + 1) for x in s])
    results = {
        method: fit(counts, k, rng)
        for method, fit in METHODS.items()
        if block == 0 or method not in _ONCE
    }
    unit = float(np.mean(np.diff(results["t"].mu)))
    rows = []
    for method, found in results.items():
        judged = {"mu": (found.mu, np.full(_BLOCK, truth.mean))}
        if k > 1:
            judged["score"] = (found.score, p.mean(axis=1))
        if found.p is not None and k > 1:
            of_prompt = np.take_along_axis(found.p, s[:, :, None], axis=1)
            judged["p"] = of_prompt, p
        for estimand, (interval, target) in judged.items():
            low = float(np.mean(target < interval[..., 0] - _SLACK))
            high = float(np.mean(target > interval[..., 1] + _SLACK))
            rows.append(
                {
                    "population": name,
                    "kind": truth.kind,
                    "mean": f"{truth.mean:.4f}",
                    "n": n,
                    "k": k,
                    "method": method,
                    "estimand": estimand,
                    "replications": _BLOCK,
                    "coverage": f"{1 - low - high:.4f}",
                    "low": f"{low:.4f}",
                    "high": f"{high:.4f}",
                    "width": f"{np.mean(np.diff(interval)) / unit:.4f}",
                    "alpha": "" if found.alpha is None else f"{np.median(found.alpha):.4g}",
                }
            )
    return rows


def merge(old: Rows, new: Rows) -> Rows:
    """Means over the replications of both."""
    before = {identity(row): row for row in old}
    for row in new:
        one = before.setdefault(identity(row), row)
        if one is row:
            continue
        sizes = [int(str(x["replications"])) for x in (one, row)]
        for field in ("coverage", "low", "high", "width", "alpha"):
            if row[field] != "":
                both = [float(str(x[field])) for x in (one, row)]
                one[field] = f"{np.average(both, weights=sizes):.4g}"
        one["replications"] = sum(sizes)
    return list(before.values())


def identity(row: dict[str, object]) -> tuple[object, ...]:
    return (*key(row), row["method"], row["estimand"])


def key(row: dict[str, object]) -> tuple[str, int, int]:
    return str(row["population"]), int(str(row["n"])), int(str(row["k"]))


def show(rows: Rows) -> None:
    """Coverage of each method, one line per cell and estimand."""
    cells: dict[tuple[str, int, int, str], dict[str, dict[str, object]]] = {}
    for row in rows:
        cells.setdefault((*key(row), str(row["estimand"])), {})[str(row["method"])] = row
    print(f"{'population':34} {'n':>5} {'k':>3} {'estimand':9}", *(f"{m:>12}" for m in METHODS))
    for (name, n, k, estimand), by_method in sorted(cells.items(), key=lambda x: (x[0][3], x[0])):
        values = (by_method.get(m, {}).get("coverage", "") for m in METHODS)
        print(f"{name[:34]:34} {n:5} {k:3} {estimand:9}", *(f"{v:>12}" for v in values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--cells", choices=sorted(SIZES), default="small")
    parser.add_argument("--n", type=int, nargs="+")
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--only", help="populations whose name contains this")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / "coverage.csv")
    options = parser.parse_args()
    names = truths(options.data)
    sizes, generations = SIZES[options.cells]
    rows = read_table(options.out)
    done = {
        key(row): int(str(row["replications"])) // _BLOCK
        for row in rows
        if row["method"] == "dp_beta"
    }
    tasks = [
        (name, n, k, block, options.seed, options.data)
        for block in range(-(-options.replications // _BLOCK))
        for k in options.k or generations
        for n in options.n or sizes
        for name in names
        if (options.only or "") in name and block >= done.get((name, n, k), 0)
    ]
    with Pool(options.processes) as pool:
        results = pool.imap(run_block, tasks) if options.processes > 1 else map(run_block, tasks)
        for new in tqdm(results, total=len(tasks), disable=None, unit="block"):
            rows = merge(rows, new)
            write_table(options.out, sorted(rows, key=key))
    show(rows)


if __name__ == "__main__":
    main()
