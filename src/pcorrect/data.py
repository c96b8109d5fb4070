"""Counts of correct generations, llm x prompt: what every estimator starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.errors import ChoiceError, DataError

if TYPE_CHECKING:
    import xarray as xr

IntArray = NDArray[np.int64]
#: Generations of one prompt, at most: sums over all counts up to k take minutes and gigabytes.
MOST_GENERATIONS = 10_000_000


@dataclass(frozen=True)
class RowReport:
    """How many rows of the input were read, used and left out, and why.

    Parameters
    ----------
    read, used : int
        Generations in the input; generations that entered the counts.
    left_out : mapping of str to int
        Reason -> number of generations; ``read == used + sum(left_out.values())``.
    notes : tuple of str
        What was decided on the user's behalf (a scale that was recognised, a join key, …).
    """

    read: int
    used: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.read != self.used + sum(self.left_out.values()):
            raise AssertionError(f"rows do not add up: {self}")


@dataclass(frozen=True)
class PromptCounts:
    """The counts of one llm on one benchmark: the input of `fit` and `moments`.

    Parameters
    ----------
    llm, benchmark : str
    prompt : ndarray of str, shape (n,)
        Prompt ids, unique.
    n_correct : ndarray of int64, shape (n,)
        Correct generations s_i, ``0 <= s_i <= k_i``.
    n_generations : ndarray of int64, shape (n,)
        Scored generations k_i >= 0.
    rows : RowReport
    """

    llm: str
    benchmark: str
    prompt: NDArray[np.object_]
    n_correct: IntArray
    n_generations: IntArray
    rows: RowReport

    def __post_init__(self) -> None:
        check_counts(self.n_correct, self.n_generations)
        if len(self.prompt) != len(self.n_correct):
            raise DataError(f"{len(self.prompt)} prompt ids for {len(self.n_correct)} counts")

    @classmethod
    def from_arrays(
        cls,
        n_correct: object,
        n_generations: object,
        *,
        llm: str = "llm",
        benchmark: str = "benchmark",
        prompt: object = None,
    ) -> PromptCounts:
        """Build from plain arrays; `n_generations` may be one number for all prompts.

        Raises
        ------
        DataError
            A count is not a whole number, negative, or above its number of generations; prompt ids
            are missing or occur twice.
        """
        s, k = _whole(n_correct, "n_correct"), _whole(n_generations, "n_generations")
        if len(k) == 1:
            k = np.broadcast_to(k, s.shape).copy()
        ids = [str(i) for i in range(len(s))]
        if prompt is not None:
            given = list(np.asarray(prompt, object))
            ids = ["" if x is None or x != x else str(x) for x in given]
            twice = [i for i, n in Counter(ids).items() if n > 1 or not i]
            if twice:
                raise DataError(f"prompt ids must be unique and not empty: {twice[0]!r} is not")
        report = RowReport(read=int(k.sum()), used=int(k.sum()))
        return cls(llm, benchmark, np.array(ids, object), s, k, report)


@dataclass(frozen=True)
class Counts:
    """Counts of every llm on every prompt of one benchmark.

    Parameters
    ----------
    benchmark : str
    llm : ndarray of str, shape (n_llm,)
    prompt : ndarray of str, shape (n_prompt,)
        The union of all llms' prompts, in order of first appearance.
    n_correct, n_generations : ndarray of int64, shape (n_llm, n_prompt)
        ``n_generations`` is 0 where a prompt has no scored generation.
    listed : ndarray of bool, shape (n_llm, n_prompt)
        Whether the llm's input names the prompt at all (a listed prompt can have k = 0).
    rows : tuple of RowReport, length n_llm
    group : ndarray of str, shape (n_prompt,), optional
        Natural group of each prompt (subject, document, …).
    """

    benchmark: str
    llm: NDArray[np.object_]
    prompt: NDArray[np.object_]
    n_correct: IntArray
    n_generations: IntArray
    listed: NDArray[np.bool_]
    rows: tuple[RowReport, ...]
    group: NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        check_counts(self.n_correct, self.n_generations)

    def select(self, llm: str | None = None) -> PromptCounts:
        """Counts of one llm on the prompts that its input lists.

        Raises
        ------
        ChoiceError
            `llm` is not among the llms, or is not given where there are several.
        """
        names = [str(name) for name in self.llm]
        if llm is None and len(names) == 1:
            llm = names[0]
        if llm not in names:
            what = "several llms" if llm is None else f"no llm {llm!r}"
            raise ChoiceError(
                f"{what} in benchmark {self.benchmark!r}: choose one of {names}", names
            )
        i = names.index(llm)
        here = self.listed[i]
        return PromptCounts(
            llm,
            self.benchmark,
            self.prompt[here],
            self.n_correct[i, here],
            self.n_generations[i, here],
            self.rows[i],
        )

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy: variables ``n_correct`` and ``n_generations`` over (llm, prompt)."""
        import xarray as xr

        coords: dict[str, object] = {"llm": self.llm.astype(str), "prompt": self.prompt.astype(str)}
        if self.group is not None:
            coords["group"] = ("prompt", self.group.astype(str))
        return xr.Dataset(
            {
                "n_correct": (("llm", "prompt"), self.n_correct),
                "n_generations": (("llm", "prompt"), self.n_generations),
            },
            coords=coords,
            attrs={"benchmark": self.benchmark},
        )


