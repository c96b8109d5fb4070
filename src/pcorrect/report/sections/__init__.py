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
    build : callable
        Material -> the section, or None where it has nothing to show and is left out.
    verdict : callable, optional
        Material -> sentences for the top of the page; may be empty.
    """

    name: str
    title: str
    build: Callable[[Material], Markup | None]
    verdict: Callable[[Material], list[Content]] = lambda material: []


#: Everything that a report can hold, in this order.
SECTIONS = (
    Section("scores", "Scores", scores.build, scores.verdict),
    Section("suite", "All benchmarks together", suite.build, suite.verdict),
    Section("comparison", "Comparison", comparison.build, comparison.verdict),
    Section("enough", "How many generations are enough?", enough.build, enough.verdict),
    Section("adequacy", "Can it be trusted?", adequacy.build, adequacy.verdict),
    Section("prompts", "Prompts and their keys", prompts.build, prompts.verdict),
    Section("each", "One by one", one_by_one.build),
    Section("data", "Data", data.build, data.verdict),
    Section("methods", "Methods", methods.build),
)
