"""Groups of equal answers: who gave which answer to which prompt how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency import extraction, texts
from pcorrect.consistency.answers import (
    IntArray,
    TextArray,
    comparable_answers,
    extracted,
    rows_from,
    with_short_keys,
    without_moved,
)
from pcorrect.consistency.clusters import Clusters, Equivalence, cluster_many

# Equal answers that were scored both ways are the key from this share of right ones on.
_RIGHT_SHARE = 0.25


@dataclass(frozen=True)
class AnswerGroups:
    """Groups of equal answers, for n prompts, J llms and H groups (sorted by prompt).

    Parameters
    ----------
    benchmark, prompt, group : ndarray of str, shape (n,)
    llm : ndarray of str, shape (J,)
    row_prompt : ndarray of int64, shape (H,)
    row_text, row_rule : ndarray of str, shape (H,)
        The text that stands for the group, and the rule that made it.
    row_key, row_empty : ndarray of bool, shape (H,)
        Whether its answers are right (by their scores, or because they equal the target); whether
        they are no answers.
    count : ndarray of int64, shape (H, J)
        Generations.
    n_correct, n_scored : ndarray of int64, shape (n, J)
    comparable : bool
        Whether an answer means the same whoever gave it; otherwise each llm has rows of its own.
    notes : tuple of str
    """

    benchmark: TextArray
    prompt: TextArray
    group: TextArray
    llm: TextArray
    row_prompt: IntArray
    row_text: TextArray
    row_rule: TextArray
    row_key: NDArray[np.bool_]
    row_empty: NDArray[np.bool_]
    count: IntArray
    n_correct: IntArray
    n_scored: IntArray
    comparable: bool
    notes: tuple[str, ...]

    @property
    def answered(self) -> IntArray:
        """Generations with an answer, shape (n, J)."""
        total = np.zeros((len(self.prompt), len(self.llm)), np.int64)
        np.add.at(total, self.row_prompt, np.where(self.row_empty[:, None], 0, self.count))
        return total

    @property
    def unjudged(self) -> str | None:
        """Why nothing can be said of the keys; None where it can."""
        if not self.answered.any():
            return "no generation has an answer"
        if not (self.n_scored.any() or self.row_key.any()):
            return "there are neither scores nor keys"
        return None

    @property
    def p_hat(self) -> NDArray[np.float64]:
        """Share of correct generations, shape (n, J); NaN without a score."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.n_correct / self.n_scored, float)


def group_answers(
    data: object,
    *,
    equivalence: Equivalence = "auto",
    directed: bool = False,
    decimal: str = ".",
    extract: extraction.How = "auto",
    comparable: bool | None = None,
) -> AnswerGroups:
    """Cluster the answers to every prompt, of all llms together where they can be compared.

    Parameters
    ----------
    data : Generations, Answers, AnswerRows, path or paths
    equivalence, directed, decimal
        See `cluster`.
    extract : {"auto", "none", "boxed", "line", "letter", "number"}
        How to find the answer in a raw response. "auto" looks for one only where most answers of an
        llm on a benchmark are whole responses that mark it; a note says so. So it is for keys that
        are whole solutions, but for "none".
    comparable : bool, optional
        Whether equal answers of different llms are the same answer. Default: unless their keys
        differ (options that were shuffled between runs).

    Raises
    ------
    PcorrectError
        A choice is unknown, or there are no answers.
    """
    rows = rows_from(data)
    if extract != "none":
        rows = with_short_keys(rows)
    notes = list(rows.notes)
    answer = extracted(rows, extract, notes)
    pairs = list(zip(rows.benchmark, rows.prompt, strict=True))
    prompts = {pair: i for i, pair in enumerate(dict.fromkeys(pairs))}
    llms = {llm: j for j, llm in enumerate(dict.fromkeys(rows.llm))}
    at_prompt = np.array([prompts[pair] for pair in pairs], np.int64)
    at_llm = np.array([llms[llm] for llm in rows.llm], np.int64)
    if comparable is None:
        comparable = comparable_answers(rows, at_prompt, len(prompts), notes)
    unit = at_prompt if comparable else at_prompt * len(llms) + at_llm
    if not comparable:
        answer = without_moved(rows, answer, unit, notes)
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    members = np.split(order, starts[1:])
    targets = [sorted({t for t in rows.target[at] if not texts.is_empty(t)}) for at in members]
    clusters = cluster_many(
        [[*answer[at], *target] for at, target in zip(members, targets, strict=True)],
        equivalence=equivalence,
        directed=directed,
        decimal=decimal,
    )
    made = _Made(len(prompts), len(llms))
    for at, found in zip(members, clusters, strict=True):
        made.add(
            int(at_prompt[at[0]]), found, at_llm[at], rows.correct[at], merge_key=not comparable
        )
    if made.marked:
        notes.append(
            f"{len(made.marked)} prompt(s) have answers that equal the key and were scored wrong: "
            "they count for the key here"
        )
    if made.mixed:
        notes.append(
            f"{len(made.mixed)} prompt(s) have equal answers of which some were scored right and "
            "some wrong"
        )
    names = list(prompts)
    i, text, rule, key, empty, count = made.columns()
    return AnswerGroups(
        benchmark=_objects([benchmark for benchmark, _ in names]),
        prompt=_objects([prompt for _, prompt in names]),
        group=_objects([_group_name(rows.group, *name) for name in names]),
        llm=_objects(list(llms)),
        row_prompt=i,
        row_text=text,
        row_rule=rule,
        row_key=key,
        row_empty=empty,
        count=count,
        n_correct=made.right,
        n_scored=made.scored,
        comparable=comparable,
        notes=tuple(notes),
    )


