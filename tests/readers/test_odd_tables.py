"""Tables that people glue together, pivot and rescale: nothing is guessed without a word."""

import numpy as np
import pandas as pd
import pytest

from pcorrect import ChoiceError, DataError, PromptCounts
from pcorrect.cells import Cells
from pcorrect.readers import counts, from_frame, outcomes, read
from tests.readers.test_tables import prompts


def notes(found):
    return " | ".join(found[0].rows[0].notes)


def test_a_header_in_the_middle_is_no_generation(write):
    path = write("all.csv", "prompt_id,correct\na,1\nb,0\nprompt_id,correct\na,1\nb,1\n")
    found = counts(path)
    assert prompts(found) == {"a": (2, 2), "b": (1, 2)}
    assert "1 row(s) repeat the header" in notes(found)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("wide.csv", "prompt,gen_1,gen_2\na,1,0\n,,\nb,0,0\n", "row"),
        ("rows.jsonl", [{"prompt": "a", "correct": 1}, {"prompt": None, "error": "502"}], "line"),
    ],
)
def test_rows_without_anything_that_is_used_are_counted(write, name, content, word):
    found = counts(write(name, content))
    assert f"1 {word}(s) with nothing in any column" in notes(found)


@pytest.mark.parametrize("library", ["parquet", "polars"])
def test_nan_is_no_score(tmp_path, library):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"prompt": ["a", "a", "b"], "correct": [1.0, float("nan"), 0.0]})
    if library == "parquet":
        path = tmp_path / "scores.parquet"
        frame.write_parquet(path)
        found = counts(path)
    else:
        found = counts(frame)
    assert prompts(found) == {"a": (1, 1), "b": (0, 1)}
    assert found[0].rows[0].left_out == {"no score": 1}


@pytest.mark.parametrize(
    ("scores", "threshold", "right"),
    [
        (["100%", "90%", "20%", "100%"], 50, 3),
        (["100%", "90%", "20%", "100%"], 0.5, 3),
        (["true", "false", "true", "false"], 60, 2),
        (["100", "true", "C", "0"], 50, 3),
        (["100", "partial", "49.9", "50"], 50, 3),
        (["0", "0", "0", "0"], 50, 0),
    ],
)
def test_words_and_per_cent_are_on_the_scale_of_the_threshold(write, scores, threshold, right):
    rows = "".join(f"q{i},{score}\n" for i, score in enumerate(scores))
    (found,) = counts(write("scores.csv", "prompt,score\n" + rows), threshold=threshold)
    assert found.n_correct.sum() == right
    assert found.n_generations.sum() == 4


@pytest.mark.parametrize("form", ["long", "wide", "packed"])
def test_a_threshold_for_another_scale_is_refused(write, form):
    text = {
        "long": "prompt,score\na,1\na,0.5\nb,0\n",
        "wide": "prompt,gen_1,gen_2\na,1,0.5\nb,0,1\n",
        "packed": 'prompt,scores\na,"[1, 0.5]"\nb,"[0, 1]"\n',
    }[form]
    with pytest.raises(DataError, match=r"largest here is 1: for scores from 0 to 1 give 0\.5"):
        counts(write("scores.csv", text), threshold=50)


def test_an_id_that_tells_more_prompts_apart_is_noted(write):
    rows = [("1", "What?", 1), ("1", "What?", 1), ("2", "What?", 0), ("2", "What?", 0)]
    text = "id,prompt,correct\n" + "".join(f"{i},{p},{c}\n" for i, p, c in rows)
    path = write("vision.csv", text)
    found = counts(path)
    assert "column 'id' tells 2 prompts apart, 'prompt' only 1" in notes(found)
    chosen = counts(path, columns={"prompt": "id"})
    assert prompts(chosen) == {"1": (2, 2), "2": (0, 2)}
    assert not notes(chosen)
    # numbers of rows are no ids of prompts
    numbered = "id,prompt,correct\n" + "".join(f"{i},{r[1]},{r[2]}\n" for i, r in enumerate(rows))
    assert not notes(counts(write("numbered.csv", numbered)))


