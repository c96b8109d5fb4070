"""What the planning benchmarks share: real runs in order of generation, tables, result files."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from tables import RESULTS, show, write_table

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
    """Write rows to results/<name>.csv, and print them."""
    show(write_table(RESULTS / f"{name}.csv", rows))
    print(f"-> {RESULTS.name}/{name}.csv\n")
