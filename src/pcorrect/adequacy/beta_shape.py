"""Is the Beta adequate? All evidence in one place, and one sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from pcorrect.adequacy.histogram import REPLICATES, HistogramCheck, check_histogram
from pcorrect.adequacy.loo import loo_beta, loo_draws
from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.engines.exact import LogDensity, QuadratureError, grid_posterior
from pcorrect.engines.grid import GridPosterior
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray
from pcorrect.moment_estimates import moments
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

Status = Literal["rejected", "doubtful", "no sign", "hardly checked", "not checked"]

# Draws of the robust model that its leave-one-out densities are computed from.
_LOO_DRAWS = 1000
# Fewer prompts than this: the sentence says that little can be seen. (Power against a population of
# 30 % at 1, 30 % at .5 and 40 % at .02 with k = 5: .1 at 30 prompts; k = 8: 1.0 at 200.)
_FEW_PROMPTS = 50
# With fewer prompts each is a bar of its own.
_FEWEST = 5


@dataclass(frozen=True)
class Adequacy:
    """How well a Beta population describes the results of one llm on one benchmark.

    Parameters
    ----------
    status : str
        "rejected" (`p_value` below .01), "doubtful" (below .05), "no sign"; "hardly checked" where
        no k is above 2, "not checked" where none is above 1.
    verdict : str
        One sentence.
    n_prompts : int
        Prompts with a scored generation.
    n_checked : int
        Those with three or more, in which alone a wrong shape shows.
    k_min, k_max : int
        Their numbers of generations.
    p_value : float or None
        Smaller of `p_histogram` and `p_shift`, times two (Bonferroni); None where nothing is
        checked.
    p_histogram, p_shift : float or None
        Calibrated p-values of the histogram of counts and of the shift of mu, see `HistogramCheck`.
    mu_beta, mu_moments : float
        Posterior mean of mu under the Beta, and the mean over prompts.
    shift : float
        ``mu_beta - mu_moments``.
    shift_se : float or None
        The same in standard errors of the mean over prompts; None where these are 0.
    elpd_diff, elpd_diff_se : float or None
        Expected log predictive density of the robust model minus that of the Beta, summed over
        prompts, by leave-one-out, and its standard error; None without a robust fit.
    k_hat : float or None
        Largest Pareto shape of the robust model's importance weights: above .7, do not trust
        `elpd_diff`.
    alpha, alpha_lower, alpha_upper : float or None
        Median and central 95 % interval of the robust model's alpha: large where the Beta can be
        trusted, near its lower bound where it cannot.
    histogram : HistogramCheck
        The bars of the rootogram.
    """

    status: Status
    verdict: str
    n_prompts: int
    n_checked: int
    k_min: int
    k_max: int
    p_value: float | None
    p_histogram: float | None
    p_shift: float | None
    mu_beta: float
    mu_moments: float
    shift: float
    shift_se: float | None
    elpd_diff: float | None
    elpd_diff_se: float | None
    k_hat: float | None
    alpha: float | None
    alpha_lower: float | None
    alpha_upper: float | None
    histogram: HistogramCheck

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, without the bars."""
        values = asdict(self)
        del values["histogram"]
        return values


def assess_beta(
    counts: PromptCounts,
    *,
    robust: Population | None = None,
    alpha: FloatArray | None = None,
    priors: Priors | None = None,
    grid: GridPosterior | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
    r_eff: float = 1.0,
) -> Adequacy:
    """Check the shape of the Beta population against the counts of one llm.

    Parameters
    ----------
    counts : PromptCounts
    robust : Population, optional
        Posterior draws of a population that follows the data where the Beta does not (`dp_beta`).
    alpha : ndarray, optional
        Its draws of alpha, any shape.
    priors : Priors, optional
    grid : GridPosterior, optional
        Posterior of the Beta model with these priors, where it has been computed already.
    seed : int
    replicates : int
        Simulated data sets behind the p-values: the smallest is ``1 / (1 + replicates)``.
    r_eff : float
        Effective share of the draws of `robust`.

    Returns
    -------
    Adequacy

    Raises
    ------
    PcorrectError
        No generation is scored.
    """
    k = counts.n_generations[counts.n_generations > 0]
    if not len(k):
        raise PcorrectError(
            f"llm {counts.llm!r} on benchmark {counts.benchmark!r}: no scored generation to check"
        )
    priors = priors or Priors()
    # Prompts without generations have nothing to be checked.
    cells = Cells.scored(counts)
    if grid is None:
        grid = _beta_posterior(cells, priors)
    check = check_histogram(
        cells, grid, priors, np.random.default_rng([seed, 5]), replicates=replicates
    )
    closed = moments(counts)
    mu_beta = grid.mean(grid.shape.mu)
    shift = mu_beta - float(closed.mu or 0.0)
    difference = _elpd_difference(cells, grid, robust, r_eff)
    spread = None if alpha is None else np.quantile(alpha, [0.5, 0.025, 0.975])
    status, p_value = _status(check, len(k), int(k.max()))
    elpd = (None, None, None) if difference is None else difference
    band = (None, None, None) if spread is None else tuple(float(x) for x in spread)
    found = Adequacy(
        status=status,
        verdict="",
        n_prompts=len(k),
        n_checked=int(np.sum(k >= 3)),
        k_min=int(k.min()),
        k_max=int(k.max()),
        p_value=p_value,
        p_histogram=None if p_value is None else check.p_histogram,
        p_shift=None if p_value is None else check.p_shift,
        mu_beta=mu_beta,
        mu_moments=float(closed.mu or 0.0),
        shift=shift,
        shift_se=shift / closed.se_mu if closed.se_mu else None,
        elpd_diff=elpd[0],
        elpd_diff_se=elpd[1],
        k_hat=elpd[2],
        alpha=band[0],
        alpha_lower=band[1],
        alpha_upper=band[2],
        histogram=check,
    )
    return replace(found, verdict=_sentence(found))


