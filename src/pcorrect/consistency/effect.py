"""What suspect keys mean for the score: suspects removed, re-keyed, or weighed by probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.flagged import Flags
from pcorrect.errors import PcorrectError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class LlmEffect:
    """Scores of one llm: mean over prompts of the share of correct generations; None: no prompt.

    Parameters
    ----------
    llm : str
    score : float or None
        With the keys as they are, on all its prompts.
    removed : float or None
        Without the suspect prompts.
    rekeyed : float or None
        With the rival as the key of suspect prompts whose key is more likely wrong than unclear;
        the other suspects stay as they are.
    expected : float or None
        Every prompt's score weighed by the probability of each truth: no threshold is needed. None
        by the paper's rule.
    rank, rank_removed, rank_rekeyed, rank_expected : int or None
        Place among the llms by each score; equal scores share the best place.
    """

    llm: str
    score: float | None
    removed: float | None
    rekeyed: float | None
    expected: float | None
    rank: int | None
    rank_removed: int | None
    rank_rekeyed: int | None
    rank_expected: int | None


@dataclass(frozen=True)
class ScoreEffect:
    """Effect of suspect prompts on all llms.

    Parameters
    ----------
    llms : tuple of LlmEffect
        In the order of the input.
    suspects : int
        How many prompts are removed.
    rekeyed : int
        How many of them get another key.
    """

    llms: tuple[LlmEffect, ...]
    suspects: int
    rekeyed: int


def score_effect(flags: Flags, *, threshold: float | None = None) -> ScoreEffect:
    """Score and rank of every llm with suspects removed, re-keyed and weighed, side by side.

    Parameters
    ----------
    flags : Flags
        From `flag_prompts`.
    threshold : float, optional
        Prompts of at least this probability are suspects. Default: the flagged ones.

    Raises
    ------
    PcorrectError
        A threshold is given for the paper's rule, which has no probabilities, or is out of range.
    """
    if threshold is not None and (flags.rule == "paper" or not 0 < threshold <= 1):
        raise PcorrectError(f"threshold needs rule 'latent' and a value in (0, 1], got {threshold}")
    groups = flags.groups
    n, llms = groups.n_correct.shape
    suspect, wrong = np.zeros(n, bool), np.zeros(n, bool)
    faulty, wrong_key = np.zeros(n), np.zeros(n)
    for i, prompt in zip(flags.order, flags.prompts, strict=True):
        faulty[i], wrong_key[i] = prompt.p_mislabelled or 0.0, prompt.p_wrong_key or 0.0
        suspect[i] = prompt.flagged if threshold is None else faulty[i] >= threshold
        wrong[i] = suspect[i] and flags.rival_row[i] >= 0
        if flags.rule == "latent":
            wrong[i] &= wrong_key[i] > faulty[i] - wrong_key[i]
    p = groups.p_hat
    with_rival = _share_of(flags)
    rekeyed = np.where(wrong[:, None] & ~np.isnan(p), with_rival, p)
    if not groups.comparable:
        # the rival is one llm's answer, and nobody knows what the others call it
        rekeyed = np.full((n, llms), np.nan)
    scores = [_mean(p), _mean(np.where(suspect[:, None], np.nan, p)), _mean(rekeyed)]
    if flags.rule == "latent":
        # An unclear prompt keeps its key: nobody knows a better one.
        weighed = (1 - wrong_key[:, None]) * p + _expected_gain(flags)
        if not groups.comparable:
            weighed = rekeyed
        scores.append(_mean(weighed))
    else:
        scores.append(np.full(llms, np.nan))
    ranks = [_ranks(score) for score in scores]
    rows = []
    for j in range(llms):
        own = [None if np.isnan(score[j]) else float(score[j]) for score in scores]
        place = [int(rank[j]) or None for rank in ranks]
        rows.append(
            LlmEffect(
                llm=str(groups.llm[j]),
                score=own[0],
                removed=own[1],
                rekeyed=own[2],
                expected=own[3],
                rank=place[0],
                rank_removed=place[1],
                rank_rekeyed=place[2],
                rank_expected=place[3],
            )
        )
    return ScoreEffect(tuple(rows), int(suspect.sum()), int(wrong.sum()))


def _share_of(flags: Flags) -> FloatArray:
    """Share of each llm's scored generations that gave the rival, shape (n, J)."""
    groups = flags.groups
    at = flags.rival_row
    share = groups.count[np.maximum(at, 0)] / np.maximum(groups.n_scored, 1)
    # an answer without a score can be the rival as well
    return np.where(at[:, None] >= 0, np.minimum(share, 1.0), 0.0)


def _expected_gain(flags: Flags) -> FloatArray:
    """Probability of the rival times its share, shape (n, J)."""
    probability = np.zeros(len(flags))
    for i, prompt in zip(flags.order, flags.prompts, strict=True):
        probability[i] = prompt.p_rival or 0.0
    return probability[:, None] * _share_of(flags)


def _mean(values: FloatArray) -> FloatArray:
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _ranks(score: FloatArray) -> NDArray[np.int64]:
    """Place of each score, 1 the highest; 0 where there is none."""
    better = (score[None, :] > score[:, None] + 1e-12).sum(axis=1)
    return np.where(np.isnan(score), 0, better + 1)
