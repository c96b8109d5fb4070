"""Texts of prompts out of result files."""

import gzip
import json
import zipfile

import pytest

from pcorrect.readers import read
from pcorrect.report import render_report
from pcorrect.report.texts import find_texts
from tests.support.results import frame, results


def test_real_inspect_logs(shared):
    logs = shared / "data" / "logs" / "generated" / "inspect"
    for kind in ("eval", "json"):
        found = find_texts(logs / kind)
        ids = {
            row[0]
            for row in read(logs / kind, scorer="match").relation.project("prompt").fetchall()
        }
        assert set(found) == ids
        assert all(found.values())


def test_real_lm_eval_logs(shared):
    folder = shared / "data" / "logs" / "generated" / "lm_eval" / "org__toy-model-A"
    (samples,) = folder.glob("samples_arith20_2*.jsonl")
    found = find_texts(samples)
    line = json.loads(samples.read_text().splitlines()[0])
    assert found[str(line["doc_id"])] == line["doc"]["question"]
    assert len(found) == 20


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet"])
def test_tables(tmp_path, kind):
    rows = [row | {"question": f'What is\n{row["prompt"]}, "then"?'} for row in results(2, 3, 2)]
    path = tmp_path / f"table.{kind}"
    table = frame(rows)
    if kind in ("csv", "csv.gz"):
        table.to_csv(path, index=False)
    elif kind == "tsv":
        table.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        table.to_parquet(path)
    else:
        table.to_json(path, orient="records", lines=kind == "jsonl")
    expected = {f"q{i:02d}": f'What is\nq{i:02d}, "then"?' for i in range(3)}
    assert find_texts(path) == expected


def test_a_column_map_says_which_column_is_the_id(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("key,question,correct\na,What?,1\nb,Why?,0\n")
    assert find_texts(path, {"prompt": "key"}) == {"a": "What?", "b": "Why?"}


def test_a_question_that_is_the_id_is_no_text_of_its_own(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("question,correct\nWhat?,1\nWhy?,0\n")
    assert find_texts(path) == {}


def test_an_id_with_two_texts_has_none(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(
            f"prompt_id,question,correct\n1,of {name},1\n2,same,1\n"
        )
    assert find_texts(tmp_path) == {"2": "same"}


def test_messages_and_summaries_of_inspect(tmp_path):
    message = {"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "image"}]}
    system = {"role": "system", "content": "Be brief."}
    log = {
        "eval": {"task": "t", "model": "m"},
        "samples": [
            {"id": 1, "epoch": 1, "input": [system, message], "scores": {}},
            {"id": 2, "epoch": 1, "input": None},
        ],
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert find_texts(path) == {"1": "Look:\n"}
    packed = tmp_path / "log.eval"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("summaries.json", json.dumps([{"id": "a", "input": "Short"}]))
    assert find_texts(packed) == {"a": "Short"}


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe\x00", b"{", b"[1, 2]", b"PAR1", b"PK\x03\x04", b"a\n1\n", b"[" * 9999]
)
def test_what_cannot_be_read_is_no_error(tmp_path, data):
    path = tmp_path / "file.csv"
    path.write_bytes(data)
    assert find_texts(path) == {}
    path.write_bytes(gzip.compress(data)[:-3])
    assert find_texts(path) == {}


def test_a_report_on_files_shows_their_texts(tmp_path):
    path = tmp_path / "table.csv"
    frame([row | {"question": f"Is it {row['prompt']}?"} for row in results(1, 8)]).to_csv(path)
    html = render_report(path, model="beta_bernoulli", columns={"prompt": "prompt"})
    assert "Is it q03?" in html
    assert "Is it q03?" not in render_report(path, model="beta_bernoulli", texts={})