def _beta_posterior(cells: Cells, priors: Priors) -> GridPosterior:
    s, n = cells.n_correct @ cells.n_prompts, cells.n_generations @ cells.n_prompts
    start = float(np.log((s + 0.5) / (n - s + 0.5)))
    try:
        return grid_posterior(LogDensity(cells, priors), start=(start, 0.0))
    except QuadratureError as error:
        # a check needs no more than the best grid
        return error.posterior


def _elpd_difference(
    cells: Cells, grid: GridPosterior, robust: Population | None, r_eff: float
) -> tuple[float, float, float] | None:
    if robust is None:
        return None
    some = np.linspace(0, len(robust) - 1, min(_LOO_DRAWS, len(robust))).astype(np.intp)
    loo = loo_draws(cells, robust.take(some), r_eff)
    return *loo.minus(loo_beta(cells, grid)), loo.k_hat


def _status(check: HistogramCheck, n: int, k_max: int) -> tuple[Status, float | None]:
    """What the check says, and its p-value where there is something to check."""
    if k_max == 1 or n == 1:
        return "not checked", None
    if k_max == 2 or n < _FEWEST:
        return "hardly checked", None
    both = [check.p_histogram] + ([] if check.p_shift is None else [check.p_shift])
    p_value = min(1.0, len(both) * min(both))
    if p_value >= 0.05:
        return "no sign", p_value
    return ("rejected" if p_value < 0.01 else "doubtful"), p_value


def _sentence(found: Adequacy) -> str:
    """Everything that a reader has to know, in one sentence."""
    if found.status == "not checked" and found.n_prompts == 1:
        return "The Beta shape cannot be checked with one prompt."
    if found.status == "not checked":
        return (
            "The Beta shape cannot be checked at k = 1: one generation per prompt shows the mean "
            "of the p_i and nothing else."
        )
    if found.status == "hardly checked" and found.k_max > 2:
        return (
            f"The Beta shape can hardly be checked on {found.n_prompts} prompts: some Beta fits "
            "almost any so few counts."
        )
    if found.status == "hardly checked":
        return (
            "The Beta shape can hardly be checked at k = 2: some Beta fits almost any numbers of "
            "prompts with 0, 1 and 2 correct."
        )
    p = f"p = {found.p_value:.2g}"
    if found.status == "no sign":
        few = ""
        if found.n_checked < _FEW_PROMPTS:
            several = "" if found.n_checked == found.n_prompts else " with k >= 3"
            few = f", but {found.n_checked} prompts{several} show gross misfits only"
        return f"No sign against the Beta shape ({p}){few}; {_moved(found)}."
    opening = (
        "The Beta shape is rejected"
        if found.status == "rejected"
        else "Some doubt about the Beta shape"
    )
    text = f"{opening} ({p}): {_worst_bar(found.histogram)}; {_moved(found)}"
    better, error = found.elpd_diff, found.elpd_diff_se
    if better is not None and error is not None and better > 2 * error > 0:
        text += f"; the robust model predicts better by {better:.1f} ± {error:.1f} in log density"
    if found.alpha is not None:
        text += f" (alpha {found.alpha:.2g})"
    return text + "."


def _moved(found: Adequacy) -> str:
    """Where the Beta's mu lies beside the mean over prompts."""
    size = f"{abs(found.shift):.3f}".removeprefix("0")
    if found.shift_se is None:
        return f"its mu is {size} from the mean over prompts"
    errors = f"{abs(found.shift_se):.1f} standard errors"
    if found.p_shift is not None and found.p_shift < 0.05:
        return f"its mu is {size} too {'low' if found.shift < 0 else 'high'} ({errors})"
    if abs(found.shift_se) < 0.05:
        return "its mu agrees with the mean over prompts"
    return f"its mu lies {size} ({errors}) from the mean over prompts, as it may"


def _worst_bar(check: HistogramCheck) -> str:
    """The bar of the rootogram that hangs furthest from the line."""
    gap = np.sqrt(check.observed) - np.sqrt(check.expected)
    worst = int(np.argmax(np.abs(gap)))
    low, high = (float(x[worst]) for x in (check.low, check.high))
    if high == 0:
        what = "no generation correct"
    elif low == 1:
        what = "all generations correct"
    elif low == high:
        what = f"{low:.3g} of the generations correct"
    else:
        what = f"{low:.2g} to {high:.2g} of the generations correct"
    n, expected = check.observed[worst], check.expected[worst]
    given = " (generations thinned to equal numbers)" if check.thinned else ""
    return f"{n:.0f} prompts have {what} where {expected:.1f} are expected{given}"
