r"""What fewer of the observed generations would have given: exact, over all subsets of them.

Choose k of a prompt's K generations at random, s of which are correct. The number of correct ones
among them is hypergeometric, so the prompt's estimate keeps its mean s / K and has the variance

.. math:: v = \frac{\hat p (1 - \hat p)}{k} \, \frac{K - k}{K - 1}

and with prompts thinned independently of each other

.. math:: E[s^2_k] = s^2_K + \overline{v}, \qquad E[W_k] = W_K

(the variance within prompts is a U-statistic: thinning leaves its expectation alone). For balanced
counts this is ``sigma_hat**2 + W_hat / k``: the moment prediction is the exact average of what was
observed, not an approximation of it. Only cells (s, K) enter, whatever the number of prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class SubsetExpectations:
    """Expectations over all subsets of at most k generations per prompt; arrays of shape (m,).

    Parameters
    ----------
    k : ndarray of int
        Generations kept of each prompt; prompts with fewer keep all of theirs.
    mean : ndarray
        Expectation of the benchmark mean: the same at every k.
    sd : ndarray
        Its standard deviation over subsets: how far a report from k generations strays from the
        one from all of them.
    se2_mu, se2_score : ndarray
        Expected squares of the two moment standard errors; nan where these are not defined.
    n_short : ndarray of int
        Prompts with fewer than k generations.
    """

    k: NDArray[np.int64]
    mean: FloatArray
    sd: FloatArray
    se2_mu: FloatArray
    se2_score: FloatArray
    n_short: NDArray[np.int64]

    def to_dataset(self) -> xr.Dataset:
        """Labelled copy over k."""
        import xarray as xr

        names = ("mean", "sd", "se_mu", "se_score", "n_short")
        return xr.Dataset({x: ("k", getattr(self, x)) for x in names}, coords={"k": self.k})

    @property
    def se_mu(self) -> FloatArray:
        """Root of `se2_mu`: the root-mean-square standard error for new prompts."""
        return np.sqrt(self.se2_mu)

    @property
    def se_score(self) -> FloatArray:
        """Root of `se2_score`: the root-mean-square standard error for these prompts."""
        return np.sqrt(self.se2_score)


def thinned_variance(
    s: NDArray[np.int64], big_k: NDArray[np.int64], k: NDArray[np.int64]
) -> FloatArray:
    """Variance of the proportion correct among k of K generations, s of which are correct.

    Parameters
    ----------
    s, big_k, k : ndarray of int
        Broadcast against each other; ``1 <= k <= big_k``.

    Returns
    -------
    ndarray
        Hypergeometric variance over k squared, in [0, 1/4].
    """
    p_hat = s / big_k
    # K = 1 leaves no choice: 0 / 0 is 0 here
    rest = (big_k - k) / np.maximum(big_k - 1, 1)
    return np.asarray(p_hat * (1 - p_hat) / k * rest)


def subset_expectations(counts: PromptCounts, k: NDArray[np.int64]) -> SubsetExpectations:
    """Expectations over the subsets of at most `k` generations of each prompt.

    Parameters
    ----------
    counts : PromptCounts
    k : ndarray of int, shape (m,)
        Each between 1 and the largest number of generations observed.

    Raises
    ------
    PcorrectError
        A `k` is out of range, or there is no scored generation.
    """
    k = np.atleast_1d(np.asarray(k, dtype=np.int64))
    scored = counts.n_generations > 0
    if not scored.any():
        raise PcorrectError("no scored generation: there are no subsets to look at")
    cells = Cells.from_counts(counts.n_correct[scored], counts.n_generations[scored])
    s, big_k = cells.n_correct, cells.n_generations
    if k.min() < 1 or k.max() > big_k.max():
        raise PcorrectError(
            f"k must lie between 1 and the {big_k.max()} generations observed, got "
            f"{k[(k < 1) | (k > big_k.max())][0]}"
        )
    share = cells.n_prompts / cells.n_prompts.sum()
    n = int(cells.n_prompts.sum())
    p_hat = s / big_k
    mean = float(share @ p_hat)
    within = p_hat * (1 - p_hat) * big_k / np.maximum(big_k - 1, 1)
    repeated = big_k > 1
    if repeated.any():
        # as in `moments`: a prompt with one generation carries the average of the others
        within[~repeated] = share[repeated] @ within[repeated] / share[repeated].sum()
    kept = np.minimum(k[:, None], big_k)
    variance = np.stack([thinned_variance(s, big_k, row) for row in kept])
    spread = share @ (p_hat - mean) ** 2 * n / (n - 1) if n > 1 else np.nan
    se2_score = np.where((k > 1) & repeated.any(), (within / kept) @ share / n, np.nan)
    return SubsetExpectations(
        k,
        np.full(len(k), mean),
        np.sqrt(variance @ share / n),
        (spread + variance @ share) / n,
        se2_score,
        np.array([cells.n_prompts[big_k < one].sum() for one in k]),
    )
