"""Single generations out of the table: outcome matrices and answers, where their numbers matter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pcorrect import duck
from pcorrect.errors import ChoiceError, DataError
from pcorrect.generations import Generations
from pcorrect.parts import NO_COUNT, REPEAT

MISSING = -1


class Outcomes(NamedTuple):
    """Outcomes of one llm on one benchmark.

    Parameters
    ----------
    prompt : ndarray of str, shape (n,)
    correct : ndarray of int8, shape (n, k)
        1 right, 0 wrong, -1 without a score or not generated; a column is one generation number.
        Where prompts do not share their numbers (ids, seeds of each generation), column j is the
        j-th of each prompt.
    """

    prompt: NDArray[np.object_]
    correct: NDArray[np.int8]


@dataclass(frozen=True)
class Answers:
    """Answers, one entry per generation; the columns have equal length.

    Parameters
    ----------
    benchmark, llm, prompt : ndarray of str
    generation : ndarray of int64
        From the input where it numbers its generations, else counted from 1.
    answer, target : ndarray of object
        Text exactly as in the input, or None.
    correct : ndarray of int8
        1 right, 0 wrong, -1 without a score.
    """

    benchmark: NDArray[np.object_]
    llm: NDArray[np.object_]
    prompt: NDArray[np.object_]
    generation: NDArray[np.int64]
    answer: NDArray[np.object_]
    target: NDArray[np.object_]
    correct: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.prompt)


class _Row(NamedTuple):
    benchmark: str
    llm: str
    prompt: str
    source: int
    generation: int | None
    correct: int
    failed: bool
    answer: str | None
    target: str | None


# So many times the generations of any prompt: more numbers than that are not those of runs.
_MOST_NUMBERS = 10


def outcomes(
    generations: Generations, llm: str | None = None, benchmark: str | None = None
) -> Outcomes:
    """Outcomes of one llm on one benchmark, prompt by generation.

    Parameters
    ----------
    generations : Generations
    llm, benchmark : str, optional
        May be left out where there is one only.

    Returns
    -------
    Outcomes

    Raises
    ------
    ChoiceError
        There are several llms or benchmarks and none was chosen, or the chosen one is absent.
    DataError
        The input is a table of counts, or one generation has two different scores.
    """
    return outcomes_of_runs(generations, llm, benchmark)[0]


def outcomes_of_runs(
    generations: Generations, llm: str | None = None, benchmark: str | None = None
) -> tuple[Outcomes, tuple[int, ...] | None]:
    """`outcomes`, and the number of each column; None where prompts do not share their numbers."""
    llm = _choose(llm, generations.llms, "llm")
    benchmark = _choose(benchmark, generations.benchmarks, "benchmark")
    con, query = generations.con, generations.query
    where = f"llm = {duck.literal(llm)} AND benchmark = {duck.literal(benchmark)}"
    counted = con.execute(f"SELECT max(n) FROM ({query}) WHERE {where}").fetchall()[0][0]
    if counted is not None and counted > 1:
        raise DataError(
            f"llm {llm!r} on {benchmark!r}: the input holds counts per prompt, not single "
            "generations; a table with one row per generation is needed"
        )
    listed = con.execute(
        f"SELECT prompt FROM {generations.cells} WHERE {where} AND listed "
        "GROUP BY prompt ORDER BY min(first)"
    ).fetchall()
    position = {prompt: i for i, (prompt,) in enumerate(listed)}
    rows = _numbered(_rows(generations, where))
    each = Counter(row.prompt for row, _ in rows)
    several = len({number for _, number in rows})
    shared = several <= _MOST_NUMBERS * max(each.values(), default=0)
    if not shared:
        rows = _in_order(rows)
    numbers = tuple(sorted({number for _, number in rows}))
    columns = {g: j for j, g in enumerate(numbers)}
    matrix = np.full((len(position), len(columns)), MISSING, np.int8)
    for row, number in rows:
        matrix[position[row.prompt], columns[number]] = row.correct
    found = Outcomes(_texts([duck.visible(prompt) for prompt in position]), matrix)
    return found, numbers if shared else None


def _in_order(rows: Sequence[tuple[_Row, int]]) -> list[tuple[_Row, int]]:
    """Generations numbered from 1 in each prompt, in the order of their numbers."""
    last: Counter[str] = Counter()
    found = []
    for row, _ in sorted(rows, key=lambda pair: pair[1]):
        last[row.prompt] += 1
        found.append((row, last[row.prompt]))
    return found


def answers(
    generations: Generations,
    llm: str | Sequence[str] | None = None,
    benchmark: str | Sequence[str] | None = None,
) -> Answers:
    """Answer, target and outcome of every generation.

    Parameters
    ----------
    generations : Generations
    llm, benchmark : str or sequence of str, optional
        Keep these only.

    Returns
    -------
    Answers

    Raises
    ------
    DataError
        One generation has two different scores or answers.
    """
    tests = ["n = 1"]
    for name, kept in (("llm", llm), ("benchmark", benchmark)):
        if kept is not None:
            tests.append(f"{name} IN {duck.in_list([kept] if isinstance(kept, str) else kept)}")
    by_run: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for row in _rows(generations, " AND ".join(tests)):
        by_run[row.benchmark, row.llm].append(row)
    rows = [item for run in by_run.values() for item in _numbered(run)]
    return Answers(
        benchmark=_texts([row.benchmark for row, _ in rows]),
        llm=_texts([row.llm for row, _ in rows]),
        prompt=_texts([duck.visible(row.prompt) for row, _ in rows]),
        generation=np.array([number for _, number in rows], np.int64),
        answer=_texts([row.answer for row, _ in rows]),
        target=_texts([row.target for row, _ in rows]),
        correct=np.array([row.correct for row, _ in rows], np.int8),
    )


def _rows(generations: Generations, where: str) -> list[_Row]:
    query = generations.query
    found = generations.con.execute(
        f"SELECT benchmark, llm, prompt, source, generation, "
        f"CASE WHEN scored > 0 THEN correct ELSE {MISSING} END, reason IS NOT NULL, answer, target "
        f"FROM ({query}) WHERE {where} AND n > 0 AND reason IS DISTINCT FROM '{REPEAT}' "
        f"AND reason IS DISTINCT FROM '{NO_COUNT}' ORDER BY source, row, generation"
    ).fetchall()
    protected = {part.source.number for part in generations.parts if part.protected}
    return [
        _Row(*row[:-2], *map(_exact, row[-2:])) if row[3] in protected else _Row(*row)
        for row in found
    ]


def _numbered(rows: Sequence[_Row]) -> list[tuple[_Row, int]]:
    """Give every generation of one llm its number, each once.

    Sources whose numbers collide are separate runs: the later one is numbered on.
    """
    last: dict[tuple[str, int], int] = defaultdict(int)
    numbered: dict[tuple[int, str, int], _Row] = {}
    for row in rows:
        number = row.generation
        if number is None:
            number = last[row.prompt, row.source] = last[row.prompt, row.source] + 1
        key = row.source, row.prompt, number
        known = numbered.setdefault(key, row)
        if known is row or row.failed:
            continue
        if known.failed:
            numbered[key] = row
        elif (known.correct, known.answer) != (row.correct, row.answer):
            prompt = duck.unmarked(repr(row.prompt))
            raise DataError(
                f"prompt {prompt}, generation {number} of llm {row.llm!r} occurs more than once "
                "with different content"
            )
    pairs = [(prompt, number) for _, prompt, number in numbered]
    if len(set(pairs)) == len(pairs):
        return [(row, number) for (_, _, number), row in numbered.items()]
    order = {key: i for i, key in enumerate(sorted({(s, g) for s, _, g in numbered}), 1)}
    return [(row, order[source, number]) for (source, _, number), row in numbered.items()]


def _choose(name: str | None, names: list[str], what: str) -> str:
    if name is None and len(names) == 1:
        return names[0]
    if name is None or name not in names:
        problem = f"several {what}s" if name is None else f"no {what} {name!r}"
        raise ChoiceError(f"{problem}: choose one of {names} (--{what})", names)
    return name


def _exact(text: str | None) -> str | None:
    return None if text is None else duck.restore(text)


def _texts(values: Sequence[str | None]) -> NDArray[np.object_]:
    array = np.empty(len(values), object)
    array[:] = values
    return array
