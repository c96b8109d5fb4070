"""What a report is made of: counts, fits, and everything else that its sections ask for, once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pcorrect.adequacy.checks import Checks, check_fit
from pcorrect.comparison import (
    PairedDifference,
    Ranking,
    Suite,
    paired_difference,
    rank,
    suite,
    suite_difference,
)
from pcorrect.data import Counts
from pcorrect.errors import DataError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, Fit, run_fit
from pcorrect.generations import Generations
from pcorrect.marginal import CiKind
from pcorrect.planning import PlanReport, plan_report
from pcorrect.priors import Priors

if TYPE_CHECKING:
    from pcorrect.consistency.flags import Flags

# Up to so many fits have their charts in the sections; more have them in a section of their own.
_INLINE = 3
# Beyond so many fits there are tables only: a page has to open.
_CHARTS = 120
# Up to so many llms have averages over benchmarks of their own; the ranking has those of more.
_SUITES = 30
# Beyond so many generations only their counts are looked at.
_GENERATIONS = 1_000_000


@dataclass(frozen=True)
class Options:
    """How to compute and what to show.

    Parameters
    ----------
    title : str
        Default: the llms and benchmarks.
    ci_prob, ci_kind
        Of all credible intervals.
    model : str
    engine : str or None
    priors : Priors
    seed, draws : int
    rope : float or pair of float
        Differences that count as none.
    texts : mapping of str to str
        Prompt id -> text of the prompt, where the log does not hold it.
    """

    title: str = ""
    ci_prob: float = 0.95
    ci_kind: CiKind = "eti"
    model: str = DEFAULT_MODEL
    engine: str | None = None
    priors: Priors = field(default_factory=Priors)
    seed: int = 0
    draws: int | None = None
    rope: float | tuple[float, float] = 0.01
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Material:
    """Everything that sections show; what costs time is computed when first asked for.

    Parameters
    ----------
    tables : sequence of Counts
        One per benchmark.
    options : Options
    fits : sequence of Fit
        Every llm on every benchmark, in the order of the data.
    unscored : sequence of (llm, benchmark)
        Those without a single scored generation.
    generations : Generations or None
        The rows behind the counts, where there are any: answers come from here.
    """

    tables: Sequence[Counts]
    options: Options
    fits: Sequence[Fit]
    unscored: Sequence[tuple[str, str]] = ()
    generations: Generations | None = None

    @classmethod
    def gather(
        cls,
        tables: Sequence[Counts],
        options: Options,
        *,
        generations: Generations | None = None,
        each: Callable[[list[tuple[Counts, str]]], Sequence[tuple[Counts, str]]] = list,
    ) -> Material:
        """Fit every llm on every benchmark.

        Parameters
        ----------
        tables, options, generations
        each : callable
            Wraps the list of what is fitted, for a progress bar.

        Raises
        ------
        PcorrectError
            There is no scored generation at all, or a choice is unknown.
        """
        runs = [(table, str(llm)) for table in tables for llm in table.llm]
        fits, unscored = [], []
        for table, llm in each(runs):
            counts = table.select(llm)
            if not counts.n_generations.any():
                unscored.append((llm, table.benchmark))
                continue
            fits.append(
                run_fit(
                    counts,
                    model=options.model,
                    engine=options.engine,
                    priors=options.priors,
                    seed=options.seed,
                    draws=options.draws,
                )
            )
        if not fits:
            raise PcorrectError("no scored generation in the input: there is nothing to report")
        return cls(tables, options, fits, unscored, generations)

    @property
    def llms(self) -> list[str]:
        """Names of the llms that were fitted."""
        return list(dict.fromkeys(fit.counts.llm for fit in self.fits))

    @property
    def benchmarks(self) -> list[str]:
        """Names of the benchmarks that were fitted."""
        return list(dict.fromkeys(fit.counts.benchmark for fit in self.fits))

    @property
    def noun(self) -> str:
        """What one fit is called."""
        return "llm" if len(self.benchmarks) == 1 else "result"

    @property
    def inline(self) -> bool:
        """Whether the charts of single fits stand in the sections."""
        return len(self.fits) <= _INLINE

    @property
    def charts(self) -> bool:
        """Whether single fits have charts at all."""
        return len(self.fits) <= _CHARTS

    def name(self, fit: Fit) -> str:
        """The llm, with its benchmark where there are several."""
        counts = fit.counts
        return f"{counts.llm} on {counts.benchmark}" if len(self.benchmarks) > 1 else counts.llm

    @cached_property
    def plans(self) -> list[PlanReport]:
        """How many generations are enough, one per fit."""
        return [plan_report(fit, ci_prob=self.options.ci_prob) for fit in self.fits]

    @cached_property
    def checks(self) -> list[Checks]:
        """Checks of every fit."""
        rows = self.generations if self._few_rows else None
        return [check_fit(fit, rows) for fit in self.fits]

    @cached_property
    def flags(self) -> Flags | None:
        """Prompts by the probability that their key is wrong; None without answers."""
        if self.generations is None or not self._few_rows:
            return None
        from pcorrect.consistency.flags import flag_prompts
        from pcorrect.consistency.grouping import group_answers

        try:
            groups = group_answers(self.generations)
        except PcorrectError:
            return None  # the log has no answers
        # grades alone: blank where an answer would be, whether or not the keys are known
        return flag_prompts(groups) if groups.answered.any() else None

    @property
    def _few_rows(self) -> bool:
        """Whether to go through single generations: that takes a while with millions."""
        return sum(fit.counts.rows.read for fit in self.fits) <= _GENERATIONS

    @cached_property
    def differences(self) -> list[PairedDifference]:
        """The two llms compared, one per benchmark that both have; empty unless there are two."""
        if len(self.llms) != 2:
            return []
        a, b = self.llms
        options = self.options
        found = []
        for table in self._scored_tables:
            if {a, b} <= {str(llm) for llm in table.llm}:
                try:
                    result = paired_difference(
                        table,
                        a,
                        b,
                        rope=options.rope,
                        ci_prob=options.ci_prob,
                        ci_kind=options.ci_kind,
                        model=options.model,
                        seed=options.seed,
                    )
                except DataError:
                    continue  # no shared prompt: the section says so
                found.append(result)
        return found

    @cached_property
    def suites(self) -> list[Suite]:
        """Averages over the benchmarks, one per llm; none with one benchmark, or very many llms."""
        if len(self.benchmarks) < 2 or len(self.llms) > _SUITES:
            return []
        options = self.options
        return [
            suite(
                list(self._scored_tables),
                llm,
                ci_prob=options.ci_prob,
                ci_kind=options.ci_kind,
                seed=options.seed,
            )
            for llm in self.llms
            # of one benchmark, the average is that benchmark
            if sum(llm in table.llm for table in self._scored_tables) > 1
        ]

    @cached_property
    def suite_difference(self) -> Suite | None:
        """The two llms compared over all benchmarks; None unless there are two of each."""
        if len(self.differences) < 2:
            return None
        options = self.options
        return suite_difference(
            list(self._scored_tables),
            *self.llms,
            ci_prob=options.ci_prob,
            ci_kind=options.ci_kind,
            seed=options.seed,
        )

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The llms ranked, over all benchmarks where they share them, else benchmark by benchmark.

        Empty with fewer than three llms, and where these share nothing.
        """
        if len(self.llms) < 3:
            return []
        whole = self._rank(self._scored_tables)
        if whole is not None:
            return [whole]
        each = (self._rank([table]) for table in self._scored_tables)
        return [ranking for ranking in each if ranking is not None]

    def _rank(self, tables: list[Counts]) -> Ranking | None:
        options = self.options
        for prompts in ("shared", "own"):
            try:
                return rank(
                    tables,
                    prompts=prompts,
                    ci_prob=options.ci_prob,
                    ci_kind=options.ci_kind,
                    seed=options.seed,
                )
            except DataError:
                continue  # the llms share no prompt, or there is only one of them
        return None

    @property
    def _scored_tables(self) -> list[Counts]:
        return [table for table in self.tables if table.benchmark in self.benchmarks]
