r"""pass@k and pass^k: at least one, or all, of k generations correct.

Two answers side by side. The *unbiased estimators* use the counts only: for a prompt with c correct
of n generations (Chen et al. 2021, arXiv 2107.03374; the second: Yao et al. 2024, arXiv 2406.12045)

.. math:: 1 - \binom{n-c}{k} / \binom{n}{k}, \qquad \binom{c}{k} / \binom{n}{k}

and do not exist for n < k. The *posterior* is of :math:`E[1 - (1-p)^k]` and :math:`E[p^k]` under
the fitted population (new prompts) and over the prompts at hand; for k above the observed number of
generations it extrapolates, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from pcorrect.comparison.draws import prompt_draws, scored, select_llms, with_bar
from pcorrect.comparison.estimates import Estimate
from pcorrect.data import IntArray, PromptCounts
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, Fit, run_fit
from pcorrect.marginal import CiKind, FloatArray, check_interval
from pcorrect.populations.population import Population
from pcorrect.prompt_weights import NO_ERROR, standard_error

Kind = Literal["pass@k", "pass^k"]


@dataclass(frozen=True)
class PassK:
    """pass@k or pass^k of one llm at one k; None where it is undefined, with a note why.

    Parameters
    ----------
    llm, benchmark : str
    kind : {"pass@k", "pass^k"}
    k : int
    mu, score : Estimate or None
        Posterior for new prompts, and for exactly these.
    unbiased, se : float or None
        Mean of the unbiased estimator over the prompts with k_i >= k, and its standard error for
        new prompts.
    n_unbiased, n_prompts : int
        Prompts with k_i >= k, and all with a generation.
    extrapolated : bool
        Whether some prompt has fewer than k generations, so that the posterior rests on the model.
    notes : tuple of str
    """

    llm: str
    benchmark: str
    kind: Kind
    k: int
    mu: Estimate | None
    score: Estimate | None
    unbiased: float | None
    se: float | None
    n_unbiased: int
    n_prompts: int
    extrapolated: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "llm": self.llm,
            "benchmark": self.benchmark,
            "kind": self.kind,
            "k": self.k,
            "mu": None if self.mu is None else self.mu.to_dict(),
            "score": None if self.score is None else self.score.to_dict(),
            "unbiased": self.unbiased,
            "se": self.se,
            "n_unbiased": self.n_unbiased,
            "n_prompts": self.n_prompts,
            "extrapolated": self.extrapolated,
            "notes": list(self.notes),
        }


def unbiased_pass(n: int, c: int, k: int, kind: Kind = "pass@k") -> float | None:
    """Unbiased estimate from one prompt's counts; None where n < k: the data do not say.

    Parameters
    ----------
    n, c : int
        Generations and correct ones, ``0 <= c <= n``.
    k : int
        At least 1.

    Raises
    ------
    PcorrectError
        A number is out of range.
    """
    if not 0 <= c <= n or k < 1:
        raise PcorrectError(f"n = {n}, c = {c}, k = {k}: needs 0 <= c <= n and k >= 1")
    value = float(_unbiased(np.array([n]), np.array([c]), k, kind)[0])
    return None if np.isnan(value) else value


def pass_at_k(
    data: Any,
    k: int | ArrayLike,
    *,
    kind: Kind = "pass@k",
    llm: str | list[str] | None = None,
    benchmark: str | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    model: str = DEFAULT_MODEL,
    seed: int = 0,
    progress: bool = False,
    **reading: Any,
) -> list[PassK]:
    """pass@k (or pass^k) of llms, posterior beside the unbiased estimate.

    Parameters
    ----------
    data : Counts, PromptCounts, list of Counts, path, list of paths, data frame or Generations
    k : int or array_like of int
        One or several numbers of generations, each at least 1.
    kind : {"pass@k", "pass^k"}
        At least one of k correct, or all k.
    llm : str or list of str, optional
        Default: all.
    progress : bool
        Show a progress bar over the llms.
    benchmark, ci_prob, ci_kind, model, seed, **reading
        As in `paired_difference`.

    Returns
    -------
    list of PassK
        llm by llm, in the order of `k`.

    Raises
    ------
    PcorrectError
        k is below 1, or `kind` is unknown.
    ChoiceError
        An llm or benchmark does not occur.
    """
    check_interval(ci_prob, ci_kind)
    if kind not in ("pass@k", "pass^k"):
        raise ChoiceError(f"kind must be 'pass@k' or 'pass^k', got {kind!r}", ["pass@k", "pass^k"])
    given = np.atleast_1d(np.asarray(k, float))
    if not len(given):
        raise PcorrectError("k names no number of generations: give one or more, such as 1")
    if not np.all((given >= 1) & (given == np.floor(given)) & (given < 2**53)):
        raise PcorrectError(f"k = {k!r}: needs whole numbers of at least 1")
    wanted = [int(x) for x in given]
    if isinstance(data, PromptCounts):
        selected = [data]
    else:
        counts, names = select_llms(data, llm, benchmark, **reading)
        selected = [counts.select(name) for name in names]
    out = []
    for each in with_bar(selected, "llm", show=progress):
        here = scored(each)
        fit = None
        if len(here.prompt) and (here.n_generations.max() > 1 or 1 in wanted):
            fit = run_fit(here, model=model, seed=seed)
        out += [_one(here, fit, x, kind, ci_prob, ci_kind, seed) for x in wanted]
    return out


def _one(
    counts: PromptCounts,
    fit: Fit | None,
    k: int,
    kind: Kind,
    ci_prob: float,
    ci_kind: CiKind,
    seed: int,
) -> PassK:
    notes = []
    n = counts.n_generations
    value = _unbiased(n, counts.n_correct, k, kind)
    defined = ~np.isnan(value)
    count, prompts = int(defined.sum()), len(n)
    unbiased = float(value[defined].mean()) if count else None
    se = standard_error(float(value[defined].var(ddof=1)) / count) if count > 1 else None
    if count > 1 and se is None:
        notes.append(NO_ERROR)
    if not count:
        notes.append(f"no prompt has {k} generations (at most {n.max(initial=0)}): not estimable")
    elif count < prompts:
        notes.append(
            f"the unbiased estimate uses {count} of {prompts} prompts: those with k >= {k}"
        )
    mu = score = None
    extrapolated = bool(np.any(n < k))
    if not prompts:
        notes.append("no scored generation")
    elif k > 1 and n.max() <= 1:
        notes.append(f"{kind} at k = {k} is not identified from one generation per prompt")
    elif fit is not None:
        mu, score = _posterior(fit, k, kind, ci_prob, ci_kind, seed)
        if extrapolated:
            notes.append(
                f"extrapolated: some prompts have fewer than {k} generations, and the posterior "
                "rests on the model there"
            )
    return PassK(
        counts.llm,
        counts.benchmark,
        kind,
        k,
        mu,
        score,
        unbiased,
        se,
        count,
        prompts,
        extrapolated,
        tuple(notes),
    )


def _posterior(
    fit: Fit, k: int, kind: Kind, ci_prob: float, ci_kind: CiKind, seed: int
) -> tuple[Estimate | None, Estimate]:
    mu = None
    if fit.population is not None:
        mu = Estimate.from_draws(population_pass(fit.population, k, kind), ci_prob, ci_kind)
    rng = np.random.default_rng([seed, 3])
    score = np.concatenate([_pass(p, k, kind).mean(axis=1) for p in prompt_draws(fit, 2000, rng)])
    return mu, Estimate.from_draws(score, ci_prob, ci_kind)


def population_pass(population: Population, k: int, kind: Kind) -> FloatArray:
    """E[1 - (1 - p)^k] or E[p^k] of each draw of a population, shape (D,)."""
    a, b = population.a, population.b
    first, second = (a, b) if kind == "pass^k" else (b, a)
    # E[x^k] of Beta(first, second): prod (first + j) / (first + second + j), j < k
    log_all = (
        gammaln(first + k) - gammaln(first) - gammaln(first + second + k) + gammaln(first + second)
    )
    rest = np.exp(log_all) if kind == "pass^k" else -np.expm1(log_all)
    atoms = np.sum(population.weight * _pass(population.atom, k, kind), axis=1)
    # shares add up to 1 within rounding
    return np.minimum(population.beta_weight * rest + atoms, 1.0)


def _pass(p: FloatArray, k: int, kind: Kind) -> FloatArray:
    if kind == "pass^k":
        return np.asarray(p**k)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(k * np.log1p(-p)))


def _unbiased(n: IntArray, c: IntArray, k: int, kind: Kind) -> FloatArray:
    """The unbiased estimators for each prompt; nan where n < k."""
    out = np.full(len(n), np.nan)
    some = n >= k
    n, chosen = n[some], (c if kind == "pass^k" else n - c)[some]
    # C(chosen, k) / C(n, k) by logs; 0 where fewer than k are there to choose from
    few = chosen < k
    safe = np.where(few, k, chosen)
    log_ratio = (
        gammaln(safe + 1.0) - gammaln(safe - k + 1.0) - gammaln(n + 1.0) + gammaln(n - k + 1.0)
    )
    ratio = np.where(few, 0.0, np.exp(log_ratio))
    out[some] = ratio if kind == "pass^k" else 1 - ratio
    return out
