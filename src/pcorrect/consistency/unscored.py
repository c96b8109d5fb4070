"""Answers with scores or without: the latter are enough for clusters and consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pcorrect.readers.options import Options
from pcorrect.readers.reading import read_paths

if TYPE_CHECKING:
    from pcorrect.generations import Generations
    from pcorrect.readers.paths import Paths


def read_answers(paths: Paths, **options: Any) -> Generations:
    """Read results, and tables of answers that have no scores.

    Parameters
    ----------
    paths : path, glob, directory of logs, or iterable of these
    **options
        As for `pcorrect.read`.

    Returns
    -------
    Generations
        None of a table without scores has one; a note says which table that is.

    Raises
    ------
    DataError
        As for `read`; a table has neither scores nor answers.
    """
    return read_paths(paths, Options.of(**options, texts=True), unscored=True)
