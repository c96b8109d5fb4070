r"""Hierarchical Beta-Bernoulli: one probability of being correct per prompt, all from one Beta.

Story
-----
A benchmark's prompts are drawn from a population. Prompt i is answered correctly with probability
p_i; the p_i scatter with mean mu and standard deviation sigma; each of its k_i generations is an
independent try. (The n_correct of k_i independent tries is Binomial: the tries themselves carry no
more information.)

Equations
---------
    mu    ~ Beta(1, 1)
    r     ~ Beta(1, 1)                      sigma = r sqrt(mu (1 - mu)): flat on all possible sigma
    rho   = r^2                             intra-class correlation
    nu    = 1 / rho - 1
    p_i   ~ Beta(mu nu, (1 - mu) nu)        mean mu, standard deviation sigma
    s_i   ~ Binomial(k_i, p_i)

What the data can identify
--------------------------
mu always; sigma and rho only where some k_i >= 2 (with one generation each, every sigma gives the
same probability of the data); with a single prompt, nothing but that prompt's p.

Sampling
--------
This is the textbook form, with every p_i a parameter. Where many p_i sit near 0 or 1 the sampler
meets spikes and diverges; `beta_binomial.py` is the same model with the p_i integrated out, and is
what ``engine="nuts"`` runs for it. To run this file itself, give its path.

References
----------
Zhang, Cai & Chen (2025), Beyond the Singular, arXiv 2502.08943, section 2.
Gelman et al. (2013), Bayesian Data Analysis, section 5.3.
"""

import pymc as pm

from pcorrect.data import PromptCounts
from pcorrect.priors import Priors


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data."""
    with pm.Model(coords={"prompt": counts.prompt}) as model:
        mu = pm.Beta("mu", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        pm.Deterministic("sigma", r * pm.math.sqrt(mu * (1 - mu)))
        nu = 1 / r**2 - 1
        p = pm.Beta("p", mu * nu, (1 - mu) * nu, dims="prompt")
        pm.Binomial(
            "n_correct", n=counts.n_generations, p=p, observed=counts.n_correct, dims="prompt"
        )
    return model
