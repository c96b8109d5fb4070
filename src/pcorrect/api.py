"""From results to a posterior in one call."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pcorrect.data import UNSCORED, Counts, PromptCounts, each_llm
from pcorrect.engines.gibbs import STICKS
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.marginal import check_draws
from pcorrect.planning.curve import add_planning
from pcorrect.populations.population import FloatArray, Population
from pcorrect.posterior import to_datatree
from pcorrect.priors import Priors
from pcorrect.readers import Generations

if TYPE_CHECKING:
    import xarray as xr


def fit(
    data: Any,
    *,
    llm: str | None = None,
    benchmark: str | None = None,
    model: str = DEFAULT_MODEL,
    engine: str | None = None,
    priors: Priors | None = None,
    seed: int = 0,
    chains: int = 4,
    draws: int | None = None,
    p_draws: bool | None = None,
    posterior_predictive: bool = False,
    log_likelihood: bool = False,
    progress: bool = False,
    **reading: Any,
) -> xr.DataTree:
    """Fit one llm on one benchmark.

    Parameters
    ----------
    data : path, list of paths, data frame, Generations, Counts or PromptCounts
        Results; see `read` for what files and frames may look like.
    llm, benchmark : str, optional
        Which one, where the data hold several.
    model : str
        A built-in model, or the path of a PyMC program with a function ``build(counts)``.
    engine : {"exact", "gibbs", "ensemble", "nuts"}, optional
        Default: the fastest that the model has.
    priors : Priors, optional
        Default: flat in mu, and in sigma given mu.
    seed : int
        All randomness comes from it: the same seed gives the same result.
    chains : int
    draws : int, optional
        Posterior draws per chain; default: 1000 for NUTS, 500 for the other engines.
    p_draws : bool, optional
        Store the draws of every p_i; default: where they take less than 256 MB.
    posterior_predictive, log_likelihood : bool
        Add these groups, for `arviz.plot_ppc_rootogram`, `arviz.loo` and their like.
    progress : bool
        Show a progress bar (NUTS).
    **reading
        Options of `read`, such as ``columns`` or ``scorer``.

    Returns
    -------
    xarray.DataTree
        ArviZ groups; ``posterior`` holds mu, score, sigma, rho and p[prompt], ``planning`` the
        precision against the number of generations (`precision_curve`).

    Raises
    ------
    DataError
        A file or value breaks a rule.
    ChoiceError
        Several llms or benchmarks, and none chosen.
    PcorrectError
        A choice is unknown.
    """
    counts = select(data, llm=llm, benchmark=benchmark, **reading)
    result = run_fit(
        counts,
        model=model,
        engine=engine,
        priors=priors,
        seed=seed,
        chains=chains,
        draws=draws,
        progress=progress,
    )
    tree = to_datatree(
        result,
        p_draws=p_draws,
        posterior_predictive=posterior_predictive,
        log_likelihood=log_likelihood,
    )
    return add_planning(tree)


def fit_all(data: Any, **options: Any) -> dict[tuple[str, str], xr.DataTree]:
    """Fit every llm on every benchmark of the data.

    Parameters
    ----------
    data
        As in `fit`, except PromptCounts.
    **options
        Those of `fit`.

    Returns
    -------
    dict
        (llm, benchmark) -> result, in the order of the data. Those without a scored generation are
        left out, with a warning.

    Raises
    ------
    PcorrectError
        As `fit`; nothing has a scored generation.
    """
    reading = {name: options.pop(name) for name in _READING if name in options}
    if unknown := sorted(set(options) - set(inspect.signature(fit).parameters)):
        raise PcorrectError(f"fit_all knows no {unknown}")
    scored, missing = each_llm(all_counts(data, **reading))
    if missing:
        warnings.warn(f"{UNSCORED}: {missing}", UserWarning, stacklevel=2)
    return {(one.llm, one.benchmark): fit(one, **options) for one in scored}


_READING = ("columns", "llm", "benchmark", "metric", "filter", "scorer", "errors", "threshold")


def all_counts(data: Any, **reading: Any) -> list[Counts]:
    """Counts per benchmark of anything that `fit` takes, except PromptCounts."""
    items = data if isinstance(data, list) else [data]
    if items and all(isinstance(item, Counts) for item in items):
        _check_unused(reading)
        return items
    from pcorrect.readers import counts

    return counts(data, **reading)


def one_benchmark(data: Any, benchmark: str | None, **reading: Any) -> Counts:
    """The counts of one benchmark from anything that `pcorrect.fit` takes.

    Raises
    ------
    ChoiceError
        The data hold several benchmarks and none is chosen, or not the chosen one.
    """
    if benchmark is not None and _is_unread(data):
        reading["benchmark"] = benchmark
    tables = all_counts(data, **reading)
    names = [table.benchmark for table in tables]
    if benchmark is not None:
        tables = [table for table in tables if table.benchmark == benchmark]
    if len(tables) != 1:
        what = "several benchmarks" if benchmark is None else f"no benchmark {benchmark!r}"
        raise ChoiceError(f"{what} in the data: choose one by benchmark=, of {names}", names)
    return tables[0]


def select(
    data: Any, *, llm: str | None = None, benchmark: str | None = None, **reading: Any
) -> PromptCounts:
    """Counts of one llm on one benchmark of anything that `fit` takes.

    Raises
    ------
    ChoiceError
        Several, and none chosen.
    """
    if isinstance(data, PromptCounts):
        _check_unused(reading)
        for what, name, own in (("llm", llm, data.llm), ("benchmark", benchmark, data.benchmark)):
            if name not in (None, own):
                raise ChoiceError(f"no {what} {name!r}: these are the counts of {own!r}", [own])
        return data
    if llm is not None and _is_unread(data):
        reading["llm"] = llm
    return one_benchmark(data, benchmark, **reading).select(llm)


def _check_unused(reading: dict[str, Any]) -> None:
    if reading:
        raise PcorrectError(f"counts are read already, and take no {sorted(reading)}")


def _is_unread(data: Any) -> bool:
    """Whether the data are still to be read, so that names narrow down the reading."""
    items = data if isinstance(data, list) else [data]
    return not any(isinstance(item, Counts | Generations) for item in items)


def prior_predictive(
    n_generations: Any,
    *,
    model: str = DEFAULT_MODEL,
    priors: Priors | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> xr.DataTree:
    """Parameters and counts that the priors expect before any data.

    Parameters
    ----------
    n_generations : array_like of int, shape (n,)
        Generations per prompt of the data to simulate.
    model : {"dp_beta", "beta_bernoulli", "beta_binomial"}
    priors : Priors, optional
    draws : int
    seed : int

    Returns
    -------
    xarray.DataTree
        Groups ``prior`` (mu, sigma, rho, score) and ``prior_predictive`` (n_correct[prompt]).

    Raises
    ------
    PcorrectError
        Another model (build it by PyMC, which draws from any program's prior).
    """
    import xarray as xr

    known = ("dp_beta", "beta_bernoulli", "beta_binomial")
    if model not in known:
        raise PcorrectError(f"prior_predictive knows the models {list(known)}, not {model!r}")
    check_draws(draws, seed)
    priors = priors or Priors()
    rng = np.random.default_rng(seed)
    k = PromptCounts.from_arrays(np.zeros_like(np.atleast_1d(n_generations)), n_generations)
    population = _prior_population(priors, draws, STICKS if model == "dp_beta" else 0, rng)
    mu, variance = population.mean(), population.variance()
    p = _coins(population.draw_new(len(k.prompt), rng), population.a, population.b, rng)
    cube = rng.binomial(k.n_generations, p)[None]
    coords = {"chain": [0], "draw": np.arange(draws)}
    values = {
        "mu": mu,
        "sigma": np.sqrt(variance),
        "rho": variance / np.maximum(mu * (1 - mu), np.finfo(float).eps),
        "score": p.mean(axis=1),
    }
    prior = xr.Dataset({n: (("chain", "draw"), v[None]) for n, v in values.items()}, coords=coords)
    prompt = {"prompt": k.prompt.astype(str)}
    predicted = xr.Dataset(
        {"n_correct": (("chain", "draw", "prompt"), cube)}, coords=coords | prompt
    )
    tree = xr.DataTree.from_dict({"/prior": prior, "/prior_predictive": predicted})
    tree.attrs.update({"inference_library": "pcorrect", "seed": seed, "priors": str(priors)})
    return tree


def _prior_population(
    priors: Priors, draws: int, sticks: int, rng: np.random.Generator
) -> Population:
    """Draws of the population from its prior: a Beta, or that with the atoms of broken sticks."""
    m = rng.beta(*priors.mu, size=draws)
    r = np.maximum(rng.beta(*priors.spread, size=draws), 1e-8)
    nu = 1 / r**2 - 1
    a, b = (np.maximum(x * nu, 1e-300) for x in (m, 1 - m))
    alpha = np.exp(rng.uniform(*np.log(priors.alpha), size=draws))
    v = rng.beta(1.0, alpha[:, None], (draws, sticks))
    left = np.cumprod(np.concatenate([np.ones((draws, 1)), 1 - v], axis=1), axis=1)
    phi = _coins(rng.beta(a[:, None], b[:, None], (draws, sticks)), a, b, rng)
    return Population(left[:, -1], a, b, v * left[:, :-1], phi)


def _coins(p: FloatArray, a: FloatArray, b: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws of Betas so small in a and b that they underflow to nan: these are coins, 0 or 1."""
    return np.where(np.isnan(p), rng.random(p.shape) < (a / (a + b))[:, None], p)
