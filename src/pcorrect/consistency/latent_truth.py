r"""Is the key of a prompt wrong? A latent-truth model of several llms' answers.

The key of prompt i is answer c with probability

.. math:: P(\mathrm{key} = c) \propto (a + w_c)^{\alpha_g}, \qquad
    w_c = \frac1J \sum_j \beta_j\, \mathrm{share}_{jc}

where share_jc is the share of llm j's generations that gave c, beta_j how much its answers tell,
and a what an answer has that nobody gave. alpha_g is fitted to the keys of group g: where llms
agree on answers that are not the key although all is well with it (trick questions, hard subjects)
it is small, and agreement against a key says little there. It is this that lets errors of llms go
together; a model in which llms err independently takes every shared mistake for a wrong key.

With probability e_g a prompt of group g is faulty. Half of the faulty prompts have a wrong key: the
truth t is another answer, distributed as above, and the key is any answer but t. The other half are
unclear: the key is drawn from the same weights flattened, :math:`(a + w_c)^{\lambda \alpha_g}`.
log e_g is normal with a large spread between groups, since errors pile up in some groups, and a
level shared by all; so the prevalence of each group is learned, without any label.

`fit` finds a, alpha_g and beta_j by EM and integrates over e_g and its level on a grid. The same
model as a PyMC program: ``models/latent_truth.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pcorrect.consistency.choice import Choice, ChoicePrior
from pcorrect.consistency.votes import Votes

FloatArray = NDArray[np.float64]

_ITERATIONS = 15
# While weights are still rough, prevalences keep their prior.
_WARM_UP = 3
_RATES = np.geomspace(0.001, 0.85, 41)
_LEVELS = np.linspace(-2.5, 2.5, 11)


@dataclass(frozen=True)
class Prior:
    """Prior of the model.

    Chosen on half of the subjects of MMLU-Redux, the only step that saw labels, and on keys
    that were falsified in other results; see benchmarks/accuracy/flags.py.

    Parameters
    ----------
    rate, level_sd, group_sd : float
        Median of e_g, log-sd of its level and log-sd of groups around the level.
    unclear : float
        Share of unclear prompts among faulty ones.
    flat : float
        lambda: 0 makes the key of an unclear prompt any answer, 1 the same as in a clear one.
    given : float
        Where answers are free, probability that a wrong key is an answer that an llm gave.
    choice : ChoicePrior
    """

    rate: float = 0.09
    level_sd: float = 0.2
    group_sd: float = 1.6
    unclear: float = 0.5
    flat: float = 0.8
    given: float = 0.2
    choice: ChoicePrior = field(default_factory=ChoicePrior)


@dataclass(frozen=True)
class LatentTruth:
    """Posterior of the model.

    Parameters
    ----------
    faulty, wrong_key, unclear : ndarray, shape (n,)
        Probabilities; ``faulty = wrong_key + unclear``.
    truth : ndarray, shape (H,)
        Probability that the key is wrong and this answer is right (0 for the key itself).
    rate : ndarray, shape (G,)
        Posterior mean of e_g.
    weight : ndarray, shape (J,)
        beta_j, relative to their mean.
    exponent : ndarray, shape (G,)
        alpha_g.
    log_likelihood : float
        Of the keys given the answers.
    """

    faulty: FloatArray
    wrong_key: FloatArray
    unclear: FloatArray
    truth: FloatArray
    rate: FloatArray
    weight: FloatArray
    exponent: FloatArray
    log_likelihood: float


def fit(votes: Votes, prior: Prior | None = None) -> LatentTruth:
    """Posterior probability that each prompt is faulty.

    Parameters
    ----------
    votes : Votes
    prior : Prior, optional

    Returns
    -------
    LatentTruth
        Deterministic; no label is used.
    """
    prior = prior or Prior()
    choice = Choice(votes, prior.choice)
    position = choice.start()
    for step in range(_ITERATIONS):
        wrong, truth, unseen = _wrong_key(choice, position, prior)
        unclear = choice.key_probability(position, prior.flat)
        right = choice.key_probability(position)
        faulty = (1 - prior.unclear) * wrong + prior.unclear * unclear
        rates = _Rates(right, faulty, votes.group, prior, learn=step >= _WARM_UP)
        share = (1 - prior.unclear) * wrong / np.maximum(faulty, 1e-300)
        wrong_key = rates.faulty * share
        if step < _ITERATIONS - 1:
            clear = 1 - rates.faulty
            key = choice.key_row
            seen = choice.seen[key]
            row_weight = wrong_key[votes.prompt] * truth
            row_weight[key] += np.where(seen, clear, 0.0)
            position = choice.improve(
                position, row_weight, wrong_key * unseen + np.where(seen, 0.0, clear)
            )
    _, exponent, weight, _ = choice.parameters(position)
    return LatentTruth(
        rates.faulty,
        wrong_key,
        rates.faulty - wrong_key,
        truth * wrong_key[votes.prompt],
        rates.mean,
        weight / weight.mean(),
        exponent,
        rates.log_likelihood,
    )


def _wrong_key(
    choice: Choice, position: FloatArray, prior: Prior
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Probability of each key if it is wrong, and of each truth then (rows; unseen answers).

    Among options every one but the truth is the key equally often. Where answers are free the key
    is an answer that nobody gave, or, with probability `given`, one of the given ones in proportion
    to a + w.
    """
    votes, key = choice.votes, choice.key_row
    seen, free = choice.seen[key], votes.options == 0
    row, unseen, one_unseen = choice.probabilities(position)
    own = np.where(seen, row[key], np.where(free, 0.0, one_unseen))
    support = choice.support(position)
    rest = np.maximum(choice.total(support)[votes.prompt] - support, 1e-12)
    likely = np.where(votes.key, 0.0, row)
    given = support[key][votes.prompt] / rest
    given_unseen = support[key] / np.maximum(choice.total(support), 1e-12)
    by_truth = np.where((free & seen)[votes.prompt], likely * given, likely)
    by_unseen = np.where(
        free & seen,
        unseen * given_unseen,
        np.maximum(unseen - np.where(seen | free, 0.0, own), 0.0),
    )
    total = choice.total(by_truth) + by_unseen
    among_options = (1 - own) / np.maximum(votes.options - 1, 1)
    wrong = np.where(free, np.where(seen, prior.given * total, 1 - prior.given), among_options)
    total = np.maximum(total, 1e-300)
    return wrong, by_truth / total[votes.prompt], by_unseen / total


