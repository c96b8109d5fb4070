"""Inspect logs made here: retries, journals, frames, choices."""

import json

import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, read

SAMPLES = [("a", 1, "C"), ("a", 2, "I"), ("b", 1, "C"), ("b", 2, None)]


def test_json_log(write, inspect_log):
    table = read(write("log.json", json.dumps(inspect_log(SAMPLES), indent=2)))
    (found,) = counts(table)
    assert (found.benchmark, found.llm.tolist()) == ("toy", ["mock/llm"])
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 1]], [[2, 1]])
    assert answers(table).answer.tolist() == ["a0", "a1", "a2", None]
    assert answers(table).target.tolist() == ["x"] * 4


def members(log, texts=False):
    log = dict(log)
    samples = log.pop("samples")
    found = {"_journal/start.json": json.dumps(log).encode()}
    for s in samples:
        full = {**s, "scores": {k: v | {"answer": "long" * 999} for k, v in s["scores"].items()}}
        found[f"samples/{s['id']}_epoch_{s['epoch']}.json"] = json.dumps(full).encode()
    return found | {
        "summaries.json": json.dumps(samples).encode(),
        "header.json": json.dumps(log).encode(),
        "reductions.json": b"[]",
    }


@pytest.mark.parametrize("frames", [False, True])
def test_eval_log_with_several_frames(tmp_path, zip_zstd, inspect_log, frames):
    path = zip_zstd(tmp_path / "x.eval", members(inspect_log(SAMPLES)), frames)
    (found,) = counts(path)
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 1]], [[2, 1]])
    assert answers(read(path)).answer[0] == "a0"
    assert answers(read(path, texts=True)).answer[0] == "long" * 999


def test_ids_with_slashes_are_not_taken_from_member_names(tmp_path, zip_zstd, inspect_log):
    samples = [("x/y_epoch_9", 1, "C"), ("x/y_epoch_9", 2, "C")]
    files = members(inspect_log(samples))
    del files["summaries.json"]
    (found,) = counts(zip_zstd(tmp_path / "x.eval", files))
    assert found.prompt.tolist() == ["x/y_epoch_9"]
    assert found.n_generations.tolist() == [[2]]


def test_journal_of_an_unfinished_log(tmp_path, zip_zstd, inspect_log):
    log = inspect_log(SAMPLES, epochs=3, status="started")
    files = members(log)
    del files["header.json"], files["summaries.json"]
    # Batches in numeric order; a sample that was retried is there twice.
    files["_journal/summaries/10.json"] = json.dumps(log["samples"][2:]).encode()
    files["_journal/summaries/2.json"] = json.dumps(log["samples"][:3]).encode()
    (found,) = counts(zip_zstd(tmp_path / "x.eval", files))
    report = found.rows[0]
    assert found.prompt.tolist() == ["a", "b"]
    assert (report.read, report.used) == (5, 3)
    assert report.left_out == {"error": 1, "exact repeat": 1}
    assert any("status 'started'): 5 of 6 samples" in note for note in report.notes)


def test_a_retried_run_copies_samples_of_the_old_log(write, inspect_log):
    old = write("old.json", json.dumps(inspect_log(SAMPLES, uuid="u", status="error")))
    retried = inspect_log([*SAMPLES[:3], ("b", 2, "C")], uuid="u")
    retried["samples"][3]["uuid"] = "new"
    (found,) = counts([old, write("new.json", json.dumps(retried))])
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 2]], [[2, 2]])
    assert found.rows[0].left_out == {"error": 1, "exact repeat": 3}


def test_two_runs_of_one_task_are_runs(write, inspect_log):
    one = write("1.json", json.dumps(inspect_log(SAMPLES, uuid="u")))
    two = write("2.json", json.dumps(inspect_log(SAMPLES, uuid="v")))
    (found,) = counts([one, two])
    assert found.n_generations.tolist() == [[4, 2]]
    assert any("separate runs" in note for note in found.rows[0].notes)


