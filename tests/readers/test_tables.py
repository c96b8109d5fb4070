"""Tables of every form and format, and the traps in them."""

import gzip
import json

import numpy as np
import pytest
import zstandard

import pcorrect.readers.csv_file as csv_file
import pcorrect.readers.json_file as json_file
from pcorrect import ChoiceError, DataError
from pcorrect.readers import answers, counts, outcomes, read

LONG = "prompt_id,gen,correct\na,1,1\na,2,0\nb,1,1\nb,2,1\n"
RECORDS = [
    {"prompt_id": p, "gen": g, "correct": c}
    for p, g, c in [("a", 1, 1), ("a", 2, 0), ("b", 1, 1), ("b", 2, 1)]
]


def table(found):
    """{(benchmark, llm, prompt): (correct, generations)} of listed prompts."""
    return {
        (c.benchmark, str(llm), str(prompt)): (int(c.n_correct[i, j]), int(c.n_generations[i, j]))
        for c in found
        for i, llm in enumerate(c.llm)
        for j, prompt in enumerate(c.prompt)
        if c.listed[i, j]
    }


def prompts(found):
    return {key[-1]: value for key, value in table(found).items()}


def wrap(name: str, text: str) -> bytes:
    data = text.encode()
    if name.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    return zstandard.compress(data) if name.endswith(".zst") else data


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json"])
def test_formats_and_compressions(write, kind, packing):
    text = {
        "csv": LONG,
        "tsv": LONG.replace(",", "\t"),
        "jsonl": "".join(json.dumps(r) + "\n" for r in RECORDS),
        "json": json.dumps(RECORDS),
    }[kind]
    path = write(f"run-7.v2.{kind}{packing}", wrap(packing, text))
    expected = {("benchmark", "run-7.v2", "a"): (1, 2), ("benchmark", "run-7.v2", "b"): (2, 2)}
    assert table(counts(path)) == expected


def test_parquet(tmp_path):
    import polars as pl

    path = tmp_path / "big.parquet"
    pl.DataFrame(RECORDS).write_parquet(path)
    assert prompts(counts(path)) == {"a": (1, 2), "b": (2, 2)}
    # Types are kept: floats with gaps, booleans, lists.
    frame = {"id": [7.0, 8.0, None], "scores": [[True, None], [], [False]], "model": ["m"] * 3}
    pl.DataFrame(frame)[:2].write_parquet(path)
    assert table(counts(path)) == {("benchmark", "m", "7"): (1, 1), ("benchmark", "m", "8"): (0, 0)}
    pl.DataFrame(frame).write_parquet(path)
    with pytest.raises(DataError, match="row 3 has no prompt"):
        counts(path)


def test_parquet_folder(tmp_path):
    import polars as pl

    folder = tmp_path / "run.parquet"
    folder.mkdir()
    for i, number in enumerate((0, 2, 10)):
        frame = pl.DataFrame({"id": [f"q{i}", "r"], "correct": [1, 0]})
        frame.write_parquet(folder / f"part.{number}.parquet")
    expected = {"q0": (1, 1), "r": (0, 3), "q1": (1, 1), "q2": (1, 1)}
    found = counts(folder)
    assert prompts(found) == expected
    assert found[0].prompt.tolist() == list(expected)
    assert found[0].llm.tolist() == ["run"]


def test_format_is_found_by_content(write):
    assert prompts(counts(write("x.txt", LONG))) == {"a": (1, 2), "b": (2, 2)}
    assert prompts(counts(write("y.csv", RECORDS))) == {"a": (1, 2), "b": (2, 2)}
    assert prompts(counts(write("z.json", RECORDS))) == {"a": (1, 2), "b": (2, 2)}
    assert prompts(counts(write("w.csv", gzip.compress(LONG.encode(), mtime=0)))) == {
        "a": (1, 2),
        "b": (2, 2),
    }


@pytest.mark.parametrize(
    "document",
    [
        {"data": RECORDS},
        {"meta": {"a": 1}, "results": RECORDS},
        {key: [record[key] for record in RECORDS] for key in RECORDS[0]},
        {key: {str(i): record[key] for i, record in enumerate(RECORDS)} for key in RECORDS[0]},
    ],
)
def test_json_documents(write, document):
    path = write("d.json", json.dumps(document, indent=1))
    assert prompts(counts(path)) == {"a": (1, 2), "b": (2, 2)}


