"""Looking more than once: laws of the anytime-valid tests and intervals, arithmetic, and how often they err over many looks."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference import sequences
from rankscope.inference.base import Interval, PairedTest, Sample
from rankscope.inference.intervals import t
from rankscope.inference.sequential import anytime, betting, prior

differences = st.lists(st.sampled_from([-1.0, -0.5, -0.1, 0.0, 0.05, 0.3, 1.0]), min_size=20, max_size=60).map(np.array)
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])
each = pytest.mark.parametrize(
    ("test", "interval"),
    [(anytime(), sequences.anytime()), (betting(), sequences.betting()), (anytime(narrowest=40), sequences.anytime(narrowest=40))],
    ids=str,
)  # fmt: skip


# --- laws ----------------------------------------------------------------------------------------


@each
@given(values=differences, level=levels)
def test_the_p_value_says_when_the_interval_excludes_zero(
    test: PairedTest, interval: Interval, values: Any, level: float
) -> None:
    p, bounds = test.p_value(Sample(values)), interval.of(Sample(values), level)
    if bounds.known and not math.isclose(p, 1 - level, rel_tol=1e-9):
        assert (p < 1 - level) == (bounds.lower > 0 or bounds.upper < 0)


@each
@given(values=differences, level=levels)
def test_turning_every_sign_turns_the_interval(test: PairedTest, interval: Interval, values: Any, level: float) -> None:
    here, there = Sample(values), Sample(-values)
    assert test.p_value(here) == pytest.approx(test.p_value(there), rel=0, abs=0, nan_ok=True)
    one, other = interval.of(here, level), interval.of(there, level)
    assert np.array_equal([one.lower, one.upper], [-other.upper, -other.lower], equal_nan=True)


@given(values=differences, seed=st.integers(0, 99))
def test_at_one_look_the_order_of_queries_does_not_matter(values: Any, seed: int) -> None:
    mixed = np.random.default_rng(seed).permutation(values)
    assert np.array_equal(anytime().p_value(Sample(values)), anytime().p_value(Sample(mixed)), equal_nan=True)


@given(values=differences)
def test_betting_never_unlearns(values: Any) -> None:
    looks = [betting().p_value(Sample(values[:n])) for n in range(1, len(values) + 1)]
    assert all(later <= earlier for earlier, later in pairwise(looks))


@each
def test_a_pair_equal_on_all_queries_has_p_1(test: PairedTest, interval: Interval) -> None:
    assert test.p_value(Sample(np.zeros(30))) == 1
    assert test.p_value(Sample(np.zeros(3))) == 1
    assert math.isnan(test.p_value(Sample(np.zeros(0))))
    assert not interval.of(Sample(np.zeros(0))).known


@given(values=differences)
def test_betting_on_another_scale_is_the_same_bet(values: Any) -> None:
    here = sequences.betting().of(Sample(values))
    there = sequences.betting(low=0, high=8).of(Sample(4 * (values + 1)))
    assert (there.lower, there.upper) == pytest.approx((4 * (here.lower + 1), 4 * (here.upper + 1)), abs=1e-9)


# --- worked arithmetic ---------------------------------------------------------------------------


def test_the_mixture_worked_out() -> None:
    values = np.array([0.1, 0.3, 0.2, -0.1] * 6)
    error = math.sqrt(6 * (0.025**2 + 0.175**2 + 0.075**2 + 0.225**2) / 23 / 24)
    x = 8.2122 * 24 / 100
    likelihood_ratio = math.exp((0.125 / error) ** 2 / 2 * x / (1 + x)) / math.sqrt(1 + x)
    assert anytime().p_value(Sample(values)) == pytest.approx(1 / likelihood_ratio)
    away = error * math.sqrt((1 + x) / x * math.log((1 + x) / 0.05**2))
    bounds = sequences.anytime().of(Sample(values))
    assert (bounds.lower, bounds.upper) == pytest.approx((0.125 - away, 0.125 + away))


def test_the_likelihood_ratio_is_the_integral_over_the_mixture() -> None:
    """Against quadrature: normal values of variance 1, their mean from a normal of variance x / n under the alternative."""
    z, x = 2.5, prior(60, 100)
    mu = np.linspace(-40, 40, 400_001)
    density = np.exp(-(mu**2) / (2 * x)) / math.sqrt(2 * math.pi * x) * np.exp(mu * z - mu**2 / 2)
    values = np.tile([-1.0, 1.0], 30) * math.sqrt(59 / 60) + z / math.sqrt(60)
    assert anytime().p_value(Sample(values)) == pytest.approx(1 / (density.sum() * (mu[1] - mu[0])))


def test_the_interval_is_narrowest_where_it_says() -> None:
    factor = [math.sqrt((1 + 1 / x) * math.log((1 + x) / 0.05**2)) for x in (prior(n, 100) for n in range(50, 200))]
    assert 50 + int(np.argmin(factor)) == 100


def test_two_bets_worked_out() -> None:
    """The bet is capped at the first query: half the capital may be lost, so a value of 1 makes 1.5 of 1 against a mean of 0."""
    assert betting().p_value(Sample(np.array([1.0]))) == 1  # half of 1.5 is below 1
    assert betting().p_value(Sample(np.ones(2))) == pytest.approx(2 / 1.5**2)
    assert betting().p_value(Sample(np.array([1.0, 1, 1, -1]))) == pytest.approx(2 / 1.5**3)


def test_a_small_bet_worked_out() -> None:
    """A gambler who has seen values of wide spread stakes less than the cap."""
    values = np.tile([1.0, -1.0], 50)
    centre = np.cumsum(values) / np.arange(2, 102)
    spread = (1 + ((values - centre) ** 2)[:99].sum()) / 100
    stake = math.sqrt(2 * math.log(2 / 0.05) / (spread * 100 * math.log(101)))
    from rankscope.inference.sequential import bets

    assert bets(values)[99] == pytest.approx(stake)
    assert stake < 0.5


# --- how often they err --------------------------------------------------------------------------


def test_looking_at_every_query_errs_rarely_where_a_repeated_t_errs_often(shared_data: Any) -> None:
    """AP differences of real systems, recentred; both looked at after every query from 20 to 400."""
    from scipy.special import stdtrit

    scores = np.genfromtxt(Path(shared_data("system_scores/adhoc8_ap.csv")), delimiter=",", skip_header=1)
    apart = scores[:, 10] - scores[:, 40]
    draws = np.random.default_rng(7).choice(apart - apart.mean(), (1500, 400))
    n = np.arange(1, 401)
    mean = draws.cumsum(axis=1) / n
    error = np.sqrt((np.cumsum(draws**2, axis=1) - n * mean**2)[:, 19:] / (n - 1)[19:] / n[19:])
    z = np.abs(mean[:, 19:]) / error
    x = prior(1, 100) * n[19:]
    crossed = (z > np.sqrt((1 + 1 / x) * (np.log1p(x) - 2 * math.log(0.05)))).any(axis=1)
    assert crossed.mean() < 0.05
    assert (z > -stdtrit(n[19:] - 1, 0.025)).any(axis=1).mean() > 0.25
    for row, n_queries in ((0, 20), (1, 137), (2, 400)):  # the simulation is of what the library computes
        p = anytime().p_value(Sample(draws[row, :n_queries]))
        assert (p < 0.05) == (
            z[row, n_queries - 20]
            > math.sqrt((1 + 1 / x[n_queries - 20]) * (np.log1p(x[n_queries - 20]) - 2 * math.log(0.05)))
        )


def test_betting_errs_rarely_from_the_first_query() -> None:
    """Skewed values, mostly 0: the mean is inside at every one of 150 looks in far more than 95 of 100 cases."""
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(200):
        values = rng.binomial(1, 0.1, 150) * rng.random(150)
        bounds = sequences.betting(low=0).of(Sample(values))
        missed += not bounds.lower <= 0.05 <= bounds.upper
    assert missed / 200 < 0.05


@pytest.mark.parametrize("n", [20, 50, 100, 300, 1000])
def test_width_against_t(n: int) -> None:
    sample = Sample(np.random.default_rng(n).normal(0.1, 0.2, n).clip(-1, 1))
    once, often, exact = t().of(sample), sequences.anytime().of(sample), sequences.betting().of(sample)
    assert 1.5 < (often.upper - often.lower) / (once.upper - once.lower) < 1.67
    assert (once.upper - once.lower) < (exact.upper - exact.lower)
    assert often.lower < 0.1 < often.upper
    assert exact.lower < 0.1 < exact.upper


def test_five_thousand_queries_take_no_time() -> None:
    values = np.random.default_rng(0).uniform(0, 1, 5000)
    bounds = sequences.betting(low=0).of(Sample(values))
    assert 0.45 < bounds.lower < 0.5 < bounds.upper < 0.55


# --- where there is none, and bad input ----------------------------------------------------------


def test_before_the_first_look_there_is_none() -> None:
    sample = Sample(np.linspace(-0.2, 0.5, 19))
    assert sequences.anytime().of(sample).reason == "the first look is at 20 queries"
    assert math.isnan(anytime().p_value(sample))
    assert sequences.anytime(first=40).of(Sample(np.linspace(0, 1, 39))).reason.endswith("at 40 queries")
    at_first = Sample(np.linspace(-0.2, 0.5, 20))
    assert sequences.anytime().of(at_first).known
    assert 0 < anytime().p_value(at_first) < 1


def test_without_spread_anytime_says_nothing_and_betting_does() -> None:
    sample = Sample(np.full(60, 0.25))
    assert sequences.anytime().of(sample).reason == "every query has the same value"
    assert math.isnan(anytime().p_value(sample))
    assert betting().p_value(sample) < 0.05


def test_rounding_is_no_spread_and_no_way_out_of_the_range() -> None:
    nearly = Sample(np.tile([0.3 - 0.2, 0.2 - 0.1], 15))
    assert sequences.anytime().of(nearly).reason == "every query has the same value"
    assert math.isnan(anytime().p_value(nearly))
    above = np.array([1.0, 0.5, 0.25]) * (1 + 1e-15)
    assert sequences.betting(low=0).of(Sample(above)).upper <= 1


def test_clusters_are_refused() -> None:
    sample = Sample(np.linspace(-0.2, 0.5, 30), np.arange(30) // 3)
    for test in (anytime(), betting()):
        with pytest.raises(InputError, match="independent; with clusters use"):
            test.p_value(sample)
    for interval in (sequences.anytime(), sequences.betting()):
        assert interval.of(sample).reason.endswith("these come in clusters")


def test_values_outside_the_range_are_refused() -> None:
    sample = Sample(np.array([-0.3, 0.4]))
    with pytest.raises(InputError, match=r"low=0, high=1\) was given values from −0.3 to 0.4: set their range"):
        sequences.betting(low=0).of(sample)
    with pytest.raises(InputError, match="was given values from −3 to 4"):
        betting().p_value(Sample(np.array([-3.0, 4.0])))


def test_a_range_without_room_or_without_zero_is_refused() -> None:
    for kind in (betting, sequences.betting):
        with pytest.raises(InputError, match="low is below high"):
            kind(low=1, high=1)
    with pytest.raises(InputError, match="0 is between low and high"):
        betting(low=0.1, high=1)
    with pytest.raises(InputError, match="at least 20"):
        anytime(first=10)
    with pytest.raises(InputError, match="between 0 and 1"):
        sequences.anytime().of(Sample(np.linspace(0, 1, 30)), 95)


def test_values_that_drift_refute_every_mean() -> None:
    values = np.concatenate([np.zeros(300), np.ones(3000)])
    assert "drift" in sequences.betting(low=0).of(Sample(values)).reason


def test_names_are_read_back() -> None:
    assert parse_all(PairedTest, "anytime(first=30)") == (anytime(first=30),)
    assert parse_all(Interval, "confidence_sequence") == (sequences.anytime(),)
    assert str(parse_all(Interval, "betting(low=0)")[0]) == "betting(low=0)"


def test_a_level_that_is_none_is_told() -> None:
    with pytest.raises(InputError, match=r"level=2: level is between 0 and 1, like 0\.95"):
        sequences.anytime().of(Sample(np.linspace(0, 1, 30)), level=2)
