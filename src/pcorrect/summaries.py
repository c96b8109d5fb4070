"""Tables of a result: population parameters, and every p_i on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pcorrect.convergence import ess_bulk, r_hat
from pcorrect.errors import PcorrectError
from pcorrect.fitting import PARAMETERS, Fit
from pcorrect.marginal import CiKind, check_interval

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def summary(
    data: xr.DataTree,
    *,
    var_names: list[str] | str | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
) -> pd.DataFrame:
    """Summary table of a result, in the manner of `arviz.summary`.

    Parameters
    ----------
    data : DataTree
        A result of `fit`.
    var_names : str or list of str, optional
        Default: mu, score, sigma, rho (and further scalar parameters of the model). ``"p"`` gives
        one row per prompt.
    ci_prob : float
        Probability of the credible interval.
    ci_kind : {"eti", "hdi"}
        Equal-tailed or highest-density.

    Returns
    -------
    pandas.DataFrame
        Columns ``mean``, ``sd``, ``<kind>_<level>_lower``, ``<kind>_<level>_upper``, ``about`` (the
        question that the row answers) and, for Markov chains, ``ess_bulk`` and ``r_hat``. What the
        data do not identify has no numbers. For the Beta by the exact engine, intervals come from
        quadrature weights, not from draws. Intervals of p reach to 0 or 1 where the generations of
        a prompt agree and its posterior heaps at that end (`pcorrect.prompts.reach_ends`).

    Raises
    ------
    PcorrectError
        A name is not in the result, or the interval is ill defined.
    """
    import pandas as pd

    from pcorrect.posterior import from_datatree

    check_interval(ci_prob, ci_kind)
    fit = from_datatree(data)
    names = [var_names] if isinstance(var_names, str) else var_names
    if names is None:
        names = list(dict.fromkeys([*PARAMETERS, *fit.draws]))
    lower, upper = interval_columns(ci_prob, ci_kind)
    rows: dict[str, dict[str, Any]] = {}
    for name in names:
        if name == "p":
            table = fit.prompts.table(ci_prob, ci_kind)
            for i, prompt in enumerate(fit.counts.prompt):
                rows[f"p[{prompt}]"] = {
                    "mean": table.mean[i],
                    "sd": table.sd[i],
                    lower: table.lower[i],
                    upper: table.upper[i],
                    "about": f"{fit.counts.n_correct[i]} of {fit.counts.n_generations[i]} correct",
                }
        elif name in fit.marginals:
            rows[name] = _parameter_row(fit, name, ci_prob, ci_kind)
        else:
            raise PcorrectError(f"no variable {name!r}: choose from {[*fit.marginals, 'p']}")
    return pd.DataFrame.from_dict(rows, orient="index")


def _parameter_row(fit: Fit, name: str, ci_prob: float, ci_kind: CiKind) -> dict[str, Any]:
    lower, upper = interval_columns(ci_prob, ci_kind)
    about = PARAMETERS.get(name, "")
    if name in fit.not_identified:
        empty = dict.fromkeys(("mean", "sd", lower, upper), np.nan)
        return empty | {"about": f"{about}: not identified by these data"}
    marginal = fit.marginals[name]
    low, high = marginal.interval(ci_prob, ci_kind)
    row: dict[str, Any] = {
        "mean": marginal.mean,
        "sd": marginal.sd,
        lower: low,
        upper: high,
        "about": about,
    }
    if fit.engine != "exact":
        row |= {"ess_bulk": ess_bulk(fit.draws[name]), "r_hat": r_hat(fit.draws[name])}
    return row


def interval_columns(ci_prob: float, ci_kind: str) -> tuple[str, str]:
    """Column names that state kind and level, such as ``eti_95_lower``."""
    level = f"{100 * ci_prob:.6g}"
    return f"{ci_kind}_{level}_lower", f"{ci_kind}_{level}_upper"
