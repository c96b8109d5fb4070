"""What `pcorrect plan` prints beside the plan of one llm: many llms, pairs, next prompts, power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcorrect.planning.allocation import STRATEGIES, Allocation
from pcorrect.planning.detection import detectable_difference
from pcorrect.planning.detection import power as power_of
from pcorrect.planning.formats import columns, goal_json, number, plain
from pcorrect.planning.pairs import PairVariances, minimal_k_order, right_order
from pcorrect.planning.reports import PlanReport
from pcorrect.planning.variances import Variances

# More llms than this are printed as a table with one row each.
_BLOCKS = 3
_KS = (1, 2, 4, 8, 16, 32, 64)

#: What the columns mean.
LEGEND = (
    "mu: new prompts like these, where no k gets below the last row; score: exactly these prompts",
    "in your data: exact average over all subsets of your generations (prompts with fewer keep "
    "theirs); beyond your k, what you will see if these prompts run on",
)


def overview(reports: Sequence[PlanReport]) -> list[str]:
    """One row per llm."""
    level = f"{100 * reports[0].curve.ci_prob:g} %"
    near = f"k within {100 * reports[0].of_floor:g} %"
    rows = [["llm", "benchmark", "n", "k", "mu: SE now", "floor", near, level, "score: SE now"]]
    for report in reports:
        found, minimal = report.found, report.minimal
        j = int(np.flatnonzero(report.curve.k == found.k_max)[0]) if _has_now(report) else None
        now = [np.nan, np.nan]
        if j is not None:
            now = [report.curve.se_mu[1, j], report.curve.se_score[1, j]]
        enough = "-" if minimal.k is None else f"{minimal.k:,}"
        upper = "no limit" if minimal.upper is None else f"{minimal.upper:,}"
        bounds = "-" if minimal.unknown or minimal.lower is None else f"{minimal.lower:,}-{upper}"
        rows.append(
            [
                report.llm,
                report.benchmark,
                str(found.n_prompts),
                report.used.replace(" to ", "-"),
                number(now[0]),
                number(report.curve.floor.value),
                enough,
                bounds,
                number(now[1]),
            ]
        )
    notes = [f"warning: {report.name}: {note}" for report in reports for note in report.notes]
    return [*columns(rows), *notes]


@dataclass(frozen=True)
class Output:
    """All that one call of `pcorrect plan` found out.

    Parameters
    ----------
    reports : sequence of PlanReport
    pair : PairVariances or None
        The two llms of ``--compare``.
    prob : float
        Wanted probability of their right order.
    ci_prob : float
    ks : sequence of int or None
        Rows of the tables.
    allocation : Allocation or None
        Which prompts next.
    written : str or None
        Where it was written.
    left_out : sequence of str
        Llms without a scored generation.
    """

    reports: Sequence[PlanReport]
    pair: PairVariances | None
    prob: float
    ci_prob: float
    ks: Sequence[int] | None
    allocation: Allocation | None
    written: str | None
    left_out: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON contract."""
        out: dict[str, Any] = {"results": [report.to_json() for report in self.reports]}
        if self.pair is not None:
            out["comparison"] = comparison_json(self.pair, self.prob, self.ci_prob, self.ks)
        if self.allocation is not None:
            out["next"] = {
                "strategy": self.allocation.strategy,
                "unspent": self.allocation.unspent,
                **self.allocation.expected,
                "prompts": self.allocation.rows(),
            }
        if self.left_out:
            out["left_out"] = list(self.left_out)
        return out

    def lines(self) -> list[str]:
        """Verdicts first, one sentence per llm, then the tables."""
        lines: list[str] = []
        if self.pair is not None:
            lines += [*comparison_lines(self.pair, self.prob, self.ci_prob, self.ks), ""]
        several = len(self.reports) > 1
        lines += [f"{r.name}: {r.verdict}" if several else r.verdict for r in self.reports]
        if len(self.reports) <= _BLOCKS:
            for report in self.reports:
                lines += ["", *report.lines()]
        else:
            lines += ["", *overview(self.reports)]
        lines += ["", *LEGEND]
        lines += [f"left out, no scored generation: {name}" for name in self.left_out]
        if self.allocation is not None:
            lines += ["", *allocation_lines(self.allocation, self.written)]
        return lines


def _has_now(report: PlanReport) -> bool:
    return bool(np.any(report.curve.k == report.found.k_max))


