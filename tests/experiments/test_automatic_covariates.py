"""The same metric before the assignment as a covariate, unless it is switched off."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs

ASSIGNED = 10


def world(seed: int, users: int = 300) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Assignments on the tenth day, and events of twenty days with amounts that users have in common."""
    draws = np.random.default_rng(seed)
    taste = draws.gamma(1.0, 2.0, users)
    day = pl.datetime_range(pl.datetime(2024, 5, 1), pl.datetime(2024, 5, 20), "1d", time_zone="UTC", eager=True)
    given = pl.DataFrame(
        {"user": [f"u{i}" for i in range(users)], "variant": ["A", "B"] * (users // 2), "time": [day[ASSIGNED]] * users}
    )
    there = [(i, d) for i in range(users) for d in range(20) if draws.random() < 0.4]
    events = pl.DataFrame({
        "user": [f"u{i}" for i, _ in there], "time": [day[d] for _, d in there],
        "amount": [float(taste[i] * draws.exponential()) for i, _ in there],
    })  # fmt: skip
    return given, events


def one_log(given: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """The same in one table, without a variant before the assignment."""
    joined = events.join(given.rename({"time": "start"}), on="user")
    return joined.with_columns(variant=pl.when(pl.col("time") >= pl.col("start")).then(pl.col("variant"))).drop("start")


def options_of(kind: str, seed: int) -> dict[str, Any]:
    given, events = world(seed)
    return {"assignments": given, "events": events} if kind == "two tables" else {"log": one_log(given, events)}


def width(row: dict[str, Any]) -> float:
    return float(row["ci_upper"] - row["ci_lower"])


@pytest.mark.parametrize("kind", ["two tables", "one log"])
def test_they_are_used_stated_and_switched_off(kind: str) -> None:
    options = options_of(kind, 1)
    automatic, none, named = (
        rs.experiment(metrics="Mean(amount)", covariates=said, **options)
        for said in (None, "none", {"Mean(amount)": "before"})
    )
    assert width(automatic.to_dicts()[0]) < 0.9 * width(none.to_dicts()[0])
    assert automatic.to_dicts() == named.to_dicts()
    assert any("Mean(amount) before (CUPED, automatic" in text for text in automatic.write("table"))
    assert json.loads(automatic.to_json())["conventions"]["covariates_automatic"] is True
    assert none.adjustment["covariates"] == {}
    assert not none.adjustment["covariates_automatic"]
    assert json.loads(none.to_json())["conventions"]["test"] == "t (Welch)"
    assert not named.adjustment["covariates_automatic"]


def test_rows_without_a_variant_after_the_start_are_no_time_before() -> None:
    given, events = world(2)
    log = one_log(given, events)
    odd = log.with_columns(variant=pl.when(pl.col("time").dt.day() != 15).then(pl.col("variant")))
    found = rs.experiment(odd, "Mean(amount)")
    assert found.log.before is not None
    starts = odd.filter(pl.col("variant").is_not_null()).group_by("user").agg(pl.col("time").min().alias("start"))
    assert found.log.before.rows == odd.join(starts, on="user").filter(pl.col("time") < pl.col("start")).height
    assert any("rows with a variant and rows without one" in caution.message for caution in found.warnings)


def test_rows_of_two_times_keep_their_order() -> None:
    log = one_log(*world(7)).sort("time", maintain_order=True).with_row_index("row")
    found = rs.experiment(log, "Mean(amount)").log
    assert found.before is not None
    assert all(part.collect(part.frame.select("row"))["row"].is_sorted() for part in (found, found.before))


def test_the_difference_does_not_depend_on_which_of_both_forms_is_given() -> None:
    given, events = world(3)
    seen = events.filter(pl.col("time").dt.day() > ASSIGNED)["user"].unique()
    given = given.filter(pl.col("user").is_in(seen.implode()))  # one log has no users without events
    events = events.filter(pl.col("user").is_in(seen.implode()))
    two, one = (
        rs.experiment(assignments=given, events=events, metrics="Mean(amount)"),
        rs.experiment(one_log(given, events), "Mean(amount)"),
    )
    near = 0.1 * width(
        two.to_dicts()[0]
    )  # users without a row before count as 0 there, and as the mean with an indicator here
    assert one["B", "Mean(amount)"].difference == pytest.approx(two["B", "Mean(amount)"].difference, abs=near)


def test_gate_adjusts_as_experiment_does() -> None:
    log = one_log(*world(4))
    checked = rs.gate(log, metrics="Mean(amount, better='higher')", test="t").checks[0]
    (c,) = rs.experiment(log, "Mean(amount, better='higher')", test="t").contrasts
    assert (checked.lower, checked.upper, checked.difference) == (c.bounds.lower, c.bounds.upper, c.difference)


def test_quantiles_windows_and_few_rows_are_not_adjusted() -> None:
    given, events = world(5)
    wanted = ["Quantile(amount, q=0.5)", "Retention@1", "Mean(amount)"]
    found = rs.experiment(metrics=wanted, assignments=given, events=events)
    assert list(found.adjustment["covariates"]) == ["Mean(amount)"]
    few = events.filter(pl.col("time").dt.day() > ASSIGNED - 1).filter(
        (pl.col("time").dt.day() > ASSIGNED) | (pl.int_range(pl.len()) < 20)
    )
    assert rs.experiment(assignments=given, events=few, metrics="Mean(amount)").adjustment["covariates"] == {}


def test_columns_of_growthbook_from_before_the_exposure_are_used() -> None:
    given, events = world(6)
    exposures = given.select(pl.col("user").alias("user_id"), pl.col("time").alias("timestamp"), pl.lit("e").alias("experiment_id"), pl.col("variant").alias("variation_id"))  # fmt: skip
    rows = events.select(
        pl.col("user").alias("user_id"), pl.col("time").alias("timestamp"), pl.col("amount").alias("value")
    )
    found = rs.experiment({"exposures": exposures, "spent": rows}, "Mean(spent)")
    assert found.adjustment["covariates"] == {"Mean(spent)": ["Attribute(spent_before)"]}
    assert (
        rs.experiment({"exposures": exposures, "spent": rows}, "Mean(spent)", covariates="none").adjustment[
            "covariates"
        ]
        == {}
    )
