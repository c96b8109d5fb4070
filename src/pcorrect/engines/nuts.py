"""NUTS engine: run a PyMC program by nutpie. The only module that imports PyMC, when it is used."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.priors import Priors


@dataclass(frozen=True)
class NutsResult:
    """Posterior draws of a PyMC program.

    Parameters
    ----------
    draws : dict
        Free and deterministic variables, each of shape (chain, draw, …); `p` always among them.
    n_divergences : int
    prior_mean : dict
        Unused variables are not kept.
    """

    draws: dict[str, FloatArray]
    n_divergences: int


def program_path(name: str) -> Path:
    """The file of a built-in model (`name`), or of the user's own (a path that ends in .py).

    Raises
    ------
    PcorrectError
        There is no such model or file.
    """
    if name.endswith(".py"):
        path = Path(name)
        if path.is_file():
            return path
        raise PcorrectError(f"no model file {name!r}")
    folder = models_folder()
    path = folder / f"{name}.py"
    if not path.is_file():
        known = sorted(file.stem for file in folder.glob("*.py"))
        raise PcorrectError(f"no model {name!r}: the built-in ones are {known}, or give a .py file")
    return path


def models_folder() -> Path:
    """Where the built-in programs lie: in the package, or beside `src` in a checkout."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "models"
    return inside if inside.is_dir() else package.parents[1] / "models"


def load_program(path: Path) -> ModuleType:
    """Import a model file by path.

    Raises
    ------
    PcorrectError
        It cannot be imported, or defines no `build`.
    """
    spec = importlib.util.spec_from_file_location(f"pcorrect_program_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise PcorrectError(f"model file {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PcorrectError(f"model file {path}: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, "build", None)):
        raise PcorrectError(f"model file {path}: defines no function build(counts)")
    return module


def build_program(module: ModuleType, counts: PromptCounts, priors: Priors) -> Any:
    """Call the program's `build`; a user's may take the counts only.

    Raises
    ------
    PcorrectError
        `build` fails.
    """
    try:
        if "priors" in module.build.__code__.co_varnames[: module.build.__code__.co_argcount]:
            return module.build(counts, priors)
        return module.build(counts)
    except Exception as error:
        where = module.__file__
        raise PcorrectError(f"model file {where}: build(counts): {error}") from error


def sample(
    path: Path,
    counts: PromptCounts,
    priors: Priors,
    *,
    chains: int = 4,
    draws: int = 1000,
    tune: int = 1000,
    seed: int = 0,
    progress: bool = False,
) -> NutsResult:
    """Sample the posterior of a PyMC program by NUTS.

    Parameters
    ----------
    path : Path
        File that defines ``build(counts) -> pm.Model`` with variables `mu` and `sigma`, and either
        a variable `p` over prompts or a function ``draw_p(posterior, counts, rng)``.
    counts : PromptCounts
    priors : Priors
        Handed to `build` where it takes them.
    chains, draws, tune, seed : int
    progress : bool
        Show nutpie's progress bar.

    Raises
    ------
    PcorrectError
        The file breaks one of these rules.
    """
    module = load_program(path)
    model = build_program(module, counts, priors)
    names = {variable.name for variable in model.unobserved_RVs}
    draw_p: Callable[..., FloatArray] | None = getattr(module, "draw_p", None)
    missing = {"mu", "sigma"} - names
    if missing or ("p" not in names and draw_p is None):
        needed = sorted(missing) or ["p (or a function draw_p)"]
        raise PcorrectError(f"model file {path}: build(counts) defines no {', '.join(needed)}")

    import nutpie

    compiled = nutpie.compile_pymc_model(model)
    trace = nutpie.sample(
        compiled, chains=chains, draws=draws, tune=tune, seed=seed, progress_bar=progress
    )
    posterior = trace["posterior"]
    values = {str(name): np.asarray(posterior[name].values) for name in posterior.data_vars}
    if "p" not in values and draw_p is not None:
        values["p"] = np.asarray(draw_p(values, counts, np.random.default_rng([seed, 1])))
    if values["p"].shape[2:] != counts.prompt.shape:
        raise PcorrectError(
            f"model file {path}: p has shape {values['p'].shape[2:]} "
            f"for {len(counts.prompt)} prompts"
        )
    return NutsResult(values, int(trace["sample_stats"]["diverging"].sum()))
