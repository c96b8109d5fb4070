"""Pictures of one fit: posteriors, population, counts, prompts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pcorrect.fitting import PARAMETERS, Fit
from pcorrect.marginal import CiKind, FloatArray
from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear
from pcorrect.plots.picture import Picture
from pcorrect.plots.shapes import (
    Frequencies,
    SortedPrompts,
    density,
    frequencies,
    sorted_prompts,
)

#: Colours of the two estimands, in every picture.
MU, SCORE = 1, 2
# A step of the sorted prompts names so many of its prompts.
_NAMES = 5
# So many steps are drawn; with very unequal k there can be as many as prompts.
_STEPS = 400
# Points of a posterior density, and the sd of its smoothing in points.
_POINTS = 201
_SMOOTH = 9.0


def posterior_picture(fit: Fit, name: str, ci_prob: float, ci_kind: CiKind) -> Picture:
    """Posterior densities of mu and score, and the moment estimate."""
    curves = []
    for parameter, colour in (("mu", MU), ("score", SCORE)):
        marginal = fit.marginals[parameter]
        prob = np.linspace(0.0005, 0.9995, 400)
        x, height = _density(marginal.quantile(prob), prob)
        curves.append((parameter, colour, marginal, x, height / (height.max() or 1.0)))
    xs = np.concatenate([x for *_, x, _ in curves])
    level = words.level(ci_prob, ci_kind)
    picture = Picture(
        f"Posterior of mu and score: {name}",
        linear(xs, "% correct", in_percent, bounds=room(xs), pad=0.02),
        # The two may differ a hundredfold in height.
        linear([0, 1], "density, scaled", lambda _: "", bounds=(0, 1.05)),
        f"Shaded: {level}.",
        0.8,
    )
    for parameter, colour, marginal, x, height in curves:
        low, high = marginal.interval(ci_prob, ci_kind)
        inside = np.linspace(low, high, 101)
        picture.band(inside, np.zeros(101), np.interp(inside, x, height), colour)
        picture.line(x, height, colour, f"{parameter}: {PARAMETERS[parameter]}")
        text = (
            f"{parameter}: mean {words.percent(marginal.mean, high - low)} %, {level} "
            f"{words.interval(low, high)} %"
        )
        picture.say([marginal.mean], np.interp([marginal.mean], x, height), [text])
    if fit.moments.mu is not None:
        picture.vertical(fit.moments.mu, 0, "mean of the data (moment estimate)")
    return picture


def room(values: FloatArray) -> tuple[float | None, float | None]:
    """Ends of an axis of shares: 0 or 1 where `values` come near them."""
    low, high = float(np.min(values)), float(np.max(values))
    near = 0.1 * (high - low)
    return (0.0 if low <= near else None, 1.0 if 1 - high <= near else None)


def _density(value: FloatArray, prob: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Density from quantiles, smoothed a little."""
    low, high = float(value[0]), float(value[-1])
    if not low < high:
        return np.array([low - 1e-6, low, low + 1e-6]), np.array([0.0, 1.0, 0.0])
    grid = np.linspace(low, high, _POINTS)
    steps = np.diff(np.interp(grid, value, prob))
    raw = np.interp(np.arange(_POINTS), np.arange(_POINTS - 1) + 0.5, steps)
    reach = int(3 * _SMOOTH)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _SMOOTH) ** 2)
    # reflected, so that a density that is high at 0 or 1 stays high there
    padded = np.pad(raw, reach, mode="reflect")
    return grid, np.convolve(padded, kernel / kernel.sum(), mode="valid")


def density_picture(fit: Fit, name: str, ci_prob: float) -> Picture:
    """Fitted population of p, and the observed shares."""
    found = density(fit, ci_prob=ci_prob)
    tops = found.observed if found.mean is None else np.append(found.observed, found.mean)
    # Where the data do not tell the shape the interval of a class reaches far up: it may be cut.
    top = 2.2 * float(tops.max(initial=0.0))
    if found.upper is not None:
        top = min(top, 1.05 * max(float(found.upper.max()), float(tops.max())))
    picture = Picture(
        f"Density of P(correct) over prompts: {name}",
        linear([0, 1], "P(correct), %", in_percent, bounds=(0, 1)),
        linear([], "density", bounds=(0, top), most=4),
    )
    edges = found.observed_edges
    picture.bars(edges[:-1], edges[1:], found.observed, 0, "observed shares (with their noise)")
    if found.mean is None or found.lower is None or found.upper is None:
        return picture
    steps = np.repeat(found.edges, 2)[1:-1]
    low, middle, high = (np.repeat(x, 2) for x in (found.lower, found.mean, found.upper))
    picture.band(steps, low, high, MU)
    legend = f"fitted population: posterior mean, {100 * ci_prob:g} % interval (eti)"
    picture.line(steps, middle, MU, legend)
    shares = np.stack([found.mean, found.lower, found.upper]) / len(found.mean)
    picture.say(
        found.middle,
        found.mean,
        [
            f"P(correct) {in_percent(a)} to {in_percent(b)} %: {words.percent(m)} % of prompts "
            f"({words.interval(x, y)} %)"
            for a, b, (m, x, y) in zip(found.edges[:-1], found.edges[1:], shares.T, strict=True)
        ],
    )
    return picture


