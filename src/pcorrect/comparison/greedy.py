r"""Greedy against sampled: whether greedy answers are draws from p_i, and what they gain or cost.

Under the hypothesis that greedy answers are ordinary generations, the greedy outcome of prompt i is
Bernoulli(p_i) with the p_i of the sampled generations, whose posterior is at hand: two posterior
predictive tests follow (Gelman, Meng & Stern 1996). The *gap* test asks whether greedy is right too
often or too rarely overall; the *sharpening* test whether it follows the majority of generations
more (right where p_i > 1/2, wrong where p_i < 1/2) than a draw would, by the statistic
``sum_i right_i (E[p_i] - 1/2)``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pcorrect.api import one_benchmark
from pcorrect.comparison.draws import prompt_draws
from pcorrect.comparison.estimates import Estimate, probability_above
from pcorrect.comparison.pairing import Pair, make_pair
from pcorrect.errors import DataError
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.marginal import CiKind, FloatArray, check_draws, check_interval
from pcorrect.prompt_weights import Units, mean_draws

# Draws times prompts that the tests hold at once.
_HELD = 20_000_000


@dataclass(frozen=True)
class GreedyGap:
    """Greedy outcomes held against the p of sampled generations.

    Parameters
    ----------
    greedy, sampled, benchmark : str
    n_prompts : int
    greedy_score, sampled_mean : float
        Share of greedy answers that are right; mean of the sampled shares.
    mu : Estimate
        Gap greedy - sampled for new prompts.
    score : Estimate
        Gap on these prompts: the greedy score minus mean(p_i), whose p_i are uncertain.
    p_greedy_better : float
        P(gap for new prompts > 0).
    p_gap, p_sharpening : float
        Two-sided posterior predictive p-values, ties counted half: small values say that greedy
        answers are no draws from p_i.
    sharpening : float
        Greedy answers that go with the majority, beyond the number expected of draws, as a share
        of the prompts; positive where greedy decoding sharpens.
    prompt : ndarray of str, shape (n,)
        By surprise, most surprising first.
    right : ndarray of bool, shape (n,)
    probability : ndarray, shape (n,)
        Posterior predictive probability of the greedy outcome seen.
    notes : tuple of str
    """

    greedy: str
    sampled: str
    benchmark: str
    n_prompts: int
    greedy_score: float
    sampled_mean: float
    mu: Estimate
    score: Estimate
    p_greedy_better: float
    p_gap: float
    p_sharpening: float
    sharpening: float
    prompt: NDArray[np.object_]
    right: NDArray[np.bool_]
    probability: FloatArray
    ci_prob: float
    ci_kind: CiKind
    seed: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "greedy": self.greedy,
            "sampled": self.sampled,
            "benchmark": self.benchmark,
            "n_prompts": self.n_prompts,
            "greedy_score": self.greedy_score,
            "sampled_mean": self.sampled_mean,
            "mu": self.mu.to_dict(),
            "score": self.score.to_dict(),
            "p_greedy_better": self.p_greedy_better,
            "p_gap": self.p_gap,
            "p_sharpening": self.p_sharpening,
            "sharpening": self.sharpening,
            "prompts": [
                {"prompt": str(p), "right": bool(r), "probability": float(q)}
                for p, r, q in zip(self.prompt, self.right, self.probability, strict=True)
            ],
            "ci_prob": self.ci_prob,
            "ci_kind": self.ci_kind,
            "seed": self.seed,
            "notes": list(self.notes),
        }


def greedy_gap(
    data: Any,
    greedy: str,
    sampled: str,
    *,
    benchmark: str | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    model: str = DEFAULT_MODEL,
    draws: int = 20_000,
    seed: int = 0,
    **reading: Any,
) -> GreedyGap:
    """Hold greedy answers against sampled generations of the same prompts.

    Parameters
    ----------
    data : Counts, list of Counts, path, list of paths, data frame or Generations
    greedy, sampled : str
        The "llms" under which the greedy answers and the sampled generations are recorded.
    benchmark, ci_prob, ci_kind, model, draws, seed, **reading
        As in `paired_difference`.

    Returns
    -------
    GreedyGap

    Raises
    ------
    DataError
        They share no prompt, or no prompt has a definite greedy outcome.
    ChoiceError
        An llm or benchmark does not occur.
    """
    check_interval(ci_prob, ci_kind)
    check_draws(draws, seed)
    pair, right, notes = _definite(
        make_pair(one_benchmark(data, benchmark, **reading), greedy, sampled)
    )
    if pair.n_generations[1].max() == 1:
        notes.append(
            f"{sampled}: k = 1, so that its single p_i, and with them the interval of score and "
            "p_sharpening, rest on the prior"
        )
    rng = np.random.default_rng([seed, 7])
    # The greedy answer is what it is: one outcome, however often it was repeated.
    s = np.stack([right.astype(np.int64), pair.n_correct[1]])
    k = np.stack([np.ones(len(right), np.int64), pair.n_generations[1]])
    means = mean_draws(Units.from_counts(s, k), draws, rng)
    gap = means[:, 0] - means[:, 1]
    fit = run_fit(pair.select(1), model=model, seed=seed)
    count = int(np.clip(_HELD / len(right), 500, 4000))
    blocks = list(prompt_draws(fit, count, rng))
    mean_p = sum(p.sum(axis=0) for p in blocks) / sum(len(p) for p in blocks)
    # Prompts near 1/2 have no majority to speak of: they hardly count in the sharpening test.
    side = mean_p - 0.5
    total, sharp, score = [], [], []
    for p in blocks:
        again = rng.random(p.shape) < p
        total.append(right.sum() - again.sum(axis=1))
        sharp.append((right.astype(float) - again) @ side)
        score.append(right.mean() - p.mean(axis=1))
    probability = np.where(right, mean_p, 1 - mean_p)
    order = np.argsort(probability, kind="stable")
    return GreedyGap(
        greedy,
        sampled,
        pair.benchmark,
        len(right),
        float(right.mean()),
        float(np.mean(pair.n_correct[1] / pair.n_generations[1])),
        Estimate.from_draws(gap, ci_prob, ci_kind),
        Estimate.from_draws(np.concatenate(score), ci_prob, ci_kind),
        probability_above(gap),
        _two_sided(np.concatenate(total).astype(float)),
        _two_sided(np.concatenate(sharp)),
        float(np.mean((right - mean_p) * np.sign(side))),
        pair.prompt[order],
        right[order],
        probability[order],
        ci_prob,
        ci_kind,
        seed,
        tuple(notes),
    )


def _definite(pair: Pair) -> tuple[Pair, NDArray[np.bool_], list[str]]:
    """Prompts whose greedy generations have a majority, and which way it goes."""
    s, k = pair.n_correct[0], pair.n_generations[0]
    notes = list(pair.notes)
    mixed = int(np.sum((s > 0) & (s < k)))
    if mixed:
        notes.append(
            f"greedy generations of {mixed} prompts disagree with each other: greedy decoding is "
            "not deterministic here; the majority is taken, ties are left out"
        )
    keep = 2 * s != k
    if not keep.any():
        raise DataError(f"no prompt of {pair.a!r} has a definite greedy outcome")
    part = replace(
        pair,
        prompt=pair.prompt[keep],
        n_correct=pair.n_correct[:, keep],
        n_generations=pair.n_generations[:, keep],
    )
    return part, 2 * s[keep] > k[keep], notes


def _two_sided(difference: FloatArray) -> float:
    """Two-sided p-value of observed minus replicated: 1 where they agree, and never 0."""
    draws = len(difference)
    above = (draws * probability_above(difference) + 0.5) / (draws + 1)
    return float(2 * min(above, 1 - above))
