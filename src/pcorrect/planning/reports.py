"""The plan of one llm on one benchmark in words, as a table, and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pcorrect.errors import PcorrectError
from pcorrect.planning.curve import PrecisionCurve, curve_of
from pcorrect.planning.estimates import CI_PROB
from pcorrect.planning.formats import (
    columns,
    goal_json,
    interval,
    number,
    plain,
    plan_json,
    plan_lines,
)
from pcorrect.planning.goals import OF_FLOOR, MinimalK, minimal_k
from pcorrect.planning.per_prompt import first_flag, minimal_k_per_prompt
from pcorrect.planning.trade_off import BudgetPlan, budget
from pcorrect.planning.variances import Source, Variances, as_fit
from pcorrect.result import Fit

# With fewer prompts the sample variance is too noisy to hold a model against.
_ENOUGH = 20


@dataclass(frozen=True)
class Costs:
    """Budget and costs of `pcorrect plan`: see `budget`."""

    total: float | None = None
    prompt: float = 0.0
    generation: float = 1.0
    max_prompts: int | None = None


@dataclass(frozen=True)
class PlanReport:
    """Everything that `pcorrect plan` says about one llm on one benchmark.

    Parameters
    ----------
    llm, benchmark : str
    found : Variances
    curve : PrecisionCurve
    minimal : MinimalK
        Within a fraction `of_floor` of the floor for new prompts.
    of_floor : float
    targets : tuple of MinimalK
        For a wanted half-width of mu and of score, and for single prompts.
    plan : BudgetPlan or None
    plan_problem : str
        Why there is no plan where one was asked for.
    cautions : tuple of str
        What the fit warns of.
    """

    llm: str
    benchmark: str
    found: Variances
    curve: PrecisionCurve
    minimal: MinimalK
    of_floor: float
    targets: tuple[MinimalK, ...] = ()
    plan: BudgetPlan | None = None
    plan_problem: str = ""
    cautions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The llm and its benchmark."""
        return f"{self.llm} on {self.benchmark}" if self.benchmark else self.llm

    @property
    def used(self) -> str:
        """The numbers of generations used, in words."""
        low, high = self.found.k_min, self.found.k_max
        return f"{high}" if low == high else f"{low} to {high}"

    @property
    def verdict(self) -> str:
        """One sentence: how many generations are enough."""
        found, k = self.found, self.minimal
        near = f"within {100 * self.of_floor:g} % of what any k can give for new prompts"
        if found.unknown == "k = 1 everywhere":
            return (
                "k = 1 everywhere, so the data do not tell whether more generations would help: "
                "run each prompt once more (k = 2) and ask again"
            )
        if found.unknown == "there is one prompt only":
            return (
                "there is one prompt only: no k tells anything about new prompts, more prompts do"
            )
        if found.unknown:
            return f"{found.unknown}: no k would show much more, only more or other prompts can"
        if k.k is None:
            return (
                "the prompts look equally hard, so a generation more of the same prompts helps as "
                f"much as one of a new prompt; no k is {near}"
            )
        upper = "no limit" if k.upper is None else f"{k.upper:,}"
        range_ = "" if k.lower == k.upper == k.k else f" ({k.lower:,} to {upper})"
        tail = f"; you used {self.used}" if found.k_max else ""
        return f"k = {k.k:,}{range_} is {near}{tail}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the fit warns of, and where it and the data disagree on the precision reached."""
        curve, n = self.curve, self.found.n_prompts
        (at,) = np.nonzero((curve.k == self.found.k_max) & (self.found.k_max > 1))
        if self.found.unknown:
            return ()
        if not len(at) or n < _ENOUGH:
            return self.cautions
        low, middle, high = curve.se_mu[:, at[0]]
        seen = curve.observed_se_mu[at[0]]
        # The sample variance may exceed any that a population on [0, 1] can have, by n / (n - 1).
        if not (seen < low or seen * np.sqrt(1 - 1 / n) > high):
            return self.cautions  # also where nothing was observed: nan
        return (
            *self.cautions,
            f"the model puts the error for new prompts at {number(middle)} "
            f"({interval(low, high)}), your data at {number(seen)}: the population does not have "
            "the shape that the model assumes; go by the columns 'in your data'",
        )

    def to_json(self) -> dict[str, Any]:
        """One entry of ``results``; what is undefined is None."""
        curve, k = self.curve, self.minimal
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
            "llm": self.llm,
            "benchmark": self.benchmark,
            "verdict": self.verdict,
            "n_prompts": self.found.n_prompts,
            "k_used": self.found.k_max,
            "k_min": self.found.k_min,
            "ci_prob": curve.ci_prob,
            "ci_kind": "eti",
            "not_identified": self.found.unknown or None,
            "floor": plain(floor.value),
            "floor_lower": plain(floor.lower),
            "floor_upper": plain(floor.upper),
            "minimal_k": {"k": k.k, "lower": k.lower, "upper": k.upper, "of_floor": self.of_floor},
            "curve": rows,
            "warnings": list(self.notes),
        }
        if self.targets:
            result["targets"] = [goal_json(goal) for goal in self.targets]
        if self.plan is not None or self.plan_problem:
            result["budget"] = plan_json(self.plan, self.plan_problem)
        return result

    def lines(self) -> list[str]:
        """The table, and what was asked for beside it."""
        curve, found = self.curve, self.found
        level = f"{100 * curve.ci_prob:g} %"
        prompts = "1 prompt" if found.n_prompts == 1 else f"{found.n_prompts:,} prompts"
        lines = [f"{self.name}: {prompts}" + (f", k = {self.used}" if found.k_max else "")]
        rows = [
            ["k", "mu: SE", level, "in your data", "±", "score: SE", level, "in your data", "±"]
        ]
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
        floor = curve.floor
        rows.append(
            ["any", number(floor.value), interval(floor.lower, floor.upper), "", "", "0"]
            if math.isfinite(floor.value)
            else ["any", "-", "-", "", "", "0"]
        )
        if len(found.mu) == 1:
            # assumed, not estimated: there is no uncertainty and there are no data to show
            rows = [[x for i, x in enumerate(row) if i not in (2, 3, 6, 7)] for row in rows]
        lines += [f"  {line}" for line in columns(rows)]
        lines += [f"  warning: {note}" for note in self.notes]
        lines += [f"  goal: {goal}" for goal in self.targets]
        if self.plan is not None:
            lines += [f"  {line}" for line in plan_lines(self.plan)]
        elif self.plan_problem:
            lines.append(f"  budget: {self.plan_problem}")
        return lines


