"""Plots of one fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pcorrect.fitting import Fit
from pcorrect.marginal import CiKind, check_interval
from pcorrect.planning.variances import Source, as_fit
from pcorrect.plots.canvas import check_backend, draw
from pcorrect.plots.fit_pictures import (
    density_picture,
    forest_picture,
    posterior_picture,
    rootogram_picture,
)

if TYPE_CHECKING:
    from arviz_plots.plot_collection import PlotCollection

Backend = Literal["matplotlib", "plotly", "bokeh"]


def plot_posterior(
    dt: Source,
    *,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Posterior of mu and of score, with their intervals and the moment estimate.

    From the exact engine the densities come from the quadrature weights, not from draws.

    Parameters
    ----------
    dt : DataTree, Fit or PromptCounts
        A result of `fit`; counts are fitted with the default model first.
    ci_prob : float
        Probability of the credible intervals.
    ci_kind : {"eti", "hdi"}
        Equal-tailed or highest-density.
    backend : {"matplotlib", "plotly", "bokeh"}, optional
        Default: matplotlib.
    figsize : pair of float, optional
        Inches; default: one column of a paper.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    fit = _ready(dt, ci_prob, ci_kind, backend)
    picture = posterior_picture(fit, fit_name(fit), ci_prob, ci_kind)
    return draw({"posterior": picture}, backend=backend, figsize=figsize)


def plot_density(
    dt: Source,
    *,
    ci_prob: float = 0.95,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Density of P(correct) over prompts: the fitted population and the observed shares.

    Parameters
    ----------
    dt : DataTree, Fit or PromptCounts
    ci_prob : float
        Probability of the equal-tailed interval of the population's density.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    fit = _ready(dt, ci_prob, "eti", backend)
    picture = density_picture(fit, fit_name(fit), ci_prob)
    return draw({"p": picture}, backend=backend, figsize=figsize)


def plot_rootogram(
    dt: Source,
    *,
    ci_prob: float = 0.95,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """How many prompts have each count, observed and predicted, on a square-root scale.

    Parameters
    ----------
    dt : DataTree, Fit or PromptCounts
    ci_prob : float
        Probability of the predictive intervals.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    fit = _ready(dt, ci_prob, "eti", backend)
    picture = rootogram_picture(fit, fit_name(fit), ci_prob)
    return draw({"n_correct": picture}, backend=backend, figsize=figsize)


def plot_forest(
    dt: Source,
    *,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """P(correct) of every prompt with its interval, sorted: as readable at 10,000 as at 10.

    Parameters
    ----------
    dt : DataTree, Fit or PromptCounts
    ci_prob, ci_kind
        Probability and kind ("eti" or "hdi") of the credible intervals.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    fit = _ready(dt, ci_prob, ci_kind, backend)
    picture = forest_picture(fit, fit_name(fit), ci_prob, ci_kind)
    return draw({"p": picture}, backend=backend, figsize=figsize)


def fit_name(fit: Fit) -> str:
    """What a picture's title calls a fit."""
    return f"{fit.counts.llm} on {fit.counts.benchmark}"


def _ready(dt: Source, ci_prob: float, ci_kind: str, backend: str | None) -> Fit:
    """The fit, after mistakes in the arguments have been refused."""
    check_interval(ci_prob, ci_kind)
    check_backend(backend)
    return as_fit(dt)
