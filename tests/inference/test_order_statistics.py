"""Quantiles of rows in clusters: beside numpy's and scipy's, in changed scales, with copied rows, and how often they hold the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rankscope.inference.base import Estimate, Sample
from rankscope.inference.intervals import t as t_interval
from rankscope.inference.order_statistics import QuantileEstimate, quantile_of
from rankscope.inference.paired import t

SHARES = (0.05, 0.25, 0.5, 0.9, 0.99)
each_share = pytest.mark.parametrize("q", SHARES, ids=["fifth of a hundred", "quarter", "half", "nine tenths", "last"])
Made = tuple[Any, Any]


def clustered(seed: int, count: int = 300, alike: float = 0.8) -> Made:
    """Waiting times of users: some have many, and those of one are alike."""
    draws = np.random.default_rng(seed)
    sizes = draws.geometric(0.2, count)
    user = np.repeat(np.arange(count), sizes)
    return np.exp(alike * draws.normal(size=count)[user] + 0.6 * draws.normal(size=len(user))), user


def ends(found: QuantileEstimate) -> tuple[float, float]:
    return found.bounds.lower, found.bounds.upper


# --- laws -----------------------------------------------------------------------------------------------------------


@each_share
def test_the_value_is_the_inverse_of_the_empirical_distribution(q: float) -> None:
    for count in (7, 64, 101, 999):
        values = np.random.default_rng(count).normal(size=count)
        assert quantile_of(values, None, q).value == np.quantile(values, q, method="inverted_cdf")


def test_the_rank_goes_by_the_decimals_of_the_share() -> None:
    hundred = np.arange(1.0, 101.0)
    for number in range(1, 100):
        assert quantile_of(hundred, None, float(f"0.{number:02}")).value == number  # 0.07 * 100 is above 7 in bits


@each_share
@pytest.mark.parametrize("scale", [np.exp, lambda x: x**3, lambda x: 4 * x - 2], ids=["exponential", "cube", "linear"])
def test_an_increasing_function_of_the_values_changes_nothing_else(q: float, scale: Callable[[Any], Any]) -> None:
    values, user = clustered(1, 2000)
    plain, scaled = quantile_of(values, user, q), quantile_of(scale(values), user, q)
    order = np.searchsorted(np.sort(values), [plain.value, *ends(plain)])
    assert [scaled.value, *ends(scaled)] == np.sort(scale(values))[order].tolist()
    assert (scaled.effective, scaled.below) == (plain.effective, plain.below)


@each_share
def test_rows_that_are_copied_within_each_unit_say_nothing_new(q: float) -> None:
    values, user = clustered(2, 2000)
    once = quantile_of(values, user, q)
    for times in (2, 5):
        more = quantile_of(np.repeat(values, times), np.repeat(user, times), q)
        assert (more.value, *ends(more)) == (once.value, *ends(once))
        assert more.effective == pytest.approx(once.effective, rel=1e-12)
        assert more.error == pytest.approx(once.error, rel=2e-3)


@each_share
def test_copies_of_one_row_a_unit_are_one_row(q: float) -> None:
    values = np.random.default_rng(3).normal(size=800)
    once = quantile_of(values, None, q)
    copied = quantile_of(np.repeat(values, 3), np.repeat(np.arange(800), 3), q)
    assert (copied.value, *ends(copied)) == (once.value, *ends(once))
    assert copied.effective == once.effective == 800


def test_the_order_of_rows_and_the_numbers_of_units_do_not_matter() -> None:
    values, user = clustered(4)
    order = np.random.default_rng(5).permutation(len(values))
    names = np.random.default_rng(6).permutation(user.max() + 20)  # some have no rows
    assert quantile_of(values[order], names[user[order]], 0.9) == quantile_of(values, user, 0.9)


def test_more_of_the_same_units_narrow_the_interval() -> None:
    values, user = clustered(7, 1000)
    once, fourfold = (
        quantile_of(np.tile(values, k), np.concatenate([user + i * 1000 for i in range(k)]), 0.9) for k in (1, 4)
    )
    assert fourfold.error == pytest.approx(once.error / 2, rel=0.15)
    assert fourfold.value == once.value


def test_rows_that_are_alike_say_less() -> None:
    alike, apart = (quantile_of(*clustered(8, 2000, alike=size), 0.5) for size in (1.5, 0.0))
    assert alike.effective < 0.5 * alike.rows
    assert apart.effective == pytest.approx(apart.rows, rel=0.1)


@pytest.mark.parametrize("q", [0.5, 0.9, 0.95], ids=["half", "nine tenths", "nineteen in twenty"])
def test_intervals_of_clustered_rows_hold_the_truth_and_rows_taken_as_independent_do_not(q: float) -> None:
    truth = float(np.quantile(clustered(9, 300_000)[0], q))
    rounds, inside, naive = 1000, 0, 0
    for seed in range(rounds):
        values, user = clustered(seed + 100, 250)
        low, high = ends(quantile_of(values, user, q))
        inside += low <= truth <= high
        low, high = ends(quantile_of(values, None, q))
        naive += low <= truth <= high
    assert inside / rounds == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / rounds))
    assert naive / rounds < 0.9


@pytest.mark.parametrize("q", [0.5, 0.9], ids=["half", "nine tenths"])
def test_differences_are_found_as_often_as_alpha_says_where_there_are_none(q: float) -> None:
    rounds, found = 1000, 0
    for seed in range(rounds):
        one, other = (quantile_of(*clustered(2 * seed + side + 5000, 800), q).estimate() for side in (0, 1))
        found += t().p_value(Estimate.between(one, other)) <= 0.05
    assert found / rounds == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))


@pytest.mark.parametrize("users", [250, 1000, 3000])
def test_whole_seconds_jump_and_their_jumps_are_no_differences(users: int) -> None:
    rounds, found, median = (
        400,
        0,
        np.log(8),
    )  # the boundary between two whole numbers, from which a sample falls to either side
    draws = np.random.default_rng(15)
    for _ in range(rounds):
        sides = []
        for _ in range(2):
            user = np.repeat(np.arange(users), draws.geometric(0.3, users))
            waits = np.exp(median + 0.8 * draws.normal(size=users)[user] + 0.6 * draws.normal(size=len(user)))
            sides.append(quantile_of(np.ceil(waits), user, 0.5).estimate())
        found += t().p_value(Estimate.between(*sides)) <= 0.05
    assert found / rounds <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / rounds)


# --- worked arithmetic --------------------------------------------------------------------------------------------------


def test_the_share_below_by_hand() -> None:
    # three users with 4, 4 and 4 rows, of which 3, 2 and 1 are at or below the median, which is 6
    values, user = np.array([1.0, 2, 3, 9, 4, 5, 10, 11, 6, 7, 8, 12]), np.repeat([0, 1, 2], 4)
    found = quantile_of(values, user, 0.5)
    assert (found.value, found.below, found.rows, found.clusters) == (6.0, 6, 12, 3)
    squares = (3 - 2) ** 2 + 0 + (1 - 2) ** 2  # around half of each user's rows
    assert found.effective == pytest.approx(0.5 * 0.5 * 12**2 / (squares * 3 / 2))


@pytest.mark.parametrize("values", [[3.0] * 50, [3.0]], ids=["rows that are all the same", "one row"])
def test_without_spread_there_is_no_error(values: list[float]) -> None:
    found = quantile_of(np.array(values), None, 0.5)
    assert found.value == 3
    assert math.isnan(found.error)
    assert found.reason
    assert t_interval().of(found.estimate()).reason == found.reason


def test_rows_that_are_rounded_have_an_error_though_both_ends_are_one_value() -> None:
    fine = np.random.default_rng(10).normal(100, 3, 40_000)
    whole = quantile_of(np.round(fine), None, 0.5)
    assert ends(whole) == (100, 100)
    assert whole.error == pytest.approx(quantile_of(fine, None, 0.5).error, rel=0.15)


def test_where_most_rows_are_nothing_the_median_is_nothing_for_sure() -> None:
    found = quantile_of(np.repeat([0.0, 1.0, 2.0], [700, 200, 100]), None, 0.5)
    assert (found.value, *ends(found)) == (0, 0, 0)
    assert found.error > 0


def test_without_rows_there_is_nothing() -> None:
    found = quantile_of(np.array([]), None, 0.5)
    assert math.isnan(found.value)
    assert found.reason == "every value is missing"


# --- few rows beyond --------------------------------------------------------------------------------------------------


def test_so_many_rows_as_it_says_are_needed_and_enough() -> None:
    draws = np.random.default_rng(11)
    short = quantile_of(draws.normal(size=500), None, 0.999)
    assert not short.bounds.known
    assert "500 rows" in short.bounds.reason
    assert short.needed == math.ceil(math.log(0.025) / math.log(0.999))
    assert not quantile_of(draws.normal(size=short.needed - 1), None, 0.999).bounds.known
    assert quantile_of(draws.normal(size=short.needed), None, 0.999).bounds.known


def test_low_quantiles_need_rows_below() -> None:
    assert not quantile_of(np.random.default_rng(12).normal(size=500), None, 0.001).bounds.known


def test_of_one_unit_nothing_is_known() -> None:
    found = quantile_of(np.arange(100.0), np.zeros(100, dtype=int), 0.5)
    assert found.value == 49
    assert found.bounds.reason == found.reason == "fewer than 2 units have a value"


def test_units_that_agree_to_the_row_say_nothing_of_chance() -> None:
    assert not quantile_of(np.tile([1.0, 2.0, 3.0, 4.0], 50), np.repeat(np.arange(50), 4), 0.5).bounds.known


# --- beside others -------------------------------------------------------------------------------------------------------


@each_share
@pytest.mark.parametrize("count", [150, 999, 5000])
@pytest.mark.parametrize("level", [0.8, 0.95], ids=["at 80", "at 95"])
def test_of_independent_rows_the_interval_is_that_of_scipy(q: float, count: int, level: float) -> None:
    from scipy.stats import quantile_test

    values = np.random.default_rng(count).normal(size=count)
    theirs = quantile_test(values, p=q).confidence_interval(level)
    ours = quantile_of(values, None, q, level)
    if np.isnan([theirs.low, theirs.high]).any():
        assert not ours.bounds.known
    else:
        assert ends(ours) == (theirs.low, theirs.high)


def test_the_share_below_is_as_sure_as_the_mean_of_a_sample_of_clusters() -> None:
    values, user = (column[:1300] for column in clustered(13))  # of which 1,170 are at or below the quantile
    found = quantile_of(values, user, 0.9)
    below = Sample((values <= found.value).astype(float), user)
    assert math.sqrt(below.mean * (1 - below.mean) / found.effective) == pytest.approx(below.error, rel=1e-12)
    assert found.freedom == pytest.approx(below.freedom, rel=1e-12)


@each_share
def test_the_error_is_that_of_the_density_where_it_is_known(q: float) -> None:
    count = 40_000
    values = np.random.default_rng(14).uniform(size=count)
    assert quantile_of(values, None, q).error == pytest.approx(math.sqrt(q * (1 - q) / count), rel=0.15)
