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
    draws[:, 0] *= 1.1  # a lift multiplies what users do
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
    more = 1.05**2  # the variance of users with the lift
    assert uneven == pytest.approx(even * 0.25 / 0.09 * (0.1 + 0.9 * more) / (0.5 + 0.5 * more), rel=0.01)


def test_a_table_of_users_may_have_columns_of_any_names() -> None:
    table = pl.DataFrame(
        {"user": range(300), "orders": [i % 7 for i in range(300)], "visits": [1 + i % 3 for i in range(300)]}
    )
    (reach,) = plan_of(table, None, "Ratio(orders, visits)", lift=0.05).reaches
    assert reach.value == pytest.approx(sum(table["orders"].to_list()) / sum(table["visits"].to_list()))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lift": "much"}, "a lift must be a number above 0, like 0.02 or 2%"),
        ({"share": 1.5}, "between 0 and 1, like 0.5"),
        ({"covariates": "before"}, "write METRIC=COLUMN"),
        ({"metrics": "CTR"}, "CTR needs the column click"),
        ({"metrics": None}, "name a metric"),
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


# --- losses, looks, strata, cuts, clusters, several metrics -------------------------------------------


def targets_of(log: pl.DataFrame, *arguments: Any, **options: Any) -> Any:
    return plan_of(log, None, *arguments, **options).reaches[0].targets


def test_a_rate_has_the_variance_of_a_rate_in_both_variants() -> None:
    log = pl.DataFrame({"user": range(1000), "bought": [int(i < 200) for i in range(1000)]})
    (target,) = targets_of(log, "Mean(bought)", lift=0.5)
    then, now = 0.3 * 0.7, 0.2 * 0.8 * 1000 / 999
    wanted = (1.959964 + 0.841621) ** 2 * 2 * (now + then * 1000 / 999) / 0.1**2
    assert target.units == pytest.approx(wanted, rel=0.01)


def test_the_range_holds_the_users_that_the_population_needs() -> None:
    rng, held = np.random.default_rng(4), 0
    truth = 2 * (1.959964 + 0.841621) ** 2 * 2 * (1 + 1.2**2) / 0.2**2  # gamma(0.5): a variance of 2 squared means
    for _ in range(60):
        (target,) = targets_of(pl.DataFrame({"user": range(2000), "y": rng.gamma(0.5, 1, 2000)}), "Mean(y)", lift=0.2)
        held += target.low <= truth <= target.high
    assert held >= 51  # of 60: 3.5 standard errors below 95%


def test_ruling_out_a_loss_takes_what_a_one_sided_test_takes() -> None:
    (target,) = targets_of(users(seed=48), "Mean(revenue)", margin=0.5)
    reach = plan_of(users(seed=48), None, "Mean(revenue)", margin=0.5).reaches[0]
    assert target.not_worse
    assert target.units == pytest.approx((1.644854 + 0.841621) ** 2 * 4 * reach.deviation**2 / 0.5**2, rel=0.01)
    share = targets_of(users(seed=48), "Mean(revenue)", margin="5%")[0]
    assert share.lift == pytest.approx(0.05)
    rest = (1 + 0.95**2) / 2
    assert share.units == pytest.approx(target.units * (0.5 / share.difference) ** 2 * rest, rel=0.01)


def test_looks_take_more_users() -> None:
    alone, planned, pocock, ever = (
        targets_of(users(seed=49), "Mean(revenue)", lift=0.05, test=test)[0].units
        for test in (None, "group_sequential(looks=5)", "group_sequential(looks=5, spending=pocock)", "anytime(narrowest=5000)")
    )  # fmt: skip
    # Jennison and Turnbull 2000 have 1.03 and 1.23 for limits of O'Brien and Fleming, and of Pocock; their spending functions ask for a bit less
    assert planned / alone == pytest.approx(1.025, abs=0.006)
    assert pocock / alone == pytest.approx(1.21, abs=0.02)
    assert 1.6 < ever / alone < 2.5


def test_planned_looks_have_the_power_they_say() -> None:
    rng, rounds = np.random.default_rng(5), 20_000
    from rankscope.inference.power import inflation_of_looks
    from rankscope.inference.sequential import critical, group_sequential

    for spending in ("obrien_fleming", "pocock"):
        test = group_sequential(looks=4, spending=spending)
        drift = (1.959964 + 0.841621) * math.sqrt(inflation_of_looks(test, 1000))
        sums = (rng.normal(0, 0.5, (rounds, 4)) + drift / 4).cumsum(axis=1)
        limits = np.array(critical(4, 4, 0.05, spending)) * np.sqrt(np.arange(1, 5) / 4)
        assert (np.abs(sums) >= limits).any(axis=1).mean() == pytest.approx(0.8, abs=0.012)


