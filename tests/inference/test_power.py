"""Power and numbers of queries: laws, arithmetic, statsmodels, and small simulations."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankscope.errors import InputError
from rankscope.inference.base import Sample
from rankscope.inference.power import detectable, detectable_difference, power_of, queries_needed, topic_set_size

POWER = st.sampled_from([0.5, 0.8, 0.95])
ALPHA = st.sampled_from([0.01, 0.05])
RATIO = st.floats(0.02, 3)
UNKNOWN: Any = "z"


def sample_of(n: int, deviation: float = 1.0) -> Sample:
    values = np.random.default_rng(n).normal(0, 1, n)
    values -= values.mean()
    return Sample(values / values.std(ddof=1) * deviation)


# --- laws ----------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(RATIO, POWER, ALPHA, st.sampled_from([math.inf, 3, 9.5, 49, 1e6]))
def test_what_is_needed_is_the_fewest_that_can_detect(ratio: float, power: float, alpha: float, pilot: float) -> None:
    n = queries_needed(1, ratio, power, alpha, pilot=pilot)

    def least(n: int) -> float:
        return detectable_difference(n, 1, power, alpha, pilot)

    assert least(n) <= ratio * (1 + 1e-9)
    assert n == 2 or least(n - 1) > ratio * (1 - 1e-9)
    assert queries_needed(10, -10 * ratio, power, alpha, pilot=pilot) == n


@pytest.mark.parametrize("n", [6, 10, 50, 400])
def test_what_is_detected_has_the_power_that_was_asked_for(n: int) -> None:
    for power in (0.5, 0.8, 0.95):
        found = detectable(sample_of(n), power, 0.01).difference
        assert found == pytest.approx(detectable_difference(n, 1, power, 0.01, n - 1), rel=1e-12)
        assert power_of(1, found, n, 0.01, n - 1) == pytest.approx(power, rel=1e-9)


def test_an_estimated_deviation_takes_more_the_fewer_it_is_estimated_from() -> None:
    pilots = [3, 10, 50, 1000, 1e7]
    found = [detectable_difference(50, 1, alpha=0.005, pilot=pilot) for pilot in pilots]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx((stats.t.ppf(0.9975, 49) + stats.norm.ppf(0.8)) / math.sqrt(50), rel=1e-5)
    assert queries_needed(1, 1e-6, pilot=1e7) == pytest.approx(queries_needed(1, 1e-6), rel=1e-5)


@settings(deadline=None, max_examples=60)
@given(RATIO, POWER, ALPHA)
def test_exactly_needed_is_the_fewest_with_that_power(ratio: float, power: float, alpha: float) -> None:
    n = queries_needed(1, ratio, power, alpha, exact=True)
    assert power_of(1, ratio, n, alpha) >= power
    assert n == 2 or power_of(1, ratio, n - 1, alpha) < power
    assert topic_set_size("t", variance=1, difference=ratio, power=power, alpha=alpha) == n
    if alpha == 0.05 and power == 0.8 and n > 5:
        assert abs(n - queries_needed(1, ratio, power, alpha)) <= 2


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 500), st.floats(0, 5), st.floats(0, 5))
def test_power_grows(n: int, small: float, more: float) -> None:
    assert power_of(1, small, n) <= power_of(1, small + more, n) + 1e-12
    assert power_of(1, small, n) <= power_of(1, small, n + 1) + 1e-12
    assert power_of(1, small, n) == power_of(1, -small, n)


# --- arithmetic ----------------------------------------------------------------------------------


def test_detectable_by_hand() -> None:
    found = detectable(sample_of(50, 0.2))
    quantile = stats.nct.ppf(0.8, 49, stats.t.ppf(0.975, 49))
    assert found.difference == pytest.approx(
        quantile * 0.2 / math.sqrt(50), rel=1e-5
    )  # which leaves out the other side
    known = detectable_difference(50, 0.2)
    assert known == pytest.approx((stats.t.ppf(0.975, 49) + stats.t.ppf(0.8, 49)) * 0.2 / math.sqrt(50), rel=1e-10)
    assert found.low == pytest.approx(found.difference * math.sqrt(49 / stats.chi2.ppf(0.975, 49)), rel=1e-10)
    assert found.high == pytest.approx(found.difference * math.sqrt(49 / stats.chi2.ppf(0.025, 49)), rel=1e-10)


def test_detectable_of_clusters() -> None:
    values = np.array([0.0, 1, 2, 2, 3, 4])
    sample = Sample(values, np.array([0, 0, 1, 1, 2, 2]))
    quantile = stats.nct.ppf(0.8, 2, stats.t.ppf(0.975, 2))
    assert detectable(sample).difference == pytest.approx(quantile * math.sqrt(3 / 2 * 18) / 6, rel=1e-5)
    assert math.isnan(detectable(Sample(np.array([1.0]))).difference)
    assert detectable(Sample(np.array([0.0, 0.0]))).difference == 0


def test_known_numbers() -> None:
    """Cohen's table: 34 pairs for d = .5, 64 in each of two groups; a normal 7.85 million for a thousandth."""
    assert queries_needed(1, 0.5, exact=True) == 34
    assert topic_set_size("anova", variance=1, difference=0.5, systems=2) == 64
    both = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert queries_needed(1, 1e-3) == pytest.approx((both * 1e3) ** 2, abs=3)
    assert queries_needed(1, 1e-6) == math.ceil((both * 1e6) ** 2)
    assert queries_needed(1, 1e-250) > 10**500
    assert queries_needed(0, 0.1) == 2
    assert power_of(1, 0, 10) == 0.05
    assert power_of(0, 0.1, 10) == 1


