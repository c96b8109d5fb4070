"""Inspect logs, `.eval` and `.json`: one score per sample and epoch, never the reductions.

`summaries.json` of an `.eval` log is enough for counts; an unfinished log has only its journal.
Reduced scores are read where nothing else is left, and only if they are means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.parts import ERROR, NO_SCORE, REPEAT, UNFINISHED, Source
from pcorrect.readers.archive import Archive
from pcorrect.readers.choice import choose
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import refuse
from pcorrect.readers.rows import Rows
from pcorrect.readers.values import as_text, judge

Record = Mapping[str, object]
_SUMMARY = re.compile(r"_journal/summaries/(\d+)\.json")
_WHOLE = 1e-9


@dataclass
class _Attempts:
    """Samples of one log: their fingerprints, and the rows of those that are no copies.

    A retried run keeps the fingerprints of the samples that it copies, and the id of the task.
    """

    rows: Rows
    uuids: set[str]
    task: tuple[object, object]
    tried: dict[tuple[object, object], int] = field(default_factory=dict)

    def leave_to(self, other: _Attempts) -> None:
        """Drop the failed attempts at samples that the other log has too."""
        scored, reason = self.rows.columns["scored"], self.rows.columns["reason"]
        again = [key for key, i in self.tried.items() if not scored[i] and key in other.tried]
        for key in again:
            i = self.tried.pop(key)
            reason[i], self.rows.columns["generation"][i] = REPEAT, None
        if again:
            self.rows.notes.append(
                f"{len(again)} sample(s) without a score: {other.rows.source.name} has another "
                "attempt of the same run, which counts"
            )


@dataclass
class Seen:
    """Samples of the logs read so far.

    A retried run copies the finished samples of the old log and tries the others again.
    """

    logs: list[_Attempts] = field(default_factory=list)

    def __contains__(self, uuid: object) -> bool:
        return any(uuid in log.uuids for log in self.logs)

    def add(self, log: _Attempts) -> None:
        """Take in a log; a sample of which one attempt failed counts once in a retried run."""
        for old in self.logs:
            same = log.task[0] is not None and log.task == old.task
            if same or not old.uuids.isdisjoint(log.uuids):
                old.leave_to(log)
                log.leave_to(old)
        self.logs.append(log)


def is_inspect(log: Record) -> bool:
    """Whether a JSON object is an Inspect log."""
    spec = log.get("eval")
    return isinstance(spec, dict) and ("samples" in log or "reductions" in log or "status" in log)


def read_eval(source: Source, path: Path, options: Options, seen: Seen) -> Rows:
    """Read an `.eval` log.

    Raises
    ------
    DataError
        The archive is damaged or a score breaks a rule.
    ChoiceError
        The samples have several scores and none was chosen.
    """
    with Archive(path, source.name) as archive:
        members = archive.members
        header = next((m for m in ("header.json", "_journal/start.json") if m in members), None)
        if header is None:
            raise DataError(f"{source.name}: an archive, but not an Inspect log (no header)")
        log = dict(_mapping(archive.json(header)))
        journal = sorted((int(m[1]), m[0]) for m in map(_SUMMARY.fullmatch, members) if m)
        full = [m for m in members if m.startswith("samples/") and m.endswith(".json")]
        if "summaries.json" in members:
            samples = _records(archive.json("summaries.json"))
        else:
            samples = [r for _, member in journal for r in _records(archive.json(member))]
        # Short or absent summaries do not hide a sample, nor does a missing full one.
        if full and (options.texts or len(full) > len({_key(sample) for sample in samples})):
            whole = [_mapping(archive.json(member)) for member in full]
            known = {_key(sample) for sample in whole}
            samples = whole + [sample for sample in samples if _key(sample) not in known]
        log["samples"] = samples
        if not samples and "reductions.json" in members:
            log["reductions"] = archive.json("reductions.json")
    return read_log(source, log, options, seen)


def read_log(source: Source, log: Record, options: Options, seen: Seen) -> Rows:
    """Read a parsed log: header fields, and samples or else reductions.

    Raises
    ------
    DataError
        There is no sample, or a score breaks a rule.
    ChoiceError
        The samples have several scores and none was chosen.
    """
    rows = Rows(source)
    samples = _records(log.get("samples"))
    if samples:
        _samples(rows, log, samples, options, seen)
    elif _records(log.get("reductions")):
        _reductions(rows, log, options)
    else:
        raise DataError(f"{source.name}: the log holds no samples (status {log.get('status')!r})")
    return rows


def _samples(rows: Rows, log: Record, samples: list[Record], options: Options, seen: Seen) -> None:
    name = rows.source.name
    spec = _mapping(log.get("eval"))
    uuids = {u for u in (sample.get("uuid") for sample in samples) if isinstance(u, str)}
    attempts = _Attempts(rows, uuids, (spec.get("task_id"), spec.get("model")))
    scorer = _scorer(samples, options, name)
    values = [_value(sample, scorer) for sample in samples]
    texts = [as_text(value) for value in values]
    verdict = judge({text for text in texts if text is not None}, options.threshold)
    places = [f"sample {s.get('id')!r}, epoch {s.get('epoch')}" for s in samples]
    refuse(verdict.bad, texts, places, f"{name}: scorer {scorer!r}")
    rows.notes += [f"scorer {scorer!r}: {note}" for note in verdict.notes]
    for sample, text in zip(samples, texts, strict=True):
        correct = verdict.outcome(text)
        reason = NO_SCORE
        if sample.get("error"):
            reason = ERROR
        elif sample.get("completed") is False:
            reason = UNFINISHED
        epoch = sample.get("epoch", 1)
        cells = {
            "llm": spec.get("model"),
            "benchmark": spec.get("task"),
            "prompt": rows.prompt(sample.get("id")),
            "generation": epoch if isinstance(epoch, int) else None,
            "answer": as_text(_answer(sample, scorer)),
            "target": as_text(sample.get("target")),
        }
        if sample.get("uuid") in seen:
            # It is no generation, so it has no number.
            copied = {"generation": None, "scored": 0, "correct": 0, "reason": REPEAT}
            rows.add({**cells, **copied})
        else:
            attempts.tried[cells["prompt"], cells["generation"]] = len(rows.hashes)
            rows.one(correct, cells, reason)
    seen.add(attempts)
    _status(rows, log, spec, len(samples))


def _status(rows: Rows, log: Record, spec: Record, found: int) -> None:
    """Note an unfinished run and how much of it is there."""
    status = log.get("status", "started")
    ids = _mapping(spec.get("dataset")).get("sample_ids")
    epochs = _mapping(spec.get("config")).get("epochs") or 1
    if status == "success":
        return
    planned = (
        f" of {len(ids) * epochs}" if isinstance(ids, list) and isinstance(epochs, int) else ""
    )
    rows.notes.append(f"the run did not finish (status {status!r}): {found}{planned} samples")


def _scorer(samples: Iterable[Record], options: Options, name: str) -> str:
    """Name of the score to use; one inside a mapping of scores is `scorer.key`."""
    found: dict[str, None] = {}
    for sample in samples:
        for scorer, score in _scores(sample).items():
            value = _mapping(score).get("value")
            keys = [f"{scorer}.{key}" for key in value] if isinstance(value, dict) else [scorer]
            found.update(dict.fromkeys(keys))
    names = list(found)
    wanted = options.scorer
    if wanted is not None and options.metric is not None and f"{wanted}.{options.metric}" in found:
        return f"{wanted}.{options.metric}"
    if wanted is not None and wanted not in found:
        inner = [n for n in names if n.split(".", 1)[-1] == wanted or n.split(".", 1)[0] == wanted]
        if len(inner) == 1:
            return inner[0]
    if not names:
        return ""
    return choose(wanted, names, "scorer", name)


def _scores(sample: Record) -> Record:
    """Scores by scorer; the first logs have one, without a name."""
    if "scores" not in sample and "score" in sample:
        return {"score": sample["score"]}
    return _mapping(sample.get("scores"))


def _value(sample: Record, scorer: str) -> object:
    scores = _scores(sample)
    if scorer in scores:
        return _mapping(scores[scorer]).get("value")
    head, _, key = scorer.partition(".")
    value = _mapping(scores.get(head)).get("value")
    return value.get(key) if isinstance(value, dict) else value


def _answer(sample: Record, scorer: str) -> object:
    scores = _scores(sample)
    score = scores.get(scorer, scores.get(scorer.partition(".")[0]))
    return _mapping(score).get("answer")


def _key(sample: Record) -> tuple[str, str]:
    return repr(sample.get("id")), repr(sample.get("epoch", 1))


def _reductions(rows: Rows, log: Record, options: Options) -> None:
    """Recover counts from means over epochs: value x epochs must be whole."""
    name = rows.source.name
    spec = _mapping(log.get("eval"))
    config = _mapping(spec.get("config"))
    epochs, default = config.get("epochs"), config.get("epochs_reducer")
    groups = _records(log.get("reductions"))
    scorer = choose(
        options.scorer, list(dict.fromkeys(str(g.get("scorer")) for g in groups)), "scorer", name
    )
    groups = [group for group in groups if str(group.get("scorer")) == scorer]
    reducers = [group.get("reducer") or _only(default) for group in groups]
    if "mean" not in reducers:
        raise DataError(
            f"{name}: only scores reduced over epochs are left (reducer {reducers[0]!r}), from "
            "which counts cannot be recovered; read the log that holds the samples"
        )
    if not isinstance(epochs, int) or epochs < 1:
        raise DataError(f"{name}: means over epochs, but the number of epochs is not known")
    for i, sample in enumerate(_records(groups[reducers.index("mean")].get("samples"))):
        value = sample.get("value")
        number = float(value) * epochs if isinstance(value, int | float) else -1.0
        if not (0 <= number <= epochs and abs(number - round(number)) <= _WHOLE):
            raise DataError(
                f"{name}: sample {sample.get('sample_id')!r}: the mean {value!r} over {epochs} "
                "epochs is no count of right answers (partial credit, or epochs without a score)"
            )
        prompt = rows.prompt(sample.get("sample_id", i), "sample_id")
        cells = {"llm": spec.get("model"), "benchmark": spec.get("task"), "prompt": prompt}
        rows.total(round(number), epochs, cells)
    rows.notes.append(f"scorer {scorer!r}: counts recovered from means over {epochs} epochs")


def _only(reducers: object) -> object:
    return reducers[0] if isinstance(reducers, list) and len(reducers) == 1 else reducers


def _mapping(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def _records(value: object) -> list[Record]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
