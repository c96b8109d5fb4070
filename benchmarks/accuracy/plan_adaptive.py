"""What spending generations by outcome saves, and what it costs in honesty.

Truth: spiky populations (most p_i near 0 or 1), a smooth one, and the proportions of a real run.
Uniform designs give every prompt the same k; the adaptive one starts with 4 generations of each
prompt and then asks `next_prompts` for batches of one generation per prompt on average, refitting
after each (by the exact engine, to save time). Both are read off the same way: the posterior of
`score` from all counts, under the default model and under the plain Beta.

Reported by number of generations per prompt: root-mean-square error and mean posterior sd of
`score`, coverage of its 95 % interval, and the error and coverage of the plain mean (moment
estimates), which outcome-dependent numbers bias. The saving is the share of generations that the
adaptive design needs less to reach the error, or the posterior sd, of the uniform one with 16.

    python benchmarks/accuracy/plan_adaptive.py [--replications 60]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import cache

import numpy as np
from plan_common import balanced, outcomes, write
from tqdm import tqdm

from pcorrect.data import PromptCounts
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning import next_prompts
from pcorrect.result import Fit

EXACT = "beta_bernoulli"
PROMPTS, PILOT, LAST, TARGET = 200, 4, 14, 16


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
    return run_fit(PromptCounts.from_arrays(s, k), model=model, draws=50 if model == EXACT else 250)


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


def saving(rows: list[dict[str, object]], quantity: str) -> dict[str, object]:
    """Generations per prompt at which the adaptive design matches the uniform one with 16."""
    goal = next(r[quantity] for r in rows if r["design"] == "uniform" and r["per_prompt"] == TARGET)
    path = sorted((r["per_prompt"], r[quantity]) for r in rows if r["design"] == "adaptive")
    k, value = (np.array(v, dtype=float) for v in zip(*path, strict=True))
    # errors fall like a power of k: interpolate on log scales, from monotone values
    falling = -np.log(np.minimum.accumulate(value))
    need = float(np.exp(np.interp(-np.log(goal), falling, np.log(k), right=np.inf)))
    reached = "at least " if need <= k[0] else ""
    return {
        "population": rows[0]["population"],
        "model": rows[0]["model"],
        "by": quantity,
        "uniform_k": TARGET,
        "adaptive_k": need,
        "saved": f"{reached}{1 - need / TARGET:.0%}" if np.isfinite(need) else "not reached",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=60)
    replications = parser.parse_args().replications
    models = list(dict.fromkeys([DEFAULT_MODEL, EXACT]))
    designs, savings = [], []
    for name, draw in POPULATIONS.items():
        rng = np.random.default_rng([7, sum(map(ord, name))])
        tables: dict[tuple[str, str, str, int], dict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for _ in tqdm(range(replications), desc=name, disable=None, leave=False):
            p = draw(rng, PROMPTS)
            every = rng.random((PROMPTS, TARGET)) < p[:, None]
            s, each = every.sum(axis=1), np.full(PROMPTS, TARGET)
            for model in models:
                record(tables[name, "uniform", model, TARGET], fit(s, each, model), p)
            s, each = every[:, :PILOT].sum(axis=1), np.full(PROMPTS, PILOT)
            done = fit(s, each, EXACT)
            for k in range(PILOT + 1, LAST + 1):
                more = next_prompts(done, PROMPTS).n_generations
                s, each = s + rng.binomial(more, p), each + more
                done = fit(s, each, EXACT)
                for model in models if k % 2 == 0 else ():
                    again = done if model == EXACT else fit(s, each, model)
                    record(tables[name, "adaptive", model, k], again, p)
        rows = [row(key, found) for key, found in sorted(tables.items())]
        designs += rows
        for model in models:
            mine = [r for r in rows if r["model"] == model]
            savings += [saving(mine, quantity) for quantity in ("rmse", "mean_sd")]
        # after each population: a long run that is stopped leaves what it has
        write("plan_adaptive", designs)
        write("plan_adaptive_saving", savings)


if __name__ == "__main__":
    main()
