"""What a generation cost, as the logs of Inspect record it: tokens and seconds."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pcorrect.errors import DataError


@dataclass(frozen=True)
class Usage:
    """Mean cost of a generation.

    Parameters
    ----------
    tokens : float
        Input and output tokens of all models that were called, a grader's included; nan where
        none are recorded.
    seconds : float
        Working time, without waiting for a free connection; nan where it is not recorded.
    n_generations : int
        Generations that record the one or the other.
    """

    tokens: float
    seconds: float
    n_generations: int

    def cost(self, unit: str) -> float:
        """The cost in ``"tokens"`` or ``"seconds"``.

        Raises
        ------
        DataError
            The logs do not record it.
        """
        value = {"tokens": self.tokens, "seconds": self.seconds}[unit]
        if not value > 0:
            raise DataError(f"the logs record no {unit}: give the cost of a generation as a number")
        return value


def log_usage(paths: Iterable[str | Path]) -> Usage:
    """Mean usage per generation over the Inspect logs among `paths` (``.eval`` or ``.json``).

    Raises
    ------
    DataError
        None of them is an Inspect log that holds its generations.
    """
    tokens, seconds, count = [], [], 0
    for path in paths:
        for record in _records(Path(path)):
            usage = record.get("model_usage")
            found = [
                float(part["total_tokens"])
                for part in (usage.values() if isinstance(usage, Mapping) else ())
                if isinstance(part, Mapping) and _is_number(part.get("total_tokens"))
            ]
            # an older log has no working time
            time = record.get("working_time", record.get("total_time"))
            tokens += [sum(found)] if found else []
            seconds += [float(time)] if _is_number(time) else []
            count += bool(found) or _is_number(time)
    if not count:
        raise DataError("no usage to read: only Inspect logs record tokens and seconds")
    return Usage(_mean(tokens), _mean(seconds), count)


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    """One record per generation of an Inspect log; nothing where the file is something else."""
    if not path.is_file():
        return
    # the readers load the table engine, which planning has no other use for
    from pcorrect.readers.archive import Archive

    records: object = None
    if zipfile.is_zipfile(path):
        with Archive(path, path.name) as archive:
            if "summaries.json" in archive.members:
                records = archive.json("summaries.json")
    elif path.suffix == ".json":
        try:
            log = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{path.name}: not JSON ({error})") from error
        records = log.get("samples") if isinstance(log, Mapping) and "eval" in log else None
    if isinstance(records, list):
        yield from (record for record in records if isinstance(record, Mapping))
