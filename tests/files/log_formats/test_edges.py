"""Just what a format or a time is, and what only looks like it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError


def cells(rows: Any, name: str) -> list[Any]:
    log = rs.read_log(rows)
    return log.collect(log.frame.select(name))[name].to_list()


def test_chances_without_features_of_users_are_no_open_bandit(tmp_path: Path) -> None:
    rows = {
        "timestamp": ["2024-05-01T10:00:00Z"],
        "item_id": [1],
        "position": [2],
        "click": [1],
        "propensity_score": [0.5],
    }
    path = tmp_path / "log.csv"
    pl.DataFrame(rows).write_csv(path)
    assert rs.read_log(path).source.notes[0].startswith(f"read {path} as a log: ")
    with pytest.raises(
        InputError,
        match=r"no file of Open Bandit with the columns click, item_id, position, timestamp, propensity_score, user_feature_0 \.\.\.$",
    ):
        rs.read_log(path, log_format="obd")
    pl.DataFrame({**rows, "user_feature_0": ["f"]}).write_csv(path)
    assert rs.read_log(path).source.notes[0].startswith(f"read {path} as Open Bandit: 1 impression: ")


def test_one_id_with_a_blank_is_enough_to_strip_it() -> None:
    for ids in (["a ", "b"], ["a", "\tb"], [" a", "b "], ["a", "b"]):
        assert cells({"user": ids, "click": [1, 0]}, "unit_id") == ["a", "b"]
    many = [f"u{n}{' ' * (n % 3 == 0)}" for n in range(999)]  # rows are read some at a time
    assert cells({"user": many, "click": [1] * 999}, "unit_id") == [f"u{n}" for n in range(999)]


@pytest.mark.parametrize("number", [100_000_000, 100_000_001])
def test_a_written_number_among_times_is_one_from_1973_on(number: int) -> None:
    at = datetime(1973, 3, 3, 9, 46, 40 + number % 10, tzinfo=UTC)
    for other in ("2024-05-01T12:00:00", "2024-05-01T12:00:00Z"):
        assert cells({"item": ["a", "b"], "time": [str(number), other]}, "timestamp")[0] == at
        with pytest.raises(InputError, match=r"log row 1, column time: '99999999': a time is like"):
            cells({"item": ["a", "b"], "time": ["99999999", other]}, "timestamp")


@pytest.mark.parametrize(
    ("lines", "odd"),
    [("s\t0\tQ\tq\tr\ta\nodd\ns\t5\tC\ta\nodder\n", 2), ("s\t0\tQ\tq\tr\ta\ns\t5\tC\ta\nodd\n", 3)],
    ids=["the first of two", "the only one"],
)
def test_the_first_line_at_fault_is_named(lines: str, odd: int, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(lines)
    with pytest.raises(InputError, match=rf"log\.txt line {odd}: 'odd': a line is SESSION TIME Q"):
        rs.read_log(tmp_path / "log.txt")


def test_a_probability_that_is_empty_is_one_that_is_unknown() -> None:
    rows = {"list_id": ["l", "l"], "item": ["a", "b"], "position": [1, 2], "click": [1, 0]}
    for name in ("p_item_pos", "p_prefix", "p_slate"):
        for chances, count in (([0.5, None], 0), ([0.5, 1.0], 0), ([0.5, 1.01], 1), ([0.0, 0.5], 1)):
            found = rs.check({**rows, name: chances}, select="RS608").findings
            assert [one.count for one in found] == [count] * (count > 0), (name, chances)


def test_pages_that_show_nothing_are_counted_and_those_that_show_one_url_are_not(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("s\t0\tQ\tq\tr\ns\t5\tQ\tp\tr\ta\ns\t9\tQ\tq\tr\n")
    notes = rs.read_log(tmp_path / "log.txt").source.notes
    assert "2 pages of results showed nothing, and have no row" in notes
    (tmp_path / "log.txt").write_text("s\t5\tQ\tp\tr\ta\n")
    assert not [note for note in rs.read_log(tmp_path / "log.txt").source.notes if "showed nothing" in note]
