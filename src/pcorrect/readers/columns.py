"""Which column of a table is what: names that harnesses and people use, and the user's own map."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pcorrect.errors import DataError
from pcorrect.readers.names import CHOICES, KEYS, NAMES, OPTIONAL, SERIES, TEXTS, snake
from pcorrect.readers.refusal import NotResults

ColumnMap = Mapping[str, "str | Sequence[str] | None"]

Form = Literal["long", "wide", "counts", "packed"]


@dataclass(frozen=True)
class Layout:
    """Where a table keeps what.

    Parameters
    ----------
    form : str
        "long", "wide", "counts" or "packed".
    at : mapping of str to int
        Our name -> position of their column.
    wide : tuple of (int, int)
        Generation number and column position, for the wide form.
    wide_answers : mapping of int to int
        The same for the answers.
    groups : tuple of int
        Columns that could all be the group, of which none is taken.
    notes : tuple of str
    """

    form: Form
    at: Mapping[str, int]
    wide: tuple[tuple[int, int], ...] = ()
    wide_answers: Mapping[int, int] = field(default_factory=dict)
    groups: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> set[int]:
        """Columns that reading looks at."""
        wide = (i for _, i in self.wide)
        return {*self.at.values(), *wide, *self.wide_answers.values(), *self.groups}


def resolve(names: Sequence[str], given: ColumnMap, where: str) -> Layout:
    """Find the columns of a table.

    Parameters
    ----------
    names : sequence of str
        Column names of the table.
    given : mapping
        The user's map, our name -> their column; None says that there is no such column.
    where : str
        Name of the table, for messages.

    Returns
    -------
    Layout

    Raises
    ------
    DataError
        A needed column is missing or two columns fit equally well.
    """
    unknown = [key for key in given if key not in KEYS]
    if unknown:
        raise DataError(f"column map: {unknown[0]!r} is not one of {sorted(KEYS)}")
    return _Resolver(names, given, where).layout()


class _Resolver:
    def __init__(self, names: Sequence[str], given: ColumnMap, where: str) -> None:
        self.names, self.given, self.where = list(names), given, where
        self.keys = [snake(name) for name in names]
        self.notes: list[str] = []

    def layout(self) -> Layout:
        found = {name: self.find(name) for name in NAMES if name not in ("answer", "target")}
        wide = self.wide()
        form = self.form(found, wide)
        wanted = {
            "long": ("generation", "correct"),
            "wide": (),
            "counts": ("n_correct", "n_generations"),
            "packed": ("scores",),
        }[form]
        at: dict[str, int] = {}
        for name in ("llm", "benchmark", "prompt", "group", *CHOICES, *wanted):
            position = self.one(name, found[name])
            if position is not None:
                at[name] = position
        if form in ("long", "packed"):
            for name in ("answer", "target"):
                position = self.one(name, self.find(name))
                if position is not None and position not in at.values():
                    at[name] = position
        self.check(form, at)
        answers = self.wide_answers() if form == "wide" else {}
        groups = () if "group" in at else tuple(i for _, i in found["group"])
        runs = tuple(wide) if form == "wide" else ()
        return Layout(form, at, runs, answers, groups, tuple(self.notes))

    def find(self, name: str) -> list[tuple[int, int]]:
        """(tier, position) of each column that could be `name`, of its best tier only."""
        if name in self.given:
            their = self.given[name]
            return [] if their is None else [(0, self.position(str(their)))]
        taken = {self.position(t) for t in self.given.values() if isinstance(t, str)}
        for tier, words in enumerate(NAMES[name]):
            hits = [
                (tier, i)
                for i, key in enumerate(self.keys)
                if key in words.split() and i not in taken
            ]
            if hits:
                return hits
        return []

    def position(self, their: str) -> int:
        for names, wanted in ((self.names, their), (self.keys, snake(their))):
            hits = [i for i, name in enumerate(names) if name == wanted]
            if len(hits) == 1:
                return hits[0]
            if hits:
                raise DataError(
                    f"{self.where}: the column {their!r} occurs {len(hits)} times; rename all but "
                    "the one to use"
                )
        raise DataError(f"{self.where}: no column {their!r}; {self.found()}")

    def one(self, name: str, hits: list[tuple[int, int]]) -> int | None:
        if len(hits) > 1:
            shown = [self.names[i] for _, i in hits]
            if name in OPTIONAL:
                self.notes.append(f"columns {shown} could all be the {name}: none is used")
                return None
            if len(set(shown)) == 1:
                # a map could not tell them apart
                self.position(shown[0])
            raise DataError(
                f"{self.where}: the columns {shown} could all be the {name}; choose by a column "
                f"map, such as {name}={shown[0]}"
            )
        return hits[0][1] if hits else None

    def wide(self) -> list[tuple[int, int]]:
        if "generations" in self.given:
            chosen = self.given["generations"] or ()
            chosen = [chosen] if isinstance(chosen, str) else chosen
            columns = [self.position(name) for name in chosen]
            twice = next((name for name in chosen if columns.count(self.position(name)) > 1), None)
            if twice is not None:
                raise DataError(f"{self.where}: generations=[…] names column {twice!r} twice")
            return list(enumerate(columns, 1))
        return self.series(_is_score)

    def wide_answers(self) -> dict[int, int]:
        if "generations" in self.given:
            return {}
        return dict(self.series(_is_text))

    def series(self, wanted: Callable[[str], bool]) -> list[tuple[int, int]]:
        stems: dict[str, list[tuple[int, int]]] = {}
        for position, key in enumerate(self.keys):
            match = SERIES.fullmatch(key)
            if match:
                stem = match["stem"].rstrip("_") + "|" + (match["tail"] or "")
                if wanted(stem):
                    stems.setdefault(stem, []).append((int(match["i"]), position))
        # Columns named by bare numbers are a pivoted table only as a run 0.. or 1.. beside a column
        # of prompts; else they are the first row of a table without a header.
        bare = sorted(i for i, _ in stems.get("|", []))
        runs = len(bare) > 1 and bare in (_run(0, bare), _run(1, bare))
        if bare and not (runs and self.find("prompt")):
            del stems["|"]
        if len(stems) > 1:
            shown = [self.names[columns[0][1]] for columns in stems.values()]
            chosen = ",".join(self.names[i] for _, i in next(iter(stems.values())))
            raise DataError(
                f"{self.where}: the column series beginning {shown} could all be the generations; "
                f"choose by a column map: generations={chosen} (a list in Python)"
            )
        columns = next(iter(stems.values()), [])
        numbers = [i for i, _ in columns]
        if len(set(numbers)) < len(numbers):
            twice = next(i for i in numbers if numbers.count(i) > 1)
            raise DataError(f"{self.where}: generation {twice} has two columns; {self.found()}")
        return sorted(columns)

    def form(self, found: dict[str, list[tuple[int, int]]], wide: list[tuple[int, int]]) -> Form:
        for key, form in (("n_correct", "counts"), ("generations", "wide"), ("scores", "packed")):
            if self.given.get(key) is not None:
                return form  # type: ignore[return-value]
        if self.given.get("correct") is not None:
            return "long"
        counts = bool(found["n_correct"] and found["n_generations"])
        correct = found["correct"]
        flag = bool(correct) and correct[0][0] == 0
        if flag and found["generation"]:
            return "long"
        if sum([counts, bool(wide), flag]) > 1:
            hits = [
                i for _, i in (found["n_correct"] if counts else []) + (correct if flag else [])
            ]
            shown = [self.names[i] for i in hits + [i for _, i in wide[:2]]]
            raise DataError(
                f"{self.where}: the scores could be in any of {shown}; choose by a column map: "
                "correct=…, n_correct=… with n_generations=…, or generations=…,… (a list in Python)"
            )
        scores = found["scores"]
        if scores and scores[0][0] == 0 and correct and not flag:
            shown = [self.names[correct[0][1]], self.names[scores[0][1]]]
            raise DataError(
                f"{self.where}: the scores could be in any of {shown}; choose by a column map: "
                f"correct={shown[0]} or scores={shown[1]}"
            )
        if counts:
            return "counts"
        if wide:
            return "wide"
        if correct and found["n_generations"] and not found["generation"]:
            total = self.names[found["n_generations"][0][1]]
            name = self.names[correct[0][1]]
            raise DataError(
                f"{self.where}: beside {total!r}, {name!r} may be a count or one generation; "
                f"choose by a column map: n_correct={name} and n_generations={total}, or "
                f"correct={name}"
            )
        if scores and not correct:
            return "packed"
        return "long"

    def check(self, form: Form, at: dict[str, int]) -> None:
        need = {"long": ["correct"], "counts": ["n_correct", "n_generations"]}.get(form, [])
        if form == "long" or "llm" in at:
            need = ["prompt", *need]
        for name in need:
            if name not in at:
                known = ", ".join(" ".join(NAMES[name]).split()[:8])
                raise NotResults(
                    f"{self.where}: no column for {name!r} (known names: {known}, …); "
                    f"{self.found()}; give one by a column map, such as {name}=THEIR_NAME"
                )
        if "prompt" not in at:
            self.notes.append("no prompt column: the rows are numbered")

    def found(self) -> str:
        text = f"columns found: {', '.join(repr(name) for name in self.names[:40])}"
        if any(re.fullmatch(r"[\d.,]+", name) for name in self.names):
            text += " (is the header line missing?)"
        return text


def _is_score(stem: str) -> bool:
    head, tail = stem.split("|")
    words = f"{head}_{tail}"
    return not any(word in words for word in TEXTS.split("|"))


def _is_text(stem: str) -> bool:
    return not _is_score(stem)


def _run(first: int, numbers: list[int]) -> list[int]:
    return list(range(first, first + len(numbers)))
