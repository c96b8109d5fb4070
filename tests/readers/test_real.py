"""Real results: our counts against an independent count, and against recorded truths."""

import csv
import gzip
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, outcomes, read

GENERATIONS = [
    "epoch_gpqa_diamond",
    "epoch_gpqa_diamond_canonical",
    "epoch_otis_mock_aime",
    "livecodebench_k1",
    "llm_stability_balanced",
    "llm_stability_sequential",
    "misguided_attention_k3",
    "mmlu_redux_helm_k1",
    "rg_llama3b_aime_amc_k50",
    "rg_zeroshot_easy_k3_answers",
    "scorio_aime25_q06_k80",
]


def rows_of(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def by_hand(rows):
    """{(benchmark, llm): {prompt: [correct, …]}} in the order of the file."""
    cells = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row["benchmark"], row["model"]][row["prompt_id"]].append(int(row["correct"]))
    return cells


@pytest.mark.parametrize("name", GENERATIONS)
def test_counts_equal_an_independent_count(shared, name):
    path = shared / "data" / f"{name}.csv.gz"
    cells = by_hand(rows_of(path))
    found = counts(path)
    assert {(c.benchmark, llm) for c in found for llm in c.llm} == set(cells)
    for c in found:
        for llm in c.llm:
            mine, theirs = c.select(llm), cells[c.benchmark, llm]
            assert set(mine.prompt) == set(theirs)
            assert mine.n_correct.tolist() == [sum(theirs[p]) for p in mine.prompt]
            assert mine.n_generations.tolist() == [len(theirs[p]) for p in mine.prompt]
            assert mine.rows.read == mine.rows.used == sum(map(len, theirs.values()))


@pytest.mark.parametrize(
    ("name", "runs"), [("epoch_gpqa_diamond", 61), ("epoch_otis_mock_aime", 98)]
)
def test_accuracy_of_every_run(shared, name, runs):
    path = shared / "data" / f"{name}.csv.gz"
    cells = by_hand(rows_of(path))
    (found,) = counts(path)
    assert len(found.llm) == len(cells) == runs
    for llm in found.llm:
        c = found.select(llm)
        theirs = [np.mean(y) for y in cells[found.benchmark, llm].values()]
        assert np.mean(c.n_correct / c.n_generations) == pytest.approx(np.mean(theirs), abs=1e-12)


def test_counts_table(shared):
    path = shared / "data" / "rg_zeroshot_easy_k3_counts.csv.gz"
    rows = {(r["benchmark"], r["model"], r["prompt_id"]): r for r in rows_of(path)}
    found = counts(path)
    assert len(found) == 101
    total = 0
    for c in found:
        for llm in c.llm:
            mine = c.select(llm)
            for prompt, s, k in zip(mine.prompt, mine.n_correct, mine.n_generations, strict=True):
                row = rows[c.benchmark, llm, prompt]
                assert (s, k) == (int(row["n_correct"]), int(row["n_generations"]))
                total += 1
    assert total == len(rows)


def test_outcomes_and_answers_of_one_llm(shared):
    path = shared / "data" / "rg_llama3b_aime_amc_k50.csv.gz"
    rows = [r for r in rows_of(path) if r["benchmark"] == "aime2024"]
    table = read(path, benchmark="aime2024")
    llm = rows[0]["model"]
    prompt, matrix = outcomes(table, llm)
    assert matrix.shape == (30, 50)
    place = {p: i for i, p in enumerate(prompt)}
    for row in rows:
        if row["model"] == llm:
            cell = matrix[place[row["prompt_id"]], int(row["generation"]) - 1]
            assert cell == int(row["correct"])
    found = answers(table)
    assert len(found) == len(rows)
    keys = zip(found.llm, found.prompt, found.generation, found.answer, found.target, strict=True)
    assert set(keys) == {
        (r["model"], r["prompt_id"], int(r["generation"]), r["answer"], r["target"]) for r in rows
    }


def test_misguided_threshold(shared):
    path = shared / "data" / "misguided_attention_k3.csv.gz"
    correct = counts(path)[0]
    score = counts(path, columns={"correct": "score"}, threshold=0.999)[0]
    assert (correct.n_correct == score.n_correct).all()
    with pytest.raises(DataError, match="threshold"):
        counts(path, columns={"correct": "score"})


# ---- logs


@pytest.mark.parametrize("kind", ["eval", "json"])
@pytest.mark.parametrize("scorer", ["match", "exact", "multi.exact"])
def test_inspect_logs(shared, kind, scorer):
    folder = shared / "data/logs/generated/inspect" / kind
    (found,) = counts(folder, scorer=scorer)
    means = (found.n_correct / found.n_generations).mean(axis=1)
    assert dict(zip(found.llm, means.round(9), strict=True)) == {
        "mockllm/alpha": 0.46,
        "mockllm/beta": 0.3,
    }
    assert found.n_generations.tolist() == [[10] * 20] * 2
    logs = [json.loads(p.read_bytes()) for p in folder.glob("*.json")]
    for log in logs:
        scores = {s["name"]: s["metrics"] for s in log["results"]["scores"]}
        truth = scores["match"]["accuracy"]["value"]
        i = found.llm.tolist().index(log["eval"]["model"])
        assert means[i] == pytest.approx(truth, abs=1e-12)
        reduced = {s["sample_id"]: s["value"] for s in log["reductions"][0]["samples"]}
        ours = dict(zip(found.prompt, found.n_correct[i] / 10, strict=True))
        assert ours == pytest.approx(reduced)


