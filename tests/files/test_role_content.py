"""Columns whose names fit ids, but which hold flags or counts: noted, asked for, or replaced by a unique key."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.log_formats.rows import LogRows, _numeric_times
from rankscope.scoring.logs import read_log
from rankscope.tables import Source

COUNT = 400


def table(**columns: Any) -> pl.DataFrame:
    """One row per user of a test of mails: spend is 1 without a mail and 3 with one, for every tenth user."""
    base: dict[str, Any] = {
        "segment": ["none", "mail"] * (COUNT // 2),
        "spend": [(1.0 + 2.0 * (i % 2)) * (i % 20 < 2) for i in range(COUNT)],
    }
    return pl.DataFrame(base | columns)


FLAG = [int(i % 7 == 0) for i in range(COUNT)]
VISITS = [1 + i % 4 for i in range(COUNT)]


@pytest.mark.parametrize(
    "flag", [FLAG, [bool(x) for x in FLAG], [("no", "Yes")[x] for x in FLAG]], ids=["numbers", "truth", "words"]
)
@pytest.mark.parametrize("name", ["visit", "session", "customer"])
def test_a_flag_is_no_id(name: str, flag: list[Any]) -> None:
    found = rs.experiment(table(**{name: flag}), "Mean(spend)", variant="segment", baseline="none")
    (row,) = found.to_dicts()
    assert (row["units"], row["value"], row["baseline_value"]) == (COUNT, pytest.approx(0.3), pytest.approx(0.1))
    assert any(f"column {name} holds only yes and no, so it is not taken as" in note for note in found.notes)


def test_counts_beside_a_unique_key_are_numbers_and_the_key_is_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "shoppers.csv"
    table(shopper_id=range(5000, 5000 + COUNT), visit=VISITS).write_csv(path)
    found = rs.experiment(path, ["Mean(spend)", "Mean(visit)"], variant="segment", baseline="none")
    assert found.to_dicts()[0]["units"] == COUNT
    assert found["mail", "Mean(visit)"].value == pytest.approx(3.0)
    assert "each shopper_id has one row: it is taken as unit_id" in found.notes
    assert not any("no user is named" in caution.message for caution in found.warnings)


def test_what_may_be_ids_or_counts_is_asked_for() -> None:
    with pytest.raises(
        InputError, match="column visit has 4 values in 400 rows: it may be session_id or a number"
    ) as caught:
        rs.experiment(table(visit=VISITS), "Mean(spend)", variant="segment", baseline="none")
    assert "columns='visit=session_id' or columns='visit=number'" in str(caught.value)


@pytest.mark.parametrize(
    ("role", "units"), [("number", COUNT), ("session_id", 4)], ids=["a number", "a session"]
)  # fmt: skip
def test_a_role_that_is_given_is_taken(role: str, units: int) -> None:
    log = read_log(table(visit=VISITS), columns={"visit": role, "segment": "variant"})
    assert ("session_id" in log.roles) == (role == "session_id")
    assert rs.online(log, "Mean(spend)").to_dicts()[0]["units"] == units


def test_a_flag_that_is_given_as_an_id_is_taken() -> None:
    assert read_log(table(visit=FLAG), columns={"visit": "session_id"}).roles["session_id"] == "visit"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("user", [i % 5 for i in range(COUNT)]),
        ("user_id", [i % 2 for i in range(10)]),
        ("session", [f"s{i % 3}" for i in range(COUNT)]),
        ("session", [i // 3 for i in range(COUNT)]),
        ("visit_id", [1 + i % 4 for i in range(COUNT)]),
    ],
    ids=["five users", "two users in a few rows", "three sessions as texts", "many sessions", "named as an id"],
)
def test_ids_stay_ids(name: str, cells: list[Any]) -> None:
    frame = pl.DataFrame({name: cells, "click": [i % 3 == 0 for i in range(len(cells))]})
    assert name in read_log(frame).roles.values()


@pytest.mark.parametrize("key", ["order_id", "event_id", "row_id"])
def test_a_key_of_something_else_is_not_the_unit(key: str) -> None:
    log = read_log(table(**{key: range(COUNT)}), columns="segment=variant")
    assert "unit_id" not in log.roles


def test_a_key_that_repeats_is_not_the_unit() -> None:
    log = read_log(table(shopper_id=[i // 2 for i in range(COUNT)]), columns="segment=variant")
    assert "unit_id" not in log.roles


def test_an_unknown_role_names_those_there_are() -> None:
    with pytest.raises(InputError, match="unknown role 'numbr', did you mean number"):
        read_log(table(), columns={"spend": "numbr"})


# --- times ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, str, float], ids=["whole numbers", "texts", "fractions"])
def test_dates_without_separators_are_dates(kind: type) -> None:
    days = [20240511, 20240512, 20240601, 20241231]
    log = read_log(
        pl.DataFrame({"user": ["a", "b", "c", "d"], "click": [1, 0, 1, 0], "date": [kind(day) for day in days]})
    )
    times = log.collect(log.frame.select("timestamp"))["timestamp"]
    assert [f"{time:%Y%m%d %H:%M}" for time in times] == [f"{day} 00:00" for day in days]
    assert any("dates like 20241231" in note for note in log.source.notes)


def test_a_number_that_is_no_day_of_the_calendar_is_refused() -> None:
    with pytest.raises(InputError, match="row 2, column date: '20240231'"):
        read_log(pl.DataFrame({"user": ["a", "b"], "click": [1, 0], "date": [20240511, 20240231]}))


def test_days_since_a_start_are_no_times() -> None:
    with pytest.raises(InputError, match="column time holds numbers up to 27, too small for times after 1973"):
        read_log(pl.DataFrame({"user": ["a", "b"], "click": [1, 0], "time": [1, 27]}))


@pytest.mark.parametrize(
    ("number", "said"), [(1715472000, 2024), (1715472000000, 2024), (315532800, 1980)], ids=["s", "ms", "early"]
)
def test_numbers_of_seconds_are_times(number: int, said: int) -> None:
    log = read_log(pl.DataFrame({"user": ["a"], "click": [1], "time": [number]}))
    assert log.collect(log.frame.select("timestamp")).item().year == said


def test_numbers_are_dates_only_if_those_of_all_parts_are() -> None:
    """Parts on other machines tell their least and largest numbers one by one."""
    rows = LogRows(pl.LazyFrame({"date": [20240511]}), {"date": pl.Int64()}, Source("log"))
    for least, largest, dates in (([20240101, 20240201], [20240105, 20240203], True), ([20240101, 3], [1, 2e9], False)):
        ends = pl.DataFrame({"least": least, "largest": largest}, strict=False)
        _, notes = _numeric_times(rows, "date", pl.col("date"), ends)
        assert any("dates like 20240203" in note for note in notes) == dates


@pytest.mark.parametrize(
    ("least", "largest", "said"),
    [
        pytest.param(19000101, 21001231, "1900-01-01", id="the first and the last date"),
        pytest.param(19000101, 21001232, None, id="beyond the last"),
        pytest.param(19000100, 20240501, None, id="before the first"),
    ],
)
def test_whole_numbers_are_dates_within_two_centuries(least: int, largest: int, said: str | None) -> None:
    log = {"user": ["a", "b"], "click": [1, 0], "time": [least, largest]}
    if said is None:
        with pytest.raises(InputError, match="too small for times after 1973"):
            read_log(log)
        return
    found = read_log(log)
    assert f"{found.collect(found.frame.select('timestamp'))['timestamp'][0]:%Y-%m-%d}" == said


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (100_000_000, "1973-03-03T09:46:40"),
        (4_133_980_799, "2100-12-31T23:59:59"),
        (100_000_000_000, "1973-03-03T09:46:40"),
        (4_133_980_799_999, "2100-12-31T23:59:59.999000"),
        (100_000_000_000_000, "1973-03-03T09:46:40"),
        (4_133_980_799_999_984, "2100-12-31T23:59:59.999984"),
        (100_000_000_000_000_000, "1973-03-03T09:46:40"),
        (1_715_472_000_123_456, "2024-05-12T00:00:00.123456"),
    ],
    ids=[
        "first of seconds",
        "last of seconds",
        "first of thousandths",
        "last of thousandths",
        "first of millionths",
        "last of millionths",
        "first of billionths",
        "a microsecond",
    ],
)
@pytest.mark.parametrize("written", [int, str], ids=["a number", "a text"])
def test_the_size_of_a_number_says_its_unit(number: int, text: str, written: type) -> None:
    """Seconds, then thousandths, millionths and billionths of them: each from 1973 on."""
    log = read_log({"user": ["a"], "click": [1], "time": [written(number)]})
    found = log.collect(log.frame.select("timestamp")).item()
    exact = 8e-6 if 10**13 <= number < 10**14 else 1e-6  # as a float, a number of 17 digits is off by up to 8
    assert abs((found - datetime.fromisoformat(f"{text}+00:00")).total_seconds()) <= exact


@pytest.mark.parametrize("part", [1, 1_000, 1_000_000, 1_000_000_000], ids=["s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", [int, str], ids=["numbers", "texts"])
def test_times_after_the_century_are_refused(part: int, kind: type) -> None:
    log = {"user": ["a", "b"], "click": [1, 0], "time": [kind(1_715_472_000 * part), kind(4_133_980_800 * part)]}
    with pytest.raises(InputError, match=r"row 2, column time: '4133980800"):
        read_log(log)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        pytest.param(202405121330, "2024-05-12 13:30:00", id="minutes"),
        pytest.param(20240512133059, "2024-05-12 13:30:59", id="seconds"),
    ],
)
@pytest.mark.parametrize("kind", [int, str], ids=["number", "text"])
def test_dates_with_a_time_and_without_separators_are_times(number: int, said: str, kind: type) -> None:
    log = read_log({"user": ["a"], "click": [1], "time": [kind(number)]})
    assert f"{log.collect(log.frame.select('timestamp')).item():%Y-%m-%d %H:%M:%S}" == said
    with pytest.raises(InputError, match="row 2, column time"):  # a thirteenth month
        read_log({"user": ["a", "b"], "click": [1, 0], "time": [kind(number), kind(number + _month(number))]})


@pytest.mark.parametrize("kind", [int, str], ids=["number", "text"])
def test_dates_with_an_hour_are_times_unless_one_is_none(kind: type) -> None:
    log = read_log({"user": ["a", "b"], "click": [1, 0], "time": [kind(2024051213), kind(1999123100)]})
    found = log.collect(log.frame.select("timestamp"))["timestamp"]
    assert [f"{at:%Y-%m-%d %H:%M}" for at in found] == ["2024-05-12 13:00", "1999-12-31 00:00"]
    assert "column time holds dates like 2024051213: read as UTC" in log.source.notes
    for seconds in (2024051299, 2033334400, 1_715_472_000):  # the hour 99, the month 33, and before 1990
        log = read_log({"user": ["a", "b"], "click": [1, 0], "time": [kind(2024051213), kind(seconds)]})
        found = log.collect(log.frame.select("timestamp"))["timestamp"]
        assert [int(at.timestamp()) for at in found] == [2024051213, seconds]


def _month(number: int) -> int:
    """What leads from May to the thirteenth month."""
    return int(8 * 10 ** (len(str(number)) - 6))


@pytest.mark.parametrize(
    "zone", ["Z", " UTC", "UTC", "+02", "-05", "+00", "+0530", " +0530", "-03:30", " -03:30", "+14:00"]
)
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M"])
def test_zones_as_databases_write_them(zone: str, form: str) -> None:
    clock = datetime(2024, 5, 1, 3, 40)
    log = read_log({"user": ["a"], "click": [1], "time": [clock.strftime(form) + zone]})
    sign, digits = zone.strip()[0], zone.strip("Z UTC+-").replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) * (-1 if sign == "-" else 1)
    found = log.collect(log.frame.select("timestamp")).item()
    assert found.replace(tzinfo=None) == clock - ahead
    assert not any("no time zone" in note for note in log.source.notes)


def test_numbers_just_below_those_of_1973_are_no_times() -> None:
    with pytest.raises(InputError, match=r"column time holds numbers up to 99,?999,?999, too small"):
        read_log({"user": ["a"], "click": [1], "time": [99_999_999]})
    both = read_log(
        {"user": ["a", "b"], "click": [1, 0], "time": ["99999999", "7"], "item": ["x", "y"]}, columns={"time": "number"}
    )
    assert not both.has("timestamp")


# --- numbers in columns without a role ---------------------------------------------------------------------------------


def test_numbers_with_blanks_and_words_for_yes_and_no_are_read(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("user,variant,cost,back\na,A, 10 ,True\nb,A,20,False\nc,B,\t30,TRUE\nd,B,14, false\n")
    found = rs.online(path, ["Mean(cost)", "Mean(back)"])
    assert [row["value"] for row in found.to_dicts()] == [18.5, 0.5]


def test_a_cell_that_is_no_number_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("user,cost\na,10\nb,1O\nc,30\n")
    with pytest.raises(InputError, match=r"costs\.csv line 3, column cost: '1O' is not a number"):
        rs.online(path, "Mean(cost)")


def test_a_repeated_key_of_people_is_named_as_the_possible_unit() -> None:
    keys = [f"c{i % 40}" for i in range(COUNT)]
    note = "column customerKey may name the users: --columns 'customerKey=unit_id'"
    assert note in rs.experiment(table(customerKey=keys), "Mean(spend)", variant="segment", baseline="none").notes
    for name in ("orderKey", "colour"):
        found = read_log(table(**{name: keys}), columns={"segment": "variant"})
        assert not any("may name the users" in one for one in found.source.notes)
    assert not any("may name" in one for one in read_log(table(customerKey=keys, user_id=keys)).source.notes)
