"""Draws of a population of p_i: what every engine hands on, whatever the model.

Each posterior draw of the population is a mixture of point masses ("atoms") and one Beta::

    P = sum_t weight[t] * delta(atom[t]) + beta_weight * Beta(a, b)

The Beta model has no atoms, the Dirichlet process and the inflated Beta have some, and a density on
a fine grid is all atoms. Everything that later parts ask of a population (probability of a count,
p_i given a count, moments, new data) has a closed form for such mixtures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, xlog1py, xlogy

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Population:
    """D draws of a mixture population with T atoms.

    Parameters
    ----------
    beta_weight, a, b : ndarray, shape (D,)
        Share and parameters of the Beta part; a and b are positive also where its share is 0.
    weight, atom : ndarray, shape (D, T)
        Shares and positions in [0, 1] of the atoms; T may be 0. Shares add up to 1 with
        `beta_weight`.
    """

    beta_weight: FloatArray
    a: FloatArray
    b: FloatArray
    weight: FloatArray
    atom: FloatArray

    @classmethod
    def beta(cls, a: FloatArray, b: FloatArray) -> Population:
        """Draws of a plain Beta population."""
        none = np.zeros((len(a), 0))
        return cls(np.ones(len(a)), a, b, none, none)

    def __len__(self) -> int:
        return len(self.a)

    def take(self, index: NDArray[np.intp]) -> Population:
        """The draws at `index`."""
        return Population(
            *(x[index] for x in (self.beta_weight, self.a, self.b, self.weight, self.atom))
        )

    def mean(self) -> FloatArray:
        """Mean mu of each draw, shape (D,)."""
        atoms = np.sum(self.weight * self.atom, axis=1)
        # shares add up to 1 within rounding, and variances are made of mu (1 - mu)
        return np.clip(self.beta_weight * self.a / (self.a + self.b) + atoms, 0.0, 1.0)

    def variance(self) -> FloatArray:
        """Variance sigma**2 of each draw, shape (D,)."""
        nu = self.a + self.b
        m = self.a / nu
        mu = self.mean()
        own = m * self.b / nu / (nu + 1)
        return np.asarray(
            self.beta_weight * (own + (m - mu) ** 2)
            + np.sum(self.weight * (self.atom - mu[:, None]) ** 2, axis=1)
        )

    def log_parts(self, s: IntArray, k: IntArray) -> FloatArray:
        """Log of share times probability of s correct of k, by part of the mixture.

        Parameters
        ----------
        s, k : ndarray of int, shape (m,)

        Returns
        -------
        ndarray, shape (D, m, T + 1)
            The Beta part last. Sums over parts to the probability of the count.
        """
        f = k - s
        choose = gammaln(k + 1.0) - gammaln(s + 1.0) - gammaln(f + 1.0)
        with np.errstate(divide="ignore"):
            atoms = (
                np.log(self.weight)[:, None, :]
                + xlogy(s[:, None], self.atom[:, None, :])
                + xlog1py(f[:, None], -self.atom[:, None, :])
            )
            a, b = self.a[:, None], self.b[:, None]
            rest = np.log(self.beta_weight)[:, None] + betaln(s + a, f + b) - betaln(a, b)
        return np.asarray(np.concatenate([atoms, rest[:, :, None]], axis=2) + choose[:, None])

    def log_prob(self, s: IntArray, k: IntArray) -> FloatArray:
        """Log probability of s correct of k under each draw, shape (D, m)."""
        return _log_sum(self.log_parts(s, k))

    def draw_p(self, s: IntArray, k: IntArray, rng: np.random.Generator) -> FloatArray:
        """One draw of p given (s, k) from each draw of the population, shape (D, m).

        Exact: the part of the mixture first, then the atom, or Beta(s + a, k - s + b).
        """
        parts = self.atom.shape[1]
        if not parts:
            return np.asarray(rng.beta(s + self.a[:, None], (k - s) + self.b[:, None]))
        # Prompts with the same counts share the probabilities of the parts.
        pairs, of_prompt = np.unique(np.stack([s, k]), axis=1, return_inverse=True)
        out = np.empty((len(self), len(s)))
        # Blocks of draws keep the arrays within about 50 MB.
        step = max(1, 6_000_000 // max(1, len(s), pairs.shape[1] * (parts + 1)))
        for start in range(0, len(self), step):
            block = self.take(np.arange(start, min(start + step, len(self))))
            # All cumulated shares in one sorted row, those of each pair 2 above the last pair's:
            # no array of all prompts times all parts.
            share = np.cumsum(_normalised(block.log_parts(*pairs))[:, :, :-1], axis=2)
            at = np.arange(share[..., 0].size).reshape(share.shape[:2])
            wanted = rng.random((len(block), len(s))) + 2.0 * at[:, of_prompt]
            chosen = np.searchsorted((share + 2.0 * at[:, :, None]).ravel(), wanted)
            chosen -= parts * at[:, of_prompt]
            rest = chosen == parts
            p = np.take_along_axis(block.atom, np.minimum(chosen, parts - 1), axis=1)
            row, column = np.nonzero(rest)
            p[rest] = rng.beta(s[column] + block.a[row], (k[column] - s[column]) + block.b[row])
            out[start : start + step] = p
        return out

    def draw_new(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw p of `n` new prompts from each draw of the population, shape (D, n)."""
        zero = np.zeros(n, dtype=np.int64)
        return self.draw_p(zero, zero, rng)


def _log_sum(parts: FloatArray) -> FloatArray:
    top = parts.max(axis=-1)
    return np.asarray(top + np.log(np.exp(parts - top[..., None]).sum(axis=-1)))


def _normalised(parts: FloatArray) -> FloatArray:
    share = np.exp(parts - parts.max(axis=-1, keepdims=True))
    return np.asarray(share / share.sum(axis=-1, keepdims=True))