def test_wide_with_answers(write):
    text = "Prompt ID,difficulty,Run 1,Run 2,answer_1,answer_2\n007,3,1,0,x,y\nNA,4,,1,,z\n"
    path = write("w.csv", text)
    assert prompts(counts(path)) == {"007": (1, 2), "NA": (1, 1)}
    assert answers(read(path)).answer.tolist() == ["x", "y", "", "z"]


@pytest.mark.parametrize(
    "names",
    [
        "gen_1,gen_2,gen_3",
        "run1,run2,run3",
        "epoch_3,epoch_1,epoch_2",
        "sample_2,sample_0,sample_1",
        "Trial 1,Trial 2,Trial 3",
        "run_1_correct,run_2_correct,run_3_correct",
        "score_1,score_2,score_3",
        "is_correct_gen1,is_correct_gen2,is_correct_gen3",
        "0,1,2",
        "1,2,3",
    ],
)
def test_wide_names(write, names):
    path = write("w.csv", f"id,level,{names},pass@1\nq,5,1,0,1,0.67\n")
    assert prompts(counts(path)) == {"q": (2, 3)}


def test_wide_keeps_the_numbers_of_its_columns(write):
    path = write("w.csv", "id,epoch_2,epoch_1\nq,1,0\n")
    assert outcomes(read(path)).correct.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    "names", ["n_correct,n_generations", "c,n", "num_correct,num_samples", "nCorrect,total", "C,K"]
)
def test_counts_names(write, names):
    assert prompts(counts(write("c.csv", f"task_id,{names}\nx,3,8\n"))) == {"x": (3, 8)}


@pytest.mark.parametrize(
    "prompt", ["prompt", "prompt_id", "doc_id", "question_id", "task_id", "ID"]
)
@pytest.mark.parametrize("correct", ["correct", "Score", "is_correct", "isCorrect", "passed"])
@pytest.mark.parametrize("llm", ["model", "llm", "model_name", "modelName"])
def test_long_names(write, prompt, correct, llm):
    path = write("l.csv", f"{llm},{prompt},{correct},task\nm,q,1,t\nm,q,0,t\n")
    assert table(counts(path)) == {("t", "m", "q"): (1, 2)}


def test_better_names_win(write):
    text = "dataset,benchmark,model,prompt_id,generation,correct,score\nd,b,m,q,1,1,0.2\n"
    assert table(counts(write("l.csv", text))) == {("b", "m", "q"): (1, 1)}


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("prompt_id,score,passed", ["'score'", "'passed'", "correct=score"]),
        ("question_id,doc_id,correct", ["'question_id'", "'doc_id'", "prompt=question_id"]),
        ("sample_id,id,correct", ["'sample_id'", "'id'"]),
        ("id,model,model_name,correct", ["'model'", "'model_name'"]),
        ("id,epoch,run,correct", ["'epoch'", "'run'"]),
        ("id,correct,gen_1,gen_2", ["'correct'", "'gen_1'", "generations=…,…"]),
        ("id,correct,n_correct,n", ["'correct'", "'n_correct'"]),
        ("id,gen_1,score_1", ["'gen_1'", "'score_1'"]),
        ("id,score,scores", ["'score'", "'scores'", "scores=scores"]),
        ("id,correct,total", ["'correct'", "'total'", "n_correct=correct"]),
        ("id,score,n", ["'score'", "'n'"]),
        ("id,gen_1,gen_01", ["generation 1", "'gen_01'"]),
        ("id,correct,correct", ["'correct' occurs 2 times; rename all but the one"]),
        ("\ufeffid;x,y;z", ["'id'", "'x,y'", "no column for 'correct'"]),
        ("id,points", ["'points'", "correct=THEIR_NAME"]),
        ("q1,1,0", ["'q1'", "header line missing"]),
    ],
)
def test_what_is_not_clear_is_refused_by_name(write, header, named):
    path = write("t.csv", header + "\n" + header.replace("_", "") + "\n" * 2)
    with pytest.raises(DataError) as error:
        counts(path)
    for text in [*named, "t.csv"]:
        assert text in str(error.value)


