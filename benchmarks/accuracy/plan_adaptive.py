"""What spending generations by outcome saves, and what it costs in honesty.

Truth: spiky populations (most p_i near 0 or 1), a smooth one, and the proportions of a real run.
The uniform design gives every prompt 16 generations; the adaptive one starts with 4 of each, then
asks `next_prompts` for batches of two generations per prompt on average, refitting with the default
model after each. Both are read off the same way: the posterior of `score` from all counts, under
the default model and under the plain Beta.

Reported by number of generations per prompt: root-mean-square error and mean posterior sd of
`score`, coverage of its 95 % interval, and the error and coverage of the plain mean (moment
estimates), which outcome-dependent numbers bias. The saving is the share of generations that the
adaptive design needs less to reach the error, or the mean posterior sd, of the uniform one with 16;
`saved_low` and `saved_high` hold the middle 95 % of it over bootstrap samples of the replications.

    python benchmarks/accuracy/plan_adaptive.py [--replications 50] [--population atoms]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import cache

import numpy as np
from plan_common import balanced, outcomes, write
from tables import RESULTS, read_table
from tqdm import tqdm

from pcorrect.data import PromptCounts
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning import next_prompts
from pcorrect.result import Fit

EXACT = "beta_bernoulli"
PROMPTS, PILOT, STEP, LAST, TARGET = 200, 4, 2, 14, 16


def three_part(rng: np.random.Generator, n: int) -> np.ndarray:
    """Mostly solved, some never, a few open: Beta(40, 1), Beta(1, 30), Beta(2, 2)."""
    part = rng.choice(3, size=n, p=[0.6, 0.2, 0.2])
    return rng.beta(np.array([40, 1, 2])[part], np.array([1, 30, 2])[part])


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    """85 % certain, 10 % at .3, 5 % never: atoms, where a plain mean is biased most."""
    return rng.choice([1.0, 0.3, 0.0], size=n, p=[0.85, 0.1, 0.05])


def half_solved(rng: np.random.Generator, n: int) -> np.ndarray:
    """60 % certain, the rest Beta(2, 6)."""
    return np.where(rng.random(n) < 0.6, 1.0, rng.beta(2, 6, n))


def beta(rng: np.random.Generator, n: int) -> np.ndarray:
    """One smooth U-shaped population: Beta(.4, .2)."""
    return rng.beta(0.4, 0.2, n)


def real(rng: np.random.Generator, n: int) -> np.ndarray:
    """Proportions of 16 generations in the real run that is nearest to a score of one half."""
    return rng.choice(proportions(), size=n)


@cache
def proportions() -> np.ndarray:
    runs = balanced(outcomes("epoch_otis_mock_aime"), 16)
    return np.mean(min(runs.values(), key=lambda rows: abs(np.mean(rows) - 0.5)), axis=1)


POPULATIONS = {
    "three-part": three_part,
    "atoms": skewed,
    "half solved": half_solved,
    "Beta(.4, .2)": beta,
    "OTIS run": real,
}


def fit(s: np.ndarray, k: np.ndarray, model: str) -> Fit:
    return run_fit(PromptCounts.from_arrays(s, k), model=model, draws=50 if model == EXACT else 150)


def record(found: dict[str, list[float]], done: Fit, p: np.ndarray) -> None:
    posterior, closed = done.marginals["score"], moments(done.counts)
    low, high = posterior.interval(0.95)
    interval = closed.interval("score") or (closed.mu, closed.mu)
    truth = float(p.mean())
    found["error"].append(posterior.mean - truth)
    found["sd"].append(posterior.sd)
    found["inside"].append(low <= truth <= high)
    found["plain_error"].append((closed.mu or 0.0) - truth)
    found["plain_inside"].append(interval[0] <= truth <= interval[1])


def row(key: tuple[str, str, str, int], found: dict[str, list[float]]) -> dict[str, object]:
    x = {name: np.array(value, dtype=float) for name, value in found.items()}
    size = len(x["error"])
    return {
        **dict(zip(("population", "design", "model", "per_prompt"), key, strict=True)),
        "replications": size,
        "rmse": float(np.sqrt(np.mean(x["error"] ** 2))),
        "mean_sd": float(x["sd"].mean()),
        "bias": float(x["error"].mean()),
        "coverage": float(x["inside"].mean()),
        "plain_rmse": float(np.sqrt(np.mean(x["plain_error"] ** 2))),
        "plain_bias": float(x["plain_error"].mean()),
        "plain_bias_z": float(x["plain_error"].mean() / x["plain_error"].std() * np.sqrt(size)),
        "plain_coverage": float(x["plain_inside"].mean()),
    }


Table = dict[tuple[str, str, str, int], dict[str, list[float]]]
MEASURES = {
    "rmse": lambda found, rows: np.sqrt(np.mean(np.array(found["error"])[rows] ** 2)),
    "mean_sd": lambda found, rows: np.mean(np.array(found["sd"])[rows]),
}


def needed(tables: Table, name: str, model: str, by: str, rows: np.ndarray) -> float:
    """Generations per prompt at which the adaptive design matches the uniform one with 16."""
    measure = MEASURES[by]
    goal = measure(tables[name, "uniform", model, TARGET], rows)
    k = np.arange(PILOT + STEP, LAST + 1, STEP)
    value = [measure(tables[name, "adaptive", model, int(x)], rows) for x in k]
    # errors fall like a power of k: interpolate on log scales, from monotone values
    falling = -np.log(np.minimum.accumulate(value))
    return float(np.exp(np.interp(-np.log(goal), falling, np.log(k), right=np.inf)))


def saving(tables: Table, name: str, model: str, by: str) -> dict[str, object]:
    """Share of generations saved, with a bootstrap interval; below 1 - 14/16 it is not seen."""
    size = len(tables[name, "uniform", model, TARGET]["error"])
    rng = np.random.default_rng(1)
    draws = [needed(tables, name, model, by, rng.integers(size, size=size)) for _ in range(400)]
    need = needed(tables, name, model, by, np.arange(size))
    low, high = 1 - np.sort(draws)[[389, 10]] / TARGET
    least = 1 - LAST / TARGET

    def share(value: float) -> str:
        return f"{value:.3f}" if value >= least else f"below {least:.3f}"

    return {
        "population": name,
        "model": model,
        "by": by,
        "uniform_k": TARGET,
        "adaptive_k": f"{need:.2f}" if np.isfinite(need) else f"above {LAST}",
        "saved": share(1 - need / TARGET),
        "saved_low": share(float(low)),
        "saved_high": share(float(high)),
    }


def merged(name: str, rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Rows of this run among those of other populations from earlier runs, in a fixed order."""
    done = {row["population"] for row in rows}
    old = [row for row in read_table(RESULTS / f"{name}.csv") if row["population"] not in done]
    return sorted([*rows, *old], key=lambda row: list(POPULATIONS).index(str(row["population"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=50)
    parser.add_argument("--population", action="append", choices=POPULATIONS, help="default: all")
    args = parser.parse_args()
    for name in args.population or POPULATIONS:
        rng = np.random.default_rng([7, sum(map(ord, name))])
        tables: Table = defaultdict(lambda: defaultdict(list))
        for _ in tqdm(range(args.replications), desc=name, disable=None, leave=False):
            p = POPULATIONS[name](rng, PROMPTS)
            every = rng.random((PROMPTS, TARGET)) < p[:, None]
            s, each = every.sum(axis=1), np.full(PROMPTS, TARGET)
            for model in (DEFAULT_MODEL, EXACT):
                record(tables[name, "uniform", model, TARGET], fit(s, each, model), p)
            s, each = every[:, :PILOT].sum(axis=1), np.full(PROMPTS, PILOT)
            done = fit(s, each, DEFAULT_MODEL)
            for k in range(PILOT + STEP, LAST + 1, STEP):
                more = next_prompts(done, STEP * PROMPTS).n_generations
                s, each = s + rng.binomial(more, p), each + more
                done = fit(s, each, DEFAULT_MODEL)
                record(tables[name, "adaptive", DEFAULT_MODEL, k], done, p)
                record(tables[name, "adaptive", EXACT, k], fit(s, each, EXACT), p)
        # after each population: a long run that is stopped leaves what it has
        write(
            "plan_adaptive",
            merged("plan_adaptive", [row(key, found) for key, found in sorted(tables.items())]),
        )
        models = (DEFAULT_MODEL, EXACT)
        found = [saving(tables, name, model, by) for model in models for by in MEASURES]
        write("plan_adaptive_saving", merged("plan_adaptive_saving", found))


if __name__ == "__main__":
    main()
