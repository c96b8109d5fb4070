"""The plan of one llm on one benchmark: all of it, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pcorrect.errors import PcorrectError
from pcorrect.planning.costs import BudgetPlan, Costs, budget, check_costs
from pcorrect.planning.curve import PrecisionCurve, curve_of
from pcorrect.planning.goals import OF_FLOOR, MinimalK, minimal_k
from pcorrect.planning.per_prompt import first_flag, minimal_k_per_prompt
from pcorrect.planning.variances import (
    CI_PROB,
    ONE_PROMPT,
    SINGLE,
    Source,
    Variances,
    as_fit,
    quantiles,
)
from pcorrect.result import Fit

# With fewer prompts the sample variance is too noisy to hold a model against.
_ENOUGH = 20
# A k near the floor beyond which there is next to no floor.
_MANY = 200


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
        What the fit warns of, and where it and the data disagree on the precision reached.
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
        if found.unknown == SINGLE:
            return (
                "k = 1 everywhere, so the data do not tell whether more generations would help: "
                "run each prompt once more (k = 2) and ask again"
            )
        if found.unknown == ONE_PROMPT:
            return (
                "there is one prompt only: no k tells anything about new prompts, more prompts do"
            )
        if found.unknown:
            return f"{found.unknown}: no k would show much more, only more or other prompts can"
        if k.k is None:
            return (
                "the prompts look equally hard, so a generation more of the same prompts helps as "
                f"much as one of a new prompt: no k is {near}"
            )
        upper = "no limit" if k.upper is None else f"{k.upper:,}"
        range_ = "" if k.lower == k.upper == k.k else f" ({k.lower:,} to {upper})"
        tail = f"; you used {self.used}" if found.k_max else ""
        if k.k > _MANY:
            tail += (
                ". The prompts look almost equally hard: a generation more of the same prompts "
                "helps about as much as one of a new prompt"
            )
        return f"k = {k.k:,}{range_} is {near}{tail}"

    @property
    def notes(self) -> tuple[str, ...]:
        """`cautions`, where the data tell the variances at all."""
        return () if self.found.unknown else self.cautions


def plan_report(
    source: Source | Variances,
    *,
    k: ArrayLike | None = None,
    of_floor: float = OF_FLOOR,
    targets: Sequence[float] = (),
    each: float | None = None,
    decide: float | None = None,
    costs: Costs | None = None,
    ci_prob: float = CI_PROB,
    cautions: tuple[str, ...] = (),
    trust_moments: bool = True,
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
    targets : sequence of float
        Wanted half-width of mu and score.
    each, decide : float, optional
        Wanted half-width of nine tenths of the p_i; threshold on one side of which nine tenths of
        them shall be known to lie.
    costs : Costs, optional
        Plan prompts and generations, for its budget or else for the one target.
    ci_prob : float
    cautions : tuple of str
        What else speaks against the fit, such as runs that differ.
    trust_moments : bool
        Whether the moments can speak against the fit: not where k depends on the results.
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
    goals = tuple(
        minimal_k(found, half_width=width, estimand=e, ci_prob=ci_prob)
        for width in targets
        for e in ("mu", "score")
    )
    if fit is not None:
        goals += _prompt_goals(fit, each, decide, ci_prob)
    plan, problem = None, ""
    if costs is not None:
        if costs.total is None and len(targets) != 1:
            raise PcorrectError("costs need a budget, or exactly one target")
        half_width = targets[0] if costs.total is None else None
        check_costs(costs.prompt, costs.generation, costs.total, half_width, costs.max_prompts)
        try:
            plan = budget(
                found,
                total=costs.total,
                half_width=half_width,
                cost_prompt=costs.prompt,
                cost_generation=costs.generation,
                max_prompts=costs.max_prompts,
                ci_prob=ci_prob,
            )
        except PcorrectError as error:
            problem = str(error)
    if fit is not None:
        doubt = _contradiction(found, fit, ci_prob) if trust_moments else ()
        cautions = (*fit.warnings, *cautions, *doubt)
    return PlanReport(*name, found, curve, minimal, of_floor, goals, plan, problem, cautions)


def _contradiction(found: Variances, fit: Fit, ci_prob: float) -> tuple[str, ...]:
    """Where the model and the moments disagree on the precision that was reached."""
    n, seen, k = found.n_prompts, fit.moments.se_mu, fit.counts.n_generations
    if found.unknown or n < _ENOUGH or seen is None:
        return ()
    # with unequal k the moment estimate holds the mean of W / k
    low, middle, high = quantiles(found.se_mu(1 / np.mean(1 / k[k > 0])), ci_prob)
    # The sample variance may exceed any that a population on [0, 1] can have, by n / (n - 1).
    if low <= seen and seen * np.sqrt(1 - 1 / n) <= high:
        return ()
    why = "the population does not have the shape that the model assumes"
    if seen < low:
        why = "the prompts differ less than independent generations of them would"
    return (
        f"the model puts the error for new prompts at {number(middle)} "
        f"({interval(low, high)}), your data at {number(seen)}: {why}; go by the columns "
        "'in your data'",
    )


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
