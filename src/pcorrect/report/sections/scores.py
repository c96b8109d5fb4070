"""What each llm scores, for both questions that a score can answer."""

from __future__ import annotations

import numpy as np

from pcorrect.fitting import PARAMETERS, Fit
from pcorrect.plots import words
from pcorrect.plots.axes import Axis, in_percent, linear
from pcorrect.plots.fit_pictures import MU, SCORE, posterior_picture, room
from pcorrect.report.chart import chart
from pcorrect.report.markup import Content, Markup, tag
from pcorrect.report.material import Material
from pcorrect.report.tables import Cell, Column, ruler, table, whiskers

# More fits than this are summed up in one sentence, not one each.
_SENTENCES = 4


def verdict(material: Material) -> list[Content]:
    """The scores in sentences."""
    if len(material.fits) <= _SENTENCES:
        return [_sentence(fit, material) for fit in material.fits]
    out: list[Content] = []
    for benchmark in material.benchmarks[:_SENTENCES]:
        fits = [fit for fit in material.fits if fit.counts.benchmark == benchmark]
        means = [fit.marginals["mu"].mean for fit in fits]
        best, worst = fits[int(np.argmax(means))], fits[int(np.argmin(means))]
        n = [len(fit.counts.prompt) for fit in fits]
        up_to = "" if min(n) == max(n) else "up to "
        out.append(
            [
                f"{words.count(len(fits), 'llm')} on ",
                tag("b", benchmark),
                f" ({up_to}{words.count(max(n), 'prompt')}): from {words.percent(min(means))} % "
                f"({worst.counts.llm}) to {words.percent(max(means))} % ({best.counts.llm}) "
                "correct is expected on new prompts like these.",
            ]
        )
    more = len(material.benchmarks) - _SENTENCES
    if more > 0:
        out.append(f"{words.count(more, 'more benchmark')} in the table of scores.")
    return out


def _sentence(fit: Fit, material: Material) -> Content:
    options = material.options
    mu, score = (
        fit.marginals[name].interval(options.ci_prob, options.ci_kind) for name in ("mu", "score")
    )
    counts = fit.counts
    k = counts.n_generations
    used = words.generations_used(int(k.min()), int(k.max()))
    n = len(counts.prompt)
    these = "exactly this prompt" if n == 1 else f"exactly these {n:,} prompts"
    return [
        tag("b", counts.llm),
        f" on {counts.benchmark}: ",
        tag("b", f"{words.percent(fit.marginals['mu'].mean, mu[1] - mu[0])} %"),
        f" correct is expected on new prompts like these ({100 * options.ci_prob:g} % interval "
        f"{words.interval(*mu)} %). On {these}, unlimited generations would give "
        f"{words.interval(*score)} % ({used} of each {'was' if k.max() == 1 else 'were'} seen).",
    ]


def build(material: Material) -> Markup:
    """Table of scores, and the posteriors of a few fits."""
    options = material.options
    kind = words.level(options.ci_prob, options.ci_kind)
    short = f"{100 * options.ci_prob:g} % {options.ci_kind}"
    ends = [
        end
        for fit in material.fits
        for name in ("mu", "score")
        for end in fit.marginals[name].interval(options.ci_prob, options.ci_kind)
    ]
    axis = linear(ends, "% correct", in_percent, bounds=room(np.array(ends)), most=4)
    several = len(material.benchmarks) > 1
    columns = [
        Column("llm", number=False),
        *([Column("benchmark", number=False)] if several else []),
        Column(f"mu, % ({short})", f"posterior mean of mu ({PARAMETERS['mu']}) and its {kind}"),
        Column(
            f"score, % ({short})", f"posterior mean of score ({PARAMETERS['score']}) and its {kind}"
        ),
        Column(ruler(axis), f"both intervals: mu above, score below ({kind})", wide=True),
        Column("prompts", "number of prompts"),
        Column("k", "scored generations per prompt"),
        Column("sigma, %", f"posterior mean of sigma: {PARAMETERS['sigma']}"),
        Column("mean, %", "mean over prompts of the shares correct, the moment estimate"),
        Column("SE new", "standard error of the mean for new prompts, in points"),
        Column("SE these", "standard error of the mean for exactly these prompts, in points"),
    ]
    fits = list(material.fits)
    if len(fits) > _SENTENCES:
        # best first; a few stay in the order of the data, as everywhere else
        fits.sort(
            key=lambda fit: (
                material.benchmarks.index(fit.counts.benchmark),
                -fit.marginals["mu"].mean,
            )
        )
    rows = [_row(fit, material, several, axis) for fit in fits]
    body = [
        tag(
            "p",
            "Two questions, two answers. ",
            tag("b", "mu", class_="c1"),
            " is the expected score on ",
            tag("em", PARAMETERS["mu"]),
            ": its error has a part that only more prompts reduce. ",
            tag("b", "score", class_="c2"),
            " is what unlimited generations would give on ",
            tag("em", PARAMETERS["score"]),
            f": more generations make it exact. Intervals are posterior {kind}s; mean and SE are "
            "closed-form moment estimates beside them.",
        ),
        table(columns, rows, name="scores-table", about="scores"),
    ]
    if material.inline:
        charts = [
            chart(posterior_picture(fit, material.name(fit), options.ci_prob, options.ci_kind))
            for fit in material.fits
        ]
        body.append(tag("div", charts, class_="charts"))
    return tag("div", body)


def _row(fit: Fit, material: Material, several: bool, axis: Axis) -> list[Cell | Content]:
    options, closed = material.options, fit.moments
    k = fit.counts.n_generations
    cells: list[Cell | Content] = [fit.counts.llm]
    if several:
        cells.append(fit.counts.benchmark)
    parts = []
    for name, colour in (("mu", MU), ("score", SCORE)):
        marginal = fit.marginals[name]
        low, high = marginal.interval(options.ci_prob, options.ci_kind)
        text = f"{words.percent(marginal.mean, high - low)} ({words.interval(low, high)})"
        cells.append(Cell(text, marginal.mean, low, high))
        parts.append((low, marginal.mean, high, colour))
    cells.append(Cell(whiskers(axis, parts)))
    cells.append(Cell(f"{len(k):,}", len(k)))
    cells.append(Cell(words.generations_used(int(k.min()), int(k.max())), int(k.max())))
    if "sigma" in fit.not_identified:
        cells.append("not identified")
    else:
        sigma = fit.marginals["sigma"]
        cells.append(Cell(words.percent(sigma.mean), sigma.mean))
    for value in (closed.mu, closed.se_mu, closed.se_score):
        cells.append(Cell(words.percent(value, None if value is closed.mu else value), value))
    return cells
