"""The charts of one fit."""

from __future__ import annotations

from pcorrect.fitting import Fit
from pcorrect.plots.fit_pictures import density_picture, forest_picture, rootogram_picture
from pcorrect.report.chart import chart
from pcorrect.report.markup import Markup
from pcorrect.report.material import Material


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
