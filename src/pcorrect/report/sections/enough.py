"""How many generations are enough."""

from __future__ import annotations

import numpy as np

from pcorrect.planning import PlanReport
from pcorrect.plots import words
from pcorrect.plots.plan_pictures import precision_picture
from pcorrect.report.chart import chart
from pcorrect.report.markup import Content, Markup, tag
from pcorrect.report.material import Material
from pcorrect.report.tables import Cell, Column, table

_SENTENCES = 4


def verdict(material: Material) -> list[Content]:
    """Whether k was enough, in sentences."""
    plans = material.plans
    if len(plans) <= _SENTENCES:
        return [
            [
                tag("b", "Generations: " if len(plans) == 1 else f"{_name(plan, material)}: "),
                f"{plan.verdict}.",
            ]
            for plan in plans
        ]
    known = [plan for plan in plans if plan.minimal.k is not None and not plan.found.unknown]
    enough = sum(plan.found.k_used >= (plan.minimal.k or 0) for plan in known)
    out: list[Content] = []
    if known:
        out.append(
            [
                tag("b", "Generations: "),
                f"for {enough} of {words.count(len(known), material.noun)} the k used is within "
                f"{100 * known[0].of_floor:g} % of what any k can give for new prompts.",
            ]
        )
    if untold := len(plans) - len(known):
        out.append(
            f"For {words.count(untold, material.noun)} the data do not tell how many generations "
            "are enough (k = 1, one prompt, or all answers alike)."
        )
    return out


def _name(plan: PlanReport, material: Material) -> str:
    return plan.name if len(material.benchmarks) > 1 else plan.llm


def build(material: Material) -> Markup:
    """Table of the smallest sufficient k, and the precision curves of a few fits."""
    plans = material.plans
    prob = f"{100 * material.options.ci_prob:g} %"
    several = len(material.benchmarks) > 1
    noted = any(plan.found.unknown or plan.notes for plan in plans)
    columns = [
        Column("llm", number=False),
        *([Column("benchmark", number=False)] if several else []),
        Column("k used", "generations per prompt"),
        Column(
            f"k enough ({prob} eti)",
            "smallest k near the floor: posterior median and equal-tailed interval",
        ),
        Column("SE now", "posterior median of the standard error of mu at the k used, in points"),
        Column("floor", "standard error of mu that no k goes below (posterior median), in points"),
        Column(
            "SE of score", "standard error of score at the k used (posterior median), in points"
        ),
        *([Column("note", number=False, wide=True)] if noted else []),
    ]
    rows = []
    for plan in plans:
        at = np.flatnonzero(plan.curve.k == plan.found.k_used)
        se_mu, se_score = (
            float(x[1, at[0]]) if len(at) else np.nan
            for x in (plan.curve.se_mu, plan.curve.se_score)
        )
        k, floor = plan.minimal, plan.curve.floor.value
        told = k.k is not None and not plan.found.unknown
        upper = "no limit" if k.upper is None else f"{k.upper:,}"
        rows.append(
            [
                plan.llm,
                *([plan.benchmark] if several else []),
                Cell(plan.used, plan.found.k_max),
                Cell(f"{k.k:,} ({k.lower:,} to {upper})", k.k, k.lower, k.upper) if told else "–",
                Cell(words.percent(se_mu, se_mu), se_mu),
                Cell(words.percent(floor, floor), floor),
                Cell(words.percent(se_score, se_score), se_score),
                *([_note(plan)] if noted else []),
            ]
        )
    near = 100 * plans[0].of_floor
    body = [
        tag(
            "p",
            "The error for new prompts falls with k down to a floor, sigma / √n, that only more "
            f"prompts lower. Enough means: within {near:g} % of that floor.",
        ),
        table(columns, rows, name="enough-table", about="generations that are enough"),
    ]
    if material.inline:
        charts = [curve_chart(plan, _name(plan, material)) for plan in plans]
        body.append(tag("div", charts, class_="charts"))
    return tag("div", body)


def _note(plan: PlanReport) -> str:
    return "; ".join([plan.found.unknown, *plan.notes] if plan.found.unknown else plan.notes)


def curve_chart(plan: PlanReport, name: str) -> Markup | None:
    """Standard errors against k; None where the data do not tell them."""
    if plan.found.unknown:
        return None
    return chart(precision_picture(plan.curve, name, plan.found.k_max, plan.used))
