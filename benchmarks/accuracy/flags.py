"""Quality of the flags of mislabelled prompts, and of the interval of consistency.

Run from the repository root::

    python benchmarks/accuracy/flags.py mmlu        # against published label errors (1 minute)
    python benchmarks/accuracy/flags.py falsified   # keys falsified in real results (3 minutes)
    python benchmarks/accuracy/flags.py entropy     # coverage of S(consistency) (2 minutes)
    python benchmarks/accuracy/flags.py speed       # 100,000 answers into clusters

Each prints a table and writes ``results/flags_<name>.csv``.

``mmlu``: 10 llms on the 5,700 prompts of MMLU-Redux. The prior was chosen on every other subject in
alphabetical order ("tuned"); "held out" is the rest. No label enters a fit, and all subjects are
fitted together unless the row says "alone". Rankings: the default; (a) share of correct answers,
then consistency; (b) the paper's rule, unflagged prompts in random order; (c) how far the majority
is ahead of the key. Ties count as in random order.

``falsified``: in results without known errors, 6 % of the keys are replaced by another answer: one
that was given ("given", in proportion to how often, or among options "option"), or one that nobody
gave ("unseen"). Prompts that the llms agree against anyway count as correct, so that no ranking can
reach an average precision of 1.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import gzip
import itertools
import random
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from tables import RESULTS, show, write_table

from pcorrect.consistency.answers import AnswerRows, rows_from
from pcorrect.consistency.clusters import cluster_many
from pcorrect.consistency.entropy import consistency, entropy
from pcorrect.consistency.flags import flag_prompts
from pcorrect.consistency.grouping import group_answers
from pcorrect.readers import read

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def write(name: str, rows: list[dict]) -> None:
    """Print rows and keep them."""
    show(write_table(RESULTS / f"flags_{name}.csv", rows))


def average_precision(score: np.ndarray, bad: np.ndarray, repeats: int = 20) -> float:
    """Mean precision at each bad prompt, ties in random order."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        hit = bad[np.lexsort((rng.random(len(score)), -score))]
        found.append((np.cumsum(hit) / np.arange(1, len(hit) + 1))[hit].mean())
    return float(np.mean(found))


def precision(score: np.ndarray, bad: np.ndarray, top: int, repeats: int = 20) -> float:
    """Share of bad prompts among the first, ties in random order."""
    rng = np.random.default_rng(0)
    orders = (np.lexsort((rng.random(len(score)), -score)) for _ in range(repeats))
    return float(np.mean([bad[order[:top]].mean() for order in orders]))


def rankings(flags) -> dict[str, np.ndarray]:
    """Scores of the default and of the simpler rankings, in the order of the groups."""
    groups = flags.groups
    by_prompt = dict(zip(flags.order, flags.prompts, strict=True))
    ordered = [by_prompt[i] for i in range(len(groups.prompt))]
    p = np.array([prompt.p_correct for prompt in ordered], float)
    s = np.array([np.nan if x.consistency is None else x.consistency for x in ordered])
    s = np.nan_to_num(s, nan=-99.0)
    rival = np.array([prompt.rival_share for prompt in ordered])
    return {
        "default": np.array([prompt.p_mislabelled for prompt in ordered]),
        "a: p, then S": -p + 1e-4 * s,
        "b: paper's rule": ((p <= 0.1) & (s >= -0.8)).astype(float),
        "c: majority": rival - p,
    }


