"""The words and tables in which `pcorrect plan` answers."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcorrect.data import UNSCORED
from pcorrect.planning.allocation import STRATEGIES, Allocation
from pcorrect.planning.costs import BudgetPlan
from pcorrect.planning.pairs import PairVariances, minimal_k_order, right_order
from pcorrect.planning.reports import PlanReport, interval, number

# More llms than this are printed as a table with one row each.
_BLOCKS = 3
#: Numbers of generations at which the order of two llms is shown.
KS = (1, 2, 4, 8, 16, 32, 64)

#: What the columns mean.
LEGEND = (
    "mu: new prompts like these, where no k gets below the last row; score: exactly these prompts",
    "in your data: exact average over all subsets of your generations (prompts with fewer keep "
    "theirs); beyond your k, what you will see if these prompts run on; ±: expected half-width of "
    "the interval",
)


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
    power : sequence of list of dict
        For each report, the power to detect a difference, where it was asked for.
    correlation : float
        Of two llms' p over prompts, behind the power.
    """

    reports: Sequence[PlanReport]
    pair: PairVariances | None
    prob: float
    ci_prob: float
    ks: Sequence[int] | None
    allocation: Allocation | None
    written: str | None
    left_out: Sequence[str] = ()
    power: Sequence[list[dict[str, Any]]] = ()
    correlation: float = 0.5

    def lines(self) -> list[str]:
        """Verdicts first, one sentence per llm, then the tables."""
        lines: list[str] = []
        if self.pair is not None:
            lines += [*comparison_lines(self.pair, self.prob, self.ci_prob, self.ks), ""]
        several = len(self.reports) > 1
        lines += [f"{r.name}: {r.verdict}" if several else r.verdict for r in self.reports]
        if len(self.reports) <= _BLOCKS:
            for report in self.reports:
                lines += ["", *block(report)]
        else:
            lines += ["", *overview(self.reports)]
        told = [np.isfinite([r.curve.se_mu, r.curve.se_score]).any() for r in self.reports]
        if any(told) and self.reports[0].found.k_max:
            lines += ["", *(part for line in LEGEND for part in _wrapped(line))]
        for report, table in zip(self.reports, self.power, strict=False):
            if not table:
                lines += ["", f"{report.name}: power: not in the data ({report.found.unknown})"]
                continue
            name = [report.name] if several else []
            lines += ["", *name, *power_lines(table, self.correlation)]
        lines += [f"{UNSCORED}: {name}" for name in self.left_out]
        if self.allocation is not None:
            lines += ["", *allocation_lines(self.allocation, self.written)]
        return lines


def block(report: PlanReport) -> list[str]:
    """The table of one llm, and what was asked for beside it."""
    curve, found = report.curve, report.found
    level = f"{100 * curve.ci_prob:g} %"
    prompts = "1 prompt" if found.n_prompts == 1 else f"{found.n_prompts:,} prompts"
    lines = [f"{report.name}: {prompts}" + (f", k = {report.used}" if found.k_max else "")]
    rows = [["k", "mu: SE", level, "in your data", "±", "score: SE", level, "in your data", "±"]]
    for j, one in enumerate(curve.k):
        row = [f"{one:,}"]
        for name in ("mu", "score"):
            se = getattr(curve, f"se_{name}")[:, j]
            seen = getattr(curve, f"seen_se_{name}")[:, j]
            data = number(getattr(curve, f"observed_se_{name}")[j])
            if math.isfinite(seen[0]):
                data = interval(seen[0], seen[2])
            width = getattr(curve, f"half_width_{name}")[1, j]
            row += [number(se[1]), interval(se[0], se[2]), data, number(width)]
        rows.append(row)
    told = [row for row in rows[1:] if any(cell != "-" for cell in row[1:])]
    rows = [rows[0], *told]
    floor = curve.floor
    if math.isfinite(floor.value):
        rows.append(["any", number(floor.value), interval(floor.lower, floor.upper), "", "", "0"])
    elif np.isfinite(curve.se_score).any():
        rows.append(["any", "-", "-", "", "", "0"])
    if len(found.mu) == 1:
        # assumed, not estimated: there is no uncertainty and there are no data to show
        rows = [[x for i, x in enumerate(row) if i not in (2, 3, 6, 7)] for row in rows]
    if told:
        lines += [f"  {line}" for line in columns(rows)]
    lines += [part for note in report.notes for part in _wrapped(f"  warning: {note}")]
    lines += [f"  goal: {goal}" for goal in report.targets]
    if report.plan is not None:
        lines += [f"  {line}" for line in budget_lines(report.plan)]
    elif report.plan_problem:
        lines.append(f"  budget: {report.plan_problem}")
    return lines


