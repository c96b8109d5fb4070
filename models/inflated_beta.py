r"""Zero-one-inflated Beta population: some prompts always fail, some never do, a Beta in between.

Story
-----
As in `beta_bernoulli.py`, but a share w_0 of the prompts is never answered correctly, and a share
w_1 always: a question outside of what the llm can do, a broken reference answer, an easy item. It
is right for exact heaps at 0 and 1; heaps *near* them (p = .02, .98) are none of its business.

Equations
---------
    (w_0, w_1, w_B) ~ Dirichlet(1/2, 1/2, 1)      w_0 + w_1 is uniform on (0, 1)
    m    ~ Beta(1, 1)                             mean of the Beta part
    r    ~ Beta(1, 1)                             its sd is r sqrt(m (1 - m))
    nu   = 1 / r^2 - 1
    p_i  ~ w_0 delta(0) + w_1 delta(1) + w_B Beta(m nu, (1 - m) nu)
    s_i  ~ Binomial(k_i, p_i)
    mu   = w_1 + w_B m
    sigma^2 = w_1 + w_B (r^2 m (1 - m) + m^2) - mu^2

What the data can identify
--------------------------
mu always. The weights are told from a U-shaped Beta only by many generations: at k = 8 a prompt
with p = .95 has all correct two times in three. At k = 1 neither weights, m nor r are identified.

Sampling
--------
The p_i are integrated out: a prompt with some right and some wrong generations belongs to the Beta,
the others are mixtures. They are drawn exactly afterwards.

References
----------
Ospina & Ferrari (2010), Statistical Papers 51:111.
"""

import numpy as np
import pymc as pm
from pymc import math

from pcorrect.data import PromptCounts
from pcorrect.priors import Priors

# Differences of log-gammas lose their digits beyond; the counts are binomial to within k^2 / nu.
NU_MAX = 1e8


def build(counts: PromptCounts, priors: Priors = Priors()) -> pm.Model:
    """The model with the counts as data."""
    k = counts.n_generations
    with pm.Model(coords={"prompt": counts.prompt}) as model:
        weight = pm.Dirichlet("weight", [0.5, 0.5, 1.0])
        m = pm.Beta("m", *priors.mu)
        r = pm.Beta("r", *priors.spread)
        nu = math.minimum(1 / r**2 - 1, NU_MAX)
        always_wrong = pm.Binomial.dist(n=k, p=0.0)
        always_correct = pm.Binomial.dist(n=k, p=1.0)
        between = pm.BetaBinomial.dist(n=k, alpha=m * nu, beta=(1 - m) * nu)
        pm.Mixture(
            "n_correct",
            w=weight,
            comp_dists=[always_wrong, always_correct, between],
            observed=counts.n_correct,
            dims="prompt",
        )
        mu = pm.Deterministic("mu", weight[1] + weight[2] * m)
        second = weight[1] + weight[2] * (r**2 * m * (1 - m) + m**2)
        pm.Deterministic("sigma", math.sqrt(second - mu**2))
    return model


def draw_p(posterior: dict[str, np.ndarray], counts: PromptCounts, rng: np.random.Generator):
    """One p_i per prompt for each posterior draw: shape (..., prompt)."""
    s, k = counts.n_correct, counts.n_generations
    m, r = posterior["m"][..., None], posterior["r"][..., None]
    w0, w1, rest = (posterior["weight"][..., i, None] for i in range(3))
    nu = np.minimum(1 / r**2 - 1, NU_MAX)
    a, b = m * nu, (1 - m) * nu
    # P(all wrong) and P(all correct) under the Beta: products over generations
    wrong, correct = np.ones((2, *np.broadcast_shapes(a.shape, k.shape)))
    for j in range(int(k.max(initial=0))):
        wrong *= np.where(j < k, (b + j) / (a + b + j), 1.0)
        correct *= np.where(j < k, (a + j) / (a + b + j), 1.0)
    spike0 = np.where(s == 0, w0, 0.0)
    spike1 = np.where(s == k, w1, 0.0)
    between = rest * np.where(k == 0, 1.0, np.where(s == 0, wrong, np.where(s == k, correct, 1.0)))
    u = rng.random(between.shape) * (spike0 + spike1 + between)
    p = rng.beta(s + a, k - s + b)
    return np.where(u < spike0, 0.0, np.where(u < spike0 + spike1, 1.0, p))
