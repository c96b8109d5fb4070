"""Was a published table made of exchangeable runs? From mean, standard error, n, k and the gap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from pcorrect.errors import PcorrectError
from pcorrect.moment_estimates import moments_from_table, run_gap

_REFUSED = 0.01


@dataclass(frozen=True)
class PublishedGap:
    """Whether a reported gap between the best and the worst run fits its own standard error.

    Parameters
    ----------
    flagged : bool
        `p_gap` below .01.
    verdict : str
        One sentence.
    p_gap : float
        Chance of as large a gap, were the generations exchangeable.
    p_gap_at_most : float
        The same at the largest within-prompt variance that the mean allows, ``mu (1 - mu)``:
        whatever the standard error, it is not more likely.
    gap_expected, gap_limit : float
        Mean and 99 % quantile of the gap of exchangeable runs.
    """

    flagged: bool
    verdict: str
    p_gap: float
    p_gap_at_most: float
    gap_expected: float
    gap_limit: float


def check_published_gap(*, mu: float, se_mu: float, n: int, k: int, gap: float) -> PublishedGap:
    """Compare a published best-minus-worst gap of k runs with what exchangeable runs give.

    The standard error gives the within-prompt variance back (`moments_from_table`); a run's score
    has that variance over n around the benchmark's score.

    Parameters
    ----------
    mu, se_mu, gap : float
        Mean score, its standard error and the gap, as shares (not percent).
    n, k : int
        Prompts, and runs.

    Raises
    ------
    PcorrectError
        The gap lies outside [0, 1], or no population has this mean and standard error.
    """
    if not 0 <= gap <= 1:
        raise PcorrectError(
            f"gap must be a share between 0 and 1, got {gap}: divide percent by 100"
        )
    within = moments_from_table(mu, se_mu, n, k).within or 0.0
    p_gap = gap_p_value(gap, k, n, within)
    expected, limit = run_gap(k, n, within), run_gap(k, n, within, 0.99)
    text = (
        f"best minus worst of {k} runs is {100 * gap:.1f} points, where exchangeable generations "
        f"give {100 * expected:.1f} (1 in 100 above {100 * limit:.1f})"
    )
    flagged = p_gap < _REFUSED
    opening = "The runs differ" if flagged else "No sign that runs differ"
    return PublishedGap(
        flagged,
        f"{opening} (p = {p_gap:.2g}): {text}.",
        p_gap,
        gap_p_value(gap, k, n, mu * (1 - mu)),
        expected,
        limit,
    )


def gap_p_value(gap: float, n_runs: int, n_prompts: int, within: float) -> float:
    """Chance that the range of `n_runs` exchangeable run scores is at least `gap`.

    Upper tail of the range of independent normal scores of variance ``within / n_prompts``, without
    cancellation: k int phi(z) (Q(z)**(k - 1) - (Q(z) - Q(z + w))**(k - 1)), Q the upper tail.

    Parameters
    ----------
    gap : float
    n_runs, n_prompts : int
    within : float
        Mean of p_i (1 - p_i).
    """
    if within <= 0:
        return 1.0 if gap <= 0 else 0.0
    width = gap / np.sqrt(within / n_prompts)
    # The smallest score is at z, the others above: all within z + w, or not. Its density integrates
    # to k int phi(z) Q(z)**(k - 1) = 1, so the chance that they are not is the difference.
    z = np.linspace(-40.0, 40.0, 16_001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    above = log_ndtr(-z)
    beyond = np.exp(np.minimum(log_ndtr(-(z + width)) - above, 0.0))
    with np.errstate(divide="ignore"):
        reaches = -np.expm1((n_runs - 1) * np.log1p(-beyond))
    total = n_runs * np.sum(density * np.exp((n_runs - 1) * above) * reaches)
    return float(min(1.0, total * (z[1] - z[0])))
