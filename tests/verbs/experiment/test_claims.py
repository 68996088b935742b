"""What an experiment says is what was tested: cut means have their own name, ends of intervals never read as 0 beside a clear verdict."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope import words


def test_a_mean_of_cut_values_has_the_cut_in_its_name_everywhere() -> None:
    table = users(seed=12, lift=2.0)
    cut = words.amount(float(np.quantile(table["revenue"].to_numpy(), 0.9)))
    found = rs.experiment(table, "Mean(revenue)", winsorise=0.9)
    name = f"Mean(revenue), cut at {cut}"
    assert found["B", "Mean(revenue)"].metric == name == found.primary
    assert name in list(found.sentences())[1]
    assert name in found.to_text()
    assert [row["metric"] for row in json.loads(found.to_json())["results"]] == [name]


def test_a_metric_of_which_nothing_is_cut_keeps_its_name() -> None:
    table = users(seed=12).with_columns(bought=(pl.col("orders") > 0).cast(pl.Int64))
    found = rs.experiment(table, ["Mean(revenue)", "Mean(bought)"], winsorise=0.9)
    assert [c.metric.partition(",")[0] for c in found.contrasts] == ["Mean(revenue)", "Mean(bought)"]
    assert found.contrasts[1].metric == "Mean(bought)"


def test_slices_and_days_cut_where_the_whole_experiment_does() -> None:
    table = users(seed=12, lift=2.0)
    table = table.with_columns(half=pl.Series(["x", "x", "y", "y"] * (table.height // 4)))
    found = rs.experiment(table, "Mean(revenue)", winsorise=0.9, slices="half")
    assert {part.contrast.metric for part in found.slices} == {found.primary}


@pytest.mark.parametrize(
    ("low", "text"), [(0.004, "0.004 to 0.250"), (0.0, "0.00 to 0.25"), (-0.004, "−0.004 to 0.250")]
)
def test_an_end_that_would_read_as_zero_gets_more_digits(low: float, text: str) -> None:
    assert words.interval(low, 0.25, digits=2, apart=(0.0,)) == text


def test_a_cut_that_would_leave_nothing_is_not_made_and_says_how_few_act() -> None:
    """Ten of 200 users spend, and a cut at the 90% quantile is a cut at 0."""
    spent = [float(i % 3 + 1) if i < 10 else 0.0 for i in range(200)]
    table = pl.DataFrame({"user": range(200), "variant": ["A", "B"] * 100, "spent": spent})
    found = rs.experiment(table, "Mean(spent)", winsorise=0.9)
    (caution,) = (one for one in found.warnings if one.code == "RS644")
    assert "5.0% of users are above its lowest value, and a cut at the 90.0% quantile" in caution.message
    assert found["B", "Mean(spent)"].value == pytest.approx(sum(spent[1::2]) / 100)
    higher = rs.experiment(table, "Mean(spent)", winsorise=0.97)
    assert not [one for one in higher.warnings if one.code == "RS644"]
    assert higher["B", "Mean(spent)"].metric == "Mean(spent), cut at 1.03", "3% of the way from 1 to 2"
