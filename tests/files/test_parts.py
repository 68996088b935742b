"""Parts of files: cut where queries end, in any size, and together the whole."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.files import open_run, parquet, parts, raw, read_run
from rankscope.files.raw import open_raw

SIZES = [1, 7, 40, 333, 1 << 20]


def lines(queries: list[int], start: int = 0) -> list[str]:
    """TREC lines of as many documents a query; a few queries have ids that begin alike."""
    names = [f"{1 + number // 3}{'0' * (number % 3)}" for number in range(start, start + len(queries))]
    return [
        f"{query} Q0 d{doc} {doc + 1} {9 - doc / 8:g} tag\n"
        for query, count in zip(names, queries, strict=True)
        for doc in range(count)
    ]


def pieces(path: Path, size: int) -> list[bytes]:
    return [piece() for piece in parts.cut(open_raw(path, ""), parts.QueryPlace.first(" "), size)]


def queries_of(data: bytes) -> list[bytes]:
    return [line.split()[0] for line in data.splitlines()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("ending", ["\n", ""], ids=["a last line that ends", "a last line without an end"])
def test_parts_are_the_file_and_hold_whole_queries(tmp_path: Path, size: int, packed: bool, ending: str) -> None:
    text = ("".join(lines([1, 30, 1, 1, 7, 200, 2]))[:-1] + ending).encode()
    path = tmp_path / "run"
    path.write_bytes(gzip.compress(text) if packed else text)
    found = pieces(path, size)
    assert b"".join(found) == text
    assert len(found) == 1 or size < len(text)
    seen = [set(queries_of(piece)) for piece in found]
    assert sum(map(len, seen)) == len(set[bytes]().union(*seen))


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.sampled_from(SIZES), st.booleans())
@settings(max_examples=40)
def test_any_file_is_the_sum_of_its_parts(tmp_path_factory: Any, queries: list[int], size: int, packed: bool) -> None:
    path = tmp_path_factory.mktemp("parts") / "run"
    text = "".join(lines(queries)).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    found = pieces(path, size)
    assert b"".join(found) == text
    assert [len(set(queries_of(piece))) > 0 for piece in found] == [True] * len(found)


def test_an_archive_of_several_members_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "run.gz"
    first, second = ("".join(lines([20], number)).encode() for number in (0, 1))
    path.write_bytes(gzip.compress(first) + gzip.compress(second))
    assert b"".join(pieces(path, 100)) == first + second


@pytest.mark.parametrize("rows", [1, 2, 5, 64, 10_000])
@pytest.mark.parametrize("groups", [1, 3, 1000])
def test_parts_of_parquet_hold_whole_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, groups: int
) -> None:
    monkeypatch.setattr(parquet, "PART", rows)
    monkeypatch.setattr(parquet, "BEYOND", 1)
    monkeypatch.setattr(raw, "SMALL", 0)
    sizes = [1, 5, 1, 1, 90, 2, 17, 3]
    query = np.repeat([f"q{i}" for i in range(len(sizes))], sizes)
    frame = pl.DataFrame(
        {"query_id": query, "doc_id": [f"d{i}" for i in range(len(query))], "score": -np.arange(float(len(query)))}
    )
    frame.write_parquet(tmp_path / "run.parquet", row_group_size=groups)
    found = open_run(tmp_path / "run.parquet")
    read = [part() for part in found.reads()]  # type: ignore[union-attr]
    tables = [run.frame for run, _ in read]
    assert pl.concat(tables).rows() == read_run(tmp_path / "run.parquet").frame.rows()
    seen = [query for table in tables for query in table["query_id"].unique()]
    assert sorted(seen) == sorted(set(seen))
