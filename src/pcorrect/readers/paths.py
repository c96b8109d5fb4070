"""Which files a caller means: paths, globs and directories of logs."""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcorrect.errors import DataError
from pcorrect.readers import files

_FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".eval")
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Input:
    """One file to read.

    Parameters
    ----------
    path : Path
    name : str
        Its name in messages.
    asked : bool
        Whether the caller named it, rather than a directory that holds it.
    """

    path: Path
    name: str
    asked: bool


def expand(paths: Paths) -> list[Input]:
    """List the files that paths, globs and directories stand for, each once.

    Raises
    ------
    DataError
        A path does not exist, or a glob or directory holds no file.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise DataError("no file was given")
    found: dict[Path, Input] = {}
    for item in given:
        for entry in _one(os.path.expanduser(os.fspath(item))):
            found.setdefault(entry.path.resolve(), entry)
    return list(found.values())


def _one(text: str) -> list[Input]:
    path = Path(text)
    if path.is_dir() and path.suffix == ".parquet":
        return [Input(path, text, asked=True)]
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and _may_be_results(p, path))
        if not inside:
            raise DataError(
                f"{text}: the directory holds no file named like results ({' '.join(_FORMATS)})"
            )
        return [Input(p, str(p), asked=False) for p in inside]
    if path.exists():
        return [Input(path, text, asked=True)]
    if glob.has_magic(text):
        hits = sorted(p for p in glob.glob(text, recursive=True) if Path(p).is_file())
        if not hits:
            raise DataError(f"{text}: no file matches")
        return [Input(Path(p), p, asked=True) for p in hits]
    raise DataError(f"{text}: no such file{_suggestion(path)}")


def _may_be_results(path: Path, root: Path) -> bool:
    hidden = any(step.startswith(".") for step in path.relative_to(root).parts)
    return not hidden and any(suffix.lower() in _FORMATS for suffix in path.suffixes[-2:])


def _suggestion(path: Path) -> str:
    if not path.parent.is_dir():
        return ""
    near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def llm_names(inputs: Sequence[Input]) -> list[str]:
    """Name of the llm that each file stands for if it names none: its stem, made unique."""
    names = [files.stem(item.path) for item in inputs]
    for longer in (
        lambda p: f"{p.resolve().parent.name}/{files.stem(p)}",
        lambda p: f"{p.resolve().parent.name}/{p.name}",
        str,
    ):
        twice = {name for name in names if names.count(name) > 1}
        if not twice:
            break
        names = [
            longer(item.path) if name in twice else name
            for name, item in zip(names, inputs, strict=True)
        ]
    return names


def identical(inputs: Sequence[Input]) -> list[tuple[int, int]]:
    """Pairs of inputs, by position, whose contents are the same byte for byte."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for i, item in enumerate(inputs):
        if item.path.is_dir():
            continue
        by_size[item.path.stat().st_size].append(i)
    pairs = []
    for group in by_size.values():
        seen: dict[bytes, int] = {}
        for i in group if len(group) > 1 else []:
            with inputs[i].path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").digest()
            if digest in seen:
                pairs.append((seen[digest], i))
            seen.setdefault(digest, i)
    return pairs
