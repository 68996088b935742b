"""Effects: their laws, arithmetic, and statsmodels' numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import optimize, stats

from rankscope.errors import InputError
from rankscope.inference import sequences, sequential
from rankscope.inference.base import Estimate, Sample, is_significant
from rankscope.inference.effects import (
    equivalence,
    favourable_if_normal,
    less_share,
    noninferiority,
    relative,
    relative_of_own,
    standardised,
)
from rankscope.inference.intervals import t as t_interval
from rankscope.inference.paired import t
from rankscope.lists import Array

LISTS = st.lists(st.integers(-20, 20), min_size=2, max_size=30).map(lambda steps: np.array(steps) / 10)


def of(values: ArrayLike, clusters: Array | None = None) -> Sample:
    return Sample(np.asarray(values, dtype=float), clusters)


def elinor(shared_data: Callable[[str], Path], *names: str) -> list[Array]:
    return [np.loadtxt(shared_data(f"elinor/{n}.csv"), delimiter=",", skiprows=1, usecols=1) for n in names]


# --- laws ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(LISTS, st.randoms())
def test_mirrored_and_shuffled(values: Array, random: Random) -> None:
    here, there = of(values), of(values).mirror
    assert standardised(there) == pytest.approx(-standardised(here), nan_ok=True)
    assert there.favourable == here.favourable
    shuffled = values.tolist()
    random.shuffle(shuffled)
    a, b = standardised(of(shuffled)), standardised(here)
    assert a == b or (math.isnan(a) and math.isnan(b))
    assert of(shuffled).favourable == here.favourable
    assert equivalence(there, 0.2).p_value == equivalence(here, 0.2).p_value
    assert noninferiority(there, 0.2, "lower").p_value == noninferiority(here, 0.2).p_value
    assert noninferiority(there, 0.2, "lower").bound == -noninferiority(here, 0.2).bound


@settings(deadline=None, max_examples=60)
@given(LISTS, st.floats(0.01, 2), st.sampled_from([0.01, 0.05, 0.1]))
def test_intervals_are_dual_to_their_tests(values: Array, margin: float, alpha: float) -> None:
    sample = of(values)
    both, one = equivalence(sample, margin, alpha), noninferiority(sample, margin, alpha=alpha)
    if not np.ptp(values) or abs(both.p_value - alpha) < 1e-9 or abs(one.p_value - alpha) < 1e-9:
        return
    assert (both.p_value < alpha) == (-margin < both.lower and both.upper < margin)
    assert (one.p_value < alpha) == (one.bound > -margin)
    within = t_interval().of(sample, 1 - 2 * alpha)
    assert (within.lower, within.upper) == pytest.approx((both.lower, both.upper))


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10_000), st.integers(3, 30), st.floats(-0.2, 0.2), st.booleans())
def test_fieller_agrees_with_the_t_test_and_turns_over(seed: int, n: int, shift: float, clustered: bool) -> None:
    random = np.random.default_rng(seed)
    base = random.beta(2, 2, n)
    clusters = np.arange(n) // 2 if clustered else None
    a, b = of(base + random.normal(shift, 0.1, n), clusters), of(base, clusters)
    value, bounds = relative(a, b)
    turned, other = relative(b, a)
    assert (1 + value) * (1 + turned) == pytest.approx(1)
    if not bounds.known:
        assert "not clear of 0" in bounds.reason
        return
    assert bounds.lower <= value <= bounds.upper
    p = t().p_value(of(a.values - b.values, clusters))
    assert (bounds.lower > 0 or bounds.upper < 0) == (p < 0.05)
    if other.known and bounds.lower > -1:
        assert (1 + other.lower) * (1 + bounds.upper) == pytest.approx(1)
        assert (1 + other.upper) * (1 + bounds.lower) == pytest.approx(1)


def test_the_delta_interval_and_fiellers_meet_when_there_are_many() -> None:
    random = np.random.default_rng(1)
    base = random.beta(2, 2, 200_000)
    a, b = of(base + random.normal(0.02, 0.1, len(base))), of(base)
    (_, first), (_, second) = relative(a, b), relative(a, b, method="delta")
    assert (first.lower, first.upper) == pytest.approx((second.lower, second.upper), rel=1e-4)


# --- arithmetic ----------------------------------------------------------------------------------


def test_effect_of_the_textbook(shared_data: Callable[[str], Path]) -> None:
    x, y = elinor(shared_data, "X", "Y")
    assert round(standardised(of(x - y)), 4) == 0.4731  # Sakai, Laboratory Experiments in IR, 2018


def test_effects_at_the_edge() -> None:
    assert standardised(of([0.0, 0.0])) == 0
    assert math.isnan(standardised(of([0.1, 0.1])))
    assert math.isnan(standardised(of([0.1])))


def test_delta_by_hand() -> None:
    """Run 1, 3; baseline 1, 1: twice as much. Residuals of differences 0, 2 are -1, 1; their error is 1."""
    value, bounds = relative(of([1, 3]), of([1, 1]), method="delta")
    assert value == 1
    assert (bounds.lower, bounds.upper) == pytest.approx((1 - stats.t.ppf(0.975, 1), 1 + stats.t.ppf(0.975, 1)))


def test_fieller_by_hand() -> None:
    """A constant baseline has no error: Fieller's interval is that of the difference, divided."""
    run, base = np.array([0.3, 0.5, 0.2, 0.6]), np.full(4, 0.25)
    _, bounds = relative(of(run), of(base))
    plain = t_interval().of(of(run - base))
    assert (bounds.lower, bounds.upper) == pytest.approx((plain.lower / 0.25, plain.upper / 0.25))


