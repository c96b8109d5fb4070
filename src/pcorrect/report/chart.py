"""Pictures as inline SVG that stretches with the page, with labels in HTML that do not.

The drawing has 1000 x 1000 units and is stretched to the width of the screen; strokes keep their
width, and points are strokes of length zero. Labels lie beside it as text of the page's size: a
phone shows the same chart, readable. A chart carries what its points say as data; the page's
script shows it on hover.
"""

from __future__ import annotations

import numpy as np

from pcorrect.fitting import Fit
from pcorrect.marginal import FloatArray
from pcorrect.plots.fit_pictures import density_picture, forest_picture, rootogram_picture
from pcorrect.plots.picture import CROWD, Mark, Picture
from pcorrect.report.markup import Content, Markup, data_block, tag
from pcorrect.report.material import Material

_UNITS = 1000.0
# Height of an ordinary chart, in CSS pixels.
_HEIGHT = 220
_CLASS = {"line": "line", "dashed": "line dashed", "thick": "line thick", "segments": "line"}
_KEY = {"points": "dot", "segments": "line", "across": "line"}


def chart(picture: Picture, note: Content = None) -> Markup:
    """The picture as a figure element; `note` stands below the picture's own."""
    x, y = picture.x, picture.y
    grid = [
        tag("path", class_="grid", d=f"M{_UNITS * at:.6g} 0V1000") for at in x.place(x.ticks)
    ] + [
        tag("path", class_="grid", d=f"M0 {_UNITS * (1 - at):.6g}H1000") for at in y.place(y.ticks)
    ]
    drawing = tag(
        "svg",
        grid,
        [_shape(mark, picture) for mark in picture.marks if mark.kind != "text"],
        viewBox="0 0 1000 1000",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    labels = [
        tag("span", x.text(v), class_="tick x", style=f"left:{100 * at:.2f}%")
        for v, at in zip(x.ticks, x.place(x.ticks), strict=True)
    ]
    labels += [
        tag("span", y.text(v), class_="tick y", style=f"bottom:{100 * at:.2f}%")
        for v, at in zip(y.ticks, y.place(y.ticks), strict=True)
    ]
    labels += [_label(mark, picture) for mark in picture.marks if mark.kind == "text"]
    keys = [_key(mark) for mark in picture.marks if mark.legend]
    hover = [
        [
            round(100 * float(x.place(a)), 2),
            round(100 * (1 - float(y.place(b))), 2),
            text,
        ]
        for a, b, text in picture.hover
    ]
    notes = [part for part in (picture.note, note) if part]
    return tag(
        "figure",
        tag("figcaption", picture.title),
        tag("div", keys, class_="legend") if keys else None,
        tag("div", y.label, class_="label y"),
        tag(
            "div",
            drawing,
            labels,
            class_="plot",
            style=f"height:{_HEIGHT * picture.height:.0f}px",
        ),
        tag("div", x.label, class_="label x"),
        [tag("p", part, class_="note") for part in notes],
        data_block(hover, class_="hover") if hover else None,
        class_="chart",
        role="group",
        aria_label=picture.title,
    )


def density_chart(fit: Fit, material: Material) -> Markup:
    """Fitted population of p, and the observed shares."""
    return chart(density_picture(fit, material.name(fit), material.options.ci_prob))


def rootogram(fit: Fit, material: Material) -> Markup:
    """Observed and predicted numbers of prompts by count."""
    return chart(rootogram_picture(fit, material.name(fit), material.options.ci_prob))


def forest(fit: Fit, material: Material) -> Markup:
    """Every p_i with its interval, sorted."""
    options = material.options
    return chart(forest_picture(fit, material.name(fit), options.ci_prob, options.ci_kind))


def _shape(mark: Mark, picture: Picture) -> Markup:
    xs = _units(picture.x.place(mark.x))
    ys = _UNITS - _units(picture.y.place(mark.y))
    if mark.kind == "bars":
        rights = _units(picture.x.place(mark.upper))
        path = "".join(
            f"M{a:g} 1000V{c:g}H{b:g}V1000Z" for a, b, c in zip(xs, rights, ys, strict=True)
        )
        return tag("path", class_=f"bars c{mark.colour}", d=path)
    if mark.kind == "across":
        rights = _units(picture.x.place(mark.upper))
        path = "".join(f"M{a:g} {b:g}H{c:g}" for a, b, c in zip(xs, ys, rights, strict=True))
        return tag("path", class_=f"line c{mark.colour}", d=path)
    uppers = _UNITS - _units(picture.y.place(mark.upper))
    if mark.kind == "band":
        path = f"M{_polyline(xs, ys)}L{_polyline(xs[::-1], uppers[::-1])}Z"
        return tag("path", class_=f"band c{mark.colour}", d=path)
    if mark.kind == "points":
        path = "".join(f"M{a:g} {b:g}h0" for a, b in zip(xs, ys, strict=True))
        crowded = " small" if len(xs) > CROWD else ""
        return tag("path", class_=f"dots{crowded} c{mark.colour}", d=path)
    if mark.kind == "segments":
        path = "".join(f"M{a:g} {b:g}V{c:g}" for a, b, c in zip(xs, ys, uppers, strict=True))
    else:
        path = f"M{_polyline(xs, ys)}"
    return tag("path", class_=f"{_CLASS[mark.kind]} c{mark.colour}", d=path)


def _units(share: FloatArray) -> FloatArray:
    return np.round(_UNITS * share, 1)


def _polyline(xs: FloatArray, ys: FloatArray) -> str:
    return "L".join(f"{a:g} {b:g}" for a, b in zip(xs, ys, strict=True))


def _label(mark: Mark, picture: Picture) -> Markup:
    left = 100 * float(picture.x.place(mark.x[0]))
    bottom = 100 * float(picture.y.place(mark.y[0]))
    return tag(
        "span",
        mark.text,
        class_="at",
        style=f"left:{left:.2f}%;bottom:{bottom:.2f}%",
    )


def _key(mark: Mark) -> Markup:
    kind = _KEY.get(mark.kind, mark.kind)
    return tag("span", tag("i", class_=f"key {kind} c{mark.colour}"), mark.legend)
