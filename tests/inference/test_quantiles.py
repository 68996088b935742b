"""Quantiles of the normal and of Student's distribution, beside scipy's."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from scipy.special import ndtri, stdtrit

from rankscope.inference.intervals import normal, student

OUTSIDE = (1e-9, 1e-5, 0.0005, 0.005, 0.025, 0.05, 0.1, 0.25, 0.4)
FREEDOM = (*range(1, 40), 99, 100, 199, 999, 1_000, 1_001, 1_002, 20_000, 10**7)


@pytest.mark.parametrize("outside", OUTSIDE)
def test_they_are_those_of_scipy(outside: float) -> None:
    assert normal(outside) == pytest.approx(-float(ndtri(outside)), rel=1e-9)
    for freedom in FREEDOM:
        assert student(freedom, outside) == pytest.approx(-float(stdtrit(freedom, outside)), rel=1e-10)


def test_closed_forms() -> None:
    for outside in (0.001, 0.025, 0.2):
        assert student(1, outside) == pytest.approx(math.tan(math.pi * (0.5 - outside)), rel=1e-13)
        two = (1 - 2 * outside) * math.sqrt(2 / (4 * outside * (1 - outside)))
        assert student(2, outside) == pytest.approx(two, rel=1e-12)


def test_they_fall_with_the_degrees_of_freedom_towards_the_normal() -> None:
    found = [student(freedom, 0.025) for freedom in range(1, 1_200)]
    assert all(a > b for a, b in pairwise(found))
    assert found[-1] > normal(0.025)
