"""Variants of an experiment as panels."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.moments import Moments
from rankscope.panels.experiments import panel_of_variants
from rankscope.panels.samples import Measure


@pytest.mark.parametrize(("scale", "decimals"), [pytest.param(1.0, 2, id="near one"), pytest.param(1e-3, 5, id="small"), pytest.param(1e4, 0, id="large")])  # fmt: skip
def test_differences_are_written_with_decimals_that_say_something(scale: float, decimals: int) -> None:
    rows = np.random.default_rng(3).normal(2 * scale, scale, (200, 2))
    variants = {name: Moments.of(np.column_stack([rows[:, i], np.ones(200)])) for i, name in enumerate("ab")}
    assert panel_of_variants(Measure("Mean(revenue)"), variants).measure.decimals == decimals