def test_numbers_beyond_64_bits_are_labels(write):
    big = "99999999999999999999"
    text = f"prompt,generation_id,correct\na,{big},1\na,{big},1\na,{big}1,0\n"
    found = counts(write("seeds.csv", text))
    assert prompts(found) == {"a": (1, 2)}
    assert f"1 = '{big}', 2 = '{big}1'" in notes(found)
    with pytest.raises(DataError, match="both right and wrong"):
        counts(write("clash.csv", f"prompt,generation_id,correct\na,{big},1\na,{big},0\n"))


def test_generations_with_numbers_of_their_own_are_taken_in_order():
    rng = np.random.default_rng(0)
    seeds = rng.permutation(10**6)[:400]
    frame = pd.DataFrame({"prompt": np.repeat(np.arange(80), 5), "seed": seeds})
    matrix = outcomes(from_frame(frame.assign(correct=rng.integers(0, 2, 400)))).correct
    assert matrix.shape == (80, 5)
    assert (matrix >= 0).all()


def test_a_document_over_several_lines_is_no_jsonl(write):
    text = '{"data":[\n{"id":"a","correct":1},\n{"id":"b","correct":0}]}\n'
    assert prompts(counts(write("wrapped.json", text))) == {"a": (1, 1), "b": (0, 1)}
    with pytest.raises(DataError, match="line 1 is not valid JSON"):
        counts(write("lines.jsonl", '{"id":"a","correct":x}\n{"id":"b","correct":0}\n'))


def test_pivoted_frames_have_numbers_for_names():
    frame = pd.DataFrame({"prompt": list("aabb"), "g": [1, 2, 1, 2], "correct": [1, 0, 0, 1]})
    wide = frame.pivot(index="prompt", columns="g", values="correct").reset_index()
    assert prompts(counts(wide)) == {"a": (1, 2), "b": (1, 2)}
    with pytest.raises(DataError, match="two columns have one name"):
        counts(pd.DataFrame([["a", 1, 1]], columns=["prompt", "correct", "correct"]))


def test_a_numpy_number_and_its_text_are_two_prompts():
    frame = pd.DataFrame({"prompt": [np.int64(1), "1"], "correct": [1, 0]}, dtype=object)
    with pytest.raises(DataError, match="both the number 1 and the text '1'"):
        counts(frame)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.ones((3, 4)), 1), "one number per prompt"),
        ((np.ma.masked_array([1, 1], [False, True]), 2), "masked"),
        (([1, 1], [2, 2, 2]), "differ"),
        (([5_000_000_000], [10_000_000_000]), "n_correct is 5e\\+09 for one prompt"),
        (([1], [1e30]), "n_generations is 1e\\+30 for one prompt, and at most 10,000,000"),
    ],
)
def test_arrays_that_are_no_counts(arguments, words):
    with pytest.raises(DataError, match=words):
        PromptCounts.from_arrays(*arguments)


def test_counts_that_cannot_be_computed_with(write):
    path = write("c.csv", "prompt,n_correct,n_generations\na,1,2\nb,5e9,1e10\n")
    with pytest.raises(DataError, match=r"row 2 \(prompt 'b'\).* more than 10,000,000 generations"):
        counts(path)
    path = write("c.csv", "prompt,n_correct,n_generations\na,9999999,10000000\nb,1,2\n")
    (found,) = counts(path)
    cells = Cells.from_counts(found.n_correct[0], found.n_generations[0])
    assert cells.n_correct.tolist() == [1, 9999999]
    assert cells.n_generations.tolist() == [2, 10**7]


@pytest.mark.parametrize("prompt", [["a", "a"], [1, "1"], ["a", None], ["a", float("nan")]])
def test_prompt_ids_are_unique(prompt):
    with pytest.raises(DataError, match="unique and not empty"):
        PromptCounts.from_arrays([1, 1], 2, prompt=prompt)


@pytest.mark.parametrize("llm", ["z", ["a", "z"]])
def test_every_absent_name_is_refused_with_all_that_there_are(write, llm):
    path = write("two.csv", "llm,prompt,correct\na,q,1\nb,q,0\n")
    with pytest.raises(ChoiceError, match=r"no generation of llm 'z'; llms: \['a', 'b'\]"):
        counts(path, llm=llm)


