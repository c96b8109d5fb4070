"""What a file is, by its content, and which reader takes it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from pcorrect.errors import DataError
from pcorrect.parts import Part, Source
from pcorrect.readers import (
    code_evals,
    files,
    helm,
    inspect_log,
    lighteval,
    lm_eval,
    openai_evals,
    promptfoo,
)
from pcorrect.readers.columns import resolve
from pcorrect.readers.csv_file import read_csv
from pcorrect.readers.forms import table_part
from pcorrect.readers.json_file import read_jsonl, records, table_of, text_of
from pcorrect.readers.lm_eval_names import task_of
from pcorrect.readers.options import Options
from pcorrect.readers.parquet_file import read_parquet
from pcorrect.readers.refusal import Companion, NotResults
from pcorrect.readers.rows import Rows

# Lists of records under one of these keys are the table that an object wraps.
_WRAPPERS = ("data", "records", "rows", "items", "results", "samples", "generations")
# A line that is an object by itself, by the look of it.
_WHOLE = re.compile(r"\{.*\}\s*")


@dataclass
class Reader:
    """Reads one file after another into one engine.

    Parameters
    ----------
    con : DuckDBPyConnection
    options : Options
    seen : Seen
        Samples of the Inspect logs read so far.
    skipped : list of str
        Benchmarks that were found but not asked for.
    """

    con: duckdb.DuckDBPyConnection
    options: Options
    seen: inspect_log.Seen = field(default_factory=inspect_log.Seen)
    skipped: list[str] = field(default_factory=list)

    def read(self, source: Source, path: Path) -> Part | Rows | None:
        """Read a file of any known format; None where it holds none of the benchmarks asked for.

        Raises
        ------
        DataError
            The format is not known, the file is damaged, or its content breaks a rule.
        ChoiceError
            There are several filters, metrics or scorers and none was chosen.
        """
        if path.is_dir():
            return table_part(self.con, read_parquet(self.con, source, path), self.options)
        if path.stat().st_size == 0:
            raise DataError(f"{source.name}: the file is empty")
        first = files.head(path)
        if first.startswith(b"PAR1"):
            raw = read_parquet(self.con, source, path)
            if lighteval.is_lighteval(raw):
                return lighteval.read_lighteval(self.con, raw, path, self.options)
            return table_part(self.con, raw, self.options)
        if first.startswith(b"PK\x03\x04"):
            return self._archive(source, path)
        if first.startswith(b"version https://git-lfs"):
            raise DataError(f"{source.name}: a Git LFS pointer, not the file; run git lfs pull")
        name = files.encoding(first)
        text = first.decode(name, errors="replace").removeprefix("\ufeff").lstrip()
        if text.startswith(("{", "[")):
            return self._json(source, path, text)
        return table_part(self.con, read_csv(self.con, source, path), self.options)

    def _archive(self, source: Source, path: Path) -> Rows:
        if path.suffix.lower() in (".xlsx", ".xlsm", ".ods"):
            raise DataError(f"{source.name}: a spreadsheet; save it as CSV")
        return inspect_log.read_eval(source, path, self.options, self.seen)

    def _json(self, source: Source, path: Path, text: str) -> Part | Rows | None:
        if _is_lines(text):
            with closing(records(path, source.name)) as found:
                first = next(found, {})
            if lm_eval.is_lm_eval(first):
                return self._lm_eval(source, path, list(records(path, source.name)))
            if openai_evals.is_openai_evals(first):
                lines = list(records(path, source.name))
                return openai_evals.read_openai_evals(source, lines, self.options)
            raw = read_jsonl(self.con, source, path, self.options.columns)
            return table_part(self.con, raw, self.options)
        return self._document(source, path, _document(path, source.name))

    def _document(self, source: Source, path: Path, value: object) -> Part | Rows | None:
        if isinstance(value, list):
            return self._table(source, path, value)
        if not isinstance(value, dict):
            raise NotResults(f"{source.name}: JSON, but neither a table nor a known log")
        if inspect_log.is_inspect(value):
            return inspect_log.read_log(source, value, self.options, self.seen)
        if code_evals.is_evalplus(value):
            return code_evals.read_evalplus(source, value, self.options)
        if promptfoo.is_promptfoo(value):
            return promptfoo.read_promptfoo(source, value)
        if helm.is_helm(value):
            return helm.read_helm(source, path, value, self.options)
        if isinstance(value.get("results"), dict):
            if "configs" in value:
                raise Companion(
                    f"{source.name}: averages of an lm-evaluation-harness run; read its "
                    "samples_*.jsonl files (written with --log_samples)"
                )
            if "config_general" in value:
                raise Companion(
                    f"{source.name}: averages of a lighteval run; read its details_*.parquet files"
                )
        lists = {key: value[key] for key in _WRAPPERS if _is_table(value.get(key))}
        if len(lists) > 1:
            raise DataError(
                f"{source.name}: {' and '.join(map(repr, lists))} each hold a list of records; "
                "keep the one that holds the results"
            )
        for inner in lists.values():
            return self._table(source, path, inner)
        # A table by columns, one line of JSONL, or an object of another kind.
        try:
            known = "prompt" in resolve(list(value), self.options.columns, source.name).at
        except NotResults:
            known = lm_eval.is_lm_eval(value)
        if known:
            return self._table(source, path, _from_columns(value, source.name) or [value])
        keys = ", ".join(repr(key) for key in list(value)[:12])
        raise NotResults(
            f"{source.name}: JSON, but neither a table nor a known log; keys: {keys or 'none'}"
        )

    def _table(self, source: Source, path: Path, rows: Sequence[object]) -> Part | Rows | None:
        if not rows:
            raise DataError(f"{source.name}: the list is empty")
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Mapping):
                raise NotResults(
                    f"{source.name}: record {number} is a {type(row).__name__}, not an object with "
                    "named values"
                )
        found: list[Mapping[str, object]] = [row for row in rows if isinstance(row, Mapping)]
        if lm_eval.is_lm_eval(found[0]):
            return self._lm_eval(source, path, found)
        if code_evals.is_livecodebench(found[0]):
            return code_evals.read_livecodebench(source, path, found)
        raw = table_of(self.con, source, found, self.options.columns)
        return table_part(self.con, raw, self.options)

    def _lm_eval(
        self, source: Source, path: Path, lines: Sequence[Mapping[str, object]]
    ) -> Rows | None:
        # Tasks differ in their filters and metrics: only those asked for are looked at.
        task = task_of(path)
        if task is not None and self.options.benchmark and task not in self.options.benchmark:
            self.skipped.append(task)
            return None
        return lm_eval.read_lm_eval(source, path, lines, self.options)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(r, dict) for r in value)


def _from_columns(value: Mapping[str, object], where: str) -> list[dict[str, object]]:
    """Rows of an object that maps column names to lists, or as pandas writes to row labels.

    Raises
    ------
    DataError
        The lists are not of one length.
    """
    lists = [list(v) for v in value.values() if isinstance(v, list)]
    labelled = [v for v in value.values() if isinstance(v, dict)]
    if len(labelled) == len(value) and all(v.keys() == labelled[0].keys() for v in labelled):
        lists = [list(v.values()) for v in labelled]
    if len(lists) < len(value):
        return []
    if len({len(v) for v in lists}) != 1:
        sizes = ", ".join(f"{key!r} {len(v)}" for key, v in zip(value, lists, strict=True))
        raise DataError(
            f"{where}: the columns hold different numbers of values ({sizes}); each needs one "
            "value for every row"
        )
    return [dict(zip(value, cells, strict=True)) for cells in zip(*lists, strict=True)]


def _is_lines(text: str) -> bool:
    """Whether a JSON text has one object per line; the text may be cut off."""
    if not text.startswith("{"):
        return False
    line, newline, rest = text.partition("\n")
    try:
        json.loads(line)
    except ValueError:
        # One object over many lines goes on after an opening bracket, a colon or a comma; a bad
        # first line of a JSONL file is followed by another object.
        goes_on = line.rstrip().endswith(("[", "{", ",", ":"))
        return bool(newline) and not goes_on and rest.lstrip().startswith("{")
    return bool(newline and rest.strip())


def _document(path: Path, where: str) -> object:
    try:
        with files.open_bytes(path) as file:
            text = text_of(file.read())
    except (*files.DAMAGE, OSError) as error:
        raise files.damaged(path, error) from error
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.startswith("{") and any(map(_WHOLE.fullmatch, text.split("\n")[1:])):
            # one object per line after all, the first of them broken: this names the line
            list(records(path, where))
        raise DataError(f"{where}: not valid JSON ({error}); was it cut off?") from error
