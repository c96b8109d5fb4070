"""`pcorrect report`: results files to one HTML page."""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pcorrect.commands import common
from pcorrect.errors import DataError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL

# Names of the columns of a file of prompt texts.
_IDS = ("prompt_id", "prompt", "id", "question_id", "doc_id")
_TEXTS = ("question", "text", "prompt_text", "input", "prompt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    out = parser.add_argument_group("report")
    out.add_argument(
        "-o", "--output", metavar="OUT.html", default="report.html", help="report.html"
    )
    out.add_argument("--title", default="", help="default: the llms and benchmarks")
    out.add_argument(
        "--texts",
        metavar="FILE.csv",
        help="texts of the prompts: a table with a column of prompt ids and one of texts",
    )
    group = parser.add_argument_group("model")
    group.add_argument("--model", default=DEFAULT_MODEL, help=f"default: {DEFAULT_MODEL}")
    group.add_argument("--engine", help="exact, gibbs or nuts (default: the model's fastest)")
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument("--draws", type=common.positive_int, default=1000, help="per chain (1000)")
    group.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    group.add_argument("--ci-kind", choices=("eti", "hdi"), default="eti", help="interval (eti)")
    group.add_argument(
        "--rope",
        type=float,
        default=0.01,
        metavar="X",
        help="differences between llms within X count as none; 0.01 is one point (0.01)",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the report."""
    from pcorrect.report import write_report

    if Path(args.output).is_dir():
        raise PcorrectError(f"-o {args.output}: is a directory; name the file to write")
    texts = read_texts(args.texts) if args.texts else None
    show = not args.quiet and sys.stderr.isatty()

    def each(runs: list[Any]) -> Sequence[Any]:
        if not show or len(runs) < 2:
            return runs
        from tqdm import tqdm

        bar: Any = tqdm(runs, unit="fit", leave=False)
        return cast("Sequence[Any]", bar)

    write_report(
        common.read_generations(args, texts=True),
        args.output,
        title=args.title,
        ci_prob=args.ci_prob,
        ci_kind=args.ci_kind,
        model=args.model,
        engine=args.engine,
        rope=args.rope,
        texts=texts,
        seed=args.seed,
        draws=args.draws,
        each=each,
    )
    size = Path(args.output).stat().st_size
    common.say(f"{args.output}: {size / 1e6:.1f} MB, opens in any browser")
    return 0


def read_texts(path: str) -> dict[str, str]:
    """Prompt id -> text, from a table with a head.

    Raises
    ------
    DataError
        The file is missing, is no table, or has no such columns.
    """
    try:
        raw = Path(path).read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"--texts {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, EOFError) as error:
        raise DataError(f"--texts {path}: not a table in UTF-8 ({error})") from error
    # a text may be longer than the 128 KB that csv allows by default
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = list(reader.fieldnames or [])
    key = next((name for name in _IDS if name in names), None)
    value = next((name for name in _TEXTS if name in names and name != key), None)
    if key is None or value is None:
        raise DataError(
            f"--texts {path}: needs a column of prompt ids ({', '.join(_IDS)}) and one of texts "
            f"({', '.join(_TEXTS)}), found {names}"
        )
    return {str(row[key]): str(row[value] or "") for row in reader}
