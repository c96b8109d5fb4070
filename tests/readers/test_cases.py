"""The shared cases: what goes wrong for people who read repeated-generation results."""

import json
from pathlib import Path

import numpy as np
import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.data import Counts, PromptCounts
from pcorrect.readers import answers, counts, outcomes, read


@pytest.fixture(scope="module")
def case(shared: Path):
    """Folder of a shared case and its expected values."""

    def find(number: str) -> tuple[Path, dict]:
        folder = shared / "cases" / number
        return folder, json.loads((folder / "expected.json").read_text())["expected"]

    return find


def one(found: list[Counts], llm: str | None = None) -> PromptCounts:
    (benchmark,) = found
    return benchmark.select(llm)


def prompt_mean(c: PromptCounts) -> float:
    k = c.n_generations > 0
    return float(np.mean(c.n_correct[k] / c.n_generations[k]))


def test_01_filters_are_not_generations(case):
    folder, expected = case("01")
    file = next(folder.glob("samples_*"))
    with pytest.raises(ChoiceError, match="--filter") as error:
        read(file)
    assert error.value.options == ["strict-match", "flexible-extract"]
    for name, key in (("strict-match", "strict"), ("flexible-extract", "flexible")):
        c = one(counts(file, filter=name))
        assert c.n_generations.tolist() == [1] * expected[key]["n"]
        assert prompt_mean(c) == expected[key]["mean"]
        assert c.benchmark == "gsm8k"


def test_05_documents_are_joined_on_their_hash(case):
    folder, expected = case("05")
    (found,) = counts([folder / "A_unsorted.jsonl", folder / "B_sorted.jsonl"])
    assert found.llm.tolist() == ["A_unsorted", "B_sorted"]
    assert (found.n_correct[0] - found.n_correct[1]).tolist() == expected["diff_by_hash"]
    assert all("doc_hash" in report.notes[0] for report in found.rows)
    alone = one(counts(folder / "A_unsorted.jsonl"))
    assert alone.prompt.tolist() == ["5", "2", "9"]


def test_07_subtasks_are_groups_of_one_benchmark(case):
    folder, expected = case("07")
    (found,) = counts(folder / "counts.csv")
    p = found.n_correct[0] / found.n_generations[0]
    assert found.group is not None
    assert np.mean(p) == pytest.approx(expected["micro"]["mean"], abs=5e-5)
    macro = [p[found.group == name].mean() for name in ("math", "code")]
    assert np.mean(macro) == pytest.approx(expected["macro"]["mean"], abs=5e-5)


@pytest.mark.parametrize(
    ("name", "s"), [("allcorrect_30x8", 240), ("allzero_30x8", 0), ("allzero_5x8", 0)]
)
def test_08_saturated(case, name, s):
    c = one(counts(case("08")[0] / f"{name}.csv"))
    assert (c.llm, c.n_correct.sum()) == (name, s)
    assert c.n_generations.tolist() == [8] * len(c.prompt)


def test_09_every_value_that_is_no_score_is_named(case):
    file = case("09")[0] / "values.jsonl"
    with pytest.raises(DataError) as error:
        read(file)
    message = str(error.value)
    for line, value in [
        (10, "'P'"),
        (11, "'0.5'"),
        (13, "'999'"),
        (14, "'-1'"),
        (15, "'banana'"),
        (16, "'[0, 1]'"),
    ]:
        assert f"line {line} " in message
        assert value in message
    assert "7 values" in message
    assert "'score'" in message


def test_09_clean_rows_and_threshold(case, write):
    folder, expected = case("09")
    rows = [json.loads(line) for line in (folder / "values.jsonl").read_text().splitlines()]
    clean = [row for row in rows if row["expected"] in (0, 1, "missing")]
    c = one(counts(write("clean.jsonl", clean)))
    assert c.n_correct.sum() == expected["ones"]
    assert (c.n_generations - c.n_correct).sum() == expected["zeros"]
    assert c.rows.left_out == {"no score": expected["missing"]}
    assert any("'N'" in note for note in c.rows.notes)
    partial = [row for row in rows if row["expected"] != "error"]
    for threshold, ones in ((0.5, 7), (0.6, 5)):
        c = one(counts(write("partial.jsonl", partial), threshold=threshold))
        assert c.n_correct.sum() == ones
    with pytest.raises(DataError, match="5 values"):
        read(folder / "values.jsonl", threshold=0.5)


