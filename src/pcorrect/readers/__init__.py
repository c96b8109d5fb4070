"""Reading results: any table, log or data frame becomes one generations table."""

from __future__ import annotations

import glob as globbing
from collections.abc import Mapping, Sequence
from pathlib import Path

from pcorrect.counts import Counts
from pcorrect.errors import DataError
from pcorrect.generations import Generations
from pcorrect.readers import duck, files
from pcorrect.readers.csv_file import read_csv
from pcorrect.readers.json_file import read_jsonl
from pcorrect.readers.options import Errors, Options, column_map, names
from pcorrect.readers.parts import Source
from pcorrect.readers.tables import table_part
from pcorrect.readers.parquet_file import read_parquet


def read(
    paths,
    *,
    columns=None,
    llm=None,
    benchmark=None,
    metric=None,
    filter=None,
    scorer=None,
    errors: Errors = "missing",
    threshold=None,
    texts=False,
) -> Generations:
    options = Options(
        column_map(columns),
        names(llm),
        names(benchmark),
        metric,
        filter,
        scorer,
        errors,
        threshold,
        texts,
    )
    con = duck.connect()
    found = [paths] if isinstance(paths, str | Path) else list(paths)
    expanded = []
    for p in found:
        p = str(p)
        hits = [p] if Path(p).exists() else sorted(globbing.glob(p, recursive=True))
        if not hits:
            raise DataError(f"{p}: no such file")
        expanded += hits
    parts = []
    for i, p in enumerate(expanded):
        path = Path(p)
        source = Source(i, path.name, files.stem(path))
        first = files.head(path)
        if first.startswith(b"PAR1"):
            raw = read_parquet(con, source, path)
        elif first.lstrip(b"\xef\xbb\xbf \r\n\t").startswith((b"{", b"[")):
            raw = read_jsonl(con, source, path, options.columns)
        else:
            raw = read_csv(con, source, path)
        parts.append(table_part(con, raw, options))
    return Generations(con, parts, options)


def counts(data, **options) -> list[Counts]:
    from pcorrect.counting import count

    return count(data if isinstance(data, Generations) else read(data, **options))
