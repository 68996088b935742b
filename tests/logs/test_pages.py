"""Pages of a log: what each list and each item says, what is left out, and how deep a page may be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.logs.pages import Grade, grade_rows, query_weights, read_grades, read_pages

ROWS: dict[str, list[Any]] = {  # the second list lies between the rows of the first; one row has no click, one no query
    "list_id": ["l", "m", "l", "m", "n"],
    "session": ["s", "t", "s", "t", None],
    "user": ["u", "u", "u", "u", None],
    "query": ["q", "r", "q", "r", None],
    "item": ["a", "a", "b", "c", "a"],
    "position": [1, 1, 2, 3, 2],
    "click": [1, None, 0, 0.5, 0],
    "logger_id": ["old", None, "old", None, "new"],
    "p_item_pos": [0.5, 0.25, 1, 0.125, 1],
    "label": [3, 0, 1, 2, 3],
    "country": ["de", "fr", "de", "fr", None],
    "time": ["2024-05-01T10:00:01.500Z", None, "2024-05-01T10:00:01.500Z", None, "1970-01-01T00:00:00.001Z"],
    "dwell": [31.0, None, 0.0, 30.0, 0.0],
}


def test_lists_and_items_have_what_their_rows_say() -> None:
    found = read_pages(rs.read_log(ROWS), grades=read_grades("click=1, dwell>=31 = 4"), by="country")
    pages = found.pages
    assert [*zip(pages.pairs.query, pages.pairs.item, strict=True)] == [("q", "a"), ("r", "a"), ("q", "b"), ("r", "c"), ("", "a")]  # fmt: skip
    assert pages.item.tolist() == [[0, 2, -1], [1, -1, 3], [-1, 4, -1]]
    assert pages.click.tolist() == [[True, False, False], [False, False, True], [False] * 3]
    assert (pages.session.tolist(), pages.unit.tolist()) == ([0, 1, 2], [0, 0, 1])
    facts = pages.ranker, pages.part, pages.time
    assert [None if one is None else one.tolist() for one in facts] == [[0, 1, 2], [0, 1, 2], [1714557601500, 0, 1]]
    assert (found.rankers, found.parts, found.unit, found.remarks) == (("old", "", "new"), ("de", "fr", "(empty)"), "user", ())  # fmt: skip
    cells = {"chance": [0.5, 1, 0.25, 0.125, 1], "label": [3, 1, 0, 2, 3], "worth": [4, 0, 0, 1, 0]}
    for name, values in cells.items():
        assert getattr(pages, name)[pages.item >= 0].tolist() == values, name
        assert np.isnan(getattr(pages, name)[pages.item < 0]).all()


@pytest.mark.parametrize(("left", "unit"), [(("user",), "session"), (("user", "session"), "list")])
def test_what_is_independent_is_the_widest_that_is_named(left: tuple[str, ...], unit: str) -> None:
    found = read_pages(rs.read_log({name: cells for name, cells in ROWS.items() if name not in left}))
    assert (found.unit, found.pages.unit.tolist(), found.pages.session.tolist()) == (unit, [0, 1, 2], [0, 1, 2])


def test_a_page_is_cut_at_a_depth_and_has_two_hundred_places_without_one() -> None:
    log = rs.read_log(ROWS | {"position": [1, 1, 2, 200, 2]})
    assert read_pages(log).pages.places == 200
    deep = rs.read_log(ROWS | {"position": [1, 1, 2, 201, 2]})
    with pytest.raises(DataError, match="log: positions go down to 201: give a depth, like depth=20"):
        read_pages(deep)
    for depth, places, remark in ((201, 201, ()), (200, 2, ("1 row left out: no position, not shown, or below place 200, 1 click among them",))):  # fmt: skip
        found = read_pages(deep, depth=depth)
        assert (found.pages.places, found.remarks) == (places, remark)
    top = read_pages(log, depth=1)
    assert top.remarks == ("3 rows left out: no position, not shown, or below place 1, 1 click among them",)
    assert top.pages.item.tolist() == [[0], [1]]


def test_rows_without_a_list_an_item_or_a_position_and_those_that_were_not_shown_are_left_out() -> None:
    log = {
        "list_id": ["l", "l", None, "l", "l", "l"], "item": ["a", "b", "c", None, "e", "f"], "position": [1, 2, 3, 4, None, 6],
        "shown": [1, None, 1, 1, 1, 0], "click": [1, 0, 0, 0, 0, 0],
    }  # fmt: skip
    found = read_pages(rs.read_log(log))
    assert found.pages.item.tolist() == [[0, 1]]  # what nothing says of was shown
    assert found.remarks == ("4 rows left out: no position or not shown",)
    with pytest.raises(DataError, match="no row shows an item at a position, so there are no pages"):
        read_pages(rs.read_log(log | {"shown": [0] * 6}))


def test_grades_are_read_as_they_are_written() -> None:
    assert read_grades("click=1,dwell>=0=2 , a b >= -1.5 = 0.5") == [
        Grade("click", None, 1.0), Grade("dwell", 0.0, 2.0), Grade("a b", -1.5, 0.5),
    ]  # fmt: skip
    assert read_grades({"click": 1, "dwell>=30": 2.5}) == [Grade("click", None, 1.0), Grade("dwell", 30.0, 2.5)]
    for wrong in ("click", "click=0", "click=x", "dwell>=x=1", "dwell>=1=0", "", "click=1,"):
        part = wrong.rpartition(",")[2]
        with pytest.raises(
            InputError, match=f"^grade {re.escape(repr(part))}: grades are like click=1,dwell>=30=2,purch"
        ):
            read_grades(wrong)


def test_grades_are_written_the_best_of_each_query_first_with_four_decimals() -> None:
    pairs = read_pages(rs.read_log(ROWS)).pages.pairs
    table = grade_rows(pairs, np.array([0.123456, 0.5, 0.75, 0.5, 1.0]), np.full(5, 0.01239), np.array([10.04, 2, 3, 4.44, 5]))  # fmt: skip
    assert table.rows() == [
        ("", "a", 1.0, "clicks", 0.0124, 5.0), ("q", "b", 0.75, "clicks", 0.0124, 3.0), ("q", "a", 0.1235, "clicks", 0.0124, 10.0),
        ("r", "a", 0.5, "clicks", 0.0124, 2.0), ("r", "c", 0.5, "clicks", 0.0124, 4.4),
    ]  # fmt: skip
    assert query_weights(table).rows() == [("", 5.0), ("q", 13.0), ("r", 6.4)]
