"""lm-evaluation-harness samples made here."""

import json

import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, outcomes, read

NAME = "samples_my_task_2025-01-02T03-04-05.678901.jsonl"


def line(doc, score, responses=("x",), *, metric="exact_match", name="none", target="x", hash=None):
    filtered = list(responses) if len(responses) == 1 else [list(responses)]
    return {
        "doc_id": doc,
        "target": target,
        "resps": [list(responses)],
        "filtered_resps": filtered,
        "filter": name,
        "metrics": [metric],
        "doc_hash": hash or f"h{doc}",
        metric: score,
    }


def test_llm_and_task(write):
    write("org__m/results_2025-01-01T00-00-00.000000.json", '{"model_name": "other"}')
    write("org__m/results_2025-01-02T03-04-05.678901.json", '{"model_name": "org/exact"}')
    path = write(f"org__m/{NAME}", [line(0, 1.0), line(1, 0.0)])
    (found,) = counts(path)
    assert (found.benchmark, found.llm.tolist()) == ("my_task", ["org/exact"])
    alone = write(f"org__n/{NAME}", [line(0, 1.0)])
    assert counts(alone)[0].llm.tolist() == ["org/n"]
    old = '{"config": {"model_args": "pretrained=a/b,dtype=float"}}'
    write("x/results_2024.json", old)
    assert counts(write(f"x/{NAME}", [line(0, 1.0)]))[0].llm.tolist() == ["a/b"]


def test_take_first_scores_one_response(write):
    row = line(0, 1.0) | {"resps": [["x", "y", "z"]]}
    (found,) = counts(write(NAME, [row]))
    assert found.n_generations.tolist() == [[1]]
    assert any("one of 3 responses" in note for note in found.rows[0].notes)


def test_fraction_of_responses(write):
    rows = [
        line(0, 2 / 3, ("x", "y", "x")),  # two equal the target: these are the right ones
        line(1, 2 / 3, ("X", "y", "x")),  # a looser rule: only the number is known
        line(2, 1.0, ("X", "X ", "x")),
        line(3, 0.0, ("a", "b", "c")),
    ]
    path = write(NAME, rows)
    (found,) = counts(path)
    assert found.n_correct.tolist() == [[2, 2, 3, 0]]
    assert found.n_generations.tolist() == [[3] * 4]
    assert any("fraction correct of 3" in note for note in found.rows[0].notes)
    with pytest.raises(DataError, match="counts per prompt"):
        outcomes(read(path))
    table = read(write(NAME, [rows[i] for i in (0, 2, 3)]))
    assert outcomes(table).correct.tolist() == [[1, 0, 1], [1, 1, 1], [0, 0, 0]]
    assert answers(table).answer[:3].tolist() == ["x", "y", "x"]


@pytest.mark.parametrize(
    ("score", "metric", "message"),
    [
        (0.5, "exact_match", "no fraction of 3"),
        (999, "exact_match", "no fraction of 3"),
        (-1 / 3, "exact_match", "no fraction of 3"),
        (1.0, "pass@3", "scores the set of responses"),
        (1.0, "maj_vote", "scores the set of responses"),
    ],
)
def test_what_is_no_fraction(write, score, metric, message):
    with pytest.raises(DataError, match=message):
        read(write(NAME, [line(0, score, ("x", "y", "x"), metric=metric)]))


def test_values_that_are_no_scores(write):
    with pytest.raises(DataError, match=r"metric 'f1'.*\n.*doc_id 7.*threshold"):
        read(write(NAME, [line(7, 0.4, metric="f1")]))
    (found,) = counts(write(NAME, [line(7, 0.4, metric="f1")]), threshold=0.3)
    assert found.n_correct.tolist() == [[1]]


def test_predict_only(write):
    with pytest.raises(DataError, match="only predicts"):
        read(write(NAME, [line(0, 999, metric="bypass")]))
    with pytest.raises(DataError, match="no metric"):
        read(write(NAME, [line(0, 1) | {"metrics": []}]))


def test_list_metric(write):
    row = line(0, [1.0, 0.0, None], ("a", "b", "c"), metric="correct_list")
    table = read(write(NAME, [row]))
    assert outcomes(table).correct.tolist() == [[1, 0, -1]]
    assert answers(table).answer.tolist() == ["a", "b", "c"]