@pytest.mark.parametrize("names", [[10, 20], (10, 20), ["10", "20"]])
def test_columns_named_by_numbers_can_be_mapped(names):
    frame = pd.DataFrame({"id": ["a", "b"], 10: [1, 0], 20: [1, 1]})
    columns = {"prompt": "id", "generations": names}
    assert prompts(counts(frame, columns=columns)) == {"a": (2, 2), "b": (1, 2)}
    first = pd.DataFrame({0: ["a"], 1: [1]})
    assert prompts(counts(first, columns={"prompt": 0, "correct": 1})) == {"a": (1, 1)}


def test_a_column_is_one_generation(write):
    path = write("w.csv", "id,10,20\na,1,0\n")
    with pytest.raises(DataError, match="names column '10' twice"):
        counts(path, columns={"generations": ["10", "10"]})
    with pytest.raises(DataError, match="must be a dict"):
        counts(path, columns="prompt=id")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", 'prompt,n_correct,n_generations\na,"1,000",2000\n'),
        ("c.csv", 'prompt,n_correct,n_generations\na,1,"2,000"\n'),
        ("c.csv", 'prompt,n_correct,n_generations\na,"1,234,567","2,000,000"\n'),
        ("c.csv", "prompt;n_correct;n_generations\na;1.000;2.000\n"),
        ("c.tsv", "prompt\tn_correct\tn_generations\na\t12.000\t16.000\n"),
    ],
)
def test_separators_of_thousands_are_not_taken_for_decimals(write, name, text):
    with pytest.raises(DataError, match=r"row 1 \(prompt 'a'\).*without a separator"):
        counts(write(name, text))


def test_decimals_of_whole_counts_are_read(write):
    text = "prompt;n_correct;n_generations\na;3,0;8,00\nb;0,000;1000\nc;1234.000;2000,0\n"
    found = counts(write("c.csv", text))
    assert prompts(found) == {"a": (3, 8), "b": (0, 1000), "c": (1234, 2000)}


@pytest.mark.parametrize(
    "again", ["\ufeffprompt,correct", "prompt, correct", "Prompt,Correct", '"prompt","correct"']
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_header_may_be_repeated_in_other_dress(write, again, end):
    text = end.join(["\ufeffprompt,correct", "a,1", again, "b,0", "correct,1", ""])
    found = counts(write("all.csv", text))
    assert prompts(found) == {"a": (1, 1), "b": (0, 1), "correct": (1, 1)}
    assert "1 row(s) repeat the header" in notes(found)


def test_the_header_of_a_wide_table_and_of_counts_may_be_repeated(write):
    wide = write("w.csv", "prompt,gen_1,gen_2\na,1,0\nPrompt,Gen_1,Gen_2\nb,0,1\n")
    assert prompts(counts(wide)) == {"a": (1, 2), "b": (1, 2)}
    header = "prompt,n_correct,n_generations\n"
    table = write("c.csv", f"{header}a,1,2\n\ufeff{header}b,1,2\n")
    assert prompts(counts(table)) == {"a": (1, 2), "b": (1, 2)}


def test_a_blank_beside_numbers_leaves_them_numbers(write):
    path = write("g.csv", "id,run,correct\na,2,1\na,1,0\nb,,1\n")
    found = read(path)
    assert outcomes(found).correct.tolist()[0] == [0, 1]
    assert not counts(found)[0].rows[0].notes


def test_two_columns_of_groups_are_left_unused_where_ids_are_unique(write):
    text = "id,subject,category,correct\n1,art,x,1\n1,art,x,0\n2,law,x,1\n"
    found = counts(write("g.csv", text))
    assert prompts(found) == {"1": (1, 2), "2": (1, 1)}
    assert "could all be the group: none is used" in notes(found)
    wide = write("w.csv", "id,subject,category,gen_1\n1,art,x,1\n1,law,x,0\n")
    with pytest.raises(DataError, match=r"several values of 'subject'.*group=subject"):
        counts(wide)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ('{"prompt":["a","b"],"correct":[1,0,1]}', "'prompt' 2, 'correct' 3"),
        (
            '{"data":[{"id":1,"correct":1}],"results":[{"id":2,"correct":0}]}',
            "'data' and 'results' each hold a list of records",
        ),
    ],
)
def test_documents_of_which_a_part_would_be_left_out(write, document, message):
    with pytest.raises(DataError, match=message):
        counts(write("d.json", document))
