"""`pcorrect summary`: tables of a saved result."""

from __future__ import annotations

import argparse

from pcorrect.commands import common
from pcorrect.commands.fit import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    parser.add_argument("file", metavar="OUT.nc", help="what pcorrect fit -o saved")
    parser.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    parser.add_argument("--ci-kind", choices=("eti", "hdi"), default="eti", help="interval (eti)")
    parser.add_argument("--per-prompt", action="store_true", help="also every p_i")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print what the result holds."""
    from pcorrect.adequacy.checks import check_fit
    from pcorrect.posterior import from_datatree
    from pcorrect.storage import load

    fit = from_datatree(load(args.file))
    show([fit], [check_fit(fit)], args)
    return 0
