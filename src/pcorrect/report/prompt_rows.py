"""One entry per prompt: what the llms make of it, what it says, and what they answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pcorrect.report.material import Material

if TYPE_CHECKING:
    from pcorrect.consistency.flags import FlaggedPrompt, Flags

# Characters of prompt texts on a page, all together; of one text, and of one answer.
_ALL_TEXTS = 1_500_000
_ONE_TEXT = 4000
_ONE_ANSWER = 160
# Different answers that are listed of a prompt.
_ANSWERS = 8


@dataclass
class PromptRow:
    """A prompt.

    Parameters
    ----------
    benchmark, prompt, group : str
    p : dict
        llm -> (posterior mean, lower, upper of p, n_correct, n_generations).
    text : str
        Cut to what a page can hold; empty where there is none.
    flag : FlaggedPrompt or None
        How suspect its key is; None without answers.
    answers : list of (answer, times, right, llms)
        The most frequent ones: generations, whether it is the key, and how many llms gave it.
    n_answers : int
        Different answers.
    """

    benchmark: str
    prompt: str
    group: str
    p: dict[str, tuple[float, float, float, int, int]] = field(default_factory=dict)
    text: str = ""
    flag: FlaggedPrompt | None = None
    answers: list[tuple[str, int, bool, int]] = field(default_factory=list)
    n_answers: int = 0

    @property
    def mean(self) -> float:
        """Mean over llms of the posterior mean of p."""
        return float(np.mean([p[0] for p in self.p.values()]))

    @property
    def key(self) -> str:
        """The key, cut to a cell; empty where it is not known."""
        return "" if self.flag is None or self.flag.key is None else cut(self.flag.key, _ONE_ANSWER)


def prompt_rows(material: Material) -> list[PromptRow]:
    """The prompts of all benchmarks, most suspect first; hardest first without answers."""
    options = material.options
    groups = {
        (table.benchmark, str(prompt)): str(group)
        for table in material.tables
        if table.group is not None
        for prompt, group in zip(table.prompt, table.group, strict=True)
    }
    rows: dict[tuple[str, str], PromptRow] = {}
    for fit in material.fits:
        table = fit.prompts.table(options.ci_prob, options.ci_kind)
        counts = fit.counts
        for i, prompt in enumerate(map(str, counts.prompt)):
            key = counts.benchmark, prompt
            row = rows.setdefault(key, PromptRow(*key, groups.get(key, "")))
            row.p[counts.llm] = (
                float(table.mean[i]),
                float(table.lower[i]),
                float(table.upper[i]),
                int(counts.n_correct[i]),
                int(counts.n_generations[i]),
            )
    room = int(np.clip(_ALL_TEXTS / max(len(rows), 1), 200, _ONE_TEXT))
    # texts go by id, which several benchmarks may have
    ids = Counter(row.prompt for row in rows.values())
    for row in rows.values():
        # an id that long is the text itself, which the table cuts
        text = row.prompt if len(row.prompt) > _ONE_ANSWER else ""
        known = options.texts.get(row.prompt, text) if ids[row.prompt] == 1 else text
        row.text = cut(known, room)
    if material.flags is None:
        return sorted(rows.values(), key=lambda row: row.mean)
    _add_answers(rows, material.flags)
    unflagged = len(material.flags.prompts) + 1
    return sorted(
        rows.values(), key=lambda row: (row.flag.rank if row.flag else unflagged, row.mean)
    )


def _add_answers(rows: dict[tuple[str, str], PromptRow], flags: Flags) -> None:
    groups = flags.groups
    first = np.searchsorted(groups.row_prompt, np.arange(len(groups.prompt) + 1))
    times = groups.count.sum(axis=1)
    llms = (groups.count > 0).sum(axis=1)
    for position, flag in zip(flags.order, flags.prompts, strict=True):
        row = rows.get((str(flag.benchmark), str(flag.prompt)))
        if row is None:
            continue
        row.flag = flag
        here = np.arange(first[position], first[position + 1])
        here = here[times[here] > 0]
        row.n_answers = len(here)
        row.answers = [
            (
                "" if groups.row_empty[at] else cut(str(groups.row_text[at]), _ONE_ANSWER),
                int(times[at]),
                bool(groups.row_key[at]),
                int(llms[at]),
            )
            for at in here[np.argsort(-times[here], kind="stable")][:_ANSWERS]
        ]


def cut(text: str, most: int) -> str:
    """The text, or its beginning and how much is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"
