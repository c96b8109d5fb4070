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
    found = {str(task): _verdicts(entries) for task, entries in tasks.items()}
    plus = any(verdict[1] is not None for entries in found.values() for verdict in entries)
    metric = choose(options.metric, ["base", "plus"] if plus else ["base"], "metric", source.name)
    for task, entries in found.items():
        for generation, (base, extra, answer) in enumerate(entries, 1):
            statuses = [base] if metric == "base" else [base, extra]
            outcomes = [_outcome(s, f"{source.name}: task {task!r}") for s in statuses]
            correct = None if None in outcomes else min(o for o in outcomes if o is not None)
            rows.one(
                correct,
                {
                    "llm": _END.sub("", source.llm),
                    "benchmark": task.split("/")[0],
                    "prompt": task,
                    "generation": generation,
                    "answer": answer,
                },
            )
    return rows


def _verdicts(entries: object) -> list[tuple[object, object, object]]:
    """(base status, plus status, program) of each generation, in the new or the old schema."""
    if isinstance(entries, list):
        return [
            (e.get("base_status"), e.get("plus_status"), e.get("solution"))
            for e in entries
            if isinstance(e, dict)
        ]
    old = entries if isinstance(entries, dict) else {}
    base, plus = old.get("base") or [], old.get("plus") or []
    return [(entry[0], plus[i][0] if i < len(plus) else None, None) for i, entry in enumerate(base)]


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
        A grade is not true or false.
    """
    rows = Rows(source)
    folder = path.resolve().parent.name
    llm = folder if path.name.startswith("Scenario.") else _END.sub("", source.llm)
    for record in records:
        prompt = str(record["question_id"])
        if record.get("test_id") is not None:
            prompt += f"/{record['test_id']}"
        grades, code = record["graded_list"], record.get("code_list")
        for i, grade in enumerate(grades if isinstance(grades, list) else [grades]):
            if not isinstance(grade, bool):
                raise DataError(f"{source.name}: question_id {prompt!r}: grade {grade!r}")
            answer = code[i] if isinstance(code, list) and i < len(code) else None
            cells = {"llm": llm, "benchmark": "livecodebench", "prompt": prompt, "answer": answer}
            rows.one(int(grade), {**cells, "generation": i + 1})
    return rows
