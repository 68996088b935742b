"""Experiments by day: each day by itself, and one test of late less early within users, which is honest where users come back."""

from __future__ import annotations

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days, log_of_users, users

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError

# --- laws -----------------------------------------------------------------------------------------------------------


def test_a_day_is_the_experiment_on_the_rows_of_that_day() -> None:
    log = log_of_days(seed=71)
    by_day = rs.experiment(log, "CTR", by="day").to_dicts("by_day")
    assert [row["day"] for row in by_day] == [f"2024-03-0{day}" for day in range(1, 7)]
    assert [row["number"] for row in by_day] == [1, 2, 3, 4, 5, 6]
    printed = [
        line
        for line in rs.experiment(log, "CTR", by="day").to_text().splitlines()
        if line[:9] == " 2024-03-" and " B " in line
    ]
    assert len(printed) == 6
    assert all(" to " in line and "%" in line for line in printed)
    for row in by_day:
        (own,) = rs.experiment(log.filter(pl.col("time").dt.date().cast(pl.String) == row["day"]), "CTR").to_dicts()
        for name in ("value", "baseline_value", "difference", "ci_lower", "ci_upper", "relative", "p_value", "units"):
            assert row[name] == pytest.approx(own[name], rel=1e-12), name


def test_days_change_no_other_number() -> None:
    log = log_of_days(seed=72)
    plain, by_day = rs.experiment(log, "CTR"), rs.experiment(log, "CTR", by="day")
    assert plain.to_dicts() == by_day.to_dicts()
    assert not {"by_day", "change"} & plain.json_document().keys()


@pytest.mark.parametrize("covariates", [None, {"CTR": "before"}], ids=["plain", "with a covariate"])
def test_the_change_is_late_less_early(covariates: Any) -> None:
    log = log_of_days(seed=73).with_columns(before=pl.col("user").hash(1) % 7)
    (row,) = rs.experiment(log, "CTR", by="day", covariates=covariates).to_dicts("change")
    assert row["change"] == pytest.approx(row["late"] - row["early"], rel=1e-9)


def test_halves_are_the_same_where_each_user_is_a_cluster() -> None:
    log = log_of_days(seed=75).with_columns(own=pl.col("user"))
    plain, clustered = (
        rs.experiment(log, "CTR", by="day", clusters=own).to_dicts("change")[0] for own in (None, "own")
    )
    for name in ("early", "late"):
        assert clustered[name] == pytest.approx(plain[name], rel=1e-9)


def test_where_everybody_comes_in_both_halves_it_is_the_test_of_users_own_changes() -> None:
    from scipy.stats import ttest_ind

    draws = np.random.default_rng(74)
    count = 300
    first, second = draws.gamma(2.0, 3.0, count), draws.gamma(2.0, 3.0, count)
    table = pl.DataFrame({
        "user": [*range(count)] * 2, "variant": ["A", "B"] * count, "revenue": [*first, *(first + second)],
        "date": ["2024-03-01"] * count + ["2024-03-02"] * count,
    })  # fmt: skip
    (row,) = rs.experiment(table, "Mean(revenue)", by="day").to_dicts("change")
    theirs = ttest_ind(second[1::2], second[::2], equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert row["p_value"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert (row["ci_lower"], row["ci_upper"]) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_where_nobody_comes_back_halves_are_independent() -> None:
    log = log_of_days(seed=75).with_columns(user=pl.col("user") + pl.col("time").dt.to_string("-%d"))
    (row,) = rs.experiment(log, "CTR", by="day").to_dicts("change")
    late = pl.col("time").dt.day() > 3
    errors = [rs.experiment(log.filter(half), "CTR")["B", "CTR"].pair.means.error for half in (~late, late)]
    assert (row["ci_upper"] - row["ci_lower"]) / 2 == pytest.approx(1.96 * math.hypot(*errors), rel=5e-3)


@pytest.mark.slow
def test_where_nothing_changes_a_change_is_found_as_often_as_alpha_says() -> None:
    rounds, found = 300, 0
    for seed in range(rounds):
        log = log_of_days(seed=7000 + seed, count=160, early=0.1, late=0.1)
        (row,) = rs.experiment(log, "CTR", by="day").to_dicts("change")
        found += row["p_value"] <= 0.05
    assert found / rounds == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.6, 0.5], ids=["all buy more late", "all buy less late"])
