"""What gzip packed is unpacked as the standard library does it, and what that refuses is refused."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from pathlib import Path

import pytest

from rankscope.files import raw
from rankscope.files.raw import open_raw

RNG = random.Random(1)
FLAGS = 3  # the place of a member's flags, of which zlib refuses those without a meaning, as gzip itself does


def unpacked(file: io.BufferedIOBase) -> bytes | None:
    """All of it; None where it is damaged or ends too early."""
    try:
        return file.read()
    except (OSError, EOFError, zlib.error):
        return None


def archive() -> bytes:
    """Members of several sizes, with zeros or odd bytes after them."""
    members = []
    for _ in range(RNG.choice([1, 1, 2, 3])):
        text = bytes(RNG.choice(b"abc 12\n") for _ in range(RNG.choice([0, 1, 5, 50, 3000]))) * RNG.choice([1, 1, 300])
        members.append(gzip.compress(text, RNG.choice([0, 1, 9])))
    return (b"\0" * RNG.choice([0, 0, 3])).join(members) + RNG.choice([b"", b"", b"\0", b"\0" * 600, b"x", b"\x1f\x8b"])


@pytest.mark.parametrize("piece", [7, 100, 1 << 18], ids="pieces of {} bytes".format)
@pytest.mark.parametrize("harm", ["none", "cut", "a bit turned"])
def test_archives_are_unpacked_as_by_the_standard_library(
    piece: int, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw, "PACKED_PIECE", piece)
    monkeypatch.setattr(raw, "LARGE_PACKED", -1)
    whole = 0
    for _ in range(100):
        data = archive()
        at = RNG.randrange(FLAGS + 1, len(data))
        if harm == "cut":
            data = data[:at]
        elif harm == "a bit turned":
            data = data[:at] + bytes([data[at] ^ (1 << RNG.randrange(8))]) + data[at + 1 :]
        wanted = unpacked(gzip.GzipFile(fileobj=io.BytesIO(data)))
        if data[FLAGS + 1 :].find(b"\x1f\x8b\x08") >= 0 and harm == "a bit turned" and wanted is not None:
            continue  # the flags of a later member may be what was turned
        assert unpacked(open_raw_of(data).unpack()) == wanted
        whole += wanted is not None
    assert whole if harm == "none" else whole < 100


def open_raw_of(data: bytes) -> raw.Raw:
    """The bytes as an input that stands on a disk."""
    return raw.Raw("run.txt.gz", data, data[: raw.HEAD], (0, len(data)))


def test_a_file_on_disk_is_closed_after_it_was_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw, "LARGE_PACKED", -1)
    path = tmp_path / "run.txt.gz"
    path.write_bytes(gzip.compress(b"1 Q0 a 1 2.5 x\n" * 9) + gzip.compress(b"2 Q0 a 1 2.5 x\n"))
    with open_raw(path, "a run").unpack() as file:
        assert file.read() == b"1 Q0 a 1 2.5 x\n" * 9 + b"2 Q0 a 1 2.5 x\n"
    assert file.closed