def plan_report(
    source: Source | Variances,
    *,
    k: ArrayLike | None = None,
    of_floor: float = OF_FLOOR,
    target: float | None = None,
    each: float | None = None,
    decide: float | None = None,
    costs: Costs | None = None,
    ci_prob: float = CI_PROB,
    name: tuple[str, str] = ("assumed", ""),
) -> PlanReport:
    """Put together what `pcorrect plan` says about one llm.

    Parameters
    ----------
    source : Fit, DataTree, PromptCounts or Variances
    k : array_like of int, optional
        Rows of the table.
    of_floor : float
        How near to the floor is near enough.
    target : float, optional
        Wanted half-width of mu and score.
    each, decide : float, optional
        Wanted half-width of nine tenths of the p_i; threshold on one side of which nine tenths of
        them shall be known to lie.
    costs : Costs, optional
        Plan prompts and generations, for its budget or else for `target`.
    ci_prob : float
    name : pair of str
        llm and benchmark, where `source` holds assumptions only.

    Raises
    ------
    PcorrectError
        A number is out of range.
    """
    if isinstance(source, Variances):
        found, fit = source, None
    else:
        fit = as_fit(source)
        name = (fit.counts.llm, fit.counts.benchmark)
        found = Variances.from_fit(fit)
    curve = curve_of(found, fit, k, ci_prob=ci_prob)
    minimal = minimal_k(found, of_floor=of_floor, ci_prob=ci_prob)
    targets: tuple[MinimalK, ...] = ()
    if target is not None:
        targets = tuple(
            minimal_k(found, half_width=target, estimand=e, ci_prob=ci_prob)
            for e in ("mu", "score")
        )
    if fit is not None:
        targets += _prompt_goals(fit, each, decide, ci_prob)
    plan, problem = None, ""
    if costs is not None:
        try:
            plan = budget(
                found,
                total=costs.total,
                half_width=target if costs.total is None else None,
                cost_prompt=costs.prompt,
                cost_generation=costs.generation,
                max_prompts=costs.max_prompts,
                ci_prob=ci_prob,
            )
        except PcorrectError as error:
            problem = str(error)
    cautions = () if fit is None else fit.warnings
    return PlanReport(*name, found, curve, minimal, of_floor, targets, plan, problem, cautions)


def _prompt_goals(
    fit: Fit, each: float | None, decide: float | None, ci_prob: float
) -> tuple[MinimalK, ...]:
    goals = []
    if each is not None:
        goals.append(minimal_k_per_prompt(fit, half_width=each, ci_prob=ci_prob))
    if decide is not None:
        goal = minimal_k_per_prompt(fit, decide=decide, ci_prob=ci_prob)
        if not goal.unknown and (row := first_flag(fit, decide)) is not None:
            goal = replace(goal, note=f"{row} wrong in a row settle that p <= {decide:g}")
        goals.append(goal)
    return tuple(goals)
