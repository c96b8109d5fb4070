"""The planning quantities as a group of the ArviZ-compatible result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pcorrect.planning.curve import default_k
from pcorrect.planning.goals import OF_FLOOR
from pcorrect.planning.variances import Source, Variances, as_fit

if TYPE_CHECKING:
    import xarray as xr


def planning_group(
    source: Source, k: ArrayLike | None = None, *, of_floor: float = OF_FLOOR
) -> xr.Dataset:
    """Posterior draws of what planning is about, for a group ``planning`` of the result.

    Parameters
    ----------
    source : Fit, DataTree or PromptCounts
    k : array_like of int, optional
        Generations per prompt; default powers of two to beyond the observed number.
    of_floor : float
        How near to the floor is near enough.

    Returns
    -------
    xarray.Dataset
        Over (chain, draw): ``within``, ``between``, ``within_here``, ``floor_mu`` and
        ``k_near_floor`` (real-valued, inf where the between-prompt variance is 0); over
        (chain, draw, k): ``se_mu`` and ``se_score``. ``attrs["not_identified"]`` says why the
        split is not in the data, where it is not: then they only repeat the prior.
    """
    import xarray as xr

    fit = as_fit(source)
    found = Variances.from_fit(fit)
    shape = fit.draws["mu"].shape
    ks = default_k(found.k_max) if k is None else np.unique(np.atleast_1d(np.asarray(k)))
    with np.errstate(divide="ignore", invalid="ignore"):
        near = found.within / ((1 + of_floor) ** 2 - 1) / found.between
    scalars = {
        "within": found.within,
        "between": found.between,
        "within_here": found.within_here,
        "floor_mu": found.se_mu(np.inf),
        "k_near_floor": np.where(found.within <= 0, 1.0, np.maximum(near, 1.0)),
    }
    curves = {"se_mu": found.se_mu(ks.astype(float)), "se_score": found.se_score(ks.astype(float))}
    data: dict[str, object] = {
        name: (("chain", "draw"), value.reshape(shape)) for name, value in scalars.items()
    }
    for name, value in curves.items():
        data[name] = (("chain", "draw", "k"), value.reshape(*shape, len(ks)))
    return xr.Dataset(
        data,
        coords={"chain": np.arange(shape[0]), "draw": np.arange(shape[1]), "k": ks},
        attrs={
            "inference_library": "pcorrect",
            "n_prompts": found.n_prompts,
            "k_used": found.k_max,
            "of_floor": of_floor,
            "not_identified": found.unknown,
        },
    )
