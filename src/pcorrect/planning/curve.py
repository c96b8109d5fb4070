"""Precision as a function of the number of generations: as arrays, and as a group of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import OF_FLOOR
from pcorrect.planning.observed import extend, subset_expectations
from pcorrect.planning.variances import (
    ALL_RIGHT,
    ALL_WRONG,
    CI_PROB,
    Estimate,
    Source,
    Variances,
    as_fit,
    quantiles,
)
from pcorrect.result import Fit

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class PrecisionCurve:
    """Precision at each k; arrays of shape (m,) or (3, m): lower end, median, upper end.

    Undefined entries are nan. "mu" asks about new prompts like these, "score" about exactly these.

    Parameters
    ----------
    k : ndarray of int
        Generations per prompt.
    n_prompts : int
    ci_prob : float
        Level of all intervals, also of those whose width is predicted.
    se_mu, se_score : ndarray, shape (3, m)
        Posterior of the standard errors.
    half_width_mu, half_width_score : ndarray, shape (3, m)
        Posterior of the expected half-width of an interval.
    floor : Estimate
        Standard error for new prompts that no k goes below, sigma / sqrt(n). That of `score` is 0.
    observed_se_mu, observed_se_score : ndarray, shape (m,)
        For k up to the observed K: the exact average over all subsets of the generations.
    seen_se_mu, seen_se_score : ndarray, shape (3, m)
        For k beyond K: the moment standard errors that one will see if the same prompts are run on
        to k generations: a prediction interval. It is free of the luck of which prompts were drawn,
        and so may be narrower than that of `se_mu`.
    unknown : str
        Why the split into between and within is not in the data; empty where it is.
    """

    k: NDArray[np.int64]
    n_prompts: int
    ci_prob: float
    se_mu: FloatArray
    se_score: FloatArray
    half_width_mu: FloatArray
    half_width_score: FloatArray
    floor: Estimate
    observed_se_mu: FloatArray
    observed_se_score: FloatArray
    seen_se_mu: FloatArray
    seen_se_score: FloatArray
    unknown: str

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy over (bound, k) with the bounds "lower", "median" and "upper"."""
        import xarray as xr

        triples = ("se_mu", "se_score", "half_width_mu", "half_width_score")
        seen = ("seen_se_mu", "seen_se_score")
        data: dict[str, object] = {
            name: (("bound", "k"), getattr(self, name)) for name in (*triples, *seen)
        }
        for name in ("observed_se_mu", "observed_se_score"):
            data[name] = ("k", getattr(self, name))
        floor = self.floor
        data["floor_mu"] = ("bound", [floor.lower, floor.value, floor.upper])
        return xr.Dataset(
            data,
            coords={"k": self.k, "bound": ["lower", "median", "upper"]},
            attrs={"n_prompts": self.n_prompts, "ci_prob": self.ci_prob, "ci_kind": "eti"}
            | ({"not_identified": self.unknown} if self.unknown else {}),
        )


def default_k(found: Variances) -> NDArray[np.int64]:
    """Powers of two from 1 to beyond the observed numbers, and their mean and largest."""
    top = max(64, 2 * found.k_max)
    observed = [max(found.k_used, 1), max(found.k_max, 1)]
    return np.union1d(2 ** np.arange(int(np.log2(top)) + 1), observed).astype(np.int64)


def precision_curve(
    source: Source | Variances,
    k: ArrayLike | None = None,
    *,
    ci_prob: float = CI_PROB,
    seed: int | None = None,
) -> PrecisionCurve:
    """Posterior of the standard error and of the interval width as functions of k.

    Parameters
    ----------
    source : Fit, DataTree, PromptCounts or Variances
        Results, or assumptions (`Variances.assume`).
    k : array_like of int, optional
        Generations per prompt; default powers of two to beyond the observed number.
    ci_prob : float
    seed : int, optional
        Of the predictions beyond the observed k; default that of the fit.

    Raises
    ------
    PcorrectError
        A `k` is below 1.
    """
    if isinstance(source, Variances):
        return curve_of(source, None, k, ci_prob=ci_prob)
    fit = as_fit(source)
    return curve_of(Variances.from_fit(fit), fit, k, ci_prob=ci_prob, seed=seed)


