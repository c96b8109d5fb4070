"""Populations of known truth that `coverage.py` draws benchmarks from."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Truth:
    """A population of p_i.

    Parameters
    ----------
    kind : {"smooth", "spiky", "real"}
    mean : float
        mu.
    draw : callable
        ``draw(rng, n)`` gives p of `n` prompts.
    """

    kind: str
    mean: float
    draw: Callable[[np.random.Generator, int], np.ndarray]


def beta(a: float, b: float) -> Truth:
    return Truth("smooth", a / (a + b), lambda rng, n: rng.beta(a, b, n))


def point(p: float) -> Truth:
    return Truth("spiky", p, lambda rng, n: np.full(n, p))


def mixture(kind: str, *parts: tuple[float, Truth]) -> Truth:
    shares = [share for share, _ in parts]

    def draw(rng: np.random.Generator, n: int) -> np.ndarray:
        which = rng.choice(len(parts), size=n, p=shares)
        columns = np.stack([truth.draw(rng, n) for _, truth in parts], axis=1)
        return columns[np.arange(n), which]

    return Truth(kind, sum(share * truth.mean for share, truth in parts), draw)


MADE = {
    "Beta(.8,.4)": beta(0.8, 0.4),
    "Beta(2,3)": beta(2, 3),
    "85% 1, 10% .3, 5% 0": mixture("spiky", (0.85, point(1)), (0.1, point(0.3)), (0.05, point(0))),
    "30% 1, 30% .5, 40% .02": mixture(
        "spiky", (0.3, point(1)), (0.3, point(0.5)), (0.4, point(0.02))
    ),
    "60% 1, 40% Beta(2,6)": mixture("spiky", (0.6, point(1)), (0.4, beta(2, 6))),
    "Beta(40,1)+Beta(1,30)+Beta(2,2)": mixture(
        "smooth", (1 / 3, beta(40, 1)), (1 / 3, beta(1, 30)), (1 / 3, beta(2, 2))
    ),
}

# (file, least k of every prompt, ranks by mean among the runs that have it)
_REAL = (
    ("epoch_gpqa_diamond", 8, (0.5,)),
    ("epoch_otis_mock_aime", 16, (0.4, 1.0)),
    ("rg_llama3b_aime_amc_k50", 50, (0.0, 1.0)),
)
# The run on which the Beta's mean is furthest from the data's.
_ALWAYS = "grok-3-beta"


def real(folder: Path) -> dict[str, Truth]:
    """Proportions of real runs with many generations, resampled with replacement.

    Runs of one file are ordered by mean and taken at fixed ranks.
    """
    found = {}
    for file, least, ranks in _REAL:
        scores: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        with gzip.open(folder / f"{file}.csv.gz", "rt") as lines:
            for row in csv.DictReader(lines):
                run = scores[row["benchmark"], row["model"]]
                run[row["prompt_id"]].append(int(row["correct"]))
        runs = [
            (float(np.mean([np.mean(x) for x in run.values()])), name, run)
            for name, run in scores.items()
            if min(map(len, run.values())) >= least
        ]
        # A run without any right answer (or wrong one) has mu at the edge, where none can cover.
        runs = sorted((run for run in runs if 0 < run[0] < 1), key=lambda run: run[:2])
        chosen = {round(rank * (len(runs) - 1)) for rank in ranks}
        chosen |= {i for i, (_, name, _) in enumerate(runs) if name[1] == _ALWAYS}
        for i in sorted(chosen):
            mean, (benchmark, llm), run = runs[i]
            p = np.array([np.mean(x) for x in run.values()])
            found[f"{benchmark}: {llm}"] = Truth(
                "real", mean, lambda rng, n, p=p: rng.choice(p, size=n)
            )
    return found
