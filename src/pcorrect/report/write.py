"""From results to an HTML report in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pcorrect.api import all_counts
from pcorrect.data import Counts
from pcorrect.errors import PcorrectError
from pcorrect.files import write_text
from pcorrect.fitting import DEFAULT_MODEL
from pcorrect.generations import Generations
from pcorrect.marginal import CiKind, check_interval
from pcorrect.priors import Priors
from pcorrect.report.material import Material, Options
from pcorrect.report.texts import find_texts


def render_report(
    data: Any,
    *,
    title: str = "",
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    model: str = DEFAULT_MODEL,
    engine: str | None = None,
    priors: Priors | None = None,
    rope: float | tuple[float, float] = 0.01,
    texts: Mapping[str, str] | None = None,
    seed: int = 0,
    draws: int | None = None,
    each: Callable[[list[tuple[Counts, str]]], Sequence[tuple[Counts, str]]] = list,
    **reading: Any,
) -> str:
    """Report on every llm and benchmark of the data, as one HTML document.

    Parameters
    ----------
    data : path, list of paths, data frame, Generations, Counts or list of Counts
        Results; answers are shown where the data hold them.
    title : str
        Default: the names of llms and benchmarks.
    ci_prob, ci_kind
        Probability and kind ("eti" or "hdi") of the credible intervals.
    model, engine, priors, seed, draws
        As in `pcorrect.fit`.
    rope : float or pair of float
        Differences between llms that count as none, in units of the score.
    texts : mapping of str to str, optional
        Prompt id -> text of the prompt; default: from the files, where `data` is paths and they
        hold them.
    each : callable, optional
        Wraps the list of what is fitted, for a progress bar.
    **reading
        Options of `read`.

    Returns
    -------
    str
        HTML that loads nothing from elsewhere.

    Raises
    ------
    DataError
        A file or value breaks a rule.
    PcorrectError
        A choice is unknown, or there is no scored generation.
    """
    check_interval(ci_prob, ci_kind)
    from pcorrect.report.page import render

    generations = None
    if texts is None and _is_path(data):
        texts = find_texts(data, reading.get("columns"))
    if not _is_counts(data):
        generations = data if isinstance(data, Generations) else _read(data, reading)
        reading, data = {}, generations
    options = Options(
        title=title,
        ci_prob=ci_prob,
        ci_kind=ci_kind,
        model=model,
        engine=engine,
        priors=priors or Priors(),
        seed=seed,
        draws=draws,
        rope=rope,
        texts=texts or {},
    )
    tables = all_counts(data, **reading)
    return render(Material.gather(tables, options, generations=generations, each=each))


def write_report(data: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the report to a file, which appears whole or not at all.

    Parameters
    ----------
    data
        As in `render_report`.
    path : path
        Of the HTML file.
    **options
        As in `render_report`.

    Raises
    ------
    PcorrectError
        As in `render_report`; also where the file cannot be written.
    """
    path = Path(path)
    if not path.parent.is_dir():
        # known before the work is done
        raise PcorrectError(f"cannot write {path}: no directory {path.parent}")
    write_text(path, render_report(data, **options))


def _is_counts(data: Any) -> bool:
    return isinstance(data, Counts) or (
        isinstance(data, list) and bool(data) and all(isinstance(item, Counts) for item in data)
    )


def _read(data: Any, reading: dict[str, Any]) -> Generations:
    from pcorrect.readers import from_frame, read

    # the whole answers, where a log also keeps shortened ones
    return (
        read(data, **{"texts": True} | reading) if _is_path(data) else from_frame(data, **reading)
    )


def _is_path(data: Any) -> bool:
    return isinstance(data, str | os.PathLike | list | tuple | set) and not _is_counts(data)
