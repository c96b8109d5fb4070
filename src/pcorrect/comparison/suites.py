"""Several benchmarks (or groups of one) together: macro and micro, each with its own error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pcorrect.api import all_counts
from pcorrect.comparison.estimates import Estimate, probability_above
from pcorrect.comparison.pairing import make_pair, require_groups, row_of, ungrouped
from pcorrect.comparison.suite_table import Suite, SuiteRow
from pcorrect.data import Counts
from pcorrect.errors import ChoiceError, DataError, PcorrectError
from pcorrect.marginal import CiKind, FloatArray, check_draws, check_interval
from pcorrect.prompt_weights import NO_ERROR, Units, macro_draws, mean_draws, standard_error


def suite(
    data: Any,
    llm: str | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    by_group: bool = False,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int = 20_000,
    seed: int = 0,
    **reading: Any,
) -> Suite:
    """Macro and micro score of one llm over several benchmarks.

    A single benchmark whose prompts have groups (subtasks, subjects) is a suite of its groups.

    Parameters
    ----------
    data : list of Counts, Counts, path, list of paths, data frame or Generations
    llm : str, optional
        Default: the only one.
    weights : mapping of str to float, optional
        Benchmark (or group) -> weight in the macro average; default: all alike. They are scaled
        to add up to 1.
    by_group : bool
        Groups inside each benchmark, not prompts, are the independent units.
    ci_prob, ci_kind, draws, seed, **reading
        As in `paired_difference`.

    Returns
    -------
    Suite

    Raises
    ------
    ChoiceError
        The llm does not occur, or none is chosen; a weight names no benchmark.
    DataError
        There are no groups to be units.
    """
    tables = _parts(all_counts(data, **reading), by_group)
    names = list(dict.fromkeys(str(name) for table in tables for name in table.llm))
    if llm is None:
        if len(names) != 1:
            raise ChoiceError(f"several llms: choose one by llm=, of {names}", names)
        llm = names[0]
    if llm not in names:
        raise ChoiceError(f"no llm {llm!r}: choose from {names}", names)
    used: list[Any] = []
    notes = ungrouped(tables) if by_group else []
    for table in tables:
        here = table.n_generations[row_of(table, llm)] > 0 if llm in table.llm else np.zeros(1)
        if not here.any():
            notes.append(f"{table.benchmark}: no scored generation of {llm}, left out")
            continue
        row = row_of(table, llm)
        group = require_groups(table)[here] if by_group else None
        used.append(
            (table, table.n_correct[[row]][:, here], table.n_generations[[row]][:, here], group)
        )
    if not used:
        raise DataError(f"no benchmark has a scored generation of {llm!r}")
    parts = [(t.benchmark, Units.from_counts(s, k, g)) for t, s, k, g in used]
    pooled = Units.from_counts(
        np.concatenate([s for _, s, _, _ in used], axis=1),
        np.concatenate([k for _, _, k, _ in used], axis=1),
        _labels([(t.benchmark, g) for t, _, _, g in used]) if by_group else None,
    )
    return _assemble(llm, parts, pooled, weights, ci_prob, ci_kind, draws, seed, tuple(notes))


def suite_difference(
    data: Any,
    a: str,
    b: str,
    *,
    weights: Mapping[str, float] | None = None,
    by_group: bool = False,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    draws: int = 20_000,
    seed: int = 0,
    **reading: Any,
) -> Suite:
    """Macro and micro difference of two llms over several benchmarks, paired by prompt.

    Parameters
    ----------
    data : list of Counts, Counts, path, list of paths, data frame or Generations
    a, b : str
        The llms.
    weights, by_group, ci_prob, ci_kind, draws, seed, **reading
        As in `suite`. Benchmarks on which the two share no prompt are left out, with a note.

    Returns
    -------
    Suite
        Its rows are differences a - b.

    Raises
    ------
    DataError
        The llms share no prompt of any benchmark, or there are no groups to be units.
    ChoiceError
        A weight names no benchmark.
    """
    tables = _parts(all_counts(data, **reading), by_group)
    pairs = []
    notes = ungrouped(tables) if by_group else []
    for table in tables:
        missing = [name for name in (a, b) if name not in table.llm]
        if missing:
            notes.append(f"{table.benchmark}: no results of {', '.join(missing)}, left out")
            continue
        try:
            pairs.append(make_pair(table, a, b))
        except DataError as error:
            if len(tables) == 1:
                raise
            notes.append(f"left out: {str(error).partition(': a paired')[0]}")
    if not pairs:
        raise DataError(f"no benchmark holds results of both {a!r} and {b!r}")
    for pair in pairs:
        notes += [f"{pair.benchmark}: {note}" for note in pair.notes]
    # One order for the whole suite, so that swapping a and b flips signs only.
    swap = next((p.reversed_order for p in pairs if not p.same_counts), False)
    order = [1, 0] if swap else [0, 1]
    parts = [
        (
            p.benchmark,
            Units.from_counts(
                p.n_correct[order], p.n_generations[order], require_groups(p) if by_group else None
            ),
        )
        for p in pairs
    ]
    pooled = Units.from_counts(
        np.concatenate([p.n_correct[order] for p in pairs], axis=1),
        np.concatenate([p.n_generations[order] for p in pairs], axis=1),
        _labels([(p.benchmark, require_groups(p)) for p in pairs]) if by_group else None,
    )
    # an llm against itself: the same generations, no difference at all
    sign = 0.0 if a == b else -1.0 if swap else 1.0
    title = f"{a} - {b}"
    return _assemble(
        title, parts, pooled, weights, ci_prob, ci_kind, draws, seed, tuple(notes), sign
    )


def _assemble(
    title: str,
    parts: list[tuple[str, Units]],
    pooled: Units,
    weights: Mapping[str, float] | None,
    ci_prob: float,
    ci_kind: CiKind,
    draws: int,
    seed: int,
    notes: tuple[str, ...],
    sign: float | None = None,
) -> Suite:
    """Rows of one llm (`sign` None) or of the signed difference of two."""
    check_interval(ci_prob, ci_kind)
    check_draws(draws, seed)
    share = macro_weights([name for name, _ in parts], weights)
    alone = sum(len(units) == 1 for _, units in parts)
    if alone and len(parts) > 1:
        notes += (
            f"{alone} of {len(parts)} parts are one prompt (or group) each: nothing shows how "
            "others of theirs would do, and the macro interval is somewhat too narrow",
        )
    contrast = np.ones(1) if sign is None else sign * np.array([1.0, -1.0])

    def row(name: str, weight: float | None, units: Units) -> tuple[SuiteRow, float]:
        # the draws of `paired_difference`, for a benchmark to have one interval everywhere
        rng = np.random.default_rng(seed)
        drawn = mean_draws(units, draws, rng) @ contrast
        variance = float(contrast @ units.covariance() @ contrast)
        prompts = int(np.sum((units.k > 0).all(axis=1)))
        estimate = float(units.mean() @ contrast)
        return _row(name, weight, prompts, estimate, variance, drawn), variance

    def _row(
        name: str,
        weight: float | None,
        prompts: int,
        estimate: float,
        variance: float,
        drawn: FloatArray,
    ) -> SuiteRow:
        se = standard_error(variance)
        better = None if sign is None else probability_above(drawn)
        value = Estimate.from_draws(drawn, ci_prob, ci_kind)
        return SuiteRow(name, weight, prompts, estimate, se, value, better)

    found = [row(name, w, units) for (name, units), w in zip(parts, share, strict=True)]
    rows = tuple(each[0] for each in found)
    sure = [
        each.name
        for (each, _), (_, units) in zip(found, parts, strict=True)
        if each.se is None and len(units) > 1
    ]
    if sure and sign != 0:
        notes += (f"{', '.join(sure)}: {NO_ERROR}",)
    rngs = [np.random.default_rng([seed, i]) for i in range(len(parts))]
    together = macro_draws([units for _, units in parts], share, draws, rngs)
    macro = _row(
        "macro",
        None,
        sum(each.n_prompts for each in rows),
        float(sum(w * each.estimate for w, each in zip(share, rows, strict=True))),
        float(sum(w**2 * variance for w, (_, variance) in zip(share, found, strict=True))),
        together @ contrast,
    )
    micro = row("micro", None, pooled)[0]
    return Suite(title, rows, macro, micro, ci_prob, ci_kind, notes)


def macro_weights(names: list[str], weights: Mapping[str, float] | None) -> list[float]:
    """Weights of the benchmarks, scaled to add up to 1.

    Raises
    ------
    ChoiceError
        A weight names no benchmark, or a benchmark has none.
    PcorrectError
        A weight is negative, or all are 0.
    """
    if weights is None:
        return [1 / len(names)] * len(names)
    if set(weights) != set(names):
        raise ChoiceError(
            f"weights are given for {sorted(weights)}, the suite holds {sorted(names)}: give one "
            "weight for each",
            names,
        )
    values = [float(weights[name]) for name in names]
    total = sum(values)
    if min(values) < 0 or not 0 < total < np.inf:
        raise PcorrectError(
            f"weights {dict(weights)}: none may be negative or infinite, one must be positive"
        )
    return [value / total for value in values]


def _parts(tables: list[Counts], by_group: bool) -> list[Counts]:
    """The benchmarks of a suite; a single benchmark with groups is split into them."""
    if by_group:
        for table in tables:
            require_groups(table)
    if len(tables) > 1 or by_group or tables[0].group is None:
        return tables
    return split_groups(tables[0])


def split_groups(counts: Counts) -> list[Counts]:
    """One table per group of prompts, named after it, in order of appearance."""
    if counts.group is None:
        return [counts]
    out = []
    for name in dict.fromkeys(str(g) for g in counts.group):
        here = counts.group.astype(str) == name
        out.append(
            Counts(
                name,
                counts.llm,
                counts.prompt[here],
                counts.n_correct[:, here],
                counts.n_generations[:, here],
                counts.listed[:, here],
                counts.rows,
            )
        )
    return out


def _labels(parts: list[tuple[str, Any]]) -> Any:
    """Groups of all benchmarks together, kept apart by benchmark."""
    names = [f"{i}\0{g}" for i, (_, group) in enumerate(parts) for g in group]
    return np.array(names, object)
