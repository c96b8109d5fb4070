"""Many files, or a frame, become one generations table."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from pcorrect import duck
from pcorrect.errors import ChoiceError, DataError
from pcorrect.generations import Generations
from pcorrect.parts import Part, Source
from pcorrect.readers import lm_eval, paths
from pcorrect.readers.dispatch import Reader
from pcorrect.readers.options import Options
from pcorrect.readers.refusal import Companion, NotResults
from pcorrect.readers.rows import Rows

Found = list[tuple[paths.Input, "Part | Rows"]]


def read_paths(given: paths.Paths, options: Options) -> Generations:
    """Read files, globs and directories; see `pcorrect.readers.read`."""
    inputs = paths.expand(given)
    llms = paths.llm_names(inputs)
    reader = Reader(duck.connect(), options)
    found: Found = []
    passed: list[str] = []
    last: NotResults | None = None
    for number, (item, llm) in enumerate(zip(inputs, llms, strict=True)):
        try:
            result = reader.read(Source(number, item.name, llm), item.path)
        except NotResults as error:
            if item.asked:
                raise
            if not isinstance(error, Companion):
                passed.append(item.path.name)
            last = error
            continue
        except duckdb.Error as error:
            raise DataError(f"{item.name}: {duck.reason(error)}") from error
        if result is not None:
            found.append((item, result))
    if not found:
        raise _nothing(inputs, reader, options, last)
    notes = lm_eval.join_on_hash([result for _, result in found if isinstance(result, Rows)])
    if passed:
        more = ", …" if len(passed) > 3 else ""
        notes.append(
            f"{len(passed)} file(s) hold no results and were passed over: "
            f"{', '.join(passed[:3])}{more}"
        )
    parts = [r.part(reader.con) if isinstance(r, Rows) else r for _, r in found]
    _refuse_copies([item for item, _ in found], parts, reader.con, options)
    return Generations(reader.con, parts, options.selection, notes)


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
