"""Which expressions are equal, by math-verify (the extra ``pcorrect[math]``) in worker processes.

math-verify alone would merge too much: it reads ``5 cm`` as 5, ``1e3`` as 3e, ``x = 5`` as 5 and
``X`` as ``x``. So it sees only what the cascade left as a formula, beside plain numbers, and two of
these are compared only if they are of one shape: both or neither an equation or inequality, in the
same kind of outer brackets, in the same variables (and equations of numbers not at all).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import IO, Any

from pcorrect.consistency import latex, math_worker, texts
from pcorrect.consistency.equivalence import Key
from pcorrect.consistency.math_worker import SECONDS
from pcorrect.errors import PcorrectError

_CHUNK = 200
_MOST_WORKERS = 4
_RELATION = re.compile(r"[=<>≤≥≠]")
_NAME = re.compile(r"(?<![^\W\d_])[^\W\d_](?![^\W\d_])")
_OUTER = {"(": ")", "[": "])", "{": "}", "|": "|"}

Leaders = dict[Key, Key]


def leaders(prompts: Sequence[Mapping[str, Key]]) -> list[Leaders]:
    """Key -> the key that it is equal to and that stands for it, for each prompt.

    Parameters
    ----------
    prompts : sequence of mapping of str to Key
        Representative texts of one prompt's groups, and their keys by the cascade.

    Raises
    ------
    PcorrectError
        math-verify is not installed.
    """
    if importlib.util.find_spec("math_verify") is None:
        raise PcorrectError(
            "equivalence 'math' compares expressions with math-verify, which is not installed: "
            "pip install 'pcorrect[math]', or use equivalence 'auto'"
        )
    wanted = [_pairs(known) for known in prompts]
    pairs = sorted({pair for group in wanted for pair in group})
    single = sorted({text for pair in pairs for text in pair})
    parsed = dict(zip(single, _run("parse", single), strict=True))
    pairs = [(a, b) for a, b in pairs if parsed[a] is not None and parsed[b] is not None]
    verdicts = _run("pairs", [(parsed[a], parsed[b]) for a, b in pairs])
    equal = {pair for pair, same in zip(pairs, verdicts, strict=True) if same}
    return [
        _components(known, [pair for pair in group if pair in equal])
        for known, group in zip(prompts, wanted, strict=True)
    ]


def _pairs(known: Mapping[str, Key]) -> list[tuple[str, str]]:
    """Pairs of cleaned texts to compare, each in code-point order."""
    shapes: dict[tuple[bool, str, frozenset[str]], list[tuple[str, bool]]] = {}
    for text, key in known.items():
        number = key.rule == "number" and " " not in key.value
        if not number and (key.rule != "expression" or _has_loose_comma(key.value)):
            continue
        relation, _, names = shape = _shape(text)
        # Relations of numbers are all "true": 3 + 4 = 7 would be the same as 5 + 6 = 11.
        if names or not relation:
            shapes.setdefault(shape, []).append((texts.clean(text), number))
    return [
        (min(a, b), max(a, b))
        for group in shapes.values()
        for (a, a_number), (b, b_number) in combinations(group, 2)
        if not (a_number and b_number) and a != b
    ]


def _shape(text: str) -> tuple[bool, str, frozenset[str]]:
    plain = texts.clean(latex.plain(texts.clean(text))).replace(" ", "")
    closing = _OUTER.get(plain[:1])
    outer = plain[0] + plain[-1] if closing and plain[-1] in closing else ""
    if outer == "()" and "," not in plain:
        outer = ""  # brackets around a single expression, or around its factors
    return bool(_RELATION.search(plain)), outer, frozenset(_NAME.findall(plain)) - {"π"}


def _has_loose_comma(text: str) -> bool:
    """Whether a comma separates several answers (``1, 2``), which math-verify takes for a set."""
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            return True
    return False


def _components(known: Mapping[str, Key], equal: Sequence[tuple[str, str]]) -> Leaders:
    key = {texts.clean(text): own for text, own in known.items()}
    leader = {own: own for own in known.values()}

    def find(own: Key) -> Key:
        while leader[own] != own:
            own = leader[own]
        return own

    for a, b in equal:
        first, second = sorted((find(key[a]), find(key[b])))
        leader[second] = first
    return {own: find(own) for own in leader}


def _run(what: str, items: Sequence[Any]) -> list[Any]:
    """Let worker processes answer all items; what a worker cannot answer is None."""
    chunks = [list(items[i : i + _CHUNK]) for i in range(0, len(items), _CHUNK)]
    if not chunks:
        return []
    workers = min(_MOST_WORKERS, os.cpu_count() or 1, len(chunks))
    with ThreadPoolExecutor(workers) as pool:
        shares = pool.map(lambda k: _worker(what, chunks[k::workers]), range(workers))
        answers: list[list[Any]] = [[] for _ in chunks]
        for k, share in enumerate(shares):
            answers[k::workers] = share
    return [answer for chunk in answers for answer in chunk]


def _worker(what: str, chunks: Sequence[Sequence[Any]]) -> list[list[Any]]:
    answers: list[list[Any]] = []
    with tempfile.TemporaryFile() as errors:
        process = _start(errors)
        try:
            for chunk in chunks:
                if process.poll() is not None:
                    _stop(process)
                    process = _start(errors)
                answers.append(_ask(process, what, chunk, errors))
        finally:
            _stop(process)
    return answers


def _start(errors: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P keeps the folder of the file, whose modules are ours, off the search path.
    return subprocess.Popen(
        [sys.executable, "-P", math_worker.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def _ask(
    process: subprocess.Popen[bytes], what: str, chunk: Sequence[Any], errors: IO[bytes]
) -> list[Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    # The worker limits every item itself; this ends one that hangs outside Python.
    hung = threading.Event()
    alarm = threading.Timer(60 + 3 * SECONDS * len(chunk), _kill, (process, hung))
    alarm.start()
    try:
        pickle.dump((what, chunk), process.stdin)
        process.stdin.flush()
        return list(pickle.load(process.stdout))
    except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
        if not hung.is_set():
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise PcorrectError(f"math-verify failed: {' '.join(last)}") from error
        return [None] * len(chunk)
    finally:
        alarm.cancel()


def _kill(process: subprocess.Popen[bytes], hung: threading.Event) -> None:
    hung.set()
    process.kill()


def _stop(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    process.wait()
