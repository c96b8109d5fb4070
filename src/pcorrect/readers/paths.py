"""Which files a caller means: paths, globs and directories of logs."""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pcorrect.errors import DataError
from pcorrect.readers import files

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


def listed(data: object) -> list[str] | None:
    """Return the paths that the data are, as texts; None where they are no paths."""
    if isinstance(data, str | os.PathLike):
        return [os.fspath(data)]
    # frames and mappings are iterable too, over the names of their columns
    if isinstance(data, Mapping) or looks_like_frame(data):
        return None
    items: list[Any] = list(data) if isinstance(data, Iterable) else [data]
    if not all(isinstance(item, str | os.PathLike) for item in items):
        return None
    return [str(os.fspath(item)) for item in items]


def looks_like_frame(data: object) -> bool:
    """Whether an object can be a data frame, found without a look at its columns."""
    return hasattr(type(data), "columns") or hasattr(type(data), "schema")


def no_paths(data: object) -> DataError:
    """Error for data that are neither paths nor a data frame."""
    items = f" of {type(data[0]).__name__}" if isinstance(data, list | tuple) and data else ""
    return DataError(
        f"a {type(data).__name__}{items} is neither a path, nor a list of paths, nor a data frame; "
        "give a table as a data frame (pandas, polars, … : pcorrect.from_frame), and counts in "
        "arrays as pcorrect.PromptCounts.from_arrays(n_correct, n_generations)"
    )


def expand(paths: Paths) -> list[Input]:
    """List the files that paths, globs and directories stand for, each once.

    Raises
    ------
    DataError
        A path does not exist or cannot be read, or a glob or directory holds no file.
    """
    given = listed(paths)
    if given is None:
        raise no_paths(paths)
    if not given:
        raise DataError("no file was given")
    found: dict[Path, Input] = {}
    for item in given:
        text = os.path.expanduser(item)
        try:
            for entry in _one(text):
                found.setdefault(entry.path.resolve(), entry)
        except OSError as error:
            raise files.unreadable(text, error) from error
    return list(found.values())


def _one(text: str) -> list[Input]:
    if not text:
        # Path("") is the current directory: an unset variable of a shell would read all of it
        raise DataError("an empty path was given; name a file, a glob or a folder (. is this one)")
    path = Path(text)
    if path.is_dir() and path.suffix == ".parquet":
        return [Input(path, text, asked=True)]
    if path.is_dir():
        inside = sorted(_inside(path))
        if not inside:
            raise DataError(
                f"{text}: the directory holds no file named like results "
                f"({' '.join(files.FORMATS)})"
            )
        return [Input(p, str(p), asked=False) for p in inside]
    if path.exists():
        return [Input(path, text, asked=True)]
    if glob.has_magic(text):
        hits = sorted(p for p in glob.glob(text, recursive=True) if Path(p).is_file())
        if not hits:
            raise DataError(f"{text}: no file matches")
        return [Input(Path(p), p, asked=True) for p in hits]
    if path.is_symlink():
        raise _dangling(path)
    raise DataError(f"{text}: no such file{_suggestion(path)}")


def _inside(root: Path) -> Iterator[Path]:
    """Files named like results in a directory and below, through links too, none hidden."""
    seen: set[str] = set()
    for folder, folders, names in os.walk(root, onerror=_refuse_folder, followlinks=True):
        # links can lead back up, or to a folder that was read already
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(folder, name) for name in names if not name.startswith(".")):
            if any(suffix.lower() in files.FORMATS for suffix in path.suffixes[-2:]):
                if path.is_file():
                    yield path
                elif path.is_symlink():
                    raise _dangling(path)


def _refuse_folder(error: OSError) -> None:
    raise files.unreadable(str(error.filename), error) from error


def _dangling(path: Path) -> DataError:
    return DataError(f"{path}: a link to {os.readlink(path)!r}, which does not exist")


def _suggestion(path: Path) -> str:
    try:
        near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
    except OSError:
        return ""
    return f"; did you mean {near[0]!r}?" if near else ""


def lasts(item: Input) -> bool:
    """Whether an input can be read again and again, as a file can and a pipe cannot."""
    return item.path.is_file() or item.path.is_dir()


def kept(item: Input, folder: Path) -> Input:
    """Store what a pipe holds in a folder, as a file of the same name.

    Raises
    ------
    DataError
        It cannot be read.
    """
    if lasts(item):
        return item
    copy = Path(tempfile.mkdtemp(dir=folder), item.path.name)
    try:
        with item.path.open("rb") as pipe, copy.open("wb") as file:
            shutil.copyfileobj(pipe, file)
    except OSError as error:
        raise files.unreadable(item.name, error) from error
    return replace(item, path=copy)


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
