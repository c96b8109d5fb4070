"""Results in: one row per generation with its answer, extracted where answers are raw responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency import extraction, texts
from pcorrect.consistency.clusters import cluster_many
from pcorrect.errors import DataError, PcorrectError
from pcorrect.parts import NOT_WRONG

if TYPE_CHECKING:
    from pcorrect.data import RowReport

TextArray = NDArray[np.object_]
IntArray = NDArray[np.int64]

# Answers of several llms are not put together where the key differs between them on more than this
# share of the prompts (options shuffled between runs).
_MOST_CONFLICTS = 0.02

# Notes whose numbers are those of one llm on one benchmark.
_OF_ONE_LLM = re.compile(
    r"(?P<n>\d+) (?:of \d+ )?(?P<what>generations have no score: .*|exact repeats of .*)"
)


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
    reports: list[RowReport] = []
    for counts in count(generations):
        reports += counts.rows
        if counts.group is not None:
            keys = [(counts.benchmark, str(prompt)) for prompt in counts.prompt]
            group.update(zip(keys, map(str, counts.group), strict=True))
    return answers(generations), group, _notes_of(reports)


def _notes_of(reports: Sequence[RowReport]) -> list[str]:
    """The notes of all llms, each once, with their numbers of generations added up."""
    sums: dict[str, int] = {}
    for note in (note for report in reports for note in report.notes):
        match = _OF_ONE_LLM.fullmatch(note)
        what = match["what"] if match else note
        sums[what] = sums.get(what, 0) + (int(match["n"]) if match else 0)
    left_out = sum(report.left_out.get(reason, 0) for report in reports for reason in NOT_WRONG)
    total = sum(report.read for report in reports) - left_out
    found = []
    for what, n in sums.items():
        if what.startswith("generations have no score"):
            # Their answers are clustered all the same.
            rule = f"{what} of P(correct)" if what.endswith("left out") else what
            found.append(f"{n} of {total} {rule}")
        else:
            found.append(f"{n} {what}" if n else what)
    return found


def with_short_keys(rows: AnswerRows) -> AnswerRows:
    """Rows whose keys are answers: of keys that are whole solutions, what they mark as such."""
    target, notes = rows.target.copy(), list(rows.notes)
    for benchmark, at in _places(rows.benchmark).items():
        if extraction.is_raw(list(target[at])):
            notes.append(
                f"{benchmark}: the keys are whole solutions; the answer in each was looked for"
            )
            target[at] = _each(target[at], extraction.extract_answer)
    return replace(rows, target=target, notes=tuple(notes))


def _places(values: Iterable[Any]) -> dict[Any, list[int]]:
    """Where each value stands."""
    found: dict[Any, list[int]] = {}
    for i, value in enumerate(values):
        found.setdefault(value, []).append(i)
    return found


def _each(values: TextArray, change: Callable[[str], str]) -> list[str | None]:
    """Texts after `change`, which is called once for each distinct one."""
    known = {text: change(text) for text in set(values) if text}
    return [known.get(text, text) for text in values]


def extracted(rows: AnswerRows, extract: extraction.How, notes: list[str]) -> TextArray:
    """Answers, looked for in raw responses; appends to `notes` what was done."""
    if extract not in extraction.HOWS:
        raise PcorrectError(f"extract must be one of {list(extraction.HOWS)}, got {extract!r}")
    answer = rows.answer.copy()
    if extract == "none":
        return answer
    if extract != "auto":
        answer[:] = _each(answer, partial(extraction.extract_answer, how=extract))
        return answer
    of_llm = _places(zip(rows.benchmark, rows.llm, strict=True))
    for benchmark, here in _places(rows.benchmark).items():
        how = extraction.kind_of(list(rows.target[here]))
        llms = list(dict.fromkeys(rows.llm[here]))
        raw = [llm for llm in llms if extraction.is_raw(list(answer[of_llm[benchmark, llm]]))]
        for llm in raw:
            at = of_llm[benchmark, llm]
            answer[at] = _each(answer[at], partial(extraction.extract_answer, how=how))
        if raw:
            whose = "" if len(raw) == len(llms) else f" of {', '.join(raw)}"
            notes.append(
                f"{benchmark}: answers{whose} are whole responses; the answer in each was looked "
                f"for (extract {how!r})"
            )
        if how == "letter":
            short = [at for llm in llms if llm not in raw for at in of_llm[benchmark, llm]]
            _take_letters(benchmark, answer, short, notes)
    return answer


def _take_letters(benchmark: str, answer: TextArray, at: list[int], notes: list[str]) -> None:
    letters = _each(answer[at], extraction.option_letter)
    n = sum(old != new for old, new in zip(answer[at], letters, strict=True))
    answer[at] = letters
    if n:
        notes.append(
            f"{benchmark}: {n} answers hold the letter and the text of an option; the letter was "
            "taken"
        )


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


def without_moved(
    rows: AnswerRows, answer: TextArray, unit: IntArray, notes: list[str]
) -> TextArray:
    """Answers, without those whose options moved between the generations of one unit.

    A letter means another option in each of them, so that equal letters are different answers;
    whether an answer is right is known all the same.
    """
    keys: dict[int, set[str]] = {}
    for at, target in zip(unit, rows.target, strict=True):
        if not texts.is_empty(target):
            keys.setdefault(int(at), set()).add(str(target).strip("() ."))
    moved = {at for at, found in keys.items() if len(found) > 1 and max(map(len, found)) == 1}
    if not moved:
        return answer
    notes.append(
        f"the key of {len(moved)} prompt(s) changes between generations of one llm (options "
        "shuffled every time): their answers cannot be compared; give the texts of the options"
    )
    gone = np.isin(unit, list(moved))
    answer = answer.copy()
    answer[gone] = None
    return answer
