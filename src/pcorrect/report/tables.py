"""Tables that sort, and that can be searched where they are long."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pcorrect.plots.axes import Axis
from pcorrect.report.markup import Content, Markup, tag

# From so many rows on a table has a search box, and scrolls by itself.
_LONG = 15


@dataclass(frozen=True)
class Column:
    """Head of a column.

    Parameters
    ----------
    head : str
    about : str
        The quantity and its interval in words, shown on hover.
    number : bool
        Numbers are set to the right and sort by value, largest first.
    wide : bool
        For drawings and sentences.
    """

    head: Content
    about: str = ""
    number: bool = True
    wide: bool = False


@dataclass(frozen=True)
class Cell:
    """Content of a cell, and the numbers that it stands for, exactly as the API has them.

    Parameters
    ----------
    content : Content
    value : float or None
        What the column is sorted by.
    low, high : float or None
        Ends of its interval.
    """

    content: Content
    value: float | None = None
    low: float | None = None
    high: float | None = None


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell | Content]], *, name: str, about: str
) -> Markup:
    """A table; the first cell of each row is its head.

    Parameters
    ----------
    columns : sequence of Column
    rows : iterable of sequences
    name : str
        Anchor, unique on the page.
    about : str
        What the table holds, for screen readers.
    """
    heads = [
        tag(
            "th",
            tag("button", column.head, type="button", title=column.about or None),
            scope="col",
            class_=_kind(column),
        )
        for column in columns
    ]
    lines = []
    for row in rows:
        cells = []
        for i, (column, item) in enumerate(zip(columns, row, strict=True)):
            cell = item if isinstance(item, Cell) else Cell(item)
            cells.append(
                tag(
                    "td" if i else "th",
                    cell.content,
                    class_=_kind(column),
                    data_v=_exact(cell.value),
                    data_low=_exact(cell.low),
                    data_high=_exact(cell.high),
                    scope=None if i else "row",
                )
            )
        lines.append(tag("tr", cells))
    long = len(lines) > _LONG
    search = tag(
        "input", type="search", class_="filter", placeholder="Search", aria_label=f"Search {about}"
    )
    return tag(
        "div",
        search if long else None,
        tag(
            "div",
            tag(
                "table",
                tag("caption", about, class_="unseen"),
                tag("thead", tag("tr", heads)),
                tag("tbody", lines),
                class_="sortable",
                id=name,
            ),
            class_="scroll long" if long else "scroll",
            tabindex="0",
        ),
        class_="table",
    )


def _exact(value: float | None) -> str | None:
    return None if value is None or not math.isfinite(value) else repr(float(value))


def _kind(column: Column) -> str | None:
    return "wide" if column.wide else "num" if column.number else None


def whiskers(axis: Axis, parts: Iterable[tuple[float, float, float, int]]) -> Markup:
    """Intervals drawn in a cell: (low, estimate, high, colour) on a common axis."""
    shapes = []
    parts = list(parts)
    for i, (low, middle, high, colour) in enumerate(parts):
        if not all(map(math.isfinite, (low, middle, high))):
            continue
        a, b, c = (f"{1000 * float(axis.place(v)):.1f}" for v in (low, middle, high))
        y = f"{1000 * (i + 0.5) / len(parts):.0f}"
        shapes.append(tag("path", class_=f"line c{colour}", d=f"M{a} {y}H{c}"))
        shapes.append(tag("path", class_=f"dots c{colour}", d=f"M{b} {y}h0"))
    grid = [
        tag("path", class_="grid", d=f"M{1000 * float(at):.1f} 0V1000")
        for at in axis.place(axis.ticks)
    ]
    return tag(
        "svg",
        grid,
        shapes,
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        aria_hidden="true",
        class_="whiskers",
    )


def ruler(axis: Axis) -> Markup:
    """Tick labels for the head of a column of `whiskers`."""
    labels = [
        tag("span", axis.text(v), style=f"left:{100 * float(at):.1f}%")
        for v, at in zip(axis.ticks, axis.place(axis.ticks), strict=True)
    ]
    return tag("span", labels, class_="ruler")
