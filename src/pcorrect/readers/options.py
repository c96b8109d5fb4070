"""The choices a caller makes about reading, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

from pcorrect.errors import DataError
from pcorrect.parts import Errors, Selection
from pcorrect.readers.columns import ColumnMap
from pcorrect.readers.names import KEYS


@dataclass(frozen=True)
class Options:
    """How to read.

    Parameters
    ----------
    columns : mapping
        Our name -> their column, for tables.
    llm, benchmark : tuple of str
        Keep these only; a single name also names an input that carries none.
    metric, filter, scorer : str, optional
        Which of several to take, in logs.
    errors : str
        "missing" leaves generations without a score out, "wrong" counts them as wrong.
    threshold : float, optional
        A score at or above it is right.
    texts : bool
        Read full answers where a log also keeps shortened ones.
    unscored : bool
        Read a table that has no scores, for its answers.
    """

    columns: ColumnMap = field(default_factory=dict)
    llm: tuple[str, ...] = ()
    benchmark: tuple[str, ...] = ()
    metric: str | None = None
    filter: str | None = None
    scorer: str | None = None
    errors: Errors = "missing"
    threshold: float | None = None
    texts: bool = False
    unscored: bool = False

    def __post_init__(self) -> None:
        number = isinstance(self.threshold, Real) and not isinstance(self.threshold, bool)
        if self.threshold is not None and not (number and 0 < self.threshold <= 100):
            raise DataError(
                f"threshold must lie in (0, 1] for scores in [0, 1], or in (1, 100] for scores in "
                f"[0, 100]; got {self.threshold!r}"
            )
        unknown = [key for key in self.columns if key not in KEYS]
        if unknown:
            raise DataError(f"column map: {unknown[0]!r} is not one of {sorted(KEYS)}")

    @property
    def selection(self) -> Selection:
        """The part of the choices that the generations table applies."""
        return Selection(self.llm, self.benchmark, self.errors)

    @classmethod
    def of(
        cls,
        columns: ColumnMap | None = None,
        llm: str | Sequence[str] | None = None,
        benchmark: str | Sequence[str] | None = None,
        metric: str | None = None,
        filter: str | None = None,
        scorer: str | None = None,
        errors: Errors = "missing",
        threshold: float | None = None,
        texts: bool = False,
    ) -> Options:
        """Options from the arguments of the public functions."""
        return cls(
            _columns(columns or {}),
            _names(llm),
            _names(benchmark),
            metric,
            filter,
            scorer,
            errors,
            threshold,
            texts,
        )


def _columns(given: ColumnMap) -> dict[str, str | list[str] | None]:
    """Column map of texts: pivoted frames have numbers for names; an empty name means no column."""
    if not isinstance(given, Mapping):
        raise DataError(f"the column map must be a dict, our name -> their column; got {given!r}")
    return {
        key: [str(name) for name in their]
        if isinstance(their, list | tuple)
        else None
        if their is None or their == ""
        else str(their)
        for key, their in given.items()
    }


def _names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, several or none as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(name) for name in value)
