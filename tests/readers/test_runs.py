"""Several files, repeats and retries: every generation counts once, and choices are said."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, outcomes, read

HEAD = "model,id,gen,correct\n"


def test_files_without_llm_are_llms(write):
    write("alpha.csv", "id,correct\nq,1\n")
    path = write("beta.csv.gz", "id,correct\nq,0\n")
    (found,) = counts(path.parent / "*.csv*")
    assert found.llm.tolist() == ["alpha", "beta"]
    assert found.n_correct.tolist() == [[1], [0]]


def test_equal_stems_are_told_apart_by_their_folder(write):
    write("gpt/results.csv", "id,correct\nq,1\n")
    path = write("llama/results.csv", "id,correct\nq,1\n")
    (found,) = counts(path.parent.parent)
    assert found.llm.tolist() == ["gpt/results", "llama/results"]


def test_one_name_makes_files_runs_of_one_llm(write):
    a = write("run1.csv", "id,correct\nq,1\nr,0\n")
    b = write("run2.csv", "id,correct\nr,1\nq,0\n")
    table = read([a, b], llm="mine", benchmark="toy")
    (found,) = counts(table)
    assert (found.benchmark, found.llm.tolist()) == ("toy", ["mine"])
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1, 1]], [[2, 2]])
    assert any("2 separate runs" in note for note in found.rows[0].notes)
    assert outcomes(table).correct.tolist() == [[1, 0], [0, 1]]


def test_colliding_numbers_in_different_files_are_runs(write):
    a = write("a.csv", HEAD + "m,q,1,1\nm,q,2,0\n")
    b = write("b.csv", HEAD + "m,q,1,0\nm,q,2,0\n")
    table = read([a, b])
    (found,) = counts(table)
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[4]])
    assert any("2 separate runs" in note for note in found.rows[0].notes)
    assert not any("copy" in note for note in found.rows[0].notes)
    assert outcomes(table).correct.tolist() == [[1, 0, 0, 0]]
    assert answers(table).generation.tolist() == [1, 2, 3, 4]


def test_numbers_that_go_on_are_one_run(write):
    a = write("a.csv", HEAD + "m,q,1,1\nm,q,2,0\n")
    b = write("b.csv", HEAD + "m,q,3,0\nm,r,1,1\n")
    table = read([a, b])
    (found,) = counts(table)
    assert not found.rows[0].notes
    assert outcomes(table).correct.tolist() == [[1, 0, 0], [1, -1, -1]]


def test_copies(write):
    text = HEAD + "m,q,1,1\nm,q,2,0\n"
    a, b = write("a.csv", text), write("b.csv", text)
    with pytest.raises(DataError, match="byte for byte"):
        read([a, b])
    (found,) = counts([a, a, a.parent / "." / "a.csv"])
    assert found.n_generations.tolist() == [[2]]
    other = write("c.tsv", text.replace(",", "\t"))
    (found,) = counts([a, other])
    assert any("copy" in note for note in found.rows[0].notes)


def test_filters(write):
    text = "model,task,id,correct\nm,t,q,1\nn,t,q,banana\nm,u,q,0\n"
    path = write("f.csv", text)
    assert [c.benchmark for c in counts(path, llm="m")] == ["t", "u"]
    (found,) = counts(path, llm=["m"], benchmark="u")
    assert found.n_correct.tolist() == [[0]]
    with pytest.raises(DataError, match=r"row 2 .*'banana'"):
        counts(path)
    with pytest.raises(ChoiceError, match=r"no generation of llm 'x'; llms: \['m', 'n'\]") as error:
        counts(write("g.csv", text.replace("banana", "1")), llm="x")
    assert error.value.options == ["m", "n"]


def test_choosing_among_files_that_name_no_llm(write):
    a, b = write("a.csv", "id,correct\nq,1\n"), write("b.csv", "id,correct\nq,0\n")
    (found,) = counts([a, b], llm="b")
    assert (found.llm.tolist(), found.n_correct.tolist()) == (["b"], [[0]])


def test_several_llms_need_a_choice_for_outcomes(write):
    table = read(write("f.csv", "model,id,correct\nm,q,1\nn,q,0\n"))
    assert table.llms == ["m", "n"]
    with pytest.raises(ChoiceError) as error:
        outcomes(table)
    assert error.value.options == ["m", "n"]
    assert outcomes(table, "n").correct.tolist() == [[0]]
    with pytest.raises(ChoiceError, match="no benchmark 'x'"):
        outcomes(table, "n", "x")


# ---- repeats


def test_repeats_beyond_the_fast_check(write):
    """Numbers that are equal modulo 124 are still different generations."""
    rows = [f"m,q,{g},{g % 2}" for g in (0, 124, 248, -124, 62, 63)]
    (found,) = counts(write("r.csv", HEAD + "\n".join(rows) + "\n"))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[6]])
    assert not found.rows[0].notes
    many = [f"m,q,{g},{g % 2}" for g in range(1000)]
    (found,) = counts(write("r.csv", HEAD + "\n".join(many) + "\n"))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[500]], [[1000]])


def test_a_failed_attempt_gives_way_to_the_retry(write):
    text = HEAD + "m,q,1,\nm,q,1,1\nm,q,2,0\nm,q,2,\nm,q,3,\nm,q,3,\n"
    for errors, k, left in [
        ("missing", 2, {"exact repeat": 3, "no score": 1}),
        ("wrong", 3, {"exact repeat": 3}),
    ]:
        table = read(write("r.csv", text), errors=errors)
        (found,) = counts(table)
        report = found.rows[0]
        assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[1]], [[k]])
        assert (report.read, report.used, report.left_out) == (6, k, left)
        assert "1 of 3 generations have no score" in " ".join(report.notes)
        expected = [[1, 0, -1 if errors == "missing" else 0]]
        assert outcomes(table).correct.tolist() == expected


def test_equal_scores_with_different_answers_conflict(write):
    text = "id,gen,correct,answer\nq,1,1,x\nq,1,1,{}\n"
    (found,) = counts(write("r.csv", text.format("x")))
    assert found.rows[0].left_out == {"exact repeat": 1}
    with pytest.raises(DataError, match="answers 'x' and 'y'"):
        counts(write("r.csv", text.format("y")))
    with pytest.raises(DataError, match="more than once"):
        answers(read(write("r.csv", text.format("y"))))


def test_repeated_counts(write):
    text = "id,n_correct,n_generations\nq,3,8\nr,1,8\nq,{},8\n"
    (found,) = counts(write("c.csv", text.format(3)))
    assert (found.n_correct.tolist(), found.n_generations.tolist()) == ([[3, 1]], [[8, 8]])
    assert found.rows[0].left_out == {"exact repeat": 8}
    with pytest.raises(DataError, match=r"prompt 'q' .*rows \[1, 3\]"):
        counts(write("c.csv", text.format(4)))


def test_wide_row_twice(write):
    with pytest.raises(DataError, match="prompt 'q', generation 2"):
        counts(write("w.csv", "id,gen_1,gen_2\nq,1,0\nq,1,1\n"))


def test_row_ids_taken_for_prompts_are_noticed(write):
    (found,) = counts(write("r.csv", "id,epoch,correct\nu1,1,1\nu2,2,0\nu3,1,1\n"))
    assert any("an id of rows" in note for note in found.rows[0].notes)


def test_counts_have_no_single_generations(write):
    table = read(write("c.csv", "id,n_correct,n_generations\nq,3,8\n"))
    with pytest.raises(DataError, match="counts per prompt"):
        outcomes(table)
    frame = table.relation.fetchall()
    assert len(frame) == 8
    assert sum(row[4] for row in frame) == 3


def test_missing_generations_are_listed(write):
    table = read(write("m.jsonl", [{"id": "q", "correct": None}, {"id": "r", "correct": 1}]))
    (found,) = counts(table)
    assert found.listed.tolist() == [[True, True]]
    assert found.n_generations.tolist() == [[0, 1]]
    assert outcomes(table).correct.tolist() == [[-1], [1]]


# ---- long to counts, whatever the order


@st.composite
def long_tables(draw):
    shape = draw(st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 6)))
    cells = draw(
        st.lists(
            st.tuples(*(st.integers(0, n - 1) for n in shape), st.sampled_from([0, 1, None])),
            unique_by=lambda cell: cell[:3],
            min_size=1,
            max_size=40,
        )
    )
    return cells


@settings(max_examples=40, deadline=None)
@given(long_tables(), st.booleans(), st.booleans())
def test_long_to_counts(tmp_path_factory, cells, numbered, as_json):
    folder = tmp_path_factory.mktemp("long")
    rows = [
        {"model": f"m{a}", "id": f"q{b}", "correct": c} | ({"gen": g} if numbered else {})
        for a, b, g, c in cells
    ]
    if as_json:
        path = folder / "t.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path = folder / "t.csv"
        lines = [",".join("" if v is None else str(v) for v in row.values()) for row in rows]
        path.write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    table = read(path)
    (found,) = counts(table)
    assert found.llm.tolist() == list(dict.fromkeys(row["model"] for row in rows))
    assert found.prompt.tolist() == list(dict.fromkeys(row["id"] for row in rows))
    for i, llm in enumerate(found.llm):
        matrix = outcomes(table, llm)
        for j, prompt in enumerate(found.prompt):
            mine = [row["correct"] for row in rows if (row["model"], row["id"]) == (llm, prompt)]
            scored = [c for c in mine if c is not None]
            assert found.n_generations[i, j] == len(scored)
            assert found.n_correct[i, j] == sum(scored)
            assert found.listed[i, j] == bool(mine)
            if mine:
                line = matrix.correct[matrix.prompt.tolist().index(prompt)]
                assert sorted(line[line >= 0].tolist()) == sorted(scored)
        report = found.rows[i]
        assert report.read == sum(row["model"] == llm for row in rows)
        assert report.used == int(found.n_generations[i].sum())


def test_order_of_rows_does_not_matter(write):
    rng = np.random.default_rng(3)
    rows = [f"m{i % 2},q{i % 7},{i // 14},{i % 3 == 0:d}" for i in range(140)]
    results = []
    for _ in range(3):
        rng.shuffle(rows)
        (found,) = counts(write("o.csv", HEAD + "\n".join(rows) + "\n"))
        results.append(
            {
                (llm, p): (s, k)
                for llm, srow, krow in zip(
                    found.llm, found.n_correct, found.n_generations, strict=True
                )
                for p, s, k in zip(found.prompt, srow.tolist(), krow.tolist(), strict=True)
            }
        )
    assert results[0] == results[1] == results[2]
