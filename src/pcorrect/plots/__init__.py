"""Pictures of results; every `plot_*` returns an arviz-plots PlotCollection.

matplotlib draws by default, plotly and bokeh where they are installed. Sizes fit one column of a
paper; labels name the estimand, and the kind and level of every interval.
"""

from pcorrect.plots.of_comparison import plot_difference, plot_pairwise, plot_ranking
from pcorrect.plots.of_data import plot_data_map, plot_runs
from pcorrect.plots.of_fit import plot_density, plot_forest, plot_posterior, plot_rootogram
from pcorrect.plots.of_plan import plot_budget, plot_interval_by_k, plot_precision

__all__ = [
    "plot_budget",
    "plot_data_map",
    "plot_density",
    "plot_difference",
    "plot_forest",
    "plot_interval_by_k",
    "plot_pairwise",
    "plot_posterior",
    "plot_precision",
    "plot_ranking",
    "plot_rootogram",
    "plot_runs",
]