def test_inspect_asks_for_a_scorer(shared):
    folder = shared / "data/logs/generated/inspect/eval"
    with pytest.raises(ChoiceError) as error:
        read(folder)
    assert error.value.options == ["match", "cipn", "multi.exact", "multi.len"]
    with pytest.raises(DataError, match="'P'"):
        read(folder, scorer="cipn")


@pytest.mark.parametrize(
    ("folder", "read_rows", "used", "mean"),
    [("killed", 56, 56, 0.025), ("cancelled", 64, 60, 0.025), ("errored", 27, 0, None)],
)
def test_inspect_unfinished_logs(shared, folder, read_rows, used, mean):
    (found,) = counts(shared / "data/logs/generated/inspect" / folder)
    report = found.rows[0]
    assert (report.read, report.used) == (read_rows, used)
    assert any("did not finish" in note for note in report.notes)
    k = found.n_generations[0]
    if mean is not None:
        assert np.mean(found.n_correct[0][k > 0] / k[k > 0]) == pytest.approx(mean)


@pytest.mark.parametrize(("scorer", "mean"), [("match", 1 / 3), ("boolean", 0.4666666666666666)])
@pytest.mark.parametrize("kind", ["eval", "json"])
def test_inspect_odd_scores(shared, kind, scorer, mean):
    (path,) = (shared / "data/logs/generated/inspect/odd").glob(f"*.{kind}")
    (found,) = counts(path, scorer=scorer)
    assert np.mean(found.n_correct[0] / found.n_generations[0]) == pytest.approx(mean)
    assert found.rows[0].left_out == {"error": 2}
    assert "x/y: z" in found.prompt
    with pytest.raises(DataError, match=r"'\[1, 0, 1\]'"):
        read(path, scorer="listy")
    (graded,) = counts(path, scorer="unscored", threshold=0.4)
    assert graded.rows[0].left_out == {"error": 2, "no score": 5}


def test_inspect_public_log(shared):
    (found,) = counts(shared / "data/logs/public/inspect/*.eval")
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[2, 1]], [[2, 2]])


def test_inspect_full_answers(shared):
    path = shared / "data/logs/generated/inspect/odd"
    (log,) = path.glob("*.eval")
    short = answers(read(log, scorer="unscored", threshold=0.4)).answer
    full = answers(read(log, scorer="unscored", threshold=0.4, texts=True)).answer
    assert "..." in short
    assert max(len(text) for text in full if text) > 1024


@pytest.mark.parametrize(
    ("task", "options", "mean", "k"),
    [
        ("arith20", {"filter": "score-first"}, "exact_match,score-first", 1),
        ("arith20", {"filter": "maj@10"}, "exact_match,maj@10", 1),
        ("arith20", {"filter": "all10"}, "exact_match,all10", 10),
        ("arith20_avg", {"metric": "mean_acc"}, "mean_acc,all10", 10),
        ("arith20_avg", {"metric": "correct_list"}, "correct_list,all10", 10),
        ("arith20_mc", {"metric": "acc"}, "acc,none", 1),
        ("arith20_mc", {"metric": "acc_norm"}, "acc_norm,none", 1),
    ],
)
@pytest.mark.parametrize("llm", ["A", "B"])
def test_lm_eval_against_its_results_file(shared, task, options, mean, k, llm):
    folder = shared / f"data/logs/generated/lm_eval/org__toy-model-{llm}"
    (found,) = counts(folder, benchmark=task, **options)
    (results,) = folder.glob("results_*.json")
    truth = json.loads(results.read_text())["results"][task][mean]
    assert found.llm.tolist() == [f"org/toy-model-{llm}"]
    assert np.mean(found.n_correct[0] / k) == pytest.approx(truth, abs=1e-12)
    assert found.n_generations.tolist() == [[k] * 20]


def test_lm_eval_lists_its_choices(shared):
    folder = shared / "data/logs/generated/lm_eval"
    with pytest.raises(ChoiceError, match="--filter") as error:
        read(folder, benchmark="arith20")
    assert error.value.options == ["score-first", "maj@10", "all10"]
    with pytest.raises(ChoiceError, match="--metric") as error:
        read(folder, benchmark="arith20_avg")
    assert error.value.options == ["mean_acc", "correct_list"]
    with pytest.raises(ChoiceError, match="no generation of benchmark 'gsm8k'") as error:
        read(folder, benchmark="gsm8k")
    assert error.value.options == ["arith20", "arith20_avg", "arith20_mc"]
    (results,) = (folder / "org__toy-model-A").glob("results_*.json")
    with pytest.raises(DataError, match=r"samples_\*\.jsonl"):
        read(results)


def test_lm_eval_generations_of_a_fraction(shared):
    folder = shared / "data/logs/generated/lm_eval/org__toy-model-A"
    table = read(folder, benchmark="arith20_avg", metric="mean_acc")
    listed = read(folder, benchmark="arith20_avg", metric="correct_list")
    assert (outcomes(table).correct == outcomes(listed).correct).all()


def test_tabular_logs(shared):
    folder = shared / "data/logs/generated/tabular"
    for name in ("long.csv", "long.jsonl", "long.parquet", "wide.csv", "counts.csv"):
        (found,) = counts(folder / name)
        assert (found.n_correct / 10).mean(axis=1).round(9).tolist() == [0.46, 0.3]
