"""Conditions on rows: which rows each of them keeps, and what is refused."""

from __future__ import annotations

import re
from datetime import datetime

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.logs.conditions import condition_of, why_no_condition

ROWS = {
    "user": ["a", "b", "c", "d"],
    "event": ["view", "buy", "it's", None],
    "amount": [1.5, 20.0, None, -3.0],
    "paid": ["TRUE", "no", "", "yes"],
    "code": ["01", "1", "2", ""],
    "odd name": ["x", "y", "x", "y"],
    "time": [datetime(2024, 5, day) for day in (1, 2, 3, 4)],
    "label": [0, 1, 2, 3],
}
KEPT = {
    "event = 'view'": "a",
    "event == 'view' OR event = 'buy'": "ab",
    "event <> 'view'": "bc",  # an empty cell is not known to differ
    "not event = 'view'": "bcd",
    "event = 'it''s'": "c",
    "event is null": "d",
    "event is not null and amount > 1": "ab",
    "amount >= 1.5": "ab",
    "amount < 0 or amount = 20": "bd",
    "amount between -3 and 1.5": "ad",
    "amount in (20, -3)": "bd",
    "amount not in (20, -3)": "a",
    "amount > label": "ab",
    "paid": "ad",
    "not paid": "bc",
    "paid = true": "ad",
    "paid = false": "b",
    "code = '01'": "a",
    "code > 0": "abc",  # a text is a number beside one
    "\"odd name\" = 'x'": "ac",
    "`odd name` like 'y%' and label >= 2": "d",
    "event like '_u%'": "b",
    "time >= '2024-05-03'": "cd",
    "user = 'b' or user = 'c' and label = 0": "b",  # and binds before or
    "(user = 'b' or user = 'c') and label > 1": "c",
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=re.sub(r"\W+", " ", re.sub(r"[0-9-]+", "n", text)) + f" keeps {kept}")
        for text, kept in KEPT.items()
    ],
)
def test_a_condition_keeps_these_rows(text: str) -> None:
    log = rs.read_log(pl.DataFrame(ROWS))
    assert "".join(log.collect(log.frame.filter(condition_of(text, log)))["unit_id"]) == KEPT[text]


WORDS = {
    "user = 5": "5",
    "user = '05'": "05",
    "user != 5": "05 5.5 true",
    "user = 5.5": "5.5",
    "user in (5, 5.5)": "5 5.5",
    "user = true": "",  # the text True
    "user = 'true'": "true",
    "click = 'yes'": "5 5.5",
    "click = ' NO '": "05",
    "click = true": "5 5.5",
    "click < 1": "05",
    "bought = 'y'": "05 5.5",
    "bought = 'f'": "5",
    "bought": "05 5.5",
    "spent = '2'": "05",
    "spent >= '1.5'": "05 5.5",
    "spent between 1 and 2": "5 05",
    "not (spent between 1 and 2)": "5.5 true",
    "spent not between 1 and 2": "5.5",
    "note like 'a.c'": "5",
    "note like 'a_c%'": "5 05 5.5",
    "note not like 'a%'": "true",  # a blank is a text, as long as nothing asks if it is empty
    "note like '%\n%'": "5.5",
    "note is null": "true",
    "spent = cost": "5",
    "spent != cost": "05 5.5",
}


@pytest.mark.parametrize("text", [pytest.param(text, id=re.sub(r"\W+", " ", text)) for text in WORDS])
def test_values_are_compared_as_what_the_column_holds(text: str) -> None:
    """Ids as text, flags by their words, numbers as numbers, and patterns over lines."""
    rows = {
        "user": ["5", "05", "5.5", "true"], "click": [1, 0, 1, None], "bought": [False, True, True, None],
        "spent": [1.0, 2.0, 3.0, None], "cost": ["1", "3", "2", "1"], "note": ["a.c", "abcd", "abc\n", " "],
    }  # fmt: skip
    log = rs.read_log(rows)
    assert " ".join(log.collect(log.frame.filter(condition_of(text, log)))["unit_id"]) == WORDS[text]


