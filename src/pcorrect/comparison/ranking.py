"""Many llms at once: ranks, P(best), who is better than whom, and what cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pcorrect.api import all_counts
from pcorrect.comparison.pairing import require_groups, ungrouped
from pcorrect.comparison.ranking_result import Ranking
from pcorrect.comparison.ranks import Stability, pairwise, runs, stability
from pcorrect.comparison.suites import macro_weights
from pcorrect.data import Counts, PromptCounts
from pcorrect.errors import ChoiceError, DataError, PcorrectError
from pcorrect.marginal import CiKind, FloatArray, Marginal, check_draws, check_interval
from pcorrect.moment_estimates import moments
from pcorrect.prompt_weights import (
    NO_ERROR,
    Lenders,
    Units,
    macro_draws,
    rerun_means,
    standard_error,
)

DRAWS = 10_000
_RERUNS = 1000


def rank(
    data: Any,
    *,
    llm: list[str] | None = None,
    benchmark: str | None = None,
    weights: Mapping[str, float] | None = None,
    prompts: Literal["shared", "own"] = "shared",
    by_group: bool = False,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int = DRAWS,
    seed: int = 0,
    **reading: Any,
) -> Ranking:
    """Rank llms by mu; with several benchmarks, by the macro average over them.

    Parameters
    ----------
    data : Counts, list of Counts, path, list of paths, data frame or Generations
    llm : list of str, optional
        Default: all that occur in every benchmark.
    benchmark : str, optional
        Only this one.
    weights : mapping of str to float, optional
        Benchmark -> weight in the macro average; default: all alike.
    prompts : {"shared", "own"}
        Use the prompts that all llms answered, or each llm's own (which mixes up differences
        between llms with differences between their prompts).
    by_group : bool
        Groups of prompts are the independent units.
    ci_prob, ci_kind, draws, seed, **reading
        As in `paired_difference`.

    Returns
    -------
    Ranking

    Raises
    ------
    ChoiceError
        An llm or benchmark does not occur.
    DataError
        Fewer than two llms, no shared prompt, or no groups.
    """
    check_interval(ci_prob, ci_kind)
    check_draws(draws, seed)
    tables = all_counts(data, **reading)
    if benchmark is not None:
        names = [table.benchmark for table in tables]
        tables = [table for table in tables if table.benchmark == benchmark]
        if not tables:
            raise ChoiceError(f"no benchmark {benchmark!r} in the data: of {names}", names)
    if by_group:
        for table in tables:
            require_groups(table)
    names, notes = _common_llms(tables, llm)
    notes += ungrouped(tables) if by_group else []
    parts, left_out = [], 0
    for table in tables:
        try:
            part, dropped = _restrict(table, names, prompts)
        except DataError:
            if len(tables) == 1:
                raise
            notes.append(f"benchmark left out, no prompt that all llms share: {table.benchmark}")
            weights = weights and {x: w for x, w in weights.items() if x != table.benchmark}
            continue
        parts.append(part)
        left_out += dropped
    if not parts:
        raise DataError(f"no benchmark has a prompt that all of {names} share: choose llms that do")
    if left_out:
        notes.append(f"{left_out} prompts left out: some llm has no scored generation of them")
    if prompts == "own" and any(np.any(p.n_generations == 0) for p in parts):
        notes.append("llms are ranked on their own prompts: these differ, and so may difficulty")
    share = np.array(macro_weights([part.benchmark for part in parts], weights))
    units = [
        Units.from_counts(p.n_correct, p.n_generations, require_groups(p) if by_group else None)
        for p in parts
    ]
    estimate = np.einsum("b,bl->l", share, np.stack([u.mean() for u in units]))
    order = np.argsort(-estimate, kind="stable")
    variance = np.einsum("b,bl->l", share**2, np.stack([np.diag(u.covariance()) for u in units]))
    rngs = [np.random.default_rng([seed, i]) for i in range(len(units) + 1)]
    mu = macro_draws(units, share, draws, rngs[:-1])[:, order]
    sure = [name for name, v in zip(names, variance, strict=True) if standard_error(v) is None]
    if sure and sum(len(u) for u in units) > len(units):
        notes.append(f"{', '.join(sure)}: {NO_ERROR}")
    pairs = pairwise(mu, ci_prob)
    estimate = estimate[order]
    ordered = tuple(names[i] for i in order)
    values = [Marginal.from_draws(column) for column in mu.T]
    interval = np.array([value.interval(ci_prob, ci_kind) for value in values])
    tail = np.array([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    # Shared ranks end in 1/2: the interval is of whole ranks.
    rank_lower, rank_upper = np.quantile(pairs.rank, tail, axis=0, method="inverted_cdf")
    above = estimate[:, None] > estimate[None, :]
    return Ranking(
        llm=ordered,
        benchmark=tuple(part.benchmark for part in parts),
        estimate=estimate,
        se=np.array([standard_error(v) or np.nan for v in variance])[order],
        mean=np.array([value.mean for value in values]),
        sd=np.array([value.sd for value in values]),
        lower=interval[:, 0],
        upper=interval[:, 1],
        rank_mean=pairs.rank.mean(axis=0),
        rank_lower=np.floor(rank_lower),
        rank_upper=np.ceil(rank_upper),
        rank_least=1 + np.sum(pairs.told_apart & above.T, axis=1),
        rank_most=len(names) - np.sum(pairs.told_apart & above, axis=1),
        p_best=pairs.p_best,
        p_better=pairs.p_better,
        told_apart=pairs.told_apart,
        groups=runs(ordered, pairs.told_apart),
        new_prompts=_again_new(units, share, estimate, order, rngs[-1]),
        same_prompts=_again_same(parts, share, estimate, order, rngs[-1]),
        n_prompts=sum(len(p.prompt) for p in parts),
        n_shared=sum(int((p.n_generations > 0).all(axis=0).sum()) for p in parts),
        n_left_out=left_out,
        ci_prob=ci_prob,
        ci_kind=ci_kind,
        seed=seed,
        notes=tuple(notes),
        draws_mu=mu,
    )


def _common_llms(tables: list[Counts], chosen: list[str] | None) -> tuple[list[str], list[str]]:
    """Llms to rank, and notes on those left out."""
    names = list(dict.fromkeys(str(name) for table in tables for name in table.llm))
    if chosen is not None:
        for name in chosen:
            if name not in names:
                raise ChoiceError(f"no llm {name!r}: choose from {names}", names)
        names = list(dict.fromkeys(chosen))
    everywhere = []
    for name in names:
        rows = [(t, [str(x) for x in t.llm]) for t in tables]
        if all(name in llms and (t.n_generations[llms.index(name)] > 0).any() for t, llms in rows):
            everywhere.append(name)
    missing = [name for name in names if name not in everywhere]
    notes = []
    if missing:
        notes.append(f"left out, without results on every benchmark: {', '.join(missing)}")
    if len(everywhere) < 2:
        raise DataError(
            f"a ranking needs two llms with results on every benchmark: found {everywhere}"
        )
    return everywhere, notes


def _restrict(table: Counts, names: list[str], prompts: str) -> tuple[Counts, int]:
    """The llms wanted, on the prompts to use; and how many prompts were left out."""
    if prompts not in ("shared", "own"):
        raise PcorrectError(f"prompts must be 'shared' or 'own', got {prompts!r}")
    position = [str(x) for x in table.llm]
    rows = [position.index(name) for name in names]
    seen = table.n_generations[rows] > 0
    keep = seen.all(axis=0) if prompts == "shared" else seen.any(axis=0)
    if not keep.any():
        fewest = np.argsort(seen.sum(axis=1), kind="stable")[:3]
        few = [f"{names[i]} ({int(seen[i].sum())} prompts)" for i in fewest]
        raise DataError(
            f"no prompt of benchmark {table.benchmark!r} has generations of all {len(names)} llms: "
            f"leave out those with few prompts, such as {', '.join(few)}, or rank each on its own "
            "prompts (prompts='own', --own-prompts)"
        )
    part = Counts(
        table.benchmark,
        table.llm[rows],
        table.prompt[keep],
        table.n_correct[np.ix_(rows, keep)],
        table.n_generations[np.ix_(rows, keep)],
        table.listed[np.ix_(rows, keep)],
        tuple(table.rows[i] for i in rows),
        None if table.group is None else table.group[keep],
    )
    return part, int(seen.any(axis=0).sum() - keep.sum())


def _again_new(
    units: list[Units],
    share: FloatArray,
    estimate: FloatArray,
    order: NDArray[np.intp],
    rng: np.random.Generator,
) -> Stability:
    lenders = Lenders.of(units, share)
    again = sum(
        w * rerun_means(u, _RERUNS, rng, lenders) for w, u in zip(share, units, strict=True)
    )
    return stability(np.asarray(again)[:, order], estimate)


def _again_same(
    parts: list[Counts],
    share: FloatArray,
    estimate: FloatArray,
    order: NDArray[np.intp],
    rng: np.random.Generator,
) -> Stability | None:
    """New generations of the same prompts: the new means differ by the noise of both runs.

    None where that noise is not in the data: k = 1, or no prompt with both outcomes.
    """
    variance = np.zeros(len(order))
    for weight, part in zip(share, parts, strict=True):
        for i, name in enumerate(part.llm):
            here = part.n_generations[i] > 0
            closed = moments(
                PromptCounts.from_arrays(
                    part.n_correct[i, here], part.n_generations[i, here], llm=str(name)
                )
            )
            if closed.se_score is None:
                return None
            variance[i] += weight**2 * closed.se_score**2
    noise = np.sqrt(2 * variance[order]) * rng.standard_normal((_RERUNS, len(order)))
    return stability(estimate + noise, estimate)
