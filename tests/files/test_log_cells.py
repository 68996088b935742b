"""Columns of logs by their types: numbers, text and categories are read alike, and every other type is refused in one line."""

from __future__ import annotations

import importlib
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError

ROWS = 12
LOG = pl.DataFrame(
    {
        "user": [f"u{i}" for i in range(ROWS)],
        "variant": ["A", "B"] * (ROWS // 2),
        "click": [1, 0, 1] * (ROWS // 3),
        "cost": [float(i) for i in range(ROWS)],
        "item": [f"d{i % 4}" for i in range(ROWS)],
        "position": [1 + i % 3 for i in range(ROWS)],
    }
)
OTHERS = {
    "bytes": [b"%d" % i for i in range(ROWS)],
    "lists": [[i] for i in range(ROWS)],
    "objects": [{"a": i} for i in range(ROWS)],
    "dates": [date(2024, 1, 1 + i) for i in range(ROWS)],
    "times": [datetime(2024, 1, 1 + i) for i in range(ROWS)],
    "hours": [time(i) for i in range(ROWS)],
    "durations": [timedelta(seconds=i) for i in range(ROWS)],
}


@pytest.mark.parametrize("column", LOG.columns)
@pytest.mark.parametrize("cells", [pytest.param(cells, id=name) for name, cells in OTHERS.items()])
def test_other_types_are_refused_with_the_column(column: str, cells: list[Any], tmp_path: Path) -> None:
    frame = LOG.with_columns(pl.Series(column, cells))
    frame.write_parquet(tmp_path / "log.parquet")
    for log in (frame, tmp_path / "log.parquet"):
        with pytest.raises(InputError, match=rf"column {column} is of type \w+") as caught:
            rs.online(log, ["CTR", "Mean(cost)"])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(pl.Series([str(i) for i in range(ROWS)]), id="text"),
        pytest.param(pl.Series([f" {i} " for i in range(ROWS)]), id="text with blanks"),
        pytest.param(pl.Series([str(i) for i in range(ROWS)], dtype=pl.Categorical), id="categories"),
        pytest.param(pl.Series(range(ROWS)).cast(pl.Decimal(10, 2)), id="decimals"),
        pytest.param(pl.Series(range(ROWS), dtype=pl.UInt8), id="small integers"),
    ],
)
def test_a_number_is_the_same_in_every_type(cells: pl.Series) -> None:
    assert rs.online(LOG.with_columns(cells.alias("cost")), "Mean(cost)")["Mean(cost)"] == sum(range(ROWS)) / ROWS


