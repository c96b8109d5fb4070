"""Difference of two llms: new prompts (mu) and these prompts (score), paired by prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pcorrect.api import one_benchmark
from pcorrect.comparison.estimates import Estimate, check_rope, equivalence
from pcorrect.comparison.joint import couple
from pcorrect.comparison.paired_result import PairedDifference
from pcorrect.comparison.pairing import Pair, make_pair, require_groups, two_llms, ungrouped
from pcorrect.fitting import DEFAULT_MODEL, Fit, run_fit
from pcorrect.marginal import CiKind, FloatArray, check_draws, check_interval
from pcorrect.moment_estimates import moments
from pcorrect.prompt_weights import NO_ERROR, Units, mean_draws, standard_error

DRAWS = 20_000


def paired_difference(
    data: Any,
    a: str | None = None,
    b: str | None = None,
    *,
    benchmark: str | None = None,
    paired: bool = True,
    by_group: bool = False,
    rope: float | tuple[float, float] = 0.01,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    model: str = DEFAULT_MODEL,
    draws: int = DRAWS,
    seed: int = 0,
    **reading: Any,
) -> PairedDifference:
    """Compare two llms on the prompts that they share.

    Parameters
    ----------
    data : Counts, list of Counts, path, list of paths, data frame or Generations
    a, b : str, optional
        The llms; default the only two.
    benchmark : str, optional
        Which one, where the data hold several.
    paired : bool
        Match prompts by id (default). False treats the two sets of prompts as separate draws from
        one population, which wastes whatever they have in common.
    by_group : bool
        Treat groups of prompts (`Counts.group`: subjects, documents, paraphrases of one question),
        not prompts, as the independent units of `mu`.
    rope : float or pair of float
        Region of practical equivalence of the difference, in units of the score.
    ci_prob, ci_kind
        Probability and kind ("eti" or "hdi") of the credible intervals.
    model : str
        Model of each llm's p_i, for `score` and `correlation`.
    draws, seed : int
        Posterior draws of `mu`, and the source of all randomness.
    **reading
        Options of `read`.

    Returns
    -------
    PairedDifference

    Raises
    ------
    DataError
        The llms share no prompt, or there are no groups.
    ChoiceError
        An llm or benchmark does not occur, or none is chosen among several.
    """
    check_interval(ci_prob, ci_kind)
    counts = one_benchmark(data, benchmark, **reading)
    a, b = two_llms(counts, a, b)
    region = check_rope(rope)
    check_draws(draws, seed)
    pair = make_pair(counts, a, b, paired=paired)
    if a == b:
        return _same(pair, region, ci_prob, ci_kind, seed)
    # Computed in an order that knows nothing of names, then turned.
    swap = pair.reversed_order
    order, sign = ((1, 0), -1.0) if swap else ((0, 1), 1.0)
    units = _units(pair, order, by_group)
    rng = np.random.default_rng(seed)
    fits = fit_both(pair, model, seed)
    fits = [fits[i] for i in order]
    posteriors = [_mu_difference(units, draws, rng), _score_difference(fits[0], fits[1], rng)]
    if pair.same_counts:
        # neither is better, whatever the draws
        posteriors = [np.concatenate([x, -x]) for x in posteriors]
    estimates = [Estimate.from_draws(x, ci_prob, ci_kind) for x in posteriors]
    if pair.same_counts:
        estimates = [x.symmetric() for x in estimates]
    judged = [equivalence(sign * x, region, ci_prob=ci_prob) for x in posteriors]
    correlation = None
    if paired and not any("sigma" in fit.not_identified for fit in fits):
        drawn = couple(fits[0], fits[1], rng).correlation_draws(draws, rng)
        correlation = Estimate.from_draws(drawn, ci_prob, ci_kind)
    closed = _moment_estimates(pair, units)
    return PairedDifference(
        a=a,
        b=b,
        benchmark=pair.benchmark,
        n_shared=pair.n_shared,
        only_a=pair.only_a,
        only_b=pair.only_b,
        paired=paired,
        mu=estimates[0].negated() if swap else estimates[0],
        score=estimates[1].negated() if swap else estimates[1],
        p_better=judged[0].p_better,
        p_better_score=judged[1].p_better,
        p_equivalent=judged[0].p_equivalent,
        verdict=judged[0].verdict,
        rope=region,
        correlation=correlation,
        difference=closed.difference,
        se_mu=closed.se_mu,
        se_score=closed.se_score,
        gain=closed.gain,
        n_groups=len(units[0]) if by_group else None,
        ci_prob=ci_prob,
        ci_kind=ci_kind,
        seed=seed,
        notes=(*pair.notes, *_notes(pair, fits, by_group), *_unknown_errors(pair, closed, units)),
        draws_mu=sign * posteriors[0],
        pair=pair,
        fits=(fits[1], fits[0]) if swap else (fits[0], fits[1]),
    )


def fit_both(pair: Pair, model: str, seed: int) -> list[Fit]:
    """Fits of a and b on their prompts; equal counts are fitted once."""
    one = run_fit(pair.select(0), model=model, seed=seed)
    if pair.same_counts:
        return [one, replace(one, counts=pair.select(1))]
    return [one, run_fit(pair.select(1), model=model, seed=seed)]


def _units(pair: Pair, order: tuple[int, int], by_group: bool) -> list[Units]:
    """One set of units for both llms (paired), or one for each."""
    group = require_groups(pair) if by_group else None
    rows = list(order)
    s, k = pair.n_correct[rows], pair.n_generations[rows]
    if pair.paired:
        return [Units.from_counts(s, k, group)]
    out = []
    for i in range(2):
        own = k[i] > 0
        some = None if group is None else group[own]
        out.append(Units.from_counts(s[i : i + 1, own], k[i : i + 1, own], some))
    return out


def _mu_difference(units: list[Units], draws: int, rng: np.random.Generator) -> FloatArray:
    if len(units) == 1:
        mu = mean_draws(units[0], draws, rng)
        return mu[:, 0] - mu[:, 1]
    one, two = (mean_draws(each, draws, rng)[:, 0] for each in units)
    return one - two


def _score_difference(one: Fit, two: Fit, rng: np.random.Generator) -> FloatArray:
    """Draws of the difference of the scores.

    Given the prompts, the generations of two llms are independent: pairing gains nothing here, and
    independent draws of the two scores are the posterior (up to what the other llm's counts say
    about a prompt's p, which is left unused). Both orders of each shuffled pair are kept, so that
    equal posteriors differ by exactly 0 in the mean.
    """
    x, y = np.ravel(one.draws["score"]), np.ravel(two.draws["score"])
    size = min(len(x), len(y))
    x, y = x[:size], y[:size]
    turn = rng.permutation(size)
    return np.concatenate([x - y[turn], x[turn] - y])


@dataclass(frozen=True)
class _Closed:
    difference: float
    se_mu: float | None
    se_score: float | None
    gain: float | None


def _moment_estimates(pair: Pair, units: list[Units]) -> _Closed:
    """Closed-form difference of a and b, its standard errors, and what pairing gained."""
    closed = [moments(pair.select(i)) for i in range(2)]
    difference = (closed[0].mu or 0.0) - (closed[1].mu or 0.0)
    se_score = None
    if closed[0].se_score is not None and closed[1].se_score is not None:
        se_score = float(np.hypot(closed[0].se_score, closed[1].se_score))
    if min(len(each) for each in units) < 2:
        return _Closed(difference, None, se_score, None)
    if not pair.paired:
        variance = sum(float(each.covariance()[0, 0]) for each in units)
        return _Closed(difference, standard_error(variance), se_score, None)
    covariance = units[0].covariance()
    alone = float(covariance[0, 0] + covariance[1, 1])
    together = max(alone - 2 * float(covariance[0, 1]), 0.0)
    # Rounding leaves 1e-35 where every difference is the same.
    together = 0.0 if together < 1e-15 * alone else together
    gain = float(np.sqrt(alone / together)) if together > 0 else None
    return _Closed(difference, standard_error(together), se_score, gain)


def _unknown_errors(pair: Pair, closed: _Closed, units: list[Units]) -> list[str]:
    notes: list[str] = []
    if pair.a == pair.b:
        return notes
    if closed.se_mu is None and min(len(each) for each in units) > 1:
        notes.append(NO_ERROR)
    if closed.se_score is None and pair.n_generations.max() > 1:
        notes.append(
            "no prompt of one llm has both right and wrong generations: a standard error of 0 for "
            "the score would be no answer, use its interval"
        )
    return notes


def _notes(pair: Pair, fits: list[Fit], by_group: bool) -> list[str]:
    notes = []
    k = np.where(pair.n_generations > 0, pair.n_generations, 1)
    if np.any(k.max(axis=1) == 1):
        notes.append(
            "k = 1: score and the correlation of difficulty are not identified beyond mu; the "
            "interval of score rests on the prior of sigma"
        )
    if by_group:
        notes.append("groups, not prompts, are the independent units of mu")
        notes += ungrouped([pair])
    elif pair.group is not None and (ratio := _design_effect(pair)) is not None and ratio > 1.2:
        notes.append(
            f"prompts of one group go together: with groups as the units the standard error of mu "
            f"is {ratio:.2f} times this one (by_group=True, --by-group)"
        )
    for fit in fits:
        notes += [
            f"{fit.counts.llm}: {text}" for text in fit.warnings if "r_hat" in text or "ess" in text
        ]
    return notes


def _design_effect(pair: Pair) -> float | None:
    """Standard error by groups over that by prompts."""
    if not pair.paired or pair.group is None or len(set(pair.group.tolist())) < 5:
        return None
    errors = []
    for group in (pair.group, None):
        covariance = Units.from_counts(pair.n_correct, pair.n_generations, group).covariance()
        errors.append(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    return float(np.sqrt(errors[0] / errors[1])) if errors[1] > 0 else None


def _same(
    pair: Pair, rope: tuple[float, float], ci_prob: float, ci_kind: CiKind, seed: int
) -> PairedDifference:
    """An llm against itself: the same generations, hence no difference at all."""
    nothing = np.zeros(2)
    judged = equivalence(nothing, rope, ci_prob=ci_prob)
    zero = Estimate(0.0, 0.0, 0.0, 0.0)
    return PairedDifference(
        a=pair.a,
        b=pair.b,
        benchmark=pair.benchmark,
        n_shared=pair.n_shared,
        only_a=0,
        only_b=0,
        paired=pair.paired,
        mu=zero,
        score=zero,
        p_better=judged.p_better,
        p_better_score=judged.p_better,
        p_equivalent=judged.p_equivalent,
        verdict=judged.verdict,
        rope=rope,
        correlation=Estimate(1.0, 0.0, 1.0, 1.0),
        difference=0.0,
        se_mu=0.0,
        se_score=0.0,
        gain=None,
        n_groups=None,
        ci_prob=ci_prob,
        ci_kind=ci_kind,
        seed=seed,
        notes=(f"{pair.a} is compared with itself: the same generations",),
        draws_mu=nothing,
        pair=pair,
    )
