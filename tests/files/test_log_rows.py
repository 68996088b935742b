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


# --- rows and columns as objects of Python ----------------------------------------------------------------------------


def test_whole_numbers_among_fractions_are_one_column_of_numbers() -> None:
    log = {"user": ["a", "b", "c", "d"], "revenue": [0, 2.5, None, True]}
    assert rs.online(log, "Mean(revenue)").values[0].value == pytest.approx(3.5 / 3)
    with pytest.raises(InputError, match="one type of cell each"):
        rs.online({"user": ["a", 7], "revenue": [1, 2]}, "Mean(revenue)")


def test_a_list_of_rows_is_a_log() -> None:
    rows = [
        {"user": "a", "item": "x", "clicked": True, "time": datetime(2024, 5, 1, 23)},
        {"user": "b", "item": "x", "clicked": False, "time": datetime(2024, 5, 2, 1), "revenue": 2.5},
    ]
    columns = {name: [row.get(name) for row in rows] for name in ("user", "item", "clicked", "time", "revenue")}
    found = rs.online(rows, "CTR Mean(revenue)", by="day")
    assert found.to_dicts() == rs.online(columns, "CTR Mean(revenue)", by="day").to_dicts()
    assert [row["value"] for row in found.to_dicts()] == [0.5, 2.5]
    unreadable: list[Any] = [[], [1, 2], [{}]]
    for odd in unreadable:
        with pytest.raises(InputError, match="a log is a table"):
            rs.online(odd, "CTR")


def test_parts_of_python_objects_may_hold_times() -> None:
    queries = [
        {"query_id": "q", "client_id": "c", "query_response_hit_ids": ["a", "b"], "timestamp": datetime(2024, 5, 1)}
    ]
    events = [{"query_id": "q", "action_name": "click", "event_attributes": {"object": {"object_id": "b"}}, "timestamp": datetime(2024, 5, 1, 1)}]  # fmt: skip
    assert rs.online({"queries": queries, "events": events}, "CTR")["CTR"] == 0.5
    with pytest.raises(InputError, match=r"timestamp holds .*; a text, a number or null is expected"):
        rs.online({"queries": [queries[0] | {"timestamp": {1}}], "events": events}, "CTR")
