r"""Are the generations exchangeable? Spread of run means, and the gap between best and worst run.

Where the number of a generation means something (epoch, run, seed) column j of the outcomes is one
run of the benchmark. Exchangeable generations are, given that s_i of k_i are correct, placed at
random among the k_i columns: whatever the p_i are, and whatever population they come from. So the
reference distribution of

.. math::

    d_j = \frac{1}{n_j} \sum_i (y_{ij} - \hat p_i), \qquad
    \mathrm{spread} = \sum_j n_j d_j^2, \qquad \mathrm{gap} = \max_j d_j - \min_j d_j

is exact: random placements (a permutation test). Subtracting the prompt's own mean lets runs with
missing generations be compared; without any, d_j is the run's mean minus the grand mean. What is
missing must not depend on the outcomes: where prompts end when they are right, the last are right.

With posterior draws of the p_i the same statistics are also compared with replicated runs
y_ij ~ Bernoulli(p_i): posterior predictive p-values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pcorrect.data import IntArray
from pcorrect.errors import DataError
from pcorrect.marginal import FloatArray

REPLICATES = 999
# Up to so many cells (prompt x run x replicate) placements are drawn one by one; beyond, the d_j
# are normal with the exact covariance of random placement.
_MOST_CELLS = 30_000_000
_MOST_AT_ONCE = 4_000_000
# Runs of fewer generations on average are none.
_FEWEST = 1.5

Status = Literal["differ", "doubtful", "no sign", "not checked"]


@dataclass(frozen=True)
class RunCheck:
    """Whether the runs of one llm on one benchmark differ by more than chance.

    Parameters
    ----------
    status : str
        "differ" (`p_value` below .01), "doubtful" (below .05), "no sign" or "not checked".
    verdict : str
        One sentence.
    n_prompts : int
        Prompts with at least two scored generations, and not all of them the same.
    n_by_run : ndarray of int, shape (k,)
        Scored generations of each run.
    mean : ndarray, shape (k,)
        Share correct of each run, among the prompts that it has (nan without any).
    effect : ndarray, shape (k,)
        d_j: difference from what its prompts get on average.
    p_run : ndarray, shape (k,)
        Chance that any run of an exchangeable set stands out as far as this one.
    numbers : tuple of int
        What the columns are called, such as the numbers of the generations.
    gap : float
        Best minus worst effect.
    gap_expected, gap_limit : float
        Mean and 99 % quantile of the gap of exchangeable runs.
    p_gap, p_spread : float or None
        Shares of random placements with as large a gap or spread.
    p_gap_predictive, p_spread_predictive : float or None
        Posterior predictive p-values, where draws of p are given.
    p_value : float or None
        Twice the smaller of `p_gap` and `p_spread`, at most 1.
    outstanding : tuple of int
        Runs (columns, from 0) with `p_run` below .05, furthest first.
    """

    status: Status
    verdict: str
    n_prompts: int
    n_by_run: IntArray
    mean: FloatArray
    effect: FloatArray
    p_run: FloatArray
    numbers: tuple[int, ...]
    gap: float = 0.0
    gap_expected: float = 0.0
    gap_limit: float = 0.0
    p_gap: float | None = None
    p_spread: float | None = None
    p_gap_predictive: float | None = None
    p_spread_predictive: float | None = None
    p_value: float | None = None
    outstanding: tuple[int, ...] = ()


def check_runs(
    outcomes: NDArray[np.integer],
    *,
    p: FloatArray | None = None,
    numbers: Sequence[int] | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> RunCheck:
    """Test whether generations with the same number form runs that differ.

    Parameters
    ----------
    outcomes : ndarray of int, shape (n, k)
        1 correct, 0 wrong, -1 missing; column j is one run.
    p : ndarray, shape (D, n), optional
        Joint posterior draws of the p_i, for posterior predictive p-values.
    numbers : sequence of int, length k, optional
        What the runs are called in the verdict; default from 1.
    seed : int
    replicates : int
        The smallest p-value is ``1 / (1 + replicates)``.

    Raises
    ------
    DataError
        An outcome is not 0, 1 or -1, or `p` does not belong to these prompts.
    """
    outcomes = _checked(outcomes, p)
    runs = _Runs(outcomes)
    if outcomes.shape[1] < 2:
        return not_compared(outcomes, "there is one generation per prompt")
    if len(outcomes) == 1:
        return not_compared(outcomes, "there is one prompt only")
    if runs.scored.sum() < _FEWEST * outcomes.shape[1]:
        return not_compared(outcomes, "prompts do not share the numbers of their generations")
    if not runs.varied.any():
        return not_compared(outcomes, "no prompt has both right and wrong generations")
    rng = np.random.default_rng([seed, 6])
    effect = runs.effect(runs.y - runs.p_hat[:, None])
    # Random placement of s_i ones: per prompt the covariance of sampling without replacement.
    placed = runs.simulate(np.full(replicates, -1), None, rng)
    p_gap, p_spread = runs.tails(effect, placed)
    predictive: tuple[float | None, float | None] = (None, None)
    if p is not None:
        row = rng.integers(len(p), size=replicates)
        predictive = runs.tails(effect, runs.simulate(row, p, rng))
    z, z_placed = (np.abs(x) * np.sqrt(runs.n_by_run) for x in (effect, placed))
    furthest = z_placed.max(axis=1)
    p_run = (1 + np.sum(furthest[:, None] >= z - 1e-12, axis=0)) / (1 + replicates)
    gaps = np.ptp(placed[:, runs.some], axis=1)
    p_value = min(1.0, 2 * min(p_gap, p_spread))
    order = np.argsort(-z)
    found = RunCheck(
        "differ" if p_value < 0.01 else "doubtful" if p_value < 0.05 else "no sign",
        "",
        int(runs.varied.sum()),
        runs.scored.sum(axis=0),
        runs.mean(),
        effect,
        p_run,
        tuple(numbers or range(1, len(effect) + 1)),
        float(np.ptp(effect[runs.some])),
        float(gaps.mean()),
        float(np.quantile(gaps, 0.99)),
        p_gap,
        p_spread,
        *predictive,
        p_value,
        tuple(int(j) for j in order if p_run[j] < 0.05),
    )
    return _with_verdict(found)


def _checked(outcomes: NDArray[np.integer], p: FloatArray | None) -> NDArray[np.integer]:
    outcomes = np.asarray(outcomes)
    if outcomes.ndim != 2 or not np.isin(outcomes, (-1, 0, 1)).all():
        raise DataError(
            "outcomes must be a matrix (prompt x generation) of 1 (correct), 0 (wrong) and -1 "
            f"(missing), got shape {outcomes.shape} with values {np.unique(outcomes)[:5]}"
        )
    if p is not None and (p.ndim != 2 or p.shape[1] != len(outcomes)):
        raise DataError(f"p has shape {p.shape}: needs (draw, {len(outcomes)})")
    return outcomes


class _Runs:
    """Outcomes, deviations from the prompts' means, and what exchangeable runs make of them."""

    def __init__(self, outcomes: NDArray[np.integer]) -> None:
        self.outcomes, self.scored = outcomes, outcomes >= 0
        self.y = (outcomes == 1).astype(float)
        self.s = (outcomes == 1).sum(axis=1)
        self.k = np.maximum(self.scored.sum(axis=1), 1).astype(float)
        self.p_hat = self.s / self.k
        #: The prompts that can show a difference: some generations right, some wrong.
        self.varied = (self.s > 0) & (self.s < self.k)
        self.n_by_run = np.maximum(self.scored.sum(axis=0), 1).astype(float)
        self.some = self.scored.any(axis=0)

    def effect(self, deviation: FloatArray, of: NDArray[np.bool_] | None = None) -> FloatArray:
        """d_j of deviations from prompt means, arrays of shape (..., n, k)."""
        here = self.scored if of is None else self.scored[of]
        return np.asarray(np.sum(deviation * here, axis=-2) / self.n_by_run)

    def mean(self) -> FloatArray:
        """Share correct of each run."""
        right = (self.outcomes == 1).sum(axis=0)
        n = self.scored.sum(axis=0)
        return np.where(n > 0, right / np.maximum(n, 1), np.nan)

    def tails(self, effect: FloatArray, drawn: FloatArray) -> tuple[float, float]:
        """p-values of the gap and of the spread."""
        gap, gaps = (np.ptp(x[..., self.some], axis=-1) for x in (effect, drawn))
        spread, spreads = (np.sum(self.n_by_run * x**2, axis=-1) for x in (effect, drawn))
        size = 1 + len(drawn)
        return (
            float((1 + np.sum(gaps >= gap - 1e-12)) / size),
            float((1 + np.sum(spreads >= spread - 1e-12)) / size),
        )

    def simulate(self, row: IntArray, p: FloatArray | None, rng: np.random.Generator) -> FloatArray:
        """Effects of exchangeable runs, shape (len(row), k).

        Placements of the s_i correct generations where `p` is None (prompts without variation add
        nothing), else new outcomes of the p in the given rows.
        """
        of = self.varied if p is None else self.scored.any(axis=1)
        here, s, k = self.scored[of], self.s[of], self.k[of]
        if here.size * len(row) > _MOST_CELLS:
            return self._normal(row, p, rng)
        out = np.empty((len(row), here.shape[1]))
        step = max(1, _MOST_AT_ONCE // here.size)
        for i in range(0, len(row), step):
            part = row[i : i + step]
            u = rng.random((len(part), *here.shape))
            if p is None:
                # the s_i smallest of k_i random keys
                u[:, ~here] = 2.0
                y = np.argsort(np.argsort(u, axis=2), axis=2) < s[:, None]
            else:
                y = (u < p[part][:, of, None]) & here
            centre = y.sum(axis=2) / k
            out[i : i + step] = self.effect(y - centre[:, :, None], of)
        return out

    def _normal(self, row: IntArray, p: FloatArray | None, rng: np.random.Generator) -> FloatArray:
        """Effects as normal vectors of the right covariance.

        Deviations of prompt i have the covariance v_i (1[j = l] - 1 / k_i) between its columns,
        with v_i = p_i (1 - p_i), and its unbiased estimate k / (k - 1) p_hat (1 - p_hat) for
        placements.
        """
        here = self.scored.astype(float)
        if p is None:
            v = self.p_hat * (1 - self.p_hat) * self.k / np.maximum(self.k - 1, 1)
        else:
            v = (p * (1 - p)).mean(axis=0)
        covariance = np.diag(v @ here) - (here * (v / self.k)[:, None]).T @ here
        value, vector = np.linalg.eigh(covariance)
        root = vector * np.sqrt(np.maximum(value, 0.0))
        return np.asarray(rng.standard_normal((len(row), len(value))) @ root.T / self.n_by_run)


def not_compared(outcomes: NDArray[np.integer], why: str) -> RunCheck:
    """The check of outcomes that say nothing about runs."""
    runs = _Runs(outcomes)
    zeros = np.zeros(outcomes.shape[1])
    return RunCheck(
        "not checked",
        f"Runs cannot be compared: {why}.",
        int(runs.varied.sum()),
        runs.scored.sum(axis=0),
        runs.mean(),
        zeros,
        np.ones(len(zeros)),
        tuple(range(1, len(zeros) + 1)),
    )


def _with_verdict(found: RunCheck) -> RunCheck:
    gap = (
        f"best minus worst run is {100 * found.gap:.1f} points, where exchangeable generations "
        f"give {100 * found.gap_expected:.1f} (1 in 100 above {100 * found.gap_limit:.1f})"
    )
    if found.status == "no sign":
        text = f"No sign that runs differ (p = {found.p_value:.2g}): {gap}."
    else:
        opening = "The runs differ" if found.status == "differ" else "Some doubt that runs agree"
        text = f"{opening} (p = {found.p_value:.2g}): {gap}"
        if found.outstanding:
            runs = ", ".join(
                f"generation {found.numbers[j]} ({100 * found.effect[j]:+.1f})"
                for j in found.outstanding[:3]
            )
            text += f"; {runs} stand{'s' if len(found.outstanding) == 1 else ''} out"
        text += "; error bars take generations to be exchangeable."
    return replace(found, verdict=text)
