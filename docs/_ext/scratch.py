"""The folder that every command and cell of the documentation runs in.

It holds the folders of the repository that pages name (`examples`, `models`, `benchmarks`), and the
SmolLM2 results in the forms of other harnesses, so that "I have Inspect logs" is run and not only
said.
"""

import csv
import gzip
import json
import shutil
import zipfile
from collections import defaultdict
from pathlib import Path

HELD = ("examples", "models", "benchmarks")
LLM, BENCHMARK, EPOCHS = "smollm2-135m-t0.7", "smollm2-quiz", 8
Rows = list[dict[str, str]]


def make(repository: Path, folder: Path) -> None:
    """Make the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in HELD:
        (folder / name).symlink_to(repository / name, target_is_directory=True)
    with gzip.open(folder / "examples/smollm2/results.csv.gz", "rt", newline="") as file:
        everything = list(csv.DictReader(file))
    rows = [row for row in everything if int(row["generation"]) <= EPOCHS]
    first = [row for row in rows if row["llm"] == LLM]
    for llm in sorted({row["llm"] for row in rows}):
        of_llm = [row for row in rows if row["llm"] == llm]
        _inspect(folder / "logs" / f"2025-06-01T10-00-00+00-00_{BENCHMARK}_{llm}.eval", of_llm)
    _lm_eval(folder / "lm-eval" / "HuggingFaceTB__SmolLM2-135M-Instruct", first)
    _tables(folder, first)
    _evalplus(folder / f"{LLM}_temp_0.7_eval_results.json", first)
    # kernels: no configuration of the user's, and no advice on transport for each page
    profile = folder / ".ipython" / "profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
    own = (repository / "models" / "beta_bernoulli.py").read_text()
    (folder / "my_model.py").write_text(own)


def _by_prompt(rows: Rows) -> dict[str, Rows]:
    found: dict[str, Rows] = defaultdict(list)
    for row in rows:
        found[row["prompt_id"]].append(row)
    return found


def _inspect(path: Path, rows: Rows) -> None:
    """An Inspect log of one task with several epochs."""
    path.parent.mkdir(exist_ok=True)
    samples = [
        {
            "id": row["prompt_id"],
            "epoch": int(row["generation"]),
            "input": row["prompt_id"],
            "target": row["target"],
            "scores": {
                "match": {"value": "C" if row["correct"] == "1" else "I", "answer": row["answer"]}
            },
        }
        for row in rows
    ]
    header = {
        "version": 2,
        "status": "success",
        "eval": {
            "model": rows[0]["llm"],
            "task": BENCHMARK,
            "dataset": {"name": BENCHMARK, "sample_ids": sorted(_by_prompt(rows))},
            "config": {"epochs": EPOCHS},
        },
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("summaries.json", json.dumps(samples))
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))


def _lm_eval(folder: Path, rows: Rows) -> None:
    """What lm-evaluation-harness writes for a task with `repeats: 8` and two filters."""
    folder.mkdir(parents=True)
    time = "2025-06-01T10-00-00.000000"
    (folder / f"results_{time}.json").write_text(
        json.dumps({"model_name": "HuggingFaceTB/SmolLM2-135M-Instruct", "results": {}})
    )
    lines = []
    for i, (prompt, own) in enumerate(_by_prompt(rows).items()):
        responses = [row["raw_answer"] for row in own]
        correct = [int(row["correct"]) for row in own]
        for name, kept, score in (
            ("take_first", responses[:1], correct[0]),
            ("take_all", [[row["answer"] for row in own]], sum(correct) / len(correct)),
        ):
            line = {
                "doc_id": i,
                "doc": {"id": prompt},
                "target": own[0]["target"],
                "resps": [responses],
                "filtered_resps": kept,
                "filter": name,
                "metrics": ["exact_match"],
                "doc_hash": f"{i:064x}",
                "exact_match": score,
            }
            lines.append(json.dumps(line) + "\n")
    (folder / f"samples_{BENCHMARK}_{time}.jsonl").write_text("".join(lines))


def _tables(folder: Path, rows: Rows) -> None:
    """The same results as tables: with foreign names, wide, packed, and as counts."""
    by_prompt = _by_prompt(rows)
    outcomes = {prompt: [int(row["correct"]) for row in own] for prompt, own in by_prompt.items()}
    names = [f"run{j + 1}" for j in range(EPOCHS)]
    _csv(
        folder / "graded.csv",
        ["question_uid", "attempt", "verdict_by_judge"],
        [
            [row["prompt_id"], row["generation"], "yes" if row["correct"] == "1" else "no"]
            for row in rows
        ],
    )
    _csv(folder / "wide.csv", ["prompt_id", *names], [[p, *y] for p, y in outcomes.items()])
    _csv(
        folder / "counts.csv",
        ["prompt_id", "n_correct", "n_generations"],
        [[p, sum(y), len(y)] for p, y in outcomes.items()],
    )
    with gzip.open(folder / "packed.jsonl.gz", "wt") as file:
        for prompt, y in outcomes.items():
            file.write(json.dumps({"prompt_id": prompt, "correct": y}) + "\n")
    shutil.copy(folder / "wide.csv", folder / "results.csv")


def _csv(path: Path, head: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def _evalplus(path: Path, rows: Rows) -> None:
    """An evalplus results file: one entry per generation, base and plus tests."""
    status = {"1": "pass", "0": "fail"}
    found = {
        f"HumanEval/{i}": [
            {
                "task_id": f"HumanEval/{i}",
                "solution": row["answer"],
                "base_status": status[row["correct"]],
                "plus_status": status[row["correct"]],
            }
            for row in own
        ]
        for i, own in enumerate(_by_prompt(rows).values())
    }
    path.write_text(json.dumps({"date": "2025-06-01 10:00", "hash": "0", "eval": found}))
