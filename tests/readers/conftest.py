"""Small inputs for the tests of reading."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

Write = Callable[[str, object], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of the given name: text, bytes, or records as JSON lines."""

    def make(name: str, content: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(record) + "\n" for record in content)
        data = content if isinstance(content, bytes) else str(content).encode()
        path.write_bytes(data)
        return path

    return make


@pytest.fixture
def inspect_log() -> Callable[..., dict[str, object]]:
    """Build an Inspect log of samples given as (id, epoch, value); value None is an error."""

    def make(
        samples: list[tuple[object, int, object]],
        *,
        llm: str = "mock/llm",
        task: str = "toy",
        epochs: int = 2,
        status: str = "success",
        scorer: str = "match",
        uuid: str = "",
    ) -> dict[str, object]:
        found = []
        for i, (name, epoch, value) in enumerate(samples):
            sample: dict[str, object] = {"id": name, "epoch": epoch, "target": "x", "scores": {}}
            if value is None:
                sample["error"] = {"message": "boom"}
            else:
                sample["scores"] = {scorer: {"value": value, "answer": f"a{i}"}}
            if uuid:
                sample["uuid"] = f"{uuid}-{name}-{epoch}"
            found.append(sample)
        ids = sorted({str(name) for name, *_ in samples})
        spec = {
            "model": llm,
            "task": task,
            "dataset": {"name": task, "sample_ids": ids},
            "config": {"epochs": epochs},
        }
        return {"version": 2, "status": status, "eval": spec, "samples": found}

    return make


@pytest.fixture
def zip_zstd() -> Callable[[Path, dict[str, bytes], bool], Path]:
    """Write a ZIP archive with members of method 93; `frames` splits each into two frames."""

    def make(path: Path, members: dict[str, bytes], frames: bool = False) -> Path:
        # Written as stored members first, then patched: no library here writes method 93.
        import zlib

        body, directory = b"", b""
        for name, data in members.items():
            half = len(data) // 2 if frames else 0
            pieces = [data[:half], data[half:]] if frames else [data]
            packed = b"".join(zstandard.compress(piece) for piece in pieces)
            sizes = b"".join(
                n.to_bytes(4, "little") for n in (zlib.crc32(data), len(packed), len(data))
            )
            raw = name.encode()
            fixed = (93).to_bytes(2, "little") + bytes([0, 0, 0x21, 0x5A]) + sizes
            lengths = len(raw).to_bytes(2, "little") + (0).to_bytes(2, "little")
            directory += (
                b"PK\x01\x02\x3f\x00\x3f\x00\x00\x00"
                + fixed
                + lengths
                + bytes(10)
                + len(body).to_bytes(4, "little")
                + raw
            )
            body += b"PK\x03\x04\x3f\x00\x00\x00" + fixed + lengths + raw + packed
        count = len(members).to_bytes(2, "little")
        end = b"PK\x05\x06" + bytes(4) + count + count
        end += len(directory).to_bytes(4, "little") + len(body).to_bytes(4, "little") + bytes(2)
        path.write_bytes(body + directory + end)
        assert zipfile.ZipFile(path).namelist() == list(members)
        return path

    return make
