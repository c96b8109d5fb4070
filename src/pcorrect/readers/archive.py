"""ZIP archives whose members may be compressed with Zstandard, which Python cannot read yet."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from types import TracebackType

from pcorrect.errors import DataError

ZSTD = 93
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RecursionError)


class Archive:
    """Read-only access to the JSON members of a ZIP archive.

    Parameters
    ----------
    path : Path
    name : str
        Its name in messages.

    Raises
    ------
    DataError
        The file is not a complete archive.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._file = path.open("rb")
        try:
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            self._file.close()
            raise DataError(f"{name}: not a complete archive ({error}); was it cut off?") from error
        # A later member replaces an earlier one of the same name.
        self._members = {info.filename: info for info in self._zip.infolist()}

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._file.close()

    @property
    def members(self) -> list[str]:
        """Names of the members."""
        return list(self._members)

    def json(self, member: str) -> object:
        """Parse a member.

        Raises
        ------
        DataError
            The member is damaged, encrypted or not JSON.
        """
        info = self._members[member]
        if info.flag_bits & 1:
            raise DataError(
                f"{self.name}: member {member!r} is encrypted; write the archive without a password"
            )
        try:
            return json.loads(self._read(info).decode("utf-8", "surrogatepass"))
        except _DAMAGE as error:
            raise DataError(f"{self.name}: member {member!r} is damaged ({error})") from error

    def _read(self, info: zipfile.ZipInfo) -> bytes:
        if info.compress_type != ZSTD:
            try:
                return self._zip.read(info)
            except NotImplementedError as error:
                raise ValueError(str(error)) from error
        import zstandard

        # The local header repeats the name and has an extra field of its own length.
        self._file.seek(info.header_offset)
        local = self._file.read(30)
        skip = int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
        self._file.seek(info.header_offset + 30 + skip)
        raw = self._file.read(info.compress_size)
        try:
            # Members beyond 200 MiB are several frames.
            reader = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
            data = reader.read()
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("wrong checksum")
        return data
