"""Tables of sums: results are those of the rows, and what needs rows is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.moments import Moments
from rankscope.panels.contrast import contrast
from rankscope.panels.method import method_of
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure

COLUMNS = ("revenue", "orders", "sessions", "before")
CLOSE: dict[str, Any] = {"rel": 1e-12, "abs": 1e-12}
KEYS = (
    "value", "baseline_value", "difference", "ci_lower", "ci_upper", "relative", "relative_ci_lower", "relative_ci_upper", "p_value",
    "detectable_difference",
)  # fmt: skip


def sums(table: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Sums, sums of squares and of all products, per variant or per part of the users of a variant."""
    pairs = [(a, b) for a in COLUMNS for b in COLUMNS if a < b]
    return table.group_by(by, maintain_order=True).agg(
        pl.len().alias("users"),
        *(pl.col(name).sum().alias(f"{name}_sum") for name in COLUMNS),
        *((pl.col(name) ** 2).sum().alias(f"{name}_sum_squares") for name in COLUMNS),
        *((pl.col(a) * pl.col(b)).sum().alias(f"{a}_{b}_sum_product") for a, b in pairs),
    )


@pytest.mark.parametrize("by", [["variant"], ["country", "variant"]], ids=["per variant", "per country and variant"])
@pytest.mark.parametrize("seed", range(3))
def test_means_are_those_of_the_rows(by: list[str], seed: int) -> None:
    table = users(seed, lift=0.7)
    adjusted = {"Mean(revenue)": "before"}
    options: dict[str, Any] = {"covariates": adjusted, "margin": "20%", "test": "t"}
    metrics = ["Mean(revenue)", "Mean(orders)"]
    rows, ours = rs.experiment(table, metrics, **options), rs.experiment(sums(table, by), metrics, **options)
    for one, other in zip(ours.to_dicts(), rows.to_dicts(), strict=True):
        assert [one[key] for key in KEYS] == pytest.approx([other[key] for key in KEYS], **CLOSE)
        assert one["units"] == other["units"]
        assert one["equivalence_p_value"] == pytest.approx(other["equivalence_p_value"], **CLOSE)
    assert ours.sample_ratio == rows.sample_ratio


@pytest.mark.parametrize("seed", range(3))
def test_ratios_are_those_of_the_rows_by_the_delta_method(seed: int) -> None:
    table = users(seed)
    arms = {
        name: Moments.of_set(table.filter(variant=name).select("orders", "sessions").to_numpy()) for name in ("A", "B")
    }
    plain = contrast(panel_of(Measure("ratio", unit="user"), arms), "B", "A", method_of(test="t"))
    (ours,) = rs.experiment(sums(table, ["country", "variant"]), "Ratio(orders, sessions)").contrasts
    for name in ("value", "baseline_value", "difference", "p_value"):
        assert getattr(ours, name) == pytest.approx(getattr(plain, name), **CLOSE)
    (rows,) = rs.experiment(table, "Ratio(orders, sessions)", test="t").contrasts
    assert ours.difference == pytest.approx(rows.difference, **CLOSE)
    assert ours.pair.means.error == pytest.approx(rows.pair.means.error, rel=0.01)  # by leaving users out


def test_the_sum_of_flags_is_its_own_sum_of_squares() -> None:
    flags = pl.DataFrame(
        {"variant": ["A", "B"] * 500, "converted": [int(i % 7 == 0 or i % 11 == 1) for i in range(1000)]}
    )
    totals = flags.group_by("variant", maintain_order=True).agg(pl.len().alias("visitors"), pl.col("converted").sum())
    (row,) = rs.experiment(flags, "Mean(converted)", test="t").to_dicts()
    (ours,) = rs.experiment(totals, "Mean(converted)", columns={"converted": "successes"}).to_dicts()
    assert [ours[key] for key in KEYS] == pytest.approx([row[key] for key in KEYS], **CLOSE)
    with pytest.raises(DataError, match="if a row has totals of many users, name these"):
        rs.experiment(totals, "Mean(converted)")


