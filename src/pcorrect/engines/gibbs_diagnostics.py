"""Rank-normalised split R-hat and bulk effective sample size, in NumPy.

Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16(2):667; equal to ArviZ's
values, without importing it (which takes longer than a fit).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

FloatArray = NDArray[np.float64]


def r_hat(draws: FloatArray) -> float:
    """Rank-normalised split R-hat of draws of shape (chain, draw): the larger of bulk and tail."""
    split = _split(draws)
    folded = np.abs(split - np.median(split))
    return max(_plain_r_hat(_normal_scores(split)), _plain_r_hat(_normal_scores(folded)))


def ess(draws: FloatArray) -> float:
    """Bulk effective sample size of draws of shape (chain, draw)."""
    z = _normal_scores(_split(draws))
    chains, length = z.shape
    if np.ptp(z) < 1e-15:
        return float(z.size)
    centred = z - z.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length] / length
    within = covariance[:, 0].mean() * length / (length - 1)
    total = within * (length - 1) / length + (z.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    rho = 1 - (within - covariance.mean(axis=0)) / total
    rho[0] = 1.0
    # Geyer: sums of neighbouring pairs are positive and decrease; cut and level them.
    pairs = rho[: length - length % 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    levelled = np.minimum.accumulate(pairs[:stop])
    tau = -1.0 + 2.0 * levelled.sum()
    if stop < len(pairs):
        tau += max(float(rho[2 * stop]), 0.0)
    return float(z.size / max(tau, 1 / np.log10(z.size)))


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _plain_r_hat(z: FloatArray) -> float:
    length = z.shape[1]
    within = z.var(axis=1, ddof=1).mean()
    if within == 0:
        return 1.0
    between = length * z.mean(axis=1).var(ddof=1)
    return float(np.sqrt((between / within + length - 1) / length))


def _normal_scores(values: FloatArray) -> FloatArray:
    """Normal scores of the average ranks (Blom's offset)."""
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2
    score = ndtri((rank - 3 / 8) / (values.size + 1 / 4))
    return np.asarray(score[inverse].reshape(values.shape))
