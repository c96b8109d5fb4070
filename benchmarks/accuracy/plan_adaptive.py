"""What spending generations by outcome saves, and what it costs in honesty.

Truth: spiky populations (most p_i near 0 or 1), a smooth one, and the proportions of a real run.
Uniform designs give every prompt the same k; the adaptive one starts with 4 generations of each
prompt and then asks `next_prompts` for batches of one generation per prompt on average, refitting
after each (exact engine). Both are read off the same way: the posterior of `score` from all counts.

Reported by number of generations per prompt: root-mean-square error and mean posterior sd of
`score`, coverage of its 95 % interval, and the error and coverage of the plain mean (moment
estimates), which outcome-dependent numbers bias. The saving is the share of generations that the
adaptive design needs less to reach the error, or the posterior sd, of the uniform one with 16.

    python benchmarks/accuracy/plan_adaptive.py [--replications 200]
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from plan_common import balanced, outcomes, write
from tqdm import tqdm

from pcorrect.data import PromptCounts
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.moment_estimates import moments
from pcorrect.planning import next_prompts
from pcorrect.result import Fit

EXACT = "beta_bernoulli"
PROMPTS, PILOT, TARGET = 200, 4, 16
UNIFORM = (8, 12, 16)
ROUNDS = 12  # batches of one generation per prompt on average: up to 16


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
    runs = balanced(outcomes("epoch_otis_mock_aime"), 16)
    p = min(runs.values(), key=lambda rows: abs(np.mean(rows) - 0.5))
    return rng.choice(np.mean(p, axis=1), size=n)


POPULATIONS = {
    "three-part": three_part,
    "atoms": skewed,
    "half solved": half_solved,
    "Beta(.4, .2)": beta,
    "OTIS run": real,
}


def fit(s: np.ndarray, k: np.ndarray, model: str) -> Fit:
    return run_fit(PromptCounts.from_arrays(s, k), model=model, draws=50 if model == EXACT else 500)


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--default-model", type=int, default=30, help="replications of it")
    args = parser.parse_args()
    designs, savings = [], []
    for name, draw in POPULATIONS.items():
        rng = np.random.default_rng([7, sum(map(ord, name))])
        tables: dict[tuple[str, str, int], dict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for r in tqdm(range(args.replications), desc=name, disable=None, leave=False):
            p = draw(rng, PROMPTS)
            again = r < args.default_model
            every = rng.random((PROMPTS, TARGET)) < p[:, None]
            for k in UNIFORM:
                s, each = every[:, :k].sum(axis=1), np.full(PROMPTS, k)
                record(tables["uniform", EXACT, k], fit(s, each, EXACT), p)
                if again and k == TARGET:
                    record(tables["uniform", DEFAULT_MODEL, k], fit(s, each, DEFAULT_MODEL), p)
            s, each = every[:, :PILOT].sum(axis=1), np.full(PROMPTS, PILOT)
            done = fit(s, each, EXACT)
            for k in range(PILOT + 1, PILOT + ROUNDS + 1):
                more = next_prompts(done, PROMPTS).n_generations
                s, each = s + rng.binomial(more, p), each + more
                done = fit(s, each, EXACT)
                if k >= 6 and k % 2 == 0:
                    record(tables["adaptive", EXACT, k], done, p)
                if again and k in (8, 12):
                    record(tables["adaptive", DEFAULT_MODEL, k], fit(s, each, DEFAULT_MODEL), p)
        for (design, model, k), found in tables.items():
            x = {key: np.array(value, dtype=float) for key, value in found.items()}
            plain_se = x["plain_error"].std() / np.sqrt(len(x["error"]))
            designs.append(
                {
                    "population": name,
                    "design": design,
                    "model": model,
                    "per_prompt": k,
                    "replications": len(x["error"]),
                    "rmse": float(np.sqrt(np.mean(x["error"] ** 2))),
                    "mean_sd": float(x["sd"].mean()),
                    "bias": float(x["error"].mean()),
                    "coverage": float(x["inside"].mean()),
                    "plain_rmse": float(np.sqrt(np.mean(x["plain_error"] ** 2))),
                    "plain_bias": float(x["plain_error"].mean()),
                    "plain_bias_z": float(x["plain_error"].mean() / max(plain_se, 1e-12)),
                    "plain_coverage": float(x["plain_inside"].mean()),
                }
            )
        mine = [d for d in designs if d["population"] == name and d["model"] == EXACT]
        for quantity in ("rmse", "mean_sd"):
            goal = next(
                d[quantity] for d in mine if d["design"] == "uniform" and d["per_prompt"] == TARGET
            )
            path = [(d["per_prompt"], d[quantity]) for d in mine if d["design"] == "adaptive"]
            k, value = (np.array(v, dtype=float) for v in zip(*sorted(path), strict=True))
            # errors fall like a power of k: interpolate on log scales, from monotone values
            need = np.exp(
                np.interp(
                    -np.log(goal), -np.log(np.minimum.accumulate(value)), np.log(k), right=np.inf
                )
            )
            savings.append(
                {
                    "population": name,
                    "by": quantity,
                    "uniform_k": TARGET,
                    "adaptive_k": float(need),
                    "saved": f"{1 - need / TARGET:.0%}",
                }
            )
        # after each population: a long run that is stopped leaves what it has
        write("plan_adaptive", designs)
        write("plan_adaptive_saving", savings)


if __name__ == "__main__":
    main()
