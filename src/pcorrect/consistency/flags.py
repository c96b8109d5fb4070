"""Prompts whose key may be wrong, most suspect first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency import latent_truth
from pcorrect.consistency.entropy import consistency
from pcorrect.consistency.flagged import FlaggedPrompt, FlagRule, Flags
from pcorrect.consistency.grouping import AnswerGroups, group_answers
from pcorrect.consistency.votes import judged, votes_from
from pcorrect.errors import PcorrectError

__all__ = ["FlagRule", "FlaggedPrompt", "Flags", "flag_prompts", "pooled"]

FloatArray = NDArray[np.float64]

# Benchmarks are known with half of the keys of a subject wrong or unclear (MMLU, virology); there
# llms agree with the rest.
_MOST_FAULTY = 0.4


def flag_prompts(
    data: object,
    *,
    rule: FlagRule = "latent",
    threshold: float = 0.5,
    p_max: float = 0.1,
    s_min: float = -0.8,
    prior: latent_truth.Prior | None = None,
    **options: Any,
) -> Flags:
    """Rank prompts by the probability that their key is wrong or that they are unclear.

    Parameters
    ----------
    data : Generations, Answers, AnswerGroups, path or paths
        Results with answers, of one llm or (far better) of several.
    rule : {"latent", "paper"}
        "latent": the probability from a latent-truth model of all llms' answers
        (`pcorrect.consistency.latent_truth`). "paper": prompts with a share of correct generations
        of at most `p_max` and consistency of at least `s_min`, ranked by these two.
    threshold : float
        Prompts of at least this probability are flagged, if the rival is more frequent than the
        key ("latent").
    p_max, s_min : float
        Of the paper's rule (natural logarithms).
    prior : Prior, optional
    **options
        Of `group_answers`: equivalence, directed, decimal, extract, comparable.

    Returns
    -------
    Flags

    Raises
    ------
    PcorrectError
        The rule or a bound is unknown, or the input has no answers.
    """
    if rule not in ("latent", "paper"):
        raise PcorrectError(f"rule must be 'latent' or 'paper', got {rule!r}")
    if not 0 < threshold <= 1:
        raise PcorrectError(f"threshold must lie in (0, 1], got {threshold}")
    if not 0 <= p_max <= 1:
        raise PcorrectError(f"p_max must lie in [0, 1], got {p_max}")
    groups = data if isinstance(data, AnswerGroups) else group_answers(data, **options)
    share, s = pooled(groups)
    with np.errstate(invalid="ignore"):
        scored = groups.n_scored > 0
        p_hat = np.where(scored, groups.n_correct / np.maximum(groups.n_scored, 1), 0.0)
        p = p_hat.sum(axis=1) / np.where(scored.any(axis=1), scored.sum(axis=1), np.nan)
    lowest = np.nan_to_num(p, nan=2.0)
    agreed = np.nan_to_num(s, nan=-99.0)
    known = judged(groups)
    if rule == "paper":
        rival = _rivals(groups, share)
        flagged = (lowest <= p_max + 1e-12) & (agreed >= s_min - 1e-12) & (rival >= 0)
        order = np.lexsort((np.arange(len(p)), -agreed, lowest, ~flagged))
        found = None
        truth = np.zeros(len(share))
    elif groups.unjudged is not None:
        rival = _rivals(groups, share)
        flagged = np.zeros(len(p), bool)
        order = np.lexsort((np.arange(len(p)), lowest))
        found, truth = None, np.zeros(len(share))
    else:
        votes, row = votes_from(groups)
        found = latent_truth.fit(votes, prior)
        of_key = np.bincount(groups.row_prompt, share * groups.row_key, len(p))
        known, groups = _told(groups, of_key, found, known)
        truth = np.zeros(len(share))
        truth[row[row >= 0]] = found.truth[row >= 0]
        rival = _rivals(groups, share, truth)
        rival = np.where(known, rival, -1)
        more = (rival >= 0) & (share[np.maximum(rival, 0)] > of_key)
        flagged = known & (found.faulty >= threshold) & more
        # Where the rivals of different llms cannot be matched the probabilities hardly differ.
        by = np.where(known, found.faulty if groups.comparable else 0.0, -1.0)
        order = np.lexsort((np.arange(len(p)), -agreed, lowest, -by))
    first = np.searchsorted(groups.row_prompt, np.arange(len(p) + 1))
    prompts = tuple(
        _prompt(
            *(groups, share, truth, rival, first, found if known[i] else None),
            *(int(i), rank, p[i], s[i], bool(flagged[i])),
        )
        for rank, i in enumerate(order, 1)
    )
    names = np.unique(groups.group.astype(str))
    return Flags(
        prompts,
        rule,
        threshold,
        groups,
        np.asarray(order, np.int64),
        rival,
        {} if found is None else dict(zip(names.tolist(), found.rate.tolist(), strict=True)),
        {} if found is None else dict(zip(groups.llm.tolist(), found.weight.tolist(), strict=True)),
    )


def _told(
    groups: AnswerGroups,
    of_key: FloatArray,
    found: latent_truth.LatentTruth,
    known: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], AnswerGroups]:
    """Prompts whose answers tell anything of their keys, and a note on the others.

    Where a group's keys seem wrong more often than not, and llms miss most of them, the keys may be
    bad or the llms guess: the model cannot tell, and would call nearly every key wrong.
    """
    names, of_prompt = np.unique(groups.group.astype(str), return_inverse=True)
    right = np.bincount(of_prompt, of_key) / np.bincount(of_prompt)
    lost = (found.rate > _MOST_FAULTY) & (right < 0.5)
    if not lost.any():
        return known, groups
    some = [*names[lost][:5], *(["…"] if lost.sum() > 5 else [])]
    where = "" if lost.all() else f" in {', '.join(some)}"
    note = (
        f"llms miss the keys{where} more often than not, and agree with them hardly more than by "
        "chance: wrong keys cannot be told from guesses, no prompt is called suspect there"
    )
    return known & ~lost[of_prompt], replace(groups, notes=(*groups.notes, note))


def pooled(groups: AnswerGroups) -> tuple[FloatArray, FloatArray]:
    """Share of each row over llms of equal weight, shape (H,), and S of each prompt, shape (n,).

    Empty answers have share 0; S is NaN for prompts with fewer than two answers. Where answers of
    different llms cannot be compared, S is the mean over llms.
    """
    answered = groups.answered
    llms = np.maximum((answered > 0).sum(axis=1), 1)
    share = groups.count / np.maximum(answered[groups.row_prompt], 1)
    share = np.where(groups.row_empty, 0.0, share.sum(axis=1)) / llms[groups.row_prompt]
    first = np.searchsorted(groups.row_prompt, np.arange(len(answered) + 1))
    s = np.full(len(answered), np.nan)
    for i in np.flatnonzero(answered.sum(axis=1) > 1):
        here = slice(first[i], first[i + 1])
        if groups.comparable:
            s[i] = consistency(share[here])
            continue
        count = np.where(groups.row_empty[here, None], 0, groups.count[here])
        own = [consistency(count[:, j]) for j in np.flatnonzero(answered[i] > 1)]
        s[i] = np.mean(own) if own else np.nan
    return share, s


def _rivals(
    groups: AnswerGroups, share: FloatArray, truth: FloatArray | None = None
) -> NDArray[np.int64]:
    """Row of each prompt's rival: the likeliest truth, then the most frequent answer, or -1."""
    able = ~groups.row_empty & ~groups.row_key & groups.count.any(axis=1)
    likely = share if truth is None else truth
    rows = np.flatnonzero(able)
    rows = rows[np.lexsort((rows, -share[rows], -likely[rows], groups.row_prompt[rows]))]
    rival = np.full(len(groups.prompt), -1, np.int64)
    prompt, first = np.unique(groups.row_prompt[rows], return_index=True)
    rival[prompt] = rows[first]
    return rival


