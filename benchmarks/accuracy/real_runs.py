"""Every family on every real run of the shared data: shifts of mu, adequacy, convergence.

Run from the repository root (30 minutes on one core)::

    python benchmarks/accuracy/real_runs.py
    python benchmarks/accuracy/real_runs.py --data ../shared/data --only gpqa --seed 1

Writes ``results/real_runs.csv``, one row per run and family, and ``results/real_runs_checks.csv``,
one row per run, and prints summaries. A file of many benchmarks (subjects, tasks) is pooled by llm.

``shift_se``: posterior mean of mu minus the mean over prompts, in standard errors of the latter (a
shift is no error in itself: an efficient estimate may differ). ``elpd_diff``: log predictive
density of left-out prompts, the family minus the Beta. ``r_hat`` (largest) and ``ess`` (smallest
bulk) of mu, sigma and score: where a Markov chain was run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tables import RESULTS, write_table
from tqdm import tqdm

from pcorrect import PromptCounts, readers
from pcorrect.adequacy.beta_shape import assess_beta
from pcorrect.adequacy.loo import LeaveOneOut, loo_beta, loo_draws
from pcorrect.adequacy.runs import check_runs
from pcorrect.adequacy.stopping import check_stopping
from pcorrect.cells import Cells
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.moment_estimates import moments
from pcorrect.observations import outcomes
from pcorrect.result import Fit

FILES = (
    "epoch_gpqa_diamond",
    "epoch_gpqa_diamond_canonical",
    "epoch_otis_mock_aime",
    "rg_llama3b_aime_amc_k50",
    "rg_zeroshot_easy_k3_counts",
    "llm_stability_balanced",
    "llm_stability_sequential",
    "misguided_attention_k3",
    "mmlu_redux_helm_k1",
    "livecodebench_k1",
    "scorio_aime25_q06_k80",
)
FAMILIES = ("beta_bernoulli", "dp_beta", "inflated_beta", "logit_normal")
# More benchmarks than this in one file are its subjects.
_SUBJECTS = 10
_LOO_DRAWS = 1000


def real_runs(folder: Path, only: str) -> Iterator[tuple[str, PromptCounts, np.ndarray | None]]:
    """File name, counts and, where generations are numbered, outcomes of every run."""
    for name in FILES:
        path = folder / f"{name}.csv.gz"
        if only not in name or not path.exists():
            continue
        generations = readers.read(path)
        tables = readers.counts(generations)
        if len(tables) > _SUBJECTS:
            for llm in sorted({str(llm) for table in tables for llm in table.llm}):
                parts = [table.select(llm) for table in tables if llm in table.llm]
                yield name, pooled(llm, name, parts), None
            continue
        for table in tables:
            for llm in table.llm:
                yield name, table.select(str(llm)), matrix(generations, str(llm), table.benchmark)


def pooled(llm: str, benchmark: str, parts: list[PromptCounts]) -> PromptCounts:
    """All subjects as one benchmark."""
    s, k = (np.concatenate([getattr(p, n) for p in parts]) for n in ("n_correct", "n_generations"))
    return PromptCounts.from_arrays(s, k, llm=llm, benchmark=benchmark)


def matrix(generations: Any, llm: str, benchmark: str) -> np.ndarray | None:
    """Outcomes prompt by generation; None for tables of counts."""
    try:
        return outcomes(generations, llm, benchmark).correct
    except PcorrectError:
        return None


def left_out(fit: Fit, cells: Cells) -> LeaveOneOut:
    """Leave-one-out densities: exact where the engine has a grid."""
    if fit.grid is not None:
        return loo_beta(cells, fit.grid)
    some = np.linspace(0, len(fit.population) - 1, _LOO_DRAWS).astype(np.intp)
    return loo_draws(cells, fit.population.take(some))


def rows_of_run(
    name: str, counts: PromptCounts, y: np.ndarray | None, seed: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """One row per family, and one of the checks."""
    closed = moments(counts)
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    k = counts.n_generations[counts.n_generations > 0]
    run = {
        "file": name,
        "llm": counts.llm,
        "benchmark": counts.benchmark,
        "n": len(k),
        "k_min": int(k.min()),
        "k_max": int(k.max()),
        "mu_moments": closed.mu,
        "se_moments": closed.se_mu,
    }
    rows, beta, fits = [], None, {}
    for family in FAMILIES:
        start = time.perf_counter()
        fit = fits[family] = run_fit(counts, model=family, seed=seed)
        mu, score = fit.marginals["mu"], fit.marginals["score"]
        seconds = time.perf_counter() - start
        loo = left_out(fit, cells)
        beta = loo if family == "beta_bernoulli" else beta
        difference, error = loo.minus(beta)
        rows.append(
            run
            | {
                "family": family,
                "mu": mu.mean,
                "sd_mu": mu.sd,
                "score": score.mean,
                "sd_score": score.sd,
                "shift_se": (mu.mean - closed.mu) / closed.se_mu if closed.se_mu else None,
                "elpd_diff": difference,
                "elpd_diff_se": error,
                "k_hat": loo.k_hat,
                "r_hat": fit.diagnostics.get("r_hat"),
                "ess": fit.diagnostics.get("ess"),
                "alpha": float(np.median(fit.draws["alpha"])) if family == "dp_beta" else None,
                "seconds": seconds,
            }
        )
    start = time.perf_counter()
    robust = fits["dp_beta"]
    shape = assess_beta(counts, robust=robust.population, alpha=robust.draws["alpha"], seed=seed)
    checks = run | {"seconds_shape": time.perf_counter() - start}
    shown = ("status", "p_value", "p_histogram", "p_shift", "shift", "shift_se", "alpha", "verdict")
    checks |= {name: shape.to_dict()[name] for name in shown}
    stopping = check_stopping(counts, outcomes=y, seed=seed)
    checks |= {"k_status": stopping.status, "k_p": stopping.p_value}
    if y is not None:
        runs = check_runs(y, seed=seed)
        checks |= {"runs_status": runs.status, "runs_p": runs.p_value, "gap": runs.gap}
    return rows, checks


def summarise(rows: list[dict[str, Any]], checks: list[dict[str, Any]]) -> None:
    """Print what the files say, by file and family."""
    names = list(dict.fromkeys(row["file"] for row in rows))
    print("| file | runs | family | mean abs shift | > .5 SE | mean elpd diff | r_hat | ess | s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        for family in FAMILIES:
            of = [row for row in rows if row["file"] == name and row["family"] == family]
            shift = np.array([abs(r["shift_se"]) for r in of if r["shift_se"] is not None])
            r_hat = [r["r_hat"] for r in of if r["r_hat"] is not None]
            ess = [r["ess"] for r in of if r["ess"] is not None]
            chain = f"{max(r_hat):.3f} | {min(ess):.0f}" if r_hat else "- | -"
            moved = f"{shift.mean():.2f} | {np.mean(shift > 0.5):.2f}" if len(shift) else "- | -"
            elpd = np.mean([r["elpd_diff"] for r in of])
            seconds = np.median([r["seconds"] for r in of])
            numbers = f"{moved} | {elpd:+.1f} | {chain} | {seconds:.2f}"
            print(f"| {name} | {len(of)} | {family} | {numbers} |")
    print("\n| file | Beta rejected | doubtful | no sign | k depends | runs differ | s (shape) |")
    print("|---|---|---|---|---|---|---|")
    for name in names:
        of = [row for row in checks if row["file"] == name]
        status = [sum(r["status"] == s for r in of) for s in ("rejected", "doubtful", "no sign")]
        k = sum(r["k_status"] == "depends" for r in of)
        differ = sum(r.get("runs_status") == "differ" for r in of)
        seconds = np.median([r["seconds_shape"] for r in of])
        print(f"| {name} | {' | '.join(map(str, status))} | {k} | {differ} | {seconds:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="data folder")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the tables")
    args = parser.parse_args()
    if not args.data.is_dir():
        parser.error(f"no folder {args.data}: give the shared results by --data")
    rows: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    found = list(real_runs(args.data, args.only))
    for name, counts, y in tqdm(found, unit="run", disable=not sys.stderr.isatty()):
        families, check = rows_of_run(name, counts, y, args.seed)
        rows += families
        checks.append(check)
    write_table(args.out / "real_runs.csv", rows)
    write_table(args.out / "real_runs_checks.csv", checks)
    summarise(rows, checks)


if __name__ == "__main__":
    main()
