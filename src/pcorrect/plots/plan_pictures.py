"""Pictures of planning: precision against generations, and what a budget buys."""

from __future__ import annotations

import numpy as np

from pcorrect.fitting import PARAMETERS
from pcorrect.planning import BudgetPlan, PrecisionCurve
from pcorrect.plots import words
from pcorrect.plots.axes import Axis, in_percent, linear, logarithmic
from pcorrect.plots.fit_pictures import MU, SCORE
from pcorrect.plots.picture import Picture

# A standard error below this share of the largest one is not worth the height of the picture.
_REACH = 300


def precision_picture(curve: PrecisionCurve, name: str, k_used: int = 0, used: str = "") -> Picture:
    """Standard errors against k, with the floor of mu and what was observed.

    Parameters
    ----------
    curve : PrecisionCurve
    name : str
    k_used : int
        Where the line stands that marks the k used; 0 for none.
    used : str
        The k used in words, where it differs between prompts.
    """
    prob = f"{100 * curve.ci_prob:g} %"
    k = curve.k.astype(float)
    floor = curve.floor
    drawn = (curve.se_mu, curve.se_score, curve.observed_se_mu, curve.observed_se_score)
    values = np.concatenate([*(x.ravel() for x in drawn), [floor.value]])
    values = values[np.isfinite(values) & (values > 0)]
    least = float(max(values.min(), values.max() / _REACH)) if len(values) else 0.01
    picture = Picture(
        f"Standard error against k: {name}",
        _k_axis(k, k_used),
        logarithmic(np.maximum(values, least), "standard error, points", _points),
        f"Lines: posterior median; shaded: its {words.level(curve.ci_prob)}; dots: average over "
        "all subsets of your generations.",
    )
    for estimand, se, seen, colour in (
        ("mu", curve.se_mu, curve.observed_se_mu, MU),
        ("score", curve.se_score, curve.observed_se_score, SCORE),
    ):
        legend = f"{estimand}: {PARAMETERS[estimand]}"
        picture.band(k, se[0], np.where(se[2] > least, se[2], np.nan), colour)
        # what lies below the picture is left out, not drawn at its lower end
        picture.line(k, np.where(se[1] >= least, se[1], np.nan), colour, legend)
        picture.points(k, np.where(seen >= least, seen, np.nan), colour)
        picture.say(
            k,
            se[1],
            [
                f"{legend}, k = {one:,}: SE {words.percent(m, m)} points ({prob} interval "
                f"{words.percent(a, m)} to {words.percent(b, m)})"
                + (f"; in your data {words.percent(d, m)}" if np.isfinite(d) else "")
                for one, a, m, b, d in zip(curve.k, *se, seen, strict=True)
            ],
        )
    if np.isfinite(floor.value) and floor.value > least:
        picture.horizontal(floor.value, MU, "floor of mu, sigma / √n")
    if k_used:
        picture.vertical(float(k_used), 0, f"k used: {used or k_used}")
    _say_unknown(picture, curve)
    return picture


def _say_unknown(picture: Picture, curve: PrecisionCurve) -> None:
    """Why there is little or nothing to see."""
    if curve.unknown:
        left = picture.x.low * (picture.x.high / picture.x.low) ** 0.15
        middle = picture.y.low + 0.9 * (picture.y.high - picture.y.low)
        if picture.y.log:
            middle = picture.y.low * (picture.y.high / picture.y.low) ** 0.9
        picture.text(float(left), float(middle), curve.unknown)


def interval_picture(
    curve: PrecisionCurve, mean: float, estimand: str, name: str, k_used: int = 0
) -> Picture:
    """The interval that k generations give around the mean, predicted and observed."""
    colour = MU if estimand == "mu" else SCORE
    k = curve.k.astype(float)
    half = getattr(curve, f"half_width_{estimand}")
    se, seen = getattr(curve, f"se_{estimand}"), getattr(curve, f"observed_se_{estimand}")
    # the same factor turns a standard error into half a width at every k
    with np.errstate(invalid="ignore"):
        ratio = half[1] / se[1]
    factor = float(np.nanmean(ratio)) if np.isfinite(ratio).any() else np.nan
    level = f"{100 * curve.ci_prob:g} %"
    # a share has nowhere to go beyond 0 and 1, nor has its axis
    widest = float(np.nan_to_num([half[2], factor * seen]).max()) or 1.0
    picture = Picture(
        f"{level} interval of {estimand} against k: {name}",
        _k_axis(k, k_used),
        linear(
            [],
            f"{estimand}, % correct ({PARAMETERS[estimand]})",
            in_percent,
            bounds=(max(mean - 1.1 * widest, 0.0), min(mean + 1.1 * widest, 1.0)),
        ),
        f"Shaded: the {level} interval that k generations are predicted to give (posterior median "
        "of its width); strokes: average over all subsets of your generations.",
    )
    low, high = np.clip(mean - half[1], 0, 1), np.clip(mean + half[1], 0, 1)
    picture.band(k, low, high, colour, "predicted")
    observed = factor * seen
    picture.segments(
        k, np.clip(mean - observed, 0, 1), np.clip(mean + observed, 0, 1), colour, "observed"
    )
    picture.points(np.where(np.isfinite(observed), k, np.nan), np.full(len(k), mean), colour)
    if estimand == "mu" and np.isfinite(curve.floor.value):
        for sign in (-1, 1):
            picture.horizontal(
                float(np.clip(mean + sign * factor * curve.floor.value, 0, 1)),
                colour,
                "any k (floor)" if sign == 1 else "",
            )
    _say_unknown(picture, curve)
    return picture


def budget_picture(plan: BudgetPlan, name: str) -> Picture:
    """Standard error of mu for each way to spend the budget (or to reach the target)."""
    k = plan.ks.astype(float)
    level = words.level(plan.ci_prob)
    # so far out nobody looks: the curve is drawn to eight times the best k
    shown = k <= max(16, 8 * plan.k)
    k, ses, ns, costs = k[shown], plan.ses[:, shown], plan.ns[shown], plan.costs[shown]
    picture = Picture(
        f"Prompts or generations: {name}",
        logarithmic(k, "k, generations per prompt", "{:,.0f}".format),
        linear(ses, "standard error of mu (new prompts), points", _points, pad=0.1),
        f"Line: posterior median; shaded: its {level}.",
    )
    picture.band(k, ses[0], ses[2], MU)
    picture.line(k, ses[1], MU, "SE of mu")
    best = f"best: {plan.n:,} prompts, k = {plan.k:,}"
    picture.points([float(plan.k)], [plan.se.value], SCORE, best)
    few = np.unique(np.geomspace(1, len(k), 40).astype(int)) - 1
    picture.say(
        k[few],
        ses[1, few],
        [
            f"k = {one:,.0f}, {n:,} prompts, cost {cost:,.0f}: SE {words.percent(m, m)} points "
            f"({words.percent(a, m)} to {words.percent(b, m)})"
            for one, n, cost, a, m, b in zip(k[few], ns[few], costs[few], *ses[:, few], strict=True)
        ],
    )
    return picture


def _k_axis(k: np.ndarray, k_used: int) -> Axis:
    """Powers of two have labels, unless they crowd the k used."""
    ticks = [one for one in k if one == k_used or not k_used or abs(np.log2(one / k_used)) > 0.6]
    return logarithmic(k, "k, generations per prompt", "{:,.0f}".format, ticks)


def _points(value: float) -> str:
    return f"{100 * value:.3g}"
