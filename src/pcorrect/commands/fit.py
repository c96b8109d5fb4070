"""`pcorrect fit`: results files to posteriors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from pcorrect.commands import common
from pcorrect.errors import PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, PARAMETERS, Fit, run_fit
from pcorrect.priors import Priors

# More results than this are printed as a table with one row each.
_BLOCKS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--model",
        default=DEFAULT_MODEL,
        help=f"built-in model, or the path of a PyMC program (default: {DEFAULT_MODEL})",
    )
    group.add_argument("--engine", help="exact, gibbs or nuts (default: the model's fastest)")
    group.add_argument("--prior-mu", type=_pair, metavar="A,B", help="mu ~ Beta(A, B); default 1,1")
    group.add_argument(
        "--prior-spread",
        type=_pair,
        metavar="A,B",
        help="sigma / sqrt(mu (1 - mu)) ~ Beta(A, B); default 1,1",
    )
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument("--draws", type=common.positive_int, default=1000, help="per chain (1000)")
    out = parser.add_argument_group("output")
    out.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    out.add_argument("--ci-kind", choices=("eti", "hdi"), default="eti", help="interval (eti)")
    out.add_argument("--per-prompt", action="store_true", help="also every p_i")
    out.add_argument("-o", "--output", metavar="OUT.nc", help="save the result (.nc or .zarr)")
    out.add_argument("--json", action="store_true", help="print JSON (see docs/json.md)")
    out.add_argument("-q", "--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fit every llm on every benchmark of the input."""
    priors = Priors(**{n: v for n in ("mu", "spread") if (v := getattr(args, f"prior_{n}"))})
    selected = common.each_llm(common.read_counts(args))
    if args.output and len(selected) > 1:
        names = sorted({counts.llm for counts in selected})
        benchmarks = sorted({counts.benchmark for counts in selected})
        raise PcorrectError(
            f"-o saves one result, and the input holds {len(selected)}: choose by --llm "
            f"{names} and --benchmark {benchmarks}"
        )
    bar = not args.quiet and sys.stderr.isatty()
    fits = []
    for counts in _progress(selected, show=bar and len(selected) > 20):
        fits.append(
            run_fit(
                counts,
                model=args.model,
                engine=args.engine,
                priors=priors,
                seed=args.seed,
                draws=args.draws,
                progress=bar and len(selected) == 1,
            )
        )
    if args.output:
        from pcorrect.posterior import to_datatree
        from pcorrect.storage import save

        save(to_datatree(fits[0]), args.output)
    show(fits, args)
    return 0


def show(fits: list[Fit], args: argparse.Namespace) -> None:
    """Print fits as JSON, blocks or a table."""
    if args.json:
        results = [result_json(f, args.ci_prob, args.ci_kind, args.per_prompt) for f in fits]
        common.say(common.to_json({"results": results}))
        return
    if len(fits) <= _BLOCKS:
        for i, fit in enumerate(fits):
            if i:
                common.say()
            for line in block(fit, args.ci_prob, args.ci_kind):
                common.say(line)
            if args.per_prompt:
                common.say()
                for line in prompt_lines(fit, args.ci_prob, args.ci_kind):
                    common.say(line)
    else:
        for line in table(fits, args.ci_prob, args.ci_kind):
            common.say(line)
        if args.per_prompt:
            for fit in fits:
                common.say(f"\n{fit.counts.llm} on {fit.counts.benchmark}")
                for line in prompt_lines(fit, args.ci_prob, args.ci_kind):
                    common.say(line)
    if getattr(args, "output", None):
        common.say(f"\nsaved: {args.output}   (pcorrect summary {args.output})")


def _progress(items: list[Any], *, show: bool) -> Any:
    if not show:
        return items
    from tqdm import tqdm

    return tqdm(items, unit="fit", leave=False)


def _pair(text: str) -> tuple[float, float]:
    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: write two numbers, such as 2,2") from None
    return a, b


def result_json(fit: Fit, ci_prob: float, ci_kind: Any, per_prompt: bool = False) -> dict[str, Any]:
    """One entry of ``results`` of the JSON contract; what is undefined is None."""
    counts, closed = fit.counts, fit.moments
    posterior: dict[str, Any] = {}
    for name, marginal in fit.marginals.items():
        if name in fit.not_identified:
            posterior[name] = None
            continue
        low, high = marginal.interval(ci_prob, ci_kind)
        posterior[name] = {"mean": marginal.mean, "sd": marginal.sd, "lower": low, "upper": high}
    result: dict[str, Any] = {
        "llm": counts.llm,
        "benchmark": counts.benchmark,
        "n_prompts": len(counts.prompt),
        "k_min": counts.n_generations.min(),
        "k_max": counts.n_generations.max(),
        "model": fit.model,
        "engine": fit.engine,
        "seed": fit.seed,
        "ci_prob": ci_prob,
        "ci_kind": ci_kind,
        "moments": {
            name: getattr(closed, name)
            for name in ("mu", "se_mu", "score", "se_score", "sigma2", "sigma", "within", "between")
        },
        "posterior": posterior,
        "diagnostics": dict(fit.diagnostics),
        "rows": {
            "read": counts.rows.read,
            "used": counts.rows.used,
            "left_out": dict(counts.rows.left_out),
            "notes": list(counts.rows.notes),
        },
        "warnings": [*closed.notes, *fit.warnings],
    }
    if per_prompt:
        table = fit.prompts.table(ci_prob, ci_kind)
        result["prompts"] = [
            {
                "prompt": str(prompt),
                "n_correct": counts.n_correct[i],
                "n_generations": counts.n_generations[i],
                "p": {
                    "mean": table.mean[i],
                    "sd": table.sd[i],
                    "lower": table.lower[i],
                    "upper": table.upper[i],
                },
            }
            for i, prompt in enumerate(counts.prompt)
        ]
    return result


def block(fit: Fit, ci_prob: float, ci_kind: Any) -> list[str]:
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
    lines += ["", *_moment_lines(fit)]
    lines.append(f"  {_engine_line(fit)}")
    rows = counts.rows
    out = "".join(f", {n} left out: {why}" for why, n in rows.left_out.items())
    lines.append(f"  generations: {rows.read} read, {rows.used} used{out}")
    lines += [f"  note: {note}" for note in rows.notes]
    lines += [f"  warning: {text}" for text in (*closed.notes, *fit.warnings)]
    return lines


def _moment_lines(fit: Fit) -> list[str]:
    closed = fit.moments
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
    else:
        quality = ", ".join(
            f"{name} {found[name]:.{digits}f}"
            for name, digits in (("r_hat", 3), ("ess", 0), ("divergences", 0))
            if name in found
        )
    return f"model {fit.model} by the {fit.engine} engine ({quality}), seed {fit.seed}"


def table(fits: list[Fit], ci_prob: float, ci_kind: Any) -> list[str]:
    """One row per fit, for many llms or benchmarks."""
    level = f"{100 * ci_prob:g}% {ci_kind}"
    head = ["llm", "benchmark", "n", "k", "mu", level, "score", level, "sigma", "moments", "SE"]
    rows = [head]
    for fit in fits:
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
    for fit in fits:
        for text in (*fit.moments.notes, *fit.warnings):
            lines.append(f"warning: {fit.counts.llm} on {fit.counts.benchmark}: {text}")
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


def output_path(text: str) -> Path:
    """Path of an output file."""
    return Path(text)
