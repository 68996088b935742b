"""What formats of logs say of what they read, leave out and refuse: whole sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.files.log_formats.made import sample

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.log_formats.joining import first_assignments, window_of
from rankscope.files.logs import check_ids, rows_from


def test_files_of_no_format_beside_those_of_one_are_told(tmp_path: Path) -> None:
    for name, what in (("interleaved", "such events"), ("yandex", "queries and clicks"), ("ubi", "queries or events"), ("open_bandit", "rows of Open Bandit")):  # fmt: skip
        one = Path(sample(name, tmp_path))
        folder = one if one.is_dir() else one.parent
        assert not [note for note in rs.read_log(folder).source.notes if note.startswith("left out")]
        (folder / "ABOUT.txt").write_text("What is in here.\n")
        assert f"left out, as they hold no {what}: ABOUT.txt" in rs.read_log(folder).source.notes


def test_lines_say_that_their_unit_of_time_is_not_known(tmp_path: Path) -> None:
    assert rs.read_log(sample("yandex", tmp_path)).source.notes[1:] == (
        "times are in the unit of the log, which is not disclosed: if time_to_next is in seconds, use --columns 'time_to_next=dwell_s'",
    )


def test_columns_that_are_no_ids_are_told_with_the_way_to_say_otherwise() -> None:
    cells = {"key_id": [*range(40)], "visit": [3, 4] * 20, "session": ["yes", "no"] * 20, "spent": [1.0] * 40}
    made = rows_from(cells, None)
    roles, notes = check_ids(made, {"impression_id": "visit", "session_id": "session"}, ())
    assert roles == {"unit_id": "key_id"}
    assert notes == [
        "column session holds only yes and no, so it is not taken as session_id (--columns 'session=session_id' does so)",
        "each key_id has one row: it is taken as unit_id",
        "column visit holds a few numbers, so it is not taken as impression_id (--columns 'visit=impression_id' does so)",
    ]


@pytest.mark.parametrize(("count", "taken"), [(20, True), (19, False)])
def test_two_words_are_a_flag_from_twenty_rows_on(count: int, taken: bool) -> None:
    made = rows_from({"session": (["yes", "no"] * 10)[:count], "item": ["a"] * count}, None)
    roles, _ = check_ids(made, {"session_id": "session", "item_id": "item"}, ())
    assert ("session_id" not in roles) == taken


@pytest.mark.parametrize(("values", "counts"), [(2, True), (3, False)])
def test_numbers_are_counts_if_twenty_rows_share_each(values: int, counts: bool) -> None:
    made = rows_from({"visit": [n % values + 3 for n in range(40)], "id": list(range(40)), "spent": [0.5] * 40}, None)
    roles, _ = check_ids(made, {"impression_id": "visit"}, ())
    assert ("impression_id" not in roles) == counts


SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "feedback of two lengths": (
        lambda: rs.read_log({"action": np.arange(4), "reward": np.ones(4), "pscore": np.ones(3)}, log_format="obp"),
        "log: pscore is of shape (3,), and action has 4 elements; they should have one element per row each",
    ),
    "a window of nothing": (lambda: window_of("0d"), "window='0d': write a number above 0 with its unit, like 7d, 24h or 90min"),
    "a time zone": (lambda: rs.read_log({"item": ["a"], "time": ["2024-05-01"]}, time_zone="Europe/Berlyn"), "time zone 'Europe/Berlyn' is unknown, did you mean Europe/Berlin?"),
    "a form without a year": (
        lambda: rs.read_log({"item": ["a"], "time": ["01/05"]}, time_format="%d/%m"),
        "form of times '%d/%m': a form has the day, month and year, and minutes if it has hours, like %d/%m/%Y or '%d.%m.%Y %H:%M'",
    ),
    "no times to read": (
        lambda: rs.read_log({"item": ["a"], "click": [1]}, time_zone="Europe/Berlin"),
        "log: no column of times is known: name it, like columns='NAME=timestamp', or leave the options of times out",
    ),
    "a form of numbers": (
        lambda: rs.read_log({"item": ["a"], "time": [1.5]}, time_format="%d/%m/%Y"),
        "log: column time is of type Float64: time_format= is for times as text, leave it out",
    ),
    "no column that is known": (
        lambda: rs.read_log({"colour": ["a"], "size": [1]}),
        "log: no column is known among colour and size; a log is a table with one row per shown item (item, position, click ...) or one row per user (user, variant, numbers); give a column its role, like columns='colour=unit_id'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_cannot_be_read_is_said_in_full(case: str) -> None:
    call, said = SAID[case]
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == said


def test_assignments_are_the_first_by_time_and_those_left_out_are_counted() -> None:
    table = pl.DataFrame({"unit": ["a", "a", "a", None, "b", "b"], "arm": ["A", "A", "B", "A", None, "B"], "at": [3, 1, 2, 0, 0, None]})  # fmt: skip
    kept, notes = first_assignments(table, "unit", "arm", "at")
    assert kept.rows() == [("a", "A", 1), ("a", "B", 2), ("b", "B", None)]
    assert notes == [
        "left out: 2 assignments without unit or arm",
        "1 assignment came again to the same unit and variant: the first counts",
    ]
    assert first_assignments(table, "unit", "arm", None)[0]["at"].to_list() == [3, 2, None]
