"""The bounds of experiments: just at each of them, and one unit, row or value beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError

METRIC = "Mean(spent)"


def table(count: int, **more: Any) -> pl.DataFrame:
    """Users in turn in A and B, who spent 0 to 6."""
    number = np.arange(count)
    columns = {"user": [f"u{n}" for n in number], "variant": np.where(number % 2, "B", "A"), "spent": number * 5 % 7}
    return pl.DataFrame({**columns, **more})


@pytest.mark.parametrize(("several", "holds"), [(9, True), (10, False), (11, False)])
def test_a_verdict_is_withheld_from_a_tenth_of_users_in_several_variants_on(several: int, holds: bool) -> None:
    both = [pl.DataFrame({"user": [f"m{n}" for n in range(several)], "variant": v, "spent": 1}) for v in "AB"]
    found = rs.experiment(pl.concat([table(100 - several), *both], how="vertical_relaxed"), METRIC)
    assert found.variants.arms.mixed_share == several / 100
    assert (found.validity.holds, found.exit_code == 3) == (holds, not holds)


@pytest.mark.parametrize(("units", "tested"), [(30, 3), (29, 2)])
def test_a_slice_is_tested_from_thirty_units_of_each_variant_on(units: int, tested: int) -> None:
    sizes = {"de": (40, 40), "fr": (40, 40), "li": (40, units)}
    rows = [(f"{c} {v} {n}", c, v, n % 7) for c, size in sizes.items() for v, m in zip("AB", size, strict=True) for n in range(m)]  # fmt: skip
    log = pl.DataFrame(rows, schema=["user", "country", "variant", "spent"], orient="row")
    assert rs.experiment(log, METRIC, slices="country").to_dicts("heterogeneity")[0]["slices"] == tested


def test_strata_have_four_units_or_more_in_the_mean() -> None:
    for count in (40, 39):
        log = table(count, city=[f"c{n // 2 % 10}" for n in range(count)])
        if count == 40:
            assert "adjusted for city" in rs.experiment(log, METRIC, strata="city").to_text(width=200)
        else:
            with pytest.raises(
                InputError, match=r"^strata=city: it has 10 values for 39 users: name a column with few"
            ):
                rs.experiment(log, METRIC, strata="city")


def test_several_covariates_need_two_units_each_beside_one_of_each_variant() -> None:
    names = ["x", "y"]
    for count in (6, 5):
        log = table(count, x=[1.0, 5.0, 2.0, 7.0, 3.0, 4.0][:count], y=[2.0, 0.0, 1.0, 1.0, 4.0, 3.0][:count])
        assert rs.experiment(log, METRIC, covariates={METRIC: "x"}).contrasts
        if count == 6:
            assert rs.experiment(log, METRIC, covariates={METRIC: names}).contrasts
        else:
            with pytest.raises(
                DataError, match="5 users are too few to adjust for 2 covariates and strata: name fewer"
            ):
                rs.experiment(log, METRIC, covariates={METRIC: names})


@pytest.mark.parametrize(("before", "adjusted"), [(30, True), (29, False)])
def test_thirty_rows_from_before_are_enough_to_adjust_by(before: int, adjusted: bool) -> None:
    users = table(40).select("user", "variant").with_columns(time=pl.lit("2024-05-02T00:00:00Z"))
    earlier, later = (
        pl.DataFrame({"user": [f"u{n}" for n in range(count)], "spent": [n % 7 for n in range(count)], "time": f"2024-05-0{day}T12:00:00Z"})
        for count, day in ((before, 1), (40, 3))
    )  # fmt: skip
    found = rs.experiment(assignments=users, events=pl.concat([earlier, later]), metrics=METRIC)
    assert bool(found.adjustment["covariates"]) == adjusted


def test_totals_are_cut_at_a_quantile_above_a_half_and_below_one_that_changes_some_of_them() -> None:
    for wrong in (0.5, 1.0, 1):
        with pytest.raises(InputError, match=r"cut at a quantile above 0\.5 and below 1, like 0\.99"):
            rs.experiment(table(40), METRIC, winsorise=wrong)
    log = table(41, spent=[*range(40), 1000])
    cut = rs.experiment(log, METRIC, winsorise=0.9)
    assert [str(c.metric) for c in cut.contrasts] == [f"{METRIC}, cut at 36"]  # nine tenths of 40 steps
    assert cut.contrasts[0].baseline_value == (sum(range(0, 36, 2)) + 3 * 36) / 21
    for same in ([1.0] * 40 + [0.0], [0.0] * 40 + [1.0]):  # the quantile is the largest, or the least of all
        assert [str(c.metric) for c in rs.experiment(table(41, spent=same), METRIC, winsorise=0.9).contrasts] == [
            METRIC
        ]
    nothing = rs.experiment(table(41, spent=[0.0] * 39 + [1.0] * 2), METRIC, winsorise=0.9)
    whole = rs.experiment(table(41, spent=[1.0] * 41), METRIC, winsorise=0.9)
    assert [sum("4.9% of users" in one.message for one in some.warnings) for some in (nothing, whole)] == [1, 0]


def test_sums_of_squares_beside_totals_without_their_number_are_refused() -> None:
    totals = {"variant": ["A", "B"], "spent": [10.0, 12.0], "spent_sumsq": [30.0, 40.0]}
    with pytest.raises(InputError, match="column spent_sumsq holds a sum of squares, so these rows are totals of many"):
        rs.experiment(totals, METRIC)
    with_users = table(6, spent_sumsq=[1.0] * 6)
    assert rs.experiment(with_users, METRIC).contrasts
