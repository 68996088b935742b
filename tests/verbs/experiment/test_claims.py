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
