"""Tables in zip archives, Arrow files and folders named like columns; columns in memory of any kind."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError

USERS = pl.DataFrame(
    {"user": [f"u{i}" for i in range(40)], "variant": ["A", "B"] * 20, "amount": [float(i % 7) for i in range(40)]}
)
AMOUNT = "Mean(amount, better='higher')"


def difference(log: Any) -> float:
    return rs.experiment(log, AMOUNT).contrasts[0].difference


EXPECTED = sum(i % 7 for i in range(1, 40, 2)) / 20 - sum(i % 7 for i in range(0, 40, 2)) / 20


def test_a_zip_archive_with_one_file_is_read(tmp_path: Path) -> None:
    place = tmp_path / "users.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._users.csv", "x")
        archive.writestr("users.csv", USERS.write_csv())
    found = rs.experiment(place, AMOUNT)
    assert found.contrasts[0].difference == pytest.approx(EXPECTED)
    assert found.log.source.path == str(place)
    assert found.log.source.sha256() == hashlib.sha256(place.read_bytes()).hexdigest()  # type: ignore[misc] # it has one
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("other.csv", "x")
    with pytest.raises(InputError, match="a zip archive with 2 files: unzip it first, and name one file"):
        difference(place)
    place.write_bytes(place.read_bytes()[:200])
    with pytest.raises(InputError, match="the zip archive cannot be read"):
        difference(place)


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_arrow_files_and_streams_are_read(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "users.arrow"
    (USERS.write_ipc_stream if kind == "stream" else USERS.write_ipc)(place)
    assert difference(place) == pytest.approx(EXPECTED)
    place.write_bytes(place.read_bytes()[:-100])
    with pytest.raises(
        InputError, match=rf"users\.arrow: the Arrow IPC {kind} cannot be read \(.*\): fetch or copy it again"
    ):
        difference(place)


def test_folders_named_like_columns_are_columns(tmp_path: Path) -> None:
    for name in "AB":
        folder = tmp_path / "rows" / f"variant={name}" / "day=2024-05-01"
        folder.mkdir(parents=True)
        USERS.filter(pl.col("variant") == name).drop("variant").write_parquet(folder / "part-0.parquet")
    log = rs.read_log(tmp_path / "rows")
    assert {"unit_id", "variant"} <= set(log.roles)
    assert log.attributes == ("day",)
    assert difference(tmp_path / "rows") == pytest.approx(EXPECTED)
    assert difference(str(tmp_path / "rows" / "*" / "*" / "*.parquet")) == pytest.approx(EXPECTED)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pl.Series])
def test_columns_of_a_dict_may_be_of_any_kind(kind: Any) -> None:
    columns = {name: kind(USERS[name].to_list()) for name in USERS.columns}
    assert difference(columns) == pytest.approx(EXPECTED)
    assert difference({**columns, "user": range(40)}) == pytest.approx(EXPECTED)


def test_a_dict_without_columns_is_refused() -> None:
    for odd in ({"user": 5}, {"user": "abc"}, {"user": np.zeros((2, 2))}):
        with pytest.raises(InputError, match="an object, not rows"):
            rs.read_log(odd)


def test_two_columns_of_one_table_may_hold_the_same() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({**USERS.to_dict(as_series=False), "x": [0] * 40, "y": [0] * 40})
    assert difference(table) == pytest.approx(EXPECTED)


def test_positions_below_the_first_are_refused_where_they_are_used() -> None:
    rows = USERS.with_columns(position=pl.Series([-1, 1] * 20), click=pl.lit(1), item=pl.lit("a"))
    with pytest.raises(DataError, match="a row has position -1: positions count from 1"):
        rs.experiment(rows, "CTR", slices="position")
    with pytest.raises(DataError, match="a row has position -1: positions count from 1"):
        rs.online(rows, "CTR", by="position")


def test_some_steps_back_in_every_unit_are_found() -> None:
    hours = [hour - 5 * (hour % 3 == 0) for hour in range(600)]
    start = 1_714_521_600
    rows = pl.DataFrame(
        {
            "user": [f"u{i // 6}" for i in range(600)],
            "time": [start + 3600 * hour for hour in hours],
            "item": "a",
            "click": 1,
        }
    )
    assert "RS607" in {finding.code for finding in rs.check(rows).findings}
    mixed = rows.sample(fraction=1.0, shuffle=True, seed=1)
    assert "RS607" not in {finding.code for finding in rs.check(mixed).findings}  # rows in no order
