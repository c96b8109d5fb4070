"""What the subcommands share: the arguments that say what to read, JSON out, number formats."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pcorrect.data import Counts
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.plain import plain

if TYPE_CHECKING:
    from pcorrect.generations import Generations


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE… and the options that say how to read them."""
    parser.add_argument(
        "files",
        nargs="+",
        type=_input,
        metavar="FILE",
        help="results: tables, logs, globs, folders; - is standard input",
    )
    group = parser.add_argument_group("reading")
    group.add_argument("--llm", action="append", metavar="NAME", help="use this llm (repeatable)")
    group.add_argument("--benchmark", action="append", metavar="NAME", help="use this benchmark")
    group.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="OURS=THEIRS",
        help="map a column, e.g. prompt=question_uid (repeatable); generations=first,second,third "
        "for one column per generation",
    )
    group.add_argument("--metric", help="which metric of a log that holds several")
    group.add_argument("--filter", help="which answer filter of an lm-eval samples file")
    group.add_argument("--scorer", help="which scorer of an Inspect log")
    group.add_argument(
        "--errors",
        choices=("missing", "wrong"),
        default="missing",
        help="generations without a score are left out (default) or count as wrong",
    )
    group.add_argument(
        "--threshold", type=float, metavar="X", help="a graded score of at least X is correct"
    )


def read_generations(args: argparse.Namespace, *, texts: bool = False) -> Generations:
    """The generations table that the arguments describe."""
    from pcorrect.readers import read

    return read(args.files, **reading_options(args), texts=texts)


def reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments that say how to read, as options of `pcorrect.readers.read`."""
    names = ("llm", "benchmark", "metric", "filter", "scorer", "errors", "threshold")
    return {"columns": column_map(args.column)} | {name: getattr(args, name) for name in names}


def column_map(pairs: Sequence[str]) -> dict[str, str | list[str]]:
    """Our name -> their column, from OURS=THEIRS; their columns for the generations.

    Raises
    ------
    PcorrectError
        A pair is none, or names a column of ours a second time.
    """
    columns: dict[str, str | list[str]] = {}
    generations: list[str] = []
    for pair in pairs:
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not equals:
            raise PcorrectError(f"--column {pair}: write OURS=THEIRS, such as prompt=question_uid")
        if ours == "generations":
            # as a line of CSV, so that a name with a comma can be quoted
            generations += next(csv.reader([theirs], skipinitialspace=True), [""])
            columns[ours] = generations
        elif ours in columns:
            raise PcorrectError(
                f"--column {pair}: {ours} is {columns[ours]!r} already; name one column "
                "(only generations takes several)"
            )
        else:
            columns[ours] = theirs
    return columns


def read_counts(args: argparse.Namespace) -> list[Counts]:
    """Counts per benchmark, of what the arguments name."""
    from pcorrect.readers import counts

    return counts(read_generations(args))


def _input(text: str) -> str:
    """An argparse type: a path, where - is standard input as in other commands."""
    return "/dev/stdin" if text == "-" else text


def positive_int(text: str) -> int:
    """An argparse type: a whole number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def probability(text: str) -> float:
    """An argparse type: a number strictly between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} does not lie between 0 and 1")
    return value


def to_json(data: Any) -> str:
    """Strict JSON: what is not a finite number is null, lone surrogates are escaped."""
    return json.dumps(plain(data), indent=2, ensure_ascii=True, allow_nan=False)


def say(text: str = "") -> None:
    """Print a line whatever the terminal's encoding can show."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def share(value: float | None) -> str:
    """A number between 0 and 1 with four decimals; more where it would round to 0 or 1."""
    if value is None or not math.isfinite(value):
        return "-"
    if value not in (0.0, 1.0) and not 0.00005 <= abs(value) <= 0.99995:
        return f"{value:.2e}" if abs(value) < 0.5 else f"1 - {1 - value:.0e}"
    return f"{value:.4f}"


__all__ = [
    "ChoiceError",
    "add_input_arguments",
    "column_map",
    "positive_int",
    "probability",
    "read_counts",
    "read_generations",
    "reading_options",
    "say",
    "share",
    "to_json",
]
