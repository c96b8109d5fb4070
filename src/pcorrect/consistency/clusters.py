"""Answers of one prompt grouped into clusters of equal meaning, whatever their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.equivalence import EMPTY, REASONS, Key, Reader, Rule, cascade, exact
from pcorrect.errors import PcorrectError

#: "auto", "exact", "math", a function of two texts, or several of these in a row.
Equivalence = str | Callable[[str, str], object] | Sequence[str | Callable[[str, str], object]]

NO_ANSWER = ""


@dataclass(frozen=True)
class Cluster:
    """Answers that are the same.

    Parameters
    ----------
    text : str
        The most frequent of its texts (of equally frequent ones the shortest, then the first in
        code-point order); ``""`` for the group without an answer.
    size : int
        Number of answers, repeated ones counted each time.
    texts : mapping of str to int
        Its distinct texts and how often each occurs.
    rule : str
        What made these texts one answer.
    """

    text: str
    size: int
    texts: Mapping[str, int]
    rule: Rule

    @property
    def no_answer(self) -> bool:
        """Whether this is the group of empty answers."""
        return self.rule == "empty"

    @property
    def reason(self) -> str:
        """The rule in words."""
        identical = len(self.texts) == 1 and not self.no_answer
        return REASONS["exact" if identical else self.rule]


@dataclass(frozen=True)
class Clusters:
    """Clusters of one prompt's answers, largest first (then by text): the order of input is lost.

    Parameters
    ----------
    clusters : tuple of Cluster
    label : ndarray of int64, shape (k,)
        For each answer in the order of input, the position of its cluster.
    calls : int
        How often the caller's function was called.
    """

    clusters: tuple[Cluster, ...]
    label: NDArray[np.int64]
    calls: int = 0

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of all clusters, the group without an answer included."""
        return tuple(cluster.size for cluster in self.clusters)

    @property
    def answered(self) -> tuple[Cluster, ...]:
        """The clusters that hold an answer."""
        return tuple(cluster for cluster in self.clusters if not cluster.no_answer)

    @property
    def no_answer(self) -> int:
        """Number of empty answers."""
        return sum(cluster.size for cluster in self.clusters if cluster.no_answer)

    @property
    def tie(self) -> bool:
        """Whether two clusters of answers share the first place."""
        sizes = [cluster.size for cluster in self.answered]
        return len(sizes) > 1 and sizes[0] == sizes[1]

    def __len__(self) -> int:
        return len(self.clusters)


def cluster(
    answers: Sequence[str | None],
    *,
    equivalence: Equivalence = "auto",
    directed: bool = False,
    decimal: str = ".",
) -> Clusters:
    """Group the answers to one prompt by meaning.

    Parameters
    ----------
    answers : sequence of str or None
        One per generation. None and blank texts form one group, "no answer".
    equivalence : str, callable or sequence of these
        "auto": choice letters, numbers with units, formulas, code and texts, each by rules that
        merge nothing when unsure (`pcorrect.consistency.equivalence`). "exact": identical texts
        only. "math": "auto", then LaTeX expressions through math-verify (the extra
        ``pcorrect[math]``). A function ``same(a, b) -> bool`` alone decides about texts that are
        not identical; in a sequence such as ``("auto", same)`` it decides about what the rules
        before it left apart, shown one text for each group. Each unordered pair is asked about
        once at most, and the clusters are the connected components: if a = b and b = c, then
        a = c.
    directed : bool
        The function says "a implies b": two answers are the same if it holds both ways.
    decimal : {".", ","}
        Decimal sign of numbers.

    Returns
    -------
    Clusters
        The same whatever the order of `answers`.

    Raises
    ------
    PcorrectError
        `equivalence` is unknown, needs a package that is not installed, or a function returns
        something else than True or False.
    """
    return cluster_many([answers], equivalence=equivalence, directed=directed, decimal=decimal)[0]


