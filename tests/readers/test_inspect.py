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
    # a failed attempt that was made again is no generation of its own
    assert found.rows[0].left_out == {"exact repeat": 4}
    assert any("1 sample(s) without a score: " in note for note in found.rows[0].notes)
    assert not any("separate runs" in note for note in found.rows[0].notes)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
@pytest.mark.parametrize("last", ["C", None])
def test_a_failed_attempt_that_was_made_again_is_not_wrong(write, inspect_log, order, last):
    old = inspect_log(SAMPLES, uuid="u", status="error")
    retried = inspect_log([*SAMPLES[:3], ("b", 2, last)], uuid="u")
    retried["samples"][3]["uuid"] = "new"
    paths = [write("old.json", json.dumps(old)), write("new.json", json.dumps(retried))]
    (found,) = counts([paths[i] for i in order], errors="wrong")
    assert found.n_generations.tolist() == [[2, 2]]
    assert found.n_correct.tolist() == [[1, 2 if last else 1]]


@pytest.mark.parametrize(("task", "k"), [("t1", [1, 2]), ("t2", [1, 3]), (None, [1, 3])])
def test_a_retried_run_of_which_nothing_had_finished_keeps_its_task(write, inspect_log, task, k):
    old = inspect_log([("b", 2, None)], status="error")
    new = inspect_log([("a", 1, "C"), ("b", 1, "C"), ("b", 2, "C")])
    old["eval"]["task_id"], new["eval"]["task_id"] = "t1" if task else None, task
    paths = [write("old.json", json.dumps(old)), write("new.json", json.dumps(new))]
    (found,) = counts(paths[::-1], errors="wrong")
    assert found.n_generations.tolist() == [k]


def test_a_log_of_copies_alone_is_no_second_run(write, inspect_log):
    old = write("old.json", json.dumps(inspect_log(SAMPLES[:3], uuid="u")))
    again = inspect_log(SAMPLES[:3], uuid="u", status="error")
    (found,) = counts([old, write("new.json", json.dumps(again))])
    assert found.n_generations.tolist() == [[2, 1]]
    assert not any("separate runs" in note for note in found.rows[0].notes)


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


def test_samples_without_an_id_are_not_one_prompt(write, inspect_log):
    log = inspect_log([("a", 1, "C")] * 5)
    for sample in log["samples"]:
        del sample["id"]
    with pytest.raises(DataError, match="has no prompt"):
        counts(write("n.json", json.dumps(log)))


def test_a_number_and_its_text_are_two_samples(write, inspect_log):
    path = write("i.json", json.dumps(inspect_log([(1, 1, "C"), ("1", 1, "I")])))
    with pytest.raises(DataError, match="both the number 1 and the text '1'"):
        read(path)


@pytest.mark.parametrize(
    ("ids", "message"),
    [([1, "1"], "both the number 1 and the text '1'"), ([1, 1], "prompt '1' occurs twice")],
)
def test_ids_of_means_are_unique(write, ids, message):
    samples = [{"sample_id": i, "value": v} for i, v in zip(ids, (0.5, 1.0), strict=True)]
    log = {
        "eval": {"model": "m", "task": "t", "config": {"epochs": 2}},
        "reductions": [{"scorer": "s", "reducer": "mean", "samples": samples}],
    }
    with pytest.raises(DataError, match=message):
        read(write("r.json", json.dumps(log)))


def test_the_one_score_of_the_first_logs(write):
    samples = [{"id": 1, "epoch": e, "score": {"value": v}} for e, v in ((1, "C"), (2, "I"))]
    log = {"status": "success", "eval": {"model": "m", "task": "t"}, "samples": samples}
    (found,) = counts(write("o.json", json.dumps(log)))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[2]])


@pytest.mark.parametrize("journal", [False, True])
def test_samples_beyond_the_summaries_are_read(tmp_path, zip_zstd, inspect_log, journal):
    log = inspect_log(SAMPLES)
    files = members(log)
    # one of them twice
    short = json.dumps([log["samples"][i] for i in (0, 0, 1, 1)]).encode()
    if journal:
        del files["summaries.json"]
        files["_journal/summaries/1.json"] = short
    else:
        files["summaries.json"] = short
    (found,) = counts(zip_zstd(tmp_path / "x.eval", files))
    assert found.n_generations.tolist() == [[2, 1]]
    assert found.rows[0].left_out == {"error": 1}


def test_summaries_without_a_full_sample_are_read_with_texts(tmp_path, zip_zstd, inspect_log):
    files = members(inspect_log(SAMPLES))
    del files["samples/a_epoch_2.json"]
    path = zip_zstd(tmp_path / "x.eval", files)
    (found,) = counts(path, texts=True)
    assert found.n_generations.tolist() == [[2, 1]]


def test_an_encrypted_archive(write, tmp_path, inspect_log):
    import zipfile

    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(inspect_log(SAMPLES)).items():
            archive.writestr(name, data)
    data = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + flags] |= 1
            place = data.find(mark, place + 4)
    with pytest.raises(DataError, match=r"member 'header\.json' is encrypted"):
        read(write("y.eval", bytes(data)))
