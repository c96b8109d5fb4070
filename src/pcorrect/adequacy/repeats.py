"""Cached responses: k generations that are one generation, k times.

A cache in front of an llm (or temperature 0) returns the same text each time. The repeats then hold
nothing about the chance of a correct answer, but every formula takes them for k independent tries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pcorrect.data import IntArray, PromptCounts, RowReport
from pcorrect.errors import DataError

# Extracted answers are short, and an llm that knows the answer repeats it. Only wrong answers that
# never vary are evidence; this many prompts of them are asked for.
_WRONG_PROMPTS = 5
LEFT_OUT = "identical to another generation of the prompt"


@dataclass(frozen=True)
class Repeats:
    """How many prompts got the same text every time.

    Parameters
    ----------
    cached : bool
        Every prompt did, while texts differ between prompts.
    verdict : str
        One sentence.
    n_repeated : int
        Prompts with at least two texts.
    n_identical : int
        Those whose texts are all equal, byte by byte.
    n_texts : int
        Different texts among these prompts.
    """

    cached: bool
    verdict: str
    n_repeated: int
    n_identical: int
    n_texts: int


def check_repeats(
    prompt: Sequence[str],
    text: Sequence[str | None],
    correct: Sequence[int] | IntArray | None = None,
    *,
    what: Literal["response", "answer"] = "response",
) -> Repeats:
    """Notice generations that are copies of each other.

    Parameters
    ----------
    prompt, text : sequence of str, one entry per generation
        Texts that are None are not looked at.
    correct : sequence of int, optional
        1, 0 or -1; needed for answers.
    what : {"response", "answer"}
        Whole responses, or the answers extracted from them. Answers agree by themselves where the
        llm knows them, so they count as copies only if five prompts or more are answered wrong, and
        each in one way only.

    Raises
    ------
    DataError
        The sequences differ in length, or answers come without `correct`.
    """
    if len(prompt) != len(text) or (correct is not None and len(correct) != len(text)):
        raise DataError(f"{len(prompt)} prompts, {len(text)} texts: one of each per generation")
    if what == "answer" and correct is None:
        raise DataError("answers need `correct`: right ones agree whether or not they are copies")
    texts: dict[str, list[str]] = {}
    right: dict[str, bool] = {}
    for i, (name, value) in enumerate(zip(prompt, text, strict=True)):
        if value is None:
            continue
        texts.setdefault(name, []).append(value)
        right[name] = right.get(name, False) or (correct is not None and correct[i] == 1)
    repeated = {name: values for name, values in texts.items() if len(values) > 1}
    identical = [name for name, values in repeated.items() if len(set(values)) == 1]
    n_texts = len({value for values in repeated.values() for value in values})
    every = len(repeated) > 1 and len(identical) == len(repeated) and n_texts > 1
    wrong = sum(not right[name] for name in identical)
    cached = every and (what == "response" or wrong >= _WRONG_PROMPTS)
    return Repeats(
        cached,
        _sentence(cached, every, what, len(repeated), len(identical)),
        len(repeated),
        len(identical),
        n_texts,
    )


def _sentence(cached: bool, every: bool, what: str, repeated: int, identical: int) -> str:
    if cached:
        return (
            f"All generations of every prompt have the same {what} ({repeated} prompts): they come "
            "from a cache, or from temperature 0, and count as one generation each."
        )
    if every:
        return (
            f"All generations of every prompt have the same answer ({repeated} prompts), as they "
            "may where most are right; whole responses would tell whether they are copies."
        )
    if not repeated:
        return f"No prompt has two {what}s to compare."
    return f"{identical} of {repeated} prompts have the same {what} in every generation."


def as_single(counts: PromptCounts) -> PromptCounts:
    """Counts with one generation per prompt, for generations that are copies.

    Parameters
    ----------
    counts : PromptCounts
        Each prompt all correct or all wrong.

    Returns
    -------
    PromptCounts
        With ``n_generations`` at most 1, and the copies listed among the rows left out.

    Raises
    ------
    DataError
        A prompt's copies were graded differently.
    """
    s, k = counts.n_correct, counts.n_generations
    uneven = np.flatnonzero((s > 0) & (s < k))
    if len(uneven):
        i = int(uneven[0])
        raise DataError(
            f"prompt {counts.prompt[i]!r}: equal texts, {s[i]} of {k[i]} graded correct; the "
            "grader contradicts itself: grade again, or pass the generations as they are"
        )
    rows = counts.rows
    copies = int(np.sum(np.maximum(k - 1, 0)))
    left_out = dict(rows.left_out)
    left_out[LEFT_OUT] = left_out.get(LEFT_OUT, 0) + copies
    return replace(
        counts,
        n_correct=np.minimum(s, 1),
        n_generations=np.minimum(k, 1),
        rows=RowReport(rows.read, rows.used - copies, left_out, rows.notes),
    )
