r"""Before any data: power and detectable difference of a paired comparison of two llms.

On n shared prompts with k generations of each llm, the mean difference has the variance

.. math:: \left(B_A + B_B - 2 r \sqrt{B_A B_B} + (W_A + W_B) / k\right) / n

for new prompts (r: correlation of the two llms' p_i); only the last part counts for exactly these
prompts (Miller 2024, arXiv 2411.00640, section 5). Student t with n - 1 degrees of freedom for new
prompts, normal for these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import nctdtr, ndtr, ndtri, stdtrit

from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.variances import (
    CI_PROB,
    Source,
    Variances,
    check_estimand,
    quantiles,
    variances,
)

if TYPE_CHECKING:
    import xarray as xr

# A non-centrality beyond which the power is 1 to double precision for every level in use.
_FAR = 30.0


@dataclass(frozen=True)
class Power:
    """Power, or the smallest detectable difference, over (n, k, correlation).

    Parameters
    ----------
    quantity : {"power", "difference"}
    estimand : {"mu", "score"}
    value : ndarray, shape (3, len(n), len(k), len(correlation))
        Lower end, median and upper end (equal where the variances are assumed).
    n, k, correlation : ndarray
    fixed : float
        The difference whose power this is, or the power at which it is detected.
    level : float
        Two-sided error rate of the test.
    """

    quantity: str
    estimand: str
    value: FloatArray
    n: FloatArray
    k: FloatArray
    correlation: FloatArray
    fixed: float
    level: float

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy."""
        import xarray as xr

        other = "difference" if self.quantity == "power" else "power"
        return xr.Dataset(
            {self.quantity: (("bound", "n", "k", "correlation"), self.value)},
            coords={
                "bound": ["lower", "median", "upper"],
                "n": self.n,
                "k": self.k,
                "correlation": self.correlation,
            },
            attrs={"estimand": self.estimand, "level": self.level, other: self.fixed},
        )


def power(
    a: Source | Variances,
    b: Source | Variances | None = None,
    *,
    difference: float,
    n: ArrayLike,
    k: ArrayLike,
    correlation: ArrayLike = 0.5,
    estimand: str = "mu",
    level: float = 0.05,
    ci_prob: float = CI_PROB,
) -> Power:
    """Probability that a true difference shows as significant, in its right direction.

    Parameters
    ----------
    a, b : Fit, DataTree, PromptCounts or Variances
        The two llms; `b` defaults to one like `a`.
    difference : float
        True difference, in (0, 1).
    n, k : array_like
        Shared prompts (at least 2), and generations per prompt and llm (at least 1).
    correlation : array_like
        Of the two llms' p_i over prompts, in [-1, 1]; .9 is common for llms of a kind.
    estimand : {"mu", "score"}
    level : float
        Two-sided error rate.
    ci_prob : float

    Raises
    ------
    PcorrectError
        A value is out of range, or the data do not tell the variances apart.
    """
    _check_level(level)
    if not 0 < difference < 1:
        raise PcorrectError(f"difference must lie between 0 and 1, got {difference}")
    se, axes = _standard_errors(a, b, n, k, correlation, estimand)
    df = _degrees(axes[0], estimand)
    value = _power(difference / np.maximum(se, 1e-300), df, level)
    return Power("power", estimand, quantiles(value, ci_prob), *axes, difference, level)


def detectable_difference(
    a: Source | Variances,
    b: Source | Variances | None = None,
    *,
    n: ArrayLike,
    k: ArrayLike,
    correlation: ArrayLike = 0.5,
    power: float = 0.8,
    estimand: str = "mu",
    level: float = 0.05,
    ci_prob: float = CI_PROB,
) -> Power:
    """Smallest true difference that is detected with the given power.

    Parameters
    ----------
    a, b, n, k, correlation, estimand, level, ci_prob
        As in `power`.
    power : float
        In (level / 2, 1). Where no difference has it, the value is inf.

    Raises
    ------
    PcorrectError
        As `power` does.
    """
    _check_level(level)
    if not level / 2 < power < 1:
        raise PcorrectError(f"power must lie between level / 2 = {level / 2} and 1, got {power}")
    se, axes = _standard_errors(a, b, n, k, correlation, estimand)
    df = _degrees(axes[0], estimand)
    low, high = np.zeros(df.shape), np.full(df.shape, _FAR)
    for _ in range(60):
        middle = (low + high) / 2
        enough = _power(middle, df, level) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    # what is not enough at the far end is not known to be enough anywhere
    high = np.where(high == _FAR, np.inf, high)
    return Power("difference", estimand, quantiles(high * se, ci_prob), *axes, power, level)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise PcorrectError(f"level must lie between 0 and 1, got {level}")


