"""Pictures drawn with arviz-plots: matplotlib by default, plotly and bokeh where installed.

Only the backend-neutral functions of arviz-plots are used. Logarithmic axes are drawn as axes of
logarithms with their own tick labels, since not every backend can change a scale afterwards.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pcorrect.errors import PcorrectError
from pcorrect.plots.panel import COLOURS, INK, Panel
from pcorrect.plots.picture import Picture

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots.plot_collection import PlotCollection

BACKENDS = ("matplotlib", "plotly", "bokeh")
# Inches: the column of a two-column paper, and the height of one picture in it.
WIDTH, HEIGHT = 3.4, 2.6
# Other backends draw for the screen, in dots.
_DOTS = 210
_STYLE: dict[Any, Any] = {
    "font.size": 8.0,
    "text.parse_math": False,  # names of llms may hold two dollar signs
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.edgecolor": COLOURS[0],
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "figure.dpi": 150,
}


def draw(
    pictures: Mapping[str, Picture],
    *,
    backend: str | None = None,
    columns: int = 1,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Draw pictures as the plots of one collection.

    Parameters
    ----------
    pictures : mapping of str to Picture
        Name of each plot in the collection -> what it shows.
    backend : {"matplotlib", "plotly", "bokeh"}, optional
        Default: matplotlib.
    columns : int
        Plots side by side.
    figsize : pair of float, optional
        Width and height in inches; default: the pictures' own, for a column of a paper.

    Returns
    -------
    arviz_plots.PlotCollection
        ``get_viz("plot", name)`` is the plot, ``get_viz("line", name)`` its lines, and so on by
        kind of mark (band, line, dashed, thick, points, segments, across, bars, text).

    Raises
    ------
    PcorrectError
        The backend is unknown or not installed.
    """
    backend = check_backend(backend)
    with style(backend):
        import xarray as xr

        columns = min(columns, len(pictures))
        collection = new_collection(
            xr.Dataset(dict.fromkeys(pictures, 0.0)),
            backend,
            _figure(list(pictures.values()), columns, figsize, backend),
            col_wrap=columns,
        )
        artists: dict[str, dict[str, xr.DataArray]] = {}
        for name, picture in pictures.items():
            panel = Panel(collection.get_viz("plot", name), backend)
            for kind, drawn in panel.draw(picture, alone=len(pictures) == 1).items():
                array = np.empty(len(drawn), object)
                array[:] = drawn
                artists.setdefault(kind, {})[name] = xr.DataArray(array, dims=f"{kind}_of_{name}")
        for kind, by_plot in artists.items():
            collection.viz[kind] = xr.DataTree(xr.Dataset(by_plot))
    return cast("PlotCollection", collection)


def new_collection(data: xr.Dataset, backend: str, figure: dict[str, Any], **options: Any) -> Any:
    """A collection with a plot for each variable of `data`."""
    from arviz_plots import plot_collection

    # arviz-plots has no annotations
    collection: Any = plot_collection.PlotCollection
    return collection.wrap(
        data, cols=["__variable__"], backend=backend, figure_kwargs=figure, **options
    )


def _figure(
    pictures: list[Picture], columns: int, figsize: tuple[float, float] | None, backend: str
) -> dict[str, Any]:
    """Size and layout, with room for the legends below the plots."""
    legends = 0.14 * max(sum(bool(mark.legend) for mark in p.marks) for p in pictures)
    rows = [pictures[i : i + columns] for i in range(0, len(pictures), columns)]
    heights = [HEIGHT * max(p.height for p in row) + legends for row in rows]
    width = WIDTH * columns * max(p.width for p in pictures)
    return figure_size(*(figsize or (width, sum(heights))), backend)


def figure_size(width: float, height: float, backend: str) -> dict[str, Any]:
    """What a backend has to be told for a figure of this size in inches."""
    if backend == "matplotlib":
        return {"figsize": (width, height), "figsize_units": "inches", "layout": "constrained"}
    return {"figsize": (width * _DOTS, height * _DOTS), "figsize_units": "dots"}


def check_backend(backend: str | None) -> str:
    """The backend to use, checked.

    Raises
    ------
    PcorrectError
        It is unknown or not installed.
    """
    backend = backend or "matplotlib"
    if backend not in BACKENDS:
        raise PcorrectError(f"no backend {backend!r}: choose from {list(BACKENDS)}")
    try:
        import_module(f"arviz_plots.backend.{backend}")
    except ImportError as error:
        raise PcorrectError(
            f"the backend {backend!r} is not installed ({error}): "
            f"pip install 'arviz-plots[{backend}]'"
        ) from error
    return backend


@contextlib.contextmanager
def style(backend: str) -> Iterator[None]:
    """Sizes and colours of text and axes, for as long as something is drawn."""
    if backend != "matplotlib":
        yield
        return
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield
