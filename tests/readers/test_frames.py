"""Data frames of every installed library give the counts of the same file."""

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, from_frame, outcomes, read

LONG = {
    "model": ["m", "m", "m", "n", "n"],
    "prompt_id": ["007", "007", "NA", "007", "NA"],
    "gen": [1, 2, 1, 1, 1],
    "correct": [1, 0, 1, None, 1],
    "answer": ["x", "None", "", "y", None],
}
MAKERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda d: pd.DataFrame(d).convert_dtypes(),
    "pandas arrow": lambda d: pd.DataFrame(d).convert_dtypes(dtype_backend="pyarrow"),
    "pandas objects": lambda d: pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in d.items()}),
    "pandas categories": lambda d: pd.DataFrame(d).astype(
        {k: "category" for k in ("model", "prompt_id") if k in d}
    ),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda d: duckdb.from_arrow(pa.table(d)),
}


def summary(found):
    return [
        (
            c.benchmark,
            c.llm.tolist(),
            c.prompt.tolist(),
            c.n_correct.tolist(),
            c.n_generations.tolist(),
            c.listed.tolist(),
            [(r.read, r.used, dict(r.left_out)) for r in c.rows],
        )
        for c in found
    ]


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_long(make):
    table = from_frame(make(LONG))
    expected = (
        "benchmark",
        ["m", "n"],
        ["007", "NA"],
        [[1, 1], [0, 1]],
        [[2, 1], [0, 1]],
        [[True, True], [True, True]],
        [(3, 3, {}), (2, 1, {"no score": 1})],
    )
    assert summary(counts(table)) == [expected]
    assert outcomes(table, "m").correct.tolist() == [[1, 0], [1, -1]]
    assert answers(table).answer.tolist() == LONG["answer"]
    assert summary(counts(make(LONG))) == [expected]


def test_wide(make):
    wide = {"id": ["a", "b"], "run_1": [True, False], "run_2": [None, True]}
    (found,) = counts(make(wide))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 1]], [[1, 2]])


def test_counts(make):
    table = {"id": [7, 8], "n_correct": [3.0, None], "n_generations": [8, 8]}
    (found,) = counts(make(table))
    assert (found.prompt.tolist(), found.n_correct.tolist()) == (["7"], [[3]])
    assert found.rows[0].left_out == {"no count": 8}
    with pytest.raises(DataError, match=r"data frame: .*\n.*row 1 \(prompt '7'\).*'9' of '8'"):
        counts(make({"id": [7, 8], "n_correct": [9, 1], "n_generations": [8, 8]}))


def test_packed(make):
    (found,) = counts(make({"id": ["a", "b", "c"], "scores": [[1, 0, 1], [], None]}))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[2, 0, 0]], [[3, 0, 0]])


def test_options(make):
    frame = make({"engine": ["a", "b"], "item": ["q", "q"], "points": [0.2, 0.9]})
    columns = {"llm": "engine", "prompt": "item", "correct": "points"}
    (found,) = counts(frame, columns=columns, threshold=0.5, benchmark="toy")
    assert (found.benchmark, found.n_correct.tolist()) == ("toy", [[0], [1]])
    (found,) = counts(frame, columns=columns, threshold=0.5, llm="b")
    assert found.llm.tolist() == ["b"]
    with pytest.raises(DataError, match="columns found: 'engine', 'item', 'points'"):
        from_frame(frame)


def test_real_data_is_equal_in_every_library(make, shared):
    path = shared / "data" / "epoch_otis_mock_aime.csv.gz"
    frame = pl.read_csv(path, schema_overrides={"answer": pl.String, "target": pl.String})
    expected = counts(path)[0]
    (found,) = counts(make(frame.to_dict(as_series=False)))
    order = np.argsort(found.llm)
    prompts = np.argsort(found.prompt)
    theirs = np.argsort(expected.llm), np.argsort(expected.prompt)
    assert (found.n_correct[order][:, prompts] == expected.n_correct[theirs[0]][:, theirs[1]]).all()
    assert (found.n_generations.sum(1)[order] == expected.n_generations.sum(1)[theirs[0]]).all()


def test_mixed_objects():
    frame = pd.DataFrame(
        {"id": ["a", "b", "c", "d"], "score": pd.Series(["C", True, 0, None], dtype=object)}
    )
    (found,) = counts(frame)
    assert found.n_correct.tolist() == [[1, 1, 0, 0]]
    assert found.n_generations.tolist() == [[1, 1, 1, 0]]
    ids = pd.DataFrame({"id": pd.Series([1, "1"], dtype=object), "score": [1, 0]})
    with pytest.raises(DataError, match="the text '1'"):
        counts(ids)
    bad = pd.DataFrame({"id": ["a"], "score": pd.Series([{"a": 1}], dtype=object)})
    with pytest.raises(DataError, match="row 1"):
        counts(bad)


def test_half_surrogate_pairs_in_a_frame():
    frame = pd.DataFrame(
        {"id": ["a"], "answer": pd.Series(["x\ud835"], dtype=object), "correct": [1]}
    )
    assert answers(from_frame(frame)).answer.tolist() == ["x\ud835"]


def test_what_is_no_frame():
    with pytest.raises(DataError, match="neither a path nor a data frame"):
        from_frame(3)


def test_lists_of_paths_are_paths(write):
    a = write("a.csv", "id,correct\nq,1\n")
    for paths in ([a], (str(a),), iter([a]), {a}):
        assert counts(paths)[0].n_correct.tolist() == [[1]]


def test_the_table_as_a_lazy_frame(write):
    import narwhals as nw

    table = read(write("a.csv", "id,gen,correct,answer\nq,1,1,x\nq,2,,\n"))
    frame = table.frame
    assert isinstance(frame, nw.LazyFrame)
    rows = frame.sort("generation").to_native().fetchall()
    source = str(Path(rows[0][-1]).name)
    assert rows[0][:-1] == ("benchmark", "a", "q", 1, 1, "x", None, None)
    assert rows[1][:-1] == ("benchmark", "a", "q", 2, None, "", None, None)
    assert source == "a.csv"
    # It can be read again as it is.
    assert summary(counts(from_frame(frame))) == summary(counts(table))


def test_lazy_frames_leave_no_file_behind(tmp_path, monkeypatch):
    import gc

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = from_frame(pl.LazyFrame(LONG))
    assert counts(table)[0].n_generations.sum() == 4
    assert list(tmp_path.rglob("*.parquet"))
    del table
    gc.collect()
    assert not list(tmp_path.rglob("*.parquet"))


def test_filters_metrics_and_scorers_are_told_apart(make):
    for what in ("filter", "metric", "scorer_name"):
        frame = make({"id": ["q", "q"], what: ["strict", "flex"], "correct": [0, 1]})
        option = what.removesuffix("_name")
        with pytest.raises(ChoiceError, match=rf"several {option}s; .*'strict', 'flex'"):
            counts(frame)
        (found,) = counts(frame, **{option: "flex"})
        assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[1]])
        with pytest.raises(ChoiceError, match=f"no {option} 'nope'"):
            counts(frame, **{option: "nope"})


def test_an_id_that_tells_more_prompts_apart_is_noted(make):
    frame = make({"id": [1, 1, 2, 2], "prompt": ["What?"] * 4, "correct": [1, 1, 0, 0]})
    assert "'id' tells 2 prompts apart" in " ".join(counts(frame)[0].rows[0].notes)


def test_columns_of_objects_are_refused_where_they_cannot_be_read():
    frame = pl.DataFrame({"id": ["a", "b"], "correct": pl.Series([1, "0"], dtype=pl.Object)})
    with pytest.raises(DataError, match="column 'correct' holds Python objects"):
        counts(frame)


def test_ids_that_begin_anew_in_one_of_two_groups(make):
    frame = make({"id": [1, 1], "subject": ["art", "law"], "area": ["x"] * 2, "correct": [1, 0]})
    assert len(counts(frame)[0].prompt) == 2
    both = {"id": [1, 1], "subject": ["art", "law"], "category": ["x", "x"], "correct": [1, 0]}
    with pytest.raises(DataError, match="prompt '1' occurs with several values of 'subject'"):
        counts(make(both))
    assert len(counts(make(both), columns={"group": "subject"})[0].prompt) == 2
    assert counts(make(both), columns={"group": None})[0].n_generations.tolist() == [[2]]