def test_11_errors_are_counted_and_can_be_wrong(case):
    folder, expected = case("11")
    left = one(counts(folder / "log_errors.json"))
    assert left.n_correct.sum() / left.n_generations.sum() == pytest.approx(
        expected["scored_only"], abs=5e-5
    )
    assert left.rows.left_out == {"error": expected["errored"]}
    assert "2 of 8 generations have no score: left out" in left.rows.notes
    wrong = one(counts(folder / "log_errors.json", errors="wrong"))
    assert wrong.n_correct.sum() / wrong.n_generations.sum() == expected["errors_as_wrong"]
    assert wrong.rows.left_out == {}
    assert "2 of 8 generations have no score: counted as wrong" in wrong.rows.notes


def test_12_scorers_are_chosen(case):
    folder, expected = case("12")
    file = folder / "log_three_scorers.json"
    with pytest.raises(ChoiceError, match="--scorer") as error:
        read(file)
    assert error.value.options == list(expected)
    for scorer, mean in expected.items():
        c = one(counts(file, scorer=scorer))
        assert prompt_mean(c) == mean
        assert c.n_generations.tolist() == [2, 2]


def test_13_only_means_can_be_turned_back(case):
    folder, expected = case("13")
    c = one(counts(folder / "reduced_mean.json"))
    assert c.n_correct.tolist() == expected["reduced_mean"]["y"]
    assert set(c.n_generations.tolist()) == {expected["reduced_mean"]["k"]}
    with pytest.raises(DataError, match="reducer 'max'"):
        read(folder / "reduced_max.json")


@pytest.mark.parametrize("name", ["zstd", "deflate"])
def test_14_both_compressions(case, name):
    folder, expected = case("14")
    c = one(counts(folder / f"{name}.eval"))
    assert c.n_correct.tolist() == expected["y"]
    assert c.n_generations.tolist() == [expected["k"]] * 2


def test_15_ids_that_collide_and_runs_that_resume(case, write):
    folder, _ = case("15")
    with pytest.raises(DataError, match="both the number 1 and the text '1'"):
        read(folder / "log_collide.json")
    with pytest.raises(DataError, match="prompt 'b', generation 1: both right and wrong"):
        counts(folder / "resumed.csv")
    lines = (folder / "resumed.csv").read_text().splitlines()
    c = one(counts(write("once.csv", "\n".join(lines[:-1]))))
    assert c.n_correct.tolist() == [1, 2]
    assert c.n_generations.tolist() == [2, 2]
    assert c.rows.left_out == {"exact repeat": 2}


def test_16_and_32_counts(case):
    c = one(counts(case("16")[0] / "counts.csv"))
    assert (c.n_correct.tolist(), c.n_generations.tolist()) == ([5, 5, 0, 4, 1], [5] * 5)
    folder, expected = case("32")
    large = one(counts(folder / "counts_5000x8.csv"))
    assert len(large.prompt) == 5000
    assert prompt_mean(large) == pytest.approx(expected["prompt_mean"], abs=5e-5)


@pytest.mark.parametrize("name", ["cells.csv", "lists.jsonl"])
def test_20_packed(case, name):
    folder, expected = case("20")
    c = one(counts(folder / name))
    assert c.n_correct.tolist() == expected["y"]
    assert c.n_generations.tolist() == [expected["k"]] * 3
    matrix = outcomes(read(folder / name)).correct
    assert matrix.tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 0]]


