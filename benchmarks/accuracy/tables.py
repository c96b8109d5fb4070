"""Tables of results: written as CSV files, and printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from pcorrect.files import write_text

RESULTS = Path(__file__).parent / "results"

type Rows = list[dict[str, object]]


def read_table(path: Path) -> Rows:
    """Rows of a table that was written before; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def write_table(path: Path, rows: Iterable[Mapping[str, object]]) -> Rows:
    """Write rows as CSV, whole or not at all, numbers with six significant digits.

    Columns are those of any row. Returns the rows as they were written.
    """
    short = [{key: _short(value) for key, value in row.items()} for row in rows]
    text = io.StringIO()
    names = dict.fromkeys(name for row in short for name in row)
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(short)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text.getvalue())
    return short


def write_each(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write and print rows as they come, for tables that take long."""
    done: Rows = []
    for row in rows:
        if not done:
            print(",".join(row))
        done = write_table(path, [*done, row])
        print(",".join(str(value) for value in done[-1].values()), flush=True)


def show(rows: Rows) -> None:
    """Print rows as an aligned table."""
    table = [list(rows[0]), *([str(x) for x in row.values()] for row in rows)]
    widths = [max(len(str(row[i])) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(str(x).rjust(w) for x, w in zip(row, widths, strict=True)))


def _short(value: object) -> object:
    # numpy's doubles are floats
    return f"{value:.6g}" if isinstance(value, float) else value