def _prompt(
    groups: AnswerGroups,
    share: FloatArray,
    truth: FloatArray,
    rival: NDArray[np.int64],
    first: NDArray[np.int64],
    found: latent_truth.LatentTruth | None,
    i: int,
    rank: int,
    p: float,
    s: float,
    flagged: bool,
) -> FlaggedPrompt:
    here = np.arange(first[i], first[i + 1])
    count = np.where(groups.row_empty[here, None], 0, groups.count[here])
    key = here[groups.row_key[here]]
    at = rival[i]
    supporters: tuple[str, ...] = ()
    if at >= 0:
        top = (count[at - first[i]] == count.max(axis=0)) & (count.max(axis=0) > 0)
        supporters = tuple(groups.llm[top].tolist())
    return FlaggedPrompt(
        rank=rank,
        benchmark=groups.benchmark[i],
        prompt=groups.prompt[i],
        group=groups.group[i],
        p_mislabelled=None if found is None else float(found.faulty[i]),
        p_wrong_key=None if found is None else float(found.wrong_key[i]),
        p_correct=None if np.isnan(p) else float(p),
        consistency=None if np.isnan(s) else float(s),
        key=groups.row_text[key[np.argmax(share[key])]] if len(key) else None,
        rival=groups.row_text[at] if at >= 0 else None,
        p_rival=None if found is None or at < 0 else float(truth[at]),
        rival_share=float(share[at]) if at >= 0 else 0.0,
        supporters=supporters,
        n_llms=int((count.sum(axis=0) > 0).sum()),
        n_answers=int(count.sum()),
        no_answer=int(groups.count[here][groups.row_empty[here]].sum()),
        flagged=flagged,
    )
