"""The result: an `xarray.DataTree` in the ArviZ schema. Built and taken apart here only."""

from __future__ import annotations

import importlib.metadata
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts, RowReport
from pcorrect.engines.grid import GridPosterior
from pcorrect.errors import DataError, PcorrectError
from pcorrect.fitting import PARAMETERS, Fit
from pcorrect.marginal import Marginal
from pcorrect.moment_estimates import moments
from pcorrect.populations.population import Population
from pcorrect.priors import Priors
from pcorrect.prompts import DrawnPrompts, GridPrompts, PopulationPrompts, PromptPosterior

if TYPE_CHECKING:
    import xarray as xr

# Above this many numbers (256 MB) the draws of p are left out unless they are asked for.
_P_LIMIT = 32_000_000


def to_datatree(
    fit: Fit,
    *,
    p_draws: bool | None = None,
    posterior_predictive: bool = False,
    log_likelihood: bool = False,
) -> xr.DataTree:
    """Build the ArviZ result of a fit.

    Parameters
    ----------
    fit : Fit
    p_draws : bool, optional
        Store the draws of every p_i; default: where they take less than 256 MB. Summaries of p_i
        do not need them.
    posterior_predictive, log_likelihood : bool
        Add the groups (variable ``n_correct`` over prompts).

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (mu, score, sigma, rho, p[prompt]), ``observed_data`` (n_correct),
        ``constant_data`` (n_generations), ``marginal`` (exact distribution functions),
        ``population``, ``quadrature`` (exact engine), and those asked for.
    """
    import xarray as xr

    chains, draws = fit.draws["mu"].shape
    prompt = np.array([_storable(str(name)) for name in fit.counts.prompt])
    coords: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
    rng = np.random.default_rng([fit.seed, 3])
    posterior = {name: (("chain", "draw"), value) for name, value in fit.draws.items()}
    size = chains * draws * len(prompt)
    need_p = p_draws if p_draws is not None else size <= _P_LIMIT
    p = fit.prompts.draws(rng) if need_p or posterior_predictive else None

    def by_prompt(value: np.ndarray) -> xr.Dataset:
        cube = value.reshape(chains, draws, len(prompt))
        data = {"n_correct": (("chain", "draw", "prompt"), cube)}
        return xr.Dataset(data, coords=coords | {"prompt": prompt})

    group = xr.Dataset(posterior, coords=coords)
    if need_p and p is not None:
        cube = p.reshape(chains, draws, len(prompt))
        group["p"] = (("chain", "draw", "prompt"), cube)
        group = group.assign_coords(prompt=prompt)
    s, k = fit.counts.n_correct, fit.counts.n_generations
    # Prompts without generations have no likelihood, and nothing to be predicted or left out.
    seen = np.flatnonzero(k)
    observed = xr.Dataset({"n_correct": ("prompt", s)}, coords={"prompt": prompt})
    groups = {
        "posterior": group,
        "observed_data": observed.isel(prompt=seen),
        "constant_data": xr.Dataset({"n_generations": ("prompt", k)}, coords={"prompt": prompt}),
        "marginal": _marginal_group(fit),
    }
    if fit.population is not None:
        groups["population"] = _population_group(fit.population, chains)
    if fit.grid is not None:
        groups["quadrature"] = _quadrature_group(fit.grid)
    if posterior_predictive and p is not None:
        groups["posterior_predictive"] = by_prompt(rng.binomial(k, p)).isel(prompt=seen)
    if log_likelihood:
        groups["log_likelihood"] = by_prompt(_log_likelihood(fit, p, rng)).isel(prompt=seen)
    tree = xr.DataTree.from_dict({f"/{name}": value for name, value in groups.items()})
    tree.attrs.update(_attributes(fit))
    for node in tree.children.values():
        node.attrs.setdefault("inference_library", "pcorrect")
    return tree