def test_a_constant_lift_neither_grows_nor_wears_off_when_the_baseline_changes(factor: float) -> None:
    rounds, told = 200, 0
    count = 400
    for seed in range(rounds):
        draws = np.random.default_rng(seed)
        rows = [
            (f"u{i}", "AB"[i % 2], 5 * draws.gamma(2.0) * (1.3 if i % 2 else 1.0) * (factor if half else 1.0), f"2024-03-0{1 + half}")
            for half in (0, 1) for i in np.flatnonzero(draws.random(count) < 0.7)
        ]  # fmt: skip
        log = pl.DataFrame(rows, schema=["user", "variant", "revenue", "date"], orient="row")
        told += any("over the days" in text for text in rs.experiment(log, "Mean(revenue)", by="day").sentences())
    assert told / rounds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.parametrize("metric", ["Quantile(worth, q=0.5)", "Mean(worth)"], ids=["a quantile", "a mean"])
def test_other_metrics_have_days_too(metric: str) -> None:
    log = log_of_days(seed=88).with_columns(worth=pl.col("item") * 1.7 + pl.col("user").cast(pl.Int64) % 5)
    found = rs.experiment(log, metric, by="day")
    assert len(found.to_dicts("by_day")) == 6
    (row,) = found.to_dicts("change")
    assert row["change"] == pytest.approx(row["late"] - row["early"], rel=1e-9)
    assert 0 <= row["p_value"] <= 1


# --- what is told -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("early", "late", "verb"), [(0.2, 0.0, "wears off"), (0.0, 0.2, "grows"), (0.15, -0.1, "turns around")],
    ids=["wears off", "grows", "turns around"],
)  # fmt: skip
def test_a_change_is_told_in_a_sentence(early: float, late: float, verb: str) -> None:
    found = rs.experiment(log_of_days(seed=76, early=early, late=late), "CTR", by="day")
    (said,) = [text for text in found.sentences() if "over the days" in text]
    assert said.startswith(f"The difference between B and A on CTR {verb} over the days: ")
    assert "in the first 3 days" in said
    assert "in the 3 days after (change" in said


def test_no_change_is_not_told() -> None:
    found = rs.experiment(log_of_days(seed=77, early=0.1, late=0.1), "CTR", by="day")
    assert not any("over the days" in text for text in found.sentences())
    assert "a user counts on every day with a visit" in found.table("by_day").note


def test_several_variants_are_corrected() -> None:
    log = log_of_days(seed=78, early=0.2).with_columns(
        variant=pl.when(pl.col("user").cast(pl.Int64) % 3 == 0).then(pl.lit("C")).otherwise(pl.col("variant"))
    )
    rows = rs.experiment(log, "CTR", by="day", split="A=1,B=1,C=1").to_dicts("change")
    assert min(row["p_value_adjusted"] for row in rows) == pytest.approx(2 * min(row["p_value"] for row in rows))


def test_the_page_and_the_chart_show_days() -> None:
    found = rs.experiment(log_of_days(seed=79), "CTR", by="day")
    chart = found.chart("by_day")
    assert chart is not None
    first = (date(2024, 3, 1) - date(1970, 1, 1)).days
    assert [row[1] for row in chart.rows] == [first + i for i in range(6)]
    days = next(section for section in rs.report(found).page.sections if section.name == "days")
    assert [getattr(block, "name", "") for block in days.blocks] == ["by_day", "cumulated", "change", "by_day"]


def test_rows_without_a_time_are_counted() -> None:
    log = log_of_days(seed=80).with_row_index("row")
    log = log.with_columns(time=pl.when(pl.col("row") < 5).then(None).otherwise(pl.col("time"))).drop("row")
    assert "5 rows without a time left out" in rs.experiment(log, "CTR", by="day").table("by_day").note


