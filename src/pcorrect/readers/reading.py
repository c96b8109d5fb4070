"""Many files, or a frame, become one generations table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from pcorrect import duck
from pcorrect.errors import ChoiceError, DataError, PcorrectError
from pcorrect.generations import Generations
from pcorrect.parts import Part, Source
from pcorrect.readers import files, lm_eval, paths
from pcorrect.readers.dispatch import Reader
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import Companion, NotResults
from pcorrect.readers.rows import Rows
from pcorrect.readers.unscored import has_answers

Found = list[tuple[paths.Input, "Part | Rows"]]


def read_paths(given: paths.Paths, options: Options, unscored: bool = False) -> Generations:
    """Read files, globs, directories and pipes; see `pcorrect.readers.read`.

    Where `unscored`, tables that have answers and no scores are read too.
    """
    inputs = paths.expand(given)
    llms = paths.llm_names(inputs)
    if all(map(paths.lasts, inputs)):
        return _read(inputs, llms, options, unscored)

    # What a pipe holds is kept as a file.
    def kept(folder: Path) -> Generations:
        regular = [paths.kept(item, folder) for item in inputs]
        return _read(regular, llms, options, unscored)

    return files.with_folder(kept)


def _read(
    inputs: Sequence[paths.Input], llms: Sequence[str], options: Options, unscored: bool
) -> Generations:
    reader = Reader(duck.connect(), options)
    found: Found = []
    passed: list[str] = []
    last: DataError | None = None
    for number, (item, llm) in enumerate(zip(inputs, llms, strict=True)):
        try:
            result = _one(reader, Source(number, item.name, llm), item, unscored)
        except NotResults as error:
            if item.asked:
                raise
            if not isinstance(error, Companion):
                passed.append(item.path.name)
            last = error
            continue
        if result is not None:
            found.append((item, result))
    notes = lm_eval.join_on_hash([result for _, result in found if isinstance(result, Rows)])
    filled: list[tuple[paths.Input, Part]] = []
    for item, result in found:
        part = result.part(reader.con) if isinstance(result, Rows) else result
        if _has_rows(reader.con, part, options):
            filled.append((item, part))
            continue
        last = DataError("; ".join([f"{item.name}: there are no rows", *part.notes]))
        if item.asked:
            raise last
        passed.append(item.path.name)
    if not filled:
        raise _nothing(inputs, reader, options, last)
    if passed:
        more = ", …" if len(passed) > 3 else ""
        notes.append(
            f"{len(passed)} file(s) hold no results and were passed over: "
            f"{', '.join(passed[:3])}{more}"
        )
    parts = [part for _, part in filled]
    _refuse_copies([item for item, _ in filled], parts, reader.con, options)
    return Generations(reader.con, parts, options.selection, notes)


def _one(reader: Reader, source: Source, item: paths.Input, unscored: bool) -> Part | Rows | None:
    """Read one file; whatever is wrong with it is a `PcorrectError` that names it."""
    try:
        try:
            return reader.read(source, item.path)
        except NotResults:
            part = _answers(reader, source, item.path) if unscored else None
            if part is None:
                raise
            return part
    except PcorrectError as error:
        message = duck.unmarked(str(error))
        if item.path != Path(item.name):
            # the user knows the pipe, not the copy of what it held
            message = message.replace(str(item.path), item.name)
        error.args = (message,)
        raise
    except duckdb.Error as error:
        raise DataError(f"{item.name}: {duck.reason(error)}") from error
    except OSError as error:
        raise files.unreadable(item.name, error) from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        # A reader trusts the shape of what it has recognised: another one is a fault of the file.
        raise DataError(
            f"{item.name}: some of it is not as in other files of its format "
            f"({type(error).__name__}: {error}); write it anew, or give the results as a table"
        ) from error


def _answers(reader: Reader, source: Source, path: Path) -> Part | None:
    """Read a table for its answers alone; None where it holds none."""
    scored = reader.options
    reader.options = replace(scored, unscored=True)
    try:
        part = reader.read(source, path)
    except NotResults:
        return None
    finally:
        reader.options = scored
    return part if isinstance(part, Part) and has_answers(reader.con, part) else None


def _has_rows(con: duckdb.DuckDBPyConnection, part: Part, options: Options) -> bool:
    """Whether a source holds a row, whatever llm or benchmark is asked for."""
    queries = [part.query]
    if part.names and (options.llm or options.benchmark):
        queries.append(part.names)
    return any(con.execute(f"SELECT 1 FROM ({query}) LIMIT 1").fetchall() for query in queries)


def _nothing(
    inputs: Sequence[paths.Input], reader: Reader, options: Options, last: Exception | None
) -> Exception:
    """Error for files of which none holds results, or none of the benchmarks asked for."""
    if reader.skipped:
        tasks = sorted(set(reader.skipped))
        wanted = ", ".join(map(repr, options.benchmark))
        return ChoiceError(f"no generation of benchmark {wanted}; benchmarks: {tasks}", tasks)
    return DataError(f"no results among {len(inputs)} file(s); the last one: {last}")


def _refuse_copies(
    inputs: Sequence[paths.Input],
    parts: Sequence[Part],
    con: duckdb.DuckDBPyConnection,
    options: Options,
) -> None:
    """Raise an error for files that hold the same run of the same llm twice."""
    for i, j in paths.identical(inputs):
        one, other = parts[i], parts[j]
        if one.has_llm:
            both = f"SELECT llm FROM ({one.query}) INTERSECT SELECT llm FROM ({other.query})"
            same = bool(con.execute(both).fetchall())
        else:
            same = one.source.llm == other.source.llm or len(options.llm) == 1
        if same:
            raise DataError(
                f"{one.source.name} and {other.source.name} are the same file byte for byte: the "
                "same generations would count twice; leave one out"
            )
