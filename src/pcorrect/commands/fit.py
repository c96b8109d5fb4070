"""`pcorrect fit`: results files to posteriors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pcorrect.adequacy.checks import Checks, check_fit
from pcorrect.adequacy.sensitivity import prior_sensitivity
from pcorrect.commands import common
from pcorrect.commands.fit_text import block, prompt_lines, table
from pcorrect.data import UNSCORED, each_llm
from pcorrect.errors import PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, Fit, run_fit
from pcorrect.priors import Priors
from pcorrect.readers import counts
from pcorrect.storage import check_target

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
    group.add_argument("--engine", help="exact, gibbs, ensemble or nuts (the model's own)")
    group.add_argument("--prior-mu", type=_pair, metavar="A,B", help="mu ~ Beta(A, B); default 1,1")
    group.add_argument(
        "--prior-spread",
        type=_pair,
        metavar="A,B",
        help="sigma / sqrt(mu (1 - mu)) ~ Beta(A, B); default 1,1",
    )
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument("--draws", type=common.positive_int, help="per chain (500; 1000 by NUTS)")
    group.add_argument(
        "--sensitivity",
        action="store_true",
        help="also how much the priors matter (power scaling)",
    )
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
    if args.output:
        check_target(args.output)
    generations = common.read_generations(args)
    selected, left_out = each_llm(counts(generations))
    if args.output and len(selected) > 1:
        names = sorted({counts.llm for counts in selected})
        benchmarks = sorted({counts.benchmark for counts in selected})
        raise PcorrectError(
            f"-o saves one result, and the input holds {len(selected)}: choose by --llm "
            f"{names} and --benchmark {benchmarks}"
        )
    bar = not args.quiet and sys.stderr.isatty()
    fits, checks = [], []
    for one in _progress(selected, show=bar and len(selected) > _BLOCKS):
        fit = run_fit(
            one,
            model=args.model,
            engine=args.engine,
            priors=priors,
            seed=args.seed,
            draws=args.draws,
            progress=bar and len(selected) == 1,
        )
        fits.append(fit)
        checks.append(check_fit(fit, generations))
    if args.output:
        from pcorrect.planning import add_planning
        from pcorrect.posterior import to_datatree
        from pcorrect.storage import save

        save(add_planning(to_datatree(fits[0])), args.output)
    show(fits, checks, args, left_out)
    return 0


def show(
    fits: list[Fit], checks: list[Checks], args: argparse.Namespace, left_out: Sequence[str] = ()
) -> None:
    """Print fits as JSON, blocks or a table, and what could not be fitted."""
    # a saved result is shown by the same function, and without this option
    asked = getattr(args, "sensitivity", False)
    if args.json:
        results = [
            result_json(fit, found, args.ci_prob, args.ci_kind, args.per_prompt)
            | (_sensitivity_json(fit) if asked else {})
            for fit, found in zip(fits, checks, strict=True)
        ]
        more = {"left_out": list(left_out)} if left_out else {}
        common.say(common.to_json({"results": results} | more))
        return
    if len(fits) <= _BLOCKS:
        for i, fit in enumerate(fits):
            if i:
                common.say()
            found = prior_sensitivity(fit) if asked else None
            for line in block(fit, checks[i], args.ci_prob, args.ci_kind, found):
                common.say(line)
            if args.per_prompt:
                common.say()
                for line in prompt_lines(fit, args.ci_prob, args.ci_kind):
                    common.say(line)
    else:
        for line in table(fits, checks, args.ci_prob, args.ci_kind):
            common.say(line)
        for fit in fits if asked else ():
            verdict = prior_sensitivity(fit).verdict
            common.say(f"priors: {fit.counts.llm} on {fit.counts.benchmark}: {verdict}")
        if args.per_prompt:
            for fit in fits:
                common.say(f"\n{fit.counts.llm} on {fit.counts.benchmark}")
                for line in prompt_lines(fit, args.ci_prob, args.ci_kind):
                    common.say(line)
    for i, name in enumerate(left_out):
        common.say(("" if i else "\n") + f"{UNSCORED}: {name}")
    if getattr(args, "output", None):
        common.say(f"\nsaved: {args.output}   (pcorrect summary {args.output})")


# Of each check, what goes into the JSON contract.
_ADEQUACY = (
    "status",
    "verdict",
    "p_value",
    "p_histogram",
    "p_shift",
    "shift",
    "shift_se",
    "elpd_diff",
    "elpd_diff_se",
    "alpha",
    "alpha_lower",
    "alpha_upper",
)
_RUNS = ("status", "verdict", "p_value", "gap", "gap_expected", "gap_limit")
_STOPPING = ("status", "verdict", "p_value")


def _entries(check: object | None, names: tuple[str, ...]) -> dict[str, Any] | None:
    return None if check is None else {name: getattr(check, name) for name in names}


def _sensitivity_json(fit: Fit) -> dict[str, Any]:
    found = prior_sensitivity(fit)
    names = ("prior", "likelihood", "diagnosis", "verdict")
    return {"sensitivity": {name: getattr(found, name) for name in names}}


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


def result_json(
    fit: Fit, checks: Checks, ci_prob: float, ci_kind: Any, per_prompt: bool = False
) -> dict[str, Any]:
    """One entry of ``results`` of the JSON contract; what is undefined is None."""
    data, closed = fit.counts, fit.moments
    posterior: dict[str, Any] = {}
    for name, marginal in fit.marginals.items():
        if name in fit.not_identified:
            posterior[name] = None
            continue
        low, high = marginal.interval(ci_prob, ci_kind)
        posterior[name] = {"mean": marginal.mean, "sd": marginal.sd, "lower": low, "upper": high}
    result: dict[str, Any] = {
        "llm": data.llm,
        "benchmark": data.benchmark,
        "n_prompts": len(data.prompt),
        "k_min": data.n_generations.min(),
        "k_max": data.n_generations.max(),
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
            "read": data.rows.read,
            "used": data.rows.used,
            "left_out": dict(data.rows.left_out),
            "notes": list(data.rows.notes),
        },
        "adequacy": _entries(checks.shape, _ADEQUACY),
        "runs": _entries(checks.runs, _RUNS),
        "stopping": _entries(checks.stopping, _STOPPING),
        "warnings": [*closed.notes, *fit.warnings, *checks.warnings],
    }
    if per_prompt:
        table = fit.prompts.table(ci_prob, ci_kind)
        result["prompts"] = [
            {
                "prompt": str(prompt),
                "n_correct": data.n_correct[i],
                "n_generations": data.n_generations[i],
                "p": {
                    "mean": table.mean[i],
                    "sd": table.sd[i],
                    "lower": table.lower[i],
                    "upper": table.upper[i],
                },
            }
            for i, prompt in enumerate(data.prompt)
        ]
    return result
