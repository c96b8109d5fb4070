"""lm-evaluation-harness samples files: one line per document and filter.

The score of a line may be of one response (k = 1), the fraction correct of N filtered responses,
or a list with one entry per response; what is stored decides, the number of texts does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.parts import Source
from pcorrect.readers.choice import choose
from pcorrect.readers.lm_eval_names import llm_of, task_of
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import refuse, report
from pcorrect.readers.rows import Rows
from pcorrect.readers.values import Verdict, as_text, judge

Record = Mapping[str, object]
# Keys of a line beside its metrics.
_KNOWN = frozenset(
    [
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    ]
)
_WHOLE = 1e-6
_PREDICT_ONLY = 999
# Metrics of the whole set of responses: 1 does not mean that every response is right.
_OF_THE_SET = re.compile(r"pass[@^_]|maj|cons|best|any|max|vote", re.IGNORECASE)


def is_lm_eval(record: Record) -> bool:
    """Whether a JSON object is a line of a samples file."""
    return "doc_id" in record and ("filtered_resps" in record or "resps" in record)


def read_lm_eval(source: Source, path: Path, lines: Sequence[Record], options: Options) -> Rows:
    """Read a samples file.

    Raises
    ------
    DataError
        A score breaks a rule or there are none.
    ChoiceError
        There are several filters or metrics and none was chosen.
    """
    rows = Rows(source)
    name = source.name
    if not any("filter" in line for line in lines):
        _unnamed_filters(lines, name)
    filters = list(dict.fromkeys(str(line.get("filter", "none")) for line in lines))
    wanted = options.filter
    if len(filters) == 1 and wanted is not None and wanted != filters[0]:
        rows.notes.append(f"filter {filters[0]!r} is the only one here")
        wanted = filters[0]
    chosen = choose(wanted, filters, "filter", name)
    lines = [line for line in lines if str(line.get("filter", "none")) == chosen]
    metric = _metric(lines, options, name)
    _File(rows, lines, metric, options).read(llm_of(path), task_of(path))
    return rows


def _metric(lines: Sequence[Record], options: Options, name: str) -> str:
    names: dict[str, None] = {}
    for line in lines:
        listed = line.get("metrics")
        if isinstance(listed, list):
            names.update(dict.fromkeys(str(metric) for metric in listed))
    if not any("metrics" in line for line in lines):
        # Older versions list none: a metric is any other key that holds scores.
        for line in lines:
            names.update(dict.fromkeys(k for k in line if k not in _KNOWN and _is_score(line[k])))
    if not names:
        raise DataError(f"{name}: the samples name no metric: was this run with --predict_only?")
    if list(names) == ["bypass"]:
        raise DataError(f"{name}: a run that only predicts (metric 'bypass'): there are no scores")
    return choose(options.metric, list(names), "metric", name)


def _is_score(value: object) -> bool:
    items = value if isinstance(value, list) and value else [value]
    return all(isinstance(item, int | float) for item in items)


def _unnamed_filters(lines: Sequence[Record], name: str) -> None:
    """Refuse documents with several lines where these do not say of which filter they are."""
    times = Counter(as_text(line.get("doc_id")) for line in lines if line.get("doc_id") is not None)
    for doc, n in times.most_common(1):
        if n > 1:
            raise DataError(
                f"{name}: doc_id {doc!r} has {n} lines and they name no filter, so two filters "
                "cannot be told from two generations; keep one line for each document"
            )


class _File:
    def __init__(self, rows: Rows, lines: Sequence[Record], metric: str, options: Options) -> None:
        self.rows, self.lines, self.metric = rows, lines, metric
        self.name = rows.source.name
        # Each line's scores, and how many responses they are of.
        self.values = [line.get(metric) for line in lines]
        self.responses = [_responses(line) for line in lines]
        self.verdict = self.judged(options)

    def judged(self, options: Options) -> Verdict:
        texts: list[str | None] = []
        places: list[str] = []
        for line, value, answers in zip(self.lines, self.values, self.responses, strict=True):
            if not isinstance(value, list) and len(answers) > 1:
                continue
            place = f"doc_id {line.get('doc_id')!r}"
            for item in value if isinstance(value, list) else [value]:
                texts.append(as_text(item))
                places.append(place)
        verdict = judge({text for text in texts if text is not None}, options.threshold)
        refuse(verdict.bad, texts, places, f"{self.name}: metric {self.metric!r}")
        self.rows.notes.extend(verdict.notes)
        return verdict

    def read(self, llm: str | None, task: str | None) -> None:
        self.check_fractions()
        single = 0
        for line, value, answers in zip(self.lines, self.values, self.responses, strict=True):
            cells = {
                "llm": llm,
                "benchmark": task,
                "prompt": self.rows.prompt(line.get("doc_id"), "doc_id"),
                "target": as_text(line.get("target")),
                "prompt_hash": line.get("doc_hash"),
            }
            if isinstance(value, list):
                self.listed(value, answers, cells)
            elif len(answers) > 1:
                self.fraction(value, answers, cells)
            else:
                single = max(single, _width(line.get("resps")))
                answer = answers[0] if answers else None
                outcome = self.verdict.outcome(as_text(value))
                self.rows.one(outcome, {**cells, "generation": 1, "answer": answer})
        if single > 1:
            self.rows.notes.append(
                f"the filter scores one of {single} responses per document: k = 1"
            )

    def listed(self, value: list[object], answers: list[str], cells: dict[str, object]) -> None:
        for i, item in enumerate(value):
            answer = answers[i] if len(answers) == len(value) else None
            outcome = self.verdict.outcome(as_text(item))
            self.rows.one(outcome, {**cells, "generation": i + 1, "answer": answer})
        if not value:
            self.rows.none(cells)

    def check_fractions(self) -> None:
        """Refuse a score of several responses that is not the fraction of right ones."""
        found = [
            (line, value, len(answers))
            for line, value, answers in zip(self.lines, self.values, self.responses, strict=True)
            if not isinstance(value, list) and len(answers) > 1
        ]
        bad = [
            f"doc_id {line.get('doc_id')!r}: {value!r} is no fraction of {n} responses"
            for line, value, n in found
            if value is not None and _count(value, n) is None
        ]
        if bad:
            raise report(f"{self.name}: metric {self.metric!r}", bad[:10], len(bad))
        if found and _OF_THE_SET.search(self.metric):
            raise DataError(
                f"{self.name}: metric {self.metric!r} scores the set of responses, not each of "
                "them: correct generations cannot be counted from it"
            )
        if found:
            self.rows.notes.append(
                f"metric {self.metric!r} is read as the fraction correct of "
                f"{max(n for *_, n in found)} responses"
            )

    def fraction(self, value: object, answers: list[str], cells: dict[str, object]) -> None:
        n = len(answers)
        count = _count(value, n)
        if count is None:
            for i, answer in enumerate(answers):
                self.rows.one(None, {**cells, "generation": i + 1, "answer": answer})
            return
        # Exact matches are right under any looser rule; if there are `count` of them, they are all.
        right = [answer == cells["target"] for answer in answers]
        if sum(right) != count and count not in (0, n):
            self.rows.total(count, n, cells)
            return
        for i, answer in enumerate(answers):
            outcome = int(right[i]) if sum(right) == count else int(count == n)
            self.rows.one(outcome, {**cells, "generation": i + 1, "answer": answer})


def _count(value: object, n: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return int(value) * n if isinstance(value, bool) else None
    count = round(value * n) if value == value else -1
    return count if 0 <= count <= n and abs(value * n - count) < _WHOLE else None


def _responses(line: Record) -> list[str]:
    """Texts that the score is of; a choice's log-likelihood pairs are not responses."""
    filtered = line.get("filtered_resps")
    if not isinstance(filtered, list):
        return []
    if len(filtered) == 1 and isinstance(filtered[0], list):
        filtered = filtered[0]
    if any(isinstance(item, list) for item in filtered) or _is_pair(filtered):
        return []
    return [str(item) for item in filtered]


