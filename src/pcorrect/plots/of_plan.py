"""Plots of planning: how many generations are enough, and what a budget buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pcorrect.marginal import check_interval
from pcorrect.planning import BudgetPlan, PrecisionCurve, precision_curve
from pcorrect.planning.variances import Source, as_fit
from pcorrect.plots import words
from pcorrect.plots.canvas import check_backend, draw
from pcorrect.plots.of_fit import Backend, fit_name
from pcorrect.plots.plan_pictures import budget_picture, interval_picture, precision_picture

if TYPE_CHECKING:
    from arviz_plots.plot_collection import PlotCollection


def plot_precision(
    dt: Source | PrecisionCurve,
    *,
    ci_prob: float = 0.95,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Standard errors of mu and score against k, with the floor that no k goes below.

    Parameters
    ----------
    dt : DataTree, Fit, PromptCounts or PrecisionCurve
        A result of `fit`, or of `precision_curve`.
    ci_prob : float
        Probability of the equal-tailed intervals; that of a curve is its own.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    check_interval(ci_prob, "eti")
    check_backend(backend)
    if isinstance(dt, PrecisionCurve):
        picture = precision_picture(dt, f"{dt.n_prompts:,} prompts")
    else:
        fit = as_fit(dt)
        low, high = (int(at(fit.counts.n_generations)) for at in (np.min, np.max))
        used = words.generations_used(low, high)
        curve = precision_curve(fit, ci_prob=ci_prob)
        picture = precision_picture(curve, fit_name(fit), high, used)
    return draw({"se": picture}, backend=backend, figsize=figsize)


def plot_interval_by_k(
    dt: Source,
    *,
    ci_prob: float = 0.95,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """The intervals of mu and score that k generations give, predicted and observed.

    Parameters
    ----------
    dt : DataTree, Fit or PromptCounts
    ci_prob : float
        Probability of the intervals.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
        With the plots ``mu`` and ``score``.
    """
    check_interval(ci_prob, "eti")
    check_backend(backend)
    fit = as_fit(dt)
    curve = precision_curve(fit, ci_prob=ci_prob)
    used = int(fit.counts.n_generations.max())
    mean = fit.moments.mu
    assert mean is not None  # a fit has a scored generation
    pictures = {
        name: interval_picture(curve, mean, name, fit_name(fit), used) for name in ("mu", "score")
    }
    return draw(pictures, backend=backend, figsize=figsize)


def plot_budget(
    plan: BudgetPlan,
    *,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Standard error of mu for every way to spend a budget, and the best one.

    Parameters
    ----------
    plan : BudgetPlan
        A result of `budget`.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    name = f"cost {plan.cost:,.0f}"
    return draw({"se": budget_picture(plan, name)}, backend=backend, figsize=figsize)