def _group_name(group: Mapping[tuple[str, str], str], benchmark: str, prompt: str) -> str:
    name = group.get((benchmark, prompt), "")
    return f"{benchmark}/{name}" if name else benchmark


class _Made:
    """Rows of `AnswerGroups` while they are being collected."""

    def __init__(self, n: int, llms: int) -> None:
        self.llms = llms
        self.rows: list[tuple[int, str, str, bool, bool, IntArray]] = []
        self.key_at: dict[int, int] = {}
        self.right = np.zeros((n, llms), np.int64)
        self.scored = np.zeros((n, llms), np.int64)
        #: Prompts with answers that equal the key and were scored wrong, or that were scored both
        #: ways.
        self.marked: set[int] = set()
        self.mixed: set[int] = set()

    def add(self, i: int, found: Clusters, j: IntArray, correct: IntArray, merge_key: bool) -> None:
        """Add the clusters of prompt i (answers first, then the texts of the key)."""
        label, of_key = found.label[: len(j)], set(found.label[len(j) :])
        np.add.at(self.right[i], j[correct == 1], 1)
        np.add.at(self.scored[i], j[correct >= 0], 1)
        differs = mixed = False
        for h, cluster in enumerate(found.clusters):
            mine = label == h
            right, wrong = int(np.sum(correct[mine] == 1)), int(np.sum(correct[mine] == 0))
            is_key = not cluster.no_answer and (
                h in of_key or right >= max(_RIGHT_SHARE * (right + wrong), 1)
            )
            differs |= h in of_key and wrong > right
            mixed |= right > 0 and wrong > 0
            count = np.bincount(j[mine], minlength=self.llms).astype(np.int64)
            if is_key and merge_key and i in self.key_at:
                self.rows[self.key_at[i]][-1][:] += count
                continue
            if is_key:
                self.key_at[i] = len(self.rows)
            row = (i, cluster.text, str(cluster.rule), is_key, cluster.no_answer, count)
            self.rows.append(row)
        if differs:
            self.marked.add(i)
        if mixed:
            self.mixed.add(i)

    def columns(
        self,
    ) -> tuple[IntArray, TextArray, TextArray, NDArray[np.bool_], NDArray[np.bool_], IntArray]:
        """The fields from `row_prompt` to `count`, sorted by prompt."""
        rows = sorted(self.rows, key=lambda row: row[0])
        return (
            np.array([row[0] for row in rows], np.int64),
            _objects([row[1] for row in rows]),
            _objects([row[2] for row in rows]),
            np.array([row[3] for row in rows], bool),
            np.array([row[4] for row in rows], bool),
            np.array([row[5] for row in rows], np.int64).reshape(len(rows), self.llms),
        )


def _objects(values: Sequence[str | None]) -> TextArray:
    array = np.empty(len(values), object)
    array[:] = values
    return array
