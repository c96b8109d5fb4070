"""`pcorrect plan`: how many generations are enough, and where to spend the next ones."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pcorrect.adequacy.checks import check_fit
from pcorrect.commands import common
from pcorrect.commands.plan_json import output_json
from pcorrect.commands.plan_text import Output
from pcorrect.data import each_llm
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.files import write_text
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.planning.allocation import Allocation, next_prompts
from pcorrect.planning.costs import Costs, log_usage
from pcorrect.planning.detection import power_table
from pcorrect.planning.pairs import pair_variances
from pcorrect.planning.reports import PlanReport, plan_report
from pcorrect.planning.variances import Variances
from pcorrect.readers import counts
from pcorrect.result import Fit

if TYPE_CHECKING:
    from pcorrect.generations import Generations


# What --strategy can be where the generations of two llms are planned.
_OF_TWO = (None, "separate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    for action in parser._actions:
        if action.dest == "files":
            action.nargs = "*"  # none is needed where everything is assumed
    goals = parser.add_argument_group("goals")
    goals.add_argument(
        "--within",
        type=float,
        default=0.1,
        metavar="F",
        help="near enough: the error exceeds what any k can give by this fraction (0.1)",
    )
    goals.add_argument(
        "--target",
        type=float,
        action="append",
        default=[],
        metavar="H",
        help="wanted half-width of an interval (repeatable)",
    )
    goals.add_argument("--each", type=float, metavar="H", help="the same for single prompts")
    goals.add_argument(
        "--decide",
        type=common.probability,
        metavar="P",
        help="settle on which side of P each prompt lies",
    )
    goals.add_argument("--budget", type=float, metavar="X", help="best prompts and k for this cost")
    goals.add_argument(
        "--cost",
        metavar="CP,CG",
        help="cost of a prompt and of a generation, in any unit (0,1); CG may be 'tokens' or "
        "'seconds', read from Inspect logs",
    )
    goals.add_argument("--max-prompts", type=common.positive_int, metavar="N", help="at hand")
    goals.add_argument(
        "--compare", nargs=2, metavar=("A", "B"), help="k that puts two llms in the right order"
    )
    goals.add_argument(
        "--prob", type=common.probability, default=0.95, help="of the right order (0.95)"
    )
    before = parser.add_argument_group("before any data")
    before.add_argument(
        "--assume", type=_triple, metavar="MU,SIGMA,N", help="plan without a FILE, from these"
    )
    before.add_argument(
        "--difference", type=float, metavar="D", help="power to detect it (with a FILE, too)"
    )
    before.add_argument(
        "--correlation", type=float, default=0.5, help="of two llms' p over prompts (0.5)"
    )
    after = parser.add_argument_group("which prompts next")
    after.add_argument("--spend", type=common.positive_int, metavar="G", help="new generations")
    after.add_argument(
        "--strategy",
        choices=("neyman", "uniform", "undecided", "separate"),
        help="what for: the score (neyman, default), --decide P (undecided; 0.1), or --compare "
        "(separate)",
    )
    after.add_argument("-o", "--output", metavar="OUT", help="prompts and counts (.csv or .json)")
    group = parser.add_argument_group("model and output")
    group.add_argument("--model", default=DEFAULT_MODEL, help=f"default: {DEFAULT_MODEL}")
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument("--k", type=_whole_numbers, metavar="K,K,…", help="rows of the table")
    group.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plan for every llm on every benchmark of the input, or from assumed values."""
    _check(args)
    found = _before_data(args) if args.assume else _from_files(args)
    if args.json:
        common.say(common.to_json(output_json(found)))
        return 0
    for line in found.lines():
        common.say(line)
    return 0


def _from_files(args: argparse.Namespace) -> Output:
    if args.compare:
        args.llm = [*(args.llm or []), *args.compare]
    costs = _costs(args)
    generations = common.read_generations(args)
    fits, left_out = _fits(generations, args)
    reports = [_report(fit, generations, costs, args) for fit in fits]
    pair = pair_variances(*_two(fits, args), seed=args.seed) if args.compare else None
    allocation = _allocation(fits, args) if args.spend else None
    power = [] if args.difference is None else [_power(r.found, args) for r in reports]
    options = (args.prob, args.ci_prob, args.k, allocation, args.output, left_out)
    return Output(reports, pair, *options, power, args.correlation)


def _check(args: argparse.Namespace) -> None:
    if args.assume:
        if args.files:
            raise PcorrectError("--assume plans without data: leave out the files, or --assume")
        for name in ("compare", "spend", "each", "decide"):
            if getattr(args, name) is not None:
                raise PcorrectError(f"--{name} needs results: give a FILE instead of --assume")
    elif not args.files:
        raise PcorrectError("give results files, or --assume MU,SIGMA,N to plan without any")
    numbers = [(name, getattr(args, name)) for name in ("within", "each", "budget")]
    for name, value in [*numbers, *(("target", x) for x in args.target)]:
        if value is not None and not 0 < value < math.inf:
            raise PcorrectError(f"--{name} {value:g}: must be a positive, finite number")
    if args.difference is not None and not 0 < args.difference < 1:
        raise PcorrectError(f"--difference {args.difference:g}: must lie between 0 and 1")
    if args.compare and args.compare[0] == args.compare[1]:
        raise PcorrectError(f"--compare: {args.compare[0]!r} twice; name two llms")
    if args.output and not args.spend:
        raise PcorrectError("-o writes which prompts to run next: say how many by --spend G")
    if args.output and Path(args.output).suffix not in (".csv", ".json"):
        raise PcorrectError(f"-o {args.output}: the name must end in .csv or .json")
    if args.strategy == "separate" and not args.compare:
        raise PcorrectError("--strategy separate needs --compare A B")
    if args.strategy and not args.spend:
        raise PcorrectError(f"--strategy {args.strategy} needs --spend G")


