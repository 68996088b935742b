"""Which column names the units of a log, what folders of its files say, and how its columns may be given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import tally


def roles(rows: Any, **options: Any) -> dict[str, str]:
    return dict(rs.read_log(rows, **options).roles)


@pytest.mark.parametrize(("count", "unit"), [(20, True), (19, False)])
def test_a_key_is_the_unit_from_twenty_rows_on(count: int, unit: bool) -> None:
    rows = {"shopper_id": range(count), "variant": ["A", "B", *["A"] * (count - 2)], "spent": [1.0] * count}
    assert ("unit_id" in roles(rows)) == unit


def test_a_key_has_a_value_in_each_row_that_no_other_row_has() -> None:
    rows = {"variant": ["A", "B"] * 20, "spent": [1.0] * 40}
    keys: dict[str, list[Any]] = {"a": [*range(39), 38], "b": [*range(39), None], "c": [*range(40)], "d": [*range(40)]}
    for given, unit in (("ab", None), ("abcd", "c_id"), ("dc", "d_id")):
        assert roles({**rows, **{f"{name}_id": keys[name] for name in given}}).get("unit_id") == unit
    for other in ("event", "row", "order", "transaction", "record", "log", "line", "request"):
        assert "unit_id" not in roles({**rows, f"{other}_id": keys["c"]})
    for role in ("item", "position", "shown", "session"):
        assert "unit_id" not in roles({**rows, "c_id": keys["c"], role: [n % 7 + 1 for n in range(40)]})


@pytest.mark.parametrize(
    ("values", "rows", "told"), [(20, 21, True), (20, 20, False), (19, 40, False), (40, 400, True)]
)
def test_a_column_of_people_is_told_if_twenty_of_them_share_rows(values: int, rows: int, told: bool) -> None:
    log = {
        "customerKey": [f"c{n % values}" for n in range(rows)],
        "variant": ["A", "B", *["A"] * (rows - 2)],
        "spent": [1.0] * rows,
    }
    notes = rs.read_log(log).source.notes
    assert ("column customerKey may name the users: --columns 'customerKey=unit_id'" in notes) == told


@pytest.mark.parametrize(
    ("name", "told"),
    [("shopper", True), ("DEVICE", True), ("web_cookie", True), ("accountNumber", True), ("anonUUID", True), ("session_hash", True), ("key", True),
     ("keys", False), ("id_of_page", False), ("order_key", False), ("requestId", False), ("country", False), ("____", False)],
)  # fmt: skip
def test_people_are_known_by_a_word_of_the_name(name: str, told: bool) -> None:
    log = {name: [f"c{n % 30}" for n in range(60)], "variant": ["A", "B"] * 30, "spent": [1.0] * 60}
    assert any("may name the users" in note for note in rs.read_log(log).source.notes) == told


def write(path: Path, **cells: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(cells).write_csv(path)


def found(source: Any, *names: str) -> list[tuple[Any, ...]]:
    log = rs.read_log(source)
    return sorted(log.collect(log.frame.select(names)).rows(), key=str)


def test_folders_say_what_their_files_do_not(tmp_path: Path) -> None:
    """Whether a folder is read or a pattern: a value may be written as in an address, or be none."""
    write(tmp_path / "variant=A%20b" / "day=1" / "rows.csv", user=["u1"], spent=[1.0], day=["own"])
    write(tmp_path / "variant=__HIVE_DEFAULT_PARTITION__" / "day=2" / "rows.csv", user=["u2"], spent=[2.0], day=["own"])
    (tmp_path / "variant=A%20b" / "day=1" / "=x").mkdir()
    write(tmp_path / "variant=A%20b" / "day=1" / "=x" / "more.csv", user=["u3"], spent=[4.0], day=["own"])
    expected = [("u1", "A b", "own"), ("u2", None, "own"), ("u3", "A b", "own")]
    assert found(tmp_path, "unit_id", "variant", "day") == expected
    pattern = str(tmp_path / "variant=*" / "day=*" / "*.csv")
    assert found(pattern, "unit_id", "variant", "day") == expected[:2]
    one = str(tmp_path / "variant=A*" / "day=1" / "*.csv")
    assert found(one, "unit_id", "variant") == [("u1", "A b")]
    write(tmp_path / "variant=C" / "rows.csv", user=["u4"], spent=[1.0])
    for source in (str(tmp_path / "variant=C" / "*.csv"), tmp_path / "variant=C" / "rows.csv"):
        assert rs.read_log(source).has("variant") == isinstance(source, str)


def test_columns_are_turned_if_the_role_stands_first() -> None:
    rows = {"who": ["a", "b"], "hit": [1, 0], "label": [3, 4]}
    for given in (
        {"who": "unit_id", "hit": "click"},
        {"unit_id": "who", "click": "hit"},
        "unit_id=who,hit=click",
        {"visitor": "who", "hit": "clicked"},
    ):
        assert roles(rows, columns=given) == {"unit_id": "who", "click": "hit", "label": "label"}
    assert roles({"user": ["a"], "unit_id": ["b"], "click": [1]}, columns={"user": "unit_id"})["unit_id"] == "user"
    assert roles({**rows, "user": ["x", "y"]}, columns={"who": "unit_id"})["unit_id"] == "who"
    for given, said in (
        ({"whom": "unit_id"}, "log: no column 'whom', did you mean who"),
        ({"who": "unit_id", "hit": "user"}, "log: columns who and hit both have the role unit_id; name one"),
        ({"who": "units"}, "columns: 'who' has the unknown role 'units', did you mean unit_id"),
    ):
        with pytest.raises(InputError) as error:
            roles(rows, columns=given)
        assert str(error.value).startswith(said)


def test_a_column_that_is_a_number_has_no_role() -> None:
    rows = {"user": ["a", "b"], "click": [3, 4], "visits": [1, 2]}
    log = rs.read_log(rows, columns={"click": "number"})
    assert (dict(log.roles), log.attributes) == ({"unit_id": "user"}, ("click", "visits"))
    assert rs.online(log, "Mean(click)")["Mean(click)"] == 3.5


def test_columns_are_lists_arrays_ranges_or_series_of_one_dimension() -> None:
    for cells in ([1, 2], (1, 2), range(1, 3), np.array([1, 2]), pl.Series([1, 2])):
        assert found({"user": ["a", "b"], "click": cells}, "click") == [(1.0,), (2.0,)]
    for odd in (np.ones((2, 2)), 5, "ab", {"x": 1}):
        with pytest.raises(InputError, match=r"^log: an object, not rows; a log is a table"):
            rs.read_log({"user": ["a", "b"], "click": odd})
    with pytest.raises(InputError, match=r"^log: an object, not rows; a log is a table"):
        rs.read_log({})


def test_numbers_that_are_whole_are_ids_and_others_are_refused() -> None:
    assert found({"user": [1.0, 2.0, None], "click": [1, 0, 1]}, "unit_id") == [("1",), ("2",), (None,)]
    notes = rs.read_log({"user": [1.0, 2.0], "click": [1, 0]}).source.notes
    assert any(note.startswith("column user holds ") for note in notes)
    for wrong in (1.5, -0.5, 2.0**53, float("inf")):
        with pytest.raises(InputError, match=r"^log row 2, column user: .*: an id is a text or a whole number"):
            rs.read_log({"user": [1.0, wrong], "click": [1, 0]})
    assert found({"user": [2.0**53 - 1], "click": [1]}, "unit_id") == [(str(2**53 - 1),)]
    for odd in (1.5, -0.25, "2.5", "x"):
        with pytest.raises(InputError, match=r"^log row 2, column position: .*: a position is a whole number from 1"):
            rs.read_log({"item": ["a", "b"], "position": [type(odd)("1"), odd]})


def test_feedback_of_actions_and_rewards_alone_is_a_log() -> None:
    assert found({"action": [2, 0], "reward": [1, 0], "n_rounds": 2}, "item_id", "click") == [("0", 0.0), ("2", 1.0)]
    named = rs.read_log({"action": [2, 0], "reward": [0.5, 0.0]}, log_format="obp")
    assert named.collect(named.frame.select("item_id", "reward")).rows() == [("2", 0.5), ("0", 0.0)]
    for context, columns in ((np.ones((2, 3)), 3), (np.ones((3, 3)), 0), (np.ones(2), 0)):
        log = rs.read_log({"action": [2, 0], "reward": [1, 0], "context": context}, log_format="obp")
        assert len([name for name in log.attributes if name.startswith("context_")]) == columns


def test_values_are_counted_the_most_frequent_first_and_equal_ones_by_name() -> None:
    assert tally(pl.Series("kind", ["b", "c", "a", "c", "b", "d"])) == [("b", 2), ("c", 2), ("a", 1), ("d", 1)]
