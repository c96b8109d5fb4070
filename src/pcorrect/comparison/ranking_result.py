"""The result of ranking many llms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.comparison.ranks import Stability
from pcorrect.marginal import CiKind, FloatArray
from pcorrect.plain import plain


@dataclass(frozen=True)
class Ranking:
    """Llms in order of their estimate, best first; all arrays are in this order.

    Parameters
    ----------
    llm : tuple of str
    estimate, se : ndarray, shape (L,)
        Moment estimate of mu and its standard error.
    mean, sd, lower, upper : ndarray, shape (L,)
        Posterior of mu.
    rank_mean, rank_lower, rank_upper : ndarray, shape (L,)
        Posterior expectation and interval of the rank (1 is best; ties share their mean rank).
    rank_least, rank_most : ndarray of int64, shape (L,)
        Ranks that are possible given the pairs told apart: 1 + the llms told to be better, and L
        minus the llms told to be worse. They hold for all llms *at once*, with probability
        `ci_prob`.
    p_best : ndarray, shape (L,)
        P(mu is the largest); adds up to 1.
    p_better : ndarray, shape (L, L)
        P(mu of the row > mu of the column).
    told_apart : ndarray of bool, shape (L, L)
        Pairs of different mu. The probability that *any* of these claims is wrong is at most
        1 - ci_prob (simultaneous intervals: the largest standardised difference of any pair).
    groups : tuple of tuple of str
        The largest runs of llms that the data cannot tell apart; an llm can belong to several.
    new_prompts, same_prompts : Stability, Stability or None
        Everything run again on new prompts like these, or on the same ones (None at k = 1).
    n_prompts, n_shared, n_left_out : int
        Prompts used; those of which every llm has a scored generation; those left out because some
        llm has none.
    """

    llm: tuple[str, ...]
    benchmark: tuple[str, ...]
    estimate: FloatArray
    se: FloatArray
    mean: FloatArray
    sd: FloatArray
    lower: FloatArray
    upper: FloatArray
    rank_mean: FloatArray
    rank_lower: FloatArray
    rank_upper: FloatArray
    rank_least: NDArray[np.int64]
    rank_most: NDArray[np.int64]
    p_best: FloatArray
    p_better: FloatArray
    told_apart: NDArray[np.bool_]
    groups: tuple[tuple[str, ...], ...]
    new_prompts: Stability
    same_prompts: Stability | None
    n_prompts: int
    n_shared: int
    n_left_out: int
    ci_prob: float
    ci_kind: CiKind
    seed: int
    notes: tuple[str, ...] = ()
    draws_mu: FloatArray = field(
        default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False
    )

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        rows = [
            {
                "llm": name,
                "estimate": self.estimate[i],
                "se": self.se[i],
                "mu": {
                    "mean": self.mean[i],
                    "sd": self.sd[i],
                    "lower": self.lower[i],
                    "upper": self.upper[i],
                },
                "rank": {
                    "mean": self.rank_mean[i],
                    "lower": self.rank_lower[i],
                    "upper": self.rank_upper[i],
                    "least": self.rank_least[i],
                    "most": self.rank_most[i],
                },
                "p_best": self.p_best[i],
            }
            for i, name in enumerate(self.llm)
        ]
        again = {"new_prompts": self.new_prompts, "same_prompts": self.same_prompts}
        result = {
            "benchmark": list(self.benchmark),
            "llms": rows,
            "p_better": self.p_better,
            "told_apart": self.told_apart,
            "groups": [list(group) for group in self.groups],
            "if_run_again": {
                name: None
                if value is None
                else {
                    "kendall_tau": value.kendall_tau,
                    "p_same_best": value.p_same_best,
                    "p_same_order": value.p_same_order,
                }
                for name, value in again.items()
            },
            "n_prompts": self.n_prompts,
            "n_shared": self.n_shared,
            "n_left_out": self.n_left_out,
            "ci_prob": self.ci_prob,
            "ci_kind": self.ci_kind,
            "seed": self.seed,
            "notes": list(self.notes),
        }
        return dict(plain(result))
