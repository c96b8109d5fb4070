"""Rank-normalised split R-hat and bulk effective sample size (Vehtari et al. 2021).

Bayesian Analysis 16:667, equations 1-14. The same definitions as ArviZ, which takes seconds to
import; a test holds the two equal.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from pcorrect.marginal import FloatArray


def r_hat(draws: FloatArray) -> float:
    """The larger of the rank-normalised split R-hats of the draws and of their folded values.

    Parameters
    ----------
    draws : ndarray, shape (chain, draw)
    """
    halves = _split(draws)
    if not np.ptp(halves) > 0:
        return 1.0
    folded = np.abs(halves - np.median(halves))
    return max(_potential_scale(_normal_scores(x)) for x in (halves, folded))


def ess_bulk(draws: FloatArray) -> float:
    """Effective sample size of the rank-normalised split chains.

    Parameters
    ----------
    draws : ndarray, shape (chain, draw)
    """
    z = _normal_scores(_split(draws))
    chains, n = z.shape
    if not np.ptp(draws) > 0:
        return float(draws.size)
    # autocovariance by FFT, padded against wrap-around
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(z - z.mean(axis=1, keepdims=True), size, axis=1)
    acov = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n] / n
    mean_var = acov[:, 0].mean() * n / (n - 1)
    var_plus = mean_var * (n - 1) / n + (z.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    rho = 1 - (mean_var - acov.mean(axis=0)) / var_plus
    rho[0] = 1.0
    # Geyer's initial monotone sequence over sums of neighbouring pairs
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    # ArviZ leaves the last lags out of the sum, should the pairs stay positive to the end
    stop = min(int(negative[0]) if len(negative) else n, max(1, (n - 3) // 2))
    last = float(rho[2 * stop]) if 2 * stop < n else 0.0
    tau = -1 + 2 * np.minimum.accumulate(pairs[:stop]).sum() + max(last, 0.0)
    return float(z.size / max(tau, 1 / np.log10(z.size)))


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]]) if half > 1 else draws


def _normal_scores(x: FloatArray) -> FloatArray:
    order = np.argsort(x, axis=None)
    value = np.ravel(x)[order]
    # average ranks of ties
    first = np.searchsorted(value, value, side="left")
    last = np.searchsorted(value, value, side="right")
    rank = np.empty(x.size)
    rank[order] = (first + last + 1) / 2
    return np.asarray(ndtri((rank - 0.375) / (x.size + 0.25))).reshape(x.shape)


def _potential_scale(z: FloatArray) -> float:
    n = z.shape[1]
    within = z.var(axis=1, ddof=1).mean()
    between = z.mean(axis=1).var(ddof=1)
    return float(np.sqrt((n - 1) / n + between / within))
