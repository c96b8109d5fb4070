"""The error that shows where values which are no scores stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pcorrect import duck
from pcorrect.errors import DataError

SHOWN = 10


class NotResults(DataError):
    """The file is readable, but holds no results: passed over inside a directory."""


class Companion(NotResults):
    """The file belongs to a log, which is read from another file."""


def refuse(
    bad: Mapping[str, str], texts: Sequence[str | None], places: Sequence[str], where: str
) -> None:
    """Raise the error for values that are no scores, if there are any.

    Parameters
    ----------
    bad : mapping of str to str
        Value -> the rule it breaks.
    texts : sequence of str or None
        All values.
    places : sequence of str
        Where each value stands.
    where : str
        Name of the input.

    Raises
    ------
    DataError
        One of the values is bad.
    """
    found = [i for i, text in enumerate(texts) if text in bad]
    if found:
        lines = [f"{places[i]}: {texts[i]!r}: {bad[str(texts[i])]}" for i in found[:SHOWN]]
        raise report(where, lines, len(found))


def report(where: str, lines: Sequence[str], total: int) -> DataError:
    """Error with the first bad values, a line each, and how many there are."""
    more = f"\n  … and {total - len(lines)} more" if total > len(lines) else ""
    count = "1 value cannot" if total == 1 else f"{total} values cannot"
    shown = duck.unmarked("\n  ".join(lines))
    return DataError(f"{where}: {count} be read as right or wrong:\n  {shown}{more}")
