"""Rows that were merged for several roll-ups say what all rows say."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from tests.logs.test_rollup import a_log, assert_units

import rankscope as rs
from rankscope.files import logs
from rankscope.files.matrices import holds_scores
from rankscope.impressions import Log
from rankscope.logs import rollup
from rankscope.logs.base import parse_online_metrics
from rankscope.logs.cuts import DAY, with_days, with_merged_rows
from rankscope.logs.metrics import usual_metrics
from rankscope.logs.rollup import roll_up

MORE = "CVR(per='list') CVR(per='session') CVR(per='unit') LTV@3 LTV@7 ReturnRate@2 Share(where='click = 1') Count Mean(dwell_s) Ratio(revenue,dwell_s)"
LOGS = {
    "as it is": lambda rows: rows,
    "with rows that were not shown": lambda rows: rows.with_columns(shown=pl.col("item") != "i2"),
    "with padded ids": lambda rows: rows.with_columns(
        pl.col("list_id") + pl.when(pl.col("item") == "i1").then(pl.lit(" ")).otherwise(pl.lit(""))
    ),
    "with ids that are numbers": lambda rows: rows.with_columns(pl.col("user").str.slice(1).cast(pl.Int64)),
    "with rows without a time": lambda rows: rows.with_columns(time=pl.when(pl.col("item") != "i1").then("time")),
    "in no order": lambda rows: rows.sample(fraction=1.0, shuffle=True, seed=5),
}


def made_log(name: str) -> Log:
    log = a_log()
    rows = log.collect(log.frame).rename(
        {"unit_id": "user", "item_id": "item", "impression_id": "list_id", "timestamp": "time"}
    )
    return rs.read_log(LOGS[name](rows))


@pytest.mark.parametrize("name", LOGS)
def test_merged_rows_give_the_same_units(name: str) -> None:
    log = made_log(name)
    metrics = list(dict.fromkeys([*usual_metrics(log), *parse_online_metrics(MORE)]))
    merged = with_merged_rows(log, metrics, ["variant", "country"])
    assert merged.merged is not None
    assert {*merged.merged.metrics} == {*metrics}
    for by in ([], ["variant"], ["variant", "country"]):
        assert_units(roll_up(merged, metrics, by, ids=True), roll_up(log, metrics, by, ids=True), exact=False)
    of_days = [metric for metric in metrics if not metric.windowed]
    one, two = (roll_up(with_days(some), of_days, [DAY], ids=True) for some in (merged, log))
    assert_units(one, two, exact=False)


@pytest.mark.parametrize("full", [0.0, 2.0], ids=["not merged again", "merged again"])
@pytest.mark.parametrize("name", ["as it is", "with padded ids", "in no order"])
def test_merged_pieces_give_the_same_units(monkeypatch: pytest.MonkeyPatch, name: str, full: float) -> None:
    monkeypatch.setattr(logs, "PIECE", 100)
    monkeypatch.setattr(rollup, "FULL", full)
    log = made_log(name)
    assert len(log.pieces) > 1
    metrics = list(dict.fromkeys([*usual_metrics(log), *parse_online_metrics(MORE)]))
    merged = with_merged_rows(log, metrics, ["variant"])
    assert merged.merged is not None
    for by in ([], ["variant"]):
        assert_units(roll_up(merged, metrics, by, ids=True), roll_up(log, metrics, by, ids=True), exact=False)


def test_rows_are_merged_where_few_are_left() -> None:
    lists = [f"l{i // 10}" for i in range(100)]
    log = rs.read_log(
        {
            "user": [f"u{i // 50}" for i in range(100)],
            "list_id": lists,
            "item": [*"abcdefghij"] * 10,
            "click": [1, *[0] * 9] * 10,
        }
    )
    merged = with_merged_rows(log, parse_online_metrics("CTR ListCTR")).merged
    assert merged is not None
    assert len(merged.table) == 20  # of each list, the clicked row and all others
    assert int(merged.table[" rows"].sum()) == 100


def test_a_large_log_of_different_rows_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "FEW", 10)
    monkeypatch.setattr(rollup, "MOST", 20)
    log = rs.read_log({"user": list(range(40)), "item": ["a"] * 40, "click": [0, 1] * 20})
    assert with_merged_rows(log, parse_online_metrics("CTR")).merged is None


def test_other_metrics_and_other_rows_are_summed_anew() -> None:
    log = a_log()
    merged = with_merged_rows(log, parse_online_metrics("CTR ListCTR"), ["variant"])
    for metrics in parse_online_metrics("RPM"), parse_online_metrics("Attribute(dwell_s) CTR"):
        assert_units(roll_up(merged, metrics, ids=True), roll_up(log, metrics, ids=True))
    some, all_rows = (one.turned(lambda rows: rows.filter(pl.col("position") == 1)) for one in (merged, log))
    metrics = parse_online_metrics("CTR")
    assert_units(roll_up(some, metrics, ids=True), roll_up(all_rows, metrics, ids=True))


def test_a_query_counts_once_at_one_time() -> None:
    times = ["2024-05-01T10:00:00"] * 4 + ["2024-05-01T10:01:00"]
    log = {
        "user": ["u"] * 5,
        "session": ["s"] * 5,
        "query": ["a", "b", "a", "b", "c"],
        "item": list("12345"),
        "time": times,
        "click": [0] * 5,
    }
    found = rs.online(log, "ReformulationRate").values[0]
    assert (found.numerator, found.denominator) == (2.0, 3.0)


def test_times_go_back_across_rows_without_one() -> None:
    seconds = [5, None, 3, 6]
    times = [None if second is None else f"2024-05-01T10:00:0{second}" for second in seconds]
    log = {
        "session": ["s"] * 4 + ["t", "t"],
        "item": list("abcdef"),
        "click": [0] * 6,
        "time": [*times, *times[:1], *times[3:]],
    }
    assert all(a is None or b is None or a != b for a, b in pairwise(times))
    (fact,) = rs.check(log, select="RS607")
    assert fact.count == 1


def test_the_first_rows_of_a_log_tell_that_it_holds_no_scores(tmp_path: Path) -> None:
    a_log().frame.collect().write_parquet(tmp_path / "log.parquet")
    pl.DataFrame({"query_id": ["q1", "q2"], "old": [0.5, 0.25], "new": [0.75, 1.0]}).write_parquet(
        tmp_path / "scores.parquet"
    )
    assert not holds_scores(str(tmp_path / "log.parquet"))
    assert holds_scores(str(tmp_path / "scores.parquet"))
    assert not holds_scores(str(tmp_path / "absent.parquet"))