def test_relative_without_an_interval() -> None:
    assert math.isnan(relative(of([1.0, 2.0]), of([0.0, 0.0]))[0])
    value, bounds = relative(of([0.2, 0.4]), of([0.1, 0.2]))
    assert value == pytest.approx(1)
    assert bounds.reason == "every query has the same relative difference"
    assert relative(of([0.2]), of([0.1]))[1].reason == "fewer than 2 queries"
    assert "not clear of 0" in relative(of([0.5, 0.0, 0.1]), of([0.9, 0.0, 0.0]))[1].reason


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.1, -0.2, -0.3], (1, 1 / 4)),
        ([-0.5, -0.1, 0.2, 0.3], (1, 1 / 4)),
        ([0.1, 0.1, 0.0, 0.0], (2, 1 / 2)),  # the rest is 0: nobody leads
        ([0.1, 0.1, 0.1], (3, 1.0)),
        ([0.3, 0.3, -0.1, -0.1, -0.1], (1, 1 / 5)),  # .3 - .3 is 0 up to rounding
        ([0.1, 0.2, -0.3], None),
        ([0.0, 0.0], None),
        ([], None),
    ],
)
def test_favourable(values: list[float], expected: tuple[int, float] | None) -> None:
    assert of(values).favourable == expected


def test_favourable_is_the_fewest() -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        values = random.normal(0.2, 1, 40)
        found = of(values).favourable
        assert found is not None
        k, share = found
        ranked = np.sort(values * np.sign(values.sum()))
        assert ranked[: 40 - k].sum() <= 0 < ranked[: 41 - k].sum()
        assert share == k / 40


def test_tests_without_spread() -> None:
    assert equivalence(of([0.01, 0.01]), 0.1).p_value == 0
    assert equivalence(of([0.2, 0.2]), 0.1).p_value == 1
    assert math.isnan(equivalence(of([0.01]), 0.1).p_value)
    assert math.isnan(noninferiority(of([0.01]), 0.1).bound)


