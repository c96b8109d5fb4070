"""`pcorrect map`: consistency of answers, and prompts whose key may be wrong."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pcorrect.commands import common
from pcorrect.consistency.extraction import HOWS
from pcorrect.files import write_text

if TYPE_CHECKING:
    from pcorrect.consistency.effect import ScoreEffect
    from pcorrect.consistency.flagged import FlaggedPrompt, Flags
    from pcorrect.consistency.grouping import AnswerGroups

_WIDEST = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    common.add_input_arguments(parser)
    group = parser.add_argument_group("answers")
    group.add_argument(
        "--equivalence",
        choices=("auto", "exact", "math"),
        default="auto",
        help="which answers are the same; math needs pcorrect[math] (auto)",
    )
    group.add_argument(
        "--extract", choices=HOWS, default="auto", help="the answer in a raw response (auto)"
    )
    group.add_argument("--decimal", choices=(".", ","), default=".", help="decimal sign (.)")
    group = parser.add_argument_group("suspects")
    group.add_argument(
        "--rule",
        choices=("latent", "paper"),
        default="latent",
        help="probability by a latent-truth model, or the paper's bounds (latent)",
    )
    group.add_argument(
        "--suspect",
        type=_probability,
        default=0.5,
        metavar="P",
        help="prompts of at least this probability are suspects (0.5)",
    )
    group.add_argument("--p-max", type=float, default=0.1, help="of the paper's rule (0.1)")
    group.add_argument("--s-min", type=float, default=-0.8, help="of the paper's rule (-0.8)")
    out = parser.add_argument_group("output")
    out.add_argument("--top", type=common.positive_int, default=20, help="prompts to print (20)")
    out.add_argument("--map", action="store_true", help="also one row per llm and prompt")
    out.add_argument("--json", action="store_true", help="print JSON")
    out.add_argument("--csv", metavar="OUT.csv", help="write all prompts, most suspect first")
    out.add_argument("-o", "--output", metavar="OUT.json", help="write the JSON to a file")
    out.add_argument("-q", "--quiet", action="store_true", help="no notes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Cluster answers, rank prompts, and show what suspects mean for the score."""
    from pcorrect.consistency.effect import score_effect
    from pcorrect.consistency.flags import flag_prompts
    from pcorrect.consistency.grouping import group_answers
    from pcorrect.consistency.unscored import read_answers

    groups = group_answers(
        read_answers(args.files, **common.reading_options(args)),
        equivalence=args.equivalence,
        extract=args.extract,
        decimal=args.decimal,
    )
    flags = flag_prompts(
        groups, rule=args.rule, threshold=args.suspect, p_max=args.p_max, s_min=args.s_min
    )
    effect = score_effect(flags)
    table = None
    if args.map or args.json or args.output:
        from pcorrect.consistency.tables import consistency_table, data_map

        table = data_map(groups) if args.map else consistency_table(groups)
    if args.csv:
        write_text(args.csv, _csv(flags))
    if args.json or args.output:
        assert table is not None
        text = common.to_json(
            {
                "prompts": [
                    {**prompt.as_dict(), "clusters": clusters_of(flags.groups, int(i))}
                    for i, prompt in zip(flags.order, flags.prompts, strict=True)
                ],
                "map": list(table.rows()),
                "effect": {
                    "suspects": effect.suspects,
                    "rekeyed": effect.rekeyed,
                    "llms": [vars(row) for row in effect.llms],
                },
                "rates": dict(flags.rate),
                "weights": dict(flags.weight),
                "rule": flags.rule,
                "comparable": groups.comparable,
                "notes": list(flags.notes),
            }
        )
        if args.output:
            write_text(args.output, text + "\n")
        if args.json:
            common.say(text)
            return 0
    _show(flags, effect, args)
    if args.map and table is not None:
        common.say()
        for line in map_lines(list(table.rows())):
            common.say(line)
    for name, path in (("prompts", args.csv), ("results", args.output)):
        if path:
            common.say(f"{name}: {path}")
    return 0


def _show(flags: Flags, effect: ScoreEffect, args: argparse.Namespace) -> None:
    groups = flags.groups
    answers, empty = groups.answered.sum(), groups.count[groups.row_empty].sum()
    common.say(
        f"{_many(len(flags), 'prompt')} of {_many(len(set(groups.benchmark)), 'benchmark')}, "
        f"{_many(len(groups.llm), 'llm')}, {_many(int(answers), 'answer')}, "
        f"{empty} without an answer"
    )
    if not flags.judged:
        common.say(f"suspects: unknown, since {flags.groups.unjudged}")
    elif flags.rule == "latent":
        expected = sum(prompt.p_mislabelled or 0.0 for prompt in flags)
        common.say(
            f"suspects: {effect.suspects} with p_mislabelled of at least {flags.threshold:g} and a "
            f"rival more frequent than the key; {expected:.0f} prompts expected to be mislabelled "
            "or unclear in all"
        )
    else:
        common.say(
            f"suspects: {effect.suspects} with p_correct <= {args.p_max:g} and "
            f"consistency >= {args.s_min:g}"
        )
    common.say()
    for line in suspect_lines(flags.prompts[: args.top]):
        common.say(line)
    common.say()
    for line in effect_lines(effect):
        common.say(line)
    if not args.quiet:
        for note in flags.notes:
            common.say(f"note: {note}")