def cluster_many(
    prompts: Sequence[Sequence[str | None]],
    *,
    equivalence: Equivalence = "auto",
    directed: bool = False,
    decimal: str = ".",
) -> list[Clusters]:
    """`cluster` for many prompts: each distinct text is read once, whatever the prompt."""
    if decimal not in (".", ","):
        raise PcorrectError(f"decimal must be '.' or ',', got {decimal!r}")
    steps = _steps(equivalence)
    read: Reader = exact
    if steps and steps[0] in ("auto", "math"):
        read = lambda text: cascade(text, decimal=decimal)  # noqa: E731
    known: dict[str | None, Key] = {}
    tables = []
    for answers in prompts:
        counts = Counter(answers)
        for text in counts:
            if text not in known:
                known[text] = read(_checked(text))
        tables.append(_Table(answers, counts, known))
    if "math" in steps:
        from pcorrect.consistency import math_expressions

        found = math_expressions.leaders([table.representatives() for table in tables])
        for table, leader in zip(tables, found, strict=True):
            table.merge(leader, "math")
    for step in steps:
        if callable(step):
            for table in tables:
                table.ask(step, directed)
    return [table.clusters() for table in tables]


def _steps(equivalence: Equivalence) -> list[str | Callable[[str, str], object]]:
    single = isinstance(equivalence, str) or callable(equivalence)
    steps = [equivalence] if single else list(equivalence)  # type: ignore[arg-type]
    for step in steps:
        if not callable(step) and step not in ("auto", "exact", "math"):
            raise PcorrectError(
                f"equivalence must be 'auto', 'exact', 'math' or a function of two texts, "
                f"got {step!r}"
            )
    return steps  # type: ignore[return-value]


def _checked(text: object) -> str | None:
    if text is None or isinstance(text, str):
        return text
    if isinstance(text, float) and text != text:
        return None
    raise PcorrectError(f"answers must be texts or None, got {type(text).__name__} {text!r}")


class _Table:
    """Groups of one prompt's texts while they are being merged."""

    def __init__(
        self,
        answers: Sequence[str | None],
        counts: Mapping[str | None, int],
        keys: Mapping[str | None, Key],
    ) -> None:
        self.answers, self.counts, self.calls = answers, counts, 0
        self.key = {text: keys[text] for text in counts}

    def groups(self) -> dict[Key, dict[str, int]]:
        """Key -> its texts, all blank ones as one."""
        groups: dict[Key, dict[str, int]] = {}
        for text, count in self.counts.items():
            members = groups.setdefault(self.key[text], {})
            shown = NO_ANSWER if self.key[text] == EMPTY else str(text)
            members[shown] = members.get(shown, 0) + count
        return groups

    def representatives(self) -> dict[str, Key]:
        """The text that stands for each group with an answer, in code-point order."""
        found = {_first(members): key for key, members in self.groups().items() if key != EMPTY}
        return dict(sorted(found.items()))

    def ask(self, same: Callable[[str, str], object], directed: bool) -> None:
        """Merge by the caller's function."""
        known = self.representatives()
        leader = {text: text for text in known}

        def find(text: str) -> str:
            while leader[text] != text:
                text = leader[text]
            return text

        # Pairs that are already connected need no call: the components are the same without it.
        for a, b in combinations(known, 2):
            if find(a) == find(b):
                continue
            equal = self._call(same, a, b)
            if equal and directed:
                equal = self._call(same, b, a)
            if equal:
                first, second = sorted((find(a), find(b)))
                leader[second] = first
        self.merge({known[text]: known[find(text)] for text in known}, "user")

    def _call(self, same: Callable[[str, str], object], a: str, b: str) -> bool:
        self.calls += 1
        answer = same(a, b)
        if not isinstance(answer, bool | np.bool_):
            raise PcorrectError(
                f"the function must say True or False whether {a!r} and {b!r} are the same; it "
                f"returned {answer!r} (compare a similarity with a threshold)"
            )
        return bool(answer)

    def merge(self, leader: Mapping[Key, Key], rule: Rule) -> None:
        """Give all keys that share a leader one key of the given rule."""
        sizes = Counter(leader.values())
        new = {
            key: Key(rule, f"{first.rule}\n{first.value}") if sizes[first] > 1 else key
            for key, first in leader.items()
        }
        self.key = {text: new.get(key, key) for text, key in self.key.items()}

    def clusters(self) -> Clusters:
        made = {
            key: Cluster(
                _first(members), sum(members.values()), dict(sorted(members.items())), key.rule
            )
            for key, members in self.groups().items()
        }
        order = sorted(made, key=lambda key: (-made[key].size, made[key].text))
        place = {key: i for i, key in enumerate(order)}
        label = np.array([place[self.key[text]] for text in self.answers], np.int64)
        return Clusters(tuple(made[key] for key in order), label, self.calls)


def _first(members: Mapping[str, int]) -> str:
    return min(members, key=lambda text: (-members[text], len(text), text))