# --- statsmodels and scipy -----------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.3])
def test_equivalence_is_statsmodels(
    shared_data: Callable[[str], Path], need: Callable[[str], ModuleType], margin: float
) -> None:
    ttost = need("statsmodels.stats.weightstats").ttost_paired
    for a, b in ("XY", "XZ", "YZ"):
        first, second = elinor(shared_data, a, b)
        found, theirs = equivalence(of(first - second), margin), ttost(first, second, -margin, margin)
        assert found.p_value == pytest.approx(theirs[0], rel=1e-10)
        assert noninferiority(of(first - second), margin).p_value == pytest.approx(theirs[1][1], rel=1e-10)
        assert noninferiority(of(first - second), margin, "lower").p_value == pytest.approx(theirs[2][1], rel=1e-10)


def test_noninferiority_bound_is_scipys(shared_data: Callable[[str], Path]) -> None:
    x, y = elinor(shared_data, "X", "Y")
    theirs = stats.ttest_1samp(x - y, 0, alternative="greater").confidence_interval(0.95)
    assert noninferiority(of(x - y), 0.1).bound == pytest.approx(theirs.low, rel=1e-12)


# --- bad input -----------------------------------------------------------------------------------


def test_bad_input() -> None:
    for margin in (0, -1, math.inf, math.nan):
        with pytest.raises(InputError, match="margin is a difference above 0"):
            equivalence(of([1.0, 2.0]), margin)
    with pytest.raises(InputError, match="needs a direction"):
        noninferiority(of([1.0, 2.0]), 0.1, "neither")
    with pytest.raises(InputError, match="method='fieller' or 'delta'"):
        relative(of([1.0, 2.0]), of([1.0]))
    unknown: Any = "log"
    with pytest.raises(InputError, match="method='log'"):
        relative(of([1.0]), of([1.0]), method=unknown)


def test_a_relative_difference_takes_a_level_between_0_and_1() -> None:
    one, two = Sample(np.array([1.0, 2.0, 4.0])), Sample(np.array([2.0, 2.0, 3.0]))
    for level in (0.0, 1.0, -1.0, 2.0):
        with pytest.raises(InputError, match="and a level between 0 and 1; got 3 and 3 values"):
            relative(one, two, level)


@pytest.mark.parametrize("size", [0.02, 0.1, 0.5, 2.0])
def test_how_many_of_normal_differences_carry_a_lead(size: float) -> None:
    """The best share q goes where the mean of what is left of a normal distribution is 0, by integration."""
    values = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    values = values / values.std(ddof=1) + size
    share = optimize.brentq(lambda q: stats.norm(size).expect(lambda x: x, ub=stats.norm.ppf(1 - q, size)), 1e-6, 0.999)
    assert favourable_if_normal(of(values)) / 4000 == pytest.approx(share, rel=1e-3)
    assert favourable_if_normal(of(-values)) == pytest.approx(favourable_if_normal(of(values)))
    assert favourable_if_normal(of([1.0, 1.0])) == math.inf


@pytest.mark.parametrize(
    ("test", "interval"),
    [
        (t(), t_interval()),
        (sequential.anytime(first=20), sequences.anytime(first=20)),
        (sequential.group_sequential(look=2, looks=3), sequences.group_sequential(look=2, looks=3)),
    ],
    ids=["t", "anytime", "group sequential"],
)
def test_a_lift_of_the_margin_is_rejected_exactly_if_its_interval_excludes_it(test: Any, interval: Any) -> None:
    rng = np.random.default_rng(5)
    for number in range(60):
        one, other = (Estimate.of(rng.uniform(1, 2), rng.uniform(0.5, 9), int(rng.integers(30, 400))) for _ in range(2))
        between = Estimate.between(one, other)
        if number % 3 == 0:  # the error of the difference may have a formula of its own
            between = replace(between, error=between.error * rng.uniform(0.5, 1.5))
        bounds = relative_of_own(one, other, 0.95, interval, between)[1]
        if not bounds.known or not np.isfinite([bounds.lower, bounds.upper]).all():
            continue
        for share, inside in ((bounds.lower, 1), (bounds.upper, -1)):
            for moved, rejected in ((share - 1e-4 * inside, True), (share + 1e-4 * inside, False)):
                less = less_share(one, other, moved, between)
                assert is_significant(test.p_value(less), 0.05) == rejected
