"""Operating characteristics of the stopping rules, by simulation with explicit seeds.

Comparison of two llms on 100 shared prompts, looked at after 2, 4, 8, 16 and 32 generations: how
often is one of two equal llms named better, and how often is the better one found, with one test at
the end, with the same test at every look (peeking), and with the group-sequential boundary? Truth:
logit-normal pairs whose difficulty correlates .8 and .95, and (for `score`) a truth on exactly
these prompts. Width rule: stop when the 95 % interval is narrow enough; coverage at the stop,
and with a fixed number, for the moment interval and for the posterior of the plain Beta (which no
stopping rule makes right on the population that no Beta fits).

    python benchmarks/accuracy/plan_stopping.py
"""

from __future__ import annotations

import numpy as np
from plan_common import write
from scipy.special import expit

from pcorrect.fitting import DEFAULT_MODEL
from pcorrect.planning import simulate_comparison_rule, simulate_width_rule

LOOKS = [2, 4, 8, 16, 32]
PROMPTS = 100


def pairs(correlation: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
    u = np.random.default_rng(1).standard_normal((2, 200_000))
    v = correlation * u[0] + np.sqrt(1 - correlation**2) * u[1]
    p, q = expit(1.5 * u[0] + 0.5 + shift), expit(1.5 * v + 0.5)
    if shift:
        return p, q
    # equal llms, exactly: every pair also the other way round
    return np.concatenate([p, q]), np.concatenate([q, p])


def comparisons() -> list[dict[str, object]]:
    rows = []
    for estimand, correlation, shift in (
        ("mu", 0.8, 0.0),
        ("mu", 0.95, 0.0),
        ("score", 1.0, 0.0),
        ("mu", 0.8, 0.4),
        ("mu", 0.95, 0.4),
        ("score", 1.0, 0.2),
    ):
        p, q = pairs(correlation, shift)
        found = simulate_comparison_rule(
            p, q, n=PROMPTS, looks=LOOKS, estimand=estimand, replications=20_000, seed=2
        )
        for rule, result in found.items():
            rows.append(
                {
                    "estimand": estimand,
                    "correlation": correlation,
                    "difference": float(p.mean() - q.mean()),
                    "rule": rule,
                    "wrong": result.wrong,
                    "right": result.right,
                    "mean_k": result.mean_k,
                    "critical": result.critical,
                }
            )
    return rows


def widths() -> list[dict[str, object]]:
    rng = np.random.default_rng(3)
    smooth = rng.beta(0.8, 0.4, 200_000)
    part = rng.choice(3, size=200_000, p=[0.6, 0.2, 0.2])
    spiky = rng.beta(np.array([40, 1, 2])[part], np.array([1, 30, 2])[part])
    rows = []
    for name, p, estimand, half_width in (
        ("Beta(.8, .4)", smooth, "mu", 0.072),
        ("Beta(.8, .4)", smooth, "score", 0.02),
        ("three-part", spiky, "mu", 0.08),
        ("three-part", spiky, "score", 0.015),
    ):
        for interval, model, replications in (
            ("moments", "", 20_000),
            ("posterior", "beta_bernoulli", 400),
        ):
            found = simulate_width_rule(
                p,
                n=PROMPTS,
                looks=LOOKS,
                half_width=half_width,
                estimand=estimand,
                interval=interval,
                model=model or DEFAULT_MODEL,
                replications=replications,
                seed=4,
                progress=True,
            )
            rows.append(
                {
                    "population": name,
                    "estimand": estimand,
                    "half_width": half_width,
                    "interval": interval,
                    "model": model,
                    "replications": replications,
                    "coverage": found.coverage,
                    "coverage_fixed": found.coverage_fixed,
                    "mean_k": found.mean_k,
                    "reached": found.reached,
                    "mean_half_width": found.mean_half_width,
                }
            )
    return rows


def main() -> None:
    write("plan_stopping_comparison", comparisons())
    write("plan_stopping_width", widths())


if __name__ == "__main__":
    main()
