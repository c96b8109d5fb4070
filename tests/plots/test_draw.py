"""Every plot is drawn: all edge cases with matplotlib, ordinary ones with the other backends."""

import importlib.util
import warnings

import numpy as np
import pandas as pd
import pytest

import pcorrect.plots as plots
from pcorrect.adequacy.runs import check_runs
from pcorrect.comparison import paired_difference, rank
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.fitting import run_fit
from pcorrect.planning import budget, precision_curve
from tests.support.fits import CASES, fit_of, many_counts

OF_FIT = [
    plots.plot_posterior,
    plots.plot_density,
    plots.plot_rootogram,
    plots.plot_forest,
    plots.plot_precision,
    plots.plot_interval_by_k,
]


@pytest.fixture(scope="module", autouse=True)
def quiet_import():
    """ArviZ and matplotlib may warn when they are imported; that is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz_plots  # noqa: F401
        import matplotlib as mpl

        mpl.use("Agg")


@pytest.fixture(autouse=True)
def close():
    """Close figures, so that they do not pile up."""
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def counts(llms, n=20, k=4, *, outcome=None):
    rng = np.random.default_rng(2)
    s = rng.binomial(k, rng.beta(2, 1, (llms, n)))
    return many_counts(s if outcome is None else np.full((llms, n), k * outcome), k)


def drawn(collection):
    """Draw for good; the sizes and texts of the figure."""
    figure = collection.get_viz("figure")
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("plot", OF_FIT, ids=lambda p: p.__name__)
@pytest.mark.parametrize("name", CASES)
def test_every_plot_of_every_fit(plot, name):
    figure = drawn(plot(fit_of(name)))
    assert np.isclose(figure.get_size_inches()[0], 3.4)
    for axes in figure.axes:
        assert axes.get_xlabel()
        assert axes.get_title(loc="left")
        assert all(np.isfinite([*axes.get_xlim(), *axes.get_ylim()]))


@pytest.mark.parametrize("plot", OF_FIT, ids=lambda p: p.__name__)
def test_nothing_is_cut_off(plot):
    figure = drawn(plot(fit_of("ordinary")))
    renderer = figure.canvas.get_renderer()
    width, height = figure.canvas.get_width_height()
    boxes = [text.get_window_extent(renderer) for axes in figure.axes for text in _texts(axes)]
    boxes += [legend.get_window_extent(renderer) for legend in figure.legends]
    for box in boxes:
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1


def _texts(axes):
    texts = [axes.xaxis.label, axes.yaxis.label, axes._left_title, *axes.texts]
    texts += [*axes.get_xticklabels(), *axes.get_yticklabels()]
    return [text for text in texts if text.get_text() and text.get_visible()]


@pytest.mark.parametrize("result", ["mixed", "all right", "all wrong", "same", "k = 1"])
def test_differences(result):
    outcome = {"all right": 1, "all wrong": 0}.get(result)
    data = counts(2, k=1 if result == "k = 1" else 4, outcome=outcome)
    a, b = (str(name) for name in data.llm)
    found = paired_difference(data, a, a if result == "same" else b, model="beta_bernoulli")
    drawn(plots.plot_difference(found))


@pytest.mark.parametrize("llms", [2, 5, 45])
@pytest.mark.parametrize("outcome", [None, 0, 1])
def test_rankings(llms, outcome):
    found = rank(counts(llms, outcome=outcome), draws=500)
    for plot in (plots.plot_ranking, plots.plot_pairwise):
        drawn(plot(found))


SIZES = {
    "one prompt": (1, 4, None),
    "ten thousand prompts": (10_000, 4, None),
    "one generation": (50, 1, None),
    "all right": (50, 4, 1),
    "all wrong": (50, 4, 0),
}


@pytest.mark.parametrize("name", SIZES)
def test_comparisons_runs_and_maps_of_every_size(name):
    from pcorrect.consistency.flags import flag_prompts
    from pcorrect.consistency.grouping import group_answers
    from pcorrect.readers import from_frame

    n, k, outcome = SIZES[name]
    data = counts(2, n, k, outcome=outcome)
    a, b = (str(llm) for llm in data.llm)
    drawn(plots.plot_difference(paired_difference(data, a, b, model="beta_bernoulli", draws=500)))
    ranking = rank(data, draws=500)
    for plot in (plots.plot_ranking, plots.plot_pairwise):
        drawn(plot(ranking))
    right = np.arange(k) < data.n_correct[0][:, None]
    drawn(plots.plot_runs(check_runs(right.astype(int), replicates=99)))
    i, j = np.indices(right.shape).reshape(2, -1)
    answer = np.where(right.ravel(), "7", "8").astype(object)
    rows = {"llm": a, "prompt": i, "generation": j, "answer": answer, "target": "7"}
    table = pd.DataFrame({**rows, "correct": right.ravel().astype(int)})
    drawn(plots.plot_data_map(flag_prompts(group_answers(from_frame(table)))))


def test_a_budget_is_drawn_or_refused_in_words():
    options = {"total": 500_000, "cost_prompt": 10, "cost_generation": 1}
    drawn(plots.plot_budget(budget(fit_of("ten thousand prompts"), **options)))
    for name in ("one prompt", "one generation", "all right", "all wrong"):
        with pytest.raises(PcorrectError, match=r"not in the data .* plan from assumed values"):
            budget(fit_of(name), **options)


def test_long_names_are_inside():
    two, five = counts(2), rank(counts(5), draws=500)
    a, b = (str(name) for name in two.llm)
    difference = paired_difference(two, a, b, model="beta_bernoulli")
    for collection in (
        plots.plot_difference(difference),
        plots.plot_ranking(five),
        plots.plot_pairwise(five),
    ):
        figure = drawn(collection)
        renderer = figure.canvas.get_renderer()
        width, _ = figure.canvas.get_width_height()
        for text in _texts(figure.axes[0]):
            assert text.get_window_extent(renderer).x0 >= -1
            assert text.get_window_extent(renderer).x1 <= width + 1


def test_budget_and_curve():
    fit = fit_of("ordinary")
    drawn(plots.plot_budget(budget(fit, total=5000, cost_prompt=10, cost_generation=1)))
    drawn(plots.plot_budget(budget(fit, half_width=0.02)))
    drawn(plots.plot_precision(precision_curve(fit, ci_prob=0.5)))


def test_runs():
    rng = np.random.default_rng(1)
    for outcomes in (rng.integers(0, 2, (30, 6)), np.ones((3, 2), int), np.zeros((1, 1), int)):
        drawn(plots.plot_runs(check_runs(outcomes, replicates=99)))


def test_data_map():
    from pcorrect.consistency.flags import flag_prompts
    from pcorrect.consistency.grouping import group_answers
    from pcorrect.consistency.tables import data_map
    from pcorrect.readers import from_frame
    from tests.support.results import frame, results

    groups = group_answers(from_frame(frame(results())))
    for found in (flag_prompts(groups), flag_prompts(groups, rule="paper"), data_map(groups)):
        drawn(plots.plot_data_map(found))


def test_the_collection_holds_what_was_drawn():
    collection = plots.plot_interval_by_k(fit_of("ordinary"))
    assert collection.backend == "matplotlib"
    for name in ("mu", "score"):
        axes = collection.get_viz("plot", name)
        assert collection.viz["band"][name].values[0] in axes.collections


def test_figsize_and_defaults_are_left_alone():
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    figure = drawn(plots.plot_forest(fit_of("ordinary"), figsize=(5, 2)))
    np.testing.assert_allclose(figure.get_size_inches(), (5, 2))
    assert mpl.rcParams["font.size"] == before


@pytest.mark.parametrize("backend", ["plotly", "bokeh"])
def test_other_backends(backend):
    needed = {"plotly": "webcolors", "bokeh": "bokeh"}[backend]
    if importlib.util.find_spec(backend) is None or importlib.util.find_spec(needed) is None:
        pytest.skip(f"arviz-plots[{backend}] is not installed")
    for name in ("ordinary", "one prompt", "all wrong", "one generation"):
        for plot in OF_FIT:
            assert plot(fit_of(name), backend=backend).backend == backend
    ranking = rank(counts(4), draws=200)
    for plot in (plots.plot_ranking, plots.plot_pairwise):
        assert plot(ranking, backend=backend).backend == backend


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "paper"}, "no backend 'paper'"),
        ({"ci_prob": 95}, "ci_prob must lie between 0 and 1"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(PcorrectError, match=message):
        plots.plot_posterior(fit_of("ordinary"), **options)


def test_nothing_heavy_until_a_plot_is_asked_for():
    import subprocess
    import sys

    code = "import pcorrect.plots, sys; print(*{m.split('.')[0] for m in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"matplotlib", "arviz_plots", "xarray", "pandas", "pymc"}


def test_dollars_in_names_are_dollars(tmp_path):
    counts = PromptCounts.from_arrays([3, 5, 8], 8, llm="cost-$1_{x-$2")
    result = run_fit(counts, model="beta_bernoulli", draws=50)
    for plot in (plots.plot_posterior, plots.plot_rootogram, plots.plot_precision):
        plot(result).get_viz("figure").savefig(tmp_path / "x.png")
