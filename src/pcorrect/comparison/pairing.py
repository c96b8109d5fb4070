"""Which llms, which prompts: what two or more llms have in common, counted and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.data import Counts, IntArray, PromptCounts
from pcorrect.errors import ChoiceError, DataError


def row_of(counts: Counts, llm: str) -> int:
    """Position of an llm.

    Raises
    ------
    ChoiceError
        It does not occur.
    """
    names = [str(name) for name in counts.llm]
    if llm not in names:
        raise ChoiceError(
            f"no llm {llm!r} in benchmark {counts.benchmark!r}: choose from {names}", names
        )
    return names.index(llm)


def two_llms(counts: Counts, a: str | None, b: str | None) -> tuple[str, str]:
    """The two llms to compare: the ones named, or the only two.

    Raises
    ------
    ChoiceError
        They are not named and there are not exactly two.
    """
    names = [str(name) for name in counts.llm]
    if a is not None and b is not None:
        return a, b
    if a is None and b is None and len(names) == 2:
        return names[0], names[1]
    raise ChoiceError(
        f"benchmark {counts.benchmark!r} holds {len(names)} llm(s): name the two to compare, of "
        f"{names}",
        names,
    )


def require_groups(counts: Counts | Pair) -> NDArray[np.object_]:
    """The groups of the prompts; a prompt without one is a group of its own.

    Raises
    ------
    DataError
        There are none.
    """
    if counts.group is None:
        raise DataError(
            f"benchmark {counts.benchmark!r} has no groups of prompts: name the column that holds "
            "them (columns={'group': …}, --column group=…)"
        )
    own = [
        group or f"\0{prompt}" for group, prompt in zip(counts.group, counts.prompt, strict=True)
    ]
    return np.array(own, object)


def ungrouped(tables: Sequence[Counts | Pair]) -> list[str]:
    """Notes on prompts without a group, where groups are the units."""
    return [
        f"{table.benchmark}: {blank} prompts have no group: each is a unit of its own"
        for table in tables
        if table.group is not None and (blank := int(np.sum(table.group == "")))
    ]


@dataclass(frozen=True)
class Pair:
    """Two llms on one benchmark.

    Parameters
    ----------
    a, b, benchmark : str
    prompt : ndarray of str, shape (n,)
        Prompts with a scored generation of both (paired), else of either.
    n_correct, n_generations : ndarray of int64, shape (2, n)
    n_shared, only_a, only_b : int
        Prompts with a scored generation of both, of a only, of b only.
    group : ndarray of str, shape (n,), optional
    notes : tuple of str
    """

    a: str
    b: str
    benchmark: str
    prompt: NDArray[np.object_]
    n_correct: IntArray
    n_generations: IntArray
    n_shared: int
    only_a: int
    only_b: int
    group: NDArray[np.object_] | None
    paired: bool
    notes: tuple[str, ...]

    def select(self, which: int) -> PromptCounts:
        """Counts of a (0) or b (1) on their prompts of this comparison."""
        here = self.n_generations[which] > 0
        return PromptCounts.from_arrays(
            self.n_correct[which, here],
            self.n_generations[which, here],
            llm=(self.a, self.b)[which],
            benchmark=self.benchmark,
            prompt=self.prompt[here],
        )

    @property
    def same_counts(self) -> bool:
        """Whether both llms have the same counts on every prompt."""
        return bool(
            np.array_equal(self.n_correct[0], self.n_correct[1])
            and np.array_equal(self.n_generations[0], self.n_generations[1])
        )

    @property
    def reversed_order(self) -> bool:
        """Whether b's counts come first in an order that knows nothing of names.

        Everything is computed in that order, so that swapping a and b flips signs and nothing else.
        """
        keys = [(self.n_generations[i].tolist(), self.n_correct[i].tolist()) for i in range(2)]
        return keys[0] > keys[1]


def make_pair(counts: Counts, a: str, b: str, *, paired: bool = True) -> Pair:
    """Align two llms by prompt id.

    Raises
    ------
    ChoiceError
        An llm does not occur.
    DataError
        They share no prompt (paired), or one has no scored generation.
    """
    rows = [row_of(counts, a), row_of(counts, b)]
    k, s = counts.n_generations[rows], counts.n_correct[rows]
    seen = k > 0
    both = seen.all(axis=0)
    only = [int(np.sum(seen[i] & ~seen[1 - i])) for i in range(2)]
    shared = int(both.sum())
    for i, llm in enumerate((a, b)):
        if not seen[i].any():
            raise DataError(
                f"llm {llm!r} has no scored generation on benchmark {counts.benchmark!r}"
            )
    if paired and not shared:
        raise DataError(
            f"{a!r} and {b!r} share no prompt of benchmark {counts.benchmark!r} "
            f"({only[0]} only in {a!r}, {only[1]} only in {b!r}): a paired comparison needs common "
            "prompts. If the two sets are separate draws from one population, ask for the unpaired "
            "comparison by name: --unpaired, or paired=False"
        )
    notes = []
    if paired and (only[0] or only[1]):
        notes.append(f"{only[0]} only in {a}, {only[1]} only in {b}: left out of the comparison")
    if not paired and shared:
        notes.append(
            f"{shared} prompts are shared, and the unpaired comparison ignores it: "
            "its interval is wider than it need be"
        )
    empty = int(np.sum(counts.listed[rows].any(axis=0) & ~seen.any(axis=0)))
    if empty:
        notes.append(f"{empty} prompts have no scored generation of either")
    keep = both if paired else seen.any(axis=0)
    return Pair(
        a,
        b,
        counts.benchmark,
        counts.prompt[keep],
        s[:, keep],
        k[:, keep],
        shared,
        only[0],
        only[1],
        None if counts.group is None else counts.group[keep],
        paired,
        tuple(notes),
    )
