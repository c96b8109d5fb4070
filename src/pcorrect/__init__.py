"""Bayesian statistics for benchmark results with several generations per prompt.

The data flow, and the public names along it::

    read -> Generations -> counts -> Counts / PromptCounts
         -> moments                                   closed-form estimates
         -> fit -> xarray.DataTree (ArviZ) -> summary, save / load

Importing the package is instant: each name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcorrect.api import fit, fit_all, prior_predictive
    from pcorrect.data import Counts, PromptCounts, RowReport
    from pcorrect.errors import ChoiceError, DataError, PcorrectError
    from pcorrect.generations import Generations
    from pcorrect.moment_estimates import Moments, moments, moments_from_table, run_gap
    from pcorrect.priors import Priors
    from pcorrect.readers import counts, from_frame, read
    from pcorrect.simulation import simulate
    from pcorrect.storage import load, save
    from pcorrect.summaries import summary

_HOME = {
    "read": "readers",
    "from_frame": "readers",
    "counts": "readers",
    "Generations": "generations",
    "Counts": "data",
    "PromptCounts": "data",
    "RowReport": "data",
    "PcorrectError": "errors",
    "DataError": "errors",
    "ChoiceError": "errors",
    "Moments": "moment_estimates",
    "moments": "moment_estimates",
    "moments_from_table": "moment_estimates",
    "run_gap": "moment_estimates",
    "Priors": "priors",
    "fit": "api",
    "fit_all": "api",
    "prior_predictive": "api",
    "summary": "summaries",
    "save": "storage",
    "load": "storage",
    "simulate": "simulation",
}

__all__ = [*_HOME]
__version__ = importlib.metadata.version("pcorrect")


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pcorrect' has no attribute {name!r}")
    return getattr(importlib.import_module(f"pcorrect.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
