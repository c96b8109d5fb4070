"""Ids and answers come back exactly as they were written, whatever they hold."""

import csv
import io
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pcorrect.readers.json_file as json_file
from pcorrect.cli import main
from pcorrect.errors import DataError
from pcorrect.readers import answers, counts, outcomes, read

WORDS = st.sampled_from(
    ["NA", "null", "None", "nan", "", " ", "007", "1e5", "true", "\ufeff", "a,b"]
)
TEXT = st.one_of(WORDS, st.text(st.characters(codec="utf-8"), max_size=12))
IDS = TEXT.filter(bool)
ROWS = st.lists(st.tuples(IDS, TEXT, st.booleans()), min_size=1, max_size=8)


def check(path, rows):
    table = read(path)
    found = answers(table)
    assert list(zip(found.prompt, found.answer, found.correct, strict=True)) == [
        (prompt, answer, int(correct)) for prompt, answer, correct in rows
    ]
    (c,) = counts(table)
    assert c.prompt.tolist() == list(dict.fromkeys(prompt for prompt, *_ in rows))
    assert c.n_correct.sum() == sum(correct for *_, correct in rows)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example([("a\rb", "c\r\nd", True)], ",", "\n", False)
@example([("x", "\x00", True)], ",", "\n", False)
@example([('"', '""', True), ("'", "\\", False)], ";", "\r\n", True)
def test_csv(tmp_path_factory, rows, delimiter, line_end, quote_all):
    out = io.StringIO(newline="")
    # The writer leaves a bare carriage return unquoted, which ends a row for every reader.
    quote_all |= any("\r" in text for row in rows for text in row[:2])
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow(["prompt_id", "answer", "correct"])
    writer.writerows((prompt, answer, int(correct)) for prompt, answer, correct in rows)
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(out.getvalue().encode())
    check(path, rows)


SURROGATES = st.text(st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010), max_size=3)
# Two halves side by side are a pair in JSON.
SURROGATES = SURROGATES.map(lambda text: json.loads(json.dumps(text)))
MARKS = st.sampled_from(["\U0010fffe", "\U0010fffe00d835", "x\ud83d", "\ude00\ud83d"])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(IDS, TEXT | SURROGATES | MARKS, st.booleans()), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_jsonl(tmp_path_factory, rows, ascii_only, large):
    path = tmp_path_factory.mktemp("json") / "t.jsonl"
    lines = [
        json.dumps(
            dict(zip(("id", "answer", "correct"), row, strict=True)), ensure_ascii=ascii_only
        )
        for row in rows
    ]
    path.write_bytes("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass"))
    with pytest.MonkeyPatch.context() as patch:
        if large:
            patch.setattr(json_file, "LARGE", 0)
        check(path, rows)


def test_a_half_surrogate_pair_in_an_id_can_be_written(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "q\\ud835", "correct": 1}\n{"id": "q\\udc00", "correct": 0}\n')
    (c,) = counts(path)
    assert c.prompt.tolist() == ["q\\ud835", "q\\udc00"]
    "".join(c.prompt).encode("utf-8")


HALF = [
    {"llm": "m\udc00", "task": "t\ud801", "id": "a", "answer": "x\udc00", "correct": 1},
    {"llm": "m\udc00", "task": "t\ud801", "id": "b\udc01", "answer": "y", "correct": 0},
    {"llm": "n\U0010fffe", "task": "t\ud801", "id": "a", "answer": "z", "correct": 0},
]


def half(tmp_path, rows):
    path = tmp_path / "half.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_names_with_half_a_surrogate_pair_are_chosen_as_they_are_shown(tmp_path):
    table = read(half(tmp_path, HALF))
    assert table.llms == ["m\\udc00", "n\U0010fffe"]
    assert table.benchmarks == ["t\\ud801"]
    for llm, k in (("m\\udc00", [1, 1]), ("n\U0010fffe", [1])):
        (found,) = counts(half(tmp_path, HALF), llm=llm, benchmark="t\\ud801")
        assert found.llm.tolist() == [llm]
        assert found.n_generations.tolist() == [k]
        assert outcomes(table, llm).correct.shape == (len(k), 1)
        assert set(answers(table, llm).llm) == {llm}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([{"correct": "z\udc05"}], r"\(prompt 'b\\udc01'\), column 'correct': 'z\\udc05'"),
        (
            [{"generation": 1}, {"generation": 1, "correct": 1}],
            r"prompt 'b\\udc01', generation 1: ",
        ),
    ],
)
def test_messages_do_not_show_how_half_a_pair_is_stored(tmp_path, change, message):
    rows = [HALF[1] | each for each in change]
    with pytest.raises(DataError, match=message) as error:
        counts(half(tmp_path, rows))
    assert "10fffe" not in str(error.value)


def test_the_command_takes_the_name_that_it_shows(tmp_path, capsys):
    path, out = str(half(tmp_path, HALF)), tmp_path / "map.csv"
    options = ["--model", "beta_bernoulli", "--draws", "20", "--json"]
    assert main(["fit", path, "--llm", "m\\udc00", *options]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["llm"] == "m\\udc00"
    assert main(["map", path, "--csv", str(out), "-q"]) == 0
    assert "m\\udc00" in out.read_text()
    assert "00dc00" not in out.read_text() + capsys.readouterr().out