#: Said of llms that cannot be fitted.
UNSCORED = "left out, no scored generation"


def each_llm(tables: Iterable[Counts]) -> tuple[list[PromptCounts], list[str]]:
    """One entry per llm and benchmark, in order, and the names of those without any score.

    Where nothing has a score the first is kept: the fit says what is wrong with it.
    """
    found = [counts.select(str(llm)) for counts in tables for llm in counts.llm]
    scored = [one for one in found if one.n_generations.any()] or found[:1]
    return scored, [f"{x.llm} on {x.benchmark}" for x in found if not x.n_generations.any()]


def check_counts(n_correct: IntArray, n_generations: IntArray) -> None:
    """Raise `DataError` unless ``0 <= n_correct <= n_generations <= 10**7`` everywhere."""
    if n_correct.shape != n_generations.shape:
        raise DataError(
            f"n_correct {n_correct.shape} and n_generations {n_generations.shape} differ"
        )
    bad = (n_correct < 0) | (n_generations < 0) | (n_correct > n_generations)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise DataError(
            f"n_correct = {n_correct[where]} of n_generations = {n_generations[where]} at position "
            f"{where}: a count must lie between 0 and its number of generations"
        )
    _check_most(n_generations, "n_generations")


def _check_most(values: NDArray[Any], name: str) -> None:
    largest = float(values.max(initial=0))
    if largest > MOST_GENERATIONS:
        raise DataError(
            f"{name} is {largest:g} for one prompt, and at most {MOST_GENERATIONS:,} can be "
            "computed with; is the column one of counts?"
        )


def _whole(values: object, name: str) -> IntArray:
    array = np.atleast_1d(np.asarray(values))
    if array.ndim > 1:
        raise DataError(
            f"{name} must have one number per prompt, got shape {array.shape}: for a matrix y of "
            "outcomes (prompt x generation) give y.sum(axis=1) and y.shape[1]"
        )
    if np.ma.is_masked(values):
        raise DataError(f"{name} has masked values: leave these prompts out, or give 0 of 0")
    if array.dtype.kind not in "iubf" or not np.all(np.isfinite(array.astype(float))):
        raise DataError(f"{name} must hold whole numbers, got {array.dtype} {array[:3]}")
    if np.any(array != np.floor(array)):
        raise DataError(f"{name} must hold whole numbers, got {array[array != np.floor(array)][0]}")
    _check_most(array, name)
    return array.astype(np.int64)
