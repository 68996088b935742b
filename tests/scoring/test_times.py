"""How the times of a log are read: forms, zones, and the days that are used."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError

DAY_FIRST = ["03/04/2024", "25/04/2024"]


def log_at(times: Any) -> pl.DataFrame:
    """One shown item per time."""
    return pl.DataFrame({"item": ["x"] * len(times), "clicked": [1] + [0] * (len(times) - 1), "time": times})


def days_of(log: rs.Log) -> list[date | None]:
    """The day of each row."""
    return log.collect(log.frame.select(pl.col("timestamp").dt.date()))["timestamp"].to_list()


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        ("%d/%m/%Y", ["03/04/2024", "25/04/2024"]),
        ("%m/%d/%Y", ["04/03/2024", "04/25/2024"]),
        ("%d.%m.%y %H:%M", ["03.04.24 23:30", "25.04.24 00:00"]),
        ("%b %d, %Y %I:%M %p", ["Apr 03, 2024 11:30 PM", "Apr 25, 2024 01:00 AM"]),
        ("%Y%m%d", [20240403, 20240425]),
        ("%d/%m/%Y %H:%M %z", ["04/04/2024 01:00 +0200", "25/04/2024 12:00 +0200"]),
    ],
    ids=["European", "American", "two digits", "words", "whole numbers", "zone"],
)
def test_times_in_a_form_are_the_days_they_name(form: str, texts: list[Any]) -> None:
    log = rs.read_log(log_at(texts), time_format=form)
    assert days_of(log) == [date(2024, 4, 3), date(2024, 4, 25)]


def test_dates_that_may_be_two_days_are_refused_with_the_option() -> None:
    with pytest.raises(InputError, match=r"'03/04/2024': .*time_format=, like %d/%m/%Y"):
        rs.read_log(log_at(DAY_FIRST))


def test_a_time_in_another_form_is_named_with_its_row() -> None:
    with pytest.raises(InputError, match="row 2, column time: '25/04/2024' is not in the form %m/%d/%Y"):
        rs.read_log(log_at(DAY_FIRST), time_format="%m/%d/%Y")


def test_empty_times_in_a_form_are_unknown() -> None:
    assert days_of(rs.read_log(log_at(["03/04/2024", "", None]), time_format="%d/%m/%Y")) == [
        date(2024, 4, 3),
        None,
        None,
    ]


@pytest.mark.parametrize("form", ["%q", "day", "%d/%m", "%d/%m/%Y %H", "", 5])
def test_forms_without_a_day_are_refused(form: Any) -> None:
    with pytest.raises(InputError, match="a form has the day, month and year"):
        rs.read_log(log_at(DAY_FIRST), time_format=form)


def test_a_form_for_a_column_that_holds_times_is_refused() -> None:
    with pytest.raises(InputError, match="time_format= is for times as text"):
        rs.read_log(log_at([datetime(2024, 4, 3)]), time_format="%d/%m/%Y")


def test_days_are_local_days_in_the_zone() -> None:
    times = ["2024-05-01T21:59:00Z", "2024-05-01T22:00:00Z", "2024-12-01T22:30:00Z", "2024-12-01T23:00:00Z"]
    log = rs.read_log(log_at(times), time_zone="Europe/Berlin")  # two hours ahead in summer, one in winter
    assert days_of(log) == [date(2024, 5, 1), date(2024, 5, 2), date(2024, 12, 1), date(2024, 12, 2)]
    assert days_of(rs.read_log(log_at(times))) == [date(2024, 5, 1)] * 2 + [date(2024, 12, 1)] * 2
    assert "days are days in Europe/Berlin" in log.source.notes


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "America/Sao_Paulo"])
@pytest.mark.parametrize(
    "dates",
    [[20181104, 20181105], ["2018-11-04", "2018-11-05"], [date(2018, 11, 4), date(2018, 11, 5)]],
    ids=["numbers", "texts", "dates"],
)
def test_a_date_is_the_same_day_in_every_zone(zone: str, dates: list[Any]) -> None:
    # 2018-11-04 begins at one in São Paulo
    assert days_of(rs.read_log(log_at(dates), time_zone=zone)) == [date(2018, 11, 4), date(2018, 11, 5)]


def test_an_unknown_zone_is_refused_with_a_near_one() -> None:
    with pytest.raises(InputError, match="'Europe/Berln' is unknown, did you mean Europe/Berlin"):
        rs.read_log(log_at(["2024-05-01"]), time_zone="Europe/Berln")


@pytest.mark.parametrize("zone", ["Mars", "", 5])
def test_an_unknown_zone_with_no_near_one_is_refused_with_an_example(zone: Any) -> None:
    with pytest.raises(InputError, match=f"^time zone '{zone}' is unknown: a zone is like Europe/Berlin$"):
        rs.read_log(log_at(["2024-05-01"]), time_zone=zone)


@pytest.mark.parametrize(("zone", "said"), [("UTC", []), ("Asia/Tokyo", ["days are days in Asia/Tokyo"])])
def test_notes_say_the_zone_of_times_and_of_days(zone: str, said: list[str]) -> None:
    def notes(*times: Any) -> list[str]:
        return [note for note in rs.read_log(log_at(times), time_zone=zone).source.notes if "read log as" not in note]

    naive, dates = "column time has no time zone: read as UTC", "column time holds dates: read as days in Asia/Tokyo"
    assert notes("2024-05-01T12:00:00Z", "2024-05-02T00:00:00+09:00") == said
    assert notes("2024-05-01T12:00:00", "2024-05-02T00:00:00") == [naive, *said]
    assert notes("2024-05-01", "2024-05-02") == ([dates] if said else [naive])
    assert notes(20240501, 20240502) == ([dates] if said else ["column time holds dates like 20240502: read as UTC"])
    # midnights in UTC with a zone are times and no dates
    assert notes("2024-05-01T00:00:00Z", "2024-05-02T00:00:00Z") == said


def test_rows_outside_the_days_are_left_out_and_counted() -> None:
    times = [f"2024-05-0{day}T{hour:02}:00:00Z" for day in range(1, 6) for hour in (0, 12, 23)]
    log = rs.read_log(log_at(times), start="2024-05-02", end=date(2024, 5, 4))
    assert log.rows == 3 * 3
    assert log.source.notes[-1] == "6 rows left out: days from 2024-05-02 to 2024-05-04 are used"
    local = rs.read_log(log_at(times), time_zone="Europe/Berlin", end="2024-05-01")
    assert local.rows == 2  # 23:00 is after midnight in Berlin


def test_rows_without_a_time_are_outside_all_days() -> None:
    log = rs.read_log(log_at(["2024-05-02", None]), start="2024-05-01")
    assert log.rows == 1
    assert "1 row left out" in log.source.notes[-1]


def test_days_without_rows_and_wrong_days_are_refused() -> None:
    log = log_at(["2024-05-02", "2024-05-03"])
    with pytest.raises(DataError, match="no row is from 2025-01-01: its days are 2024-05-02 to 2024-05-03"):
        rs.read_log(log, start="2025-01-01")
    with pytest.raises(InputError, match="first day '5/2/2024': a day is like 2024-05-01"):
        rs.read_log(log, start="5/2/2024")
    with pytest.raises(InputError, match="the last day, 2024-05-01, is before the first, 2024-05-02"):
        rs.read_log(log, start="2024-05-02", end="2024-05-01")
    with pytest.raises(InputError, match="no column of times is known"):
        rs.read_log(log.drop("time"), start="2024-05-02")
    with pytest.raises(InputError, match="its times are read already"):
        rs.read_log(rs.read_log(log), start="2024-05-02")


def test_online_and_experiment_take_days_in_the_zone() -> None:
    first = datetime(2024, 4, 1, 22, 30)  # 00:30 on the next day in Berlin
    rows = [(f"u{n}", "AB"[n % 2], n * n % 7, first + timedelta(days=n // 2 % 4)) for n in range(240)]
    log = pl.DataFrame(rows, schema=["user", "variant", "orders", "time"], orient="row")
    asked: dict[str, Any] = {"time_zone": "Europe/Berlin", "start": "2024-04-03", "end": "2024-04-04"}
    inside = [row for row in rows if date(2024, 4, 3) <= (row[3] + timedelta(hours=2)).date() <= date(2024, 4, 4)]
    assert rs.online(log, "Mean(orders)", **asked)["Mean(orders)"] == pytest.approx(
        sum(row[2] for row in inside) / len(inside)
    )
    found = rs.experiment(log, "Mean(orders)", **asked, by="day")
    means = {v: [row[2] for row in inside if row[1] == v] for v in "AB"}
    expected = sum(means["B"]) / len(means["B"]) - sum(means["A"]) / len(means["A"])
    assert found["B", "Mean(orders)"].difference == pytest.approx(expected)
    assert found.days is not None
    assert [one.day for one in found.days.days] == [date(2024, 4, 3), date(2024, 4, 4)]
    assert "days in Europe/Berlin" in found.days.remark()


def test_a_gate_reads_times_in_a_form() -> None:
    log = pl.DataFrame({"user": [f"u{n}" for n in range(40)], "variant": ["A", "B"] * 20, "orders": [1, 2, 3, 1] * 10, "time": DAY_FIRST * 20})  # fmt: skip
    plain = rs.gate(log.drop("time"), metrics="Mean(orders)")
    assert rs.gate(log, metrics="Mean(orders)", time_format="%d/%m/%Y").exit_code == plain.exit_code