def test_column_map(write):
    text = "engine,item no,points,gen,score,note\nm,q1,1,1,0,\nm,q1,1,2,0,\n"
    columns = {"correct": "points", "prompt": "Item No", "group": "note"}
    assert table(counts(write("m.csv", text), columns=columns)) == {
        ("benchmark", "m", "q1"): (2, 2)
    }
    with pytest.raises(DataError, match="no column 'punkte'; columns found: 'engine'"):
        read(write("m.csv", text), columns={"correct": "punkte"})
    with pytest.raises(DataError, match="'score' is not one of"):
        read(write("m.csv", text), columns={"score": "points"})
    wide = write("w.csv", "id,first,second\nq,1,0\n")
    assert prompts(counts(wide, columns={"generations": ["first", "second"]})) == {"q": (1, 2)}
    none = write("n.csv", "id,model,correct\nq,m,1\nq,n,0\n")
    assert table(counts(none, columns={"llm": None})) == {("benchmark", "n", "q"): (1, 2)}


def test_dotted_column_map(write):
    rows = [{"id": "q", "out": {"scores": {"match": c}}} for c in (1, 0)]
    columns = {"correct": "out.scores.match"}
    assert prompts(counts(write("n.jsonl", rows), columns=columns)) == {"q": (1, 2)}


def test_ids_stay_text(write):
    text = "prompt_id,correct\n007,1\n7,0\n7.0,1\n1e3,1\nNA,1\nnull,0\n2026-01-01,1\n a,1\na,0\n"
    found = prompts(counts(write("ids.csv", text)))
    assert list(found) == ["007", "7", "7.0", "1e3", "NA", "null", "2026-01-01", " a", "a"]
    assert found["NA"] == (1, 1)


def test_rows_of_a_prompt_without_number_are_generations(write):
    path = write("l.csv", "id,correct\nq,1\nq,1\nq,0\nr,1\n")
    assert prompts(counts(path)) == {"q": (2, 3), "r": (1, 1)}
    assert outcomes(read(path)).correct.tolist() == [[1, 1, 0], [1, -1, -1]]


def test_generation_labels(write):
    rows = "q,seed-b,1\nq,seed-a,0\nr,seed-a,1\n"
    path = write("l.csv", f"id,generation,correct\n{rows}")
    assert outcomes(read(path)).correct.tolist() == [[1, 0], [-1, 1]]
    with pytest.raises(DataError, match="prompt 'r'"):
        counts(write("l.csv", f"id,generation,correct\n{rows}r,seed-a,0\n"))
    floats = write("f.csv", "id,generation,correct\nq,1.0,1\nq,2.0,0\nq,,1\n")
    assert prompts(counts(floats)) == {"q": (2, 3)}


def test_ids_reused_in_several_groups(write):
    text = "subject,id,gen,correct\nlaw,1,1,1\nlaw,1,2,1\nart,1,1,0\nart,1,2,0\nart,2,1,1\n"
    table_read = read(write("g.csv", text))
    (found,) = counts(table_read)
    assert prompts([found]) == {"law/1": (2, 2), "art/1": (0, 2), "art/2": (1, 1)}
    assert found.group.tolist() == ["law", "art", "art"]
    assert any("group/id" in note for note in found.rows[0].notes)
    assert outcomes(table_read).prompt.tolist() == ["law/1", "art/1", "art/2"]


def test_filter_column_in_a_table(write):
    path = write("f.csv", "id,filter,correct\nq,strict,0\nq,flex,1\n")
    with pytest.raises(ChoiceError) as error:
        counts(path)
    assert error.value.options == ["strict", "flex"]
    assert prompts(counts(path, filter="flex")) == {"q": (1, 1)}


# ---- CSV traps


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("crlf", LONG.replace("\n", "\r\n").encode()),
        ("cr", LONG.replace("\n", "\r").encode()),
        ("mixed line ends", LONG.replace("\n", "\r\n", 2).encode()),
        ("no last line end", LONG.rstrip().encode()),
        ("bom", b"\xef\xbb\xbf" + LONG.encode()),
        ("utf-16", LONG.encode("utf-16")),
        ("utf-16 without mark", LONG.encode("utf-16-le")),
        ("blank lines", LONG.replace("\n", "\n\n", 2).encode() + b"\n\n"),
        ("blank rows", LONG.encode() + b",,\n,,\n"),
        ("semicolons", LONG.replace(",", ";").encode()),
        ("pipes", LONG.replace(",", "|").encode()),
        ("quotes", b'"prompt_id","gen","correct"\n"a","1","1"\n"a","2","0"\nb,1,1\nb,2,1\n'),
        ("excel's separator line", b"sep=;\n" + LONG.replace(",", ";").encode()),
    ],
)
def test_csv_dialects(write, name, data):
    assert prompts(counts(write("d.csv", data))) == {"a": (1, 2), "b": (2, 2)}


