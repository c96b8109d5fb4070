r"""A Dirichlet process around a Beta: the default, right also where the Beta's shape is wrong.

Story
-----
A benchmark's prompts are drawn from a population P of probabilities of being correct. P looks like
a Beta, but need not be one: a share of it sits on atoms, values that prompts have in common (p = 1
for everything that the llm always gets right, say). How large that share is, is learned. Prompt i
has p_i from P and k_i independent tries.

Equations
---------
    m      ~ Beta(1, 1)                     mean of the Beta
    r      ~ Beta(1, 1)                     its standard deviation: r sqrt(m (1 - m))
    nu     = 1 / r^2 - 1,   a = m nu,   b = (1 - m) nu
    alpha  ~ log-uniform on [1, 10^4]
    V_t    ~ Beta(1, alpha)                 t = 1 ... 32
    W_t    = V_t prod_{u < t} (1 - V_u)     share of atom t;   W_0 = prod_t (1 - V_t)
    phi_t  ~ Beta(a, b)                     place of atom t
    P      = W_0 Beta(a, b) + sum_t W_t delta(phi_t)
    p_i    ~ P
    s_i    ~ Binomial(k_i, p_i)

    mu     = W_0 m + sum_t W_t phi_t        mean of P
    sigma  = standard deviation of P

Stick-breaking of a Dirichlet process, DP(alpha, Beta(a, b)), whose remainder after 32 sticks is
replaced by its mean, the Beta itself. Hence alpha -> infinity is the hierarchical Beta-Bernoulli
model (`beta_binomial.py`) exactly, p_i smooth, whatever k; small alpha follows any data.

The p_i are integrated out, so that the data enter through how often each pair (s, k) occurs: with a
probability per pair that mixes binomials, one per atom, and a beta-binomial.

What the data can identify
--------------------------
mu always. sigma where some k_i >= 2. The shape of P, hence alpha, through the first max(k_i)
moments: with k = 1 alpha keeps its prior, with k = 2 nearly so, and small alpha means the Beta is
rejected only where there are more. The atoms have no order: look at P, not at single atoms.

Sampling
--------
``engine="gibbs"`` (the default; `pcorrect.engines.gibbs`) draws from the same posterior in a
fraction of a second and moves between labels of the atoms, which NUTS does not; a large R-hat of a
single atom or weight under NUTS means nothing, one of mu, sigma or alpha does.

References
----------
Ferguson (1973), Annals of Statistics 1:209. Ishwaran & James (2001), JASA 96:161, section 3
(truncated stick-breaking). Liu (1996), Annals of Statistics 24:911 (binomial data, Dirichlet
process around a Beta).
"""

import numpy as np
import pymc as pm
from pymc import math

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

STICKS = 32
# Differences of log-gammas lose their digits at large a + b; a spread that small is none.
NU_MAX = 1e8


def beta_log_density(logit_phi, a, b):
    """Log density of logit(phi) for phi ~ Beta(a, b): finite however near phi is to 0 or 1."""
    log_phi, log_1phi = -math.log1pexp(-logit_phi), -math.log1pexp(logit_phi)
    return a * log_phi + b * log_1phi - log_beta(a, b)


def log_beta(a, b):
    """Log of the beta function."""
    return pm.math.gammaln(a) + pm.math.gammaln(b) - pm.math.gammaln(a + b)


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data."""
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    s, f = cells.n_correct[:, None], (cells.n_generations - cells.n_correct)[:, None]
    with pm.Model() as model:
        m = pm.Beta("m", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        nu = math.minimum(1 / r**2 - 1, NU_MAX)
        a, b = pm.Deterministic("a", m * nu), pm.Deterministic("b", (1 - m) * nu)

        low, high = np.log(priors.alpha)
        alpha = pm.Deterministic("alpha", math.exp(pm.Uniform("log_alpha", low, high)))
        # V ~ Beta(1, alpha), written as -log(1 - V) ~ Exponential(1) / alpha
        gap = pm.Exponential("gap", 1.0, shape=STICKS) / alpha
        left = -math.cumsum(gap)
        log_atoms = math.log1mexp(-gap) + math.concatenate([[0.0], left[:-1]])
        log_rest = left[-1]

        logit_phi = pm.CustomDist(
            "logit_phi",
            a,
            b,
            logp=beta_log_density,
            shape=STICKS,
            initval=np.linspace(-2, 2, STICKS),
        )
        phi = math.sigmoid(logit_phi)
        log_phi, log_1phi = -math.log1pexp(-logit_phi), -math.log1pexp(logit_phi)

        log_parts = math.concatenate(
            [
                log_atoms + s * log_phi + f * log_1phi,
                log_rest + log_beta(a + s, b + f) - log_beta(a, b),
            ],
            axis=1,
        )
        pm.Potential("counts", math.sum(cells.n_prompts * math.logsumexp(log_parts, axis=1)))

        weight = math.exp(log_atoms)
        rest = math.exp(log_rest)
        mu = pm.Deterministic("mu", rest * m + math.sum(weight * phi))
        spread = rest * (m * (1 - m) * r**2 + (m - mu) ** 2) + math.sum(weight * (phi - mu) ** 2)
        pm.Deterministic("sigma", math.sqrt(spread))
        pm.Deterministic("rest", rest)
        pm.Deterministic("weight", weight)
        pm.Deterministic("atom", phi)
    return model


def draw_p(posterior: dict[str, np.ndarray], counts: PromptCounts, rng: np.random.Generator):
    """One p_i per prompt for each posterior draw: shape (..., prompt)."""
    shape = posterior["mu"].shape
    rest, a, b = (posterior[name].ravel() for name in ("rest", "a", "b"))
    weight, atom = (posterior[name].reshape(-1, STICKS) for name in ("weight", "atom"))
    total = rest + weight.sum(axis=1)
    population = Population(rest / total, a, b, weight / total[:, None], atom)
    p = population.draw_p(counts.n_correct, counts.n_generations, rng)
    return p.reshape(*shape, -1)
