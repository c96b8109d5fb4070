"""Reading results: any table, log or data frame becomes one generations table, then counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack, cast

from pcorrect.counting import count
from pcorrect.data import Counts
from pcorrect.generations import Generations
from pcorrect.observations import Answers, Outcomes, answers, outcomes
from pcorrect.parts import Errors
from pcorrect.readers.columns import ColumnMap
from pcorrect.readers.options import Options
from pcorrect.readers.paths import Paths, listed, looks_like_frame, no_paths
from pcorrect.readers.reading import read_paths

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

__all__ = [
    "Answers",
    "Generations",
    "Outcomes",
    "ReadOptions",
    "answers",
    "counts",
    "from_frame",
    "outcomes",
    "read",
]


class ReadOptions(TypedDict, total=False):
    """Keyword arguments of `read` and `from_frame`, for functions that pass them on."""

    columns: ColumnMap | None
    llm: str | Sequence[str] | None
    benchmark: str | Sequence[str] | None
    metric: str | None
    filter: str | None
    scorer: str | None
    errors: Errors
    threshold: float | None
    texts: bool


def read(
    paths: Paths,
    *,
    columns: ColumnMap | None = None,
    llm: str | Sequence[str] | None = None,
    benchmark: str | Sequence[str] | None = None,
    metric: str | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    errors: Errors = "missing",
    threshold: float | None = None,
    texts: bool = False,
) -> Generations:
    """Read results files of any known format into one generations table.

    Parameters
    ----------
    paths : path, glob, directory of logs, or iterable of these
    columns : dict, optional
        Our name -> their column, for tables whose names are not recognised: llm, benchmark,
        prompt, generation, correct, answer, target, group; filter, metric, scorer; n_correct and
        n_generations for a table of counts; generations (a list) for one column per generation;
        scores for several scores in a cell. None says that there is no such column; a dotted name
        reaches into nested JSON.
    llm, benchmark : str or sequence of str, optional
        Keep these only; a single name also names an input that carries none.
    metric, filter, scorer : str, optional
        Which of several to take.
    errors : {"missing", "wrong"}
        Leave generations without a score out, or count them as wrong.
    threshold : float, optional
        A score at or above it is right: up to 1 for scores in [0, 1], above for [0, 100].
    texts : bool
        Read full answers where a log also keeps shortened ones.

    Returns
    -------
    Generations

    Raises
    ------
    DataError
        A file is missing or damaged, or a row or value breaks a rule; the message says where.
    ChoiceError
        There are several filters, metrics or scorers and none was chosen.
    """
    options = Options.of(columns, llm, benchmark, metric, filter, scorer, errors, threshold, texts)
    return read_paths(paths, options)


def from_frame(
    frame: IntoFrame,
    *,
    columns: ColumnMap | None = None,
    llm: str | Sequence[str] | None = None,
    benchmark: str | Sequence[str] | None = None,
    metric: str | None = None,
    filter: str | None = None,
    scorer: str | None = None,
    errors: Errors = "missing",
    threshold: float | None = None,
) -> Generations:
    """Take a data frame (pandas, polars, pyarrow, duckdb, dask, …) as a generations table.

    Parameters
    ----------
    frame : any frame that narwhals understands
        In long, wide, counts or packed form, as tables in files. A lazy frame is written to a
        temporary Parquet file by its own engine.
    columns, llm, benchmark, metric, filter, scorer, errors, threshold
        As for `read`.

    Returns
    -------
    Generations

    Raises
    ------
    DataError
        A column is missing or ambiguous, or a value breaks a rule.
    """
    from pcorrect.readers.frames import read_frame

    options = Options.of(columns, llm, benchmark, metric, filter, scorer, errors, threshold)
    return read_frame(frame, options)


def counts(data: Generations | Paths | IntoFrame, **options: Unpack[ReadOptions]) -> list[Counts]:
    """Count correct generations, llm by prompt.

    Parameters
    ----------
    data : Generations, paths or data frame
    **options
        As for `read`, unless `data` is a generations table already.

    Returns
    -------
    list of Counts
        One per benchmark, in order of appearance.

    Raises
    ------
    DataError
        As for `read`; also where one generation has two different scores.
    ChoiceError
        As for `read`; also where a chosen llm or benchmark does not occur.
    """
    if isinstance(data, Generations):
        if options:
            raise TypeError(f"options {sorted(options)} belong to read, which came before")
        return count(data)
    paths = listed(data)
    if paths is not None:
        return count(read(paths, **options))
    if not looks_like_frame(data):
        raise no_paths(data)
    options.pop("texts", None)
    return count(from_frame(cast("IntoFrame", data), **options))  # type: ignore[misc]
