"""The sections of a report, in order: each makes sentences and a piece of page out of material."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pcorrect.report.markup import Content, Markup
from pcorrect.report.material import Material
from pcorrect.report.sections import (
    adequacy,
    comparison,
    data,
    enough,
    methods,
    one_by_one,
    prompts,
    scores,
    suite,
)


@dataclass(frozen=True)
class Section:
    """One section.

    Parameters
    ----------
    name : str
        Anchor.
    title : str
    verdict : callable
        Material -> sentences for the top of the page; may be empty.
    build : callable
        Material -> the section, or None where it has nothing to show and is left out.
    """

    name: str
    title: str
    verdict: Callable[[Material], list[Content]]
    build: Callable[[Material], Markup | None]


#: Everything that a report can hold, in this order.
SECTIONS = (
    Section("scores", "Scores", scores.verdict, scores.build),
    Section("suite", "All benchmarks together", suite.verdict, suite.build),
    Section("comparison", "Comparison", comparison.verdict, comparison.build),
    Section("enough", "How many generations are enough?", enough.verdict, enough.build),
    Section("adequacy", "Can it be trusted?", adequacy.verdict, adequacy.build),
    Section("prompts", "Prompts and their keys", prompts.verdict, prompts.build),
    Section("each", "One by one", one_by_one.verdict, one_by_one.build),
    Section("data", "Data", data.verdict, data.build),
    Section("methods", "Methods", methods.verdict, methods.build),
)
