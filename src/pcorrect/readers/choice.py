"""One of several: filters, metrics, scorers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pcorrect import duck
from pcorrect.errors import ChoiceError
from pcorrect.readers.names import snake

if TYPE_CHECKING:
    from pcorrect.readers.tables import Table

# More names than this are texts.
MOST_NAMES = 10_000
_SHOWN = 20


def choose(wanted: str | None, names: Sequence[str], what: str, where: str, hint: str = "") -> str:
    """Return the name that was asked for, or the only one.

    Parameters
    ----------
    wanted : str or None
        The caller's choice.
    names : sequence of str
        What the input holds.
    what : str
        "filter", "metric" or "scorer": the option's name.
    where : str
        Name of the input, for messages.
    hint : str
        What else to do, for messages.

    Returns
    -------
    str

    Raises
    ------
    ChoiceError
        There are several and none was chosen, or the chosen one is absent.
    """
    if wanted is not None and wanted in names:
        return wanted
    if wanted is None and len(names) == 1:
        return names[0]
    listed = ", ".join(repr(name) for name in names[:_SHOWN])
    more = ", …" if len(names) > _SHOWN else ""
    problem = f"several {what}s" if wanted is None else f"no {what} {wanted!r}"
    raise ChoiceError(
        f"{where}: {problem}; choose one with --{what}: {listed}{more}{hint}", list(names)
    )


def keep_one(table: Table, what: str) -> str:
    """SQL test (AND …) for the rows of one filter, metric or scorer of each benchmark.

    Parameters
    ----------
    table : Table
    what : str
        "filter", "metric" or "scorer".

    Returns
    -------
    str
        Empty where no benchmark has several of a kind.

    Raises
    ------
    ChoiceError
        A benchmark has several and none was chosen, or the chosen one is absent.
    """
    wanted, name = getattr(table.options, what), table.raw.source.name
    found, blank = _names(table, what)
    if not found:
        if wanted is not None:
            table.notes.append(f"the table names no {what}: {what} {wanted!r} chooses nothing")
        return ""
    column = table.raw.names[table.at[what]]
    if sum(map(len, found.values())) > MOST_NAMES and wanted is None:
        table.notes.append(f"column {column!r} holds texts, not names of {what}s: not used")
        return ""
    # Other names than the option's own are a guess.
    own = snake(column) == what
    hint = "" if own else f" (if column {column!r} names no {what}s, map none: --column {what}=)"
    if wanted is not None:
        choose(wanted, [v for values in found.values() for v in values], what, name, hint)
    for benchmark, values in found.items():
        if len(values) > 1:
            place = f"{name}: benchmark {benchmark!r}" if len(found) > 1 else name
            choose(wanted, values, what, place, hint)
    _note_exceptions(table, what, found, blank)
    several = [benchmark for benchmark, values in found.items() if len(values) > 1]
    if not several:
        return ""
    among = f"{_benchmark(table)} IN {duck.in_list(several)}"
    return f" AND (NOT {among} OR coalesce({table.text(what)} = {duck.literal(wanted)}, false))"


def _note_exceptions(
    table: Table, what: str, found: Mapping[str, Sequence[str]], blank: Mapping[str, int]
) -> None:
    """Note benchmarks that have another name than the chosen one, and rows that have none."""
    wanted = getattr(table.options, what)
    for benchmark, values in found.items():
        only = values[0] if len(values) == 1 else None
        if only is not None and wanted not in (None, only):
            table.notes.append(f"{what} {only!r} is the only one of benchmark {benchmark!r}")
        if benchmark in blank:
            rest = "not read" if only is None else f"read with {only!r}"
            table.notes.append(
                f"{blank[benchmark]} {table.raw.row_word}(s) without a {what}: {rest}"
            )


def _names(table: Table, what: str) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Names of each benchmark in order of appearance, and how many rows have none."""
    found: dict[str, list[str]] = defaultdict(list)
    blank: dict[str, int] = {}
    if what in table.at:
        rows = table.con.execute(
            f"SELECT {_benchmark(table)} AS b, {table.text(what)} AS v, count(*) {table.rows} "
            f"GROUP BY b, v ORDER BY min(row) LIMIT {MOST_NAMES + 1}"
        ).fetchall()
        for benchmark, value, n in rows:
            if value is None:
                blank[benchmark] = n
            else:
                found[benchmark].append(value)
    return found, blank


def _benchmark(table: Table) -> str:
    return f"coalesce({table.text('benchmark')}, '')"
