"""What the latent-truth model sees: for each prompt the answers given, by whom, and the key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.answers import IntArray
from pcorrect.consistency.grouping import AnswerGroups
from pcorrect.errors import DataError

# A benchmark with at most this many different answers in all, or to one prompt, has options.
_MOST_LABELS = 12
_MOST_OPTIONS = 8
# Where so large a share of the answers is rare, the common ones are no labels.
_MOST_ODD = 0.1
# An llm that always gives the same answer shows no options.
_LEAST_SEVERAL = 0.2
_RARE = 0.005


@dataclass(frozen=True)
class Votes:
    """Answers of J llms to n prompts, in H rows sorted by prompt; every prompt has one key row.

    Parameters
    ----------
    prompt : ndarray of int64, shape (H,)
    key : ndarray of bool, shape (H,)
    share : ndarray, shape (H, J)
        Share of each llm's answered generations, 0 to 1; all 0 for an answer that nobody gave.
    group : ndarray of int64, shape (n,)
        Group of the prompt, 0 to G - 1.
    options : ndarray of int64, shape (n,)
        Number of possible answers, or 0 where answers are free.
    """

    prompt: IntArray
    key: NDArray[np.bool_]
    share: NDArray[np.float64]
    group: IntArray
    options: IntArray

    def __post_init__(self) -> None:
        n = len(self.group)
        keys = np.bincount(self.prompt[self.key], minlength=n)
        if np.any(np.diff(self.prompt) < 0) or len(keys) != n or np.any(keys != 1):
            raise DataError("votes need rows sorted by prompt, with one key row for each prompt")


def votes_from(groups: AnswerGroups) -> tuple[Votes, IntArray]:
    """Votes of groups of answers; and for each row of votes its row in `groups` or -1.

    All answers that are right count for one key row. A prompt that nobody answered right has a key
    row without votes (row -1 if its text is unknown). Empty answers are no votes.
    """
    n, llms = len(groups.prompt), len(groups.llm)
    share = groups.count / np.maximum(groups.answered[groups.row_prompt], 1)
    options, vote = _options(groups)
    # A prompt that nobody's answers were judged on has no key that they could speak against.
    vote &= judged(groups)[groups.row_prompt]
    rows: list[tuple[int, bool, int, NDArray[np.float64]]] = []
    key: list[NDArray[np.float64]] = [np.zeros(llms) for _ in range(n)]
    key_row = np.full(n, -1, np.int64)
    for h in np.flatnonzero(vote):
        i = int(groups.row_prompt[h])
        if groups.row_key[h]:
            key[i] = key[i] + share[h]
            if key_row[i] < 0 or groups.count[h].sum() > groups.count[key_row[i]].sum():
                key_row[i] = h
        elif groups.count[h].any():
            rows.append((i, False, int(h), share[h]))
    rows += [(i, True, int(key_row[i]), key[i]) for i in range(n)]
    rows.sort(key=lambda row: (row[0], not row[1], row[2]))
    _, group = np.unique(groups.group.astype(str), return_inverse=True)
    prompt = np.array([row[0] for row in rows], np.int64)
    votes = Votes(
        prompt,
        np.array([row[1] for row in rows], bool),
        np.array([row[3] for row in rows]).reshape(len(rows), llms),
        group.astype(np.int64),
        options,
    )
    return votes, np.array([row[2] for row in rows], np.int64)


def judged(groups: AnswerGroups) -> NDArray[np.bool_]:
    """Whether each prompt has a key, or an answer that was scored; shape (n,)."""
    keyed = np.bincount(groups.row_prompt[groups.row_key], minlength=len(groups.prompt)) > 0
    return np.asarray(keyed | groups.n_scored.any(axis=1))


def _options(groups: AnswerGroups) -> tuple[IntArray, NDArray[np.bool_]]:
    """Number of options of each prompt, 0 where answers are free; and which rows are votes.

    Options show in one of two ways: few different answers in the whole benchmark (letters, yes and
    no), or few for every prompt in spite of many generations, though many prompts have several
    (texts of options). In the first case an answer that hardly ever occurs is none of the options,
    and no vote.
    """
    options = np.zeros(len(groups.prompt), np.int64)
    total = groups.answered.sum(axis=1)
    vote = ~groups.row_empty & (groups.row_key | groups.count.any(axis=1))
    for benchmark in dict.fromkeys(groups.benchmark):
        here = groups.benchmark == benchmark
        rows = np.flatnonzero(here[groups.row_prompt] & vote)
        if not len(rows) or here.sum() < 2:
            continue
        _, label = np.unique([text.upper() for text in groups.row_text[rows]], return_inverse=True)
        often = np.bincount(label, groups.count[rows].sum(axis=1))
        rare = (often < _RARE * often.sum())[label] & ~groups.row_key[rows]
        # free answers are nearly all rare
        odd = groups.count[rows[rare]].sum() > _MOST_ODD * often.sum()
        labelled = len(np.unique(label[~rare])) <= _MOST_LABELS and not odd
        kept = rows[~rare] if labelled else rows
        each = np.bincount(groups.row_prompt[kept], minlength=len(options))[here]
        most = int(each.max(initial=0))
        given = kept[groups.count[kept].any(axis=1)]
        several = np.bincount(groups.row_prompt[given], minlength=len(options))[here] > 1
        if labelled:
            vote[rows[rare]] = False
            options[here] = max(len(np.unique(label[~rare])), most, 2)
        elif (
            most <= _MOST_OPTIONS
            and np.median(total[here]) >= 3 * most
            and several.mean() >= _LEAST_SEVERAL
        ):
            options[here] = max(most, 2)
    return options, vote
