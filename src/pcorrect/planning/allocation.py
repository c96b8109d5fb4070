"""Which prompts next: where a budget of new generations is spent best, given the results so far."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pcorrect.cells import Cells
from pcorrect.data import IntArray
from pcorrect.errors import PcorrectError
from pcorrect.planning.spending import Knowledge, decide_next, level
from pcorrect.planning.variances import Source, as_fit
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


#: What each strategy spends the generations for.
STRATEGIES = {
    "uniform": "the same number for every prompt",
    "neyman": "the score of exactly these prompts: most to the prompts whose p is least known",
    "undecided": "settle on which side of a threshold each p lies",
    "separate": "the difference of two llms' scores on exactly these prompts",
}


@dataclass(frozen=True)
class Allocation:
    """New generations by prompt.

    Parameters
    ----------
    strategy : str
    llm, prompt : ndarray of str, shape (m,)
        One entry per prompt, or per llm and prompt for two llms.
    n_generations : ndarray of int, shape (m,)
        Generations to add.
    so_far : ndarray of int, shape (m,)
        Those that are there.
    unspent : int
        Generations that would not help the goal.
    expected : mapping of str to float
        ``sd_now``, ``sd_after`` and ``sd_uniform`` (posterior sd of the score, or of the
        difference: now, expected after, expected after the same number spread evenly); or
        ``undecided_now``, ``undecided_after`` and ``undecided_uniform`` (expected prompts).
    """

    strategy: str
    llm: NDArray[np.object_]
    prompt: NDArray[np.object_]
    n_generations: IntArray
    so_far: IntArray
    unspent: int = 0
    expected: Mapping[str, float] = field(default_factory=dict)

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy, one entry per llm and prompt."""
        import xarray as xr

        return xr.Dataset(
            {"n_generations": ("entry", self.n_generations), "so_far": ("entry", self.so_far)},
            coords={
                "llm": ("entry", self.llm.astype(str)),
                "prompt": ("entry", self.prompt.astype(str)),
            },
            attrs={"strategy": self.strategy, "unspent": self.unspent, **self.expected},
        )

    def rows(self) -> list[dict[str, object]]:
        """One record per prompt that gets new generations: llm, prompt, generations."""
        return [
            {"llm": str(self.llm[i]), "prompt": str(self.prompt[i]), "generations": int(n)}
            for i, n in enumerate(self.n_generations)
            if n
        ]

    def to_csv(self) -> str:
        """The records as CSV text with a header."""
        text = io.StringIO()
        writer = csv.DictWriter(text, ["llm", "prompt", "generations"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows())
        return text.getvalue()


def next_prompts(
    source: Source,
    generations: int,
    *,
    strategy: str = "neyman",
    other: Source | None = None,
    threshold: float = 0.1,
    confidence: float = 0.95,
) -> Allocation:
    """Where to spend `generations` new generations.

    Parameters
    ----------
    source : Fit, DataTree or PromptCounts
    generations : int
    strategy : {"neyman", "uniform", "undecided", "separate"}
        "neyman": the least expected posterior variance of the score. "uniform": the totals per
        prompt as even as possible. "undecided": the most prompts with P(p_i <= threshold) at least
        `confidence` or at most 1 - `confidence`. "separate": as "neyman", for the difference of the
        scores of two llms.
    other : Fit, DataTree or PromptCounts, optional
        The second llm, for "separate".
    threshold, confidence : float
        For "undecided".

    Returns
    -------
    Allocation

    Notes
    -----
    Generations that are spent by outcome leave the posterior right: given all counts, what decided
    their number says nothing more about the p_i. The mean of the proportions is biased by it, and
    so is its standard error: report the posterior of `score` after such a step, not the moments.
    Report it under a population that can take the shape of the data, as the default model can:
    about prompts that get no more generations the population says the rest, and a plain Beta that
    does not fit says it wrongly (``benchmarks/accuracy/plan_adaptive.py``).

    Raises
    ------
    PcorrectError
        A choice or number is out of range.
    """
    if strategy not in STRATEGIES:
        raise PcorrectError(f"no strategy {strategy!r}: choose from {list(STRATEGIES)}")
    if generations < 1:
        raise PcorrectError(f"generations must be at least 1, got {generations}")
    if (other is not None) != (strategy == "separate"):
        raise PcorrectError("strategy 'separate', and only that, needs two llms")
    one = as_fit(source)
    if strategy == "undecided":
        return _undecided(one, generations, threshold, confidence)
    fits = [one] if other is None else [one, as_fit(other)]
    known = Knowledge.of(fits)
    so_far = np.concatenate([fit.counts.n_generations for fit in fits])
    even = level(so_far, generations)
    m = even if strategy == "uniform" else known.spend(generations)
    now = float(np.sqrt(sum(float(np.var(fit.draws["score"])) for fit in fits)))
    start = known.variance(np.zeros(len(known.size)))
    after, uniform = (now * np.sqrt(known.variance(known.per_prompt(x)) / start) for x in (m, even))
    expected = {"sd_now": now, "sd_after": float(after), "sd_uniform": float(uniform)}
    return Allocation(strategy, *_names(fits), m, so_far, 0, expected)


def _names(fits: list[Fit]) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    llm = np.concatenate([np.full(len(f.counts.prompt), f.counts.llm, object) for f in fits])
    return llm, np.concatenate([f.counts.prompt for f in fits])


def _undecided(fit: Fit, generations: int, threshold: float, confidence: float) -> Allocation:
    for name, value in (("threshold", threshold), ("confidence", confidence)):
        if not 0 < value < 1:
            raise PcorrectError(f"{name} must lie between 0 and 1, got {value}")
    if fit.population is None:
        raise PcorrectError(
            "strategy 'undecided' needs a built-in model, not a program of your own"
        )
    k = fit.counts.n_generations
    cells = Cells.from_counts(fit.counts.n_correct, k)
    even = level(k, generations)
    m, expected = decide_next(fit.population, cells, generations, even, threshold, confidence)
    left = generations - int(m.sum())
    return Allocation("undecided", *_names([fit]), m, k, left, expected)
