"""OpenAI evals: events of one run, one generation per sample; repeats are several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers.rows import Rows
from pcorrect.readers.values import as_text

Record = Mapping[str, object]


def is_openai_evals(record: Record) -> bool:
    """Whether a JSON object is the first line of a record file."""
    return isinstance(record.get("spec"), dict) and "completion_fns" in str(record["spec"])


def read_openai_evals(source: Source, records: Sequence[Record]) -> Rows:
    """Read the ``match`` events.

    Raises
    ------
    DataError
        There are none: the eval grades in another way.
    """
    rows = Rows(source)
    spec = records[0]["spec"]
    assert isinstance(spec, dict)
    functions = spec.get("completion_fns")
    llm = "+".join(map(str, functions)) if isinstance(functions, list) else str(functions)
    for record in records:
        data = record.get("data")
        if record.get("type") != "match" or not isinstance(data, dict):
            continue
        correct = data.get("correct")
        rows.one(
            int(correct) if isinstance(correct, bool) else None,
            {
                "llm": llm,
                "benchmark": spec.get("eval_name"),
                "prompt": str(record.get("sample_id")),
                "answer": as_text(data.get("sampled")),
                "target": as_text(data.get("expected")),
            },
        )
    if not rows.hashes:
        raise DataError(f"{source.name}: no event of type 'match', so nothing is right or wrong")
    return rows
