"""`pcorrect simulate`: a table of results whose truth is known."""

from __future__ import annotations

import argparse
import csv
import io

import numpy as np

from pcorrect.commands import common
from pcorrect.files import write_text
from pcorrect.simulation import simulate


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    parser.add_argument("-n", "--prompts", type=common.positive_int, default=200, help="200")
    parser.add_argument("-k", "--generations", type=common.positive_int, default=8, help="8")
    parser.add_argument("--mu", type=float, default=0.6, help="mean of the p_i (0.6)")
    parser.add_argument("--sigma", type=float, default=0.3, help="sd of the p_i (0.3)")
    parser.add_argument("--seed", type=int, default=0, help="0")
    parser.add_argument("--llm", default="simulated", help="name of the llm")
    parser.add_argument("--truth", action="store_true", help="add a column p_true")
    parser.add_argument("-o", "--output", metavar="OUT.csv", help="default: print it")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write one row per generation."""
    counts, p = simulate(
        args.prompts,
        args.generations,
        mu=args.mu,
        sigma=args.sigma,
        seed=args.seed,
        llm=args.llm,
    )
    rng = np.random.default_rng([args.seed, 1])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ["llm", "benchmark", "prompt", "generation", "correct"]
    writer.writerow(head + ["p_true"] * args.truth)
    for i, prompt in enumerate(counts.prompt):
        # which of the k generations are the correct ones is as random as how many are
        outcome = rng.permutation(np.arange(args.generations) < counts.n_correct[i])
        for j, correct in enumerate(outcome):
            row = [args.llm, counts.benchmark, prompt, j + 1, int(correct)]
            writer.writerow(row + [repr(float(p[i]))] * args.truth)
    if args.output:
        write_text(args.output, text.getvalue())
        common.say(f"{counts.rows.read} generations of {len(p)} prompts: {args.output}")
        common.say(f"truth: mu {args.mu}, sigma {args.sigma}, score {p.mean():.4f}")
    else:
        common.say(text.getvalue().rstrip("\n"))
    return 0
