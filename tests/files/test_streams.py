"""Streams, devices, frames to skip, and first lines that are longer than what is looked at first."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.raw import check_lines, open_raw

ZSTD: Any = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
LINES = [f"q{i // 9} Q0 d{i} {i % 9 + 1} {9 - i % 9} tag" for i in range(90)]
DATA = "".join(f"{line}\n" for line in LINES).encode()
SKIPPED = b"\x52\x2a\x4d\x18\x05\x00\x00\x00abcde"  # a frame of 5 bytes that zstd passes over
QRELS = {f"q{i}": {f"d{9 * i}": 1} for i in range(10)}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(ZSTD.compress(DATA), id="one frame"),
        pytest.param(SKIPPED + ZSTD.compress(DATA), id="a frame to skip first"),
        pytest.param(ZSTD.compress(DATA[:100]) + SKIPPED + ZSTD.compress(DATA[100:]), id="a frame to skip between"),
    ],
)
def test_zstd_is_read_whatever_its_frames(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.run.zst").write_bytes(data)
    (tmp_path / "a.run").write_bytes(DATA)
    packed, plain = (rs.evaluate(QRELS, tmp_path / name, ["nDCG@3", "AP"]) for name in ("a.run.zst", "a.run"))
    assert [row["value"] for row in packed.to_dicts()] == [row["value"] for row in plain.to_dicts()]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(ZSTD.compress(DATA)[:-6], "ends too early", id="cut short"),
        pytest.param(ZSTD.compress(DATA) + b"beyond", "is damaged", id="bytes beyond"),
        pytest.param(SKIPPED, "no rows", id="nothing but a frame to skip"),
    ],
)
def test_damaged_zstd_is_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "a.run.zst").write_bytes(data)
    with pytest.raises(InputError, match=rf"^[^\n]*{said}[^\n]*$"):
        rs.evaluate(QRELS, tmp_path / "a.run.zst", ["P@3"])


@pytest.mark.parametrize("device", ["/dev/full", "/dev/zero", "/dev/urandom"])
def test_a_device_is_refused(device: str) -> None:
    if not Path(device).exists():
        pytest.skip(f"no {device}")
    with pytest.raises(InputError, match=f"^{device}: a device, not a file$"):
        rs.evaluate(QRELS, device, ["P@3"])


def test_an_empty_device_is_an_empty_file() -> None:
    if not Path("/dev/null").exists():
        pytest.skip("no /dev/null")
    with pytest.raises(InputError, match="the file is empty"):
        rs.evaluate(QRELS, "/dev/null", ["P@3"])


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "zstd"])
def test_a_first_line_is_judged_whole(tmp_path: Path, packed: bool) -> None:
    rows = [{"note": "x" * 100_000, "query_id": f"q{i}", "doc_id": f"d{9 * i}", "score": 1} for i in range(10)]
    files = {
        "a.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "a.csv": ",".join(["note" + "x" * 100_000, "query_id", "doc_id", "score"]) + "\nn,q0,d0,1\n",
        "a.run": f"q0 Q0 {'d' * 100_000} 1 2 tag\nq0 Q0 d0 2 1 tag\n",
        "b.run": "# comment\n" * 10_000 + "q0 Q0 d0 1 1 tag\n",
    }
    for name, text in files.items():
        data = ZSTD.compress(text.encode()) if packed else text.encode()
        path = tmp_path / (f"{name}.zst" if packed else name)
        path.write_bytes(data)
        assert rs.evaluate(QRELS, path, ["R@3"], queries="run").to_dicts()[0]["value"] == 1, name


@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.parametrize(
    ("text", "begins"),
    [
        pytest.param(b"", None, id="nothing"),
        pytest.param(b"12345\n12345\n\n\n12345", None, id="as long as may be"),
        pytest.param(b"123456", 0, id="the first"),
        pytest.param(b"12345\n123456\n", 6, id="the second"),
        pytest.param(b"\n\n1\n1234567", 4, id="the last"),
    ],
)
def test_lines_are_measured_over_pieces(text: bytes, begins: int | None, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    if begins is None:
        assert list(check_lines("text", pieces, 5)) == pieces
        return
    with pytest.raises(InputError, match=f"^text: a line is longer .* after {begins} bytes"):
        list(check_lines("text", pieces, 5))


def test_a_long_line_is_refused_where_it_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(DATA + b"x" * 5000)
    with pytest.raises(InputError, match="a line is longer"):
        open_raw(tmp_path / "a.run", "").read(4096)
