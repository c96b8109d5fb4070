"""One plot of a backend: marks of a picture through the neutral functions of arviz-plots."""

from __future__ import annotations

from importlib import import_module
from textwrap import wrap
from typing import Any

import numpy as np

from pcorrect.marginal import FloatArray
from pcorrect.plots import words
from pcorrect.plots.axes import Axis
from pcorrect.plots.picture import CROWD, Mark, Picture

#: Neutral grey, then the palette of Okabe and Ito: colours that the colour-blind can tell apart.
COLOURS = ("#767d85", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
INK, RULE = "#24292f", "#dfe3e8"
_LEGEND: dict[str, Any] = {"borderaxespad": 0.0, "handlelength": 1.4, "labelspacing": 0.25}


class Panel:
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
        beside = any(mark.kind == "text" and mark.x[0] >= x.high for mark in picture.marks)
        for axis, ticks, limits in (
            (x, self.ink.xticks, self.ink.xlim),
            (y, self.ink.yticks, self.ink.ylim),
        ):
            ticks(list(_place(axis, axis.ticks)), [axis.text(v) for v in axis.ticks], self.target)
            low, high = map(float, _place(axis, [axis.low, axis.high]))
            if self.backend == "bokeh" and axis is x and beside:
                high += 0.15 * (high - low)  # bokeh cuts what stands beside the frame
            limits((low, high), self.target)
        self.ink.xlabel(x.label, self.target)
        label, title = y.label, picture.title
        if self.backend == "matplotlib":  # the others draw for a wide screen
            label, title = _wrapped(label, " (", 34), _wrapped(title, ": ", 46)
        self.ink.ylabel(label, self.target)
        self.ink.title(title, self.target)
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
        extra: dict[str, Any] = {}
        if self.backend == "matplotlib":
            extra = {"clip_on": False, "zorder": 3}
        # an area, but bokeh's is a diameter
        size = {"matplotlib": 9.0, "plotly": 50.0, "bokeh": 7.0}[self.backend]
        if len(x) > CROWD:
            size, extra["alpha"] = size / 2, 0.5
        return self.ink.scatter(
            x,
            y,
            self.target,
            color=colour,
            size=size,
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


def _wrapped(text: str, at: str, width: int) -> str:
    """Lines that fit a column, broken at `at` first, then where there is a blank; three at most."""
    if len(text) <= width:
        return text
    head, found, tail = text.partition(at)
    lines = wrap(head + found.rstrip(" ("), width)
    lines += wrap(found.strip(" :") + tail, width)
    return "\n".join([*lines[:2], words.shortened(" ".join(lines[2:]), width)]).rstrip()
