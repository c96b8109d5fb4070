"""Which column of a table is what: names that harnesses and people use, and the user's own map."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pcorrect.errors import DataError

ColumnMap = Mapping[str, "str | Sequence[str] | None"]

# Our name -> tiers of their names. The first tier with a match decides; two matches inside a tier
# are ambiguous. Names are compared in snake case.
NAMES: dict[str, tuple[str, ...]] = {
    "llm": (
        "llm llm_name",
        "model model_name",
        "model_id model_key language_model llm_id",
        "engine system provider",
    ),
    "benchmark": ("benchmark benchmark_name", "dataset dataset_name task task_name eval eval_name"),
    "prompt": (
        "prompt_id promptid",
        "prompt question_id doc_id problem_id item_id instance_id example_id task_id qid prompt_idx"
        " question_idx problem_idx",
        "sample_id test_id uid",
        "id",
        "question problem item idx index",
    ),
    "generation": (
        "generation generation_id generation_idx generation_index gen gen_id gen_idx",
        "epoch run run_id trial trial_id attempt attempt_id repeat repetition replicate rollout"
        " rollout_id iteration epoch_id completion_id completion_idx sample sample_idx"
        " sample_index",
        "iter try seed rep",
    ),
    "correct": (
        "correct is_correct iscorrect correctness",
        "score passed pass is_pass acc accuracy exact_match success resolved",
        "result outcome value grade verdict",
    ),
    "n_correct": (
        "n_correct num_correct number_correct correct_count count_correct n_pass n_passed"
        " num_passed num_pass",
        "c n_success n_successes successes num_success",
    ),
    "n_generations": (
        "n_generations num_generations n_gens n_gen",
        "n n_samples num_samples n_total num_total n_trials num_trials n_attempts n_epochs n_runs",
        "k total trials attempts count epochs runs",
    ),
    "scores": ("scores", "corrects outcomes results grades generations correct_list score_list"),
    "answer": (
        "answer",
        "extracted_answer parsed_answer prediction predicted pred model_answer llm_answer",
        "response output completion generated_text model_output",
    ),
    "target": (
        "target",
        "gold reference ground_truth correct_answer expected expected_answer gold_answer label"
        " target_option reference_answer",
    ),
    "group": ("group group_id", "subtask subject category topic domain subset"),
}
SINGLE = frozenset(NAMES)
KEYS = (*NAMES, "generations")
# Where two names fit equally, these are left unused with a note rather than refused: no count
# depends on them.
OPTIONAL = frozenset({"answer", "target", "group"})

_RUN = (
    "gen generation run epoch sample trial attempt rep repeat repetition replicate seed try rollout"
    " iter iteration"
).replace(" ", "|")
_SCORE = "score|correct|is_correct|passed|result|outcome"
_TEXT = "answer|response|output|completion|prediction|text|extracted_answer"
_WIDE = re.compile(
    rf"(?P<stem>(?:(?:{_SCORE}|{_TEXT})_?)?(?:(?:{_RUN})_?)?)(?P<i>\d+)"
    rf"(?:_(?P<tail>{_SCORE}|{_TEXT}))?"
)

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
    notes : tuple of str
    """

    form: Form
    at: Mapping[str, int]
    wide: tuple[tuple[int, int], ...] = ()
    wide_answers: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def snake(name: str) -> str:
    """Column name for comparison: no BOM or outer space, snake case."""
    name = name.strip("\ufeff \t\r\n\"'")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[\s.\-]+", "_", name).lower()


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
        for name in ("llm", "benchmark", "prompt", "group", *wanted):
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
        return Layout(form, at, tuple(wide) if form == "wide" else (), answers, tuple(self.notes))

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
                raise DataError(f"{self.where}: the column {their!r} occurs {len(hits)} times")
        raise DataError(f"{self.where}: no column {their!r}; {self.found()}")

    def one(self, name: str, hits: list[tuple[int, int]]) -> int | None:
        if len(hits) > 1:
            shown = [self.names[i] for _, i in hits]
            if name in OPTIONAL:
                self.notes.append(f"columns {shown} could all be the {name}: none is used")
                return None
            raise DataError(
                f"{self.where}: the columns {shown} could all be the {name}; choose by a column "
                f"map, such as {name}={shown[0]}"
            )
        return hits[0][1] if hits else None

    def wide(self) -> list[tuple[int, int]]:
        if "generations" in self.given:
            chosen = self.given["generations"] or ()
            chosen = [chosen] if isinstance(chosen, str) else chosen
            return [(i, self.position(name)) for i, name in enumerate(chosen, 1)]
        return self.series(_is_score)

    def wide_answers(self) -> dict[int, int]:
        if "generations" in self.given:
            return {}
        return dict(self.series(_is_text))

    def series(self, wanted: Callable[[str], bool]) -> list[tuple[int, int]]:
        stems: dict[str, list[tuple[int, int]]] = {}
        for position, key in enumerate(self.keys):
            match = _WIDE.fullmatch(key)
            if match:
                stem = match["stem"].rstrip("_") + "|" + (match["tail"] or "")
                if wanted(stem):
                    stems.setdefault(stem, []).append((int(match["i"]), position))
        # Columns named by a bare number are a pivoted table only as a run 0.. or 1..
        bare = sorted(i for i, _ in stems.get("|", []))
        if bare and (len(bare) < 2 or bare not in (_run(0, bare), _run(1, bare))):
            del stems["|"]
        if len(stems) > 1:
            shown = [self.names[columns[0][1]] for columns in stems.values()]
            raise DataError(
                f"{self.where}: the column series beginning {shown} could all be the generations; "
                "choose by a column map, generations=[…]"
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
                "correct=…, n_correct=… with n_generations=…, or generations=[…]"
            )
        if counts:
            return "counts"
        if wide:
            return "wide"
        if flag and found["n_generations"] and self.names:
            total = self.names[found["n_generations"][0][1]]
            name = self.names[correct[0][1]]
            self.notes.append(f"column {total!r} is not used: {name!r} is read as one generation")
        if found["scores"] and not correct:
            return "packed"
        return "long"

    def check(self, form: Form, at: dict[str, int]) -> None:
        need = {"long": ["correct"], "counts": ["n_correct", "n_generations"]}.get(form, [])
        if form == "long" or "llm" in at:
            need = ["prompt", *need]
        for name in need:
            if name not in at:
                known = ", ".join(" ".join(NAMES[name]).split()[:8])
                raise DataError(
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
    return not any(word in words for word in _TEXT.split("|"))


def _is_text(stem: str) -> bool:
    return not _is_score(stem)


def _run(first: int, numbers: list[int]) -> list[int]:
    return list(range(first, first + len(numbers)))
