"""Ranking many llms: time, agreement with a brute-force bootstrap, false claims, rank intervals.

Run from the repository root::

    python benchmarks/accuracy/ranking.py otis FILE    # 98 llms: the OTIS mock AIME results
    python benchmarks/accuracy/ranking.py claims       # equal llms: is any pair told apart?
    python benchmarks/accuracy/ranking.py ranks        # unequal llms: do the rank intervals hold?

Each writes ``results/ranking_<name>.csv`` and prints it. ``--quick``: a tenth of the replications.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy.special import expit
from tables import RESULTS, write_each

from pcorrect.comparison import rank
from pcorrect.comparison.ranks import pairwise
from pcorrect.prompt_weights import Units, mean_draws
from pcorrect.readers import counts as read_counts

DRAWS = 4000


def otis(scale: float, file: str) -> Iterator[dict[str, object]]:
    """Time of the ranking, and its order statistics against resampled prompts."""
    start = time.perf_counter()
    (counts,) = read_counts(file)
    reading = time.perf_counter() - start
    start = time.perf_counter()
    result = rank(counts)
    seconds = time.perf_counter() - start
    keep = (counts.n_generations > 0).all(axis=0)
    share = counts.n_correct[:, keep] / counts.n_generations[:, keep]
    position = [list(counts.llm).index(name) for name in result.llm]
    rng = np.random.default_rng(0)
    n = share.shape[1]
    means = np.array(
        [share[:, rng.integers(0, n, n)].mean(axis=1)[position] for _ in range(int(10_000 * scale))]
    )
    best = means == means.max(axis=1, keepdims=True)
    p_best = np.mean(best / best.sum(axis=1, keepdims=True), axis=0)
    above = np.array([(row[None, :] > row[:, None]).sum(axis=1) for row in means])
    ties = np.array([(row[None, :] == row[:, None]).sum(axis=1) - 1 for row in means])
    expected = (1 + above + ties / 2).mean(axis=0)
    yield {
        "llms": len(result.llm),
        "prompts": n,
        "seconds_reading": f"{reading:.2f}",
        "seconds_ranking": f"{seconds:.2f}",
        "sum_p_best": f"{result.p_best.sum():.12f}",
        "largest_difference_p_best": f"{np.abs(p_best - result.p_best).max():.3f}",
        "largest_difference_expected_rank": f"{np.abs(expected - result.rank_mean).max():.2f}",
        "mean_difference_expected_rank": f"{np.abs(expected - result.rank_mean).mean():.2f}",
        "pairs_told_apart": int(result.told_apart.sum() // 2),
        "pairs": len(result.llm) * (len(result.llm) - 1) // 2,
        "kendall_tau_new_prompts": f"{result.new_prompts.kendall_tau:.3f}",
    }


def simulate(skill, n, k, rng):
    """Counts of llms whose logits share difficulty; shape (L, n)."""
    difficulty = 1.5 * rng.standard_normal(n)
    own = 0.7 * rng.standard_normal((len(skill), n))
    return rng.binomial(k, expit(skill[:, None] + difficulty + own))


def claims(scale: float) -> Iterator[dict[str, object]]:
    """Equal llms: share of data sets in which any pair is told apart (at most .05 wanted)."""
    for middle in (0.0, 3.0):
        for llms, n, replications in (
            (5, 30, 1000),
            (10, 45, 1000),
            (10, 200, 600),
            (40, 100, 200),
        ):
            rng = np.random.default_rng([llms, n, int(middle)])
            count = max(20, int(replications * scale))
            wrong = 0
            for _ in range(count):
                s = simulate(np.full(llms, middle), n, 8, rng)
                draws = mean_draws(Units.from_counts(s, np.full_like(s, 8)), DRAWS, rng)
                wrong += pairwise(draws, 0.95).told_apart.any()
            yield {
                "mean_p": f"{expit(middle / 1.3):.2f}",
                "llms": llms,
                "n": n,
                "k": 8,
                "replications": count,
                "any_false_claim": f"{wrong / count:.3f}",
                "standard_error": f"{np.sqrt(0.05 * 0.95 / count):.3f}",
            }


def ranks(scale: float) -> Iterator[dict[str, object]]:
    """Unequal llms: coverage of rank intervals, one by one and at once; wrong claims."""
    for llms, n in ((10, 45), (20, 200)):
        rng = np.random.default_rng([llms, n])
        count = max(20, int(500 * scale))
        single, at_once, wrong, told = 0.0, 0, 0, 0.0
        for _ in range(count):
            skill = np.sort(rng.normal(0, 0.6, llms))[::-1]
            true_rank = np.arange(1, llms + 1)
            s = simulate(skill, n, 8, rng)
            draws = mean_draws(Units.from_counts(s, np.full_like(s, 8)), DRAWS, rng)
            pairs = pairwise(draws, 0.95)
            low, high = np.quantile(pairs.rank, [0.025, 0.975], axis=0)
            single += np.mean((low <= true_rank) & (true_rank <= high))
            mean = draws.mean(axis=0)
            above = mean[:, None] > mean[None, :]
            least = 1 + np.sum(pairs.told_apart & above.T, axis=1)
            most = llms - np.sum(pairs.told_apart & above, axis=1)
            at_once += bool(np.all((least <= true_rank) & (true_rank <= most)))
            # the llms are sorted by their truth: a claim that a later one is better is wrong
            wrong += bool(np.triu(pairs.told_apart & above.T, 1).any())
            told += pairs.told_apart.sum() / (llms * (llms - 1))
        yield {
            "llms": llms,
            "n": n,
            "k": 8,
            "replications": count,
            "rank_interval_coverage": f"{single / count:.3f}",
            "all_ranks_at_once_coverage": f"{at_once / count:.3f}",
            "any_wrong_claim": f"{wrong / count:.3f}",
            "share_of_pairs_told_apart": f"{told / count:.3f}",
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("otis", "claims", "ranks"))
    parser.add_argument("file", nargs="?", help="results of many llms, for otis")
    parser.add_argument("--quick", action="store_true", help="a tenth of the replications")
    args = parser.parse_args()
    scale = 0.1 if args.quick else 1.0
    if args.what == "otis" and not args.file:
        parser.error("otis needs the file of results")
    found = (
        otis(scale, args.file)
        if args.what == "otis"
        else {"claims": claims, "ranks": ranks}[args.what](scale)
    )
    write_each(RESULTS / f"ranking_{args.what}.csv", found)


if __name__ == "__main__":
    main()
