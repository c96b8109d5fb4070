r"""Two llms on the same prompts: correlated logit-normal p, a binomial for each llm.

Story
-----
A prompt has a difficulty for llm A and one for llm B; the two go together. On the logit scale they
are jointly normal, and each llm's generations are independent tries given its p. The difference of
the means of p is what a comparison on new prompts is about, and the correlation is what pairing
gains.

Equations
---------
    m_l     ~ Normal(0, 1.5)                l = A, B: middle of the logits
    s_l     ~ HalfNormal(2)                 their spread
    omega   ~ Uniform(-1, 1)                correlation of the logits (LKJ with eta = 1)
    z_i     ~ Normal((0, 0), [[1, omega], [omega, 1]])
    p_li    = logistic(m_l + s_l z_li)
    s_li    ~ Binomial(k_li, p_li)
    mu_l    = E logistic(m_l + s_l z)       by Gauss-Hermite quadrature
    difference       = mu_A - mu_B          new prompts
    score_difference = mean(p_A) - mean(p_B)        these prompts

What the data can identify
--------------------------
mu and their difference always; omega, s and the correlation of p only where both llms have prompts
with k >= 2. The logit-normal has light tails near 0 and 1: where p pile up there (many prompts
always right), mu is pulled towards the fitted shape, as with any parametric population.

Use
---
An independent check of `pcorrect.paired_difference`, which assumes no shape; `build` takes `Counts`
of exactly two llms and uses the prompts that both answered.

References
----------
Miller (2024), Adding error bars to evals, arXiv 2411.00640, section 4.2 (why to pair).
Lewandowski, Kurowicka & Joe (2009), Journal of Multivariate Analysis 100:1989.
"""

import numpy as np
import pymc as pm

from pcorrect.data import Counts
from pcorrect.errors import DataError


def build(counts: Counts) -> pm.Model:
    """The model with the counts of two llms as data."""
    if not isinstance(counts, Counts) or len(counts.llm) != 2:
        raise DataError("models/paired.py needs Counts of exactly two llms")
    shared = (counts.n_generations > 0).all(axis=0)
    if not shared.any():
        raise DataError("the two llms share no prompt with a scored generation of both")
    s, k = counts.n_correct[:, shared].T, counts.n_generations[:, shared].T
    node, weight = np.polynomial.hermite_e.hermegauss(41)
    weight = weight / weight.sum()

    coords = {"prompt": counts.prompt[shared].astype(str), "llm": counts.llm.astype(str)}
    with pm.Model(coords=coords) as model:
        m = pm.Normal("m", 0, 1.5, dims="llm")
        s_logit = pm.HalfNormal("s", 2, dims="llm")
        omega = pm.Uniform("omega", -1, 1)
        # Non-centred, and the second column correlated with the first by hand: a 2 x 2 Cholesky.
        raw = pm.Normal("raw", 0, 1, dims=("prompt", "llm"))
        rest = pm.math.sqrt(1 - omega**2)
        z = pm.math.stack([raw[:, 0], omega * raw[:, 0] + rest * raw[:, 1]], axis=1)
        p = pm.Deterministic("p", pm.math.sigmoid(m + s_logit * z), dims=("prompt", "llm"))
        pm.Binomial("n_correct", n=k, p=p, observed=s, dims=("prompt", "llm"))

        curve = pm.math.sigmoid(m[:, None] + s_logit[:, None] * node)
        mu = pm.Deterministic("mu", curve @ weight, dims="llm")
        sigma2 = (curve**2) @ weight - mu**2
        pm.Deterministic("sigma", pm.math.sqrt(sigma2), dims="llm")
        pm.Deterministic("difference", mu[0] - mu[1])
        pm.Deterministic("score_difference", pm.math.mean(p[:, 0] - p[:, 1]))
        # E[p_A p_B]: the second logit given the first is normal
        inner = pm.math.sigmoid(m[1] + s_logit[1] * (omega * node[:, None] + rest * node[None, :]))
        cross = weight @ (curve[0] * (inner @ weight))
        pm.Deterministic(
            "correlation", (cross - mu[0] * mu[1]) / pm.math.sqrt(sigma2[0] * sigma2[1])
        )
    return model
