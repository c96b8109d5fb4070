"""Prompts collapsed to cells: a population sees only how often each (s, k) occurs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.data import IntArray, PromptCounts


@dataclass(frozen=True)
class Cells:
    """The distinct pairs (s, k) of a data set.

    Parameters
    ----------
    n_correct, n_generations : ndarray of int64, shape (m,)
        The distinct pairs, ordered by k, then s.
    n_prompts : ndarray of int64, shape (m,)
        How many prompts have the pair.
    of_prompt : ndarray of int64, shape (n,)
        The cell of each prompt.
    """

    n_correct: IntArray
    n_generations: IntArray
    n_prompts: IntArray
    of_prompt: NDArray[np.intp]

    @classmethod
    def from_counts(cls, n_correct: IntArray, n_generations: IntArray) -> Cells:
        """Collapse per-prompt counts, both of shape (n,)."""
        width = int(n_generations.max(initial=0)) + 1
        code, of_prompt, n_prompts = np.unique(
            n_generations * width + n_correct, return_inverse=True, return_counts=True
        )
        k, s = np.divmod(code, width)
        return cls(s, k, n_prompts.astype(np.int64), of_prompt)

    @classmethod
    def scored(cls, counts: PromptCounts) -> Cells:
        """Collapse the prompts with k > 0: the score is their mean, as that of the moments is."""
        here = counts.n_generations > 0
        return cls.from_counts(counts.n_correct[here], counts.n_generations[here])