class _Rates:
    """Posterior of the prevalences e_g, and with it of each prompt's being faulty.

    Given the probabilities of the keys, groups depend on one another through the level only, so
    that sums over a grid of e_g and one of the level are the whole posterior.
    """

    def __init__(
        self,
        right: FloatArray,
        faulty: FloatArray,
        group: NDArray[np.int64],
        prior: Prior,
        *,
        learn: bool,
    ) -> None:
        mix = np.outer(right, 1 - _RATES) + np.outer(faulty, _RATES)
        log_group = np.zeros((int(group.max()) + 1, len(_RATES)))
        np.add.at(log_group, group, np.log(np.maximum(mix, 1e-300)))
        z = np.log(_RATES) - np.log(prior.rate) - prior.level_sd * _LEVELS[:, None]
        by_level = np.exp(-0.5 * (z / prior.group_sd) ** 2)
        by_level /= by_level.sum(axis=1, keepdims=True)
        peak = log_group.max(axis=1, keepdims=True)
        likely = np.exp(log_group - peak)
        group_level = likely @ by_level.T
        log_level = np.log(group_level).sum(axis=0) - 0.5 * _LEVELS**2
        level = np.exp(log_level - log_level.max())
        level /= level.sum()
        posterior = likely * ((level / group_level) @ by_level)
        posterior /= posterior.sum(axis=1, keepdims=True)
        if not learn:
            posterior = np.broadcast_to(by_level[len(_LEVELS) // 2], posterior.shape)
        weight = posterior[group] / np.maximum(mix, 1e-300)
        bad = (weight @ _RATES) * faulty
        good = (weight @ (1 - _RATES)) * right
        self.faulty = bad / np.maximum(bad + good, 1e-300)
        self.mean = posterior @ _RATES
        self.log_likelihood = float(log_level.max() + peak.sum())
