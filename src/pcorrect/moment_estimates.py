r"""Closed-form moment estimators of the benchmark score and its error (no prior, no iteration).

With :math:`\hat p_i = s_i / k_i`, :math:`s^2` the sample variance of the :math:`\hat p_i` and
:math:`W_i = \hat p_i (1 - \hat p_i) k_i / (k_i - 1)`, which is unbiased for :math:`p_i (1 - p_i)`:

.. math::

    \hat\mu = \overline{\hat p}, \qquad
    \widehat{SE}(\hat\mu)^2 = s^2 / n, \qquad
    \hat\sigma^2 = s^2 - \overline{W_i / k_i}, \qquad
    \widehat{SE}(\mathrm{score})^2 = \overline{W_i / k_i} / n

For balanced k the first variance is ``(sigma**2 + W / k) / n``: the between-prompt part, which no k
removes, and the within-prompt part (Zhang, Cai & Chen 2025, arXiv 2502.08943, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import check_interval

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Moments:
    """Moment estimates of one llm on one benchmark; ``None`` is "not defined", with a note why.

    Parameters
    ----------
    n_prompts : int
        Prompts with at least one scored generation.
    k : float
        Harmonic mean of their numbers of generations (k itself when balanced).
    mu : float or None
        Mean of the per-prompt means: estimates both `mu` and `score`.
    se_mu, se_score : float or None
        Standard errors for a new set of prompts like these, and for exactly these prompts.
    sigma2 : float or None
        Between-prompt variance, as estimated; it can be negative.
    within : float or None
        Mean of p_i (1 - p_i), the variance of one generation around its prompt's p_i.
    notes : tuple of str
    """

    n_prompts: int
    k: float
    mu: float | None
    se_mu: float | None
    se_score: float | None
    sigma2: float | None
    within: float | None
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float | None:
        """Estimate of the score of this benchmark: the same number as `mu`, another error."""
        return self.mu

    @property
    def between(self) -> float | None:
        """Between-prompt variance, truncated at zero."""
        return None if self.sigma2 is None else max(self.sigma2, 0.0)

    @property
    def sigma(self) -> float | None:
        """Square root of `between`."""
        return None if self.between is None else float(np.sqrt(self.between))

    def interval(self, estimand: str, ci_prob: float = 0.95) -> tuple[float, float] | None:
        """Confidence interval, cut at 0 and 1.

        Parameters
        ----------
        estimand : {"mu", "score"}
            Student t with n - 1 degrees of freedom for "mu", normal for "score".
        ci_prob : float
            Confidence level.

        Returns
        -------
        tuple of float, or None where the standard error is undefined.

        Raises
        ------
        PcorrectError
            No such estimand, or `ci_prob` is not between 0 and 1.
        """
        if estimand not in ("mu", "score"):
            raise PcorrectError(f"estimand must be 'mu' or 'score', got {estimand!r}")
        check_interval(ci_prob, "eti")
        se = self.se_mu if estimand == "mu" else self.se_score
        if self.mu is None or se is None:
            return None
        tail = (1 + ci_prob) / 2
        factor = float(stdtrit(self.n_prompts - 1, tail) if estimand == "mu" else ndtri(tail))
        return max(self.mu - factor * se, 0.0), min(self.mu + factor * se, 1.0)

    def predicted_se(
        self, k: NDArray[np.float64] | float, n: int | None = None
    ) -> NDArray[np.float64]:
        """Standard error of `mu` that `k` generations of each of `n` prompts would give.

        Parameters
        ----------
        k : array_like
            Generations per prompt, >= 1; ``np.inf`` gives the floor sigma / sqrt(n).
        n : int, optional
            Prompts; default as observed.

        Raises
        ------
        PcorrectError
            The split into within and between is not identified, or k < 1.
        """
        if self.between is None or self.within is None:
            raise PcorrectError("the standard error at another k needs prompts with k >= 2")
        if not np.all(np.asarray(k) >= 1):
            raise PcorrectError(f"k must be at least 1, got {k}")
        return np.sqrt((self.between + self.within / np.asarray(k)) / (n or self.n_prompts))

    def to_dataset(self) -> xr.Dataset:
        """Estimates, standard errors and 95 % confidence intervals, labelled by estimand."""
        import xarray as xr

        rows = {"mu": (self.mu, self.se_mu), "score": (self.score, self.se_score)}
        intervals = [self.interval(name) or (np.nan, np.nan) for name in rows]
        nan = [[np.nan if x is None else x for x in row] for row in rows.values()]
        scalars = {
            "sigma2": self.sigma2,
            "sigma": self.sigma,
            "within": self.within,
            "between": self.between,
        }
        return xr.Dataset(
            {
                "estimate": ("estimand", [row[0] for row in nan]),
                "se": ("estimand", [row[1] for row in nan]),
                "ci_95_lower": ("estimand", [low for low, _ in intervals]),
                "ci_95_upper": ("estimand", [high for _, high in intervals]),
                **{name: np.nan if x is None else x for name, x in scalars.items()},
            },
            coords={"estimand": list(rows)},
            attrs={"kind": "moment estimates with confidence intervals", "notes": list(self.notes)},
        )


def moments(counts: PromptCounts) -> Moments:
    """Moment estimates from the counts of one llm; k may differ by prompt.

    Parameters
    ----------
    counts : PromptCounts

    Returns
    -------
    Moments
        Each prompt counts once, whatever its k. The variance split uses prompts with k >= 2.
    """
    scored = counts.n_generations > 0
    k = counts.n_generations[scored].astype(float)
    p_hat = counts.n_correct[scored] / k
    n = len(k)
    if n == 0:
        return Moments(0, 0.0, None, None, None, None, None, ("no prompt has a scored generation",))
    notes: list[str] = []
    alike = p_hat.min() == p_hat.max()
    se_mu = float(np.sqrt(p_hat.var(ddof=1) / n)) if n > 1 and not alike else None
    if n == 1:
        notes.append("one prompt: the error of mu for new prompts is not defined")
    repeated = k >= 2
    sigma2 = within = se_score = None
    if repeated.any():
        w = p_hat[repeated] * (1 - p_hat[repeated]) * k[repeated] / (k[repeated] - 1)
        within = float(w.mean())
        # Prompts with one generation carry the average within-prompt variance.
        error = np.full(n, within) / k
        error[repeated] = w / k[repeated]
        se_score = float(np.sqrt(error.mean() / n))
        if within == 0:
            se_score = None
            if 0 < p_hat.mean() < 1:
                notes.append(
                    "no prompt has both right and wrong generations: a standard error of 0 for the "
                    "score would be no answer, use the posterior"
                )
        if repeated.sum() > 1:
            sigma2 = float(p_hat[repeated].var(ddof=1) - (w / k[repeated]).mean())
        if sigma2 is not None and sigma2 < 0:
            notes.append(
                f"the variance between prompts is estimated as {sigma2:.2g}, below 0: read as 0"
            )
    else:
        notes.append(
            "k = 1 everywhere: sigma, the split of the variance and the error of score are "
            "not identified"
        )
    if alike and p_hat[0] in (0.0, 1.0):
        what = "correct" if p_hat[0] == 1 else "wrong"
        notes.append(
            f"all generations are {what}: a standard error of 0 would be no answer, use the "
            "posterior"
        )
    elif alike and n > 1:
        notes.append(
            "every prompt has the same share of correct generations: a standard error of 0 for "
            "new prompts would be no answer, use the posterior"
        )
    harmonic = float(n / np.sum(1 / k))
    return Moments(n, harmonic, float(p_hat.mean()), se_mu, se_score, sigma2, within, tuple(notes))


def moments_from_table(mu: float, se_mu: float, n: int, k: int) -> Moments:
    """Recover the split from a published mean and standard error.

    Solves ``se_mu**2 = (sigma**2 + (mu - mu**2 - sigma**2) / k) / n`` for sigma.

    Parameters
    ----------
    mu, se_mu : float
        Mean score and its standard error, in [0, 1].
    n, k : int
        Prompts, and generations per prompt (k >= 2).

    Raises
    ------
    PcorrectError
        k < 2, or no sigma >= 0 gives this standard error.
    """
    if k < 2:
        raise PcorrectError(f"k must be at least 2 to recover sigma, got {k}")
    sigma2 = (n * k * se_mu**2 - mu * (1 - mu)) / (k - 1)
    if not -1e-12 <= sigma2 <= mu * (1 - mu):
        raise PcorrectError(
            f"mu = {mu}, se = {se_mu}, n = {n}, k = {k} imply a variance between prompts of "
            f"{sigma2:.4g}, outside [0, mu (1 - mu)] = [0, {mu * (1 - mu):.4g}]"
        )
    within = mu * (1 - mu) - sigma2
    return Moments(n, float(k), mu, se_mu, float(np.sqrt(within / (n * k))), sigma2, within)


def run_gap(n_runs: int, n_prompts: int, within: float, prob: float | None = None) -> float:
    """Best-minus-worst gap of single-run scores that exchangeable generations produce.

    Given the prompts, the score of one run (one generation of each prompt) has variance
    ``within / n_prompts`` and is normal to O(1/n); the gap is the range of `n_runs` of them.

    Parameters
    ----------
    n_runs, n_prompts : int
    within : float
        Mean of p_i (1 - p_i).
    prob : float, optional
        Quantile of the gap; default its expectation.

    Returns
    -------
    float
        In units of the score.
    """
    z = np.linspace(-9, 9, 3601)
    sd = float(np.sqrt(within / n_prompts))
    if prob is None:
        # E range = int 1 - F**n - (1 - F)**n
        f = 1 - ndtr(z) ** n_runs - ndtr(-z) ** n_runs
        return float(f.sum() * (z[1] - z[0])) * sd
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    low, high = 0.0, 18.0
    for _ in range(60):
        width = (low + high) / 2
        # P(range <= w) = n int phi(z) (Phi(z + w) - Phi(z))**(n - 1)
        inside = n_runs * np.sum(density * (ndtr(z + width) - ndtr(z)) ** (n_runs - 1))
        low, high = (width, high) if inside * (z[1] - z[0]) < prob else (low, width)
    return high * sd
