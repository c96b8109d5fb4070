"""A picture as plain data: what is drawn, where, in which colour. Two renderers turn it into ink.

`plots.canvas` draws pictures with arviz-plots (matplotlib, plotly or bokeh), `report.chart` writes
them as SVG. Colours are numbers into a palette that the colour-blind can tell apart; 0 is neutral.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pcorrect.marginal import FloatArray
from pcorrect.plots.axes import Axis

#: More points than this are drawn smaller, and let others shine through.
CROWD = 400

Kind = Literal["band", "line", "dashed", "thick", "points", "segments", "across", "bars", "text"]


@dataclass(frozen=True)
class Mark:
    """Something drawn; all arrays have the shape (m,).

    Parameters
    ----------
    kind : str
    x, y : ndarray
        Of a band or segments, `y` is the lower end; of bars, the height over the end of the axis.
    upper : ndarray
        Upper ends of a band or of segments; right ends of bars and of segments across, whose left
        ends are `x`.
    colour : int
    legend : str
        Empty where the legend has no entry for it.
    text : str
        Of a text, which stands to the right of its point.
    """

    kind: Kind
    x: FloatArray
    y: FloatArray
    upper: FloatArray
    colour: int
    legend: str = ""
    text: str = ""


@dataclass
class Picture:
    """One panel; the methods draw in the order in which they are called.

    Parameters
    ----------
    title : str
        What it shows, and of what.
    x, y : Axis
    note : str
        How to read it: what lines, shades and dots are.
    height, width : float
        Relative to an ordinary picture.
    """

    title: str
    x: Axis
    y: Axis
    note: str = ""
    height: float = 1.0
    width: float = 1.0
    marks: list[Mark] = field(default_factory=list)
    hover: list[tuple[float, float, str]] = field(default_factory=list)

    def band(
        self, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: int, legend: str = ""
    ) -> None:
        """Area between two curves."""
        self._add("band", (x, low, high), colour, legend)

    def line(
        self,
        x: ArrayLike,
        y: ArrayLike,
        colour: int,
        legend: str = "",
        style: Literal["line", "dashed", "thick"] = "line",
    ) -> None:
        """A curve."""
        self._add(style, (x, y, y), colour, legend)

    def points(self, x: ArrayLike, y: ArrayLike, colour: int, legend: str = "") -> None:
        """Dots."""
        self._add("points", (x, y, y), colour, legend)

    def segments(
        self, x: ArrayLike, low: ArrayLike, high: ArrayLike, colour: int, legend: str = ""
    ) -> None:
        """Vertical strokes, one per x."""
        self._add("segments", (x, low, high), colour, legend)

    def segments_across(
        self, left: ArrayLike, right: ArrayLike, y: ArrayLike, colour: int, legend: str = ""
    ) -> None:
        """Horizontal strokes, one per y."""
        self._add("across", (left, y, right), colour, legend)

    def bars(
        self, left: ArrayLike, right: ArrayLike, height: ArrayLike, colour: int, legend: str = ""
    ) -> None:
        """Bars that stand on the lower end of the axis."""
        self._add("bars", (left, height, right), colour, legend)

    def horizontal(self, y: float, colour: int, legend: str = "") -> None:
        """A dashed line across."""
        self.line([self.x.low, self.x.high], [y, y], colour, legend, "dashed")

    def vertical(self, x: float, colour: int, legend: str = "") -> None:
        """A dashed line from bottom to top."""
        self.line([x, x], [self.y.low, self.y.high], colour, legend, "dashed")

    def region(self, left: float, right: float, colour: int, legend: str = "") -> None:
        """A shaded range of x."""
        low, high = self.y.low, self.y.high
        self.band([left, right], [low, low], [high, high], colour, legend)

    def text(self, x: float, y: float, text: str) -> None:
        """A label to the right of a point."""
        ends = (np.array([x]), np.array([y]), np.array([y]))
        self.marks.append(Mark("text", *ends, 0, text=text))

    def say(self, x: ArrayLike, y: ArrayLike, texts: Iterable[str]) -> None:
        """What a point says to the pointer, where the picture is interactive."""
        xs, ys = (np.atleast_1d(np.asarray(v, dtype=float)) for v in (x, y))
        for a, b, text in zip(xs, ys, texts, strict=True):
            if np.isfinite(a) and np.isfinite(b):
                self.hover.append((float(a), float(b), text))

    def _add(self, kind: Kind, values: tuple[ArrayLike, ...], colour: int, legend: str) -> None:
        """Keep the entries that are finite in all arrays; nothing is drawn of none."""
        arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, dtype=float)) for v in values))
        good = np.logical_and.reduce([np.isfinite(a) for a in arrays])
        if good.any():
            x, y, upper = (a[good] for a in arrays)
            self.marks.append(Mark(kind, x, y, upper, colour, legend))