@pytest.mark.skipif(not hasattr(pl, "BaseExtension"), reason="this Polars reads the stored values itself")
def test_decimals_of_a_database_are_numbers(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", minversion="18")
    kind = arrow.opaque(arrow.string(), "numeric", "PostgreSQL")
    cost = arrow.ExtensionArray.from_storage(kind, arrow.array(["1.50", None, "3.25"]))
    table = arrow.table({"user": ["a", "b", "c"], "click": [1, 0, 1], "cost": cost})
    importlib.import_module("pyarrow.parquet").write_table(table, tmp_path / "log.parquet")
    for source in (table, tmp_path / "log.parquet"):
        assert rs.online(source, ["Mean(cost)"])["Mean(cost)"] == pytest.approx(4.75 / 2)


@pytest.mark.parametrize("cells", [pytest.param(OTHERS[name], id=name) for name in ("bytes", "lists", "objects")])
def test_slices_are_of_columns_of_plain_values(cells: list[Any]) -> None:
    with pytest.raises(InputError, match=r"column cost is of type .*: slices are of columns of text, numbers or dates"):
        rs.experiment(LOG.with_columns(pl.Series("cost", cells)), "CTR", slices="cost")


@pytest.mark.parametrize("size", [pytest.param(1e308, id="the largest"), pytest.param(5e-324, id="the smallest")])
@pytest.mark.parametrize("verb", [rs.online, rs.experiment])
def test_numbers_with_squares_that_are_none_are_refused(verb: Any, size: float) -> None:
    with pytest.raises(DataError, match=r"beyond 1e.50 in size, or below 1e-50 and not 0") as caught:
        verb(LOG.with_columns(pl.lit(size).alias("cost")), "Ratio(click, cost)")
    assert "\n" not in str(caught.value)


def test_rows_without_a_variant_are_left_out_and_their_users_stay() -> None:
    log = {
        "user": [f"u{i // 2}" for i in range(80)],
        "variant": [None if i % 2 else "AB"[i // 2 % 2] for i in range(76)] + [None] * 4,
        "click": [i % 3 == 0 for i in range(80)],
    }
    found = rs.experiment(log, "CTR")
    said = {one.code: one.message for one in found.warnings if one.code in {"RS605", "RS642"}}
    assert list(said) == ["RS642"]
    texts = [one.message for one in found.warnings if one.code == "RS642"]
    assert texts == [
        "2 users of 40 have no variant, and are left out",
        "38 users of 40 have rows with a variant and rows without one, of which the first count",
    ]
    kept = {"A": [i % 3 == 0 for i in range(0, 76, 4)], "B": [i % 3 == 0 for i in range(2, 76, 4)]}
    assert found["B", "CTR"].difference == pytest.approx(sum(kept["B"]) / 19 - sum(kept["A"]) / 19)


def test_columns_of_arrow_with_equal_cells_are_two_columns() -> None:
    arrow = pytest.importorskip("pyarrow")
    assert rs.read_log(arrow.table({"user": ["a", "b"], "click": [1, 0], "orders": [1, 0]})).rows == 2


@pytest.mark.parametrize("cells", [pytest.param(OTHERS[name], id=name) for name in ("bytes", "lists", "objects")])
def test_attributes_of_queries_are_plain_values(cells: list[Any], tmp_path: Path) -> None:
    table = pl.DataFrame({"query_id": [f"q{i}" for i in range(ROWS)], "kind": cells})
    table.write_parquet(tmp_path / "kinds.parquet")
    qrels, run = {"q0": {"a": 1}}, {"q0": {"a": 1.0}}
    for source in (table, tmp_path / "kinds.parquet"):
        with pytest.raises(
            InputError, match=r"column kind is of type \w+.*: an attribute is a text or a number"
        ) as caught:
            rs.evaluate(qrels, run, "AP", slices=source)
        assert "\n" not in str(caught.value)


def test_bytes_in_parts_of_a_log_are_left_out() -> None:
    exposures = pl.DataFrame(
        {
            "user_id": ["u1", "u2"],
            "timestamp": ["2024-05-01T12:00:00Z"] * 2,
            "experiment_id": ["e"] * 2,
            "variation_id": ["0", "1"],
        }
    ).with_columns(raw=pl.Series([b"\xff", b"\x00"]))
    orders = pl.DataFrame({"user_id": ["u1"], "timestamp": ["2024-05-01T13:00:00Z"], "value": [3.0], "raw": [b"\xfe"]})
    log = rs.read_log({"exposures": exposures, "spend": orders})
    assert log.frame.collect().sort("unit_id")["spend"].to_list() == [3.0, 0.0]


@pytest.mark.parametrize(
    ("cell", "match"),
    [
        pytest.param("--1", "line 3, column time: '--1': a time is like", id="no time"),
        pytest.param("3", "line 3, column time: '3': a time is like", id="a small number"),
        pytest.param("2024-05-01", "2 times in column time say the zone and 1 does not", id="a time without a zone"),
    ],
)
def test_a_faulty_time_is_named_before_a_missing_zone(cell: str, match: str, tmp_path: Path) -> None:
    times = ["2024-05-01T00:00:00Z", cell, "2024-05-02T00:00:00Z"]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["user,time,click", *(f"u{i},{at},1" for i, at in enumerate(times))]))
    with pytest.raises(InputError, match=match):
        rs.online(path, "CTR")


def test_a_type_that_is_no_id_is_refused_without_advice_on_floats() -> None:
    with pytest.raises(InputError, match=r"column user is of type Binary: an id is a text or a whole number$"):
        rs.online(LOG.with_columns(user=pl.Series([b"u"] * ROWS)), "CTR")


@pytest.mark.parametrize("verb", [rs.check, rs.online])
def test_a_parquet_file_cut_off_is_told_as_such_where_it_could_be_a_log(verb: Any, tmp_path: Path) -> None:
    LOG.write_parquet(tmp_path / "log.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "log.parquet").read_bytes()[:-9])
    with pytest.raises(InputError, match=r"cut\.parquet: not a whole Parquet file"):
        verb(tmp_path / "cut.parquet")


def test_files_of_one_folder_whose_columns_differ_are_told_how(tmp_path: Path) -> None:
    for name, columns in (("one", ["user", "variant", "spent"]), ("two", ["user", "variant", "spend"])):
        pl.DataFrame({column: ["1"] for column in columns}).write_csv(tmp_path / f"{name}.csv")
    with pytest.raises(InputError, match=r"two.csv: its columns differ from .*one.csv \(spend and spent\)"):
        rs.read_log(tmp_path)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_one_folder_are_read_by_the_names_of_their_columns(ending: str, tmp_path: Path) -> None:
    for name, columns in (("one", LOG.columns), ("two", LOG.columns[::-1])):
        place, rows = tmp_path / f"{name}.{ending}", LOG.select(columns)
        rows.write_csv(place) if ending == "csv" else rows.write_parquet(place)
    log = rs.read_log(tmp_path)
    assert log.collect(log.frame.select("unit_id", "item_id")).rows() == 2 * LOG.select("user", "item").rows()


@pytest.mark.parametrize("files", [1, 2])
def test_the_files_of_a_folder_have_the_columns_that_its_folders_name(files: int, tmp_path: Path) -> None:
    for name in ("A", "B")[:files]:
        (tmp_path / f"variant={name}").mkdir()
        pl.DataFrame({"user": [f"u{name}"], "spent": [1.0]}).write_csv(tmp_path / f"variant={name}" / "rows.csv")
    log = rs.read_log(tmp_path)
    found = log.collect(log.frame.select("unit_id", "variant").sort("unit_id")).rows()
    assert found == [("uA", "A"), ("uB", "B")][:files]


@pytest.mark.parametrize("sound", [0, 1, 2], ids=["alone", "after a sound one", "after two"])
def test_damage_in_a_file_of_a_folder_is_told_with_the_file(sound: int, tmp_path: Path) -> None:
    path = tmp_path / "z.parquet"
    LOG.write_parquet(path, compression="uncompressed")
    for name in ("a", "b")[:sound]:
        LOG.with_columns(pl.col("user") + name).write_parquet(tmp_path / f"{name}.parquet")
    assert rs.online(tmp_path, "CTR")["CTR"] == 2 / 3
    data = bytearray(path.read_bytes())
    at = data.index(b"PAR1") + 4  # the head of the first page
    data[at : at + 8] = bytes(255 - byte for byte in data[at : at + 8])
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"z\.parquet: not a whole Parquet file"):
        rs.online(tmp_path, "CTR")


def test_columns_of_two_lengths_are_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match=r"lists as columns need one length and one type of cell each: \S.*$"):
        rs.read_log({"user": ["a", "b"], "click": [1]})
