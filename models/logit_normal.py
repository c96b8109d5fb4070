r"""Logit-normal population: log-odds of being correct are normal, the logistic mixed model.

Story
-----
As in `beta_bernoulli.py`, but the log-odds of p_i scatter normally: prompt i is harder or easier
than the middle one by a normal amount on the log-odds scale. It is what logistic mixed models and
item response models of one llm assume. A logit-normal has no mass heaped at 0 and 1 unless its
standard deviation is large, and then it has both heaps.

Equations
---------
    q      ~ Beta(1, 1)                     the mean mu, nearly
    r      ~ Beta(1, 1)                     square root of the intra-class correlation of log-odds
    m      = logit(q) / sqrt(1 - r^2)
    t      = pi / sqrt(3) r / sqrt(1 - r^2)
    x_i    ~ Normal(m, t)
    p_i    = 1 / (1 + exp(-x_i))
    s_i    ~ Binomial(k_i, p_i)
    mu     = E p,  sigma^2 = Var p          over the population: integrals, no closed form

Priors on q and r, not on m and t: a flat prior of m says little where t is large, for then even
m = 5 leaves many prompts wrong. With this pair the same priors serve as for the Beta population.

What the data can identify
--------------------------
mu always; sigma (and t) only where some k_i >= 2.

Sampling
--------
With x_i = m + t z_i, z_i standard normal ("non-centred"), which moves freely at small k; at k in
the hundreds the sampler slows down. The fast engine integrates every p_i out.

References
----------
Zeger, Liang & Albert (1988), Biometrics 44:1049: q against mu, within .03.
Goldstein, Browne & Rasbash (2002), Understanding Statistics 1:223: r^2.
Gelman & Hill (2007), Data Analysis Using Regression and Multilevel Models, chapter 14.
"""

import numpy as np
import pymc as pm
from pymc import math

from pcorrect.data import PromptCounts
from pcorrect.priors import Priors

# Nodes of a standard normal: equally spaced, which converges exponentially for smooth integrands.
Z = np.arange(-8, 8.01, 0.02)
WEIGHT = np.exp(-(Z**2) / 2) / np.exp(-(Z**2) / 2).sum()


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data."""
    with pm.Model(coords={"prompt": counts.prompt}) as model:
        q = pm.Beta("q", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        rest = math.sqrt(1 - r**2)
        m = pm.Deterministic("logit_mean", math.logit(q) / rest)
        t = pm.Deterministic("logit_sd", np.pi / np.sqrt(3) * r / rest)
        z = pm.Normal("z", dims="prompt")
        p = pm.Deterministic("p", math.invlogit(m + t * z), dims="prompt")
        pm.Binomial(
            "n_correct", n=counts.n_generations, p=p, observed=counts.n_correct, dims="prompt"
        )
        node = math.invlogit(m + t * Z)
        mu = pm.Deterministic("mu", math.sum(WEIGHT * node))
        pm.Deterministic("sigma", math.sqrt(math.sum(WEIGHT * (node - mu) ** 2)))
    return model
