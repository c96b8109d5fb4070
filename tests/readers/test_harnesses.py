"""Logs of evalplus, LiveCodeBench, HELM, lighteval, OpenAI evals and promptfoo."""

import json

import numpy as np
import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, outcomes, read


def mean(found):
    c = found[0]
    return float(np.mean(c.n_correct[0] / c.n_generations[0]))


def test_evalplus(shared):
    folder = shared / "data/logs/generated/evalplus"
    with pytest.raises(ChoiceError) as error:
        read(folder)
    assert error.value.options == ["base", "plus"]
    (file,) = folder.glob("*_eval_results.json")
    entries = json.loads(file.read_text())["eval"]
    for metric in ("base", "plus"):
        (found,) = counts(folder, metric=metric)
        assert (found.benchmark, found.llm.tolist()) == ("HumanEval", ["org--toy_vllm_temp_0.8"])
        both = ["base_status"] if metric == "base" else ["base_status", "plus_status"]
        truth = [sum(all(e[s] == "pass" for s in both) for e in v) for v in entries.values()]
        assert found.n_correct.tolist() == [truth]
        assert found.prompt.tolist() == list(entries)


def test_evalplus_statuses_and_old_schema(write):
    def document(base, plus):
        entry = [{"base_status": b, "plus_status": p} for b, p in zip(base, plus, strict=True)]
        return json.dumps({"hash": "x", "eval": {"Mbpp/2": entry}})

    path = write("m_eval_results.json", document(["pass", "timeout", None], [None] * 3))
    (found,) = counts(path)
    assert (found.benchmark, found.llm.tolist()) == ("Mbpp", ["m"])
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[2]])
    with pytest.raises(DataError, match="status 'banana'"):
        read(write("b.json", document(["banana"], [None])))
    old = {"hash": "x", "eval": {"HumanEval/0": {"base": [["success", []], ["failed", []]]}}}
    assert counts(write("o.json", json.dumps(old)))[0].n_correct.tolist() == [[1]]


def test_livecodebench(shared):
    folder = shared / "data/logs/generated/livecodebench"
    (found,) = counts(folder)
    (file,) = folder.rglob("*_eval_all.json")
    records = json.loads(file.read_text())
    assert found.llm.tolist() == ["toy-model"]
    truth = [record["pass@1"] for record in records]
    assert (found.n_correct[0] / found.n_generations[0]).tolist() == pytest.approx(truth)
    public = counts(shared / "data/logs/public/livecodebench")
    assert mean(public) == pytest.approx(49 / 60)
    assert len(answers(read(file))) == 30


@pytest.mark.parametrize(
    "metric",
    ["exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"],
)
def test_helm(shared, metric):
    folder = shared / "data/logs/generated/helm/v1"
    table = read(folder, metric=metric)
    (found,) = counts(table)
    assert (found.benchmark, found.llm.tolist()) == ("toy_parity", ["simple/model1"])
    assert found.n_generations.tolist() == [[10] * 40]
    # HELM keeps the first and the best of the ten.
    (stats,) = folder.rglob("per_instance_stats.json")
    first, best = {}, {}
    for record in json.loads(stats.read_text()):
        prompt = f"{record['instance_id']}/trial{record['train_trial_index']}"
        for stat in record["stats"]:
            if stat["name"]["name"] == metric:
                first[prompt] = stat["mean"]
            if stat["name"]["name"] == f"{metric}@10":
                best[prompt] = stat["mean"]
    prompt, matrix = outcomes(table)
    assert dict(zip(prompt, matrix[:, 0], strict=True)) == first
    assert dict(zip(prompt, matrix.max(axis=1), strict=True)) == best


def test_helm_is_refused_where_the_record_disagrees(shared, write, tmp_path):
    (state,) = (shared / "data/logs/public/helm").rglob("scenario_state.json")
    with pytest.raises(ChoiceError) as error:
        read(state)
    assert error.value.options == ["exact_match", "quasi_exact_match"]
    assert mean(counts(state, metric="exact_match")) == 0
    stats = json.loads(state.with_name("per_instance_stats.json").read_text())
    for stat in stats[2]["stats"]:
        if stat["name"]["name"] == "exact_match":
            stat["mean"] = 1.0
    write("run/per_instance_stats.json", json.dumps(stats))
    copy = write("run/scenario_state.json", state.read_bytes())
    with pytest.raises(DataError, match="scored anew is 0"):
        read(copy, metric="exact_match")
    alone = write("alone/scenario_state.json", state.read_bytes())
    with pytest.raises(DataError, match="run folder is needed"):
        read(alone)