def test_the_width_of_an_interval_by_hand() -> None:
    """Two topics: 2 t[.975, 1] * sqrt(v / 2) * E(s) / sigma, and E(s) / sigma of two is sqrt(2 / pi)."""
    width = 2 * stats.t.ppf(0.975, 1) * math.sqrt(1 / 2) * math.sqrt(2 / math.pi)
    assert topic_set_size("interval", variance=1, width=width * 1.0001) == 2
    assert topic_set_size("interval", variance=1, width=width * 0.9999) == 3


# --- other tools and simulations -----------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 10, 50, 100])
def test_power_is_statsmodels(need: Callable[[str], ModuleType], n: int) -> None:
    TTestPower = need("statsmodels.stats.power").TTestPower
    for effect in (0.01, 0.2, 0.5):
        theirs = TTestPower().power(effect, n, 0.05)
        assert power_of(0.2, 0.2 * effect, n) == pytest.approx(theirs, rel=1e-10)


@pytest.mark.parametrize("effect", [0.1, 0.2, 0.5, 1.0])
def test_numbers_are_statsmodels(need: Callable[[str], ModuleType], effect: float) -> None:
    power = need("statsmodels.stats.power")
    theirs = power.TTestPower().solve_power(effect, alpha=0.05, power=0.8)
    assert queries_needed(1, effect, exact=True) == math.ceil(theirs)
    for systems in (2, 5, 20):
        f = effect / math.sqrt(2 * systems)
        total = power.FTestAnovaPower().solve_power(f, alpha=0.05, power=0.8, k_groups=systems)
        found = topic_set_size("anova", variance=1, difference=effect, systems=systems)
        assert found == math.ceil(np.asarray(total).item() / systems)


def test_power_by_simulation() -> None:
    random = np.random.default_rng(7)
    p = stats.ttest_1samp(random.normal(0.5, 1, (20_000, 34)), 0, axis=1).pvalue
    assert (p < 0.05).mean() == pytest.approx(power_of(1, 0.5, 34), abs=0.01)


@pytest.mark.parametrize(("n", "alpha"), [(6, 0.05), (50, 0.05), (50, 0.05 / 15)])
def test_new_queries_find_what_the_first_ones_said_they_can_detect(n: int, alpha: float) -> None:
    """On average over the first queries: two quantiles of t would find 70% for six queries, and 77% for 50 at alpha / 15."""
    random = np.random.default_rng(9)
    first, later = random.normal(0, 1, (2, 20_000, n))
    about = detectable_difference(n, 1, alpha=alpha, pilot=n - 1) * first.std(axis=1, ddof=1)
    p = stats.ttest_1samp(later + about[:, None], 0, axis=1).pvalue
    assert 0.78 < (p < alpha).mean() < 0.815


def test_designs_by_simulation() -> None:
    random = np.random.default_rng(8)
    n = topic_set_size("anova", variance=1, difference=1, systems=4)
    middle = np.array([-0.5, 0, 0, 0.5])[:, None, None]
    p = stats.f_oneway(*(middle + random.normal(0, 1, (4, 10_000, n))), axis=1).pvalue
    assert 0.79 < (p < 0.05).mean() < 0.83
    n = topic_set_size("interval", variance=1, width=0.5)
    deviations = random.normal(0, 1, (10_000, n)).std(axis=1, ddof=1)
    width = 2 * stats.t.ppf(0.975, n - 1) * deviations.mean() / math.sqrt(n)
    assert width == pytest.approx(0.5, rel=0.02)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: queries_needed(1, 0), "difference that is not 0"),
        (lambda: queries_needed(-1, 1), "deviation of 0 or more"),
        (lambda: queries_needed(1, 1, power=1), "power=1"),
        (lambda: queries_needed(1, 1, alpha=0), "alpha=0"),
        (lambda: queries_needed(math.nan, 1), "deviation"),
        (lambda: detectable(Sample(np.array([1.0, 2.0])), power=0.01), "power above alpha"),
        (lambda: power_of(1, 1, 1), "at least 2 queries"),
        (lambda: topic_set_size("t", variance=1), "needs a difference above 0"),
        (lambda: topic_set_size("interval", variance=1, difference=1), "needs a width above 0"),
        (lambda: topic_set_size("anova", variance=1, difference=1), "how many systems"),
        (lambda: topic_set_size("t", variance=0, difference=1), "variance is above 0"),
        (lambda: topic_set_size(UNKNOWN, variance=1, difference=1), "designed by"),
    ],
)
def test_bad_input(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()
