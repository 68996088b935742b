"""What is alone: sessions, lists and units of one row, one value of a unit, and what a metric is called and says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.logs.base import parse_online, parse_online_metrics
from rankscope.logs.metrics import require_direction, usual_metrics
from rankscope.logs.rollup import roll_up
from rankscope.logs.rows import UnitRows

ROWS: dict[str, Any] = {  # three sessions, two of one row each
    "user": ["a", "a", "b", "b"],
    "session": ["r", "s", "t", "t"],
    "list_id": ["k", "l", "m", "m"],
    "query": ["q", "q", "q", "q"],
    "item": list("wxyz"),
    "click": [1, 0, 0, 1],
    "conversion": [2, 0, 0, 3],
    "revenue": [8.0, 0.0, 0.0, 3.0],
    "time": ["2024-05-01T10:00:00Z", "2024-05-01T11:00:00Z", "2024-05-01T12:00:00Z", "2024-05-01T12:00:07.250Z"],
}
WORKED = {
    "SessionLength": (0 + 0 + 7.25, 3),
    "ItemsPerSession": (1 + 1 + 2, 3),
    "SessionsPerUser": (2 + 1, 2),
    "TimeToSuccess": (0 + 7.25, 2),
    "ReformulationRate": (0, 3),
    "ListCTR": (1 + 0 + 1, 3),
    "Abandonment": (0 + 1 + 0, 3),
    "CVR(per='session')": (1 + 0 + 1, 3),
    "CVR(per='unit')": (2, 2),
    "OrderValue": (8 + 3, 2 + 3),
    "RPM": (8000 + 3000, 4),
    "Count": (4, 2),
    "Mean(revenue, where='revenue > 5')": (8, 2),  # b has rows that are no such revenue: it spent 0
}


@pytest.mark.parametrize("name", WORKED)
def test_one_row_counts_as_many_do(name: str) -> None:
    value = rs.online(ROWS, name).values[0]
    assert (value.numerator, value.denominator, value.censored) == (*WORKED[name], 0)


def test_rates_are_named_by_what_they_are_out_of() -> None:
    names = {
        "click": ("click", "clicks"), "impression": ("impression", "impressions"), "list": ("list", "lists"), "session": ("session", "sessions"),
        "unit": ("user", "users"),
    }  # fmt: skip
    for per, (one, several) in names.items():
        metric = parse_online(f"CVR(per={per!r})")
        assert (metric.unit, metric.above, metric.below) == (one, f"{several} with a conversion", several)
    ratio = parse_online("Ratio(revenue, click)")
    assert (ratio.unit, ratio.above, ratio.below) == ("user", "revenue", "click")


def test_columns_that_a_rate_needs_are_those_it_is_out_of() -> None:
    columns = {"click": ["conversion", "click"], "impression": ["conversion"], "list": ["conversion", "impression_id"], "session": ["conversion", "session_id"], "unit": ["conversion", "unit_id"]}  # fmt: skip
    log = rs.read_log(ROWS)
    for per, needed in columns.items():
        assert [*parse_online(f"CVR(per={per!r})").columns(log)] == needed


def test_a_metric_decides_only_with_a_direction() -> None:
    log = rs.read_log(ROWS)
    for fine in (
        "CTR",
        "Mean(revenue)",
        "Mean(conversion)",
        "Mean(revenue, better='lower')",
        "Count(better='higher')",
        "TimeToSuccess",
    ):
        require_direction(log, parse_online(fine))
    for unknown in ("Mean(revenue, better='neither')", "Ratio(query, revenue)", "Quantile(revenue, q=0.5)"):
        with pytest.raises(
            InputError, match=r"decides, but its better direction is unknown: write .*higher.* or .*lower"
        ):
            require_direction(log, parse_online(unknown))
    for never in ("SessionLength", "ItemsPerSession", "Attribute(revenue)"):
        with pytest.raises(InputError, match="has no better direction: it cannot decide, name another metric"):
            require_direction(log, parse_online(never))


def test_usual_metrics_of_tables_of_units_are_means() -> None:
    units = rs.read_log({"user": ["a", "b"], "session": ["r", "s"], "click": [3, 4], "revenue": [1.0, 2.0]})
    assert list(map(str, usual_metrics(units))) == [
        "Mean(click)",
        "Mean(revenue)",
        "ItemsPerSession",
        "SessionsPerUser",
    ]
    nobody = rs.read_log({"click": [3, 4], "revenue": [1.0, 2.0]})
    assert list(map(str, usual_metrics(nobody))) == ["CTR", "RPM"]


def test_a_window_needs_times() -> None:
    log = rs.read_log({"user": ["a"], "click": [1]})
    for name in ("ReturnRate@2", "Retention@2"):
        with pytest.raises(InputError, match=f"^{name}: the log has no times$"):
            parse_online(name).parts(log, None)
    empty = rs.read_log(
        pl.DataFrame({"user": ["a"], "click": [1], "time": [None]}, schema_overrides={"time": pl.Datetime})
    )
    with pytest.raises(InputError, match=r"^Retention@2: the log has no times$"):
        roll_up(empty, parse_online_metrics("Retention@2"))


def test_rows_that_are_units_have_no_lists_or_sessions() -> None:
    log = rs.read_log({"item": ["a", "b"], "click": [1, 0], "position": [1, 2]})
    assert roll_up(log, parse_online_metrics("CTR Share(where='click = 1')")).numerators.tolist() == [[1, 0], [1, 0]]
    metric = parse_online("ItemsPerSession")
    object.__setattr__(metric, "needs", ())
    with pytest.raises(DataError, match=r"^log: no user, session or list is named$"):
        roll_up(log, [metric])


def test_values_of_rows_are_laid_out_unit_by_unit() -> None:
    lists = UnitRows.of_lists(pl.Series([[5.0], [], [7.0, 9.0], [1.0]]))
    assert (lists.values.tolist(), lists.starts.tolist(), lists.sizes.tolist()) == (
        [5, 7, 9, 1],
        [0, 1, 1, 3, 4],
        [1, 0, 2, 1],
    )
    assert lists.units.tolist() == [0, 2, 2, 3]
    single = UnitRows.of_lists(pl.Series([5.0, None, 7.0]))
    assert (single.values.tolist(), single.starts.tolist()) == ([5, 7], [0, 1, 1, 2])
    both = lists + single
    assert (both.values.tolist(), both.starts.tolist()) == ([5, 7, 9, 1, 5, 7], [0, 1, 1, 3, 4, 5, 5, 6])
    taken = both.take(np.array([6, 1, 2]))
    assert (taken.values.tolist(), taken.starts.tolist()) == ([7, 7, 9], [0, 1, 1, 3])


def test_two_sessions_whose_rows_lie_between_each_other_do_not_go_back_at_one_time() -> None:
    times = [f"2024-05-01T10:00:0{second}Z" for second in (5, 6, 5, 7, 9, 8)]
    rows = {"session": list("ststsu"), "item": list("abcdef"), "click": [0, 1] * 3, "time": times}
    assert not rs.check(rows, select="RS607").findings
    assert rs.check(rows | {"time": [*times[:2], times[0].replace("05Z", "04Z"), *times[3:]]}, select="RS607").findings