def test_choices_are_not_responses(write):
    pairs = [["-0.6", "False"], ["-0.5", "True"], ["-1.5", "False"]]
    row = line(0, 1.0, metric="acc") | {"resps": [[p] for p in pairs], "filtered_resps": pairs}
    (found,) = counts(write(NAME, [row]))
    assert found.n_generations.tolist() == [[1]]
    assert not found.rows[0].notes


def test_hashes_decide_where_ids_disagree(write):
    a = write(f"org__a/{NAME}", [line(0, 1.0, hash="x"), line(1, 0.0, hash="y")])
    b = write(f"org__b/{NAME}", [line(0, 0.0, hash="y"), line(1, 1.0, hash="x")])
    (found,) = counts([a, b])
    assert found.prompt.tolist() == ["x", "y"]
    assert found.n_correct.tolist() == [[1, 0], [1, 0]]
    assert any("doc_hash" in note for note in found.rows[0].notes)
    c = write(f"org__c/{NAME}", [line(0, 0.0, hash="x"), line(1, 1.0, hash="y")])
    (found,) = counts([a, c])
    assert found.prompt.tolist() == ["0", "1"]
    assert not found.rows[0].notes


def test_a_document_that_is_twice_in_the_data_stays_two_prompts(write):
    a = write(f"org__a/{NAME}", [line(i, 1.0, hash=h) for i, h in enumerate("xxy")])
    b = write(f"org__b/{NAME}", [line(i, 1.0, hash=h) for i, h in enumerate("yxx")])
    (found,) = counts([a, b])
    assert sorted(found.prompt) == ["x", "x#2", "y"]
    assert found.n_generations.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_one_filter_is_taken_beside_a_choice(write):
    rows = [line(0, 1.0, name="strict"), line(0, 0.0, name="flex")]
    a = write("org__a/samples_t_2025-01-02T03-04-05.678901.jsonl", rows)
    b = write("org__a/samples_u_2025-01-02T03-04-05.678901.jsonl", [line(0, 1.0)])
    found = counts([a, b], filter="flex")
    assert [c.n_correct.tolist() for c in found] == [[[0]], [[1]]]
    assert any("'none' is the only one" in note for note in found[1].rows[0].notes)


def test_a_json_array_of_samples(write):
    path = write("samples.json", json.dumps([line(0, 1.0), line(1, 0.0)]))
    assert counts(path)[0].n_correct.tolist() == [[1, 0]]


def old(doc, **scores):
    row = line(doc, 1.0)
    return {k: v for k, v in row.items() if k not in ("filter", "metrics", "exact_match")} | scores


def test_samples_that_list_no_metrics(write):
    (found,) = counts(write(NAME, [old(0, acc=1.0), old(1, acc=0.0)]))
    assert found.n_correct.tolist() == [[1, 0]]
    path = write(NAME, [old(0, acc=True, acc_norm=0.0, note="x")])
    with pytest.raises(ChoiceError) as error:
        read(path)
    assert error.value.options == ["acc", "acc_norm"]
    assert counts(path, metric="acc")[0].n_correct.tolist() == [[1]]
    assert outcomes(read(write(NAME, [old(0, em=[1, 0])]))).correct.tolist() == [[1, 0]]
    with pytest.raises(DataError, match="no metric"):
        read(write(NAME, [old(0)]))


def test_filters_without_names_are_refused(write):
    with pytest.raises(DataError, match="doc_id '0' has 2 lines and they name no filter"):
        read(write(NAME, [old(0, acc=1.0), old(0, acc=0.0), old(1, acc=0.0)]))


def test_a_document_without_scores_stays(write):
    rows = [line(0, [], metric="correct_list"), line(1, [1, 0], metric="correct_list")]
    (found,) = counts(write(NAME, rows))
    assert (found.prompt.tolist(), found.n_generations.tolist()) == (["0", "1"], [[0, 2]])
    assert any("1 prompt(s) without a scored generation" in n for n in found.rows[0].notes)


def test_documents_without_an_id_or_with_one_in_two_types(write):
    with pytest.raises(DataError, match="has no prompt"):
        counts(write(NAME, [line(None, 1.0)] * 2))
    with pytest.raises(DataError, match="'doc_id' holds both the number 0 and the text '0'"):
        counts(write(NAME, [line(0, 1.0), line("0", 1.0)]))


def test_a_document_with_two_fractions_is_refused(write):
    rows = [line(0, 2 / 3, ("X", "y", "x"))] * 2
    with pytest.raises(DataError, match="prompt '0' occurs twice"):
        read(write(NAME, rows))