def _power(shift: FloatArray, df: FloatArray, level: float) -> FloatArray:
    """Probability of a significant result of the right sign, `shift` standard errors from 0."""
    normal = np.isinf(df)
    some = np.where(normal, 10.0, df)
    z = np.where(normal, ndtri(1 - level / 2), stdtrit(some, 1 - level / 2))
    shift = np.minimum(shift, _FAR)
    return np.asarray(np.where(normal, ndtr(shift - z), 1 - nctdtr(some, shift, z)))


def _degrees(n: FloatArray, estimand: str) -> FloatArray:
    df = n - 1 if estimand == "mu" else np.full(len(n), np.inf)
    return np.asarray(df)[:, None, None]


def _standard_errors(
    a: Source | Variances,
    b: Source | Variances | None,
    n: ArrayLike,
    k: ArrayLike,
    correlation: ArrayLike,
    estimand: str,
) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Standard errors of the difference, shape (D, n, k, r), and the three axes."""
    check_estimand(estimand)
    axes = (_axis(n), _axis(k), _axis(correlation))
    for name, axis, low, high in zip(
        ("n", "k", "correlation"), axes, (2, 1, -1), (np.inf, np.inf, 1), strict=True
    ):
        if not np.all((axis >= low) & (axis <= high)):
            raise PcorrectError(f"{name} must lie between {low} and {high}, got {axis}")
    one = variances(a)
    two = one if b is None else variances(b)
    for found in (one, two):
        if found.unknown:
            raise PcorrectError(
                f"power: the variances are not in the data ({found.unknown}); plan from "
                "assumed values (--assume MU,SIGMA,N or Variances.assume)"
            )
    size = min(len(one.between), len(two.between))
    if min(len(one.between), len(two.between)) == 1:
        size = max(len(one.between), len(two.between))
    parts = [
        np.resize(x, size)[:, None, None, None] for v in (one, two) for x in _pair(v, estimand)
    ]
    between_a, within_a, between_b, within_b = parts
    prompts, generations, r = (
        axis.reshape([-1 if i == j else 1 for j in range(3)]) for i, axis in enumerate(axes)
    )
    between = between_a + between_b - 2 * r * np.sqrt(between_a * between_b)
    return np.sqrt((between + (within_a + within_b) / generations) / prompts), axes


def _axis(values: ArrayLike) -> FloatArray:
    return np.atleast_1d(np.asarray(values, dtype=float))


def _pair(found: Variances, estimand: str) -> tuple[FloatArray, FloatArray]:
    if estimand == "mu":
        return found.between, found.within
    return np.zeros_like(found.within_here), found.within_here


def power_table(
    assumed: Variances, difference: float | None, correlation: float
) -> list[dict[str, Any]]:
    """Detectable difference, and power where a difference is given, for several n and k."""
    n0 = max(assumed.n_prompts, 2)
    ns, ks = sorted({n0, 2 * n0, 4 * n0}), [1, 2, 4, 8, 16, 32]
    options: dict[str, Any] = {"n": ns, "k": ks, "correlation": correlation}
    tables: dict[str, Any] = {
        f"detectable_{e}": detectable_difference(assumed, estimand=e, **options).value[1]
        for e in ("mu", "score")
    }
    if difference is not None:
        for e in ("mu", "score"):
            found = power(assumed, difference=difference, estimand=e, **options)
            tables[f"power_{e}"] = found.value[1]
    return [
        {"n": n, "k": k} | {name: float(x[i, j, 0]) for name, x in tables.items()}
        for i, n in enumerate(ns)
        for j, k in enumerate(ks)
    ]
