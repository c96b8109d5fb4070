r"""How much do the priors matter? Power scaling, by arviz-stats.

The prior (or the likelihood) is raised to a power near 1 by importance weights, and the change of
each parameter's posterior is measured by the cumulative Jensen-Shannon distance per halving
(Kallioinen, Paananen, Bürkner & Vehtari 2024, Statistics and Computing 34:57). A power of a density
depends on the parametrisation: a flat prior of mu would never move. Here priors are scaled as
densities of the logits, where

.. math:: \left(\mu^a (1 - \mu)^b\right)^c = \mu^{ca} (1 - \mu)^{cb}

so that Beta(a, b) becomes Beta(ca, cb): more or fewer pseudo-counts, and Beta(1, 1) moves too.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from pcorrect.cells import Cells
from pcorrect.engines import two_parameter
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.populations.beta import Shape
from pcorrect.populations.inflated_beta import WEIGHT_PRIOR
from pcorrect.populations.population import Population
from pcorrect.priors import Priors
from pcorrect.result import Fit

#: Above this the posterior moves (the threshold of the paper and of ArviZ).
THRESHOLD = 0.05

_KNOWN = ("beta_bernoulli", "beta_binomial", "dp_beta", "inflated_beta", "logit_normal")
# Draws of the population at a time.
_BLOCK = 6_000_000


@dataclass(frozen=True)
class Sensitivity:
    """Power-scaling sensitivity of each parameter.

    Parameters
    ----------
    prior, likelihood : dict of str to float
        Change of the posterior per halving or doubling of the prior's, or the likelihood's, weight.
    diagnosis : dict of str to str
        "none" (`prior` below .05), "prior and data may conflict" (both above), or "prior decides"
        (the prior above, the likelihood below).
    verdict : str
        One sentence.
    """

    prior: Mapping[str, float]
    likelihood: Mapping[str, float]
    diagnosis: Mapping[str, str]
    verdict: str


def prior_sensitivity(fit: Fit) -> Sensitivity:
    """Power-scaling sensitivity of mu, score, sigma and rho to the priors of the model.

    Parameters
    ----------
    fit : Fit
        By a built-in model. For `dp_beta` the priors of the centring Beta's mean and spread are
        scaled; alpha, log-uniform, has no pseudo-counts.

    Returns
    -------
    Sensitivity
        What the data do not identify is left out.

    Raises
    ------
    PcorrectError
        The prior of the model is not known here.
    """
    population = fit.population
    if population is None or fit.model not in _KNOWN:
        raise PcorrectError(
            f"prior sensitivity of model {fit.model!r}: its log prior is not known; use one of "
            f"{list(_KNOWN)}, or arviz_stats.psense with a log_prior group of your own"
        )
    cells = Cells.from_counts(fit.counts.n_correct, fit.counts.n_generations)
    shape = fit.draws["mu"].shape
    names = [n for n in ("mu", "score", "sigma", "rho") if n not in fit.not_identified]
    return power_scaling(
        {name: fit.draws[name] for name in names},
        log_prior(fit, population).reshape(shape),
        log_likelihood(population, cells).reshape(shape),
    )


def power_scaling(
    draws: Mapping[str, FloatArray], log_prior: FloatArray, log_likelihood: FloatArray
) -> Sensitivity:
    """Power-scaling sensitivity from draws, and the densities at them.

    Parameters
    ----------
    draws : dict of ndarray, each of shape (chain, draw)
    log_prior, log_likelihood : ndarray, shape (chain, draw)
        Up to constants.
    """
    # Seconds to import, and only needed here.
    import xarray as xr

    arviz: Any = importlib.import_module("arviz_stats.psense")

    def group(values: Mapping[str, FloatArray]) -> xr.Dataset:
        return xr.Dataset({name: (("chain", "draw"), value) for name, value in values.items()})

    tree = xr.DataTree.from_dict(
        {
            "/posterior": group(draws),
            "/log_prior": group({"prior": log_prior}),
            "/log_likelihood": group({"n_correct": log_likelihood}),
        }
    )
    found = {
        part: {
            name: float(value) for name, value in arviz.psense(tree, group=part).data_vars.items()
        }
        for part in ("prior", "likelihood")
    }
    diagnosis = {name: _diagnose(found["prior"][name], found["likelihood"][name]) for name in draws}
    return Sensitivity(
        {name: found["prior"][name] for name in draws},
        {name: found["likelihood"][name] for name in draws},
        diagnosis,
        _sentence(diagnosis, found["prior"]),
    )


def log_prior(fit: Fit, population: Population) -> FloatArray:
    """Log prior density of the model's parameters, unbounded, at each draw, shape (D,)."""
    if fit.model == "logit_normal":
        m, t = (np.ravel(fit.draws[name]) for name in ("logit_mean", "logit_sd"))
        # the inverse of `location_scale`
        latent = np.pi / np.sqrt(3)
        r = t / np.hypot(t, latent)
        logit_q = m * latent / np.hypot(t, latent)
        shape = Shape(logit_q, np.log(r) - np.log(latent**2 / np.hypot(t, latent) ** 2 / (1 + r)))
        return two_parameter.log_prior(shape, fit.priors)
    value = _log_prior_of_beta(population, fit.priors)
    if fit.model == "inflated_beta":
        shares = np.concatenate([population.weight, population.beta_weight[:, None]], axis=1)
        value = value + np.log(np.maximum(shares, 1e-300)) @ np.array(WEIGHT_PRIOR)
    return value


def _log_prior_of_beta(population: Population, priors: Priors) -> FloatArray:
    """Log prior of the Beta's mean and spread as a density of their logits, shape (D,)."""
    nu = population.a + population.b
    r = 1 / np.sqrt(1 + nu)
    # 1 - r = nu / (1 + nu) / (1 + r), without cancellation
    rest = nu / (1 + nu) / (1 + r)
    (a, b), (c, d) = priors.mu, priors.spread
    return np.asarray(
        a * np.log(population.a / nu)
        + b * np.log(population.b / nu)
        + c * np.log(r)
        + d * np.log(rest)
        - betaln(a, b)
        - betaln(c, d)
    )


def log_likelihood(population: Population, cells: Cells) -> FloatArray:
    """Log probability of all counts under each draw of the population, shape (D,)."""
    out = np.empty(len(population))
    step = max(1, _BLOCK // (len(cells.n_correct) * (population.atom.shape[1] + 1)))
    for i in range(0, len(out), step):
        block = np.arange(i, min(i + step, len(out)))
        by_cell = population.take(block).log_prob(cells.n_correct, cells.n_generations)
        out[block] = by_cell @ cells.n_prompts
    return out


def _diagnose(prior: float, likelihood: float) -> str:
    if prior < THRESHOLD:
        return "none"
    return "prior and data may conflict" if likelihood >= THRESHOLD else "prior decides"


def _sentence(diagnosis: Mapping[str, str], prior: Mapping[str, float]) -> str:
    moved = [name for name, found in diagnosis.items() if found != "none"]
    if not moved:
        return "The priors hardly matter: halving or doubling their weight moves nothing."
    parts = [f"{name} ({prior[name]:.2f}, {diagnosis[name]})" for name in moved]
    return (
        f"The priors matter for {', '.join(parts)}: state them, or refit with others "
        "(--prior-mu, --prior-spread) and report both."
    )