def mmlu() -> None:
    with gzip.open(SHARED / "mmlu_redux_labels.csv.gz", "rt", newline="") as file:
        labels = {row["prompt_id"]: row for row in csv.DictReader(file)}
    subjects = sorted({row["subject"] for row in labels.values()})
    tuned = set(subjects[::2])
    rows, bins = [], []

    def report(flags, where: str, kept: np.ndarray) -> None:
        bad = np.array([labels[p]["error_type"] != "ok" for p in flags.groups.prompt])
        for name, score in rankings(flags).items():
            row = {"prompts": where, "n": int(kept.sum()), "errors": int(bad[kept].sum())}
            row["ranking"] = name
            for top in (50, 100, 200):
                row[f"precision@{top}"] = round(precision(score[kept], bad[kept], top), 3)
            row["average precision"] = round(average_precision(score[kept], bad[kept]), 3)
            rows.append(row)
        p = rankings(flags)["default"]
        edges = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.01]
        for low, high in itertools.pairwise(edges):
            here = kept & (p >= low) & (p < high)
            if here.any():
                bins.append(
                    {
                        "prompts": where,
                        "p_mislabelled": f"{low:g} to {min(high, 1):g}",
                        "n": int(here.sum()),
                        "mean probability": round(p[here].mean(), 3),
                        "share of errors": round(bad[here].mean(), 3),
                    }
                )

    generations = read(SHARED / "mmlu_redux_helm_k1.csv.gz", texts=True)
    flags = flag_prompts(generations)
    in_tuned = np.array([labels[p]["subject"] in tuned for p in flags.groups.prompt])
    report(flags, "tuned", in_tuned)
    report(flags, "held out", ~in_tuned)
    report(flags, "all", np.ones(len(in_tuned), bool))
    alone = subset(rows_from(generations), lambda b: b.removeprefix("mmlu/") not in tuned)
    flags = flag_prompts(alone)
    report(flags, "held out, alone", np.ones(len(flags), bool))
    write("mmlu", rows)
    print()
    write("reliability", bins)


def subset(rows: AnswerRows, wanted) -> AnswerRows:
    """Rows of the wanted benchmarks."""
    kept = np.array([wanted(benchmark) for benchmark in rows.benchmark])
    names = ("benchmark", "llm", "prompt", "answer", "correct", "target")
    return dataclasses.replace(rows, **{name: getattr(rows, name)[kept] for name in names})


def sets() -> Iterable[tuple[str, AnswerRows, str]]:
    gpqa = rows_from(SHARED / "epoch_gpqa_diamond_canonical.csv.gz")
    yield "GPQA, 13 llms, k = 8", gpqa, "option"
    llms = sorted(set(gpqa.llm), key=lambda m: gpqa.correct[gpqa.llm == m].mean())
    yield "GPQA, best llm, k = 8", of_llms(gpqa, llms[-1:]), "option"
    yield "GPQA, 3 weakest, k = 8", of_llms(gpqa, llms[:3]), "option"
    otis = rows_from(SHARED / "epoch_otis_mock_aime.csv.gz")
    llms = sorted(set(otis.llm), key=lambda m: otis.correct[otis.llm == m].mean())
    yield "OTIS, 98 llms", otis, "given"
    yield "OTIS, 98 llms", otis, "unseen"
    yield "OTIS, 10 llms", of_llms(otis, llms[5::10]), "unseen"
    yield "OTIS, 10 weak llms", of_llms(otis, llms[5:35:3]), "unseen"
    yield (
        "AIME + AMC, 2 llms of 9 %",
        rows_from(SHARED / "rg_llama3b_aime_amc_k50.csv.gz"),
        "unseen",
    )
    yield "stability, 7 tasks", rows_from(SHARED / "llm_stability_balanced.csv.gz"), "option"


def of_llms(rows: AnswerRows, llms: list[str]) -> AnswerRows:
    kept = np.isin(rows.llm.astype(str), llms)
    names = ("benchmark", "llm", "prompt", "answer", "correct", "target")
    return dataclasses.replace(rows, **{name: getattr(rows, name)[kept] for name in names})


def falsify(groups, kind: str, rng: np.random.Generator, share: float = 0.06):
    """Groups with some keys moved to another answer, and which prompts these are."""
    n = len(groups.prompt)
    bad = np.zeros(n, bool)
    bad[rng.choice(n, max(1, round(share * n)), replace=False)] = True
    key = groups.row_key.copy()
    for i in np.flatnonzero(bad):
        here = np.flatnonzero((groups.row_prompt == i) & ~groups.row_empty)
        rivals = here[~groups.row_key[here] & groups.count[here].any(axis=1)]
        key[here] = False
        if len(rivals) and kind != "unseen":
            size = groups.count[rivals].sum(axis=1) if kind == "given" else np.ones(len(rivals))
            key[rng.choice(rivals, p=size / size.sum())] = True
    right = np.zeros_like(groups.n_correct)
    np.add.at(right, groups.row_prompt[key], groups.count[key])
    return dataclasses.replace(
        groups, row_key=key, n_correct=right, n_scored=np.maximum(groups.n_scored, right)
    ), bad


