"""The words and tables in which `pcorrect fit` tells a result."""

from __future__ import annotations

import textwrap
from typing import Any

from pcorrect.adequacy.checks import MOST_GENERATIONS, Checks
from pcorrect.adequacy.sensitivity import Sensitivity
from pcorrect.commands import common
from pcorrect.fitting import PARAMETERS, Fit


def block(
    fit: Fit, checks: Checks, ci_prob: float, ci_kind: Any, sensitivity: Sensitivity | None = None
) -> list[str]:
    """The lines that describe one fit."""
    counts, closed = fit.counts, fit.moments
    k = counts.n_generations
    width = f"k = {k.min()}" if k.min() == k.max() else f"k = {k.min()} to {k.max()}"
    lines = [
        f"{counts.llm} on {counts.benchmark}: {_count(len(counts.prompt), 'prompt')}, {width}",
        "",
        f"  {'':6}{'estimate':>9}  {f'{100 * ci_prob:g} % interval ({ci_kind})':<22}  question",
    ]
    for name, about in PARAMETERS.items():
        if name in fit.not_identified:
            lines.append(f"  {name:<6}{'-':>9}  {'not identified':<22}  {about}")
            continue
        marginal = fit.marginals[name]
        low, high = (common.share(x) for x in marginal.interval(ci_prob, ci_kind))
        lines.append(
            f"  {name:<6}{common.share(marginal.mean):>9}  {f'{low} to {high}':<22}  {about}"
        )
    depends = checks.stopping.status == "depends"
    lines += ["", *_moment_lines(fit, biased=depends)]
    if checks.shape is not None:
        lines.append(f"  Beta shape: {checks.shape.verdict}")
    if checks.runs is not None and checks.runs.status != "differ" and k.max() > 1:
        lines.append(f"  runs: {checks.runs.verdict}")
    if counts.n_generations.sum() > MOST_GENERATIONS:
        lines.append(f"  runs: not compared (more than {MOST_GENERATIONS:,} generations)")
    if checks.stopping.status in ("doubtful", "no sign"):
        lines.append(f"  unequal k: {checks.stopping.verdict}")
    if sensitivity is not None:
        lines.append(f"  priors: {sensitivity.verdict}")
    lines.append(f"  {_engine_line(fit)}")
    rows = counts.rows
    out = "".join(f", {n} left out: {why}" for why, n in rows.left_out.items())
    lines.append(f"  generations: {rows.read} read, {rows.used} used{out}")
    lines += [f"  note: {note}" for note in rows.notes]
    lines += [f"  warning: {text}" for text in (*closed.notes, *fit.warnings, *checks.warnings)]
    return [part for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    """Sentences broken at 100 characters; tables are narrower."""
    return textwrap.wrap(line, 100, subsequent_indent="    ", drop_whitespace=True) or [""]


def _moment_lines(fit: Fit, *, biased: bool) -> list[str]:
    closed = fit.moments
    if biased:
        mean = common.share(closed.mu)
        return [f"  moments: mean {mean}, biased since k depends on the results: see the warning"]
    se_mu, se_score = (common.share(x) for x in (closed.se_mu, closed.se_score))
    lines = [
        f"  moments: mean {common.share(closed.mu)}; standard error {se_mu} for new prompts, "
        f"{se_score} for these"
    ]
    if closed.within is not None and closed.between is not None:
        parts = (closed.between, closed.within / closed.k)
        total = sum(parts)
        if total > 0:
            lines.append(
                f"  of the variance of mu: {parts[0] / total:.0%} between prompts (only more "
                f"prompts help), {parts[1] / total:.0%} within (more generations help)"
            )
    return lines


def _engine_line(fit: Fit) -> str:
    found = fit.diagnostics
    if "quadrature_error" in found:
        quality = f"quadrature error {found['quadrature_error']:.0e} posterior sd"
        if fit.grid is None:
            quality += f", {fit.draws['mu'].size} independent draws"
    else:
        quality = ", ".join(
            f"{name} {found[name]:.{digits}f}"
            for name, digits in (("r_hat", 3), ("ess", 0), ("divergences", 0))
            if name in found
        )
    return f"model {fit.model} by the {fit.engine} engine ({quality}), seed {fit.seed}"


def table(fits: list[Fit], checks: list[Checks], ci_prob: float, ci_kind: Any) -> list[str]:
    """One row per fit, for many llms or benchmarks."""
    level = f"{100 * ci_prob:g}% {ci_kind}"
    head = [
        "llm",
        "benchmark",
        "n",
        "k",
        "mu",
        level,
        "score",
        level,
        "sigma",
        "moments",
        "SE",
        "Beta shape",
    ]
    rows = [head]
    for fit, found in zip(fits, checks, strict=True):
        counts, closed = fit.counts, fit.moments
        k = counts.n_generations
        row = [counts.llm, counts.benchmark, str(len(k))]
        row.append(str(k.min()) if k.min() == k.max() else f"{k.min()}-{k.max()}")
        for name in ("mu", "score"):
            low, high = (common.share(x) for x in fit.marginals[name].interval(ci_prob, ci_kind))
            row += [common.share(fit.marginals[name].mean), f"{low}-{high}"]
        identified = "sigma" not in fit.not_identified
        row.append(common.share(fit.marginals["sigma"].mean) if identified else "-")
        row += [common.share(closed.mu), common.share(closed.se_mu)]
        row.append("-" if found.shape is None else found.shape.status)
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(
            text.ljust(w) if i < 2 else text.rjust(w)
            for i, (text, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines += ["", "mu: new prompts like these; score: exactly these prompts"]
    read = sum(f.counts.rows.read for f in fits)
    used = sum(f.counts.rows.used for f in fits)
    reasons: dict[str, int] = {}
    for fit in fits:
        for why, count in fit.counts.rows.left_out.items():
            reasons[why] = reasons.get(why, 0) + count
    out = "".join(f", {n} left out: {why}" for why, n in reasons.items())
    lines.append(f"generations: {read} read, {used} used{out}")
    lines.append(f"model {fits[0].model} by the {fits[0].engine} engine, seed {fits[0].seed}")
    lines += [
        f"note: {note}" for note in dict.fromkeys(n for f in fits for n in f.counts.rows.notes)
    ]
    who: dict[str, list[str]] = {}
    for fit, found in zip(fits, checks, strict=True):
        for text in (*fit.moments.notes, *fit.warnings, *found.warnings):
            who.setdefault(text, []).append(f"{fit.counts.llm} on {fit.counts.benchmark}")
    for text, names in who.items():
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        lines.append(f"warning: {', '.join(names[:2])}{more}: {text}")
    return lines


def prompt_lines(fit: Fit, ci_prob: float, ci_kind: Any) -> list[str]:
    """One line per prompt."""
    result = fit.prompts.table(ci_prob, ci_kind)
    width = max(6, *(len(str(p)) for p in fit.counts.prompt))
    lines = [f"  {'prompt':<{width}}  correct      p  {100 * ci_prob:g} % interval ({ci_kind})"]
    for i, prompt in enumerate(fit.counts.prompt):
        correct = f"{fit.counts.n_correct[i]}/{fit.counts.n_generations[i]}"
        lines.append(
            f"  {prompt!s:<{width}}  {correct:>7}  {result.mean[i]:.3f}  "
            f"{result.lower[i]:.3f} to {result.upper[i]:.3f}"
        )
    return lines


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
