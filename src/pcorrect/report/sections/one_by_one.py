"""The charts of every fit, folded away, where there are many."""

from __future__ import annotations

from pcorrect.plots import words
from pcorrect.report.chart import density_chart, forest, rootogram
from pcorrect.report.markup import Markup, tag
from pcorrect.report.material import Material
from pcorrect.report.sections.adequacy import runs_chart
from pcorrect.report.sections.enough import curve_chart


def build(material: Material) -> Markup | None:
    """One folded block per fit."""
    if material.inline:
        return None
    if not material.charts:
        return tag(
            "p",
            f"{words.count(len(material.fits), 'fit')} are too many to draw one by one: report on "
            "fewer llms or benchmarks for their charts.",
        )
    options = material.options
    blocks = []
    for fit, plan, found in zip(material.fits, material.plans, material.checks, strict=True):
        name = material.name(fit)
        low, high = fit.marginals["mu"].interval(options.ci_prob, options.ci_kind)
        charts = [
            density_chart(fit, material),
            rootogram(fit, material),
            forest(fit, material),
            curve_chart(plan, name),
            runs_chart(found, name),
        ]
        blocks.append(
            tag(
                "details",
                tag("summary", name, " ", tag("small", f"mu {words.interval(low, high)} %")),
                tag("div", charts, class_="charts"),
            )
        )
    return tag("div", blocks, class_="folded")