def rootogram_picture(fit: Fit, name: str, ci_prob: float) -> Picture:
    """Observed and predicted numbers of prompts by count, on a square-root scale."""
    found = frequencies(fit, ci_prob=ci_prob)
    tops = found.observed if found.upper is None else np.append(found.upper, found.observed)
    y_axis = linear(np.sqrt(tops), "prompts (square-root scale)", bounds=(0, None))
    y_axis = replace(
        y_axis, ticks=_round_squares(y_axis.high), text=lambda root: f"{root * root:,.0f}"
    )
    exact = found.unit == "correct of k"
    x_axis = linear(
        [],
        f"correct of {words.count(found.k, 'generation')}" if exact else "share correct, %",
        None if exact else in_percent,
        bounds=(float(found.left[0]), float(found.right[-1])),
    )
    if exact:
        x_axis = replace(x_axis, ticks=tuple(t for t in x_axis.ticks if t == int(t)))
    picture = Picture(f"Counts of correct generations: {name}", x_axis, y_axis)
    gap = 0.1 * (found.right - found.left)
    picture.bars(found.left + gap, found.right - gap, np.sqrt(found.observed), 0, "observed")
    texts = [f"{class_name(found, i)}: {n:,.0f} observed" for i, n in enumerate(found.observed)]
    y = found.observed
    if found.mean is not None and found.lower is not None and found.upper is not None:
        low, high = np.sqrt(found.lower), np.sqrt(found.upper)
        legend = f"predicted: mean, {100 * ci_prob:g} % interval (eti)"
        picture.segments(found.middle, low, high, MU, legend)
        picture.points(found.middle, np.sqrt(found.mean), MU)
        y = found.mean
        texts = [
            f"{text}, {m:,.1f} predicted ({a:,.0f} to {b:,.0f})"
            for text, m, a, b in zip(texts, found.mean, found.lower, found.upper, strict=True)
        ]
    picture.say(found.middle, np.sqrt(y), texts)
    return picture


def class_name(found: Frequencies, i: int) -> str:
    """A class of counts in words."""
    a, b = found.left[i], found.right[i]
    if found.unit != "correct of k":
        return f"{in_percent(a)} to {in_percent(b)} % correct"
    first, last = int(a + 0.5), min(int(b - 0.5), found.k)
    return f"{first if first == last else f'{first} to {last}'} of {found.k} correct"


def _round_squares(top: float) -> tuple[float, ...]:
    """Tick places (square roots) of round numbers up to the square of `top`."""
    most = top * top
    power = 10.0 ** np.floor(np.log10(max(most, 1.0)))
    largest = next((m * power for m in (5.0, 2.0, 1.0) if m * power <= most), 0.5)
    values = [0.0, largest * 0.04, largest * 0.2, largest]
    return tuple(float(np.sqrt(v)) for v in dict.fromkeys(np.round(values)) if v <= most)


def forest_picture(fit: Fit, name: str, ci_prob: float, ci_kind: CiKind) -> Picture:
    """Every p_i with its interval, sorted."""
    found = sorted_prompts(fit, ci_prob=ci_prob, ci_kind=ci_kind)
    n = int(found.last[-1])
    x_axis = linear([], "prompts, hardest first", "{:,.0f}".format, bounds=(0.5, n + 0.5))
    picture = Picture(
        f"P(correct) of every prompt, sorted: {name}",
        replace(x_axis, ticks=tuple(t for t in x_axis.ticks if t == int(t) and t >= 1)),
        linear([0, 1], "P(correct), %", in_percent, bounds=(0, 1)),
    )
    keep = np.arange(0, len(found.mean), max(1, len(found.mean) // _STEPS))
    # A step that is left out is bridged by the one before it.
    first = found.first[keep] - 0.5
    xs = np.stack([first, np.append(first[1:], n + 0.5)], axis=1).ravel()
    low, middle, high = (np.repeat(x[keep], 2) for x in (found.lower, found.mean, found.upper))
    picture.band(xs, low, high, MU, words.level(ci_prob, ci_kind))
    picture.line(xs, middle, MU, "posterior mean of p")
    picture.say(
        (found.first[keep] + found.last[keep]) / 2,
        found.mean[keep],
        [_step_text(fit, found, int(i)) for i in keep],
    )
    return picture


def _step_text(fit: Fit, found: SortedPrompts, i: int) -> str:
    names = [str(fit.counts.prompt[j])[:60] for j in found.prompts[i][:_NAMES]]
    more = len(found.prompts[i]) - len(names)
    which = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
    return (
        f"{found.n_correct[i]} of {found.n_generations[i]} correct: p = "
        f"{words.percent(found.mean[i])} % ({words.interval(found.lower[i], found.upper[i])} %); "
        f"{which}"
    )
