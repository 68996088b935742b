"""Sums of rows do not depend on how many rows there are, and sums of many numbers are rounded once."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
import pytest

from rankscope.lists import exact_sum, running, total

SHAPES = [(1, 1), (3, 5), (255, 7), (256, 1), (256, 7), (1000, 32), (1000, 33), (300, 64), (300, 65), (2, 2000)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "{} rows of {}".format(*shape))
@pytest.mark.parametrize("kind", [float, np.int64, bool], ids=["floats", "whole numbers", "truths"])
def test_a_row_is_added_from_its_first_cell_to_its_last(shape: tuple[int, int], kind: Any) -> None:
    draw = np.random.default_rng(3).normal(0, 2, shape) * 10.0 ** np.random.default_rng(4).integers(-9, 9, shape)
    cells = draw.astype(kind) if kind is not np.int64 else np.round(np.clip(draw, -1e6, 1e6)).astype(kind)
    before = cells.copy()
    one_by_one = [list(accumulate(map(float, row))) for row in cells.tolist()]
    assert running(cells).tolist() == one_by_one
    assert total(cells).tolist() == [row[-1] for row in one_by_one]
    assert (cells == before).all(), "what was summed is left as it was"


RNG = np.random.default_rng(5)
WORLDS = {
    "shares": RNG.random(50_000),
    "shares of few": RNG.integers(0, 8, 40_001) / 7,
    "squares around a mean": (RNG.random(33_333) - 0.5) ** 2,
    "both signs": RNG.normal(0, 1, 20_000),
    "sizes far apart": np.exp(RNG.normal(0, 90, 20_000)) * RNG.choice([-1.0, 1.0], 20_000),
    "the smallest numbers": RNG.integers(-9, 9, 20_000) * 5e-324,
    "small and smallest": np.concatenate([RNG.random(300) * 1e-300, RNG.integers(1, 9, 300) * 5e-324]),
    "sums that cancel": np.concatenate([RNG.random(9_000), -RNG.random(9_000), [1e17, -1e17, 1e-17]]),
    "halves between two numbers": np.append(np.full(511, 2.0**-53), 1.0),
    "whole numbers": RNG.integers(-99, 99, 20_000).astype(float),
    "whole numbers that cancel": np.append(np.ones(999), [2.0**52, -(2.0**52)]),
    "whole numbers too large to add": np.append(np.ones(999), 2.0**53),
    "whole numbers and then a half": np.append(np.ones(999), 0.5),
    "nothing but zeros": np.zeros(999),
    "zeros below zero": np.full(999, -0.0),
    "large numbers": np.append(RNG.random(999) * 1e240, -1e249),
    "numbers too large to split": np.append(RNG.random(999), 1e300),
    "few numbers": RNG.random(9),
    "no number": np.zeros(0),
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_sum_of_many_numbers_is_rounded_once(name: str) -> None:
    values = WORLDS[name]
    whole = exact_sum(values)
    assert whole == math.fsum(values.tolist())
    assert math.copysign(1, whole) == math.copysign(1, math.fsum(values.tolist()))
    assert exact_sum(values[::-1]) == exact_sum(RNG.permutation(values)) == whole
    assert exact_sum(np.array([values, values])) == 2 * whole, "a table is summed as a whole"


def test_a_sum_with_what_is_no_number_is_none() -> None:
    values = np.append(np.ones(999), math.nan)
    assert math.isnan(exact_sum(values))
    assert exact_sum(np.append(np.ones(999), math.inf)) == math.inf
    with pytest.raises(ValueError, match="-inf"):
        exact_sum(np.append(np.ones(999), [math.inf, -math.inf]))