def test_what_cannot_be_read_is_cut_at_sixty_letters() -> None:
    for long in ("?" * 60, "?" * 61):
        shown = "?" * 60 if len(long) == 60 else "?" * 59 + "…"
        assert why_no_condition(long).startswith(f"cannot read {shown!r} in a condition")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        pytest.param("event = 'view", 'cannot read "\'view"', id="a quote that stays open"),
        pytest.param("event =", "it ends too early", id="half a comparison"),
        pytest.param("(event = 'a'", "it ends too early", id="a parenthesis that stays open"),
        pytest.param("event = 'a')", "cannot read ')'", id="one too many"),
        pytest.param("sum(amount) > 1", "cannot read 'sum('", id="a function"),
        pytest.param("amount; drop table x", "cannot read '; drop table x'", id="another language"),
        pytest.param("amount + 1 > 2", "cannot read '+ 1 > 2'", id="arithmetic"),
        pytest.param("'view'", "cannot read \"'view'\"", id="a value alone"),
    ],
)
def test_other_texts_are_refused_with_their_place(text: str, near: str) -> None:
    assert why_no_condition(text).startswith(near)
    with pytest.raises(InputError, match="in a condition: it compares columns by"):
        rs.Count(where=text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "evnt = 'view'", "no column 'evnt' for the condition \"evnt = 'view'\", did you mean event", id="a column"
        ),
        pytest.param("amount = 'many'", "column amount holds numbers, and 'many' is a text", id="a text for a number"),
        pytest.param("event > 1", "column event: 'view' is not a number", id="a number for a text"),
        pytest.param("time > 'soon'", "column time holds times: write one like '2024-05-01'", id="a time"),
    ],
)
def test_columns_that_do_not_fit_are_named(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        rs.online(pl.DataFrame(ROWS), rs.Count(where=text))
    assert said in str(error.value)


def test_a_filter_of_an_experiment_decides() -> None:
    events = pl.DataFrame({
        "user": [f"u{i}" for i in range(400) for _ in range(2)], "variant": ["A", "A", "B", "B"] * 200,
        "event": ["view", "view", "view", "buy"] * 200,
    })  # fmt: skip
    found = rs.experiment(
        events, "Share(where=\"event = 'buy'\")", guardrails="Count(where=\"event = 'view'\", better='higher')=10%"
    )
    assert found["B", rs.Share(where="event = 'buy'")].difference == 1.0
    assert [str(metric) for metric in found.roles] == [
        "Share(where=\"event = 'buy'\")",
        "Count(better='higher', where=\"event = 'view'\")",
    ]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/New_York"])
def test_a_time_with_a_zone_is_the_same_moment_in_every_zone_of_the_log(zone: str | None) -> None:
    log = rs.read_log(
        {"user": list("abc"), "spent": [1.0, 2.0, 4.0], "time": [f"2024-05-01T{hour}:30:00Z" for hour in (21, 22, 23)]},
        time_zone=zone,
    )
    for at in ("2024-05-01T22:30:00Z", "2024-05-02T00:30:00+02:00"):
        later, before = (f"Mean(spent, where=\"time {sign} '{at}'\", empty='zero')" for sign in (">=", "<"))
        found = rs.online(log, [later, before])
        assert [value.value * 3 for value in found.values] == pytest.approx([2.0 + 4.0, 1.0])


@pytest.mark.parametrize(("zone", "spent"), [(None, 4.0), ("Europe/Berlin", 6.0)])
def test_a_day_in_a_condition_begins_as_days_of_the_log_do(zone: str | None, spent: float) -> None:
    log = rs.read_log(
        {"user": list("abc"), "spent": [1.0, 2.0, 4.0], "time": ["2024-05-01T21:30:00Z", "2024-05-01T22:30:00Z", "2024-05-02T00:30:00Z"]},
        time_zone=zone,
    )  # fmt: skip
    found = rs.online(log, "Mean(spent, where=\"time >= '2024-05-02'\", empty='zero')")
    assert found.values[0].value * 3 == pytest.approx(spent)
