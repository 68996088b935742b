"""Logs that are Spark frames: the same numbers as here, cells that mean the same, and what cannot be told in a line."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from tests.made.experiments import users
from tests.made.parts import assert_close
from tests.verbs.online.test_online import made

import rankscope as rs
from rankscope.engines.remote_queries import RowReading, sent_objects
from rankscope.scoring.spark.logs import LogQuery

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark")  # not ours to mend


@pytest.fixture(autouse=True)
def large_parts(settings: Callable[..., None]) -> None:
    """Some parts of a log of a few thousand rows; each batch of Arrow is some hundred rows."""
    settings(rankscope_part_rows=400, sql_execution_arrow_maxRecordsPerBatch=150)


def views(result: Any, *names: str) -> list[list[dict[str, Any]]]:
    return [result.to_dicts(name) for name in names]


WHOLE = {
    "CTR",
    "ListCTR",
    "Abandonment",
    "CVR(per='click')",
    "ItemsPerSession",
    "SessionsPerUser",
    "ReformulationRate",
    "ReturnRate",
    "Retention",
}


def test_online_metrics(on_spark: Callable[..., Any]) -> None:
    log = (
        rs.simulate("log", users=60, days=10, seed=3)
        .log.rename({"query_id": "country"})
        .with_columns(country=pl.col("country").str.head(2))
    )
    options: Any = {"by": ["day", "position"], "slices": "country"}
    here, there = rs.online(log, **options), rs.online(on_spark(log), **options)
    names = "results", "by_day", "by_position", "slices"
    assert all(views(here, *names))
    assert_close(views(here, *names), views(there, *names))
    counted = [[one for one in result.to_dicts() if one["metric"] in WHOLE] for result in (here, there)]
    assert len(counted[0]) > 5
    assert counted[0] == counted[1]  # sums of whole numbers, to the bit
    assert [w.code for w in here.warnings] == [w.code for w in there.warnings]
    assert [f.count for f in here.health.facts] == [f.count for f in there.health.facts]
    assert "Not checked, as rows have no order: RS607" in str(there)


def test_rows_in_order_give_the_same_bits(spark: Any) -> None:
    """A frame whose rows come in order, as of one that was just read: sums over rows are taken in that order."""
    log = made(80).with_columns(revenue=pl.col("revenue") * 1.1)
    metrics = "CTR RPM OrderValue Dwell Mean(revenue) Attribute(dwell) LTV@3"
    frame = spark.createDataFrame(log.rows(), log.columns)
    assert rs.online(log, metrics).to_dicts() == rs.online(frame, metrics).to_dicts()


def test_an_experiment(on_spark: Callable[..., Any]) -> None:
    table = users(3, lift=2.0).with_columns(variant=pl.when(pl.col("user") == "u9").then(None).otherwise("variant"))
    table = pl.concat([table, table.head(3).with_columns(variant=pl.lit("B"))]).with_columns(segment=pl.col("country"))
    options: Any = {
        "metrics": ["Mean(revenue)", "Ratio(orders, sessions)"], "guardrails": {"Mean(orders)": "2%"}, "covariates": {"Mean(revenue)": "before"},
        "strata": "country", "winsorise": 0.99, "slices": ["segment"], "split": {"A": 0.5, "B": 0.5},
    }  # fmt: skip
    here, there = rs.experiment(table, **options), rs.experiment(on_spark(table), **options)
    assert here.warnings
    names = [view.name for view in here.views]
    assert_close(views(here, *names), views(there, *names))
    assert here.sample_ratio == there.sample_ratio
    assert [w.message for w in here.warnings] == [w.message for w in there.warnings]
    assert str(here) == str(there)


def test_an_experiment_of_impressions(on_spark: Callable[..., Any]) -> None:
    log = rs.simulate("experiment", users=150, seed=7, quality=(0.4, 0.7), truth=0).log
    here, there = (rs.experiment(one, primary="CTR", guardrails={"RPM": "5%"}) for one in (log, on_spark(log)))
    assert_close(here.to_dicts(), there.to_dicts())
    assert here.sample_ratio == there.sample_ratio
    plans = [rs.power(one, metrics=["CTR", "RPM"]) for one in (log, on_spark(log))]
    assert_close(*(plan.to_dicts() for plan in plans))
    assert str(plans[0]) == str(plans[1])


def test_other_verbs_take_them(on_spark: Callable[..., Any], tmp_path: Any) -> None:
    log = made(20).with_columns(clicked=pl.col("click"), shown=pl.col("item") != "i4").drop("click")
    here, there = rs.check(log), rs.check(on_spark(log))
    codes = [{one["code"]: one["count"] for one in result.to_dicts()} for result in (here, there)]
    assert codes[0] == codes[1]
    trial = made(80).with_columns(variant="country")
    gates = [rs.gate(one, metrics="CTR", tolerance="50%") for one in (trial, on_spark(trial))]
    assert_close(*(gate.to_dicts() for gate in gates))
    assert gates[0].exit_code == gates[1].exit_code
    rs.report(on_spark(log)).save(tmp_path / "log.html")
    assert "CTR" in (tmp_path / "log.html").read_text(encoding="utf-8")


CELLS: dict[str, pl.DataFrame] = {
    "yes and no, in any case, padded": pl.DataFrame({"user": [" a", "a ", "b", "b", "c"], "clicked": ["Yes", " no", "TRUE", "", None]}),
    "ids written as floats": pl.DataFrame({"user": ["1.0", "2.0", " 1.0", "1e3", ""], "clicked": [1, 0, 1, 0, 1]}),
    "ids that are floats": pl.DataFrame({"user": [1.0, 2.0, 1.0, None, 3.0], "clicked": [1, 0, 1, 0, 1]}),
    "ids that are numbers and words": pl.DataFrame({"user": ["1.0", "2", "1", "x", "1"], "clicked": [1.0, 0.0, None, math.nan, 3.0]}),
    "days": pl.DataFrame({"user": ["a", "b"] * 2, "clicked": [True, False] * 2, "date": [date(2024, 1, i) for i in range(1, 5)]}),
    "times without a zone": pl.DataFrame({"user": ["a", "b"] * 2, "clicked": [True, None] * 2, "time": [datetime(2024, 1, i, 23, 59, 59, 123456) for i in range(1, 5)]}),
    "seconds": pl.DataFrame({"user": ["a", "b"] * 2, "clicked": [1, 0] * 2, "ts": [1704067200 + i * 86400 for i in range(4)]}),
    "milliseconds as text": pl.DataFrame({"user": ["a", "b"] * 2, "clicked": [1, 0] * 2, "ts": [f"{1704067200000 + i * 86400000}" for i in range(3)] + [""]}),
    "times with zones as text": pl.DataFrame({"user": ["a", "b"], "clicked": [1, 0], "time": ["2024-01-01T23:30:00-02:00", "2024-01-02 00:30:00Z"]}),
    "decimals": pl.DataFrame({"user": ["a", "b"], "clicked": [1, 0], "revenue": [Decimal("1.10"), None]}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CELLS))
def test_cells_mean_what_they_mean_here(name: str, on_spark: Callable[..., Any]) -> None:
    log = CELLS[name].with_columns(item=pl.lit("i"))
    frame = on_spark(log)
    if log.schema.get("time") == pl.Datetime:  # Spark takes times of Arrow for its own, which have a zone
        frame = frame.withColumn("time", frame["time"].cast("timestamp_ntz"))
    here, there = rs.read_log(log), rs.read_log(frame)
    assert there.source.notes == here.source.notes
    assert there.schema == here.schema
    rows = there.gather(lambda frame: frame.filter(pl.col("item_id") == "i"))
    assert rows.sort(rows.columns).equals(here.collect(here.frame).sort(rows.columns))


ATTRIBUTES: dict[str, list[Any]] = {
    "whether": [True, False, None, True], "number": [1, 2, None, 1], "fraction": [0.5, None, 1.5, 0.5], "day": [date(2024, 1, 1), None, date(2023, 5, 6), date(2024, 1, 1)],
    "time of day": [datetime(2024, 1, 1, 5, tzinfo=UTC), None, datetime(2023, 5, 6, tzinfo=UTC), datetime(2024, 1, 1, 5, tzinfo=UTC)], "unit.price": [Decimal("1.10"), Decimal("2.20"), None, Decimal("1.10")],
    "a `name`, quoted": ["x", "y", None, "x"],
}  # fmt: skip


def test_attributes_of_any_type(on_spark: Callable[..., Any]) -> None:
    log = pl.DataFrame(
        {
            "user": ["a", "b", "c", "d"] * 5,
            "item": ["i"] * 20,
            "click": [1, 0, 1, 1] * 5,
            **{name: cells * 5 for name, cells in ATTRIBUTES.items()},
        }
    )
    here, there = (rs.online(one, "CTR", slices=list(ATTRIBUTES)) for one in (log, on_spark(log)))
    assert len(here.to_dicts("slices")) == sum(len(set(cells)) for cells in ATTRIBUTES.values())
    assert here.to_dicts("slices") == there.to_dicts("slices")


LOG = "user string, item string, click string"


@pytest.mark.parametrize(
    ("schema", "rows", "told"),
    [
        pytest.param(
            LOG,
            [("a", "i", "1"), ("b", "i", "maybe")],
            "log, column click: 'maybe': true or false, yes or no",
            id="a cell that is no flag",
        ),
        pytest.param(
            "user double, item string, click int",
            [(1.5, "i", 1)],
            "log, column user: '1.5': an id is a text or a whole number",
            id="a fraction as an id",
        ),
        pytest.param(
            "user string, item string, click int, time string",
            [("a", "i", 1, "2024-01-01T00:00:00Z"), ("a", "i", 1, "2024-01-01")],
            "1 time in column time says the zone and 1 does not",
            id="zones mixed",
        ),
        pytest.param(
            "user string, item string, click int, time array<int>",
            [("a", "i", 1, [1])],
            "column time is of type List(Int32); a time is like",
            id="lists as times",
        ),
        pytest.param("x array<int>", [([1],)], "no column is known among x; a log is a table", id="no column of a log"),
        pytest.param(
            "item string, click int",
            [("i", 1)],
            "no user, session or list is named, so that each row would be a unit",
            id="rows that are units",
        ),
    ],
)
def test_what_cannot_be_asked(schema: str, rows: list[Any], told: str, spark: Any) -> None:
    with pytest.raises(rs.RankscopeError) as raised:
        rs.online(spark.createDataFrame(rows, schema), "CTR")
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lists_do_not_travel(spark: Any) -> None:
    frame = spark.createDataFrame([("a", "i", 1, [1])], "user string, item string, click int, tags array<int>")
    assert rs.online(frame, "CTR")["CTR"] == 1.0
    with pytest.raises(
        rs.InputError, match=r"column tags is of type List\(Int32\): slices are of columns of text, numbers or dates"
    ):
        rs.online(frame, "CTR", slices="tags")


def test_a_column_of_text_that_is_asked_for_as_numbers(spark: Any) -> None:
    frame = spark.createDataFrame([("a", "1.5"), ("b", ""), ("c", "many")], "user string, spent string")
    assert rs.online(frame.where("user != 'c'"), "Mean(spent)")["Mean(spent)"] == 1.5
    with pytest.raises(rs.InputError, match=r"^log, column spent: 'many' is not a number$"):
        rs.online(frame, "Mean(spent)")


def test_rows_are_not_brought_here_unasked(spark: Any) -> None:
    log = rs.read_log(spark.createDataFrame([("a", "i", "1")], LOG))
    with pytest.raises(rs.InputError, match=r"needs all rows in one place, .*log\.toArrow\(\)"):
        log.collect(log.frame)


@pytest.mark.parametrize(
    "other",
    [pytest.param({"version": "0.0.1"}, id="another rankscope"), pytest.param({"polars": "0.20"}, id="another Polars")],
)
def test_executors_of_other_versions_say_so(other: dict[str, str]) -> None:
    task = LogQuery(b"", RowReading(b"", (), ()))
    changed: Any = other
    (row,) = list(replace(task, **changed).rows_answered(()))
    with pytest.raises(rs.InputError, match=r"and this is .* install the same"):
        sent_objects(row)
