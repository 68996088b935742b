"""Times of logs: in every unit since 1970, in text with and without a zone, and those that are none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
SECONDS = int(NOON.timestamp())


def times(values: list[Any]) -> list[Any]:
    log = rs.read_log({"item": ["a"] * len(values), "time": values})
    return log.collect(log.frame.select("timestamp"))["timestamp"].to_list()


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(SECONDS, id="seconds"),
        pytest.param(SECONDS * 10**3, id="milliseconds"),
        pytest.param(SECONDS * 10**6, id="microseconds"),
        pytest.param(SECONDS * 10**9, id="nanoseconds"),
        pytest.param(float(SECONDS), id="seconds with a point"),
        pytest.param(str(SECONDS), id="seconds as text"),
        pytest.param("2024-05-01T12:00:00Z", id="with Z"),
        pytest.param("2024-05-01T14:00:00+0200", id="with a zone"),
        pytest.param("2024-05-01 12:00:00", id="without a zone"),
    ],
)
def test_a_time_is_the_same_however_it_is_written(value: Any) -> None:
    assert times([value]) == [NOON]


def test_times_before_1973_are_refused_unless_later_ones_show_the_unit() -> None:
    for numbers in ([-1, -86_400], [None, float("nan"), 0.0]):
        with pytest.raises(InputError, match="too small for times after 1973"):
            times(numbers)
    assert times([0.0, 1_715_472_000]) == [datetime(1970, 1, 1, tzinfo=UTC), datetime(2024, 5, 12, tzinfo=UTC)]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("1e400", id="infinity as text"),
        pytest.param("9" * 30, id="beyond the calendar as text"),
        pytest.param("-1019-11-24T00:00:00Z", id="before the year 1"),
        pytest.param(float("inf"), id="infinity"),
        pytest.param(9e18 * 1e9, id="beyond the calendar"),
    ],
)
def test_what_lies_beyond_the_calendar_is_refused_with_its_row(value: Any) -> None:
    frame = pl.DataFrame(
        {
            "item": ["a", "b"],
            "time": ["2024-05-01T12:00:00Z" if "T" in str(value) else type(value)("1714564800"), value],
        }
    )
    with pytest.raises(
        InputError,
        match=r"^log row 2, column time: .*: a time is like 2024-05-01T12:30:00Z, or seconds since 1970; other forms need time_format=",
    ):
        rs.read_log(frame)
