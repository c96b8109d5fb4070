"""Plots of the data behind a result: the data map, and runs that should agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pcorrect.adequacy.runs import RunCheck
from pcorrect.plots.canvas import draw
from pcorrect.plots.data_pictures import map_picture, runs_picture, table_picture
from pcorrect.plots.of_fit import Backend

if TYPE_CHECKING:
    from arviz_plots.plot_collection import PlotCollection

    from pcorrect.consistency.flags import Flags
    from pcorrect.consistency.tables import PromptTable


def plot_data_map(
    data: Flags | PromptTable,
    *,
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """P(correct) against consistency, one point per prompt.

    Parameters
    ----------
    data : Flags or PromptTable
        Of `flag_prompts` (suspect prompts in another colour), or of `data_map` (with the intervals
        of p where there are few prompts).
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    from pcorrect.consistency.flags import Flags

    n = len(data)
    name = "1 prompt" if n == 1 else f"{n:,} prompts"
    picture = map_picture(data, name) if isinstance(data, Flags) else table_picture(data, name)
    return draw({"map": picture}, backend=backend, figsize=figsize)


def plot_runs(
    check: RunCheck,
    *,
    name: str = "",
    backend: Backend | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """How far each run of a benchmark stands out, beside what exchangeable runs do.

    Parameters
    ----------
    check : RunCheck
        Of `check_runs`.
    name : str
        Of the llm, for the title.
    backend, figsize
        As in `plot_posterior`.

    Returns
    -------
    arviz_plots.PlotCollection
    """
    picture = runs_picture(check, name or f"{check.n_prompts:,} prompts")
    return draw({"runs": picture}, backend=backend, figsize=figsize)