def test_csv_cells_with_line_ends_and_quotes(write):
    text = 'id,gen,answer,correct\n"a\nb",1,"He said ""no"",\r\nthen left",1\nq,1,"",0\n'
    found = answers(read(write("q.csv", text)))
    assert found.prompt.tolist() == ["a\nb", "q"]
    assert found.answer.tolist() == ['He said "no",\r\nthen left', ""]


def test_decimal_comma_with_semicolons(write):
    path = write("s.csv", "prompt_id;n_correct;n_generations\r\na;3,0;8,0\r\n")
    assert prompts(counts(path)) == {"a": (3, 8)}


def test_latin_1_is_read_with_a_note(write):
    (found,) = counts(write("l.csv", "id,correct\nprüfung,1\n".encode("latin-1")))
    assert found.prompt.tolist() == ["prüfung"]
    assert "Windows-1252" in found.rows[0].notes[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"prompt_id,correct\n", "no rows"),
        (b"prompt_id,correct", "no rows"),
        (b"prompt_id,correct\na,1,5\nb,0\n", "line 2: 3 fields, the header has 2"),
        (b"prompt_id,correct\na,1\nb\n", "line 3: 1 fields"),
        (b'prompt_id,correct\na,"1\nb,0\n', "lines 2 to 3 .* unexpected end of data"),
        (b'prompt_id,correct\na,1\nb,"0\nc,"1"\n', "lines 3 to 4 .* begins with"),
        (b'prompt_id,correct\na,1\n"b,0\nc,",1,0\n', "lines 3 to 4 .*: 3 fields"),
        (bytes(257) + b"ustar" + bytes(250), "a tar archive; unpack it"),
        (b"prompt_id,correct\n,1\n", "row 1 has no prompt"),
        (b"model,prompt_id,correct\n,a,1\n", "row 1 has no llm"),
        (gzip.compress(LONG.encode() * 999, mtime=0)[:-30], "damaged or cut off"),
        (gzip.compress(LONG.encode(), mtime=0)[:12], "damaged or cut off"),
        (zstandard.compress(LONG.encode() * 9999)[:-9], "damaged or cut off"),
        (b"PAR1 not really", "not a readable Parquet file"),
        (b"PK\x03\x04 not really", "not a complete archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "t.csv"),
    ],
)
def test_malformed_files_are_one_clear_error(write, data, message):
    with pytest.raises(DataError, match=message) as error:
        counts(write("t.csv", data))
    assert "t.csv" in str(error.value)
    assert "Traceback" not in str(error.value)


def test_a_packed_parquet_file_is_to_be_unpacked(write):
    pl = pytest.importorskip("polars")
    path = write("t.parquet", "")
    pl.DataFrame({"id": ["a"], "correct": [1]}).write_parquet(path)
    with pytest.raises(DataError, match="a Parquet file packed by gzip; unpack it first"):
        read(write("t.parquet.gz", gzip.compress(path.read_bytes())))


