"""Moments: those of numpy, however the units were cut into parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.moments import ExactSum, Moments

TABLES = st.integers(0, 10_000).map(
    lambda seed: np.random.default_rng(seed).normal(3, 2, (2 + seed % 40, 1 + seed % 3))
)


@settings(max_examples=60, deadline=None)
@given(table=TABLES, cuts=st.lists(st.integers(0, 41), max_size=4))
def test_parts_add_up_to_the_whole(table: np.ndarray, cuts: list[int]) -> None:
    parts = [Moments.of(part) for part in np.split(table, sorted(min(cut, len(table)) for cut in cuts))]
    none = Moments.empty(table.shape[1])
    for whole in (Moments.of(table), sum(parts, none), sum(parts[::-1], none)):
        assert whole.count == len(table)
        assert whole.mean == pytest.approx(table.mean(axis=0), rel=1e-12)
        expected = np.cov(table.T, ddof=1).reshape(whole.products.shape)
        assert whole.covariance == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert whole.variance == pytest.approx(table.var(axis=0, ddof=1), rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(a=TABLES, b=TABLES)
def test_adding_goes_both_ways_to_the_bit(a: np.ndarray, b: np.ndarray) -> None:
    one, other = Moments.of(a[:, :1]), Moments.of(b[:, :1])
    here, there = one + other, other + one
    assert here.mean.tolist() == there.mean.tolist()
    assert here.products.tolist() == there.products.tolist()


def test_sums_of_a_database_are_moments() -> None:
    table = np.array([[1.0, 0.5], [2.0, 0.25], [4.0, 1.0]])
    found = Moments.of_sums(3, table.sum(axis=0), table.T @ table)
    assert found.mean == pytest.approx(table.mean(axis=0))
    assert found.covariance == pytest.approx(np.cov(table.T, ddof=1))


def test_a_combination_is_that_of_the_values() -> None:
    table = np.random.default_rng(0).normal(size=(30, 3))
    factors = [1.0, -2.0, 0.5]
    mean, variance = Moments.of(table).combine(factors)
    values = table @ factors
    assert mean == pytest.approx(values.mean())
    assert variance == pytest.approx(values.var(ddof=1))


def test_far_from_zero_nothing_is_lost() -> None:
    values = np.random.default_rng(1).normal(1e8, 1.0, 1000)
    parts = sum((Moments.of(part) for part in np.array_split(values, 7)), Moments.empty())
    assert parts.variance[0] == pytest.approx(values.var(ddof=1), rel=1e-6)


def test_no_units_change_nothing() -> None:
    one = Moments.of([1.0, 2.0])
    assert (one + Moments.empty()) is one
    assert (Moments.empty() + one) is one
    assert np.isnan(Moments.of([1.0]).variance).all()
    assert np.isnan(Moments.empty().variance).all()


NUMBERS = st.lists(
    st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1) | st.sampled_from([5e-324, 0.1, -0.1])
)


@settings(max_examples=200, deadline=None)
@given(values=NUMBERS, cut=st.integers(0, 30))
def test_an_exact_sum_is_rounded_once_however_it_was_cut(values: list[float], cut: int) -> None:
    parts = ExactSum.of(values[:cut]), ExactSum.of(values[cut:])
    assert parts[0] + parts[1] == parts[1] + parts[0] == ExactSum.of(values[::-1])
    try:
        whole = math.fsum(values)
    except OverflowError:  # fsum stops where a partial sum is too large, though the whole may not be
        return
    assert (parts[0] + parts[1]).value == whole


def test_an_exact_sum_beyond_all_numbers_is_infinite() -> None:
    assert ExactSum.of([1.7e308, 1.7e308]).value == math.inf
    assert ExactSum.of([-1.7e308, -1.7e308]).value == -math.inf
    assert ExactSum.of([math.inf, 1.0]).value == math.inf
    assert math.isnan(ExactSum.of([math.nan, 1.0]).value)
    assert (ExactSum.of([1.7e308, 1.7e308]) + ExactSum.of([-1.7e308])).value == 1.7e308
