r"""Hierarchical Beta-Bernoulli with the p_i integrated out: the same model, two parameters.

Story
-----
As in `beta_bernoulli.py`. Given mu and sigma the number of correct generations of a prompt is
Beta-Binomial; given the data as well, p_i is Beta, so that the p_i are drawn exactly afterwards.
The sampler sees a smooth two-dimensional posterior whatever the number of prompts.

Equations
---------
    mu    ~ Beta(1, 1)
    r     ~ Beta(1, 1)                      sigma = r sqrt(mu (1 - mu))
    nu    = 1 / r^2 - 1
    s_i   ~ BetaBinomial(k_i, mu nu, (1 - mu) nu)
    p_i   ~ Beta(s_i + mu nu, k_i - s_i + (1 - mu) nu)      given s_i, mu and sigma

What the data can identify
--------------------------
mu always; sigma and rho only where some k_i >= 2.

References
----------
Zhang, Cai & Chen (2025), arXiv 2502.08943, section 2; Prentice (1986), JASA 81:321.
"""

import numpy as np
import pymc as pm
from pymc import math

from pcorrect.data import PromptCounts
from pcorrect.priors import Priors

# The log-probability of a Beta-Binomial is a difference of log-gammas, which lose their digits at
# large nu; from here on the counts are binomial to within k^2 / nu anyway.
NU_MAX = 1e8


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data."""
    with pm.Model(coords={"prompt": counts.prompt}) as model:
        mu = pm.Beta("mu", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        pm.Deterministic("sigma", r * math.sqrt(mu * (1 - mu)))
        nu = math.minimum(1 / r**2 - 1, NU_MAX)
        pm.BetaBinomial(
            "n_correct",
            n=counts.n_generations,
            alpha=mu * nu,
            beta=(1 - mu) * nu,
            observed=counts.n_correct,
            dims="prompt",
        )
    return model


def draw_p(posterior: dict[str, np.ndarray], counts: PromptCounts, rng: np.random.Generator):
    """One p_i per prompt for each posterior draw: shape (..., prompt)."""
    mu, r = posterior["mu"][..., None], posterior["r"][..., None]
    nu = np.minimum(1 / r**2 - 1, NU_MAX)
    wrong = counts.n_generations - counts.n_correct
    return rng.beta(counts.n_correct + mu * nu, wrong + (1 - mu) * nu)
