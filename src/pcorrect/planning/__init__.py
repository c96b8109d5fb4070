"""Planning: how many generations are enough, of how many prompts, and which ones next.

Everything follows from the posterior of two variances, between prompts (B) and within them (W), of
one prompt's p_i, or of a paired difference::

    fit -> Variances -> precision_curve, minimal_k, budget, power, detectable_difference
        -> extend                          what a longer run will show
        -> minimal_k_per_prompt, first_flag, next_prompts          single prompts
    two llms -> pair_variances -> right_order, minimal_k_order
    stopping, stopping_pair, boundary -> simulate_width_rule, simulate_comparison_rule

"mu" asks about new prompts like these and has a floor that no k removes; "score" asks about exactly
these prompts and has none.
"""

from pcorrect.planning.allocation import Allocation, next_prompts
from pcorrect.planning.characteristics import simulate_comparison_rule, simulate_width_rule
from pcorrect.planning.costs import BudgetPlan, Costs, Usage, budget, log_usage
from pcorrect.planning.curve import PrecisionCurve, add_planning, planning_group, precision_curve
from pcorrect.planning.detection import Power, detectable_difference, power
from pcorrect.planning.goals import MinimalK, minimal_k
from pcorrect.planning.observed import Extension, SubsetExpectations, extend, subset_expectations
from pcorrect.planning.pairs import PairVariances, minimal_k_order, pair_variances, right_order
from pcorrect.planning.per_prompt import first_flag, minimal_k_per_prompt
from pcorrect.planning.reports import PlanReport, plan_report
from pcorrect.planning.stop_rule import Stop, boundary, information, stopping, stopping_pair
from pcorrect.planning.variances import Estimate, Variances

__all__ = [
    "Allocation",
    "BudgetPlan",
    "Costs",
    "Estimate",
    "Extension",
    "MinimalK",
    "PairVariances",
    "PlanReport",
    "Power",
    "PrecisionCurve",
    "Stop",
    "SubsetExpectations",
    "Usage",
    "Variances",
    "add_planning",
    "boundary",
    "budget",
    "detectable_difference",
    "extend",
    "first_flag",
    "information",
    "log_usage",
    "minimal_k",
    "minimal_k_order",
    "minimal_k_per_prompt",
    "next_prompts",
    "pair_variances",
    "plan_report",
    "planning_group",
    "power",
    "precision_curve",
    "right_order",
    "simulate_comparison_rule",
    "simulate_width_rule",
    "stopping",
    "stopping_pair",
    "subset_expectations",
]
