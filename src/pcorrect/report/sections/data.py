"""What was read, what was left out, and what a reader has to know about it."""

from __future__ import annotations

import re

from pcorrect.plots import words
from pcorrect.report.markup import Content, Markup, tag
from pcorrect.report.material import Material

# A remark that holds for more llms than this names a few of them.
_NAMES = 3
# Warnings in the verdict; all of them are in the section.
_WARNINGS = 6
_NUMBER = re.compile(r"-?\d[\d.,e+-]*")


def verdict(material: Material) -> list[Content]:
    """Warnings about the data and the fits."""
    lines = _remarks(material, warnings=True)
    out: list[Content] = [[tag("b", "Mind: "), line] for line in lines[:_WARNINGS]]
    if len(lines) > _WARNINGS:
        out.append(f"{words.count(len(lines) - _WARNINGS, 'more warning')} under Data.")
    return out


def build(material: Material) -> Markup:
    """Rows read and used, and every note."""
    rows = [fit.counts.rows for fit in material.fits]
    reasons: dict[str, int] = {}
    for report in rows:
        for why, n in report.left_out.items():
            reasons[why] = reasons.get(why, 0) + n
    read, used = sum(r.read for r in rows), sum(r.used for r in rows)
    items: list[Content] = [
        f"{words.count(read, 'generation')} read, {used:,} used"
        + "".join(f", {n:,} left out: {why}" for why, n in reasons.items())
        + "."
    ]
    items += [
        f"{llm} on {benchmark}: no scored generation; left out."
        for llm, benchmark in material.unscored[:10]
    ]
    if len(material.unscored) > 10:
        items.append(f"… and {len(material.unscored) - 10} more without a scored generation.")
    items += [f"Note: {line}" for line in _remarks(material, warnings=False)]
    items += [f"Warning: {line}" for line in _remarks(material, warnings=True)]
    return tag("ul", [tag("li", item) for item in items])


def _remarks(material: Material, *, warnings: bool) -> list[str]:
    """Remarks, each once, with the llms that it concerns.

    Remarks that differ in their numbers or in their explanation only are one.
    """
    found: dict[str, dict[str, str]] = {}
    for fit in material.fits:
        texts = (*fit.moments.notes, *fit.warnings) if warnings else fit.counts.rows.notes
        for text in texts:
            what = _NUMBER.sub("#", text.partition(":")[0])
            found.setdefault(what, {}).setdefault(material.name(fit), text)
    lines = []
    for by_name in found.values():
        names, variants = list(by_name), list(by_name.values())
        everyone = len(names) == len(material.fits)
        who = "" if everyone else f"{words.listed(names, _NAMES)}: "
        # the numbers of the first one stand for all
        same = "" if len(set(variants)) == 1 else " (numbers of the first of them)"
        lines.append(f"{who}{variants[0]}{same}.")
    return lines
