"""Planned quantities as JSON and as text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pcorrect.planning.goals import MinimalK
from pcorrect.planning.trade_off import BudgetPlan


def goal_json(goal: MinimalK) -> dict[str, Any]:
    """A goal as JSON."""
    more = goal.more_prompts
    return {
        "goal": goal.goal,
        "estimand": goal.estimand,
        "k": goal.k,
        "lower": goal.lower,
        "upper": goal.upper,
        "reachable": plain(goal.reachable),
        "more_prompts": None
        if more is None
        else {"n": more.value, "lower": more.lower, "upper": more.upper},
        "answer": str(goal),
    }


def plan_json(plan: BudgetPlan | None, problem: str) -> dict[str, Any]:
    """A budget plan as JSON."""
    if plan is None:
        return {"problem": problem}
    return {
        "n_prompts": plan.n,
        "k": plan.k,
        "cost": plan.cost,
        "se_mu": plan.se.value,
        "half_width_mu": plan.half_width.value,
        "half_width_lower": plan.half_width.lower,
        "half_width_upper": plan.half_width.upper,
        "closed_form_k": {
            "k": plain(plan.k_best.value),
            "lower": plain(plan.k_best.lower),
            "upper": plain(plan.k_best.upper),
        },
        "limited_by_prompts": plan.limited,
    }


def plan_lines(plan: BudgetPlan) -> list[str]:
    """A budget plan in words, with a few rows of its trade-off."""
    width = plan.half_width
    why = ", all the prompts there are" if plan.limited else ""
    lines = [
        f"best for new prompts: {plan.n:,} prompts{why}, k = {plan.k:,}; cost {plan.cost:,g}, "
        f"half-width {number(width.value)} ({interval(width.lower, width.upper)})"
    ]
    rows = [["k", "prompts", "cost", "mu: SE"]]
    powers = {int(x) for x in 2 ** np.arange(11)}
    for j, k in enumerate(plan.ks):
        if k == plan.k or (k in powers and k <= max(8 * plan.k, 16)):
            mark = "  <- best" if k == plan.k else ""
            cost = f"{plan.costs[j]:,.6g}"
            rows.append([f"{k:,}", f"{plan.ns[j]:,}", cost, number(plan.ses[1, j]) + mark])
    return lines + [f"  {line}" for line in columns(rows)]


def number(value: float) -> str:
    """A standard error: four decimals, more where it is tiny."""
    if not math.isfinite(value):
        return "-"
    if value == 0 or value >= 0.001:
        return f"{value:.4f}"
    return f"{value:.5f}" if value >= 0.00001 else f"{value:.0e}"


def interval(low: float, high: float) -> str:
    """Two ends in one cell."""
    return f"{number(low)}-{number(high)}" if math.isfinite(low) else "-"


def columns(rows: list[list[str]]) -> Iterable[str]:
    """Rows as lines, the cells aligned to the right."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(len(rows[0]))]
    for row in rows:
        # zip is shorter on purpose: a row may leave its last cells out
        yield "  ".join(x.rjust(w) for x, w in zip(row, widths, strict=False)).rstrip()


def plain(value: float) -> float | None:
    """A finite number, or None."""
    return float(value) if math.isfinite(value) else None
