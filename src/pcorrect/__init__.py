"""Bayesian statistics for benchmark results with several generations per prompt.

The data flow, and the public names along it::

    read -> Generations -> counts -> Counts / PromptCounts
         -> moments                                   closed-form estimates
         -> fit -> xarray.DataTree (ArviZ) -> summary, save / load
         -> assess_beta                               can the Beta shape be trusted?
         -> paired_difference, rank, suite, …         comparing llms
         -> precision_curve, minimal_k, budget, …     how many generations are enough
         -> cluster, data_map, flag_prompts, …        answers, consistency, wrong keys
         -> plot_…                                    pictures

Importing the package is instant: each name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcorrect.adequacy.beta_shape import assess_beta
    from pcorrect.api import fit, fit_all, prior_predictive
    from pcorrect.comparison import (
        greedy_gap,
        paired_difference,
        pass_at_k,
        prompt_differences,
        randomness,
        rank,
        suite,
    )
    from pcorrect.consistency.clusters import cluster
    from pcorrect.consistency.effect import score_effect
    from pcorrect.consistency.flags import flag_prompts
    from pcorrect.consistency.tables import consistency_table, data_map
    from pcorrect.data import Counts, PromptCounts, RowReport
    from pcorrect.errors import ChoiceError, DataError, PcorrectError
    from pcorrect.generations import Generations
    from pcorrect.moment_estimates import Moments, moments, moments_from_table, run_gap
    from pcorrect.planning import (
        budget,
        minimal_k,
        next_prompts,
        power,
        precision_curve,
        stopping,
    )
    from pcorrect.plots import (
        plot_budget,
        plot_data_map,
        plot_density,
        plot_difference,
        plot_forest,
        plot_interval_by_k,
        plot_pairwise,
        plot_posterior,
        plot_precision,
        plot_ranking,
        plot_rootogram,
        plot_runs,
    )
    from pcorrect.priors import Priors
    from pcorrect.readers import answers, counts, from_frame, outcomes, read
    from pcorrect.simulation import simulate
    from pcorrect.storage import load, save
    from pcorrect.summaries import summary

# Module -> the public names it holds.
_HOLDS = {
    "readers": "read from_frame counts outcomes answers",
    "generations": "Generations",
    "data": "Counts PromptCounts RowReport",
    "errors": "PcorrectError DataError ChoiceError",
    "moment_estimates": "Moments moments moments_from_table run_gap",
    "priors": "Priors",
    "api": "fit fit_all prior_predictive",
    "summaries": "summary",
    "storage": "save load",
    "simulation": "simulate",
    "adequacy.beta_shape": "assess_beta",
    "comparison": (
        "paired_difference rank suite greedy_gap pass_at_k randomness prompt_differences"
    ),
    "consistency.clusters": "cluster",
    "consistency.tables": "consistency_table data_map",
    "consistency.flags": "flag_prompts",
    "consistency.effect": "score_effect",
    "planning": "precision_curve minimal_k budget power next_prompts stopping",
    "plots": (
        "plot_posterior plot_density plot_forest plot_rootogram plot_interval_by_k plot_precision "
        "plot_budget plot_difference plot_ranking plot_pairwise plot_data_map plot_runs"
    ),
}
_HOME = {name: module for module, names in _HOLDS.items() for name in names.split()}

__all__ = [*_HOME]
__version__ = importlib.metadata.version("pcorrect")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pcorrect' has no attribute {name!r}")
    if "IPython" in sys.modules:
        # results are shown by their summary from the first name that is used
        importlib.import_module("pcorrect.report.notebook").register()
    return getattr(importlib.import_module(f"pcorrect.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
