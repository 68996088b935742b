"""Covariates: empty ones count as the mean of the others, and outcomes of the experiment are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days, users

import rankscope as rs
from rankscope.errors import InputError


def with_covariate(seed: int, missing: float = 0.0) -> pl.DataFrame:
    """Users with a number from before that goes along with their revenue, empty for a share of them."""
    draws = np.random.default_rng(seed)
    table = users(seed=seed)
    before = 50 + table["revenue"].to_numpy() * 3 + draws.normal(0, 5, len(table))
    return table.with_columns(
        before=pl.Series(np.where(draws.random(len(table)) < missing, np.nan, before)).fill_nan(None)
    )


def row_of(table: pl.DataFrame, **options: Any) -> dict[str, Any]:
    return rs.experiment(table, "Mean(revenue)", **options).to_dicts()[0]


def width(row: dict[str, Any]) -> float:
    return float(row["ci_upper"] - row["ci_lower"])


def test_empty_covariates_are_as_good_as_the_mean_of_the_others() -> None:
    table = with_covariate(3, missing=0.3)
    adjusted = row_of(table, covariates={"Mean(revenue)": "before"})
    filled = row_of(
        table.with_columns(pl.col("before").fill_null(pl.col("before").mean())), covariates={"Mean(revenue)": "before"}
    )
    zeros = row_of(table.with_columns(pl.col("before").fill_null(0.0)), covariates={"Mean(revenue)": "before"})
    plain = row_of(table)
    assert adjusted["difference"] == pytest.approx(filled["difference"], rel=0.02)
    assert width(adjusted) == pytest.approx(width(filled), rel=0.02)
    assert width(adjusted) < 0.8 * min(width(zeros), width(plain))


def test_an_indicator_marks_users_without_a_covariate() -> None:
    table = with_covariate(3).with_columns(rich=pl.col("revenue") > pl.col("revenue").median())
    table = table.with_columns(before=pl.when(~pl.col("rich")).then(pl.col("before")))  # missing for the rich
    found = row_of(table, covariates={"Mean(revenue)": "before"})
    treated, missing = ((table[name] == value).to_numpy() for name, value in (("variant", "B"), ("rich", True)))
    before = table["before"].fill_null(table["before"].mean())
    design = np.column_stack([np.ones(len(table)), treated, before.to_numpy(), missing])
    least_squares = np.linalg.lstsq(design, table["revenue"].to_numpy(), rcond=None)[0]
    assert found["difference"] == pytest.approx(least_squares[1], rel=1e-4)
    assert width(found) < 0.8 * width(row_of(table))


def test_it_is_noted_how_many_units_have_no_covariate() -> None:
    table = with_covariate(3, missing=0.3)
    found = rs.experiment(table, "Mean(revenue)", covariates={"Mean(revenue)": "before"})
    missing = table["before"].null_count()
    said = f"Attribute(before) is empty for {missing} users: they count as the mean of the others, and an indicator marks them"
    assert said in found.notes
    complete = rs.experiment(with_covariate(3), "Mean(revenue)", covariates={"Mean(revenue)": "before"})
    assert not any("is empty for" in note for note in complete.notes)


@pytest.mark.parametrize(
    ("covariate", "column"),
    [("ListCTR", "click"), ("CTR", "click"), ("Mean(click)", "click"), ("click", "click")],
    ids=["of lists", "the metric itself", "its mean", "its column"],
)
def test_an_outcome_of_the_experiment_is_refused(covariate: str, column: str) -> None:
    with pytest.raises(InputError, match=f"covariate .* of CTR: {column} is an outcome of the experiment"):
        rs.experiment(log_of_days(seed=7), "CTR", covariates={"CTR": covariate})


@pytest.mark.parametrize("covariate", ["revenue", "Mean(revenue)", "Ratio(before, revenue)"])
def test_the_column_of_the_metric_is_refused(covariate: str) -> None:
    with pytest.raises(InputError, match="revenue is an outcome of the experiment"):
        rs.experiment(with_covariate(3), "Mean(revenue)", covariates={"Mean(revenue)": covariate})


def test_a_metric_of_columns_from_before_is_taken() -> None:
    table = with_covariate(3).with_columns(visits_before=pl.lit(2.0) + pl.col("user").hash(1) % 3)
    found = row_of(table, covariates={"Mean(revenue)": "Ratio(before, visits_before)"})
    assert width(found) < width(row_of(table))


def test_a_covariate_that_differs_between_variants_is_told_whatever_its_name() -> None:
    table = with_covariate(3).rename({"before": "score"})
    sound = rs.experiment(table, "Mean(revenue)", covariates={"Mean(revenue)": "score"})
    assert "RS615" not in {caution.code for caution in sound.warnings}
    moved = table.with_columns(score=pl.col("score") + pl.when(pl.col("variant") == "B").then(8.0).otherwise(0.0))
    found = rs.experiment(moved, "Mean(revenue)", covariates={"Mean(revenue)": "score"})
    assert "RS615" in {caution.code for caution in found.warnings}
    assert "RS615" not in {caution.code for caution in rs.experiment(moved, "Mean(revenue)").warnings}


@pytest.mark.parametrize("test", [None, "permutation(rounds=999)", "bootstrap(rounds=999)"])
@pytest.mark.parametrize("known", ["one variant", "one user", "nobody"])
def test_a_covariate_that_a_variant_lacks_adjusts_nothing_there(known: str, test: str | None) -> None:
    draws, number = np.random.default_rng(7), np.arange(60)
    table = pl.DataFrame({"user": number, "variant": ["A", "B"] * 30, "spent": draws.gamma(2, 5, 60)})
    has = {"one variant": number % 2 == 0, "one user": number == 4, "nobody": number < 0}[known]
    before = pl.Series("before", np.where(has, draws.normal(0, 1, 60), np.nan)).fill_nan(None)
    plain = rs.experiment(table, "Mean(spent)", test=test)["B", "Mean(spent)"]
    found = rs.experiment(table.with_columns(before), "Mean(spent)", covariates="Mean(spent)=before", test=test)
    adjusted = found["B", "Mean(spent)"]
    assert adjusted.p_value > 0.5
    if known != "one user":  # who alone has what marks the others
        assert adjusted.difference == pytest.approx(plain.difference, rel=1e-12)
        assert adjusted.p_value == pytest.approx(plain.p_value, abs=0.06)
    assert any("before) is empty for" in note for note in found.notes)
    assert any("adjusts nothing" in note for note in found.notes) == (known == "nobody")
