"""OpenAI evals: events of one run, one generation per sample; repeats are several files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import refuse
from pcorrect.readers.rows import Rows
from pcorrect.readers.values import as_text, judge

Record = Mapping[str, object]


def is_openai_evals(record: Record) -> bool:
    """Whether a JSON object is the first line of a record file."""
    return isinstance(record.get("spec"), dict) and "completion_fns" in str(record["spec"])


def read_openai_evals(source: Source, records: Sequence[Record], options: Options) -> Rows:
    """Read the ``match`` events.

    Raises
    ------
    DataError
        There are none: the eval grades in another way; or a grade breaks a rule.
    """
    rows = Rows(source)
    spec = records[0]["spec"]
    assert isinstance(spec, dict)
    functions = spec.get("completion_fns")
    llm = "+".join(map(str, functions)) if isinstance(functions, list) else str(functions)
    matches = [record for record in records if record.get("type") == "match"]
    if not matches:
        raise DataError(f"{source.name}: no event of type 'match', so nothing is right or wrong")
    found = [record.get("data") for record in matches]
    data: list[Record] = [item if isinstance(item, dict) else {} for item in found]
    texts = [as_text(item.get("correct")) for item in data]
    verdict = judge({text for text in texts if text is not None}, options.threshold)
    refuse(verdict.bad, texts, [f"sample_id {r.get('sample_id')!r}" for r in matches], source.name)
    rows.notes.extend(verdict.notes)
    for record, item, text in zip(matches, data, texts, strict=True):
        rows.one(
            verdict.outcome(text),
            {
                "llm": llm,
                "benchmark": spec.get("eval_name"),
                "prompt": rows.prompt(record.get("sample_id"), "sample_id"),
                "answer": as_text(item.get("sampled")),
                "target": as_text(item.get("expected")),
            },
        )
    return rows
