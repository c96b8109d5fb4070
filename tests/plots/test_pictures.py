"""Pictures as data: the numbers drawn are those of the API."""

from dataclasses import replace

import numpy as np

from pcorrect.adequacy.runs import check_runs
from pcorrect.comparison import rank
from pcorrect.planning import budget, precision_curve
from pcorrect.plots.comparison_pictures import ranking_picture
from pcorrect.plots.data_pictures import runs_picture
from pcorrect.plots.fit_pictures import (
    density_picture,
    forest_picture,
    posterior_picture,
    rootogram_picture,
)
from pcorrect.plots.plan_pictures import budget_picture, interval_picture, precision_picture
from tests.support.fits import fit_of, many_counts


def marks(picture, kind, colour=None):
    return [m for m in picture.marks if m.kind == kind and colour in (None, m.colour)]


def test_posterior_shades_the_interval_and_marks_the_mean(ordinary):
    picture = posterior_picture(ordinary, "x", 0.8, "hdi")
    for name, colour in (("mu", 1), ("score", 2)):
        (band,) = marks(picture, "band", colour)
        low, high = ordinary.marginals[name].interval(0.8, "hdi")
        np.testing.assert_allclose([band.x[0], band.x[-1]], [low, high])
    (line,) = marks(picture, "dashed")
    assert line.x[0] == ordinary.moments.mu
    assert "80 % highest-density interval" in picture.note


def test_posterior_density_has_the_right_mass(ordinary):
    picture = posterior_picture(ordinary, "x", 0.95, "eti")
    line = marks(picture, "line", 1)[0]
    mass = np.cumsum(line.y)
    mass /= mass[-1]
    marginal = ordinary.marginals["mu"]
    for prob in (0.1, 0.5, 0.9):
        at = np.interp(marginal.quantile(prob), line.x, mass)
        # smoothed by 7 points of 201: a few percent in the flanks
        np.testing.assert_allclose(at, prob, atol=0.03)


def test_forest_draws_the_table_of_p(ordinary):
    picture = forest_picture(ordinary, "x", 0.95, "eti")
    (line,), (band,) = marks(picture, "line"), marks(picture, "band")
    table = ordinary.prompts.table(0.95, "eti")
    order = np.argsort(table.mean, kind="stable")
    at = np.arange(1, 199)
    for drawn, value in ((line.y, table.mean), (band.y, table.lower), (band.upper, table.upper)):
        step = drawn[::2][np.searchsorted(line.x[::2], at, side="right") - 1]
        np.testing.assert_allclose(step, value[order], atol=1e-12)


def test_precision_draws_the_curve(ordinary):
    curve = precision_curve(ordinary)
    picture = precision_picture(curve, "x", 8)
    np.testing.assert_allclose(marks(picture, "line", 1)[0].y, curve.se_mu[1])
    np.testing.assert_allclose(marks(picture, "band", 2)[0].upper, curve.se_score[2])
    seen = marks(picture, "points", 1)[0]
    np.testing.assert_allclose(seen.y, curve.observed_se_mu[: len(seen.y)])
    floor = next(m for m in marks(picture, "dashed") if m.legend.startswith("floor"))
    assert floor.y[0] == curve.floor.value


def test_interval_by_k_draws_half_widths(ordinary):
    curve = precision_curve(ordinary)
    picture = interval_picture(curve, ordinary.moments.mu, "mu", "x", 8)
    (band,) = marks(picture, "band")
    np.testing.assert_allclose((band.upper - band.y) / 2, curve.half_width_mu[1])


def test_undefined_precision_says_why(case):
    curve = precision_curve(case)
    for picture in (
        precision_picture(curve, "x", 1),
        interval_picture(curve, case.moments.mu, "mu", "x", 1),
    ):
        if picture.y.label.startswith("mu"):
            assert 0 <= picture.y.low < picture.y.high <= 1
        said = [m.text for m in marks(picture, "text")]
        assert said == ([curve.unknown] if curve.unknown else [])


def test_budget_marks_the_best(ordinary):
    plan = budget(ordinary, total=5000, cost_prompt=10, cost_generation=1)
    (best,) = marks(budget_picture(plan, "x"), "points")
    assert (best.x[0], best.y[0]) == (plan.k, plan.se.value)


def test_only_llms_that_cannot_be_told_from_the_first_are_shaded():
    counts = np.repeat([[8], [6], [2]], 200, axis=1)
    found = rank(many_counts(counts, 10), draws=400)
    told_apart = found.told_apart.copy()
    told_apart[0, 1:] = [True, False]
    picture = ranking_picture(replace(found, told_apart=told_apart))
    # the first in place 3, the third in place 1
    assert [tuple(m.y) for m in marks(picture, "band")] == [(2.5, 2.5), (0.5, 0.5)]
    assert [m.legend for m in marks(picture, "band")] == ["cannot be told from the first", ""]


def test_k_used_is_said_as_it_was():
    curve = precision_curve(fit_of("unequal k"))
    legends = [m.legend for m in precision_picture(curve, "x", 60, "1 to 60").marks]
    assert "k used: 1 to 60" in legends


def test_runs_that_stand_out_have_another_colour():
    rng = np.random.default_rng(1)
    outcomes = (rng.random((300, 8)) < 0.5).astype(int)
    outcomes[:, 2] = rng.random(300) < 0.9
    check = check_runs(outcomes)
    picture = runs_picture(check, "x")
    (out,) = marks(picture, "points", 2)
    assert 2 in check.outstanding
    np.testing.assert_array_equal(out.x - 1, sorted(check.outstanding))
    np.testing.assert_allclose(out.y, check.effect[sorted(check.outstanding)])


def test_every_picture_of_every_case_is_finite_and_labelled(case):
    for picture in (
        posterior_picture(case, "x", 0.95, "eti"),
        density_picture(case, "x", 0.95),
        rootogram_picture(case, "x", 0.95),
        forest_picture(case, "x", 0.95, "eti"),
        precision_picture(precision_curve(case), "x", 1),
    ):
        assert picture.title
        assert picture.x.label
        assert picture.y.label
        assert all(np.isfinite([picture.x.low, picture.x.high, picture.y.low, picture.y.high]))
        for mark in picture.marks:
            assert np.isfinite(mark.x).all()
            assert np.isfinite(mark.y).all()
            assert np.isfinite(mark.upper).all()