def clusters_of(groups: AnswerGroups, i: int) -> list[dict[str, Any]]:
    """The clusters of one prompt for the JSON output, largest first."""
    first, last = np.searchsorted(groups.row_prompt, [i, i + 1])
    rows = [h for h in range(int(first), int(last)) if groups.count[h].any()]
    rows.sort(key=lambda h: (-int(groups.count[h].sum()), groups.row_text[h]))
    return [
        {
            "text": groups.row_text[h],
            "size": int(groups.count[h].sum()),
            "rule": groups.row_rule[h],
            "key": bool(groups.row_key[h]),
            "no_answer": bool(groups.row_empty[h]),
        }
        for h in rows
    ]


def suspect_lines(prompts: Sequence[FlaggedPrompt]) -> list[str]:
    """The ranked prompts as a table."""
    rows = [["rank", "p_mislabelled", "p_correct", "consistency", "key", "rival", "by", "prompt"]]
    for prompt in prompts:
        by = f"{prompt.support}/{prompt.n_llms}"
        if prompt.n_llms == 1:
            by = f"{prompt.rival_share:.0%}"
        rows.append(
            [
                str(prompt.rank),
                common.share(prompt.p_mislabelled),
                common.share(prompt.p_correct),
                _number(prompt.consistency),
                _short(prompt.key),
                _short(prompt.rival),
                by,
                _short(f"{prompt.benchmark}/{prompt.prompt}"),
            ]
        )
    lines = common_table(rows, left=(4, 5, 7))
    lines += ["", "by: llms that most often say the rival (of one llm: its share of the answers)"]
    return lines


def effect_lines(effect: ScoreEffect) -> list[str]:
    """Scores with suspects removed, re-keyed and weighed, with each llm's place."""
    rows = [["llm", "score", "", "removed", "", "re-keyed", "", "expected", ""]]
    for row in effect.llms:
        cells = [row.llm]
        for value, place in (
            (row.score, row.rank),
            (row.removed, row.rank_removed),
            (row.rekeyed, row.rank_rekeyed),
            (row.expected, row.rank_expected),
        ):
            cells += [common.share(value), f"#{place}" if place else "-"]
        rows.append(cells)
    lines = common_table(rows, left=(0,))
    lines += [
        "",
        f"removed: without {_many(effect.suspects, 'suspect')}; re-keyed: the rival is the key of "
        f"{effect.rekeyed} of them; expected: every key weighed by its probability",
    ]
    return lines


def map_lines(rows: list[dict[str, Any]]) -> list[str]:
    """The data map as a table: P(correct) and S of every llm and prompt."""
    table = [
        ["llm", "prompt", "k", "p", "95% eti", "S", "95% eti", "clusters", "dominant", "share"]
    ]
    for row in rows:
        s = [row[f"consistency_{end}"] for end in ("lower", "upper")]
        p = [row[f"p_{end}"] for end in ("lower", "upper")]
        table.append(
            [
                row["llm"],
                _short(f"{row['benchmark']}/{row['prompt']}"),
                str(row["n_generations"]),
                common.share(row["p_mean"]),
                "-" if p[0] is None else f"{common.share(p[0])}-{common.share(p[1])}",
                _number(row["consistency"]),
                "-" if s[0] is None else f"{_number(s[0])} to {_number(s[1])}",
                str(row["clusters"]),
                _short(row["dominant"]) + (" (tie)" if row["tie"] else ""),
                common.share(row["dominant_share"]),
            ]
        )
    return common_table(table, left=(0, 1, 8))


def common_table(rows: Sequence[Sequence[str]], left: Sequence[int]) -> list[str]:
    """Aligned columns; those in `left` to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            text.ljust(width) if i in left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _csv(flags: Flags) -> str:
    rows = [prompt.as_dict() for prompt in flags]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "supporters": ";".join(row["supporters"])})
    return text.getvalue()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value + 0.0:.3f}".replace("-0.000", "0.000")


def _short(text: str | None) -> str:
    if text is None:
        return "-"
    line = " ".join(text.split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _many(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _probability(text: str) -> float:
    return 1.0 if text in ("1", "1.0") else common.probability(text)
