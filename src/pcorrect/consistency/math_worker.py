"""The process that runs math-verify: requests in, answers out, both pickled.

A process of its own, because the time limits of math-verify rest on signals, which only a main
thread may use; and not one of `multiprocessing`, which would run the caller's script a second time
on some systems.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any, BinaryIO

SECONDS = 5


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer ``(what, items)`` until the input ends: "parse" texts, or compare parsed "pairs"."""
    while True:
        try:
            what, items = pickle.load(requests)
        except EOFError:
            return
        found = [_parse(item) if what == "parse" else _equal(*item) for item in items]
        pickle.dump(found, answers)
        answers.flush()


def _parse(text: str) -> bytes | None:
    from math_verify import LatexExtractionConfig, parse

    found = parse(
        f"${text}$",
        extraction_config=[LatexExtractionConfig()],
        fallback_mode="no_fallback",
        parsing_timeout=SECONDS,
    )
    if len(found) != 1:
        return None
    try:
        return pickle.dumps(found)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return None


def _equal(a: bytes, b: bytes) -> bool:
    """Whether two expressions are equal in both directions, to all digits of a double."""
    from math_verify import verify

    left, right = pickle.loads(a), pickle.loads(b)
    options: dict[str, Any] = {"float_rounding": 15, "timeout_seconds": SECONDS}
    return bool(verify(left, right, **options)) and bool(verify(right, left, **options))


def main() -> None:
    """Serve standard input and output; what libraries print goes to the error stream."""
    answers = sys.stdout.buffer
    sys.stdout = sys.stderr
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