def comparison_json(
    pair: PairVariances, prob: float, ci_prob: float, ks: Sequence[int] | None = None
) -> dict[str, Any]:
    """Two llms: the k that puts them in the right order."""
    goals = [minimal_k_order(pair, prob=prob, estimand=e, ci_prob=ci_prob) for e in ("mu", "score")]
    result: dict[str, Any] = {
        "a": pair.a,
        "b": pair.b,
        "n_shared": pair.n_prompts,
        "k_used": pair.k_used,
        "not_identified": pair.unknown or None,
        "difference": pair.estimate,
        "se_mu": pair.se_mu,
        "se_score": pair.se_score,
        "p_better": pair.p_better,
        "prob": prob,
        "minimal_k": {goal.estimand: goal_json(goal) for goal in goals},
    }
    if not pair.unknown:
        found = right_order(pair, ks or _KS)
        result["right_order_floor_mu"] = plain(found.floor_mu)
        result["curve"] = [
            {"k": int(k), "right_order_mu": float(mu), "right_order_score": float(score)}
            for k, mu, score in zip(found.k, found.mu, found.score, strict=True)
        ]
    return result


def comparison_lines(
    pair: PairVariances, prob: float, ci_prob: float, ks: Sequence[int] | None = None
) -> list[str]:
    """Two llms: the verdict first, then P(right order) by k."""
    about = f"{pair.a} - {pair.b}, {pair.n_prompts:,} shared prompts"
    found = (
        f"difference {pair.estimate:+.4f} (SE {number(pair.se_mu)} for new prompts, "
        f"{number(pair.se_score)} for these), P({pair.a} better on new prompts) {pair.p_better:.3f}"
    )
    if pair.unknown:
        return [f"{about}: {pair.unknown}, so no k can be named; {found}"]
    lines = [f"{about}: {found}"]
    lines += [
        f"  {minimal_k_order(pair, prob=prob, estimand=e, ci_prob=ci_prob)}"
        for e in ("mu", "score")
    ]
    order = right_order(pair, ks or _KS)
    rows = [["k", "P(right order): mu", "score"]]
    rows += [
        [f"{int(k):,}", f"{mu:.3f}", f"{score:.3f}"]
        for k, mu, score in zip(order.k, order.mu, order.score, strict=True)
    ]
    rows.append(["any", f"{order.floor_mu:.3f}", "1.000"])
    return lines + [f"  {line}" for line in columns(rows)]


def allocation_lines(found: Allocation, output: str | None) -> list[str]:
    """Where the new generations go, and what that gains."""
    m = found.n_generations
    spent = int(m.sum())
    lines = [
        f"next {spent:,} generations ({found.strategy}: {STRATEGIES[found.strategy]}): "
        f"{int(np.sum(m > 0)):,} of {len(m):,} prompts get between "
        f"{int(m[m > 0].min(initial=spent)):,} and {int(m.max(initial=0)):,}"
    ]
    if found.unspent:
        lines.append(f"  {found.unspent:,} more would decide next to nothing: not spent")
    e = found.expected
    if "sd_now" in e:
        what = "the difference of the scores" if found.strategy == "separate" else "score"
        lines.append(
            f"  posterior sd of {what}: {number(e['sd_now'])} now, {number(e['sd_after'])} "
            f"expected after; the same number spread evenly: {number(e['sd_uniform'])}"
        )
    else:
        lines.append(
            f"  undecided prompts: {e['undecided_now']:.0f} now, {e['undecided_after']:.1f} "
            f"expected after; the same number spread evenly: {e['undecided_uniform']:.1f}"
        )
    lines.append("  afterwards read mu and score from pcorrect fit: plain means are biased then")
    if output:
        lines.append(f"  written: {output}")
    return lines


def power_table(
    assumed: Variances, difference: float | None, correlation: float
) -> list[dict[str, Any]]:
    """Detectable difference, and power where a difference is given, for several n and k."""
    n0 = max(assumed.n_prompts, 2)
    ns, ks = sorted({n0, 2 * n0, 4 * n0}), [1, 2, 4, 8, 16, 32]
    options: dict[str, Any] = {"n": ns, "k": ks, "correlation": correlation}
    tables: dict[str, Any] = {
        f"detectable_{e}": detectable_difference(assumed, estimand=e, **options).value[1]
        for e in ("mu", "score")
    }
    if difference is not None:
        for e in ("mu", "score"):
            power = power_of(assumed, difference=difference, estimand=e, **options)
            tables[f"power_{e}"] = power.value[1]
    return [
        {"n": n, "k": k} | {name: float(x[i, j, 0]) for name, x in tables.items()}
        for i, n in enumerate(ns)
        for j, k in enumerate(ks)
    ]


def power_lines(power: list[dict[str, Any]], correlation: float) -> list[str]:
    """The same as a table."""
    names = [name for name in power[0] if name not in ("n", "k")]
    heads = {
        "detectable_mu": "mu: detectable difference",
        "detectable_score": "score",
        "power_mu": "mu: power",
        "power_score": "score",
    }
    rows = [["prompts", "k", *(heads[name] for name in names)]]
    for row in power:
        rows.append([f"{row['n']:,}", str(row["k"]), *(f"{row[name]:.3f}" for name in names)])
    about = (
        "two llms like this on the same prompts, difficulty correlated "
        f"{correlation:g}; detectable: with power .8 at the two-sided level .05"
    )
    return ["", about, *(f"  {line}" for line in columns(rows))]
