"""lighteval details: one row per document with averages over its generations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import duckdb

from pcorrect import duck
from pcorrect.errors import DataError
from pcorrect.parts import Part
from pcorrect.readers.choice import choose
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import report
from pcorrect.readers.rows import Rows
from pcorrect.readers.tables import RawTable
from pcorrect.readers.values import as_text, judge

_WHOLE = 1e-6
# The number of generations stands in the metric's name: avg@10, avg@n:n=10, pass@k:k=1&n=10.
_AVERAGE = re.compile(r"avg@(?:n:n=)?(\d+)|pass@k:k=1&n=(\d+)")


def is_lighteval(raw: RawTable) -> bool:
    """Whether a table has the columns of lighteval's details."""
    return {"doc", "metric", "model_response"} <= set(raw.names) and raw.kinds[
        list(raw.names).index("metric")
    ].startswith("STRUCT")


def read_lighteval(
    con: duckdb.DuckDBPyConnection, raw: RawTable, path: Path, options: Options
) -> Part:
    """Read a details file: ``c = average x n``, n from the metric's name.

    Raises
    ------
    ChoiceError
        There are several metrics and none was chosen.
    DataError
        The metric is no average over generations, or is no count of right ones.
    """
    name = raw.source.name
    at = {column: f"c{i}" for i, column in enumerate(raw.names)}
    keys = con.execute(
        f"SELECT json_keys(to_json({at['metric']})) FROM {raw.view} LIMIT 1"
    ).fetchall()
    metrics: Sequence[str] = keys[0][0] if keys else []
    metric = choose(options.metric, metrics, "metric", name)
    match = _AVERAGE.fullmatch(metric)
    if match is None and "@" in metric:
        raise DataError(
            f"{name}: metric {metric!r} scores the set of generations, not each of them; choose an "
            "average such as avg@n"
        )
    n = int(match[1] or match[2]) if match else 1
    doc = at["doc"]
    found = con.execute(
        f"SELECT {doc}.id, {doc}.task_name, struct_extract({at['metric']}, {duck.literal(metric)}) "
        f"FROM {raw.view} ORDER BY row"
    ).fetchall()
    rows = Rows(raw.source)
    bad = []
    for prompt, task, value in found:
        cells = {"llm": _llm(path), "benchmark": task, "prompt": rows.prompt(prompt)}
        if match is None:
            verdict = judge([as_text(value) or ""], options.threshold)
            bad += [f"id {prompt!r}: {v!r}: {rule}" for v, rule in verdict.bad.items()]
            rows.one(verdict.outcome(as_text(value)), {**cells, "generation": 1})
            continue
        count = round(value * n) if value is not None and value == value else None
        if count is not None and not (0 <= count <= n and abs(value * n - count) < _WHOLE):
            bad.append(f"id {prompt!r}: {value!r} is no fraction of {n} generations")
        else:
            rows.total(count, n, cells)
    if bad:
        raise report(f"{name}: metric {metric!r}", bad[:10], len(bad))
    if match:
        rows.notes.append(f"metric {metric!r} is read as the fraction correct of {n} generations")
    return rows.part(con)


def _llm(path: Path) -> str | None:
    """Name from ``details/<org>/<llm>/<time>/details_….parquet``."""
    parents = path.resolve().parents
    if len(parents) > 3 and "details" in (parents[3].name, parents[2].name):
        org = parents[2].name
        return parents[1].name if org == "details" else f"{org}/{parents[1].name}"
    return None
