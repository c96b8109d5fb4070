"""Which files are read: folders, links, pipes, and what cannot be read."""

import gzip
import os
import threading

import numpy as np
import pytest

import pcorrect
from pcorrect.errors import DataError
from pcorrect.readers import counts, paths, read

TABLE = "prompt,correct\na,1\nb,0\n"


def llms(found):
    return sorted({str(llm) for one in found for llm in one.llm})


def notes(found):
    return [note for one in found for rows in one.rows for note in rows.notes]


# ---- folders


def test_a_folder_is_read_through_links_and_each_file_once(write, tmp_path):
    write("logs/a.csv", TABLE)
    write("elsewhere/b.csv", TABLE)
    os.symlink(tmp_path / "elsewhere", tmp_path / "logs/linked")
    os.symlink(tmp_path / "logs", tmp_path / "elsewhere/back")
    os.symlink(tmp_path / "logs", tmp_path / "logs/itself")
    write("logs/.hidden/c.csv", "no table")
    assert llms(counts(tmp_path / "logs")) == ["a", "b"]


@pytest.mark.parametrize("name", ["a.tab", "a.pq", "a.TSV.gz"])
def test_every_known_suffix_is_looked_for(write, tmp_path, name):
    write("logs/b.csv", TABLE)
    if name.endswith("pq"):
        pl = pytest.importorskip("polars")
        pl.DataFrame({"prompt": ["a"], "correct": [1]}).write_parquet(tmp_path / "logs" / name)
    else:
        data = TABLE.replace(",", "\t").encode()
        write(f"logs/{name}", gzip.compress(data) if name.endswith("gz") else data)
    assert llms(counts(tmp_path / "logs")) == ["a", "b"]


def test_a_folder_that_cannot_be_listed_is_an_error(write, tmp_path, monkeypatch):
    write("logs/a.csv", TABLE)
    write("logs/closed/b.csv", TABLE)
    scandir = os.scandir

    def refuse(folder):
        if str(folder).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(folder))
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"closed: cannot be read: permission denied; allow"):
        read(tmp_path / "logs")


def test_an_empty_path_is_not_the_current_folder(write, tmp_path, monkeypatch):
    write("a.csv", TABLE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="an empty path"):
        read("")
    assert llms(counts(".")) == ["a"]


@pytest.mark.parametrize("folder", [False, True])
def test_a_link_to_nothing_is_called_one(tmp_path, folder):
    os.symlink("gone.csv", tmp_path / "link.csv")
    with pytest.raises(DataError, match=r"link\.csv: a link to 'gone\.csv', which does not exist"):
        read(tmp_path if folder else tmp_path / "link.csv")


# ---- files without rows


@pytest.mark.parametrize(
    "empty", ["prompt,correct\n", "prompt,n_correct,n_generations\n", "prompt,correct\n,\n"]
)
def test_a_named_file_without_rows_is_an_error(write, empty):
    files = [write("x.csv", TABLE), write("y.csv", empty)]
    with pytest.raises(DataError, match=r"y\.csv: there are no rows") as error:
        read(files)
    assert "Generations" not in str(error.value)
    with pytest.raises(DataError, match="there are no rows"):
        read(files[1:])


def test_a_file_without_rows_in_a_folder_is_noted(write, tmp_path):
    write("logs/x.csv", TABLE)
    write("logs/y.csv", "prompt,correct\n")
    found = counts(tmp_path / "logs")
    assert llms(found) == ["x"]
    assert notes(found) == ["1 file(s) hold no results and were passed over: y.csv"]


def test_a_file_with_rows_of_other_llms_has_rows(write):
    files = [write(f"{m}.csv", f"llm,prompt,correct\n{m},a,1\n") for m in ("m", "n")]
    assert llms(counts(files, llm="m")) == ["m"]


def test_a_frame_without_rows_is_named_plainly():
    pl = pytest.importorskip("polars")
    with pytest.raises(DataError, match=r"^data frame: there are no rows"):
        counts(pl.DataFrame({"prompt": ["a"], "correct": [1]})[:0])


# ---- pipes


