"""Plots of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pcorrect.comparison import PairedDifference, Ranking
from pcorrect.plots.canvas import draw
from pcorrect.plots.comparison_pictures import difference_picture, ranking_picture
from pcorrect.plots.heatmap import draw_matrix
from pcorrect.plots.of_fit import Backend

if TYPE_CHECKING:
    from arviz_plots.plot_collection import PlotCollection


def plot_difference(
    result: PairedDifference,
    *,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Posterior of the difference of mu, with the region of practical equivalence.

    Parameters
    ----------
    result : PairedDifference
        Of `paired_difference`.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    return draw({"difference": difference_picture(result)}, backend=backend, figsize=figsize)


def plot_ranking(
    result: Ranking,
    *,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Mu of every llm, best first, with P(best) and those that cannot be told from the first.

    Parameters
    ----------
    result : Ranking
        Of `rank`.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    return draw({"mu": ranking_picture(result)}, backend=backend, figsize=figsize)


def plot_pairwise(
    result: Ranking,
    *,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """P(mu of the row > mu of the column) for all pairs, both in order of rank.

    Parameters
    ----------
    result : Ranking
        Of `rank`.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    return draw_matrix(
        result.p_better,
        list(result.llm),
        "P(row better than column): new prompts",
        backend=backend,
        figsize=figsize,
    )
