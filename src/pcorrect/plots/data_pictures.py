"""Pictures of the data: the map of P(correct) against consistency, and runs that should agree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pcorrect.adequacy.runs import RunCheck
from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear
from pcorrect.plots.fit_pictures import MU
from pcorrect.plots.picture import Picture

if TYPE_CHECKING:
    from pcorrect.consistency.flags import FlaggedPrompt, Flags
    from pcorrect.consistency.tables import PromptTable

# Points are moved by up to this share of the axis, for equal ones to be seen.
_JITTER = 0.01
# Up to so many prompts have their intervals drawn.
_INTERVALS = 150


def map_picture(flags: Flags, name: str) -> Picture:
    """P(correct) against consistency, with the prompts whose key may be wrong."""
    shown = [p for p in flags.prompts if p.p_correct is not None and p.consistency is not None]
    x = np.array([p.p_correct for p in shown], dtype=float)
    y = np.array([p.consistency for p in shown], dtype=float)
    flagged = np.array([p.flagged for p in shown], dtype=bool)
    picture = _empty(y, name, len(flags.prompts) - len(shown))
    if not shown:
        return picture
    x, y = _spread(x, y, picture)
    picture.points(x[~flagged], y[~flagged], MU, "prompt")
    rule = (
        f"key may be wrong (P ≥ {flags.threshold:g})"
        if flags.rule == "latent"
        else "flagged by the paper's rule"
    )
    picture.points(x[flagged], y[flagged], 2, rule)
    picture.say(x, y, [flag_text(p) for p in shown])
    return picture


def table_picture(table: PromptTable, name: str) -> Picture:
    """The same from a data map with uncertainty, one point per row."""
    every: list[dict[str, Any]] = list(table.rows())
    rows = [r for r in every if r["consistency"] is not None and r["p_mean"] is not None]
    x = np.array([row["p_mean"] for row in rows], dtype=float)
    y = np.array([row["consistency"] for row in rows], dtype=float)
    picture = _empty(y, name, len(every) - len(rows))
    if not rows:
        return picture
    few = len(rows) <= _INTERVALS
    if few:
        low, high = (
            np.array([row[key] for row in rows], dtype=float) for key in ("p_lower", "p_upper")
        )
        picture.segments_across(low, high, y, 0, "equal-tailed interval of p")
    else:
        x, y = _spread(x, y, picture)
    picture.points(x, y, MU, "posterior mean of p" if few else "prompt")
    picture.say(
        x,
        y,
        [
            f"{str(row['prompt'])[:60]}: p = {words.percent(row['p_mean'])} %, "
            f"S = {words.fixed(row['consistency'])}, "
            f"most frequent answer {str(row['dominant'])[:40]!r}"
            for row in rows
        ],
    )
    return picture


def flag_text(prompt: FlaggedPrompt) -> str:
    """What is known about a prompt, in a line."""
    text = f"{prompt.prompt[:60]}: {words.percent(prompt.p_correct)} % correct"
    if prompt.consistency is not None:
        text += f", S = {words.fixed(prompt.consistency)}"
    if prompt.p_mislabelled is not None:
        text += f"; P(mislabelled) {words.equals(prompt.p_mislabelled)}"
    if prompt.rival is not None:
        text += (
            f"; key {str(prompt.key)[:40]!r}, rival {prompt.rival[:40]!r}, most frequent with "
            f"{prompt.support} of {words.count(prompt.n_llms, 'llm')}"
        )
    return text


def _empty(y: np.ndarray, name: str, missing: int) -> Picture:
    bottom = float(np.floor(2 * y.min(initial=-0.5)) / 2)
    caption = (
        "Suspect prompts lie at the top left: always the same answer, and never the key. Equal "
        "points are moved apart a little."
    )
    if missing:
        one = f"{missing} prompts are not shown: S needs two answers, and P(correct) a score."
        caption = f"{caption} {one}" if len(y) else one
    return Picture(
        f"Data map: {name}",
        linear([], "P(correct), %", in_percent, bounds=(-0.02, 1.02)),
        linear([], "consistency S (0: always one answer)", bounds=(bottom - 0.03, 0.03)),
        caption,
        1.25,
    )


def _spread(x: np.ndarray, y: np.ndarray, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
    """Equal points moved apart."""
    rng = np.random.default_rng(0)
    moved = []
    for value, axis in ((x, picture.x), (y, picture.y)):
        step = _JITTER * (axis.high - axis.low)
        moved.append(np.clip(value + rng.uniform(-step, step, len(value)), axis.low, axis.high))
    return moved[0], moved[1]


def runs_picture(check: RunCheck, name: str) -> Picture:
    """How far each run stands from what its prompts get on average."""
    runs = np.arange(1, len(check.effect) + 1)
    label = "run (generation number)"
    if check.numbers != tuple(runs):
        label = f"run, in order (generations {check.numbers[0]} to {check.numbers[-1]})"
    seen = check.n_by_run > 0
    effect = np.where(seen, check.effect, np.nan)
    half = check.gap_limit / 2
    reach = 1.15 * max(half, float(np.nanmax(np.abs(effect), initial=0.0))) or 0.01
    x_axis = linear([], label, bounds=(0.4, len(runs) + 0.6), most=10)
    picture = Picture(
        f"Runs of the benchmark: {name}",
        replace(x_axis, ticks=tuple(t for t in x_axis.ticks if t == int(t) and t >= 1)),
        linear([], "points from the prompts' means", in_percent, bounds=(-reach, reach)),
        "Shaded: as high as a gap between best and worst run that 1 in 100 sets of exchangeable "
        "runs exceeds.",
    )
    picture.band([x_axis.low, x_axis.high], [-half] * 2, [half] * 2, 0, "99 % limit of the gap")
    picture.horizontal(0.0, 0)
    out = np.isin(runs - 1, check.outstanding)
    picture.points(runs[~out], effect[~out], MU, "run")
    picture.points(runs[out], effect[out], 2, "stands out")
    picture.say(
        runs,
        effect,
        [
            f"run {j}: {words.percent(float(mean))} % of {n:,} correct, "
            f"{words.points(float(d))} points from its prompts' means (p = {p:.2g})"
            for j, mean, n, d, p in zip(
                check.numbers, check.mean, check.n_by_run, check.effect, check.p_run, strict=True
            )
        ],
    )
    return picture
