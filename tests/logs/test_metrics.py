"""Every online metric on small logs, written as arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.logs.base import OnlineMetric, RatioParts, parse_online, parse_online_metrics
from rankscope.logs.metrics import usual_metrics

START = datetime(2024, 1, 1, 12, tzinfo=UTC)
# three lists of two users: an item a row; null says that nobody looked
SHOP: dict[str, list[Any]] = {
    "user": ["a", "a", "a", "a", "b", "b"],
    "list_id": ["l1", "l1", "l2", "l2", "l3", "l3"],
    "item": ["w", "x", "w", "y", "w", "z"],
    "position": [1, 2, 1, 2, 1, 2],
    "click": [1, 0, 0, 0, 1, None],
    "dwell": [40.0, None, None, None, 10.0, None],
    "conversion": [1, 0, 0, 0, 0, 0],
    "revenue": [20.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "reward": [0, 0, 1, 0, 0, 0],
}
WORKED = {
    "CTR": (2, 5),  # the row whose click is null was not observed
    "ListCTR": (2, 3),
    "Abandonment": (1, 3),
    "GoodAbandonment": (1, 1),
    "CVR(per='click')": (1, 2),
    "CVR(per='impression')": (1, 6),
    "CVR(per='list')": (1, 3),
    "CVR(per='unit')": (1, 2),
    "RPM": (1000 * 20, 6),
    "OrderValue": (20, 1),
    "Dwell": (40 + 10, 2),
    "SatisfiedClicks": (1, 5),
    "SatisfiedClicks(dwell=10)": (2, 5),
    "SatisfiedClicks(dwell=41)": (0, 5),
    "Mean(revenue)": (20, 2),
    "Mean(revenue, where='click = 0')": (0, 2),
    "Mean(dwell, where='position = 1')": (40 + 10, 2),
    "Count(where='click')": (2, 2),
    "Count(where=\"item in ('w', 'z') and not click\")": (1 + 1, 2),
    "Share(where='revenue > 0')": (1, 2),
    "Share(where=\"item = 'w'\")": (2, 2),
    "Attribute(position)": (1 + 1, 2),
    "Ratio(revenue, click)": (20, 2),
    "Ratio(revenue, click, where=\"user = 'a'\")": (20, 1),
}
# sessions: times in seconds from the start
VISITS: dict[str, list[Any]] = {
    "user": ["a"] * 5 + ["b"] * 3,
    "session": ["s1", "s1", "s1", "s2", "s2", "s3", "s3", "s3"],
    "query": ["q", "q", "r", "q", "q", "q", "r", "q"],
    "item": list("uvwuvuvw"),
    "click": [0, 0, 1, 0, 0, 1, 0, 0],
    "time": [0, 0, 60, 5000, 5030, 100, 500, 700],
}
WORKED_VISITS = {
    "SessionLength": (60 + 30 + 600, 3),
    "ItemsPerSession": (3 + 2 + 3, 3),
    "SessionsPerUser": (2 + 1, 2),
    "TimeToSuccess": (60 + 0, 2),  # the second session has no click
    "ReformulationRate": (
        1 + 0 + 1,
        2 + 1 + 3,
    ),  # q to r after 60 s, q alone, q to r after 400 s and r to q after 200 s
    "ReformulationRate(within=400)": (1 + 0 + 2, 6),
    "ReformulationRate(within=10)": (0, 6),
}


def shop(**changed: list[Any]) -> pl.DataFrame:
    return pl.DataFrame({**SHOP, **changed})


def visits() -> pl.DataFrame:
    return pl.DataFrame({**VISITS, "time": [START + timedelta(seconds=s) for s in VISITS["time"]]})


def returning() -> pl.DataFrame:
    """Users with events on these days after the first of January; the log ends on the tenth day."""
    days: dict[str, list[float]] = {"a": [0, 1, 9], "b": [0, 7], "c": [2, 2.2], "d": [8, 9]}
    rows = [(user, START + timedelta(days=day), 10.0) for user, each in days.items() for day in map(float, each)]
    return pl.DataFrame(rows, schema=["user", "time", "revenue"], orient="row")


WORKED_RETURNS = {
    "ReturnRate(days=1)": (1 + 0 + 0, 3, 1),  # a comes back on the next day; d was seen for one day of two
    "ReturnRate@7": (1 + 1, 2, 2),  # 8 days after the first event of c the log has ended
    "Retention@1": (1, 3, 1),
    "Retention@7": (0 + 1, 2, 2),
    "LTV(days=7)": (20 + 10 + 20, 3, 1),
    "LTV(days=9)": (20 + 20, 2, 2),  # the ninth day is over at its hour: a's last event is not in it
}


MIDNIGHTS = {  # a comes back as its second day begins, b as its third day begins
    "ReturnRate(days=1)": 1 / 2,
    "ReturnRate(days=2)": 2 / 2,
    "Retention@1": 1 / 2,
    "Retention@2": 1 / 2,
    "Retention@3": 0 / 2,
}


@pytest.mark.parametrize("name", MIDNIGHTS)
def test_midnight_is_in_the_day_that_begins_and_not_in_the_day_before(name: str) -> None:
    hours = {"a": (0, 12), "b": (0, 36), "c": (300,)}  # after noon of the first day; c is seen too late
    rows = [(user, START + timedelta(hours=hour)) for user, each in hours.items() for hour in each]
    log = pl.DataFrame(rows, schema=["user", "time"], orient="row")
    assert rs.online(log, name).values[0].value == MIDNIGHTS[name]


WORKED_QUANTILES = {  # the value, how many rows are at or below it, of how many
    "Quantile(dwell, q=0.5)": (10, 1, 2),  # of 10 and 40, as at least half are at or below 10
    "Quantile(dwell, q=0.51)": (40, 2, 2),
    "Quantile(revenue, q=0.5, where='position = 1')": (0, 2, 3),
    "Quantile(revenue, q=0.9)": (20, 6, 6),
    "Quantile(revenue, q=0.5, per='unit')": (0, 1, 2),  # users spent 20 and 0
    "Quantile(revenue, q=0.5, better='higher')": (0, 5, 6),
}


@pytest.mark.parametrize("name", WORKED_QUANTILES)
def test_quantiles(name: str) -> None:
    value = rs.online(shop(), name).values[0]
    assert (value.value, value.numerator, value.denominator, value.units) == (*WORKED_QUANTILES[name], 2)
    assert str(parse_online(name)) == name


@pytest.mark.parametrize("name", WORKED)
def test_metrics_of_lists(name: str) -> None:
    above, below = WORKED[name]
    value = rs.online(shop(), name).values[0]
    assert (value.numerator, value.denominator, value.value) == (above, below, above / below)
    assert value.units == 2


@pytest.mark.parametrize("name", WORKED_VISITS)
def test_metrics_of_sessions(name: str) -> None:
    above, below = WORKED_VISITS[name]
    value = rs.online(visits(), name).values[0]
    assert (value.numerator, value.denominator) == (above, below)


@pytest.mark.parametrize("name", WORKED_RETURNS)
def test_metrics_over_days_count_who_was_observed_for_long_enough(name: str) -> None:
    above, below, censored = WORKED_RETURNS[name]
    found = rs.online(returning(), name)
    value = found.values[0]
    assert (value.numerator, value.denominator, value.censored, value.units) == (above, below, censored, below)
    assert any(f"leaves out {censored}" in text for text in found.sentences())


def test_every_metric_has_a_worked_case() -> None:
    worked = {type(parse_online(name)) for name in (*WORKED, *WORKED_VISITS, *WORKED_RETURNS, *WORKED_QUANTILES)}
    ours = {cls for cls in OnlineMetric.catalogue.values() if cls.__module__ == "rankscope.logs.metrics"}
    assert worked == ours


@pytest.mark.parametrize("name", [*WORKED, *WORKED_VISITS, *WORKED_RETURNS])
def test_values_lie_within_their_range(name: str) -> None:
    log = shop() if name in WORKED else visits() if name in WORKED_VISITS else returning()
    value = rs.online(log, name).values[0]
    low, high = value.metric.range
    assert low <= value.value <= high
    assert not value.bounds.known or low <= value.bounds.lower <= value.value <= value.bounds.upper <= high


@pytest.mark.parametrize("name", [*WORKED, *WORKED_VISITS, *WORKED_RETURNS])
def test_a_spelling_is_read_back(name: str) -> None:
    metric = parse_online(name)
    assert parse_online(str(metric)) == metric


def test_rows_that_were_not_shown_do_not_count() -> None:
    assert rs.online(shop(shown=[1, 1, 1, 0, 0, 0]), "CTR").values[0].denominator == 3
    assert rs.online(shop(shown=[1, 1, 1, 0, 0, 0]), "ListCTR").values[0].value == 1 / 2


def test_what_the_columns_allow() -> None:
    allowed = [str(metric) for metric in usual_metrics(rs.read_log(shop()))]
    assert allowed == [
        "CTR",
        "ListCTR",
        "Abandonment",
        "GoodAbandonment",
        "CVR(per='click')",
        "RPM",
        "OrderValue",
        "Dwell",
        "SatisfiedClicks",
    ]
    assert [str(m) for m in rs.online(pl.DataFrame({"item": ["a"], "click": [1]})).metrics] == ["CTR"]


def test_a_metric_of_ones_own_is_one_class() -> None:
    class TopClicks(OnlineMetric):
        """Clicks on the first place, out of all clicks."""

        needs = ("click", "position")
        unit, above, below = "click", "clicks at position 1", "clicks"
        range = (0.0, 1.0)

        def parts(self, log: rs.Log, end: Any) -> RatioParts:
            clicked = (pl.col("click") > 0).fill_null(value=False)
            return RatioParts("row", (clicked & (pl.col("position") == 1)).cast(pl.Float64), clicked.cast(pl.Float64))

    try:
        log = shop(click=[1, 1, 0, 0, 1, None])
        assert rs.online(log, "TopClicks")["TopClicks"] == 2 / 3
        assert "TopClicks" in rs.catalogue("TopClicks").to_text()
        assert "TopClicks" not in {str(metric) for metric in rs.online(log).metrics}
    finally:
        OnlineMetric.catalogue.pop("TopClicks", None)


def test_a_condition_needs_no_name() -> None:
    written = ["Share(retention_7)", "Count('a > 1')", "Share(bought, better=higher)", "Count"]
    assert list(map(str, parse_online_metrics(written))) == [
        "Share(where='retention_7')",
        "Count(where='a > 1')",
        "Share(better='higher', where='bought')",
        "Count",
    ]
    with pytest.raises(InputError, match="every parameter needs its name"):
        parse_online("CTR(retention_7)")


def test_several_in_a_text() -> None:
    several = parse_online_metrics("CTR, Retention@1,7 Ratio(orders, sessions) CTR")
    assert list(map(str, several)) == ["CTR", "Retention@1", "Retention@7", "Ratio(orders, sessions)"]
    with pytest.raises(InputError, match=r"Retention@1,7 is 2 online metrics: name one, like Retention@1"):
        parse_online("Retention@1,7")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("CTRR", "no online metric is called CTRR, did you mean CTR", id="a name that is nearly there"),
        pytest.param("SatisfiedClicks(dwell=-1)", "dwell must be at least 0", id="a threshold below 0"),
        pytest.param("Retention@0", "days must be from 1 to 3650", id="no days"),
        pytest.param("Ratio(revenue)", "Ratio needs denominator", id="half a ratio"),
        pytest.param("CVR(per='page')", "per must be one of", id="a word that is none"),
    ],
)
def test_what_is_no_metric_is_said(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(").replace(")", r"\)")):
        rs.online(shop(), name)


def test_columns_that_are_missing_are_named() -> None:
    with pytest.raises(DataError, match=r"SessionLength needs the column session_id \(one visit\) and timestamp"):
        rs.online(shop(), "SessionLength")
    with pytest.raises(InputError, match="no column 'orders'"):
        rs.online(shop(), "Mean(orders)")


@pytest.mark.parametrize(
    ("metric", "expected"), [("ReturnRate", 1 / 2), ("ReturnRate@8", 1.0), ("Retention", 1 / 2), ("Retention@8", 1 / 2)]
)
def test_a_week_is_meant_where_no_days_are_named(metric: str, expected: float) -> None:
    """One user comes back on the seventh day after the first, another on the eighth."""
    days = {"a": (1, 8), "b": (1, 9), "late": (30,)}
    rows = [(user, f"2024-05-{day:02}T12:00:00Z", 0) for user, seen in days.items() for day in seen]
    log = pl.DataFrame(rows, schema=["user", "time", "click"], orient="row")
    assert rs.online(log, metric)[metric] == pytest.approx(expected), metric
