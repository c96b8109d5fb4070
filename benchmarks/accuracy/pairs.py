"""Intervals for the difference of two llms, on simulated pairs whose truth is known.

Run from the repository root::

    python benchmarks/accuracy/pairs.py mu            # coverage and width of mu (15 minutes)
    python benchmarks/accuracy/pairs.py score         # the same of score
    python benchmarks/accuracy/pairs.py reliability   # is P(better) calibrated?
    python benchmarks/accuracy/pairs.py seeds         # spread of P(better) over seeds

Each writes ``results/pairs_<name>.csv`` and prints it. ``--quick``: a tenth of the replications.

Populations: margins as real llms show them (smooth, heaped at the ends, exact atoms), joined by a
Gaussian copula with correlation 0, .5 or .9. Methods:

* ``weights``: what `pcorrect.paired_difference` does (`pcorrect.prompt_weights`)
* ``t``: paired t interval on the differences of the shares
* ``arena``: normal interval from the variance decomposition of eval-arena (arXiv 2512.21326):
  between-prompt variance of p_A - p_B plus the within-prompt variance over k, both unbiased in k
* ``bootstrap``: the plain Bayesian bootstrap of the differences
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

import numpy as np
from scipy.special import betaincinv, expit, ndtr, ndtri, stdtrit
from tables import RESULTS, write_each

from pcorrect.comparison import paired_difference
from pcorrect.data import Counts, RowReport
from pcorrect.prompt_weights import Units, mean_draws

SIZE = 100_001
GRID = (np.arange(SIZE) + 0.5) / SIZE
DRAWS = 2000


def mixture(parts):
    """Sorted values of a mixture of atoms (a number) and Betas (a pair): its quantile function."""
    values = []
    for weight, part in parts:
        count = round(weight * SIZE)
        prob = (np.arange(count) + 0.5) / count
        values.append(betaincinv(*part, prob) if isinstance(part, tuple) else np.full(count, part))
    return np.sort(np.concatenate(values))


POPULATIONS = {
    "logit-normal": (expit(0.5 + 1.5 * ndtri(GRID)), expit(0.2 + 1.8 * ndtri(GRID))),
    "heaped ends": (
        mixture([(0.4, (40, 1)), (0.3, (1, 30)), (0.3, (2, 2))]),
        mixture([(0.3, (40, 1)), (0.3, (1, 30)), (0.4, (2, 2))]),
    ),
    "60 % at 1": (
        mixture([(0.6, 1.0), (0.4, (2, 6))]),
        mixture([(0.5, 1.0), (0.5, (3, 4))]),
    ),
    "atoms 1/.3/0": (
        mixture([(0.85, 1.0), (0.1, 0.3), (0.05, 0.0)]),
        mixture([(0.8, 1.0), (0.15, 0.4), (0.05, 0.0)]),
    ),
    "atoms 1/.5/.02": (
        mixture([(0.3, 1.0), (0.3, 0.5), (0.4, 0.02)]),
        mixture([(0.35, 1.0), (0.35, 0.45), (0.3, 0.02)]),
    ),
}


def draw_p(margins, correlation, n, rng):
    """Draw the p of n prompts, shape (2, n)."""
    z = rng.standard_normal((2, n))
    z[1] = correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]
    return np.stack(
        [
            m[np.minimum((ndtr(row) * len(m)).astype(int), len(m) - 1)]
            for m, row in zip(margins, z, strict=True)
        ]
    )


def weights_interval(s, k, rng):
    draws = mean_draws(Units.from_counts(s, np.full_like(s, k)), DRAWS, rng)
    return np.quantile(draws[:, 0] - draws[:, 1], [0.025, 0.975])


def t_interval(s, k, rng):
    d = (s[0] - s[1]) / k
    reach = stdtrit(len(d) - 1, 0.975) * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean() - reach, d.mean() + reach


def arena_interval(s, k, rng):
    d, share = (s[0] - s[1]) / k, s / k
    total = d.var()
    if k > 1:
        within = np.mean(share * (1 - share)) * 2 * k / (k - 1)
        between = max(d.var() - within / k, 0.0)
        total = between + within / k
    reach = 1.959964 * np.sqrt(total / len(d))
    return d.mean() - reach, d.mean() + reach


def bootstrap_interval(s, k, rng):
    value, times = np.unique((s[0] - s[1]) / k, return_counts=True)
    weight = rng.standard_gamma(times, (DRAWS, len(times)))
    return np.quantile(weight @ value / weight.sum(axis=1), [0.025, 0.975])


METHODS = {
    "weights": weights_interval,
    "t": t_interval,
    "arena": arena_interval,
    "bootstrap": bootstrap_interval,
}


def mu(scale: float) -> Iterator[dict[str, object]]:
    """Coverage and mean width of 95 % intervals for the difference of mu."""
    for n, replications in ((30, 2000), (200, 500), (1000, 200)):
        for name, margins in POPULATIONS.items():
            truth = margins[0].mean() - margins[1].mean()
            for correlation in (0.0, 0.5, 0.9):
                for k in (1, 4, 16):
                    rng = np.random.default_rng([n, k, int(10 * correlation)])
                    count = max(20, int(replications * scale))
                    found = np.empty((count, len(METHODS), 2))
                    for r in range(count):
                        s = rng.binomial(k, draw_p(margins, correlation, n, rng))
                        for m, method in enumerate(METHODS.values()):
                            found[r, m] = method(s, k, rng)
                    inside = np.mean((found[..., 0] <= truth) & (truth <= found[..., 1]), axis=0)
                    width = np.mean(found[..., 1] - found[..., 0], axis=0)
                    row: dict[str, object] = {
                        "population": name,
                        "correlation": correlation,
                        "n": n,
                        "k": k,
                        "replications": count,
                    }
                    for m, method_name in enumerate(METHODS):
                        row[f"coverage_{method_name}"] = f"{inside[m]:.3f}"
                    for m, method_name in enumerate(METHODS):
                        row[f"width_{method_name}"] = f"{width[m] / width[1]:.3f}"
                    row["width_t_absolute"] = f"{width[1]:.4f}"
                    yield row


def to_counts(s, k) -> Counts:
    rows = tuple(RowReport(int(k * s.shape[1]), int(k * s.shape[1])) for _ in s)
    prompt = np.array([str(i) for i in range(s.shape[1])], object)
    return Counts(
        "simulated",
        np.array(["a", "b"], object),
        prompt,
        s,
        np.full_like(s, k),
        np.ones(s.shape, bool),
        rows,
    )


def score(scale: float, model: str = "beta_bernoulli") -> Iterator[dict[str, object]]:
    """Coverage and mean width of score, against the normal interval of the moments."""
    for name in ("logit-normal", "heaped ends", "60 % at 1"):
        for correlation, n, k in ((0.5, 30, 8), (0.9, 200, 4), (0.9, 200, 16)):
            rng = np.random.default_rng([n, k, len(name)])
            count = max(10, int(200 * scale))
            inside, width = np.zeros(2), np.zeros(2)
            for r in range(count):
                p = draw_p(POPULATIONS[name], correlation, n, rng)
                s = rng.binomial(k, p)
                truth = p[0].mean() - p[1].mean()
                result = paired_difference(to_counts(s, k), "a", "b", model=model, seed=r)
                reach = 1.959964 * (result.se_score or 0.0)
                pairs = (
                    (result.score.lower, result.score.upper),
                    (result.difference - reach, result.difference + reach),
                )
                for i, (low, high) in enumerate(pairs):
                    inside[i] += low <= truth <= high
                    width[i] += high - low
            yield {
                "model": model,
                "population": name,
                "correlation": correlation,
                "n": n,
                "k": k,
                "replications": count,
                "coverage_posterior": f"{inside[0] / count:.3f}",
                "coverage_normal": f"{inside[1] / count:.3f}",
                "width_posterior_over_normal": f"{width[0] / width[1]:.3f}",
            }


def reliability(scale: float) -> Iterator[dict[str, object]]:
    """Among comparisons with P(better) in a bin: how often a really is better."""
    for n, k, correlation in ((30, 4, 0.5), (30, 4, 0.9), (200, 1, 0.9), (200, 8, 0.9)):
        rng = np.random.default_rng([n, k, 77])
        count = max(200, int(4000 * scale))
        said, true = np.empty(count), np.empty(count, bool)
        # Differences spread over about three standard errors, symmetric around 0.
        spread = 3 * np.sqrt(0.16 / n)
        for r in range(count):
            middle, shift = rng.normal(0.5, 1), rng.normal(0, 6 * spread)
            z = rng.standard_normal((2, n))
            z[1] = correlation * z[0] + np.sqrt(1 - correlation**2) * z[1]
            p = expit(np.array([[middle + shift / 2], [middle - shift / 2]]) + 1.7 * z)
            s = rng.binomial(k, p)
            draws = mean_draws(Units.from_counts(s, np.full_like(s, k)), DRAWS, rng)
            gap = draws[:, 0] - draws[:, 1]
            said[r] = np.mean(gap > 0) + 0.5 * np.mean(gap == 0)
            true[r] = shift > 0
        edges = [0, 0.025, 0.1, 0.25, 0.4, 0.6, 0.75, 0.9, 0.975, 1.0001]
        for low, high in itertools.pairwise(edges):
            here = (said >= low) & (said < high)
            if not here.any():
                continue
            mean = said[here].mean()
            yield {
                "n": n,
                "k": k,
                "correlation": correlation,
                "bin": f"{low:g}-{min(high, 1):g}",
                "comparisons": int(here.sum()),
                "mean_p_better": f"{mean:.3f}",
                "share_better": f"{true[here].mean():.3f}",
                "standard_error": f"{np.sqrt(mean * (1 - mean) / here.sum()):.3f}",
            }


def seeds(scale: float) -> Iterator[dict[str, object]]:
    """Standard deviation of P(better) over 20 seeds at the default number of draws."""
    for name, margins in POPULATIONS.items():
        for n, k in ((30, 4), (200, 8)):
            rng = np.random.default_rng([n, k])
            s = rng.binomial(k, draw_p((margins[0], margins[0]), 0.9, n, rng))
            counts = to_counts(s, k)
            found = [
                paired_difference(counts, "a", "b", seed=seed, model="beta_bernoulli").p_better
                for seed in range(20)
            ]
            yield {
                "population": name,
                "n": n,
                "k": k,
                "mean_p_better": f"{np.mean(found):.4f}",
                "sd_p_better": f"{np.std(found, ddof=1):.4f}",
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("mu", "score", "reliability", "seeds"))
    parser.add_argument("--model", default="beta_bernoulli", help="of score (beta_bernoulli)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the replications")
    args = parser.parse_args()
    functions = {"mu": mu, "reliability": reliability, "seeds": seeds}
    scale = 0.1 if args.quick else 1.0
    found = score(scale, args.model) if args.what == "score" else functions[args.what](scale)
    write_each(RESULTS / f"pairs_{args.what}.csv", found)


if __name__ == "__main__":
    main()
