"""evalplus and LiveCodeBench: one verdict per generated program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers.choice import choose
from pcorrect.readers.options import Options
from pcorrect.readers.rows import Rows

Record = Mapping[str, object]
_STATUS = {"pass": 1, "fail": 0, "timeout": 0, "success": 1, "failed": 0}
_END = re.compile(r"[_.-]eval(_results|_all)?$")


def is_evalplus(document: Record) -> bool:
    """Whether a JSON object holds evalplus results."""
    tasks = document.get("eval")
    return isinstance(tasks, dict) and "hash" in document and "samples" not in document


def read_evalplus(source: Source, document: Record, options: Options) -> Rows:
    """Read ``*_eval_results.json``: metric "base", or "plus" (both test suites pass).

    Raises
    ------
    ChoiceError
        Both metrics are there and none was chosen.
    DataError
        A status is not known.
    """
    rows = Rows(source)
    tasks = document["eval"]
    assert isinstance(tasks, dict)
    found = {task: _verdicts(v, f"{source.name}: task {task!r}") for task, v in tasks.items()}
    plus = any(verdict[1] is not None for entries in found.values() for verdict in entries)
    metric = choose(options.metric, ["base", "plus"] if plus else ["base"], "metric", source.name)
    for task, entries in found.items():
        cells = {
            "llm": _END.sub("", source.llm),
            "benchmark": task.split("/")[0],
            "prompt": task,
        }
        for generation, (base, extra, answer) in enumerate(entries, 1):
            statuses = [base] if metric == "base" else [base, extra]
            outcomes = [_outcome(s, f"{source.name}: task {task!r}") for s in statuses]
            # One failed suite is enough to be wrong, whatever the other would say.
            correct = 0 if 0 in outcomes else None if None in outcomes else 1
            rows.one(correct, {**cells, "generation": generation, "answer": answer})
        if not entries:
            rows.none(cells)
    return rows


def _verdicts(entries: object, where: str) -> list[tuple[object, object, object]]:
    """(base status, plus status, program) of each generation, in the new or the old schema."""
    if isinstance(entries, dict):
        base, plus = entries.get("base") or [], entries.get("plus") or []
        found = [(_old(entry, where), plus[i : i + 1]) for i, entry in enumerate(base)]
        return [(one, _old(other[0], where) if other else None, None) for one, other in found]
    verdicts = []
    for entry in entries if isinstance(entries, list) else [entries]:
        if not isinstance(entry, dict | None):
            raise DataError(f"{where}: {entry!r} is not an object with a base_status")
        e = entry or {}
        verdicts.append((e.get("base_status"), e.get("plus_status"), e.get("solution")))
    return verdicts


def _old(entry: object, where: str) -> object:
    """Status of a generation in the old schema, [status, details]; None where it has none."""
    if not isinstance(entry, list | None):
        raise DataError(f"{where}: {entry!r} is not a list that begins with a status")
    return entry[0] if entry else None


def _outcome(status: object, where: str) -> int | None:
    if status is None:
        return None
    if str(status) not in _STATUS:
        raise DataError(f"{where}: status {status!r} is not one of {sorted(_STATUS)}")
    return _STATUS[str(status)]


def is_livecodebench(record: Record) -> bool:
    """Whether a JSON object is one problem of ``Scenario.*_eval_all.json``."""
    return "graded_list" in record and "question_id" in record


def read_livecodebench(source: Source, path: Path, records: Sequence[Record]) -> Rows:
    """Read the graded programs of every problem.

    Raises
    ------
    DataError
        A record has no grades, or a grade is not true or false.
    """
    rows = Rows(source)
    folder = path.resolve().parent.name
    llm = folder if path.name.startswith("Scenario.") else _END.sub("", source.llm)
    for number, record in enumerate(records, 1):
        if "graded_list" not in record:
            raise DataError(f"{source.name}: record {number} has no 'graded_list'")
        prompt = rows.prompt(record.get("question_id"), "question_id")
        if prompt is not None and record.get("test_id") is not None:
            prompt += f"/{record['test_id']}"
        cells = {"llm": llm, "benchmark": "livecodebench", "prompt": prompt}
        grades, code = record["graded_list"], record.get("code_list")
        for i, grade in enumerate(grades if isinstance(grades, list) else [grades]):
            if not isinstance(grade, bool):
                raise DataError(f"{source.name}: question_id {prompt!r}: grade {grade!r}")
            answer = code[i] if isinstance(code, list) and i < len(code) else None
            rows.one(int(grade), {**cells, "generation": i + 1, "answer": answer})
        if grades == []:
            rows.none(cells)
    return rows
