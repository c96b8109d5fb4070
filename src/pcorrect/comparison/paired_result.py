"""The result of comparing two llms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from pcorrect.comparison.estimates import Estimate, Verdict
from pcorrect.comparison.pairing import Pair
from pcorrect.fitting import Fit
from pcorrect.marginal import CiKind, FloatArray


@dataclass(frozen=True)
class PairedDifference:
    """Posterior of llm a minus llm b.

    Parameters
    ----------
    a, b, benchmark : str
    n_shared, only_a, only_b : int
        Prompts with a scored generation of both, of a only, of b only.
    paired : bool
        Whether prompts were matched by id.
    mu : Estimate
        Difference of the population means: new prompts like these.
    score : Estimate
        Difference of the benchmark scores that unlimited generations would give: these prompts.
    p_better, p_better_score : float
        P(a better than b), by `mu` and by `score`.
    p_equivalent : float
        Share of the whole posterior of `mu` inside `rope`.
    verdict : {"better", "worse", "equivalent", "undecided"}
        Of a, by `mu`.
    correlation : Estimate or None
        Correlation of p_a and p_b over prompts (of the p, not of the noisy shares); None where it
        is not identified (k = 1, or unpaired).
    difference, se_mu, se_score : float or None
        Moment estimates: mean of the shares' differences and its standard errors; None where not
        defined.
    gain : float or None
        Standard error that ignoring the pairing would give, over the paired one.
    draws_mu : ndarray, shape (draws,)
        Posterior draws of the difference of mu.
    pair : Pair or None
        The aligned counts.
    fits : tuple of Fit
        The fits of a and b on these prompts.
    """

    a: str
    b: str
    benchmark: str
    n_shared: int
    only_a: int
    only_b: int
    paired: bool
    mu: Estimate
    score: Estimate
    p_better: float
    p_better_score: float
    p_equivalent: float
    verdict: Verdict
    rope: tuple[float, float]
    correlation: Estimate | None
    difference: float
    se_mu: float | None
    se_score: float | None
    gain: float | None
    n_groups: int | None
    ci_prob: float
    ci_kind: CiKind
    seed: int
    notes: tuple[str, ...] = ()
    draws_mu: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    pair: Pair | None = field(default=None, repr=False, compare=False)
    fits: tuple[Fit, ...] = field(default=(), repr=False, compare=False)

    @property
    def gain_in_words(self) -> str | None:
        """What pairing does to the standard error."""
        if self.gain is None:
            return None
        if self.gain < 1:
            return f"the standard error is {1 / self.gain:.2f} times larger than without it"
        return (
            f"the standard error is {self.gain:.2f} times smaller than without it, as good as "
            f"{self.gain**2:.1f} times the prompts"
        )

    def interval_of_moments(self) -> tuple[float, float] | None:
        """Paired t interval of the difference of mu; None without a standard error."""
        units = self.n_groups or self.n_shared
        if not self.se_mu or not self.paired or units < 2:
            return None
        reach = float(stdtrit(units - 1, (1 + self.ci_prob) / 2)) * self.se_mu
        return self.difference - reach, self.difference + reach

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract of ``pcorrect compare --json``."""
        return {
            "a": self.a,
            "b": self.b,
            "benchmark": self.benchmark,
            "n_shared": self.n_shared,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "paired": self.paired,
            "mu": self.mu.to_dict(),
            "score": self.score.to_dict(),
            "p_better": self.p_better,
            "p_better_score": self.p_better_score,
            "p_equivalent": self.p_equivalent,
            "rope": list(self.rope),
            "verdict": self.verdict,
            "correlation": None if self.correlation is None else self.correlation.mean,
            "correlation_interval": None
            if self.correlation is None
            else [self.correlation.lower, self.correlation.upper],
            "moments": {
                "difference": self.difference,
                "se_mu": self.se_mu,
                "se_score": self.se_score,
            },
            "pairing_gain": self.gain,
            "n_groups": self.n_groups,
            "ci_prob": self.ci_prob,
            "ci_kind": self.ci_kind,
            "seed": self.seed,
            "notes": list(self.notes),
        }