def _is_pair(item: object) -> bool:
    """Whether this is a log-likelihood and whether it is the greedy choice."""
    if not (isinstance(item, list) and len(item) == 2 and str(item[1]) in ("True", "False")):
        return False
    try:
        float(str(item[0]))
    except ValueError:
        return False
    return True


def _width(responses: object) -> int:
    if isinstance(responses, list) and len(responses) == 1 and isinstance(responses[0], list):
        return 1 if _is_pair(responses[0]) else len(responses[0])
    return 1


def join_on_hash(files_rows: Sequence[Rows]) -> list[str]:
    """Name prompts by their fingerprint where files disagree on which document an id is.

    Parameters
    ----------
    files_rows : sequence of Rows
        Rows of several files; those with a fingerprint are compared within each benchmark.

    Returns
    -------
    list of str
        A note for each benchmark that was changed.
    """
    notes = []
    benchmarks: dict[object, None] = {}
    for rows in files_rows:
        benchmarks.update(dict.fromkeys(rows.columns["benchmark"]))
    for benchmark in benchmarks:
        seen: dict[object, str] = {}
        places = [
            (rows, i)
            for rows in files_rows
            for i, task in enumerate(rows.columns["benchmark"])
            if task == benchmark and rows.hashes[i] is not None
        ]
        if any(
            seen.setdefault(r.columns["prompt"][i], str(r.hashes[i])) != r.hashes[i]
            for r, i in places
        ):
            _rename(places)
            notes.append(
                "doc_id names different documents in different files"
                + (f" of {benchmark!r}" if benchmark else "")
                + ": prompts are joined on doc_hash"
            )
    return notes


def _rename(places: Sequence[tuple[Rows, int]]) -> None:
    # A document that a dataset holds twice has one fingerprint but two ids.
    ids: dict[tuple[int, str], list[object]] = {}
    for rows, i in places:
        fingerprint = str(rows.hashes[i])
        known = ids.setdefault((rows.source.number, fingerprint), [])
        prompt = rows.columns["prompt"][i]
        if prompt not in known:
            known.append(prompt)
        which = known.index(prompt)
        rows.columns["prompt"][i] = fingerprint if which == 0 else f"{fingerprint}#{which + 1}"