def test_several_scorers_and_mappings(write, inspect_log):
    log = inspect_log(SAMPLES[:2])
    for sample in log["samples"]:
        sample["scores"]["multi"] = {"value": {"exact": 1.0, "length": 17}}
    path = write("m.json", json.dumps(log))
    with pytest.raises(ChoiceError) as error:
        read(path)
    assert error.value.options == ["match", "multi.exact", "multi.length"]
    for options in ({"scorer": "multi.exact"}, {"scorer": "exact"}):
        assert counts(path, **options)[0].n_correct.tolist() == [[2]]
    assert counts(path, scorer="multi", metric="exact")[0].n_correct.tolist() == [[2]]
    with pytest.raises(DataError, match="'17'"):
        read(path, scorer="multi.length")


@pytest.mark.parametrize("value", ["banana", 999, -1, [0, 1], 0.5, "P"])
def test_values_that_are_no_scores(write, inspect_log, value):
    path = write("v.json", json.dumps(inspect_log([("a", 1, "C"), ("q7", 2, value)])))
    with pytest.raises(DataError, match=r"v\.json: scorer 'match'.*\n.*sample 'q7', epoch 2"):
        read(path)


def test_nan_and_absent_scores_are_missing(write, inspect_log):
    log = inspect_log([("a", 1, float("nan")), ("a", 2, "C"), ("b", 1, "C")])
    log["samples"][2]["scores"] = {}
    (found,) = counts(write("n.json", json.dumps(log)))
    assert found.n_generations.tolist() == [[1, 0]]
    assert found.rows[0].left_out == {"no score": 2}


def test_the_same_sample_with_two_scores_is_refused(write, inspect_log):
    path = write("c.json", json.dumps(inspect_log([("a", 1, "C"), ("a", 1, "I")])))
    with pytest.raises(DataError, match="prompt 'a', generation 1"):
        counts(path)


@pytest.mark.parametrize(
    ("reductions", "config", "message"),
    [
        ([{"scorer": "m", "samples": [{"sample_id": 1, "value": 0.5}]}], {}, "reducer None"),
        ([{"scorer": "m", "reducer": "mean", "samples": []}], {}, "number of epochs"),
        (
            [{"scorer": "m", "reducer": "mean", "samples": [{"sample_id": 1, "value": 0.3}]}],
            {"epochs": 4},
            "mean 0.3 over 4",
        ),
        (
            [{"scorer": "m", "reducer": "mean", "samples": [{"sample_id": 1, "value": "C"}]}],
            {"epochs": 4},
            "mean 'C'",
        ),
        ([{"scorer": "m", "reducer": "pass_at_2", "samples": []}], {"epochs": 4}, "pass_at_2"),
    ],
)
def test_reductions_that_are_no_counts(write, reductions, config, message):
    log = {"eval": {"config": config}, "reductions": reductions}
    with pytest.raises(DataError, match=message):
        read(write("r.json", json.dumps(log)))


def test_reductions_are_not_read_beside_samples(write, inspect_log):
    log = inspect_log(SAMPLES)
    log["reductions"] = [{"scorer": "match", "reducer": "mean", "samples": [{"value": 1.0}]}]
    assert counts(write("r.json", json.dumps(log)))[0].n_correct.tolist() == [[1, 1]]


def test_means_with_the_reducer_in_the_configuration(write):
    log = {
        "eval": {"model": "m", "task": "t", "config": {"epochs": 3, "epochs_reducer": ["mean"]}},
        "reductions": [{"scorer": "s", "samples": [{"sample_id": "a", "value": 2 / 3}]}],
    }
    (found,) = counts(write("r.json", json.dumps(log)))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[2]], [[3]])


def test_damaged_archives(tmp_path, write, zip_zstd, inspect_log):
    whole = zip_zstd(tmp_path / "x.eval", members(inspect_log(SAMPLES))).read_bytes()
    with pytest.raises(DataError, match="not a complete archive"):
        read(write("cut.eval", whole[: len(whole) // 2]))
    place = whole.index(b"\x28\xb5\x2f\xfd", whole.index(b"summaries.json"))
    broken = whole[: place + 9] + b"\x00\xff\x00" + whole[place + 12 :]
    with pytest.raises(DataError, match=r"member 'summaries\.json' is damaged"):
        read(write("broken.eval", broken))
    with pytest.raises(DataError, match="no header"):
        read(zip_zstd(tmp_path / "y.eval", {"a.json": b"{}"}))
    with pytest.raises(DataError, match="no samples"):
        read(write("h.json", json.dumps(inspect_log([]))))