def test_days_without_enough_users_are_counted() -> None:
    log = log_of_days(seed=89)
    first = pl.col("time").dt.day() == 1
    found = rs.experiment(log.filter(~first | (pl.col("variant") == "A")), "CTR", by="day")
    assert [row["number"] for row in found.to_dicts("by_day")] == [2, 3, 4, 5, 6]
    assert "1 day left out, as a variant has too few units there" in found.table("by_day").note


def test_a_withheld_verdict_tells_no_change() -> None:
    log = log_of_days(seed=81, early=0.3).filter((pl.col("variant") == "A") | (pl.col("user").cast(pl.Int64) % 4 == 1))
    found = rs.experiment(log, "CTR", by="day")
    assert found.exit_code == 3
    assert not any("over the days" in text for text in found.sentences())


# --- bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "options", "error", "said"),
    [
        (lambda: log_of_users(seed=82), {"metrics": "CTR"}, DataError, "by day needs the column timestamp"),
        (lambda: log_of_days(seed=83, days=1), {"metrics": "CTR"}, DataError,
         "all rows are of 2024-03-01: whether a difference changes over days takes two days or more"),
        (lambda: log_of_days(seed=84), {"metrics": "Retention@2"}, InputError, "looks over days by itself"),
        (lambda: log_of_days(seed=84), {"metrics": "CTR", "by": "position"}, InputError, "by='position': an experiment is reported by 'day'"),
        (lambda: log_of_days(seed=84), {"metrics": "CTR", "by": 3}, InputError, "by=3"),
        (lambda: log_of_days(seed=85).filter((pl.col("variant") == "A") | (pl.col("time").dt.day() < 4)), {"metrics": "CTR"}, DataError,
         "B has no impressions that were shown in the second half of the days"),
    ],
    ids=["no times", "one day", "a metric over days", "by position", "by a number", "a variant that ends early"],
)  # fmt: skip
def test_bad_input(log: Any, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        rs.experiment(log(), **{"by": "day", **options})
    assert said in str(caught.value)


def test_a_table_of_users_with_a_date_has_days() -> None:
    table = users(seed=86).with_columns(date=pl.lit("2024-03-0") + (pl.col("sessions") % 4 + 1).cast(pl.String))
    rows = rs.experiment(table, "Mean(revenue)", by="day").to_dicts("by_day")
    assert sum(row["units"] for row in rows) == 2000


def test_the_command_looks_by_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log_of_days(seed=87, early=0.2).write_parquet(tmp_path / "log.parquet")
    command = ["experiment", str(tmp_path / "log.parquet"), "--primary", "CTR", "--by", "day"]
    assert main([*command, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["by_day"]) == 6
    assert record["change"][0]["p_value"] < 0.001
    assert main(command) == 0
    assert "CTR by day" in capsys.readouterr().out


def test_one_user_in_a_half_says_nothing_of_a_change() -> None:
    log = pl.DataFrame({
        "user": [1, 2, 3, 4, 5, 6, 7], "variant": list("ABABABA"), "spent": [10.0, 20.0, 10.1, 20.2, 10.2, 6.0, -7.0],
        "time": [*[date(2024, 3, 1)] * 5, date(2024, 3, 2), date(2024, 3, 2)],
    })  # fmt: skip
    (change,) = rs.experiment(log, "Mean(spent)", by="day").to_dicts("change")
    assert change["relative_change_p_value"] is None


def test_effects_cumulated_over_days_end_with_the_whole_experiment() -> None:
    found = rs.experiment(rs.simulate("experiment", users=400, seed=3, truth=0).log, "CTR", by="day")
    assert found.days is not None
    so_far, alone, whole = found.days.cumulated, found.days.days, found.contrasts[0]
    last, first = so_far[-1].contrast, so_far[0]
    assert (last.difference, last.bounds.lower, last.value) == (whole.difference, whole.bounds.lower, whole.value)
    assert (first.day, first.contrast.difference) == (alone[0].day, alone[0].contrast.difference)
    assert [one.day for one in so_far] == sorted(one.day for one in so_far)
    rows = found.to_polars("cumulated")
    assert rows.height == len(so_far)
    assert rows["value"][-1] == whole.value