def test_strata_and_covariates_say_what_they_take_away() -> None:
    table = users(seed=50).with_columns(revenue=pl.col("revenue") + 20 * (pl.col("country") == "de"))
    plain, strata, both = (
        plan_of(table, None, "Mean(revenue)", lift=0.05, **more)
        for more in ({}, {"strata": "country"}, {"strata": "country", "covariates": {"Mean(revenue)": "before"}})
    )
    assert plain.reaches[0].explained == 0
    for plan in (strata, both):
        (reach,) = plan.reaches
        left = plain.reaches[0].deviation ** 2 * (1 - reach.explained)
        assert reach.deviation**2 == pytest.approx(left)
        assert f"takes away {reach.explained:.0%} of the variance of Mean(revenue)" in plan.to_text(width=400)
    assert both.reaches[0].explained > strata.reaches[0].explained > 0.3


def test_cut_values_need_fewer_users_and_have_their_name() -> None:
    (plain,), (cut,) = (plan_of(users(seed=51), None, "Mean(revenue)", winsorise=w).reaches for w in (None, 0.95))
    assert cut.metric.startswith("Mean(revenue), cut at ")
    assert cut.targets[0].units < plain.targets[0].units


def test_clusters_are_planned_as_units() -> None:
    table = users(seed=52).with_columns(home=pl.Series([i // 4 for i in range(2000)]), revenue=pl.lit(1.0) * (pl.col("user").str.slice(1).cast(pl.Int64) // 4 % 7))  # fmt: skip
    plan = plan_of(table, None, "Mean(revenue)", clusters="home")
    assert plan.users.arms.units.count == 500
    assert "500 clusters can detect" in next(iter(plan.sentences()))
    alike = plan_of(table, None, "Mean(revenue)").reaches[0].deviation
    assert plan.reaches[0].deviation == pytest.approx(
        alike, rel=0.01
    )  # as users of a cluster are the same, a cluster tells as much as one


def test_all_must_hold_so_each_test_has_more_power_and_further_metrics_are_corrected() -> None:
    table = users(seed=53)
    guards = {"Mean(sessions, better='higher')": "2%", "Mean(before, better='higher')": "10%"}
    plan = plan_of(
        table, None, ["Mean(revenue)", "Mean(orders)", "Ratio(orders, sessions)"], lift="5%", guardrails=guards
    )
    by_role: dict[str, list[Any]] = {}
    for reach in plan.reaches:
        by_role.setdefault(reach.role, []).append(reach)
    assert {(reach.power, reach.alpha) for reach in [*by_role["primary"], *by_role["guardrail"]]} == {
        (1 - (1 - 0.8) / 3, 0.05)
    }
    assert {(reach.power, reach.alpha) for reach in by_role["secondary"]} == {(0.8, 0.025)}
    (target,) = by_role["primary"][0].targets
    assert target.together == max(target.units, *(reach.targets[0].units for reach in by_role["guardrail"]))
    assert "The whole plan" in list(plan.sentences())[-1]
    assert [row["shows"] for row in plan.to_dicts()] == ["difference"] * 3 + ["not worse"] * 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"guardrails": "Mean(orders)"}, "a plan takes the loss that would be accepted, like Mean"),
        ({"guardrails": "Mean(revenue)=1%"}, "decides, and is a guardrail"),
        ({"margin": "none"}, "a loss to rule out must be a number above 0"),
        ({"test": "sign"}, "a plan takes t, permutation, anytime or group_sequential"),
        ({"strata": "planet"}, "no column 'planet'"),
        ({"winsorise": 3}, "cut at a quantile above 0.5 and below 1"),
        ({"clusters": "planet"}, "no column 'planet' to cluster by"),
    ],
    ids=["a guardrail without a loss", "a guardrail that decides", "a margin in words", "a test of signs", "strata", "a cut", "clusters"],
)  # fmt: skip
def test_bad_options_of_the_plan(options: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, DataError), match=said):
        plan_of(users(seed=54), None, "Mean(revenue)", lift=0.05, **options)


def test_options_of_logs_are_refused_for_other_plans() -> None:
    with pytest.raises(InputError, match="winsorise is for a plan from a log"):
        rs.power(deviation=0.2, winsorise=0.99)
