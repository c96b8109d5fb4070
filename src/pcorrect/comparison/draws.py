"""Posterior draws of the p of every prompt, and fits of one llm chosen from counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pcorrect.api import one_benchmark
from pcorrect.data import Counts, PromptCounts
from pcorrect.errors import ChoiceError
from pcorrect.fitting import Fit
from pcorrect.marginal import FloatArray

# Draws times prompts that are held at once: 32 MB.
_BLOCK = 4_000_000


def prompt_draws(fit: Fit, draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Blocks of joint draws of p, shape (some draws, n), `draws` rows in all.

    Draws of the population are thinned evenly where there are more than `draws`.
    """
    if fit.population is None:
        p = fit.prompts.draws(rng)
        yield p[np.linspace(0, len(p) - 1, min(draws, len(p))).astype(np.intp)]
        return
    size = len(fit.population)
    index = np.linspace(0, size - 1, min(draws, size)).astype(np.intp)
    s, k = fit.counts.n_correct, fit.counts.n_generations
    step = max(1, _BLOCK // max(1, len(s)))
    for start in range(0, len(index), step):
        yield fit.population.take(index[start : start + step]).draw_p(s, k, rng)


def select_llms(
    data: Any, llm: str | list[str] | None, benchmark: str | None, **reading: Any
) -> tuple[Counts, list[str]]:
    """One benchmark, and the llms of it that are wanted (default: all).

    Raises
    ------
    ChoiceError
        An llm or benchmark does not occur, or no benchmark is chosen among several.
    """
    counts = one_benchmark(data, benchmark, **reading)
    names = [str(name) for name in counts.llm]
    wanted = names if llm is None else [llm] if isinstance(llm, str) else list(llm)
    for name in wanted:
        if name not in names:
            raise ChoiceError(
                f"no llm {name!r} in benchmark {counts.benchmark!r}: choose from {names}", names
            )
    return counts, wanted


def with_bar[T](items: Sequence[T], unit: str, *, show: bool) -> Iterable[T]:
    """The items, behind a progress bar on the terminal where `show` asks for one."""
    if not show:
        return items
    from tqdm import tqdm

    # disable=None: quiet where stderr is a file or a pipe
    return tqdm(items, unit=unit, leave=False, disable=None)


def scored(counts: PromptCounts) -> PromptCounts:
    """The prompts with at least one scored generation."""
    here = counts.n_generations > 0
    return PromptCounts(
        counts.llm,
        counts.benchmark,
        counts.prompt[here],
        counts.n_correct[here],
        counts.n_generations[here],
        counts.rows,
    )
