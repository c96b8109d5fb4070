"""Results in: one row per generation with its answer, extracted where answers are raw responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency import extraction, texts
from pcorrect.consistency.clusters import cluster_many
from pcorrect.errors import DataError, PcorrectError

TextArray = NDArray[np.object_]
IntArray = NDArray[np.int64]

# Answers of several llms are not put together where the key differs between them on more than this
# share of the prompts (options shuffled between runs).
_MOST_CONFLICTS = 0.02


@dataclass(frozen=True)
class AnswerRows:
    """One entry per generation; plain arrays of equal length.

    Parameters
    ----------
    benchmark, llm, prompt : ndarray of str
    answer : ndarray of str or None
    correct : ndarray of int
        1 right, 0 wrong, -1 without a score.
    target : ndarray of str or None
        The key, where the input has one.
    group : mapping of (str, str) to str
        (benchmark, prompt) -> natural group of the prompt (subject, document, …).
    notes : tuple of str
    """

    benchmark: TextArray
    llm: TextArray
    prompt: TextArray
    answer: TextArray
    correct: IntArray
    target: TextArray
    group: Mapping[tuple[str, str], str]
    notes: tuple[str, ...] = ()


def rows_from(data: Any) -> AnswerRows:
    """Generations with their answers.

    Parameters
    ----------
    data : AnswerRows, Answers, Generations, path or paths

    Raises
    ------
    DataError
        There are no single generations, or none of them has an answer.
    """
    if isinstance(data, AnswerRows):
        return data
    group: dict[tuple[str, str], str] = {}
    notes: list[str] = []
    found = data
    if not hasattr(data, "answer"):
        found, group, notes = _from_generations(data)
    if not len(found.prompt):
        raise DataError("there are no single generations: answers are needed, not counts")
    if all(answer is None for answer in found.answer):
        raise DataError(
            "no generation has an answer: clusters need a column of answers (such as 'answer'; "
            "name another one by a column map, answer=THEIR_NAME)"
        )
    return AnswerRows(
        found.benchmark,
        found.llm,
        found.prompt,
        found.answer,
        found.correct.astype(np.int64),
        found.target,
        group,
        tuple(notes),
    )


def _from_generations(data: Any) -> tuple[Any, dict[tuple[str, str], str], list[str]]:
    from pcorrect.consistency.unscored import read_answers
    from pcorrect.counting import count
    from pcorrect.generations import Generations
    from pcorrect.observations import answers

    generations = data if isinstance(data, Generations) else read_answers(data)
    group: dict[tuple[str, str], str] = {}
    notes: dict[str, None] = {}
    for counts in count(generations):
        for report in counts.rows:
            notes.update(dict.fromkeys(report.notes))
        if counts.group is not None:
            keys = [(counts.benchmark, str(prompt)) for prompt in counts.prompt]
            group.update(zip(keys, map(str, counts.group), strict=True))
    return answers(generations), group, list(notes)


def extracted(rows: AnswerRows, extract: extraction.How, notes: list[str]) -> TextArray:
    """Answers, looked for in raw responses; appends to `notes` what was done."""
    if extract not in extraction.HOWS:
        raise PcorrectError(f"extract must be one of {list(extraction.HOWS)}, got {extract!r}")
    answer = rows.answer.copy()
    if extract == "none":
        return answer
    for benchmark in dict.fromkeys(rows.benchmark):
        at = np.flatnonzero(rows.benchmark == benchmark)
        how: extraction.How = extract
        if extract == "auto":
            if not extraction.is_raw(list(answer[at])):
                continue
            how = extraction.kind_of(list(rows.target[at]))
            notes.append(
                f"{benchmark}: answers are whole responses; the answer in each was looked for "
                f"(extract {how!r})"
            )
        known = {text: extraction.extract_answer(text, how) for text in set(answer[at]) if text}
        answer[at] = [known.get(text, text) for text in answer[at]]
    return answer


def comparable_answers(rows: AnswerRows, i: IntArray, n: int, notes: list[str]) -> bool:
    """Whether the key of each prompt is the same for all llms; `i` is each row's prompt of n."""
    keys: list[set[str]] = [set() for _ in range(n)]
    for at, target in zip(i, rows.target, strict=True):
        if not texts.is_empty(target):
            keys[at].add(target)
    several = [at for at, found in enumerate(keys) if len(found) > 1]
    if several:
        judged = cluster_many([sorted(keys[at]) for at in several])
        several = [at for at, found in zip(several, judged, strict=True) if len(found) > 1]
    if len(several) <= _MOST_CONFLICTS * n:
        return True
    notes.append(
        f"the key of {len(several)} of {n} prompts differs between generations (options shuffled "
        "between runs?): answers are compared within each llm only"
    )
    return False