def curve_of(
    found: Variances,
    fit: Fit | None,
    k: ArrayLike | None,
    *,
    ci_prob: float = CI_PROB,
    seed: int | None = None,
) -> PrecisionCurve:
    """The curve from variances and, where there is one, the fit that they come from."""
    ks = default_k(found) if k is None else np.unique(np.atleast_1d(np.asarray(k)))
    if ks.dtype.kind not in "iu" or ks.min(initial=1) < 1:
        raise PcorrectError(f"k must hold whole numbers of at least 1, got {k!r}")
    se_mu, se_score = (
        quantiles(f(ks.astype(float)), ci_prob) for f in (found.se_mu, found.se_score)
    )
    floor = Estimate.of(found.se_mu(np.inf), ci_prob)
    nothing = np.full(len(ks), np.nan)
    triple = np.full((3, len(ks)), np.nan)
    if found.unknown in (ALL_WRONG, ALL_RIGHT):
        # The posterior would only repeat the prior of sigma.
        se_mu, se_score, floor = triple, triple, Estimate(np.nan, np.nan, np.nan)
    elif found.n_prompts < 2:
        se_mu, floor = triple, Estimate(np.nan, np.nan, np.nan)
        se_score = se_score if found.k_max > 1 else triple
    elif found.k_max == 1:
        # mu (1 - mu) = B + W is all that single generations tell
        se_mu = np.where(ks == 1, se_mu, np.nan)
        se_score, floor = triple, Estimate(np.nan, np.nan, np.nan)
    observed = nothing, nothing
    seen = triple, triple
    if fit is not None:
        if found.unknown not in (ALL_WRONG, ALL_RIGHT):  # their 0 is no error bar
            observed = _observed(fit.counts, ks, found.k_max)
        if not found.unknown:
            seen = _seen(fit, ks, found, ci_prob, fit.seed if seed is None else seed)
    return PrecisionCurve(
        ks,
        found.n_prompts,
        ci_prob,
        se_mu,
        se_score,
        # an interval within [0, 1] is never wider, though Student's t for few prompts is
        np.minimum(se_mu * found.factor("mu", ci_prob), 0.5),
        np.minimum(se_score * found.factor("score", ci_prob), 0.5),
        floor,
        *observed,
        *seen,
        found.unknown,
    )


def _observed(
    counts: PromptCounts, k: NDArray[np.int64], k_used: int
) -> tuple[FloatArray, FloatArray]:
    """Root-mean-square moment standard errors over all subsets of the generations."""
    inside = k <= k_used
    se_mu, se_score = np.full((2, len(k)), np.nan)
    if inside.any():
        found = subset_expectations(counts, k[inside])
        se_mu[inside], se_score[inside] = found.se_mu, found.se_score
    return se_mu, se_score


def _seen(
    fit: Fit, k: NDArray[np.int64], found: Variances, ci_prob: float, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Prediction intervals of the moment standard errors beyond the observed k."""
    beyond = k > found.k_max
    se_mu, se_score = np.full((2, 3, len(k)), np.nan)
    if beyond.any() and found.n_prompts > 1:
        future = extend(fit, k[beyond], seed=seed)
        se_mu[:, beyond] = quantiles(future.se_mu, ci_prob)
        se_score[:, beyond] = quantiles(future.se_score, ci_prob)
    return se_mu, se_score


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
        Over k: ``observed_se_mu`` and ``observed_se_score``, the exact average over subsets of the
        generations (nan beyond them). Over (chain, draw): ``within``, ``between``,
        ``within_here``, ``floor_mu`` and ``k_near_floor`` (real-valued, inf where the
        between-prompt variance is 0); over (chain, draw, k): ``se_mu`` and ``se_score``.
        ``attrs["not_identified"]`` says why the split is not in the data, where it is not: then
        they only repeat the prior.
    """
    import xarray as xr

    fit = as_fit(source)
    found = Variances.from_fit(fit)
    shape = fit.draws["mu"].shape
    ks = default_k(found) if k is None else np.unique(np.atleast_1d(np.asarray(k)))
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
    observed = _observed(fit.counts, ks, found.k_max)
    data["observed_se_mu"], data["observed_se_score"] = (("k", value) for value in observed)
    return xr.Dataset(
        data,
        coords={"chain": np.arange(shape[0]), "draw": np.arange(shape[1]), "k": ks},
        attrs={
            "inference_library": "pcorrect",
            "n_prompts": found.n_prompts,
            "k_used": found.k_used,
            "of_floor": of_floor,
            "not_identified": found.unknown,
        },
    )


def add_planning(
    tree: xr.DataTree, k: ArrayLike | None = None, *, of_floor: float = OF_FLOOR
) -> xr.DataTree:
    """A copy of a result of `pcorrect.fit` with the group ``planning`` (see `planning_group`)."""
    import xarray as xr

    tree = tree.copy()
    tree["planning"] = xr.DataTree(planning_group(tree, k, of_floor=of_floor))
    return tree
