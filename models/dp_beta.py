r"""Dirichlet process centred on the Beta: follows the data where no Beta does. The default.

Story
-----
As in `beta_bernoulli.py`, but the population of p is not a Beta: it is a random distribution whose
expectation is one. A few sticks are broken off and heaped at single values of p ("atoms": an
end point, a plateau); what remains of the stick is the Beta itself. With a large alpha hardly
anything is broken off, and the model *is* the hierarchical Beta-Bernoulli; with a small alpha the
atoms carry everything and follow the data. The posterior of alpha says how far the Beta can be
trusted.

Equations
---------
    m     ~ Beta(1, 1),  r ~ Beta(1, 1)      mean and relative sd of the Beta at the centre
    nu    = 1 / r^2 - 1
    alpha ~ log-uniform(1, 10^4)
    V_t   ~ Beta(1, alpha),  t = 1 .. 32     shares broken off
    w_t   = V_t prod_{u < t} (1 - V_u),      w_0 = prod_t (1 - V_t) remains
    phi_t ~ Beta(m nu, (1 - m) nu)           where the atoms sit
    P     = w_0 Beta(m nu, (1 - m) nu) + sum_t w_t delta(phi_t)
    p_i   ~ P,   s_i ~ Binomial(k_i, p_i)
    mu, sigma = mean and standard deviation of P

What the data can identify
--------------------------
mu always; sigma and rho where some k_i >= 2; alpha only with many prompts and k_i large enough to
see a shape (at k = 1 nothing of it, at k = 2 hardly anything). Single atoms have no meaning.

Sampling
--------
The p_i are integrated out (a mixture of Binomials and one Beta-Binomial) and drawn exactly
afterwards. Atoms can trade places, so r_hat is to be read on mu, sigma and alpha only. The fast
engine (``engine="gibbs"``) samples the same model.

References
----------
Ferguson (1973), Annals of Statistics 1:209; Sethuraman (1994), Statistica Sinica 4:639;
Ishwaran & James (2001), JASA 96:161 (stick-breaking, truncation).
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from pcorrect.cells import Cells
from pcorrect.data import PromptCounts
from pcorrect.populations.population import Population
from pcorrect.priors import Priors

STICKS = 32
# Differences of log-gammas lose their digits beyond; the counts are binomial to within k^2 / nu.
NU_MAX = 1e8


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data, prompts with equal (s, k) taken together."""
    cells = Cells.from_counts(counts.n_correct, counts.n_generations)
    s, k = cells.n_correct, cells.n_generations
    with pm.Model() as model:
        m = pm.Beta("m", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        nu = pt.minimum(1 / r**2 - 1, NU_MAX)
        a, b = m * nu, (1 - m) * nu
        log_alpha = pm.Uniform("log_alpha", *np.log(priors.alpha))
        alpha = pm.Deterministic("alpha", pt.exp(log_alpha))
        # -log(1 - V) is exponential with rate alpha: no share is lost to rounding
        broken = pm.Exponential("broken", alpha, shape=STICKS)
        remaining = pt.concatenate([pt.zeros(1), -pt.cumsum(broken)])
        log_w = pm.Deterministic("log_w", remaining[:-1] + pt.log1mexp(-broken))
        log_rest = pm.Deterministic("log_rest", remaining[-1])
        phi = pm.Beta("phi", a, b, shape=STICKS)

        atoms = log_w + pm.logp(pm.Binomial.dist(n=k[:, None], p=phi), s[:, None])
        rest = log_rest + pm.logp(pm.BetaBinomial.dist(n=k, alpha=a, beta=b), s)
        by_cell = pt.logsumexp(pt.concatenate([atoms, rest[:, None]], axis=1), axis=1)
        pm.Potential("counts", pt.sum(cells.n_prompts * by_cell))

        w, rest = pt.exp(log_w), pt.exp(log_rest)
        mu = pm.Deterministic("mu", pt.sum(w * phi) + rest * m)
        second = pt.sum(w * phi**2) + rest * (m**2 + r**2 * m * (1 - m))
        pm.Deterministic("sigma", pt.sqrt(pt.maximum(second - mu**2, 0.0)))
    return model


def draw_p(posterior: dict[str, np.ndarray], counts: PromptCounts, rng: np.random.Generator):
    """One p_i per prompt for each posterior draw: shape (..., prompt)."""
    shape = posterior["m"].shape
    m, r = posterior["m"].ravel(), posterior["r"].ravel()
    nu = np.minimum(1 / r**2 - 1, NU_MAX)
    weight, atom = np.exp(posterior["log_w"]), posterior["phi"]
    population = Population(
        np.exp(posterior["log_rest"]).ravel(),
        m * nu,
        (1 - m) * nu,
        weight.reshape(-1, STICKS),
        atom.reshape(-1, STICKS),
    )
    return population.draw_p(counts.n_correct, counts.n_generations, rng).reshape(*shape, -1)
