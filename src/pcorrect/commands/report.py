"""`pcorrect report`: results files to one HTML page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pcorrect.commands import common
from pcorrect.errors import PcorrectError
from pcorrect.fitting import DEFAULT_MODEL


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
        help="texts of the prompts, where the results do not hold them: a table with a column of "
        "prompt ids and one of texts",
    )
    out.add_argument("--no-texts", action="store_true", help="leave the texts of prompts out")
    group = parser.add_argument_group("model")
    group.add_argument("--model", default=DEFAULT_MODEL, help=f"default: {DEFAULT_MODEL}")
    group.add_argument("--engine", help="exact, gibbs or nuts (default: the model's fastest)")
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument("--draws", type=common.positive_int, help="per chain (500; 1000 by NUTS)")
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
    from pcorrect.report.texts import find_texts, read_texts

    if Path(args.output).is_dir():
        raise PcorrectError(f"-o {args.output}: is a directory; name the file to write")
    generations = common.read_generations(args, texts=True)
    texts = {} if args.no_texts else find_texts(args.files, common.column_map(args.column))
    if args.texts:
        texts |= read_texts(args.texts)
    show = not args.quiet and sys.stderr.isatty()

    def each(runs: list[Any]) -> Sequence[Any]:
        if not show or len(runs) < 2:
            return runs
        from tqdm import tqdm

        bar: Any = tqdm(runs, unit="fit", leave=False)
        return cast("Sequence[Any]", bar)

    write_report(
        generations,
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
