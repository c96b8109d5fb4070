r"""Latent truth: whether the key of a prompt is wrong, or the prompt unclear.

Story
-----
Several llms answer each prompt. Which answer is the key depends on how much support it has among
them: answer c with weight w_c is the key with probability proportional to (a + w_c)^alpha. How far
agreement of llms can be trusted, alpha, is learned from the keys themselves, for each group of
prompts; so a group of trick questions, where llms agree on wrong answers and err together, makes
agreement against a key less telling there. With probability e_g a prompt of group g is faulty.
Then either its key is wrong: the truth is another answer, and the key any answer but the truth; or
the prompt is unclear, and the key is drawn from flatter weights. Errors pile up in some groups.

Equations
---------
    beta_j    ~ LogNormal(0, 1.5)              what the answers of llm j tell: maybe nothing
    w_ic      = mean_j beta_j share_ijc        share of j's generations that gave answer c
    a         ~ LogNormal(-3.5, .6)
    alpha_g   ~ LogNormal(A, .3),  A ~ Normal(.7, .35)
    P_i(c)    = (a + w_ic)^alpha_g / sum       over all answers, also those that nobody gave
    right_i   = P_i(key)
    wrong_i   = sum over t other than the key of P_i(t) P(key | key is wrong, t is right)
    unclear_i = (a + w_i,key)^(.8 alpha_g) / sum
    log e_g   ~ Normal(L, 1.6),  L ~ Normal(log .09, .2),  e_g < .85
    P(key_i)  = (1 - e_g) right_i + e_g (wrong_i + unclear_i) / 2

Among C options, C minus the number of answers given were given by nobody, and a wrong key is each
option but the truth with probability 1 / (C - 1). Where answers are free there are omega_g such
answers, log omega_g ~ Normal(O, 1), O ~ Normal(1, 2); a wrong key was given by nobody with
probability .8, else it is one of the answers given, with probability proportional to a + w.

What the data can identify
--------------------------
alpha, a and beta from how often the key is the answer with most support. Differences between the
e_g from how often keys without support occur beyond what alpha_g explains. Not the overall level of
e: a key without support can be a mistake in the key or a mistake that all llms share, and no
answers tell which. The level, the spread between groups and the share of unclear prompts are
therefore informative priors, chosen on labelled results (benchmarks/accuracy/flags.py).

Sampling
--------
The truths and the classes are summed out: ``faulty`` is P(faulty | parameters, data). The engine of
`pcorrect.flag_prompts` takes the same model, a, alpha, beta and omega at their maximum by EM, and
the e_g integrated on a grid.

References
----------
Dawid & Skene (1979), JRSS C 28:20; Luce (1959), Individual Choice Behavior; Northcutt, Jiang &
Chuang (2021), JAIR 70:1373; Gema et al. (2024), Are We Done with MMLU?, arXiv 2406.04127.
"""

import numpy as np
import pymc as pm
from pymc import math

from pcorrect.consistency.latent_truth import Prior
from pcorrect.consistency.votes import Votes


def build(votes: Votes, prior: Prior = Prior()) -> pm.Model:
    """The model with the votes as data."""
    choice, n, llms = prior.choice, len(votes.group), votes.share.shape[1]
    group, free = votes.group, votes.options == 0
    # Rows of a prompt side by side, its key first.
    order = np.lexsort((~votes.key, votes.prompt))
    place = np.concatenate([np.arange(m) for m in np.bincount(votes.prompt)])
    share = np.zeros((n, place.max() + 1, llms))
    share[votes.prompt[order], place] = votes.share[order]
    seen = share.any(axis=2)
    left = np.maximum(votes.options - seen.sum(axis=1), 0)
    with pm.Model(coords={"group": np.unique(group), "llm": np.arange(llms)}) as model:
        a = pm.LogNormal("a", *choice.log_a)
        alpha = _by_group("alpha", choice.log_alpha, choice.alpha_group_sd)
        omega = _by_group("omega", choice.log_omega, choice.omega_group_sd)
        beta = pm.LogNormal("beta", 0, choice.beta_sd, dims="llm")
        level = pm.Normal("level", np.log(prior.rate), prior.level_sd)
        e = math.exp(level + prior.group_sd * pm.Normal("rate_group", dims="group"))
        rate = pm.Deterministic("rate", math.minimum(e, 0.85), dims="group")[group]

        support = math.switch(seen, a + math.dot(share, beta) / llms, 0.0)
        unseen = math.switch(free, omega[group], left)  # number of answers that nobody gave

        def chances(exponent):
            """Probability of each answer given, of all others together, and of one of these."""
            one = a**exponent
            weight = math.switch(seen, support ** exponent[:, None], 0.0)
            total = weight.sum(axis=1) + unseen * one
            return weight / total[:, None], unseen * one / total, one / total

        row, others, one = chances(alpha[group])
        flat_row, flat_others, flat_one = chances(prior.flat * alpha[group])
        key_seen = seen[:, 0]
        right = math.switch(key_seen, row[:, 0], math.switch(free, others, one))
        unclear = math.switch(key_seen, flat_row[:, 0], math.switch(free, flat_others, flat_one))

        among_options = (1 - right) / np.maximum(votes.options - 1, 1)
        rest = math.maximum(support.sum(axis=1, keepdims=True) - support, 1e-12)
        given = (row * support[:, :1] / rest)[:, 1:].sum(axis=1)
        given += others * support[:, 0] / math.maximum(support.sum(axis=1), 1e-12)
        if_free = math.switch(key_seen, prior.given * given, 1 - prior.given)
        wrong = math.switch(free, if_free, among_options)

        bad = rate * ((1 - prior.unclear) * wrong + prior.unclear * unclear)
        evidence = (1 - rate) * right + bad
        pm.Deterministic("faulty", bad / evidence)
        pm.Deterministic("wrong_key", rate * (1 - prior.unclear) * wrong / evidence)
        pm.Potential("keys", math.log(evidence).sum())
    return model


def _by_group(name: str, log_mean: tuple[float, float], group_sd: float):
    """Log-normal parameter of each group around a common mean."""
    mean = pm.Normal(f"log_{name}", *log_mean)
    deviation = pm.Normal(f"{name}_group", 0, 1, dims="group")
    return pm.Deterministic(name, math.exp(mean + group_sd * deviation), dims="group")
