"""What the names around an lm-evaluation-harness samples file say: its task and its llm."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.readers import files

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d:.\-]+)")


def task_of(path: Path) -> str | None:
    """Name of the task in the name of a samples file."""
    match = _NAME.fullmatch(files.stem(path))
    return match["task"] if match else None


def llm_of(path: Path) -> str | None:
    """Name from the results file of the same time, else from a folder named like org__llm."""
    match = _NAME.fullmatch(files.stem(path))
    found = sorted(path.parent.glob("results_*.json"))
    same = [file for file in found if match and match["time"] in file.name]
    for file in same or (found if len(found) == 1 else []):
        try:
            results = json.loads(file.read_bytes())
        except ValueError as error:
            raise DataError(f"{file}: not valid JSON ({error})") from error
        name = _name_in(results)
        if name is not None:
            return name
    folder = path.resolve().parent.name
    return folder.replace("__", "/", 1) if "__" in folder else None


def _name_in(results: object) -> str | None:
    if not isinstance(results, dict):
        return None
    if isinstance(results.get("model_name"), str):
        return str(results["model_name"])
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, str):
        arguments = dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
    for key in ("pretrained", "model"):
        if isinstance(arguments, dict) and isinstance(arguments.get(key), str):
            return str(arguments[key])
    return None
