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
from pcorrect.marginal import FloatArray
from pcorrect.plots.axes import Axis
from pcorrect.plots.picture import Mark, Picture

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots.plot_collection import PlotCollection

#: Neutral grey, then the palette of Okabe and Ito: colours that the colour-blind can tell apart.
COLOURS = ("#767d85", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
INK, RULE = "#24292f", "#dfe3e8"

BACKENDS = ("matplotlib", "plotly", "bokeh")
# Inches: the column of a two-column paper, and the height of one picture in it.
WIDTH, HEIGHT = 3.4, 2.6
# Other backends draw for the screen, in dots.
_DOTS = 210
_LEGEND: dict[str, Any] = {"borderaxespad": 0.0, "handlelength": 1.4, "labelspacing": 0.25}
_STYLE: dict[Any, Any] = {
    "font.size": 8.0,
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
            panel = _Panel(collection.get_viz("plot", name), backend)
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
    width, height = figsize or (width, sum(heights))
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


class _Panel:
    """One plot of a backend."""

    def __init__(self, target: Any, backend: str) -> None:
        self.target, self.backend = target, backend
        self.ink: Any = import_module(f"arviz_plots.backend.{backend}")

    def draw(self, picture: Picture, *, alone: bool) -> dict[str, list[Any]]:
        """Axes first, then the marks, then what explains them; what was drawn, by kind."""
        x, y = picture.x, picture.y
        drawn: dict[str, list[Any]] = {}
        self._grid(x, y)
        for mark in picture.marks:
            drawn.setdefault(mark.kind, []).append(self._mark(mark, x, y))
        for axis, ticks, limits in (
            (x, self.ink.xticks, self.ink.xlim),
            (y, self.ink.yticks, self.ink.ylim),
        ):
            ticks(list(_place(axis, axis.ticks)), [axis.text(v) for v in axis.ticks], self.target)
            limits(tuple(map(float, _place(axis, [axis.low, axis.high]))), self.target)
        self.ink.xlabel(x.label, self.target)
        self.ink.ylabel(_wrapped(y.label, " (", 34, self.backend), self.target)
        self.ink.title(_wrapped(picture.title, ": ", 46, self.backend), self.target)
        if any(mark.legend for mark in picture.marks):
            self._legend(alone)
        return drawn

    def _legend(self, alone: bool) -> None:
        """Below the plot: no place inside it is free for every data set."""
        if self.backend == "plotly":
            place = {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0}
            self.target.figure.update_layout(legend=place, template="plotly_white")
        elif self.backend == "bokeh":
            for legend in list(self.target.legend):
                self.target.center.remove(legend)
                self.target.add_layout(legend, "below")
        elif alone:
            handles, labels = self.target.get_legend_handles_labels()
            figure = self.target.figure
            figure.legend(handles, labels, loc="outside lower left", **_LEGEND)
        else:
            self.target.legend(loc="upper left", bbox_to_anchor=(0.0, -0.24), **_LEGEND)

    def _grid(self, x: Axis, y: Axis) -> None:
        xs, ys = (_place(axis, [axis.low, axis.high]) for axis in (x, y))
        for at in _place(x, x.ticks):
            self._line(np.array([at, at]), ys, RULE, 0.5, order=0)
        for at in _place(y, y.ticks):
            self._line(xs, np.array([at, at]), RULE, 0.5, order=0)

    def _mark(self, mark: Mark, x_axis: Axis, y_axis: Axis) -> Any:
        colour = COLOURS[mark.colour]
        x, y, upper = _place(x_axis, mark.x), _place(y_axis, mark.y), mark.upper
        if mark.kind == "bars":
            base = float(_place(y_axis, [y_axis.low])[0])
            # one outline that returns to the base between bars
            right, flat = _place(x_axis, upper), np.full(len(y), base)
            xs = np.stack([x, x, right, right], axis=1).ravel()
            tops = np.stack([flat, y, y, flat], axis=1).ravel()
            return self._fill(xs, np.full(len(xs), base), tops, colour, 0.5, mark.legend)
        if mark.kind == "band":
            return self._fill(x, y, _place(y_axis, upper), colour, 0.22, mark.legend)
        if mark.kind == "points":
            return self._points(x, y, colour, mark.legend)
        if mark.kind == "segments":
            # one line with gaps, so that a thousand strokes are one object
            ys = np.stack([y, _place(y_axis, upper), np.full(len(y), np.nan)], axis=1).ravel()
            return self._line(np.repeat(x, 3), ys, colour, 1.0, legend=mark.legend)
        if mark.kind == "across":
            xs = np.stack([x, _place(x_axis, upper), np.full(len(x), np.nan)], axis=1).ravel()
            return self._line(xs, np.repeat(y, 3), colour, 1.3, legend=mark.legend)
        if mark.kind == "text":
            return self._text(float(x[0]), float(y[0]), mark.text)
        width = {"line": 1.3, "dashed": 1.0, "thick": 3.5}[mark.kind]
        return self._line(x, y, colour, width, legend=mark.legend, dashed=mark.kind == "dashed")

    def _text(self, x: float, y: float, text: str) -> Any:
        own: dict[str, Any] = {"size": 10}
        if self.backend == "matplotlib":
            own = {"size": 7.0, "vertical_align": "center"}
        return self.ink.text(
            x, y, f" {text}", self.target, color=INK, horizontal_align="left", **own
        )

    def _line(
        self,
        x: FloatArray,
        y: FloatArray,
        colour: str,
        width: float,
        *,
        legend: str = "",
        dashed: bool = False,
        order: int = 2,
    ) -> Any:
        dash = {"matplotlib": "--", "plotly": "dash", "bokeh": "dashed"}[self.backend]
        solid = {"matplotlib": "-", "plotly": "solid", "bokeh": "solid"}[self.backend]
        extra = {"zorder": order, "clip_on": False} if self.backend == "matplotlib" else {}
        return self.ink.line(
            x,
            y,
            self.target,
            color=colour,
            width=width if self.backend == "matplotlib" else 1.5 * width,
            linestyle=dash if dashed else solid,
            **extra,
            **self._named(legend),
        )

    def _fill(
        self,
        x: FloatArray,
        low: FloatArray,
        high: FloatArray,
        colour: str,
        alpha: float,
        legend: str,
    ) -> Any:
        extra = {"linewidth": 0.0} if self.backend == "matplotlib" else {}
        return self.ink.fill_between_y(
            x,
            low,
            high,
            self.target,
            color=colour,
            alpha=alpha,
            **extra,
            **self._named(legend),
        )

    def _points(self, x: FloatArray, y: FloatArray, colour: str, legend: str) -> Any:
        extra = {"clip_on": False, "zorder": 3} if self.backend == "matplotlib" else {}
        return self.ink.scatter(
            x,
            y,
            self.target,
            color=colour,
            size=9.0 if self.backend == "matplotlib" else 7,
            **extra,
            **self._named(legend),
        )

    def _named(self, legend: str) -> dict[str, Any]:
        if not legend:
            return {}
        names: dict[str, dict[str, Any]] = {
            "matplotlib": {"label": legend},
            "plotly": {"name": legend, "showlegend": True},
            "bokeh": {"legend_label": legend},
        }
        return names[self.backend]


def _place(axis: Axis, values: object) -> FloatArray:
    """Values in the units of the drawing: their logarithms on a logarithmic axis."""
    array = np.asarray(values, dtype=float)
    return np.log10(np.maximum(array, axis.low)) if axis.log else array


def _wrapped(text: str, at: str, most: int, backend: str) -> str:
    """Two lines where one is too long for a column."""
    head, found, tail = text.partition(at)
    if len(text) <= most or not found or backend != "matplotlib":
        return text
    return f"{head}{at.rstrip()}\n{tail[:60]}" if at != " (" else f"{head}\n({tail}"