def _fits(generations: Generations, args: argparse.Namespace) -> tuple[list[Fit], list[str]]:
    """Fits of all that can be fitted, and the names of the others."""
    selected, left_out = each_llm(counts(generations))
    if args.spend and len(selected) > 1 and (not args.compare or args.strategy not in _OF_TWO):
        names = [f"{one.llm} on {one.benchmark}" for one in selected]
        raise ChoiceError(
            f"--spend: choose one by --llm and --benchmark (or two by --compare), of {names}", names
        )
    show = not args.quiet and sys.stderr.isatty() and len(selected) > 20
    items: Any = selected
    if show:
        from tqdm import tqdm

        items = tqdm(selected, unit="fit", leave=False)
    return [run_fit(one, model=args.model, seed=args.seed) for one in items], left_out


def _report(
    fit: Fit, generations: Generations, costs: Costs | None, args: argparse.Namespace
) -> PlanReport:

    checks = check_fit(fit, generations)
    return plan_report(
        fit,
        k=args.k,
        of_floor=args.within,
        targets=args.target,
        each=args.each,
        decide=args.decide,
        costs=costs,
        ci_prob=args.ci_prob,
        cautions=tuple(checks.warnings),
        trust_moments=checks.stopping.status != "depends",
    )


def _power(found: Variances, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Power of a comparison of two llms like this."""
    # an llm that is all right says nothing of power, and the report says why
    return [] if found.unknown else power_table(found, args.difference, args.correlation)


def _costs(args: argparse.Namespace) -> Costs | None:
    if args.max_prompts is not None and args.budget is None and args.cost is None:
        raise PcorrectError("--max-prompts needs --budget X, or --cost A,B and one --target H")
    if args.budget is None and (args.cost is None or len(args.target) != 1):
        if args.cost is not None:
            raise PcorrectError(
                "--cost needs --budget X (best for it) or one --target H (cheapest)"
            )
        return None
    return Costs(args.budget, *_cost(args.cost, args.files), args.max_prompts)


def _cost(text: str | None, files: list[str]) -> tuple[float, float]:
    """Cost of a prompt and of a generation."""
    if text is None:
        return 0.0, 1.0
    prompt, _, generation = (part.strip() for part in text.partition(","))
    if generation in ("tokens", "seconds"):
        generation = str(log_usage(files).cost(generation))
    try:
        cost = float(prompt), float(generation)
    except ValueError:
        raise PcorrectError(f"--cost {text}: write two numbers with a comma, such as 5,1") from None
    if not (0 <= cost[0] < math.inf and 0 < cost[1] < math.inf):
        raise PcorrectError(
            f"--cost {text}: a prompt costs 0 or more, a generation more than 0 (both finite)"
        )
    return cost


def _two(fits: list[Fit], args: argparse.Namespace) -> tuple[Fit, Fit]:
    """The fits of the two llms to compare, on one benchmark."""
    benchmarks = list(dict.fromkeys(fit.counts.benchmark for fit in fits))
    if len(benchmarks) > 1:
        raise ChoiceError(
            f"--compare looks at one benchmark: choose by --benchmark, of {benchmarks}", benchmarks
        )
    names = [fit.counts.llm for fit in fits]
    for name in args.compare:
        if name not in names:
            raise ChoiceError(f"--compare: no llm {name!r}, choose from {names}", names)
    one, two = (fits[names.index(name)] for name in args.compare)
    return one, two


def _allocation(fits: list[Fit], args: argparse.Namespace) -> Allocation:

    strategy = args.strategy or ("separate" if args.compare else "neyman")
    if strategy == "separate":
        one, two = _two(fits, args)
        found = next_prompts(one, args.spend, strategy=strategy, other=two)
    else:
        found = next_prompts(fits[0], args.spend, strategy=strategy, threshold=args.decide or 0.1)
    if args.output:
        rows = json.dumps(found.rows(), indent=1) + "\n"
        write_text(args.output, rows if args.output.endswith(".json") else found.to_csv())
    return found


def _before_data(args: argparse.Namespace) -> Output:
    """Curve, goals and power from assumed values."""
    mu, sigma, n = args.assume
    if n != int(n):
        raise PcorrectError(f"--assume: {n:g} prompts; the third number must be whole")
    assumed = Variances.assume(mu, sigma, int(n))
    report = plan_report(
        assumed,
        k=args.k,
        of_floor=args.within,
        targets=args.target,
        costs=_costs(args),
        ci_prob=args.ci_prob,
        name=(f"assumed mu = {mu:g}, sigma = {sigma:g}", ""),
    )
    options = (args.prob, args.ci_prob, args.k, None, None, ())
    return Output([report], None, *options, [_power(assumed, args)], args.correlation)


def _triple(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 3 or not all(map(math.isfinite, values)):
        raise argparse.ArgumentTypeError(f"{text!r}: write three numbers with commas")
    return values


def _whole_numbers(text: str) -> list[int]:
    return [common.positive_int(part.strip()) for part in text.split(",")]
