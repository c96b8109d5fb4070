"""What the planning benchmarks share: real runs in order of generation, tables, result files."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

type Outcomes = dict[tuple[str, str], list[list[int]]]


def outcomes(name: str) -> Outcomes:
    """(benchmark, llm) -> outcomes in order of generation, one list per prompt."""
    found: dict[tuple[str, str], dict[str, list[tuple[int, int]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    with gzip.open(SHARED / f"{name}.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if row["correct"] in ("0", "1"):
                pair = int(row["generation"]), int(row["correct"])
                found[row["benchmark"], row["model"]][row["prompt_id"]].append(pair)
    return {
        key: [[correct for _, correct in sorted(rows)] for rows in prompts.values()]
        for key, prompts in found.items()
    }


def balanced(runs: Outcomes, k: int) -> Outcomes:
    """The runs in which every prompt has exactly k generations."""
    return {key: rows for key, rows in runs.items() if all(len(x) == k for x in rows)}


def write(name: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Write rows to results/<name>.csv, numbers with six significant digits, and print them."""
    rows = [{key: _short(value) for key, value in row.items()} for row in rows]
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    show(rows)
    print(f"-> {RESULTS.name}/{name}.csv\n")


def show(rows: list[dict[str, object]]) -> None:
    """Print rows as an aligned table."""
    table = [list(rows[0]), *([str(x) for x in row.values()] for row in rows)]
    widths = [max(len(str(row[i])) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(str(x).rjust(w) for x, w in zip(row, widths, strict=True)))


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else value
