"""A square of probabilities as colours, on each backend."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pcorrect.marginal import FloatArray
from pcorrect.plots import words
from pcorrect.plots.canvas import WIDTH, check_backend, figure_size, new_collection, style
from pcorrect.plots.panel import INK

if TYPE_CHECKING:
    from arviz_plots.plot_collection import PlotCollection

# From orange (0) over white (1/2) to blue (1): two hues that the colour-blind tell apart.
LOW, MIDDLE, HIGH = "#d55e00", "#ffffff", "#0072b2"
# Up to so many rows have their names and numbers; more have every so-manieth name.
_NUMBERS = 12
_NAMES = 40


def draw_matrix(
    values: FloatArray,
    names: list[str],
    title: str,
    *,
    backend: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> PlotCollection:
    """Draw probabilities, shape (L, L), with `names` along both sides.

    Raises
    ------
    PcorrectError
        The backend is unknown or not installed.
    """
    backend = check_backend(backend)
    shown = np.array(values, dtype=float)
    np.fill_diagonal(shown, np.nan)
    wide = WIDTH if len(names) <= _NUMBERS else 1.5 * WIDTH
    figure = figure_size(*(figsize or (wide, wide + 0.3)), backend)
    with style(backend):
        import xarray as xr

        collection = new_collection(xr.Dataset({"p_better": 0.0}), backend, figure)
        target = collection.get_viz("plot", "p_better")
        every = -(-len(names) // _NAMES)
        ticks = list(range(0, len(names), every))
        labels = [words.shortened(names[i], 24) for i in ticks]
        artist = _PAINTERS[backend](target, shown, ticks, labels, title)
        collection.viz["matrix"] = xr.DataTree(
            xr.Dataset({"p_better": xr.DataArray(np.array(artist, dtype=object))})
        )
    return cast("PlotCollection", collection)


def _matplotlib(
    target: Any, values: FloatArray, ticks: list[int], labels: list[str], title: str
) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("better", [LOW, MIDDLE, HIGH])
    image = target.imshow(values, vmin=0, vmax=1, cmap=colours, aspect="equal")
    size = 7.0 if len(labels) <= 20 else 4.5
    target.set_xticks(ticks, labels, rotation=90, fontsize=size)
    target.set_yticks(ticks, labels, fontsize=size)
    target.set_title(title.replace(": ", ":\n"))
    target.tick_params(length=0)
    if len(values) <= _NUMBERS:
        for i, j in zip(*np.nonzero(np.isfinite(values)), strict=True):
            strong = abs(values[i, j] - 0.5) > 0.35
            target.text(
                j,
                i,
                f"{values[i, j]:.2f}",
                ha="center",
                va="center",
                fontsize=6,
                color="white" if strong else INK,
            )
    else:
        target.figure.colorbar(image, ax=target, shrink=0.6, label="P(row better)")
    return image


def _plotly(
    target: Any, values: FloatArray, ticks: list[int], labels: list[str], title: str
) -> Any:
    go: Any = import_module("plotly.graph_objects")
    scale = [[0.0, LOW], [0.5, MIDDLE], [1.0, HIGH]]
    trace = go.Heatmap(z=values, zmin=0, zmax=1, colorscale=scale)
    target.add_trace(trace)
    target.update_xaxes(tickvals=ticks, ticktext=labels, tickangle=90)
    target.update_yaxes(tickvals=ticks, ticktext=labels, autorange="reversed")
    target.figure.update_layout(title=title)
    return trace


def _bokeh(target: Any, values: FloatArray, ticks: list[int], labels: list[str], title: str) -> Any:
    models: Any = import_module("bokeh.models")
    steps = np.linspace(0, 1, 64)[:, None]
    ends = np.array([[213, 94, 0], [255, 255, 255], [0, 114, 178]], dtype=float)
    first = ends[0] + (ends[1] - ends[0]) * 2 * steps
    second = ends[1] + (ends[2] - ends[1]) * (2 * steps - 1)
    colours = np.where(steps < 0.5, first, second).astype(int)
    palette = ["#{:02x}{:02x}{:02x}".format(*row) for row in colours]
    mapper = models.LinearColorMapper(palette=palette, low=0, high=1, nan_color="white")
    size = len(values)
    # bokeh paints rows from the bottom up
    image = target.image(
        image=[values[::-1]], x=-0.5, y=-0.5, dw=size, dh=size, color_mapper=mapper
    )
    target.x_range = models.Range1d(-0.5, size - 0.5)
    target.y_range = models.Range1d(-0.5, size - 0.5)
    target.xaxis.ticker = ticks
    target.xaxis.major_label_overrides = dict(zip(ticks, labels, strict=True))
    target.xaxis.major_label_orientation = "vertical"
    turned = [size - 1 - i for i in ticks]
    target.yaxis.ticker = turned
    target.yaxis.major_label_overrides = dict(zip(turned, labels, strict=True))
    target.title.text = title
    return image


_PAINTERS = {"matplotlib": _matplotlib, "plotly": _plotly, "bokeh": _bokeh}
