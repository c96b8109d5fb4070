"""The JSON contract of `pcorrect plan` (docs/json.md); what is undefined is None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pcorrect.commands.plan_text import KS, Output, shown
from pcorrect.planning.costs import BudgetPlan
from pcorrect.planning.goals import plain
from pcorrect.planning.pairs import PairVariances, minimal_k_order, right_order
from pcorrect.planning.reports import PlanReport


def output_json(found: Output) -> dict[str, Any]:
    """The whole answer."""
    out: dict[str, Any] = {"results": [result_json(report) for report in found.reports]}
    for entry, table in zip(out["results"], found.power, strict=False):
        entry["power"] = table
    if found.pair is not None:
        out["comparison"] = comparison_json(found.pair, found.prob, found.ci_prob, found.ks)
    if found.allocation is not None:
        out["next"] = {
            "strategy": found.allocation.strategy,
            "unspent": found.allocation.unspent,
            **found.allocation.expected,
            "prompts": found.allocation.rows(),
        }
    if found.left_out:
        out["left_out"] = list(found.left_out)
    return out


def result_json(report: PlanReport) -> dict[str, Any]:
    """One entry of ``results``; what is undefined is None."""
    curve, k = report.curve, report.minimal
    rows = []
    for j, one in enumerate(curve.k):
        row: dict[str, Any] = {"k": int(one)}
        for name in ("se_mu", "se_score"):
            value = getattr(curve, name)[:, j]
            row |= {name: value[1], f"{name}_lower": value[0], f"{name}_upper": value[2]}
            row[f"observed_{name}"] = getattr(curve, f"observed_{name}")[j]
            row[f"seen_{name}_lower"] = getattr(curve, f"seen_{name}")[0, j]
            row[f"seen_{name}_upper"] = getattr(curve, f"seen_{name}")[2, j]
        for name in ("half_width_mu", "half_width_score"):
            row[name] = getattr(curve, name)[1, j]
        rows.append({name: x if name == "k" else plain(x) for name, x in row.items()})
    floor = curve.floor
    result: dict[str, Any] = {
        "llm": report.llm,
        "benchmark": report.benchmark,
        "verdict": report.verdict,
        "n_prompts": report.found.n_prompts,
        "k_used": report.found.k_used,
        "k_min": report.found.k_min,
        "ci_prob": curve.ci_prob,
        "ci_kind": "eti",
        "not_identified": report.found.unknown or None,
        "floor": plain(floor.value),
        "floor_lower": plain(floor.lower),
        "floor_upper": plain(floor.upper),
        "minimal_k": {"k": k.k, "lower": k.lower, "upper": k.upper, "of_floor": report.of_floor},
        "curve": rows,
        "warnings": list(report.notes),
    }
    if report.targets:
        result["targets"] = [goal.to_json() for goal in report.targets]
    if report.plan is not None or report.plan_problem:
        result["budget"] = budget_json(report.plan, report.plan_problem)
    return result


def budget_json(plan: BudgetPlan | None, problem: str) -> dict[str, Any]:
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
        "trade_off": [
            {
                "k": int(plan.ks[j]),
                "n_prompts": int(plan.ns[j]),
                "cost": float(plan.costs[j]),
                "se_mu": float(plan.ses[1, j]),
                "se_mu_lower": float(plan.ses[0, j]),
                "se_mu_upper": float(plan.ses[2, j]),
            }
            for j in shown(plan)
        ],
    }


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
        "se_mu": plain(pair.se_mu),
        "se_score": plain(pair.se_score),
        "p_better": pair.p_better,
        "prob": prob,
        "minimal_k": {goal.estimand: goal.to_json() for goal in goals},
    }
    if not pair.unknown:
        found = right_order(pair, ks or KS)
        result["right_order_floor_mu"] = plain(found.floor_mu)
        result["curve"] = [
            {"k": int(k), "right_order_mu": float(mu), "right_order_score": float(score)}
            for k, mu, score in zip(found.k, found.mu, found.score, strict=True)
        ]
    return result
