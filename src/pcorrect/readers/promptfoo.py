"""promptfoo output: repetitions are separate tests with equal variables."""

from __future__ import annotations

from collections.abc import Mapping

from pcorrect.errors import DataError
from pcorrect.parts import ERROR, Source
from pcorrect.readers.rows import Rows
from pcorrect.readers.values import as_text

Record = Mapping[str, object]
_FAILED_TO_RUN = 2


def is_promptfoo(document: Record) -> bool:
    """Whether a JSON object is promptfoo's output."""
    results = document.get("results")
    return isinstance(results, dict) and "version" in results and "results" in results


def read_promptfoo(source: Source, document: Record) -> Rows:
    """Read the tests: a failed assertion is wrong, an error has no score.

    Raises
    ------
    DataError
        The results are not a list of tests.
    """
    rows = Rows(source)
    results = document["results"]
    assert isinstance(results, dict)
    records = results["results"]
    if not isinstance(records, list):
        kind = type(records).__name__
        raise DataError(f"{source.name}: results.results is a {kind}, not a list of tests")
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise DataError(
                f"{source.name}: test {number} is a {type(record).__name__}, not an object"
            )
    templates = {as_text(_inside(r, "prompt", "label")) for r in records}
    for record in records:
        variables = record.get("vars")
        variables = variables if isinstance(variables, dict) else {}
        named = [as_text(v) or "" for v in variables.values()]
        prompt = named[0] if len(named) == 1 else as_text(variables) or ""
        if len(templates) > 1:
            prompt = f"{as_text(_inside(record, 'prompt', 'label'))} | {prompt}"
        provider = record.get("provider")
        failed = record.get("failureReason") == _FAILED_TO_RUN
        rows.one(
            None if failed else int(bool(record.get("success"))),
            {
                "llm": _inside(record, "provider", "label")
                or _inside(record, "provider", "id")
                or as_text(provider),
                "prompt": prompt or "prompt",
                "answer": as_text(_inside(record, "response", "output")),
            },
            ERROR,
        )
    return rows


def _inside(record: Record, *keys: str) -> object:
    value: object = record
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
