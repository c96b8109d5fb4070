"""Which answer is the key, given the llms' votes: ``P(c) ~ (a + w_c)^alpha``, and its fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.votes import Votes

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class ChoicePrior:
    """Normal priors of log a, log alpha, log beta and log omega (mean, sd); sd between groups."""

    log_a: tuple[float, float] = (-3.5, 0.6)
    log_alpha: tuple[float, float] = (0.7, 0.35)
    alpha_group_sd: float = 0.3
    beta_sd: float = 1.5
    log_omega: tuple[float, float] = (1.0, 2.0)
    omega_group_sd: float = 1.0


class Choice:
    """The choice model on given votes.

    Its parameters are one vector: log a, mean log alpha, deviations of the G groups, log beta of
    the J llms, mean log omega, deviations of the groups. omega is the number of answers that nobody
    gave, where answers are free; among options that number is known.
    """

    def __init__(self, votes: Votes, prior: ChoicePrior) -> None:
        self.votes, self.prior = votes, prior
        self.n, self.groups = len(votes.group), int(votes.group.max()) + 1
        self.llms = votes.share.shape[1]
        self.starts = np.flatnonzero(np.diff(votes.prompt, prepend=-1))
        self.key_row = np.flatnonzero(votes.key)
        self.seen = votes.share.any(axis=1)
        self.row_group = votes.group[votes.prompt]
        self.free = votes.options == 0
        self.left = np.where(self.free, 0, np.maximum(votes.options - self.total(self.seen), 0))

    def total(self, rows: NDArray[np.generic]) -> FloatArray:
        """Sum over the rows of each prompt, shape (n,)."""
        return np.add.reduceat(rows.astype(float), self.starts)

    def start(self) -> FloatArray:
        """Prior means."""
        vector = np.zeros(3 + 2 * self.groups + self.llms)
        vector[0], vector[1] = self.prior.log_a[0], self.prior.log_alpha[0]
        vector[2 + self.groups + self.llms] = self.prior.log_omega[0]
        return vector

    def parameters(self, vector: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """a, alpha (G,), beta (J,) and log omega (G,)."""
        g, j = self.groups, self.llms
        alpha = np.exp(vector[1] + vector[2 : 2 + g])
        omega = vector[2 + g + j] + vector[3 + g + j :]
        return float(np.exp(vector[0])), alpha, np.exp(vector[2 + g : 2 + g + j]), omega

    def support(self, vector: FloatArray) -> FloatArray:
        """Weight a + w of every row; 0 for an answer that nobody gave."""
        a, _, beta, _ = self.parameters(vector)
        return np.where(self.seen, a + self.votes.share @ beta / self.llms, 0.0)

    def _logs(
        self, vector: FloatArray, flat: float = 1.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log probability of each row, of all unseen answers together, and of one of them."""
        _, alpha, _, omega = self.parameters(vector)
        exponent = flat * alpha
        with np.errstate(divide="ignore"):
            row = exponent[self.row_group] * np.log(self.support(vector))
            one = exponent[self.votes.group] * vector[0]
            number = np.where(self.free, omega[self.votes.group], np.log(self.left))
        unseen = number + one
        peak = np.maximum(np.maximum.reduceat(row, self.starts), unseen)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        mass = self.total(np.exp(row - peak[self.votes.prompt])) + np.exp(unseen - peak)
        norm = np.log(mass) + peak
        return row - norm[self.votes.prompt], unseen - norm, one - norm

    def probabilities(self, vector: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Probability of each row (0 if nobody gave it), of all unseen answers, and of one."""
        row, unseen, one = self._logs(vector)
        return np.exp(row), np.exp(unseen), np.exp(one)

    def key_probability(self, vector: FloatArray, flat: float = 1.0) -> FloatArray:
        """Probability of each prompt's key, with the exponent times `flat`."""
        row, unseen, one = self._logs(vector, flat)
        hidden = np.where(self.free, unseen, one)
        return np.exp(np.where(self.seen[self.key_row], row[self.key_row], hidden))

    def improve(
        self, vector: FloatArray, row_weight: FloatArray, unseen_weight: FloatArray
    ) -> FloatArray:
        """Parameters with a higher posterior, given how often each answer is the truth.

        Parameters
        ----------
        vector : ndarray
            Where to start.
        row_weight : ndarray, shape (H,)
        unseen_weight : ndarray, shape (n,)
        """
        from scipy.optimize import minimize

        found = minimize(
            self._objective,
            vector,
            args=(row_weight, unseen_weight),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 25},
        )
        return np.asarray(found.x)

    def _objective(
        self, vector: FloatArray, row_weight: FloatArray, unseen_weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Minus the log posterior and its gradient."""
        votes, seen, g = self.votes, self.seen, self.groups
        a, alpha, beta, _ = self.parameters(vector)
        row, unseen, _ = self._logs(vector)
        weight = self.total(row_weight) + unseen_weight
        value = float(row_weight[seen] @ row[seen])
        has = unseen_weight > 0
        value += float(unseen_weight[has] @ unseen[has])
        # With u = alpha log(a + w), the derivative by u is observed minus expected weight.
        excess = (row_weight - weight[votes.prompt] * np.exp(row))[seen]
        excess_unseen = unseen_weight - weight * np.exp(unseen)
        support = self.support(vector)[seen]
        slope = excess * alpha[self.row_group[seen]] / support
        by_group = np.bincount(self.row_group[seen], excess * np.log(support), g)
        by_group = (by_group + np.bincount(votes.group, excess_unseen * vector[0], g)) * alpha
        by_omega = np.bincount(votes.group, np.where(self.free, excess_unseen, 0.0), g)
        gradient = np.concatenate(
            [
                [a * slope.sum() + excess_unseen @ alpha[votes.group]],
                [by_group.sum()],
                by_group,
                (votes.share[seen].T @ slope) * beta / self.llms,
                [by_omega.sum()],
                by_omega,
            ]
        )
        mean, sd = self._prior_moments()
        z = (vector - mean) / sd
        return -(value - 0.5 * float(z @ z)), -(gradient - z / sd)

    def _prior_moments(self) -> tuple[FloatArray, FloatArray]:
        prior, g, j = self.prior, self.groups, self.llms
        mean = self.start()
        sd = np.concatenate(
            [
                [prior.log_a[1], prior.log_alpha[1]],
                np.full(g, prior.alpha_group_sd),
                np.full(j, prior.beta_sd),
                [prior.log_omega[1]],
                np.full(g, prior.omega_group_sd),
            ]
        )
        return mean, sd
