"""Damaged Parquet: what changes in one byte gives a value or one line, and nothing ends the process or reaches stderr."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.made.samples import sampled

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.parquet import DamageError, Thrift, check_pages, read_footer

ROWS = [(f"q{i // 8}", f"d{i * 7 % 50}-{i % 8}", 8.0 - i % 8 + i / 100) for i in range(24)]
FRAME = pl.DataFrame(ROWS, schema=["query_id", "doc_id", "score"], orient="row")
QRELS = {"q0": {"d0-0": 1}, "q1": {"d6-0": 1}, "q2": {"d12-0": 1}}
CHILD = """
import json, os, sys
import rankscope as rs
path, changes = sys.argv[1], json.loads(sys.argv[2])
data = open(path, "rb").read()
counts = {}
for at, flip in changes:
    changed = bytearray(data)
    changed[at] ^= flip
    open("changed.parquet", "wb").write(changed)
    try:
        rs.evaluate({"q0": {"d0-0": 1}, "q1": {"d6-0": 1}}, "changed.parquet", ["P@3"])
        said = "a value"
    except rs.RankscopeError as error:
        said = "a line" if "\\n" not in str(error) else repr(error)
    counts[said] = counts.get(said, 0) + 1
print(json.dumps(counts))
"""


def write_pyarrow(path: Path, need: Callable[[str], Any]) -> None:
    """As pyarrow writes, with the newer pages and encodings."""
    need("pyarrow")
    import pyarrow.parquet as pq

    encodings = {"query_id": "DELTA_BYTE_ARRAY", "doc_id": "DELTA_LENGTH_BYTE_ARRAY", "score": "BYTE_STREAM_SPLIT"}
    pq.write_table(
        FRAME.to_arrow(), path, data_page_version="2.0", use_dictionary=False, column_encoding=encodings, compression="none"
    )  # fmt: skip


def write_duckdb(path: Path, need: Callable[[str], Any]) -> None:
    """As DuckDB writes."""
    duckdb = need("duckdb")
    frame = FRAME  # noqa: F841 - DuckDB finds it by its name
    duckdb.sql(f"copy (select * from frame) to '{path}' (format parquet)")


WRITERS: dict[str, Callable[[Path, Callable[[str], Any]], None]] = {
    "polars": lambda path, _: FRAME.write_parquet(path),
    "polars, not packed": lambda path, _: FRAME.write_parquet(path, compression="uncompressed"),
    "polars, snappy in groups": lambda path, _: FRAME.write_parquet(path, compression="snappy", row_group_size=8),
    "polars, gzip": lambda path, _: FRAME.write_parquet(path, compression="gzip"),
    "pyarrow": write_pyarrow,
    "duckdb": write_duckdb,
}


@pytest.mark.parametrize("writer", sampled(WRITERS, 1))
def test_a_changed_byte_gives_a_value_or_a_line(tmp_path: Path, writer: str, need: Callable[[str], Any]) -> None:
    path = tmp_path / "run.parquet"
    WRITERS[writer](path, need)
    # the lowest bit of every byte: it turns a run of equal levels into a packed one, which ended the process
    changes = [(at, flip) for at in range(path.stat().st_size) for flip in ((1, 0x80) if at % 5 == 0 else (1,))]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), json.dumps(changes)], cwd=tmp_path, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    counts = json.loads(done.stdout)
    assert set(counts) == {"a value", "a line"}
    assert sum(counts.values()) == len(changes)


@pytest.mark.parametrize("size", [0, 4, 11, 12, 100, -1, -4, -8, -9])
def test_a_file_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    data = io.BytesIO()
    FRAME.write_parquet(data)
    (tmp_path / "run.parquet").write_bytes(data.getvalue()[:size])
    with pytest.raises(
        InputError, match=r"^\S+run.parquet: (not a whole Parquet file|the file is empty|.*TREC run)[^\n]*$"
    ):
        rs.evaluate(QRELS, tmp_path / "run.parquet", ["P@3"])


def test_what_is_written_is_sound() -> None:
    frame = pl.DataFrame({
        "text": ["a", None, "b"] * 500, "lists": [[1], [], None] * 500, "deep": [{"a": {"b": i}} for i in range(1500)],
        "whole": list(range(1500)), "truth": [True, None, False] * 500,
    })  # fmt: skip
    for compression in ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"):
        file = io.BytesIO()
        frame.write_parquet(file, compression=compression, row_group_size=400)
        data = file.getvalue()

        def read(at: int, size: int, data: bytes = data) -> bytes:
            return data[at : at + size]

        footer = read_footer(read, len(data))
        assert (footer.rows, [chunk.name for chunk in footer.chunks[:5]]) == (1500, frame.columns)
        for chunk in footer.chunks:
            check_pages(read, chunk, footer.start)


def test_thrift_is_read_as_it_is_defined() -> None:
    # field 1 an i32 of 150 (zigzag 300), field 3 the text "ab", field 4 a list of two i32, -1 and 1, field 5 true
    data = bytes([0x15, 0xAC, 0x02, 0x28, 2, 97, 98, 0x19, 0x25, 1, 2, 0x11, 0])
    assert Thrift(data).struct() == {1: 150, 3: b"ab", 4: [-1, 1], 5: True}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"\x15" + b"\xff" * 12, "without an end", id="a number without an end"),
        pytest.param(b"\x1c" * 100, "too deep", id="structs in structs"),
        pytest.param(b"\x1e\x00", "no known kind", id="a kind that is none"),
    ],
)
def test_what_is_no_thrift_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(DamageError, match=said):
        Thrift(data).struct()


def test_an_encrypted_file_is_told(tmp_path: Path) -> None:
    file = io.BytesIO()
    FRAME.write_parquet(file)
    (tmp_path / "run.parquet").write_bytes(file.getvalue()[:-1] + b"E")
    with pytest.raises(InputError, match="the file is encrypted"):
        rs.evaluate(QRELS, tmp_path / "run.parquet", ["P@3"])


def test_what_is_written_to_stderr_meanwhile_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    from rankscope.files.parquet import stderr

    with stderr.hold(), stderr.hold():
        os.write(2, b"a word of another library\n")
    assert capfd.readouterr().err == "a word of another library\n"


def test_what_a_panic_tells_is_not_kept(capfd: pytest.CaptureFixture[str]) -> None:
    from rankscope.files.parquet import stderr

    def panic() -> None:
        with stderr.hold():
            os.write(2, b"thread panicked\n")
            raise pl.exceptions.PanicException

    with pytest.raises(pl.exceptions.PanicException):
        panic()
    assert capfd.readouterr().err == ""