def budget_lines(plan: BudgetPlan) -> list[str]:
    """A budget plan in words, with a few rows of its trade-off."""
    width = plan.half_width
    why = ", all the prompts there are" if plan.limited else ""
    lines = [
        f"best for new prompts: {plan.n:,} prompts{why}, k = {plan.k:,}; cost {plan.cost:,g}, "
        f"half-width {number(width.value)} ({interval(width.lower, width.upper)})"
    ]
    rows = [["k", "prompts", "cost", "mu: SE", ""]]
    for j in shown(plan):
        row = [f"{plan.ks[j]:,}", f"{plan.ns[j]:,}", f"{plan.costs[j]:,.6g}"]
        mark = ["<- best"] if plan.ks[j] == plan.k else []
        rows.append([*row, number(plan.ses[1, j]), *mark])
    return lines + [f"  {line}" for line in columns(rows)]


def shown(plan: BudgetPlan) -> list[int]:
    """Rows of the trade-off to show: the best k and powers of two around it."""
    powers = {2**i for i in range(11) if 2**i <= max(8 * plan.k, 16)}
    return [j for j, k in enumerate(plan.ks) if k == plan.k or int(k) in powers]


def overview(reports: Sequence[PlanReport]) -> list[str]:
    """One row per llm."""
    level = f"{100 * reports[0].curve.ci_prob:g} %"
    near = f"k within {100 * reports[0].of_floor:g} %"
    rows = [["llm", "benchmark", "n", "k", "mu: SE now", "floor", near, level, "score: SE now"]]
    for report in reports:
        found, minimal, curve = report.found, report.minimal, report.curve
        at = np.flatnonzero(report.curve.k == found.k_used)
        now = [x[1, at[0]] if len(at) else np.nan for x in (curve.se_mu, curve.se_score)]
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
                number(curve.floor.value),
                enough,
                bounds,
                number(now[1]),
            ]
        )
    notes = [f"warning: {report.name}: {note}" for report in reports for note in report.notes]
    return [*columns(rows), *notes]


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
    order = right_order(pair, ks or KS)
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
    if found.strategy != "uniform":
        lines.append(
            "  afterwards read mu and score from pcorrect fit: plain means are biased then"
        )
    if output:
        lines.append(f"  written: {output}")
    return lines


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
        # a difference of 1 or more is that of no two llms
        cells = (f"{row[name]:.3f}" if row[name] < 1 or "power" in name else "-" for name in names)
        rows.append([f"{row['n']:,}", str(row["k"]), *cells])
    about = (
        "two llms like this on the same prompts, difficulty correlated "
        f"{correlation:g}; detectable: with power .8 at the two-sided level .05"
    )
    return [about, *(f"  {line}" for line in columns(rows))]


def columns(rows: list[list[str]]) -> Iterable[str]:
    """Rows as lines, the cells aligned to the right."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(len(rows[0]))]
    for row in rows:
        # zip is shorter on purpose: a row may leave its last cells out
        yield "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=False)).rstrip()


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, 100, subsequent_indent="    ")