def test_lighteval(shared):
    folder = shared / "data/logs/generated/lighteval"
    with pytest.raises(ChoiceError) as error:
        read(folder)
    assert error.value.options == ["avg@10", "pass@k:k=1&n=10", "pass@k:k=5&n=10", "maj@10"]
    (results,) = folder.rglob("results_*.json")
    truth = json.loads(results.read_text())["results"]
    for metric in ("avg@10", "pass@k:k=1&n=10"):
        found = counts(folder, metric=metric)
        assert found[0].llm.tolist() == ["org/toy-model"]
        assert found[0].n_generations.tolist() == [[10] * 20]
        assert mean(found) == pytest.approx(truth["arith20|0"][metric])
    with pytest.raises(DataError, match="details_"):
        read(results)
    for metric in ("pass@k:k=5&n=10", "maj@10"):
        with pytest.raises(DataError, match="scores the set of generations"):
            read(folder / "details", metric=metric)


def test_openai_evals(shared, write):
    (log,) = (shared / "data/logs/generated/openai_evals").iterdir()
    found = counts(log)
    assert mean(found) == 0
    assert found[0].llm.tolist() == ["dummy"]
    lines = log.read_text().splitlines()
    right = [line.replace('"correct": false', '"correct": true') for line in lines]
    again = write("again.jsonl", "\n".join(right) + "\n")
    (both,) = counts([log, again])
    assert (both.n_correct.tolist(), both.n_generations.tolist()) == ([[1] * 3], [[2] * 3])
    with pytest.raises(DataError, match="no event of type 'match'"):
        read(write("none.jsonl", "\n".join(lines[:2]) + "\n"))


def test_promptfoo(write):
    def result(test, variables, success, reason=0, provider="openai:gpt"):
        return {
            "testIdx": test,
            "promptIdx": 0,
            "provider": {"id": provider},
            "prompt": {"raw": "Q", "label": "Q {{q}}"},
            "vars": variables,
            "response": {"output": f"o{test}"},
            "success": success,
            "failureReason": reason,
        }

    a, b = {"q": "2+2"}, {"q": "3+3"}
    records = [
        result(0, a, True),
        result(1, b, False, 1),
        result(2, a, False, 1),
        result(3, b, False, 2),
    ]
    path = write(
        "p.json", json.dumps({"evalId": "x", "results": {"version": 3, "results": records}})
    )
    (found,) = counts(path)
    assert found.llm.tolist() == ["openai:gpt"]
    assert found.prompt.tolist() == ["2+2", "3+3"]
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 0]], [[2, 1]])
    assert found.rows[0].left_out == {"error": 1}
    assert sorted(answers(read(path)).answer) == ["o0", "o1", "o2", "o3"]


def test_promptfoo_results_that_are_no_tests(write):
    for results, message in ((None, "a NoneType, not a list"), ([None], "test 1 is a NoneType")):
        document = {"results": {"version": 3, "results": results}}
        with pytest.raises(DataError, match=message):
            read(write("p.json", json.dumps(document)))


def evalplus(tasks):
    return json.dumps({"hash": "x", "eval": tasks})


def test_evalplus_tasks_without_a_status_stay(write):
    entry = {"base_status": "pass"}
    path = write("m_eval_results.json", evalplus({"a/0": [], "a/1": [entry, None]}))
    (found,) = counts(path)
    assert (found.prompt.tolist(), found.n_generations.tolist()) == (["a/0", "a/1"], [[0, 1]])
    assert found.rows[0].left_out == {"no score": 1}
    old = write("o_eval_results.json", evalplus({"a/0": {"base": [None, ["success", []]]}}))
    (found,) = counts(old)
    assert found.n_generations.tolist() == [[1]]
    assert found.rows[0].left_out == {"no score": 1}
    for tasks in ({"a/0": ["x"]}, {"a/0": "x"}, {"a/0": {"base": ["x"]}}):
        with pytest.raises(DataError, match=r"task 'a/0': 'x' is not"):
            read(write("b.json", evalplus(tasks)))


