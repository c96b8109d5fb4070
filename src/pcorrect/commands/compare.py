"""`pcorrect compare`: whether llm a is better than llm b, by how much, and how sure that is."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from pcorrect.commands import common
from pcorrect.comparison import PairedDifference, Suite, paired_difference, suite_difference
from pcorrect.comparison.prompt_level import prompt_differences
from pcorrect.data import Counts
from pcorrect.errors import ChoiceError, DataError, PcorrectError
from pcorrect.files import write_text
from pcorrect.fitting import DEFAULT_MODEL


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--unpaired",
        action="store_true",
        help="the llms saw separate prompts of one population: do not match them by id",
    )
    group.add_argument(
        "--by-group",
        action="store_true",
        help="groups of prompts (column group, subject, …) are the independent units",
    )
    group.add_argument(
        "--rope",
        type=_rope,
        default=0.01,
        metavar="X",
        help="differences within X (or LOW,HIGH) count as none; 0.01 is one point (0.01)",
    )
    group.add_argument("--model", default=DEFAULT_MODEL, help=f"of each llm ({DEFAULT_MODEL})")
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument(
        "--draws", type=common.positive_int, default=20_000, help="posterior draws (20000)"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    out.add_argument("--ci-kind", choices=("eti", "hdi"), default="eti", help="interval (eti)")
    out.add_argument(
        "--per-prompt",
        nargs="?",
        const=20,
        type=common.positive_int,
        metavar="N",
        help="also the N prompts that differ most either way (20)",
    )
    out.add_argument("--csv", metavar="OUT.csv", help="write every prompt's difference")
    out.add_argument("--json", action="store_true", help="print JSON (see docs/json.md)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare the two llms that the arguments name, on every benchmark."""
    if args.llm and len(args.llm) > 2:
        raise PcorrectError(
            f"compare takes two llms, and --llm names {len(args.llm)}: for more, pcorrect rank"
        )
    tables = common.read_counts(args)
    a, b = _two(tables, args.llm)
    options: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("by_group", "rope", "ci_prob", "ci_kind", "model", "draws", "seed")
    }
    options["paired"] = not args.unpaired
    if args.csv and len(tables) > 1:
        names = [table.benchmark for table in tables]
        raise PcorrectError(f"--csv writes one benchmark: choose by --benchmark, of {names}")
    results, left_out = [], []
    for table in tables:
        try:
            results.append(paired_difference(table, a, b, **options))
        except (DataError, ChoiceError) as error:
            if len(tables) == 1:
                raise
            left_out.append(f"{table.benchmark}: {error}")
    whole = None
    if not results:
        raise DataError(f"no benchmark holds prompts that {a!r} and {b!r} share: see --unpaired")
    if len(tables) > 1 and not args.unpaired:
        common_options = ("by_group", "ci_prob", "ci_kind", "draws", "seed")
        whole = suite_difference(tables, a, b, **{x: options[x] for x in common_options})
    # a suite says itself which benchmarks it leaves out
    _show(args, results, whole, left_out if whole is None else [])
    return 0


def _show(
    args: argparse.Namespace,
    results: list[PairedDifference],
    whole: Suite | None,
    left_out: list[str],
) -> None:
    prompts = None
    if args.per_prompt or args.csv:
        options = {name: getattr(args, name) for name in ("ci_prob", "model", "seed")}
        prompts = [prompt_differences(result, **options) for result in results]
        if args.csv:
            write_text(args.csv, prompts[0].to_csv())
    if args.json:
        rows = [result.to_dict() for result in results]
        for row, table in zip(rows, prompts or [], strict=False):
            row["prompts"] = table.to_records()
        if whole is None and len(rows) == 1 and not left_out:
            common.say(common.to_json(rows[0]))
        else:
            suite = None if whole is None else whole.to_dict()
            more = {"left_out": left_out} if left_out else {}
            common.say(common.to_json({"results": rows, "suite": suite} | more))
        return
    for i, result in enumerate(results):
        for line in [*([""] if i else []), *block(result)]:
            common.say(line)
        if prompts is not None and args.per_prompt:
            common.say()
            for line in prompts[i].lines(args.per_prompt):
                common.say(line)
    for i, text in enumerate(left_out):
        common.say(("" if i else "\n") + f"left out: {text}")
    if whole is not None:
        common.say()
        for line in whole.lines():
            common.say(line)
    if args.csv:
        print(f"pcorrect: wrote {args.csv}", file=sys.stderr)


def _two(tables: list[Counts], chosen: list[str] | None) -> tuple[str, str]:
    names = list(dict.fromkeys(str(llm) for table in tables for llm in table.llm))
    if chosen and len(chosen) == 2:
        return chosen[0], chosen[1]
    if chosen and len(chosen) == 1:
        raise PcorrectError("compare takes two llms: name both, by --llm A --llm B")
    if len(names) == 2:
        return names[0], names[1]
    raise ChoiceError(
        f"the input holds {len(names)} llm(s): name the two to compare by --llm A --llm B, of "
        f"{names}",
        names,
    )


def _rope(text: str) -> float | tuple[float, float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 2):
        raise argparse.ArgumentTypeError(f"{text!r}: write one number, or LOW,HIGH")
    return values[0] if len(values) == 1 else (values[0], values[1])


def block(result: PairedDifference) -> list[str]:
    """The lines that describe one comparison."""
    how = (
        f"{result.n_shared} shared prompts ({result.only_a} only in a, {result.only_b} only in b)"
        if result.paired
        else "unpaired: two separate sets of prompts"
    )
    level = f"{100 * result.ci_prob:g} % interval ({result.ci_kind})"
    lines = [
        f"a = {result.a}",
        f"b = {result.b}",
        f"{result.benchmark}, {how}",
        "",
        f"  {'a - b':<6}{'estimate':>9}  {level:<24}{'P(a better)':>11}  question",
    ]
    rows = (
        ("mu", result.mu, result.p_better, "new prompts like these"),
        ("score", result.score, result.p_better_score, "exactly these prompts"),
    )
    for name, value, p_better, about in rows:
        span = f"{value.lower:+.4f} to {value.upper:+.4f}"
        lines.append(f"  {name:<6}{value.mean:>+9.4f}  {span:<24}{p_better:>11.4f}  {about}")
    low, high = result.rope
    lines += [
        "",
        f"  verdict on mu: {verdict(result)}",
        f"  P({low:g} <= difference <= {high:g}) = {result.p_equivalent:.4f}, whole posterior",
    ]
    if result.correlation is not None:
        value = result.correlation
        lines.append(
            f"  correlation of difficulty {value.mean:.2f} ({value.lower:.2f} to {value.upper:.2f})"
        )
    if result.gain is not None:
        lines.append(f"  pairing: {result.gain_in_words}")
    lines.append(
        f"  moments: difference {result.difference:+.4f}; standard error "
        f"{common.share(result.se_mu)} for new prompts, {common.share(result.se_score)} for these"
    )
    lines += [f"  note: {note}" for note in result.notes]
    lines.append(f"  seed {result.seed}")
    return lines


def verdict(result: PairedDifference) -> str:
    """One sentence."""
    return {
        "better": f"{result.a} is better",
        "worse": f"{result.b} is better",
        "equivalent": "equivalent: the difference lies in the region of practical equivalence",
        "undecided": "undecided: these data cannot tell",
    }[result.verdict]