def test_24_25_26_small_k(case):
    assert one(counts(case("24")[0] / "counts.csv")).n_correct.tolist() == [3]
    c = one(counts(case("25")[0] / "k1_100.csv"))
    assert (c.n_correct.sum(), c.n_generations.max(), len(c.prompt)) == (60, 1, 100)
    c = one(counts(case("26")[0] / "counts.csv"))
    assert c.n_correct.tolist() == [0, 1, 3, 8, 16, 2, 0]
    assert c.n_generations.tolist() == [8, 1, 4, 8, 16, 8, 0]
    assert any("k = 0" in note for note in c.rows.notes)


def test_28_impossible_counts(case, write):
    file = case("28")[0] / "bad.csv"
    with pytest.raises(DataError) as error:
        read(file)
    message = str(error.value)
    for row, prompt, value in [
        (2, "over", "9"),
        (3, "neg", "-1"),
        (4, "frac", "2.5"),
        (5, "word", "three"),
        (6, "negk", "3"),
    ]:
        assert f"row {row} (prompt '{prompt}'), column 'n_correct': '{value}'" in message
    assert str(file) in message
    ok = "\n".join(file.read_text().splitlines()[:2])
    assert one(counts(write("ok.csv", ok))).n_correct.tolist() == [3]


def test_29_blank_count_is_dropped_and_said(case):
    folder, expected = case("29")
    c = one(counts(folder / "counts.csv"))
    assert c.prompt.tolist() == ["a", "c"]
    assert prompt_mean(c) == expected["mean"]
    assert c.rows.left_out == {"no count": 8}
    assert any("1 prompt(s) without a count" in note for note in c.rows.notes)


def test_38_different_prompts_and_k(case):
    folder, expected = case("38")
    (found,) = counts([folder / "A_k8.csv", folder / "B_k4.csv"])
    both = found.listed.all(axis=0)
    assert sorted(found.prompt[both].tolist()) == expected["shared"]
    p = found.n_correct[:, both] / found.n_generations[:, both]
    assert np.mean(p[0] - p[1]) == pytest.approx(expected["diff"], abs=5e-5)
    assert set(found.select("B_k4").prompt) == {f"q{i}" for i in range(3, 11)}


def test_41_scales(case):
    folder, expected = case("41")
    c = one(counts(folder / "percent.csv"))
    assert c.n_correct.tolist() == expected["percent"]["y"]
    assert any("0 and 100" in note for note in c.rows.notes)
    with pytest.raises(DataError, match=r"row 1 .*'100'.*ambiguous"):
        read(folder / "mixed.csv")


def test_42_words_are_not_missing(case):
    folder, expected = case("42")
    table = read(folder / "answers.csv")
    c = one(counts(table))
    assert c.prompt.tolist() == ["NA", "nan", "x"]
    assert c.n_correct.tolist() == [expected["NA"]["y"], expected["nan"]["y"], 0]
    assert c.rows.left_out == {}
    found = answers(table)
    assert found.answer.tolist() == [
        "None",
        "None",
        "None",
        "Nothing",
        "NA",
        "NA",
        "null",
        "N/A",
        "",
    ]


@pytest.mark.parametrize("name", ["bom", "semicolon"])
def test_43_spreadsheet_exports(case, name):
    folder, expected = case("43")
    c = one(counts(folder / f"{name}.csv"))
    assert c.n_correct.tolist() == expected["y"]
    assert set(c.n_generations.tolist()) == {expected["k"]}


def test_44_half_surrogate_pairs(case):
    folder, expected = case("44")
    table = read(folder / "responses.jsonl")
    assert one(counts(table)).n_correct.tolist() == expected["y"]
    found = answers(table).answer.tolist()
    assert found == ["x = \ud835", "x = \udc00", "naïve 東京 😀", "ok"]


def test_45_blank_cells_are_missing(case):
    folder, expected = case("45")
    c = one(counts(folder / "wide.csv"))
    assert c.n_correct.tolist() == [*expected["y"], 0]
    assert c.n_generations.tolist() == [*expected["k"], 0]
    assert "10 of 20 cells empty" in c.rows.notes
    assert prompt_mean(c) == pytest.approx(expected["prompt_mean"], abs=5e-5)