@pytest.mark.parametrize(
    "names",
    [("n", "x", "x_sumsq"), ("num_users", "sum_x", "sum_sq_x"), ("count", "x_total", "x_squares"), ("visitors", "x_sum", "x_sum_of_squares")],
    ids=["bare name", "sum in front", "total", "in words"],
)  # fmt: skip
def test_usual_names_of_sums_are_known(names: tuple[str, str, str]) -> None:
    table = {"variant": ["A", "B"], names[0]: [100, 110], names[1]: [50.0, 70.0], names[2]: [80.0, 100.0]}
    (row,) = rs.experiment(table, "Mean(x, better='higher')").to_dicts()
    assert (row["value"], row["baseline_value"]) == (70 / 110, 50 / 100)
    error = np.sqrt(sum((q - s * s / n) / (n - 1) / n for n, s, q in ((100, 50, 80), (110, 70, 100))))
    assert (row["ci_upper"] - row["ci_lower"]) / 2 == pytest.approx(1.971 * error, rel=1e-3)


def test_power_and_gate_take_sums() -> None:
    table = users(5)
    rows, ours = (rs.power(log, metrics="Mean(revenue)", lift="5%") for log in (table, sums(table, ["variant"])))
    assert ours.reaches[0].detectable == pytest.approx(rows.reaches[0].detectable, **CLOSE)
    one, other = (rs.gate(log, metrics="Mean(revenue)", test="t") for log in (table, sums(table, ["variant"])))
    assert one.checks[0].status == other.checks[0].status
    assert one.checks[0].lower == pytest.approx(other.checks[0].lower, **CLOSE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "bootstrap"}, "the test bootstrap needs the values of all units"),
        ({"test": "mann_whitney"}, "the test mann_whitney needs the values of all units"),
        ({"winsorise": 0.99}, "winsorise needs one row per user or event"),
        ({"slices": "country"}, "slices needs one row per user or event"),
        ({"by": "day"}, "by needs one row per user or event"),
        ({"strata": "country"}, "strata needs one row per user or event"),
        ({"metrics": "CTR"}, r"CTR needs rows: from sums come Mean\(COLUMN\)"),
        ({"metrics": "Mean(revenue, where='country > 3')"}, "needs rows"),
        ({"metrics": "Mean(country)"}, "column country holds no sums: there are revenue"),
        ({"metrics": "Mean(nothing)"}, "no column 'nothing' with sums"),
    ],
    ids=[
        "bootstrap", "ranks", "cut values", "slices", "days", "strata", "metric of rows", "filter", "column without sums", "unknown column",
    ],
)  # fmt: skip
def test_what_needs_rows_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    table = sums(users(1), ["country", "variant"])
    metrics = options.pop("metrics", "Mean(revenue)")
    with pytest.raises(InputError, match=message) as caught:
        rs.experiment(table, metrics, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"revenue_sum_squares": 1.0}, "revenue_sum_squares 1 cannot be the sum of squares of 1,000 users"),
        ({"users": 0.5}, "column users: 0.5: the number of units is a whole number from 1"),
        ({"revenue_sum": None}, "column revenue_sum: .*: sums are finite numbers in each row"),
    ],
    ids=["squares too small", "half a user", "empty sum"],
)
def test_sums_that_cannot_be_are_refused(change: dict[str, Any], message: str) -> None:
    table = sums(users(1), ["variant"])
    ((name, value),) = change.items()
    table = table.with_columns(pl.lit(value, pl.Float64).alias(name))
    with pytest.raises(InputError, match=message.replace("1,000 users", "1,000 units")):
        rs.experiment(table, "Mean(revenue)")


def test_a_missing_sum_is_named() -> None:
    table = sums(users(1), ["variant"])
    with pytest.raises(
        InputError,
        match=r"needs the sum of products of orders and sessions, in a column like orders_sessions_sum_product",
    ):
        rs.experiment(table.drop("orders_sessions_sum_product"), "Ratio(orders, sessions)")
    with pytest.raises(
        InputError,
        match=r"needs the sum of squares of orders, .*--columns 'orders=successes'|columns='orders=successes'",
    ):
        rs.experiment(table.drop("orders_sum_squares"), "Mean(orders)")


def test_rows_of_users_with_squares_stay_rows() -> None:
    table = users(2).with_columns(revenue_sq=pl.col("revenue") ** 2, n=pl.lit(1))
    assert rs.experiment(table, "Mean(revenue)").log.sums is None
