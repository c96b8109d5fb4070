"""Results whose truth is known: for trying things out, and for checking the engines."""

from __future__ import annotations

import numpy as np

from pcorrect.data import PromptCounts
from pcorrect.errors import PcorrectError
from pcorrect.marginal import FloatArray

_MOST = 1_000_000_000


def simulate(
    n: int,
    k: int,
    *,
    mu: float = 0.6,
    sigma: float = 0.3,
    seed: int = 0,
    llm: str = "simulated",
    benchmark: str = "simulated",
) -> tuple[PromptCounts, FloatArray]:
    """Counts from a Beta population, and the p_i behind them.

    Parameters
    ----------
    n, k : int
        Prompts, and generations of each.
    mu, sigma : float
        Mean and standard deviation of the p_i; ``sigma`` in [0, sqrt(mu (1 - mu))].
    seed : int
    llm, benchmark : str

    Returns
    -------
    counts : PromptCounts
    p : ndarray, shape (n,)

    Raises
    ------
    PcorrectError
        No Beta has this mean and standard deviation, or a size is below 1.
    """
    bound = float(np.sqrt(mu * (1 - mu))) if 0 < mu < 1 else 0.0
    if not 0 < mu < 1 or not 0 <= sigma < bound:
        raise PcorrectError(
            f"mu = {mu}, sigma = {sigma}: needs 0 < mu < 1 and 0 <= sigma < sqrt(mu (1 - mu)) "
            f"= {bound:.4g}"
        )
    if n < 1 or k < 1:
        raise PcorrectError(f"n = {n}, k = {k}: needs at least one prompt and one generation")
    if max(n, k) > _MOST or seed < 0:
        raise PcorrectError(f"n = {n}, k = {k}, seed = {seed}: at most {_MOST:,}, and seed >= 0")
    rng = np.random.default_rng(seed)
    if sigma == 0:
        p = np.full(n, mu)
    else:
        nu = mu * (1 - mu) / sigma**2 - 1
        p = rng.beta(mu * nu, (1 - mu) * nu, n)
    width = len(str(n))
    prompt = [f"prompt-{i + 1:0{width}d}" for i in range(n)]
    counts = PromptCounts.from_arrays(
        rng.binomial(k, p), k, llm=llm, benchmark=benchmark, prompt=prompt
    )
    return counts, p