def piped(data: bytes) -> str:
    """Path of a pipe that holds some data."""
    out, into = os.pipe()

    def feed():
        with os.fdopen(into, "wb") as file:
            file.write(data)

    threading.Thread(target=feed).start()
    return f"/dev/fd/{out}"


@pytest.mark.parametrize(
    "data",
    [TABLE.encode(), gzip.compress(TABLE.encode(), mtime=0), b'{"id": "a", "correct": 1}\n' * 9],
)
def test_a_pipe_is_read(data, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = read(piped(data))
    assert counts(table)[0].n_generations.sum() in (2, 9)
    assert table.parts[0].source.name.startswith("/dev/fd/")
    assert list(tmp_path.iterdir())
    del table
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (gzip.compress(TABLE.encode(), mtime=0)[:-9], "the file is damaged or cut off"),
        (b"prompt,correct\na,1,5\nb,0\n", "line 2: 3 fields"),
    ],
)
def test_errors_name_the_pipe(data, message, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(DataError, match=rf"^/dev/fd/\d+: {message}"):
        read(piped(data))
    assert not list(tmp_path.iterdir())


def test_two_named_pipes_of_one_name(tmp_path):
    names = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        os.mkfifo(tmp_path / folder / "t.csv")
        names.append(tmp_path / folder / "t.csv")
    feeds = [threading.Thread(target=name.write_text, args=(TABLE,)) for name in names]
    for feed in feeds:
        feed.start()
    found = counts(names, benchmark="bench")
    assert llms(found) == ["one/t", "two/t"]
    assert all(one.benchmark == "bench" for one in found)


# ---- what the system refuses


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json", "t.csv.gz"])
def test_a_closed_file_is_not_damaged(write, name, monkeypatch):
    path = write(name, gzip.compress(TABLE.encode(), mtime=0) if name.endswith("gz") else "[]")

    def refuse(self, *args, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="cannot be read: permission denied; allow") as error:
        read(path)
    assert "damaged" not in str(error.value)


@pytest.mark.parametrize("name", ["a.csv", "*.csv"])
def test_a_path_in_a_closed_folder(tmp_path, monkeypatch, name):
    def refuse(self, *args, **options):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.is_dir", refuse)
    with pytest.raises(DataError, match="cannot be read: permission denied"):
        read(tmp_path / name)


def test_a_name_that_is_too_long():
    with pytest.raises(DataError, match="cannot be read: file name too long"):
        read("x" * 300 + ".csv")


def test_a_reader_that_trips_over_a_log_names_the_file(write, monkeypatch):
    def trip(*args):
        raise KeyError("samples")

    monkeypatch.setattr("pcorrect.readers.reading.Reader.read", trip)
    with pytest.raises(DataError, match=r"t\.json: .* \(KeyError: 'samples'\)") as error:
        read(write("t.json", "{}"))
    assert isinstance(error.value.__cause__, KeyError)


# ---- what is neither a path nor a frame


@pytest.mark.parametrize(
    "data",
    [
        np.array([[1, 0], [0, 1]]),
        np.array([1, 0]),
        [{"prompt": "a", "correct": 1}],
        [1, 0, 1],
        ["a.csv", 3],
        {"prompt": ["a"], "correct": [1]},
        b"a.csv",
        None,
    ],
    ids=repr,
)
def test_data_of_other_kinds_are_refused_with_what_to_give(data):
    for call in (counts, read, pcorrect.fit):
        with pytest.raises(DataError, match=r"from_frame.*PromptCounts\.from_arrays"):
            call(data)


def test_series_and_datasets_are_refused():
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    dataset = xr.Dataset({"n_correct": ("prompt", [1, 2])})
    for data in (pd.Series([1, 0]), dataset, dataset["n_correct"]):
        with pytest.raises(DataError, match="PromptCounts"):
            pcorrect.fit(data)
    with pytest.raises(DataError, match="from_frame"):
        read(pd.DataFrame({"prompt": ["a"], "correct": [1]}))


def test_series_of_paths_are_paths(write):
    path = str(write("a.csv", TABLE))
    assert paths.listed(np.array([path])) == [path]
    assert llms(counts(np.array([path]))) == ["a"]
