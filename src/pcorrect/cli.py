"""The command `pcorrect`: parse, hand over to a subcommand, turn errors into one line."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence

from pcorrect.errors import PcorrectError

_COMMANDS = {
    "fit": "results files -> posterior of mu, score and sigma",
    "summary": "tables of a saved result",
    "compare": "two llms: the difference of mu and of score, prompts paired",
    "rank": "many llms: ranks, P(best), and which cannot be told apart",
    "plan": "how many generations are enough, and where to spend the next ones",
    "map": "data map and flags of prompts whose key may be wrong",
    "report": "one HTML page with all of it",
    "simulate": "make results whose truth is known",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (2 for a mistake in the input)."""
    # Python has None for a stream that the caller has closed: nobody wants to see it.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="pcorrect",
        description="Bayesian statistics for benchmark results with several generations a prompt.",
    )
    version = importlib.metadata.version("pcorrect")
    parser.add_argument("--version", action="version", version=f"pcorrect {version}")
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, about in _COMMANDS.items():
        sub = parsers.add_parser(name, help=about, description=about, allow_abbrev=False)
        # Only the command that was asked for is imported: the others' imports cost start-up time.
        if name in arguments[:1]:
            importlib.import_module(f"pcorrect.commands.{name}").add_arguments(sub)
    args = parser.parse_args(arguments)
    try:
        code = int(args.run(args))
        sys.stdout.flush()
        return code
    except PcorrectError as error:
        print(f"pcorrect: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: no error of the user's.
        _discard_output()
        return 0
    except OSError as error:
        what = error.filename or "cannot write the output"
        print(f"pcorrect: {what}: {error.strerror or error}", file=sys.stderr)
        if error.filename is None:
            _discard_output()
        return 2
    except KeyboardInterrupt:
        print("pcorrect: interrupted", file=sys.stderr)
        return 130


def _discard_output() -> None:
    """Let what is still to be printed go nowhere, also as Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
