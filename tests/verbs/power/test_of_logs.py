"""Plans from logs: users and days that lifts take, what users at hand can detect, and bad input."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_users, users

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.verbs.power.log import ExperimentPlan


def plan_of(log: pl.DataFrame, *arguments: Any, **options: Any) -> ExperimentPlan:
    found = rs.power(log, *arguments, **options)
    assert isinstance(found, ExperimentPlan)
    return found


def days_of(log: pl.DataFrame, days: int) -> pl.DataFrame:
    """The rows of each user on one day, as many users a day."""
    number = pl.col("user").cast(pl.Int64)
    start = datetime(2024, 3, 1)
    return log.with_columns(timestamp=pl.lit(start) + (number % days) * timedelta(days=1))


def test_the_deviation_is_that_of_the_delta_method() -> None:
    log = log_of_users(seed=41)
    plan = plan_of(log, None, "CTR").reaches[0]
    by_user = log.group_by("user").agg(pl.col("click").sum().cast(pl.Float64), shown=pl.len().cast(pl.Float64))
    clicks, shown = by_user["click"].to_numpy(), by_user["shown"].to_numpy()
    ratio = clicks.sum() / shown.sum()
    assert plan.value == pytest.approx(ratio)
    assert plan.deviation == pytest.approx(np.std((clicks - ratio * shown) / shown.mean(), ddof=1))


def test_a_lift_that_the_users_at_hand_detect_needs_no_more_than_them() -> None:
    plan = plan_of(users(seed=42), None, "Mean(revenue)", lift=[0.01, 0.05, "20%"])
    reach = plan.reaches[0]
    for target in reach.targets:
        assert (target.units <= reach.units) == (target.difference >= reach.detectable * 0.999)
        assert target.lift == pytest.approx(target.difference / reach.value)
    sizes = [target.units for target in reach.targets]
    assert sizes == sorted(sizes, reverse=True)


def test_what_is_planned_has_the_power_it_says() -> None:
    rng, plan = np.random.default_rng(3), plan_of(users(seed=43), None, "Mean(sessions)", lift=0.1, power=0.8)
    target, reach = plan.reaches[0].targets[0], plan.reaches[0]
    each, found, rounds = target.units // 2, 0, 2000
    draws = rng.normal(0, reach.deviation, (rounds, 2, each))
    difference = draws[:, 0].mean(axis=1) - draws[:, 1].mean(axis=1) + target.difference
    error = np.sqrt(draws.var(axis=2, ddof=1).sum(axis=1) / each)
    found = (np.abs(difference / error) > 1.96).mean()
    assert found == pytest.approx(0.8, abs=0.04)


def test_days_go_by_the_pace_of_the_log() -> None:
    log = days_of(log_of_users(seed=44, count=400), 8)  # 50 new users a day
    plan = plan_of(log, None, "CTR", lift=[0.02, 0.05, 5.0])
    assert list(plan.arrivals) == [50] * 8
    for target in plan.reaches[0].targets:
        assert target.days == math.ceil(target.units / 50)
    assert plan_of(log.drop("timestamp"), None, "CTR").reaches[0].targets[0].days is None


def test_a_covariate_saves_users() -> None:
    plain, adjusted = (
        plan_of(users(seed=45), None, "Mean(revenue)", lift=0.05, covariates=c).reaches[0].targets[0].units
        for c in (None, {"Mean(revenue)": "before"})
    )
    assert adjusted < 0.6 * plain


def test_an_uneven_split_takes_more_users() -> None:
    even, uneven = (
        plan_of(users(seed=46), None, "Mean(revenue)", lift=0.05, share=s).reaches[0].targets[0].units
        for s in (0.5, 0.1)
    )
    assert uneven == pytest.approx(even * 0.25 / 0.09, rel=0.01)


def test_a_table_of_users_may_have_columns_of_any_names() -> None:
    table = pl.DataFrame(
        {"user": range(300), "orders": [i % 7 for i in range(300)], "visits": [1 + i % 3 for i in range(300)]}
    )
    (reach,) = plan_of(table, None, "Ratio(orders, visits)", lift=0.05).reaches
    assert reach.value == pytest.approx(sum(table["orders"].to_list()) / sum(table["visits"].to_list()))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lift": "much"}, "a lift is a number above 0, like 0.02 or 2%"),
        ({"share": 1.5}, "between 0 and 1, like 0.5"),
        ({"covariates": "before"}, "write METRIC=COLUMN"),
        ({"metrics": "CTR"}, "CTR needs a column click"),
        ({"metrics": None}, "no metric was named"),
    ],
    ids=[
        "a lift in words",
        "more than all users",
        "a covariate of nothing",
        "a metric without its column",
        "no metric",
    ],
)
def test_bad_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, DataError), match=said):
        plan_of(users(seed=47), None, **{"metrics": "Mean(revenue)", **options})


def test_lifts_are_of_logs_alone() -> None:
    with pytest.raises(InputError, match="lift is for a plan from a log"):
        rs.power(deviation=0.2, lift=0.02)
