"""How random is an llm: the within variance, and the share of prompts that are decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc

from pcorrect.comparison.draws import prompt_draws, select_llms, with_bar
from pcorrect.comparison.estimates import Estimate, probability_above
from pcorrect.comparison.pairing import row_of
from pcorrect.data import Counts, PromptCounts
from pcorrect.errors import DataError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, Fit, run_fit
from pcorrect.marginal import CiKind, FloatArray, check_interval
from pcorrect.moment_estimates import moments
from pcorrect.plain import plain
from pcorrect.populations.population import Population

_DRAWS = 1000


@dataclass(frozen=True)
class Randomness:
    """How random the answers of one llm are; None where the data do not identify it.

    Parameters
    ----------
    llm, benchmark : str
    n_prompts : int
    within : Estimate or None
        W = mean of p_i (1 - p_i) over these prompts: the variance of one generation around its
        prompt's p, between 0 (deterministic) and .25.
    decided : Estimate or None
        Share of these prompts with p_i <= margin or p_i >= 1 - margin.
    within_new, decided_new : Estimate or None
        The same for new prompts like these.
    within_moment : float or None
        Unbiased moment estimate of W.
    margin : float
    notes : tuple of str
    """

    llm: str
    benchmark: str
    n_prompts: int
    within: Estimate | None
    decided: Estimate | None
    within_new: Estimate | None
    decided_new: Estimate | None
    within_moment: float | None
    margin: float
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        row: dict[str, Any] = {
            "llm": self.llm,
            "benchmark": self.benchmark,
            "n_prompts": self.n_prompts,
            "within_moment": self.within_moment,
            "margin": self.margin,
            "notes": list(self.notes),
        }
        for name in ("within", "decided", "within_new", "decided_new"):
            value = getattr(self, name)
            row[name] = None if value is None else value.to_dict()
        return row


@dataclass(frozen=True)
class RandomnessTable:
    """Randomness of several llms on the same prompts, and every pair of them compared.

    Parameters
    ----------
    rows : tuple of Randomness
    p_more_random : ndarray, shape (L, L)
        P(W of the row > W of the column) on these prompts; nan where not identified.
    n_prompts, n_left_out : int
        Prompts that all have, and prompts left out.
    """

    rows: tuple[Randomness, ...]
    p_more_random: FloatArray
    n_prompts: int
    n_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "llms": [row.to_dict() for row in self.rows],
            "p_more_random": plain(self.p_more_random),
            "n_prompts": self.n_prompts,
            "n_left_out": self.n_left_out,
        }


def randomness(
    data: Any,
    *,
    llm: str | list[str] | None = None,
    benchmark: str | None = None,
    margin: float = 0.05,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    model: str = DEFAULT_MODEL,
    seed: int = 0,
    progress: bool = False,
    **reading: Any,
) -> RandomnessTable:
    """Within variance and share of decided prompts of llms, on the prompts that they share.

    Parameters
    ----------
    data : Counts, list of Counts, path, list of paths, data frame or Generations
    llm : str or list of str, optional
        Default: all.
    margin : float
        A prompt with p_i within `margin` of 0 or 1 is decided; in (0, .5).
    progress : bool
        Show a progress bar over the llms.
    benchmark, ci_prob, ci_kind, model, seed, **reading
        As in `paired_difference`.

    Returns
    -------
    RandomnessTable

    Raises
    ------
    DataError
        The llms share no prompt.
    PcorrectError
        `margin` is out of range.
    """
    check_interval(ci_prob, ci_kind)
    if not 0 < margin < 0.5:
        raise PcorrectError(f"margin = {margin}: needs a number between 0 and 0.5")
    counts, names = select_llms(data, llm, benchmark, **reading)
    rows = [row_of(counts, name) for name in names]
    seen = counts.n_generations[rows] > 0
    keep = seen.all(axis=0)
    if not keep.any():
        raise DataError(
            f"no prompt of benchmark {counts.benchmark!r} has generations of all of {names}: "
            "choose llms that share prompts"
        )
    found, drawn = [], []
    for i, name in with_bar(list(enumerate(names)), "llm", show=progress):
        one = _shared(counts, rows[i], keep, name)
        # Streams of their own: the same counts under two names are two independent llms.
        result, within = _one(one, margin, ci_prob, ci_kind, model, seed, i)
        found.append(result)
        drawn.append(within)
    size = len(names)
    better = np.full((size, size), np.nan)
    for i in range(size):
        for j in range(size):
            first, second = drawn[i], drawn[j]
            if first is not None and second is not None:
                better[i, j] = 0.5 if i == j else probability_above(first - second)
    return RandomnessTable(
        tuple(found), better, int(keep.sum()), int(seen.any(axis=0).sum() - keep.sum())
    )


def _shared(counts: Counts, row: int, keep: Any, name: str) -> PromptCounts:
    return PromptCounts.from_arrays(
        counts.n_correct[row, keep],
        counts.n_generations[row, keep],
        llm=name,
        benchmark=counts.benchmark,
        prompt=counts.prompt[keep],
    )


def _one(
    counts: PromptCounts,
    margin: float,
    ci_prob: float,
    ci_kind: CiKind,
    model: str,
    seed: int,
    stream: int,
) -> tuple[Randomness, FloatArray | None]:
    closed = moments(counts).within
    n = len(counts.prompt)
    if counts.n_generations.max() < 2:
        note = "k = 1: how random the answers are is not identified"
        empty = Randomness(
            counts.llm, counts.benchmark, n, None, None, None, None, None, margin, (note,)
        )
        return empty, None
    fit = run_fit(counts, model=model, seed=seed)
    rng = np.random.default_rng([seed, 5, stream])
    within, decided = here(fit, margin, rng)
    new = (None, None) if fit.population is None else _elsewhere(fit.population, margin)

    def estimate(draws: FloatArray | None) -> Estimate | None:
        return None if draws is None else Estimate.from_draws(draws, ci_prob, ci_kind)

    row = Randomness(
        counts.llm,
        counts.benchmark,
        n,
        estimate(within),
        estimate(decided),
        estimate(new[0]),
        estimate(new[1]),
        closed,
        margin,
    )
    return row, rng.permutation(within)


def here(fit: Fit, margin: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draws of W and of the share of decided prompts over the prompts at hand."""
    within, decided = [], []
    for p in prompt_draws(fit, _DRAWS, rng):
        within.append(np.mean(p * (1 - p), axis=1))
        decided.append(np.mean((p <= margin) | (p >= 1 - margin), axis=1))
    return np.concatenate(within), np.concatenate(decided)


def _elsewhere(population: Population, margin: float) -> tuple[FloatArray, FloatArray]:
    """W and the share of decided prompts of each draw of the population."""
    mu = population.mean()
    within = mu * (1 - mu) - population.variance()
    atoms = (population.atom <= margin) | (population.atom >= 1 - margin)
    a, b = population.a, population.b
    rest = betainc(a, b, margin) + betainc(b, a, margin)
    return within, population.beta_weight * rest + np.sum(population.weight * atoms, axis=1)
