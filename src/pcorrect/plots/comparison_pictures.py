"""Pictures of comparisons: a difference, a ranking, all pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pcorrect.comparison import PairedDifference, Ranking
from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear
from pcorrect.plots.fit_pictures import MU
from pcorrect.plots.picture import Picture

_BINS = 40
# Characters of a name beside an axis.
_LONGEST = 34


def difference_picture(result: PairedDifference) -> Picture:
    """Posterior of the difference of mu, with the region that counts as no difference."""
    draws = result.draws_mu
    low, high = np.quantile(draws, [0.0005, 0.9995]) if len(draws) else (0.0, 0.0)
    if not low < high:
        low, high = low - 0.01, high + 0.01
    edges = np.linspace(low, high, _BINS + 1)
    height = np.histogram(draws, edges)[0] / max(len(draws), 1)
    level = words.level(result.ci_prob, result.ci_kind)
    picture = Picture(
        f"Posterior of the difference of mu: {result.a} − {result.b}",
        linear([*edges, *result.rope, 0.0], "difference of mu, points", in_percent, pad=0.02),
        linear(height, "share of draws", lambda _: "", bounds=(0, None)),
        height=0.8,
    )
    picture.region(*result.rope, 3, "counts as no difference (ROPE)")
    picture.bars(edges[:-1], edges[1:], height, MU, "posterior (new prompts like these)")
    picture.vertical(0.0, 0)
    ends = [result.mu.lower, result.mu.upper]
    picture.line(ends, [0.0, 0.0], 2, level, "thick")
    text = (
        f"{words.points(result.mu.mean)} points, {level} "
        f"{words.points_interval(*ends)}; P({result.a} better) {words.equals(result.p_better)}"
    )
    picture.say([result.mu.mean], [float(height.max(initial=0.0)) / 2], [text])
    return picture


def ranking_picture(result: Ranking) -> Picture:
    """Mu of every llm with its interval, best first, and P(best)."""
    size = len(result.llm)
    level = words.level(result.ci_prob, result.ci_kind)
    y = np.arange(size, 0, -1.0)
    names = dict(zip(y, result.llm, strict=True))
    y_axis = linear(
        [], "", lambda v: words.shortened(names.get(v, ""), _LONGEST), bounds=(0.4, size + 1.5)
    )
    x_axis = linear(
        [*result.lower, *result.upper], "mu, % correct (new prompts like these)", in_percent, most=4
    )
    picture = Picture(
        f"Ranking: {words.listed(list(result.benchmark), 2)}",
        x_axis,
        replace(y_axis, ticks=tuple(y)),
        f"Dots: posterior mean; strokes: {level}; shaded: cannot be told from the first.",
        0.07 * size + 0.25,
        # names take the room of the plot
        1.0 if max(map(len, result.llm)) <= 16 else 1.5,
    )
    legend = "cannot be told from the first"
    alike = np.concatenate([[True], ~result.told_apart[0, 1:]])
    for i in np.flatnonzero(alike) if alike.sum() > 1 else ():
        picture.band([x_axis.low, x_axis.high], [y[i] - 0.5] * 2, [y[i] + 0.5] * 2, 0, legend)
        legend = ""
    picture.segments_across(result.lower, result.upper, y, MU, f"mean and {level}")
    for at, p_best in zip(y, result.p_best, strict=True):
        picture.text(x_axis.high, at, words.probability(float(p_best)))
    picture.text(x_axis.high, size + 1.0, "P(best)")
    picture.points(result.mean, y, MU)
    picture.say(
        result.mean,
        y,
        [
            f"{name}: mu {words.percent(float(m))} % ({words.interval(float(a), float(b))} %), "
            f"rank {r:.1f}, P(best) {words.equals(float(p))}"
            for name, m, a, b, r, p in zip(
                result.llm,
                result.mean,
                result.lower,
                result.upper,
                result.rank_mean,
                result.p_best,
                strict=True,
            )
        ],
    )
    return picture
