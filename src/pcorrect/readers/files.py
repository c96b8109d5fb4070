"""Opening files: compression, encoding, and what a file is by its first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from pcorrect.errors import DataError

if TYPE_CHECKING:
    from pcorrect.generations import Generations

HEAD = 1 << 16
# Files that a folder of results is searched for.
FORMATS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".eval")
_SUFFIXES = {*FORMATS, ".txt", ".gz", ".zst", ".bz2", ".xz"}
DAMAGE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError)


def with_folder(make: Callable[[Path], Generations]) -> Generations:
    """Generations made from files in a temporary folder, which goes when they go."""
    folder = tempfile.mkdtemp(prefix="pcorrect-")
    try:
        generations = make(Path(folder))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(generations, shutil.rmtree, folder, ignore_errors=True)
    return generations


def stem(path: Path) -> str:
    """File name without the suffixes of formats and compressions: the llm's default name."""
    name = path.name
    while Path(name).suffix.lower() in _SUFFIXES and Path(name).stem:
        name = Path(name).stem
    return name


def compression(path: Path) -> str | None:
    """gzip, zstd, bz2, xz or None, by content."""
    with path.open("rb") as file:
        head = file.read(6)
    for magic, name in (
        (b"\x1f\x8b", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"BZh", "bz2"),
        (b"\xfd7zXZ\x00", "xz"),
    ):
        if head.startswith(magic):
            return name
    return None


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed."""
    match compression(path):
        case "gzip":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case "bz2":
            return cast(BinaryIO, bz2.open(path, "rb"))
        case "xz":
            return cast(BinaryIO, lzma.open(path, "rb"))
        case "zstd":
            import zstandard

            reader = zstandard.ZstdDecompressor().stream_reader(
                path.open("rb"), read_across_frames=True, closefd=True
            )
            return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, reader)))
        case _:
            return path.open("rb")


def head(path: Path) -> bytes:
    """Return the first 64 KiB of the content.

    Raises
    ------
    DataError
        The compressed file is damaged or cut off, or an archive of files.
    """
    try:
        with open_bytes(path) as file:
            first = file.read(HEAD)
    except (*DAMAGE, OSError) as error:
        raise damaged(path, error) from error
    if first[257:262] == b"ustar":
        raise DataError(f"{path}: a tar archive; unpack it and give the files that are in it")
    return first


def damaged(path: Path, error: Exception) -> DataError:
    """Error for a file that does not decompress, or that the system does not let us read."""
    if isinstance(error, OSError) and error.errno is not None:
        return unreadable(str(path), error)
    return DataError(f"{path}: the file is damaged or cut off ({error}); fetch or write it anew")


def unreadable(name: str, error: OSError) -> DataError:
    """Error for a path that the system refuses to open or list."""
    what = "; allow reading it, or leave it out" if isinstance(error, PermissionError) else ""
    return DataError(f"{name}: cannot be read: {(error.strerror or str(error)).lower()}{what}")


def check_zstd(path: Path) -> None:
    """Raise `DataError` when a zstd file ends inside a frame.

    Streaming readers, the engine's too, take such an end for the end of the data.
    """
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    ended = True
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            while chunk:
                if ended:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                try:
                    frame.decompress(chunk)
                except zstandard.ZstdError as error:
                    raise damaged(path, error) from error
                ended = frame.eof
                chunk = frame.unused_data if ended else b""
    if not ended:
        raise damaged(path, EOFError("the zstd frame is not complete"))


def encoding(first: bytes) -> str:
    """Encoding by byte order mark, else UTF-8."""
    for mark, name in (
        (b"\xef\xbb\xbf", "utf-8-sig"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if first.startswith(mark):
            return name
    # Without a mark, UTF-16 of mostly Latin text has a zero in every other byte.
    if len(first) >= 4 and first[1] == 0 and first[3] == 0:
        return "utf-16-le"
    if len(first) >= 4 and first[0] == 0 and first[2] == 0:
        return "utf-16-be"
    return "utf-8"


def decode(data: bytes) -> tuple[str, str | None]:
    """Return text and, where it is neither UTF-8 nor UTF-16, a note on how it was read."""
    name = encoding(data)
    try:
        return data.decode(name), None
    except UnicodeDecodeError as error:
        note = f"not valid UTF-8 (byte {error.start}): read as Windows-1252"
        return data.decode("cp1252", errors="replace"), note
