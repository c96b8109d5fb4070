"""One entry per prompt: what the llms make of it, what it says, and what they answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from pcorrect.report.material import Material

# Characters of prompt texts and answers on a page, all together, and of one of them.
_ALL_TEXTS = 1_500_000
_ONE_TEXT = 4000
_ONE_ANSWER = 160
# Different answers that are listed of a prompt.
_ANSWERS = 8
# Reading answers goes through every generation: beyond so many they are left out.
_GENERATIONS = 600_000


@dataclass
class PromptRow:
    """A prompt.

    Parameters
    ----------
    benchmark, prompt, group : str
    p : dict
        llm -> (posterior mean, lower, upper of p, n_correct, n_generations).
    text, target : str
        Cut to what a page can hold; empty where the log has none.
    answers : list of (answer, times, times right, llms)
        The most frequent ones.
    n_answers : int
        Different answers.
    """

    benchmark: str
    prompt: str
    group: str
    p: dict[str, tuple[float, float, float, int, int]] = field(default_factory=dict)
    text: str = ""
    target: str = ""
    answers: list[tuple[str, int, int, int]] = field(default_factory=list)
    n_answers: int = 0

    @property
    def mean(self) -> float:
        """Mean over llms of the posterior mean of p."""
        return float(np.mean([p[0] for p in self.p.values()]))


def prompt_rows(material: Material) -> list[PromptRow]:
    """The prompts of all benchmarks, hardest first."""
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
    _add_texts(rows, material)
    _add_answers(rows, material)
    return sorted(rows.values(), key=lambda row: row.mean)


def _add_texts(rows: dict[tuple[str, str], PromptRow], material: Material) -> None:
    texts = material.options.texts
    room = int(np.clip(_ALL_TEXTS / max(len(rows), 1), 200, _ONE_TEXT))
    for row in rows.values():
        row.text = cut(texts.get(row.prompt, ""), room)


def _add_answers(rows: dict[tuple[str, str], PromptRow], material: Material) -> None:
    read = sum(fit.counts.rows.read for fit in material.fits)
    if material.generations is None or read > _GENERATIONS:
        return
    from pcorrect.readers import answers

    found = answers(material.generations)
    times: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    right: dict[tuple[str, str, str], int] = defaultdict(int)
    llms: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for benchmark, llm, prompt, answer, target, correct in zip(
        found.benchmark,
        found.llm,
        found.prompt,
        found.answer,
        found.target,
        found.correct,
        strict=True,
    ):
        key = str(benchmark), str(prompt)
        if key not in rows:
            continue
        if target is not None and not rows[key].target:
            rows[key].target = cut(str(target), _ONE_ANSWER)
        if answer is None:
            continue
        times[key][answer] += 1
        right[*key, answer] += int(correct == 1)
        llms[*key, answer].add(llm)
    if not any(answer.strip() for counter in times.values() for answer in counter):
        return  # a log that keeps the grades only
    for key, counter in times.items():
        rows[key].n_answers = len(counter)
        rows[key].answers = [
            (cut(answer, _ONE_ANSWER), n, right[*key, answer], len(llms[*key, answer]))
            for answer, n in counter.most_common(_ANSWERS)
        ]


def cut(text: str, most: int) -> str:
    """The text, or its beginning and how much is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most:,} more characters)"
