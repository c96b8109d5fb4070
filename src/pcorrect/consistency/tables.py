"""Tables of consistency: one row per llm and prompt, or per prompt with all llms together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.entropy import Entropy, consistency, entropy
from pcorrect.consistency.flags import pooled
from pcorrect.consistency.grouping import AnswerGroups, group_answers
from pcorrect.errors import PcorrectError

if TYPE_CHECKING:
    import pandas as pd

POOLED = "all llms"


@dataclass(frozen=True)
class PromptTable:
    """Columns of equal length, and what was decided about the input.

    Parameters
    ----------
    columns : mapping of str to list
        What is not available is None.
    notes : tuple of str
    """

    columns: Mapping[str, list[Any]]
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows, as dictionaries."""
        for values in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, values, strict=True))

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self.columns))


def consistency_table(
    data: object, *, by: str = "llm", ci_prob: float = 0.95, **options: Any
) -> PromptTable:
    """S(consistency), clusters and dominant answers of every prompt.

    Parameters
    ----------
    data : Generations, Answers, AnswerGroups, path or paths
    by : {"llm", "prompt"}
        One row per llm and prompt, or per prompt with the answers of all llms together, each llm
        weighing the same.
    ci_prob : float
        Probability of the interval of S.
    **options
        Of `group_answers`: equivalence, directed, decimal, extract, comparable.

    Returns
    -------
    PromptTable
        Columns ``benchmark``, ``llm``, ``prompt``, ``n_generations`` (with an answer),
        ``no_answer``, ``clusters``, ``consistency`` (from the shares, as the paper defines it),
        ``consistency_mean``, ``consistency_lower``, ``consistency_upper`` (posterior, corrected for
        clusters not met yet), ``dominant``, ``dominant_share``, ``tie`` (others share the first
        place), ``dominant_wrong``, ``dominant_wrong_share``. Consistency is None with fewer than
        two answers.

    Raises
    ------
    PcorrectError
        A choice is unknown, the input has no answers, or answers of several llms cannot be compared
        and ``by="prompt"``.
    """
    groups = data if isinstance(data, AnswerGroups) else group_answers(data, **options)
    return PromptTable(_transposed(_rows(groups, by, ci_prob)), groups.notes)


def data_map(
    data: object, *, by: str = "llm", ci_prob: float = 0.95, **options: Any
) -> PromptTable:
    """P(correct) against consistency for every prompt, both with their uncertainty.

    Parameters
    ----------
    data, by, ci_prob, **options
        See `consistency_table`.

    Returns
    -------
    PromptTable
        The columns of `consistency_table`, then ``n_correct``, ``n_scored``, ``p_hat``, ``p_mean``,
        ``p_lower``, ``p_upper``: the posterior of p_i of the hierarchical Beta-Bernoulli model,
        fitted to each llm on each benchmark; for all llms together, of the mean of their p_i.

    Raises
    ------
    PcorrectError
        As `consistency_table`.
    """
    groups = data if isinstance(data, AnswerGroups) else group_answers(data, **options)
    found = _rows(groups, by, ci_prob)
    mean, sd, lower, upper = _p_posterior(groups, ci_prob)
    llm = {name: j for j, name in enumerate(groups.llm)}
    position = {pair: i for i, pair in enumerate(zip(groups.benchmark, groups.prompt, strict=True))}
    for row in found:
        i = position[row["benchmark"], row["prompt"]]
        if by == "llm":
            j = llm[row["llm"]]
            right, scored = int(groups.n_correct[i, j]), int(groups.n_scored[i, j])
            values = (mean[i, j], lower[i, j], upper[i, j])
            p_hat = right / scored if scored else None
        else:
            right, scored = int(groups.n_correct[i].sum()), int(groups.n_scored[i].sum())
            share = groups.p_hat[i]
            p_hat = float(np.nanmean(share)) if scored else None
            values = _mean_of_llms(mean[i], sd[i], ci_prob)
        row.update(n_correct=right, n_scored=scored, p_hat=p_hat)
        names = ("p_mean", "p_lower", "p_upper")
        row.update(
            {n: None if np.isnan(v) else float(v) for n, v in zip(names, values, strict=True)}
        )
    return PromptTable(_transposed(found), groups.notes)


