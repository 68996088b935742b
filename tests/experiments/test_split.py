"""Variants of an experiment as panels."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.experiments.arms import sample_ratio
from rankscope.moments import Moments
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure


@pytest.mark.parametrize(("scale", "decimals"), [pytest.param(1.0, 2, id="near one"), pytest.param(1e-3, 5, id="small"), pytest.param(1e4, 0, id="large")])  # fmt: skip
def test_differences_are_written_with_decimals_that_say_something(scale: float, decimals: int) -> None:
    rows = np.random.default_rng(3).normal(2 * scale, scale, (200, 2))
    variants = {name: Moments.of(np.column_stack([rows[:, i], np.ones(200)])) for i, name in enumerate("ab")}
    assert panel_of(Measure("Mean(revenue)"), variants).measure.decimals == decimals


@pytest.mark.parametrize(
    ("names", "said"),
    [
        pytest.param(("control", "treatment"), "control 1,034 and treatment 966 users", id="words"),
        pytest.param(("0", "1"), "0: 1,034 and 1: 966 users", id="numbers"),
    ],
)
def test_names_of_variants_are_told_from_counts(names: tuple[str, str], said: str) -> None:
    counts = dict(zip(names, (1034, 966), strict=True))
    assert sample_ratio(counts).sentence("user").startswith(f"Sample ratio: {said}, no sign of a mismatch (p = 0.13)")
    counts_near_alarm = dict(zip(names, (1062, 938), strict=True))
    assert "no sign of a mismatch (p = 0.006; alarm below 0.001)" in sample_ratio(counts_near_alarm).sentence("user")
    assert f"{names[0]}{':' if names[0] == '0' else ''} 90.0%" in sample_ratio(
        counts, dict(zip(names, (0.9, 0.1), strict=True))
    ).sentence("user")
