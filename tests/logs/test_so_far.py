"""Totals that add up over the days: what they give is what rolling the rows up to each day gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankscope.files.logs import read_log
from rankscope.impressions import Log
from rankscope.logs.base import parse_online
from rankscope.logs.cuts import DAY, with_days
from rankscope.logs.rollup import UnitTotals, adds_up, roll_up, so_far

START = datetime(2026, 3, 1)
ADDING = ["CTR", "ListCTR", "Mean(revenue)", "Mean(revenue, where='click > 0')", "Count(where='click > 0')", "Attribute(age)", "Quantile(dwell_s, q=0.5)"]  # fmt: skip


def log_of(*, over_midnight: bool = False, shuffled: bool = True) -> Log:
    """Lists of three rows of 12 users on 5 days; ``over_midnight`` the last row of each list is a day later."""
    draw = np.random.default_rng(3)
    lists = np.repeat(np.arange(80), 3)
    user, day = draw.integers(0, 12, 80)[lists], draw.integers(0, 5, 80)[lists]
    late = timedelta(days=1) if over_midnight else timedelta(0)
    times = [
        START + timedelta(days=int(d), minutes=int(i)) + (late if i % 3 == 2 else timedelta(0))
        for i, d in enumerate(day)
    ]
    table = pl.DataFrame({
        "user": [f"u{one}" for one in user], "list_id": [f"l{one}" for one in lists], "position": np.tile([1, 2, 3], 80), "time": times,
        "click": draw.random(240) < 0.3, "revenue": np.where(draw.random(240) < 0.5, draw.random(240), np.nan), "age": user.astype(float),
        "dwell_s": draw.integers(0, 9, 240).astype(float), "query": [f"q{one % 7}" for one in lists], "session": [f"s{one}" for one in user],
    })  # fmt: skip
    return with_days(read_log(table.sample(fraction=1.0, shuffle=True, seed=2) if shuffled else table))


def by_name(units: UnitTotals) -> dict[str, tuple[list[float], ...]]:
    """The numerators, the denominators and the sorted values of each unit."""
    assert units.ids is not None
    rows = [
        sorted(held.take(np.array([at])).values.tolist()) for held in units.values.values() for at in range(units.count)
    ]
    columns = zip(units.ids, units.numerators.T.tolist(), units.denominators.T.tolist(), strict=True)
    return {name: (above, below, *rows[at : at + 1]) for at, (name, above, below) in enumerate(columns)}


@pytest.mark.parametrize("metric", ADDING)
def test_totals_up_to_each_day_are_those_of_its_rows(metric: str) -> None:
    log, asked = log_of(), [parse_online(metric)]
    units = roll_up(log, asked, [DAY], ids=True)
    days = units.groups[DAY]
    seen = 0
    for day, found in so_far(log, UnitTotals(**{**vars(units), "groups": {}}), days):
        rows = log.turned(lambda frame, day=day: frame.filter(pl.col(DAY) <= day))  # type: ignore[misc]
        expected, got = by_name(roll_up(rows, asked, ids=True)), by_name(found)
        assert got.keys() == expected.keys()
        for name, parts in expected.items():
            for one, other in zip(got[name], parts, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        seen += 1
    assert seen == 5


@pytest.mark.parametrize(
    ("metric", "over_midnight", "adds"),
    [("CTR", True, True), ("ListCTR", False, True), ("ListCTR", True, False), ("Share(where='click > 0')", False, False)],
)  # fmt: skip
def test_lists_add_up_unless_one_has_rows_of_two_days(metric: str, over_midnight: bool, adds: bool) -> None:
    assert adds_up(log_of(over_midnight=over_midnight), parse_online(metric), DAY) is adds


@pytest.mark.parametrize("part", [12, 1000], ids=["in parts", "at once"])
def test_one_list_of_two_days_is_enough_not_to_add_up(part: int) -> None:
    frame = pl.DataFrame({
        "user": "u", "list_id": [f"l{n // 2}" for n in range(60)], "position": [1, 2] * 30, "click": 0,
        "time": [START + timedelta(days=n // 20, hours=24 if n == 31 else 0) for n in range(60)],
    })  # fmt: skip
    for log, adds in ((frame, False), (frame.filter(pl.col("list_id") != "l15"), True)):
        assert adds_up(replace(with_days(read_log(log)), part=part), parse_online("ListCTR"), DAY) is adds


def asked_again(rows: list[tuple[Any, Any]], within: float) -> tuple[int, int]:
    """Queries that another one follows soon enough, and all queries, of one session by the definition."""
    ordered = sorted(rows, key=lambda row: row[1])
    starts = [row for at, row in enumerate(ordered) if row[0] is not None and (not at or ordered[at - 1][0] != row[0])]
    pairs = pairwise(starts)
    soon = [one[0] != other[0] and (other[1] - one[1]).total_seconds() <= within for one, other in pairs]
    return sum(soon), len(starts)


@pytest.mark.parametrize("shuffled", [True, False])
def test_reformulations_are_those_of_each_session(shuffled: bool) -> None:
    log = log_of(shuffled=shuffled)
    units = roll_up(log, [parse_online("ReformulationRate(within=600)")], ids=True)
    sessions: dict[str, list[tuple[Any, Any]]] = {}
    for user, query, time in log.frame.select("unit_id", "query_id", "timestamp").collect().rows():
        sessions.setdefault(user, []).append((query, time))
    expected = {user: tuple(map(float, asked_again(rows, 600))) for user, rows in sessions.items()}
    assert units.ids is not None
    got = zip(units.numerators[0].tolist(), units.denominators[0].tolist(), strict=True)
    assert dict(zip(units.ids, got, strict=True)) == expected
    assert sum(above for above, _ in expected.values()) > 0
