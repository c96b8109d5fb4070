"""`pcorrect plan`: how many generations are enough, and where to spend the next ones."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pcorrect.commands import common
from pcorrect.errors import ChoiceError, PcorrectError
from pcorrect.fitting import DEFAULT_MODEL, run_fit
from pcorrect.result import Fit

if TYPE_CHECKING:
    from pcorrect.planning.allocation import Allocation
    from pcorrect.planning.pairs import PairVariances
    from pcorrect.planning.reports import Costs, PlanReport


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
    goals.add_argument("--target", type=float, metavar="H", help="wanted half-width of an interval")
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
    before.add_argument("--difference", type=float, metavar="D", help="power to detect it")
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
    """Plan for every llm on every benchmark of the input."""
    if args.assume and args.files:
        raise PcorrectError("--assume plans without data: leave out the files, or --assume")
    if args.assume:
        return _before_data(args)
    if not args.files:
        raise PcorrectError("give results files, or --assume MU,SIGMA,N to plan without any")
    _check(args)
    if args.compare:
        args.llm = [*(args.llm or []), *args.compare]
    fits, left_out = _fits(args)
    reports = [_report(fit, args) for fit in fits]
    pair = _pair_variances(fits, args) if args.compare else None
    allocation = _allocation(fits, args) if args.spend else None
    from pcorrect.planning.tables import Output

    found = Output(
        reports, pair, args.prob, args.ci_prob, args.k, allocation, args.output, left_out
    )
    if args.json:
        common.say(common.to_json(found.to_json()))
        return 0
    for line in found.lines():
        common.say(line)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.output and not args.spend:
        raise PcorrectError("-o writes which prompts to run next: say how many by --spend G")
    if args.output and Path(args.output).suffix not in (".csv", ".json"):
        raise PcorrectError(f"-o {args.output}: the name must end in .csv or .json")
    if args.strategy == "separate" and not args.compare:
        raise PcorrectError("--strategy separate needs --compare A B")
    if args.strategy and not args.spend:
        raise PcorrectError(f"--strategy {args.strategy} needs --spend G")


def _fits(args: argparse.Namespace) -> tuple[list[Fit], list[str]]:
    """Fits of all that can be fitted, and the names of the others."""
    found = common.each_llm(common.read_counts(args))
    selected = [counts for counts in found if counts.n_generations.any()]
    if not selected:
        selected = found[:1]  # the error says which llm has nothing
    left_out = [f"{c.llm} on {c.benchmark}" for c in found if not c.n_generations.any()]
    show = not args.quiet and sys.stderr.isatty() and len(selected) > 20
    items: Any = selected
    if show:
        from tqdm import tqdm

        items = tqdm(selected, unit="fit", leave=False)
    return [run_fit(counts, model=args.model, seed=args.seed) for counts in items], left_out


def _report(fit: Fit, args: argparse.Namespace) -> PlanReport:
    from pcorrect.planning.reports import plan_report

    return plan_report(
        fit,
        k=args.k,
        of_floor=args.within,
        target=args.target,
        each=args.each,
        decide=args.decide,
        costs=_costs(args),
        ci_prob=args.ci_prob,
    )


def _costs(args: argparse.Namespace) -> Costs | None:
    from pcorrect.planning.reports import Costs

    if args.budget is None and (args.cost is None or args.target is None):
        if args.cost is not None:
            raise PcorrectError("--cost needs --budget X (best for it) or --target H (cheapest)")
        return None
    return Costs(args.budget, *_cost(args.cost, args.files), args.max_prompts)


def _cost(text: str | None, files: list[str]) -> tuple[float, float]:
    """Cost of a prompt and of a generation."""
    if text is None:
        return 0.0, 1.0
    prompt, _, generation = (part.strip() for part in text.partition(","))
    if generation in ("tokens", "seconds"):
        from pcorrect.planning.usage import log_usage

        generation = str(log_usage(files).cost(generation))
    try:
        return float(prompt), float(generation)
    except ValueError:
        raise PcorrectError(f"--cost {text}: write two numbers with a comma, such as 5,1") from None


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


def _pair_variances(fits: list[Fit], args: argparse.Namespace) -> PairVariances:
    from pcorrect.planning.pairs import pair_variances

    return pair_variances(*_two(fits, args), seed=args.seed)


def _allocation(fits: list[Fit], args: argparse.Namespace) -> Allocation:
    from pcorrect.planning.allocation import next_prompts

    strategy = args.strategy or ("separate" if args.compare else "neyman")
    if strategy == "separate":
        one, two = _two(fits, args)
        found = next_prompts(one, args.spend, strategy=strategy, other=two)
    else:
        if len(fits) > 1:
            names = [f"{fit.counts.llm} on {fit.counts.benchmark}" for fit in fits]
            raise ChoiceError(
                f"--spend: choose one by --llm and --benchmark (or two by --compare), of {names}",
                names,
            )
        found = next_prompts(fits[0], args.spend, strategy=strategy, threshold=args.decide or 0.1)
    if args.output:
        rows = json.dumps(found.rows(), indent=1) + "\n"
        common.write_text(args.output, rows if args.output.endswith(".json") else found.to_csv())
    return found


def _before_data(args: argparse.Namespace) -> int:
    """Curve, goals and power from assumed values."""
    from pcorrect.planning import tables as planned
    from pcorrect.planning.reports import plan_report
    from pcorrect.planning.variances import Variances

    mu, sigma, n = args.assume
    assumed = Variances.assume(mu, sigma, int(n))
    report = plan_report(
        assumed,
        k=args.k,
        of_floor=args.within,
        target=args.target,
        costs=_costs(args),
        ci_prob=args.ci_prob,
        name=(f"assumed mu = {mu:g}, sigma = {sigma:g}", ""),
    )
    power = planned.power_table(assumed, args.difference, args.correlation)
    if args.json:
        common.say(common.to_json({"results": [report.to_json() | {"power": power}]}))
        return 0
    common.say(report.verdict)
    common.say()
    for line in [*report.lines(), *planned.power_lines(power, args.correlation)]:
        common.say(line)
    return 0


def _triple(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) != 3:
        raise argparse.ArgumentTypeError(f"{text!r}: write three numbers with commas")
    return values


def _whole_numbers(text: str) -> list[int]:
    return [common.positive_int(part.strip()) for part in text.split(",")]
