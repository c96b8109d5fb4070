"""Fit a model to the counts of one llm: choose the engine, run it, collect what it knows."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from pcorrect import adapters
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.priors import Priors
from pcorrect.result import PARAMETERS, Fit, not_identified

# Built-in models: the engines that can run them (the first is the default), and the PyMC program
# that NUTS runs.
_ENGINES = {
    "dp_beta": ("gibbs", "nuts"),
    "beta_bernoulli": ("exact", "nuts"),
    "beta_binomial": ("exact", "nuts"),
    "inflated_beta": ("ensemble", "nuts"),
    "logit_normal": ("exact", "nuts"),
}
_PROGRAM = {"beta_bernoulli": "beta_binomial"}
DEFAULT_MODEL = "dp_beta"

__all__ = ["DEFAULT_MODEL", "PARAMETERS", "Fit", "choose_engine", "not_identified", "run_fit"]


def choose_engine(model: str, engine: str | None) -> str:
    """The engine to run, checked against what the model has.

    Raises
    ------
    PcorrectError
        The model is unknown, or has no such engine.
    """
    own = model.endswith(".py")
    if not own and model not in _ENGINES:
        raise PcorrectError(
            f"no model {model!r}: choose from {sorted(_ENGINES)} or give a .py file"
        )
    able = ("nuts",) if own else _ENGINES[model]
    if engine is None:
        return able[0]
    if engine not in able:
        raise PcorrectError(f"model {model!r} has no engine {engine!r}: choose from {list(able)}")
    return engine


def run_fit(
    counts: PromptCounts,
    *,
    model: str = DEFAULT_MODEL,
    engine: str | None = None,
    priors: Priors | None = None,
    seed: int = 0,
    chains: int = 4,
    draws: int | None = None,
    progress: bool = False,
) -> Fit:
    """Fit one llm on one benchmark.

    Parameters
    ----------
    counts : PromptCounts
    model : str
        Name of a built-in model, or path of a PyMC program.
    engine : str, optional
        Default: the fastest that the model has.
    priors : Priors, optional
    seed : int
        All randomness comes from it.
    chains : int
    draws : int, optional
        Posterior draws per chain; default: 1000 for NUTS, 500 for the other engines.
    progress : bool
        Show a progress bar (NUTS).

    Raises
    ------
    PcorrectError
        A choice is unknown, or there is nothing to fit.
    """
    engine = choose_engine(model, engine)
    priors = priors or Priors()
    if draws is None:
        draws = 1000 if engine == "nuts" else 500
    # R-hat compares the halves of the chains, and a half needs two draws for a variance
    for name, value, least in (("chains", chains, 1), ("draws", draws, 4)):
        if value < least:
            raise PcorrectError(f"{name} must be at least {least}, got {value}")
    if not isinstance(seed, Integral) or seed < 0:
        raise PcorrectError(f"seed must be a whole number of at least 0, got {seed}")
    if not np.any(counts.n_generations > 0):
        raise PcorrectError(
            f"llm {counts.llm!r} on benchmark {counts.benchmark!r}: no scored generation to fit"
        )
    if engine == "nuts":
        program = _PROGRAM.get(model, model)
        return adapters.fit_nuts(counts, model, program, priors, seed, chains, draws, progress)
    if engine == "gibbs":
        return adapters.fit_gibbs(counts, model, priors, seed, chains, draws)
    if model in ("inflated_beta", "logit_normal"):
        return adapters.fit_family(counts, model, engine, priors, seed, chains, draws)
    return adapters.fit_exact(counts, model, priors, seed, chains, draws)
