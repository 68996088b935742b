"""Charts where none can be drawn: terminals and Markdown."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.show.made_charts import AXES as FORMS

from rankscope.blocks import Chart, Column, Form, Value, ValueRange
from rankscope.show.terminal import render
from rankscope.show.terminal_charts import bar, cell_of, heaps, in_text, whisker
from rankscope.show.text import as_latex, as_markdown

COLUMNS = (Column("name"), Column("other"), Column("value", "value"), Column("count", "count"))


def made(names: int = 3, others: int = 2) -> tuple[tuple[Value, ...], ...]:
    pairs = [(i, j) for i in range(names) for j in range(others)]
    return tuple((f"name {i}", f"other {j}", ValueRange(v := (i - j) / 10, v - 0.05, v + 0.1), i + 1) for i, j in pairs)


def chart(form: Form, rows: tuple[tuple[Value, ...], ...] | None = None, **more: Any) -> Chart:
    x, y = FORMS[form]
    more = {"series": "" if form == "heat" else "other", "colour": "value" if form == "heat" else ""} | more
    return Chart(
        "made", "A title", form, COLUMNS, made() if rows is None else rows, x=x, y=y, caption="A caption", **more
    )


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_form_keeps_to_its_width(form: Form, width: int) -> None:
    for rows in (made(), made(60, 3), made(3, 12), ()):
        shown = render([chart(form, rows)], width)
        assert max(map(len, shown.splitlines())) <= width
        assert shown.startswith(" A title\n")
        assert shown.endswith(" A caption\n")


def test_without_rows_it_says_so() -> None:
    assert "nothing to show" in render([chart("bars", ())])


def test_a_line_is_a_bar_a_place() -> None:
    rows = tuple((None, None, 1 / rank, rank) for rank in (1, 2, 4))
    shown = render([chart("lines", rows, series="")], 60).splitlines()
    bars = [line.split()[-1] for line in shown[2:5]]
    assert [line.split()[:2] for line in shown[2:5]] == [["1", "1.0000"], ["2", "0.5000"], ["4", "0.2500"]]
    assert [len(b) for b in bars] == [len(bars[0]), math.ceil(len(bars[0]) / 2), math.ceil(len(bars[0]) / 4)]


def test_ranks_are_looked_at_more_often_where_they_are_small() -> None:
    rows = tuple((None, None, 1 / rank, rank) for rank in range(1, 101))
    shown = render([chart("lines", rows, series="")]).splitlines()
    assert [line.split()[0] for line in shown[2:-2]] == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "7",
        "10",
        "20",
        "30",
        "40",
        "50",
        "70",
        "100",
    ]
    assert "13 of 100 values of count shown" in shown[-2]


def test_several_lines_are_a_table() -> None:
    shown = render([chart("lines")]).splitlines()
    assert shown[1].split() == ["count", "other", "0", "other", "1"]
    assert shown[2].split() == ["1", "0.0000", "-0.1000"]


def test_steps_are_level_up_to_the_next_value() -> None:
    rows = (*((None, "a", i / 40, i) for i in range(41)), (None, "b", 1.0, 11))
    shown = render([chart("steps", rows)]).splitlines()
    assert [line.split() for line in shown[2:6]] == [
        ["0", "0.0000", "-"],
        ["4", "0.1000", "-"],
        ["8", "0.2000", "-"],
        ["12", "0.3000", "1.0000"],
    ]


def test_parts_of_a_whole_fill_one_bar() -> None:
    rows: tuple[tuple[Value, ...], ...] = (
        ("AP", "better", None, 30),
        ("AP", "worse", None, 10),
        ("RR", "better", None, 20),
    )
    shown = render([chart("stacked", rows)]).splitlines()
    assert shown[1].split() == ["name", "better", "█", "worse", "▓"]
    first, second = shown[2].split(), shown[3].split()
    assert first[:3] == ["AP", "30", "10"]
    assert abs(first[3].count("█") - 3 * first[3].count("▓")) <= 2
    assert len(second[3]) == pytest.approx(len(first[3]) / 2, abs=1)


def test_many_points_are_a_field_that_counts_them() -> None:
    rows: tuple[tuple[Value, ...], ...] = tuple((None, None, 0.0, 0) for _ in range(9)) + tuple(
        (None, None, 1.0, i) for i in range(20)
    )
    shown = render([chart("points", rows, series="")])
    assert shown.count("●") == 2  # nine of them in a corner, and the sign in the key
    assert "0.0000 │●" in shown


def test_bars_grow_from_zero() -> None:
    assert bar(1.0, 0.0, 1.0, 8) == "█" * 8
    assert bar(1 / 16, 0.0, 1.0, 8) == "▌"
    assert bar(0.0, 0.0, 1.0, 8) == ""
    assert bar(None, 0.0, 1.0, 8) == bar(1.0, 0.0, 1.0, 0) == ""
    assert bar(-1.0, -1.0, 3.0, 9).index("│") == bar(3.0, -1.0, 3.0, 9).index("│") == cell_of(0.0, -1.0, 3.0, 9)


def test_a_whisker_reaches_as_far_as_its_interval() -> None:
    assert whisker(ValueRange(2.0, 1.0, 4.0), 0.0, 4.0, 5) == "│├●─┤"
    assert whisker(3.0, 1.0, 5.0, 5) == "  ●"
    assert whisker(None, 1.0, 5.0, 5) == ""


@given(st.floats(-1, 1), st.integers(10, 60))
def test_a_bar_has_room(value: float, room: int) -> None:
    assert len(bar(value, -1.0, 1.0, room)) <= room
    assert len(whisker(ValueRange(value, value - 0.2, value + 0.2), -1.2, 1.2, room)) <= room


def test_heaps_lose_no_point() -> None:
    assert heaps([(0.0, 0.0)] * 8 + [(1.0, 0.0)] * 2, (0.0, 1.0), (0.0, 1.0), 2, 1) == ["●o"]


anything = st.lists(
    st.tuples(
        st.none() | st.text(max_size=40),
        st.none() | st.text(max_size=3),
        st.none() | st.floats(-1e6, 1e6) | st.just(math.nan) | st.builds(ValueRange, *[st.floats(-10, 10)] * 3),
        st.none() | st.integers(-1000, 1000),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(form=st.sampled_from(list(FORMS)), rows=anything)
def test_whatever_the_rows_there_is_text(form: Form, rows: Any) -> None:
    shown = render([chart(form, tuple(rows))])
    assert "A title" in shown
    assert as_markdown([chart(form, tuple(rows))]).startswith("### A title\n")


def test_markdown_has_the_first_rows_and_says_how_many_more() -> None:
    text = as_markdown([chart("bars", made(15, 2))])
    assert text.startswith("### A title\n\nA caption\n\n| name | other | value | count |\n")
    assert text.count("| name ") == 21
    assert "\nand 10 more rows\n" in text
    assert "more row" not in as_markdown([chart("bars", made(5, 2))])


def test_latex_leaves_charts_out() -> None:
    assert as_latex([chart("bars")]) == ""


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    rows: tuple[tuple[Value, ...], ...] = tuple((f"a\x1b[31m{i}\n", "b\x07", i / 10, i) for i in range(4))
    for form in FORMS:
        assert not {"\x1b", "\x07"} & set(render([chart(form, rows)]))


def test_what_is_made_is_blocks() -> None:
    for form in FORMS:
        assert in_text(chart(form))[0].text == "A title"  # type: ignore[union-attr]