def _log_likelihood(fit: Fit, p: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Log probability of each prompt's count, p_i integrated out where the population is known."""
    if fit.population is None:
        raise PcorrectError(
            "log_likelihood needs a built-in model: the probability of a count, p integrated out, "
            "is not known for a program of your own"
        )
    cells = Cells.from_counts(fit.counts.n_correct, fit.counts.n_generations)
    by_cell = fit.population.log_prob(cells.n_correct, cells.n_generations)
    return np.asarray(by_cell[:, cells.of_prompt])


def _attributes(fit: Fit) -> dict[str, Any]:
    rows = fit.counts.rows
    return {
        "inference_library": "pcorrect",
        "inference_library_version": importlib.metadata.version("pcorrect"),
        "llm": _storable(fit.counts.llm),
        "benchmark": _storable(fit.counts.benchmark),
        "model": _storable(fit.model),
        "engine": fit.engine,
        "draws": "independent" if fit.engine == "exact" else "markov chain",
        "seed": fit.seed,
        "priors": json.dumps(
            {"mu": fit.priors.mu, "spread": fit.priors.spread, "alpha": fit.priors.alpha}
        ),
        "diagnostics": json.dumps(dict(fit.diagnostics)),
        "warnings": json.dumps(list(fit.warnings)),
        "rows": json.dumps(
            {
                "read": rows.read,
                "used": rows.used,
                "left_out": dict(rows.left_out),
                "notes": rows.notes,
            }
        ),
    }


def _marginal_group(fit: Fit) -> xr.Dataset:
    import xarray as xr

    data: dict[str, Any] = {}
    for name, marginal in fit.marginals.items():
        if fit.grid is None and name in fit.draws:
            continue  # an empirical distribution: the draws are stored already
        point = f"{name}_point"
        data[f"{name}_value"] = (point, marginal.value)
        data[f"{name}_cdf"] = (point, marginal.cdf, {"mean": marginal.mean, "sd": marginal.sd})
    return xr.Dataset(data)


def _population_group(population: Population, chains: int) -> xr.Dataset:
    import xarray as xr

    def cube(value: np.ndarray) -> np.ndarray:
        return value.reshape(chains, -1, *value.shape[1:])

    flat = {
        name: (("chain", "draw"), cube(getattr(population, name)))
        for name in ("beta_weight", "a", "b")
    }
    atoms = {
        name: (("chain", "draw", "atom"), cube(value))
        for name, value in (("weight", population.weight), ("position", population.atom))
        if value.shape[1]
    }
    return xr.Dataset(flat | atoms)


def _quadrature_group(grid: GridPosterior) -> xr.Dataset:
    import xarray as xr

    return xr.Dataset(
        {"weight": (("logit_mu", "logit_r"), grid.weight)},
        coords={"logit_mu": grid.logit_mu, "logit_r": grid.logit_r},
        attrs={"log_evidence": grid.log_evidence, "error": grid.error},
    )


def from_datatree(tree: xr.DataTree) -> Fit:
    """The fit that a result holds (the inverse of `to_datatree`).

    Raises
    ------
    DataError
        The tree is no result of this package.
    """
    if tree.attrs.get("inference_library") != "pcorrect" or "posterior" not in tree.children:
        raise DataError("not a result of pcorrect: the attribute inference_library is missing")
    attrs = tree.attrs
    rows = json.loads(attrs["rows"])
    report = RowReport(rows["read"], rows["used"], rows["left_out"], tuple(rows["notes"]))
    constant = tree["constant_data"].dataset
    n_generations = np.asarray(constant["n_generations"].values)
    n_correct = np.zeros(n_generations.shape, dtype=np.int64)
    n_correct[n_generations > 0] = np.asarray(tree["observed_data"]["n_correct"].values)
    counts = PromptCounts(
        attrs["llm"],
        attrs["benchmark"],
        np.asarray(constant["prompt"].values, dtype=object),
        n_correct,
        n_generations,
        report,
    )
    posterior = tree["posterior"].dataset
    draws = {
        str(name): np.asarray(value.values)
        for name, value in posterior.data_vars.items()
        if value.dims == ("chain", "draw")
    }
    marginals = {name: Marginal.from_draws(value) for name, value in draws.items()}
    marginals |= _read_marginals(tree)
    grid = _read_grid(tree)
    population = _read_population(tree)
    seed = int(attrs["seed"])
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    prompts: PromptPosterior
    if grid is not None and population is not None:
        prompts = GridPrompts(cells, grid, lambda: population)
    elif population is not None and attrs["engine"] != "nuts":
        prompts = PopulationPrompts(cells, population, seed)
    elif "p" in posterior:
        prompts = DrawnPrompts(
            counts, np.asarray(posterior["p"].values).reshape(-1, len(counts.prompt))
        )
    else:
        raise DataError("the result holds no posterior of p: fit again with p_draws=True")
    return Fit(
        counts,
        attrs["model"],
        attrs["engine"],
        Priors(**{name: tuple(value) for name, value in json.loads(attrs["priors"]).items()}),
        seed,
        draws,
        {name: marginals[name] for name in (*PARAMETERS, *(set(marginals) - set(PARAMETERS)))},
        prompts,
        lambda: population,
        moments(counts),
        json.loads(attrs["diagnostics"]),
        tuple(json.loads(attrs["warnings"])),
        grid,
    )


def _read_marginals(tree: xr.DataTree) -> dict[str, Marginal]:
    found = {}
    group = tree["marginal"].dataset
    for name in group.data_vars:
        parameter = str(name).removesuffix("_cdf")
        if parameter != name:
            cdf = group[name]
            found[parameter] = Marginal(
                np.asarray(group[f"{parameter}_value"].values),
                np.asarray(cdf.values),
                float(cdf.attrs["mean"]),
                float(cdf.attrs["sd"]),
            )
    return found


def _read_grid(tree: xr.DataTree) -> GridPosterior | None:
    if "quadrature" not in tree.children:
        return None
    group = tree["quadrature"].dataset
    return GridPosterior(
        np.asarray(group["logit_mu"].values),
        np.asarray(group["logit_r"].values),
        np.asarray(group["weight"].values),
        float(group.attrs["log_evidence"]),
        float(group.attrs["error"]),
    )


def _read_population(tree: xr.DataTree) -> Population | None:
    if "population" not in tree.children:
        return None
    group = tree["population"].dataset
    size = group["a"].size

    def flat(name: str) -> np.ndarray:
        return np.asarray(group[name].values).reshape(size, -1)

    none = np.zeros((size, 0))
    weight, atom = (flat("weight"), flat("position")) if "weight" in group else (none, none)
    share, a, b = (flat(name)[:, 0] for name in ("beta_weight", "a", "b"))
    return Population(share, a, b, weight, atom)


def _storable(text: str) -> str:
    """Text as files can hold it: lone surrogates and NUL become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