def falsified(replications: int = 6) -> None:
    rows = []
    for name, data, kind in sets():
        groups = group_answers(data)
        found, expected, started = [], [], time.perf_counter()
        for seed in range(replications):
            changed, bad = falsify(groups, kind, np.random.default_rng(seed))
            flags = flag_prompts(changed)
            score = rankings(flags)
            found.append([average_precision(x, bad) for x in score.values()])
            p = score["default"]
            expected.append([p[bad].mean(), p[~bad].mean()])
        row = {"results": name, "key": kind, "prompts": len(bad), "falsified": int(bad.sum())}
        for ranking, value in zip(score, np.mean(found, axis=0), strict=True):
            row[f"AP {ranking}"] = round(value, 3)
        row["mean p, falsified"], row["mean p, others"] = np.mean(expected, axis=0).round(3)
        row["seconds"] = round((time.perf_counter() - started) / replications, 2)
        rows.append(row)
    write("falsified", rows)


def distributions(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Cluster distributions of other kinds than the prior's."""
    one, mostly = rng.beta(4, 2), rng.beta(9, 1)
    zipf = 1 / np.arange(1, 51)
    return {
        "always the same": np.ones(1),
        "two, 9 to 1": np.array([0.9, 0.1]),
        "two, even": np.array([0.5, 0.5]),
        "four, even": np.full(4, 0.25),
        "four, Dirichlet(1/2)": rng.dirichlet(np.full(4, 0.5)),
        "mostly one, 5 others": np.r_[mostly, (1 - mostly) * rng.dirichlet(np.ones(5))],
        "one and a tail of 20": np.r_[one, (1 - one) * rng.dirichlet(np.full(20, 0.3))],
        "20, even": np.full(20, 0.05),
        "1000, even": np.full(1000, 0.001),
        "50, Zipf": zipf / zipf.sum(),
    }


def coverage(replications: int = 400) -> None:
    rows = []
    for k in (5, 10, 50):
        rng = np.random.default_rng(k)
        found: dict[str, list[list[float]]] = {}
        for _ in range(replications):
            for name, p in distributions(rng).items():
                n = rng.multinomial(k, p)
                s, truth = entropy(n[n > 0].tolist()), consistency(p)
                assert s is not None
                inside = s.lower - 1e-9 <= truth <= s.upper + 1e-9
                miller = s.plug_in - ((n > 0).sum() - 1) / (2 * k)
                errors = [s.plug_in - truth, s.mean - truth, miller - truth]
                found.setdefault(name, []).append([inside, s.upper - s.lower, *errors])
        found["all kinds"] = [row for values in found.values() for row in values]
        for name, values in found.items():
            table = np.array(values, float)
            row = {"k": k, "clusters": name, "coverage of 95 %": round(table[:, 0].mean(), 3)}
            row["width"] = round(table[:, 1].mean(), 2)
            for j, what in enumerate(("plug-in", "posterior mean", "Miller-Madow"), 2):
                row[f"bias {what}"] = round(table[:, j].mean(), 3)
                row[f"rmse {what}"] = round(float(np.sqrt((table[:, j] ** 2).mean())), 3)
            rows.append(row)
    write("entropy", rows)


def speed() -> None:
    rng = random.Random(0)
    makers = {
        "numbers": lambda: f"{rng.randrange(10**6):,}",
        "sentences": lambda: f"The answer is {rng.random():.6f} cm.",
        "LaTeX": lambda: f"$\\frac{{{rng.randrange(999)}}}{{{rng.randrange(1, 999)}}}$",
        "letters": lambda: rng.choice("ABCD"),
    }
    rows = []
    for name, make in makers.items():
        answers = [[make() for _ in range(50)] for _ in range(2000)]
        started = time.process_time()
        cluster_many(answers)
        distinct = len({text for prompt in answers for text in prompt})
        rows.append(
            {
                "answers": name,
                "n": 100_000,
                "distinct": distinct,
                "CPU seconds": round(time.process_time() - started, 2),
            }
        )
    write("speed", rows)


def main() -> None:
    parts = {"mmlu": mmlu, "falsified": falsified, "entropy": coverage, "speed": speed}
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("part", choices=parts)
    parts[parser.parse_args().part]()


if __name__ == "__main__":
    main()
