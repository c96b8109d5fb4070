"""Pictures of checks: runs that should agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pcorrect.adequacy.runs import RunCheck
from pcorrect.plots import words
from pcorrect.plots.axes import in_percent, linear
from pcorrect.plots.fit_pictures import MU
from pcorrect.plots.picture import Picture


def runs_picture(check: RunCheck, name: str) -> Picture:
    """How far each run stands from what its prompts get on average."""
    runs = np.arange(1, len(check.effect) + 1)
    seen = check.n_by_run > 0
    effect = np.where(seen, check.effect, np.nan)
    half = check.gap_limit / 2
    reach = 1.15 * max(half, float(np.nanmax(np.abs(effect), initial=0.0))) or 0.01
    x_axis = linear([], "run (generation number)", bounds=(0.4, len(runs) + 0.6), most=8)
    picture = Picture(
        f"Runs of the benchmark: {name}",
        replace(x_axis, ticks=tuple(t for t in x_axis.ticks if t == int(t) and t >= 1)),
        linear([], "points from the prompts' means", in_percent, bounds=(-reach, reach)),
        "Shaded: as high as the gap between best and worst run is in 99 of 100 exchangeable sets.",
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
                runs, check.mean, check.n_by_run, check.effect, check.p_run, strict=True
            )
        ],
    )
    return picture