def test_evalplus_one_failed_suite_is_wrong(write):
    pairs = [("fail", None), (None, "fail"), ("pass", None), ("pass", "pass")]
    entries = [{"base_status": b, "plus_status": p} for b, p in pairs]
    (found,) = counts(write("m.json", evalplus({"a/0": entries})), metric="plus")
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[3]])


def test_livecodebench_records_that_are_odd(write):
    def problem(name, grades):
        return {"question_id": name, "graded_list": grades}

    path = write("m_eval_all.json", json.dumps([problem("a", []), problem("b", [True])]))
    (found,) = counts(path)
    assert (found.prompt.tolist(), found.n_generations.tolist()) == (["a", "b"], [[0, 1]])
    for second, message in (
        ({"question_id": "b"}, "record 2 has no 'graded_list'"),
        (problem("1", [True]), "'question_id' holds both the number 1 and the text '1'"),
        (problem(None, [True]), "row 2 has no prompt"),
    ):
        records = json.dumps([problem(1, [True]), second])
        with pytest.raises(DataError, match=message):
            counts(write("o_eval_all.json", records))


@pytest.mark.parametrize(
    ("stats", "message"),
    [
        ([{"instance_id": "id1"}], "record 1 is not as HELM writes it .*stats"),
        ([None], "record 1 is not as HELM writes it"),
        ({"a": 1}, "a dict, not the list"),
        ("{bad", "not valid JSON"),
    ],
)
def test_helm_statistics_that_are_damaged(write, stats, message):
    text = stats if isinstance(stats, str) else json.dumps(stats)
    write("run/per_instance_stats.json", text)
    state = {"adapter_spec": {"model": "m"}, "request_states": []}
    with pytest.raises(DataError, match=rf"per_instance_stats\.json: {message}"):
        read(write("run/scenario_state.json", json.dumps(state)))


def test_helm_instances_without_an_id(write):
    stat = {"name": {"name": "exact_match"}, "count": 1, "mean": 0.0}
    write("run/per_instance_stats.json", json.dumps([{"instance_id": None, "stats": [stat]}]))
    one = {"instance": {"references": []}, "result": {"completions": [{"text": "x"}]}}
    state = {"adapter_spec": {"model": "m"}, "request_states": [one, one]}
    with pytest.raises(DataError, match="row 1 has no prompt"):
        counts(write("run/scenario_state.json", json.dumps(state)))


def lighteval(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = [
        {"doc": {"id": i, "task_name": "t"}, "metric": m, "model_response": {"text": ["a"]}}
        for i, m in rows
    ]
    pq.write_table(pa.Table.from_pylist(records), path)
    return path


def test_lighteval_ids_are_there_and_unique(tmp_path):
    twice = lighteval(tmp_path / "d.parquet", [("0", {"avg@4": 0.25}), ("0", {"avg@4": 0.25})])
    with pytest.raises(DataError, match="prompt '0' occurs twice"):
        read(twice)
    none = lighteval(tmp_path / "n.parquet", [("0", {"em": 1.0}), (None, {"em": 1.0})])
    with pytest.raises(DataError, match="row 2 has no prompt"):
        counts(none)
    some = lighteval(tmp_path / "s.parquet", [("0", {"avg@4": 0.25}), ("1", {"avg@4": None})])
    (found,) = counts(some)
    assert found.n_generations.tolist() == [[4, 0]]
    assert found.rows[0].left_out == {"no score": 4}


def openai(*events):
    spec = {"spec": {"completion_fns": ["gpt"], "eval_name": "e"}}
    return [spec, *({"type": "match", **event} for event in events)]


def test_openai_evals_grades_of_every_kind(write):
    grades = [True, False, 1, 0, "true", None]
    events = [{"sample_id": f"e.{i}", "data": {"correct": c}} for i, c in enumerate(grades)]
    (found,) = counts(write("o.jsonl", openai(*events, {"sample_id": "e.6", "data": None})))
    assert found.n_correct.tolist() == [[1, 0, 1, 0, 1, 0, 0]]
    assert found.n_generations.tolist() == [[1, 1, 1, 1, 1, 0, 0]]
    bad = openai({"sample_id": "e.0", "data": {"correct": "maybe"}})
    with pytest.raises(DataError, match=r"sample_id 'e\.0': 'maybe'"):
        read(write("b.jsonl", bad))
    with pytest.raises(DataError, match="row 1 has no prompt"):
        counts(write("n.jsonl", openai({"data": {"correct": True}})))
