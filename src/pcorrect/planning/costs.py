r"""Prompts or generations? The best (n, k) for a budget, or the cheapest one for a target.

A prompt costs c_p once and each of its generations c_g, so n prompts with k generations cost
:math:`n (c_p + k c_g)`. For a given cost the variance :math:`(B + W / k) / n` is smallest at

.. math:: k^* = \sqrt{\frac{c_p}{c_g} \frac{W}{B}}

(Cochran 1977, Sampling Techniques, section 10.6). Whole numbers are found by trying every k.
What a generation cost, in tokens or seconds, is read from the logs of Inspect.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.errors import DataError, PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.planning.goals import prompts_needed
from pcorrect.planning.variances import CI_PROB, Estimate, Source, Variances, quantiles, variances

if TYPE_CHECKING:
    import xarray as xr


# Numbers of generations that are tried.
_LAST_K = 2000


@dataclass(frozen=True)
class Costs:
    """Budget and costs of `pcorrect plan`, as `budget` takes them; no total: reach the target."""

    total: float | None = None
    prompt: float = 0.0
    generation: float = 1.0
    max_prompts: int | None = None


@dataclass(frozen=True)
class BudgetPlan:
    """The best number of prompts and of generations for new prompts (mu).

    Parameters
    ----------
    n, k : int
        Prompts, and generations of each.
    cost : float
        What they cost.
    se, half_width : Estimate
        Standard error of mu, and half-width of its interval, that they give.
    k_best : Estimate
        The real-valued best k of the closed form (0 where prompts cost nothing).
    ci_prob : float
    ks, ns : ndarray of int, shape (m,)
        The whole trade-off: for each k the number of prompts that the budget allows or the target
        needs.
    costs : ndarray, shape (m,)
    ses : ndarray, shape (3, m)
        Lower end, median and upper end of the standard error.
    limited : bool
        Whether the number of prompts at hand decided.
    """

    n: int
    k: int
    cost: float
    se: Estimate
    half_width: Estimate
    k_best: Estimate
    ci_prob: float
    ks: NDArray[np.int64]
    ns: NDArray[np.int64]
    costs: FloatArray
    ses: FloatArray
    limited: bool

    def to_dataset(self) -> xr.Dataset:
        """The trade-off curve over k; the chosen (n, k) in the attributes."""
        import xarray as xr

        return xr.Dataset(
            {
                "n_prompts": ("k", self.ns),
                "cost": ("k", self.costs),
                "se_mu": (("bound", "k"), self.ses),
            },
            coords={"k": self.ks, "bound": ["lower", "median", "upper"]},
            attrs={"n": self.n, "best_k": self.k, "total_cost": self.cost, "ci_prob": self.ci_prob},
        )


def budget(
    source: Source | Variances,
    *,
    total: float | None = None,
    half_width: float | None = None,
    cost_prompt: float = 0.0,
    cost_generation: float = 1.0,
    max_prompts: int | None = None,
    ci_prob: float = CI_PROB,
) -> BudgetPlan:
    """Best prompts and generations for new prompts: within a budget, or at least cost.

    Parameters
    ----------
    source : Fit, DataTree, PromptCounts or Variances
    total : float, optional
        What may be spent, in the unit of the costs; the smallest error within it is wanted.
    half_width : float, optional
        Half-width of the interval of mu that is wanted; the smallest cost is looked for.
    cost_prompt, cost_generation : float
        Cost of a prompt (once) and of each of its generations: tokens, dollars or seconds.
    max_prompts : int, optional
        Prompts that can be had; default: any number.
    ci_prob : float

    Raises
    ------
    PcorrectError
        Not exactly one of `total` and `half_width`; a cost or goal out of range; the data do not
        tell the variances apart; or the target is out of reach with `max_prompts`.
    """
    if (total is None) == (half_width is None):
        raise PcorrectError("give exactly one of total (a budget) and half_width (a target)")
    check_costs(cost_prompt, cost_generation, total, half_width, max_prompts)
    found = variances(source)
    if found.unknown:
        raise PcorrectError(
            f"prompts or generations: not in the data ({found.unknown}); plan from assumed values "
            "(--assume MU,SIGMA,N or Variances.assume)"
        )
    ks = np.arange(1, _LAST_K + 1)
    price = cost_prompt + ks * cost_generation
    # The expected squared error is linear in the variances: their means decide.
    variance = found.between.mean() + found.within.mean() / ks
    limit = np.inf if max_prompts is None else float(max_prompts)
    if total is not None:
        ns = np.floor(np.minimum(total / price * (1 + 1e-12), limit))
        able = ns >= 2
        if not able.any():
            raise PcorrectError(
                f"a budget of {total:g} does not pay for two prompts with one generation each "
                f"({2 * price[0]:g})"
            )
        merit = np.where(able, variance / np.maximum(ns, 1), np.inf)
    else:
        assert half_width is not None
        ns = prompts_needed(variance, half_width, ci_prob)
        able = ns <= limit
        if not able.any():
            raise PcorrectError(
                f"no k gives a half-width of {half_width:g} with {max_prompts} prompts: you need "
                f"at least {ns[-1]:,.0f}"
            )
        merit = np.where(able, ns * price, np.inf)
    best = int(np.argmin(merit))
    kept = np.flatnonzero(able)
    n_all, k_all = ns[kept].astype(np.int64), ks[kept]
    draws = np.sqrt((found.between[:, None] + found.within[:, None] / k_all) / n_all)
    se = found.se_mu(float(ks[best]), int(ns[best]))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(found.within > 0, found.within / found.between, 0.0)
        k_best = np.sqrt(cost_prompt / cost_generation * ratio)
    return BudgetPlan(
        int(ns[best]),
        int(ks[best]),
        float(ns[best] * price[best]),
        Estimate.of(se, ci_prob),
        Estimate.of(se * found.factor("mu", ci_prob, int(ns[best])), ci_prob),
        Estimate.of(np.where(np.isnan(k_best), 0.0, k_best), ci_prob),
        ci_prob,
        k_all,
        n_all,
        n_all * price[kept],
        quantiles(draws, ci_prob),
        bool(ns[best] == limit),
    )


def check_costs(
    cost_prompt: float,
    cost_generation: float,
    total: float | None = None,
    half_width: float | None = None,
    max_prompts: int | None = None,
) -> None:
    """Raise `PcorrectError` where a cost or a goal is out of range."""
    rules = {
        "cost_prompt": (cost_prompt, 0 <= cost_prompt < np.inf),
        "cost_generation": (cost_generation, 0 < cost_generation < np.inf),
        "total": (total, total is None or 0 < total < np.inf),
        "half_width": (half_width, half_width is None or 0 < half_width < np.inf),
        "max_prompts": (max_prompts, max_prompts is None or max_prompts >= 2),
    }
    for name, (value, good) in rules.items():
        if not good:
            rule = {"cost_prompt": "a number from 0 on", "max_prompts": "at least 2"}
            what = rule.get(name, "a positive, finite number")
            raise PcorrectError(f"{name} must be {what}, got {value:g}")


@dataclass(frozen=True)
class Usage:
    """Mean cost of a generation.

    Parameters
    ----------
    tokens : float
        Input and output tokens of all models that were called, a grader's included; nan where
        none are recorded.
    seconds : float
        Working time, without waiting for a free connection; nan where it is not recorded.
    n_generations : int
        Generations that record the one or the other.
    """

    tokens: float
    seconds: float
    n_generations: int

    def cost(self, unit: str) -> float:
        """The cost in ``"tokens"`` or ``"seconds"``.

        Raises
        ------
        DataError
            The logs do not record it.
        """
        value = {"tokens": self.tokens, "seconds": self.seconds}[unit]
        if not value > 0:
            raise DataError(f"the logs record no {unit}: give the cost of a generation as a number")
        return value


def log_usage(paths: Iterable[str | Path]) -> Usage:
    """Mean usage per generation over the Inspect logs among `paths` (``.eval`` or ``.json``).

    Raises
    ------
    DataError
        None of them is an Inspect log that holds its generations.
    """
    tokens, seconds, count = [], [], 0
    for path in paths:
        for record in _records(Path(path)):
            usage = record.get("model_usage")
            found = [
                float(part["total_tokens"])
                for part in (usage.values() if isinstance(usage, Mapping) else ())
                if isinstance(part, Mapping) and _is_number(part.get("total_tokens"))
            ]
            # an older log has no working time
            time = record.get("working_time", record.get("total_time"))
            tokens += [sum(found)] if found else []
            seconds += [float(time)] if _is_number(time) else []
            count += bool(found) or _is_number(time)
    if not count:
        raise DataError("no usage to read: only Inspect logs record tokens and seconds")
    return Usage(_mean(tokens), _mean(seconds), count)


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _records(path: Path) -> Iterator[Mapping[str, Any]]:
    """One record per generation of an Inspect log; nothing where the file is something else."""
    if not path.is_file():
        return
    # the readers load the table engine, which planning has no other use for
    from pcorrect.readers.archive import Archive

    records: object = None
    if zipfile.is_zipfile(path):
        with Archive(path, path.name) as archive:
            if "summaries.json" in archive.members:
                records = archive.json("summaries.json")
    elif path.suffix == ".json":
        try:
            log = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{path.name}: not JSON ({error})") from error
        records = log.get("samples") if isinstance(log, Mapping) and "eval" in log else None
    if isinstance(records, list):
        yield from (record for record in records if isinstance(record, Mapping))
