"""`pcorrect rank`: order many llms, and say how much of the order is chance."""

from __future__ import annotations

import argparse
from typing import Any

from pcorrect.commands import common
from pcorrect.comparison import Ranking, rank


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    group = parser.add_argument_group("ranking")
    group.add_argument(
        "--own-prompts",
        action="store_true",
        help="rank every llm on its own prompts (default: on the prompts that all share)",
    )
    group.add_argument(
        "--by-group",
        action="store_true",
        help="groups of prompts (column group, subject, …) are the independent units",
    )
    group.add_argument(
        "--weight",
        action="append",
        default=[],
        type=_weight,
        metavar="BENCHMARK=W",
        help="weight in the average over several benchmarks (default: all alike)",
    )
    group.add_argument("--seed", type=int, default=0, help="all randomness comes from it (0)")
    group.add_argument(
        "--draws", type=common.positive_int, default=10_000, help="posterior draws (10000)"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--ci-prob", type=common.probability, default=0.95, help="0.95")
    out.add_argument("--ci-kind", choices=("eti", "hdi"), default="eti", help="interval (eti)")
    out.add_argument("--top", type=common.positive_int, metavar="N", help="print the first N only")
    out.add_argument("--json", action="store_true", help="print JSON (see docs/json.md)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Rank the llms of the input."""
    result = rank(
        common.read_counts(args),
        llm=args.llm,
        weights=dict(args.weight) or None,
        prompts="own" if args.own_prompts else "shared",
        by_group=args.by_group,
        ci_prob=args.ci_prob,
        ci_kind=args.ci_kind,
        draws=args.draws,
        seed=args.seed,
    )
    if args.json:
        common.say(common.to_json(result.to_dict()))
        return 0
    for line in lines(result, args.top):
        common.say(line)
    return 0


def lines(result: Ranking, top: int | None = None) -> list[str]:
    """The ranking as a text table."""
    level = f"{100 * result.ci_prob:g}% {result.ci_kind}"
    benchmarks = ", ".join(result.benchmark)
    prompts = f"{result.n_prompts} shared prompts"
    if result.n_shared < result.n_prompts:
        prompts = f"{result.n_prompts} prompts, {result.n_shared} of them shared"
    out = [f"{len(result.llm)} llms on {benchmarks}, {prompts}", ""]
    head = ["llm", "mu", level, "rank", f"{100 * result.ci_prob:g}%", "at once", "P(best)"]
    rows = [head]
    for i, name in enumerate(result.llm[:top]):
        rows.append(
            [
                name,
                f"{result.mean[i]:.4f}",
                f"{result.lower[i]:.4f}-{result.upper[i]:.4f}",
                f"{result.rank_mean[i]:.1f}",
                _span(result.rank_lower[i], result.rank_upper[i]),
                _span(result.rank_least[i], result.rank_most[i]),
                f"{result.p_best[i]:.3f}",
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    if top is not None and top < len(result.llm):
        out.append(f"… {len(result.llm) - top} more")
    pairs = len(result.llm) * (len(result.llm) - 1) // 2
    told = int(result.told_apart.sum()) // 2
    out += [
        "",
        "mu: new prompts like these; rank: expected, with its interval; at once: ranks that hold",
        f"for all llms together with probability {result.ci_prob:g}",
        f"{told} of {pairs} pairs can be told apart (any of these claims is wrong with probability "
        f"at most {1 - result.ci_prob:.2g})",
    ]
    shown = [group for group in result.groups if len(group) > 1]
    for group in shown[: 5 if len(result.llm) > 20 else len(shown)]:
        names = ", ".join(group) if len(group) <= 6 else f"{group[0]} … {group[-1]}"
        out.append(f"cannot be told apart: {len(group)} llms: {names}")
    if len(shown) > 5 and len(result.llm) > 20:
        out.append(f"and {len(shown) - 5} more such groups (--json lists them)")
    for what, value in (
        ("new prompts", result.new_prompts),
        ("the same prompts", result.same_prompts),
    ):
        if value is not None:
            out.append(
                f"run again on {what}: rank correlation {value.kendall_tau:.2f} (Kendall), "
                f"the same llm first with probability {value.p_same_best:.2f}"
            )
    out += [f"note: {note}" for note in result.notes]
    out.append(f"seed {result.seed}")
    return out


def _span(low: Any, high: Any) -> str:
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _weight(text: str) -> tuple[str, float]:
    name, equals, value = text.rpartition("=")
    try:
        return (name, float(value)) if equals else _fail(text)
    except ValueError:
        return _fail(text)


def _fail(text: str) -> tuple[str, float]:
    raise argparse.ArgumentTypeError(f"{text!r}: write BENCHMARK=W, such as gpqa=2")
