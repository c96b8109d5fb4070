"""Exact engine against PyMC's NUTS and nutpie: time ratio, and difference of posterior means.

    uv run python benchmarks/speed/fit.py [--prompts 198] [--generations 8] [--repeats 5]

The data are simulated (mu .6, sigma .3). Each engine fits the same counts under the same priors in
one run; compilation is part of what a user waits for. The default model, `dp_beta`, is larger: its
row tells the time that its Gibbs engine takes. Rows go to ``results/fit.csv`` in place of those of
the same size.
"""

from __future__ import annotations

import argparse
import csv
import io
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import nutpie
import pymc as pm

from pcorrect import PromptCounts, simulate
from pcorrect.engines import nuts
from pcorrect.files import write_text
from pcorrect.fitting import run_fit
from pcorrect.priors import Priors

Means = dict[str, float]
RESULTS = Path(__file__).parent / "results" / "fit.csv"


def timed(action: Callable[[], Means], repeats: int) -> tuple[float, Means]:
    """Median seconds of `repeats` calls, and what the last returned."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = action()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), found


def by_pymc(program: str, counts: PromptCounts) -> Means:
    """PyMC's own sampler on one of the programs in models/."""
    module = nuts.load_program(nuts.program_path(program))
    with module.build(counts, Priors()):
        trace = pm.sample(progressbar=False, random_seed=1, compute_convergence_checks=False)
    return {name: float(trace["posterior"][name].mean()) for name in ("mu", "sigma")}


def by_nutpie(program: str, counts: PromptCounts, draws: int = 1000) -> Means:
    """Nutpie on one of the programs in models/, 4 chains."""
    module = nuts.load_program(nuts.program_path(program))
    compiled = nutpie.compile_pymc_model(module.build(counts, Priors()))
    trace = nutpie.sample(compiled, draws=draws, chains=4, seed=1, progress_bar=False)
    return {name: float(trace["posterior"][name].mean()) for name in ("mu", "sigma")}


def keep(rows: list[dict[str, object]]) -> None:
    """Write rows in place of those of the same size."""
    size = [str(rows[0][name]) for name in ("prompts", "generations")]
    old: list[dict[str, object]] = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            old = [r for r in csv.DictReader(file) if [r["prompts"], r["generations"]] != size]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows([*old, *rows])
    write_text(RESULTS, text.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=198)
    parser.add_argument("--generations", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5, help="of the exact engine")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    counts, _ = simulate(args.prompts, args.generations, seed=1)

    def exact() -> Means:
        fit = run_fit(counts, model="beta_bernoulli")
        return {name: fit.marginals[name].mean for name in ("mu", "sigma")}

    def default() -> Means:
        fit = run_fit(counts)
        return {name: fit.marginals[name].mean for name in ("mu", "sigma")}

    sd = {n: run_fit(counts, model="beta_bernoulli").marginals[n].sd for n in ("mu", "sigma")}
    base, reference = timed(exact, args.repeats)
    print(f"{args.prompts} prompts x {args.generations} generations")
    print(f"{'engine':<34}{'seconds':>9}{'ratio':>8}{'mu':>9}{'sigma':>9}   (difference, sd)")
    print(f"{'exact':<34}{base:>9.3f}{1:>8}{'':>9}{'':>9}")
    size = {"prompts": args.prompts, "generations": args.generations}
    rows: list[dict[str, object]] = []

    def tell(what: str, program: str, seconds: float, off: list[float]) -> None:
        row = {"engine": what, "model": program, "seconds": f"{seconds:.3g}"}
        row |= {"times_exact": f"{seconds / base:.3g}"}
        rows.append(size | row | {"mu_off_sd": f"{off[0]:.3f}", "sigma_off_sd": f"{off[1]:.3f}"})

    tell("exact", "beta_bernoulli", base, [0.0, 0.0])
    seconds, found = timed(default, args.repeats)
    off = [(found[n] - reference[n]) / sd[n] for n in ("mu", "sigma")]
    print(
        f"{'gibbs, dp_beta':<34}{seconds:>9.3f}{seconds / base:>8.1f}{off[0]:>9.3f}{off[1]:>9.3f}"
    )
    tell("gibbs", "dp_beta", seconds, off)
    for name, run in (("PyMC NUTS", by_pymc), ("nutpie", by_nutpie)):
        for program in ("beta_binomial", "beta_bernoulli"):
            seconds, found = timed(lambda run=run, program=program: run(program, counts), 1)
            off = [(found[n] - reference[n]) / sd[n] for n in ("mu", "sigma")]
            what = f"{name}, {program}"
            print(f"{what:<34}{seconds:>9.1f}{seconds / base:>8.0f}{off[0]:>9.3f}{off[1]:>9.3f}")
            tell(name, program, seconds, off)
    # for the difference alone: enough draws to see a hundredth of a standard deviation
    seconds, found = timed(lambda: by_nutpie("beta_binomial", counts, 50_000), 1)
    off = [(found[n] - reference[n]) / sd[n] for n in ("mu", "sigma")]
    what = "nutpie, 200,000 draws"
    print(f"{what:<34}{seconds:>9.1f}{seconds / base:>8.0f}{off[0]:>9.3f}{off[1]:>9.3f}")
    tell(what, "beta_binomial", seconds, off)
    keep(rows)
    print("\nMonte Carlo error of a mean: about 0.016 sd or more of 4000 draws, 0.002 of 200,000")


if __name__ == "__main__":
    main()
