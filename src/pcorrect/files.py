"""Writing files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pcorrect.errors import PcorrectError


def write_text(path: str | Path, text: str) -> None:
    """Write a file that appears whole or not at all.

    Raises
    ------
    PcorrectError
        It cannot be written.
    """
    path = Path(path)
    part = None
    try:
        handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(
            handle, "w", encoding="utf-8", errors="backslashreplace", newline=""
        ) as file:
            file.write(text)
        # mkstemp makes files private; a result is as readable as any other new file
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(part, 0o666 & ~umask)
        os.replace(part, path)
    except OSError as error:
        if part is not None:
            Path(part).unlink(missing_ok=True)
        raise PcorrectError(f"cannot write {path}: {error.strerror}") from error