def _rows(groups: AnswerGroups, by: str, ci_prob: float) -> list[dict[str, Any]]:
    if by not in ("llm", "prompt"):
        raise PcorrectError(f"by must be 'llm' or 'prompt', got {by!r}")
    if by == "prompt" and not groups.comparable:
        raise PcorrectError(
            "answers of different llms cannot be compared here (their keys differ): use by='llm'"
        )
    first = np.searchsorted(groups.row_prompt, np.arange(len(groups.prompt) + 1))
    share = pooled(groups)[0]
    found = []
    for i in range(len(groups.prompt)):
        here = np.arange(first[i], first[i + 1])
        if by == "prompt":
            count = _one_draw(groups.count[here], groups.row_empty[here])
            row = _row(groups, i, POOLED, here, count, share[here], ci_prob)
            row["n_generations"] = int(groups.count[here][~groups.row_empty[here]].sum())
            found.append(row)
            continue
        for j in np.flatnonzero(groups.count[here].sum(axis=0)):
            count = groups.count[here, j]
            answers = np.where(groups.row_empty[here], 0, count)
            part = answers / max(answers.sum(), 1)
            found.append(_row(groups, i, groups.llm[j], here, count, part, ci_prob))
    return found


def _one_draw(count: NDArray[np.int64], empty: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Counts that say as much about the average llm as the counts of all llms do.

    The sum of them if all have equally many answers, otherwise shares of llms with equal weight
    times the number of independent answers with the same variance (Kish 1965).
    """
    answers = np.where(empty[:, None], 0, count)
    k = answers.sum(axis=0)
    llms = k > 0
    if len(set(k[llms].tolist())) <= 1:
        return count.sum(axis=1)
    share = (answers[:, llms] / k[llms]).mean(axis=1)
    size = llms.sum() ** 2 / (1 / k[llms]).sum()
    whole = np.where(share > 0, np.maximum(np.rint(share * size), 1), 0).astype(np.int64)
    return np.where(empty, count.sum(axis=1), whole)


def _row(
    groups: AnswerGroups,
    i: int,
    llm: str,
    here: NDArray[np.int64],
    count: NDArray[np.int64],
    share: NDArray[np.float64],
    ci_prob: float,
) -> dict[str, Any]:
    seen = (share > 0) & ~groups.row_empty[here]
    rows = here[seen]
    order = np.lexsort((groups.row_text[rows].astype(str), -share[seen]))
    rows, part = rows[order], share[seen][order]
    s: Entropy | None = entropy(count[seen].tolist(), ci_prob=ci_prob)
    wrong = np.flatnonzero(~groups.row_key[rows])
    return {
        "benchmark": groups.benchmark[i],
        "llm": llm,
        "prompt": groups.prompt[i],
        "n_generations": int(count[seen].sum()),
        "no_answer": int(count[groups.row_empty[here]].sum()),
        "clusters": len(rows),
        "consistency": None if s is None else consistency(part),
        "consistency_mean": None if s is None else s.mean,
        "consistency_lower": None if s is None else s.lower,
        "consistency_upper": None if s is None else s.upper,
        "dominant": groups.row_text[rows[0]] if len(rows) else None,
        "dominant_share": float(part[0]) if len(rows) else None,
        "tie": len(rows) > 1 and bool(np.isclose(part[0], part[1])),
        "dominant_wrong": groups.row_text[rows[wrong[0]]] if len(wrong) else None,
        "dominant_wrong_share": float(part[wrong[0]]) if len(wrong) else None,
    }


def _p_posterior(groups: AnswerGroups, ci_prob: float) -> tuple[NDArray[np.float64], ...]:
    """Mean, sd and bounds of every p_i, each of shape (n, J); NaN where an llm has no score."""
    from pcorrect.data import PromptCounts
    from pcorrect.fitting import run_fit

    shape = (4, *groups.n_scored.shape)
    found = np.full(shape, np.nan)
    for benchmark in dict.fromkeys(groups.benchmark):
        here = groups.benchmark == benchmark
        for j, llm in enumerate(groups.llm):
            at = np.flatnonzero(here & (groups.n_scored[:, j] > 0))
            if not len(at):
                continue
            counts = PromptCounts.from_arrays(
                groups.n_correct[at, j],
                groups.n_scored[at, j],
                llm=llm,
                benchmark=benchmark,
                prompt=groups.prompt[at],
            )
            table = run_fit(counts, model="beta_bernoulli").prompts.table(ci_prob, "eti")
            found[:, at, j] = table.mean, table.sd, table.lower, table.upper
    return tuple(found)


def _mean_of_llms(
    mean: NDArray[np.float64], sd: NDArray[np.float64], ci_prob: float
) -> tuple[float, float, float]:
    """Mean and interval of the average of independent p_i: a Beta with their mean and variance."""
    from scipy.special import betaincinv

    known = ~np.isnan(mean)
    if not known.any():
        return np.nan, np.nan, np.nan
    center = float(mean[known].mean())
    variance = float((sd[known] ** 2).sum()) / int(known.sum()) ** 2
    nu = max(center * (1 - center) / max(variance, 1e-12) - 1, 1e-6)
    bounds = betaincinv(center * nu, (1 - center) * nu, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return center, float(bounds[0]), float(bounds[1])


def _transposed(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