def test_a_zstd_file_cut_between_rows_is_refused(write):
    whole = zstandard.compress("".join(f"{LONG}" for _ in range(9)).encode() + b"x" * 200_000)
    with pytest.raises(DataError, match="cut off"):
        read(write("z.csv.zst", whole[:-4]))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"id": "a", "correct": 1}\n{"id": "b", "corr', "line 2 is not valid JSON .*cut off"),
        ('{"id": "a", "correct": 1}\n{"id": "b" "correct": 1}\n{"id": 1}\n', "line 2 is not valid"),
        ('{"id": "a", "corr\n{"id": "a", "correct": 1}\n', "line 1 is not valid JSON"),
        ('{"id": "a",\n{"id": "a", "correct": 1}\n', "line 1 is not valid JSON"),
        ('{"id": "a", "x": [\n{"id": "a", "correct": 1}\n', "line 1 is not valid JSON"),
        ('{"id": "a", "x": {\n  "y": {}\n', r"not valid JSON .*cut off\?"),
        ('{"id": "a"}\n{"id": "b", "x": ' + "9" * 5000 + "}\n", "line 2 is not valid JSON"),
        ('{"id": "a", "correct": 1}\n[1, 2]\n', "line 2 holds a list"),
        ("[1, 2, 3]", "record 1 is a int"),
        ("[]", "empty"),
        ("{}", "keys: none"),
        ('[{"id": "a", "correct": 1}', "not valid JSON"),
        ('{"a": {"b": 1}}', "neither a table nor a known log; keys: 'a'"),
        ('{"id": 1, "correct": 1}\n{"id": "1", "correct": 0}\n', "number 1 and the text '1'"),
        ('{"id": [1], "correct": {"a": 1}}\n{"id": "b", "correct": 1}\n', "line 1 .*'{\"a\": 1}'"),
    ],
)
def test_malformed_json(write, data, message):
    with pytest.raises(DataError, match=message):
        counts(write("t.json", data))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("rows", [RECORDS, RECORDS[:1]])
def test_json_encodings(write, encoding, rows):
    text = "".join(json.dumps(r) + "\n" for r in rows)
    expected = prompts(counts(write("u.jsonl", text)))
    assert prompts(counts(write("e.jsonl", text.encode(encoding)))) == expected


def test_json_numbers_that_json_does_not_have(write):
    path = write("n.jsonl", '{"id":"a","score":NaN}\n{"id":"a","score":1}\n')
    assert prompts(counts(path)) == {"a": (1, 1)}
    with pytest.raises(DataError, match=r"line 1 .*'inf'"):
        counts(write("i.jsonl", '{"id":"a","score":Infinity}\n{"id":"a","score":1}\n'))


def test_one_record_is_a_table(write):
    assert prompts(counts(write("r.jsonl", [{"id": "a", "scores": [1, 0]}]))) == {"a": (1, 2)}
    assert prompts(counts(write("r.jsonl", [{"id": "a", "results": [1, 0]}]))) == {"a": (1, 2)}


def test_records_with_different_keys(write):
    rows = [{"id": "a", "correct": 1}, {"id": "a", "error": "x"}, {"correct": 0, "id": "b"}]
    (found,) = counts(write("k.jsonl", rows))
    assert prompts([found]) == {"a": (1, 1), "b": (0, 1)}
    assert found.rows[0].left_out == {"no score": 1}


# ---- the engine and the Python fallback agree


def test_large_files_are_streamed_to_the_same_result(write, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [
        {
            "model": f"m{i % 3}",
            "id": f"q{i % 50}",
            "gen": i // 150,
            "score": int(rng.random() < 0.4),
        }
        for i in range(1500)
    ]
    text = "model,id,gen,score\n" + "".join(
        f"{r['model']},{r['id']},{r['gen']},{r['score']}\n" for r in rows
    )
    paths = [
        write("a.csv", text),
        write("b.csv.gz", gzip.compress(text.encode(), mtime=0)),
        write("c.csv.zst", zstandard.compress(text.encode())),
        write("d.jsonl", rows),
        write("e.jsonl.gz", gzip.compress("".join(json.dumps(r) + "\n" for r in rows).encode())),
    ]
    small = [table(counts(path)) for path in paths]
    monkeypatch.setattr(csv_file, "KEPT", 0)
    monkeypatch.setattr(json_file, "LARGE", 0)
    large = [table(counts(path)) for path in paths]
    assert all(found == small[0] for found in [*small, *large])
    assert sum(k for _, k in small[0].values()) == 1500


def test_large_json_finds_colliding_ids_and_falls_back(write, monkeypatch):
    monkeypatch.setattr(json_file, "LARGE", 0)
    clash = write("c.jsonl", [{"id": 1, "correct": 1}, {"id": "1", "correct": 0}])
    with pytest.raises(DataError, match="the text '1'"):
        read(clash)
    odd = write("o.jsonl", '{"id":"a","correct":NaN,"answer":"\\ud835"}\n{"id":"a","correct":1}\n')
    assert prompts(counts(odd)) == {"a": (1, 1)}
    nested = [{"id": "q", "out": {"s": c}, "a/b~c": 1} for c in (1, 0)]
    assert prompts(counts(write("n.jsonl", nested), columns={"correct": "out.s"})) == {"q": (1, 2)}
