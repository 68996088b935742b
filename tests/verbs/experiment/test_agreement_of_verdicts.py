"""Verdicts, intervals and options of an experiment never contradict each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.blocks import plain_value
from rankscope.errors import InputError


def users(seed: int, count: int = 600, share: float = 0.5, slices: int = 40) -> pl.DataFrame:
    """A row per user with three metrics, a little better in B."""
    draws = np.random.default_rng(seed)
    variant = np.where(draws.random(count) < share, "B", "A")
    lift = 0.12 * (variant == "B")
    metrics = {name: draws.normal(size=count) + 1 + lift for name in ("one", "two", "three")}
    city = [f"c{number}" for number in draws.integers(0, slices, count)]
    return pl.DataFrame({"user": range(count), "variant": variant, "city": city, **metrics})


METRICS = ["Mean(one)", "Mean(two)", "Mean(three)"]


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_of_a_row_includes_0_unless_its_verdict_is_clear(seed: int) -> None:
    for row in rs.experiment(users(seed), METRICS).to_dicts():
        ends = row["ci_lower_adjusted"], row["ci_upper_adjusted"]
        assert (ends[0] <= 0 <= ends[1]) == (row["verdict"] not in {"better", "worse"})
        lift = row["relative_ci_lower_adjusted"], row["relative_ci_upper_adjusted"]
        if None not in lift and not any(map(math.isnan, lift)):
            assert (lift[0] <= 0 <= lift[1]) == (ends[0] <= 0 <= ends[1])
        assert (row["correction"], row["comparisons"]) == ("holm", 1 if row["role"] == "primary" else 2)


def test_a_withheld_verdict_is_withheld_everywhere() -> None:
    found = rs.experiment(users(1, share=0.7), "Mean(one)", slices="city", by=None)
    assert found.exit_code == 3
    contrasts = [found["B", "Mean(one)"], *(part.contrast for part in found.slices)]
    assert {c.verdict for c in contrasts} == {"withheld"}
    assert "beats" not in repr(contrasts[0])


def test_cells_of_exports_are_full_numbers() -> None:
    found = rs.experiment(users(4), METRICS)
    table = found.table()
    at = [column.header for column in table.columns].index("difference")
    assert [plain_value(row[at]) for row in table.rows] == [row["difference"] for row in found.to_dicts()]


@pytest.mark.parametrize("options", [{"prior": "flat"}, {"foo": 1}, {"split": {"A": 0.5}}, {"design": "t"}], ids=str)
def test_a_plan_from_a_log_refuses_an_option_that_it_does_not_take(options: dict[str, Any]) -> None:
    log = users(5).rename({"one": "click"}).with_columns(click=pl.lit(1))
    with pytest.raises(InputError, match=f"no (option ')?{next(iter(options))}"):
        rs.power(log, None, "CTR", lift=0.1, **options)


def test_a_page_of_a_log_takes_the_options_of_an_experiment() -> None:
    page = rs.report(users(6, slices=3), metrics="Mean(one)", strata="city").page
    assert page.verdicts
