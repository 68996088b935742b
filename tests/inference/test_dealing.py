"""Units of two systems dealt at random: the test, its interval, and when it takes the place of t."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.inference.base import Estimate
from rankscope.inference.dealing import FAR, SKEWED, Chance, Units, deal, skewness_of_difference
from rankscope.inference.effects import above, less_share
from rankscope.inference.paired import permutation
from rankscope.moments import Moments
from rankscope.panels.ratios import estimate_of, panel_of
from rankscope.panels.samples import Measure

SPLIT = {"A": 9.0, "B": 1.0}


def units_of(values: Any, below: Any = None) -> Units:
    """The units of one system with these values."""
    table = np.column_stack([values, np.ones(len(values)) if below is None else below]).astype(float)
    return panel_of(Measure("x"), {"A": table}).estimates[0].units[0]


def table_of(base: Any, other: Any, below: Any = None) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "user": range(len(base) + len(other)),
            "variant": ["A"] * len(base) + ["B"] * len(other),
            "y": np.concatenate([base, other]),
            "n": np.ones(len(base) + len(other)) if below is None else below,
        }
    )


# --- laws -------------------------------------------------------------------------------------------------------


def test_deals_are_all_ways_to_choose_the_small_side() -> None:
    """Six units, of which two are dealt: the draws come from the 15 statistics that there are, each equally often."""
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    chance = deal(units_of(values[:2]), units_of(values[2:]))
    every = []
    for chosen in combinations(range(6), 2):
        mine, others = values[list(chosen)], np.delete(values, list(chosen))
        every.append((mine.mean() - others.mean()) / np.sqrt(mine.var(ddof=1) / 2 + others.var(ddof=1) / 4))
    share = [np.isclose(chance.draws, one, rtol=1e-6).mean() for one in every]
    assert sum(share) == pytest.approx(1)
    assert max(abs(part - 1 / 15) for part in share) < 4 * np.sqrt(1 / 15 * 14 / 15 / len(chance.draws))


def test_many_units_near_the_mean_are_dealt_as_sums() -> None:
    """The quantiles with most units as normal sums are those of dealing every unit."""
    draws = np.random.default_rng(1)
    base, other = np.exp(1.5 * draws.normal(size=9 * FAR)), np.exp(1.5 * draws.normal(size=FAR))
    chance = deal(units_of(other), units_of(base))
    every, values = [], np.concatenate([base, other])
    for _ in range(3000):
        dealt = draws.permutation(values)
        mine, others = dealt[:FAR], dealt[FAR:]
        error = np.sqrt(mine.var(ddof=1) / len(mine) + others.var(ddof=1) / len(others))
        every.append((mine.mean() - others.mean()) / error)
    for outside in (0.025, 0.25):
        share = (
            np.mean(np.array(every) >= chance.reach(outside)),
            np.mean(np.array(every) <= -chance.mirror.reach(outside)),
        )
        assert share == pytest.approx(
            (outside, outside), abs=4 * np.sqrt(outside * (1 - outside) * (1 / 3000 + 1 / 4999))
        )


def test_rows_in_any_order_give_the_same_numbers() -> None:
    draws = np.random.default_rng(2)
    table = table_of(np.exp(draws.normal(size=900)).round(2), np.exp(draws.normal(size=100)).round(2))
    one, other = (
        rs.experiment(rows, "Mean(y)", split=SPLIT)["B", "Mean(y)"]
        for rows in (table, table.sample(fraction=1.0, shuffle=True, seed=3))
    )
    assert one.test == other.test == "permutation"
    assert (one.p_value, one.bounds) == (other.p_value, other.bounds)


@pytest.mark.parametrize("seed", range(6))
def test_p_value_and_interval_never_contradict(seed: int) -> None:
    draws = np.random.default_rng(seed)
    base, other = np.exp(1.5 * draws.normal(size=450)), (1 + seed / 3) * np.exp(1.5 * draws.normal(size=50))
    for table, metric in (
        (table_of(base, other), "Mean(y)"),
        (table_of(base, other, draws.integers(1, 40, 500)), "Ratio(y, n)"),
    ):
        c = rs.experiment(table, metric, split=SPLIT)["B", metric]
        assert c.test == "permutation"
        assert (c.p_value <= 0.05) == (not c.bounds.lower <= 0 <= c.bounds.upper)
        lift = c.relative[1]
        if lift.known:
            assert (c.p_value <= 0.05) == (not lift.lower <= 0 <= lift.upper)


def test_systems_in_reverse_are_mirrored() -> None:
    draws = np.random.default_rng(4)
    chance = deal(units_of(draws.exponential(size=20)), units_of(draws.exponential(size=90)))
    assert chance.mirror.above(-1.0) + chance.above(1.0) == pytest.approx(1, abs=2e-3)
    assert chance.p_value(0.7) == chance.mirror.p_value(-0.7)


# --- when -------------------------------------------------------------------------------------------------------


def test_an_even_split_is_never_skewed() -> None:
    """The skewness of a difference is that of the two means: g / root n on both sides, of opposite signs."""
    draws = np.random.default_rng(5)
    run, base = (units_of(np.exp(2 * draws.normal(size=200))) for _ in range(2))
    assert skewness_of_difference(run, base) == 0
    table = table_of(np.exp(2 * draws.normal(size=200)), np.exp(2 * draws.normal(size=200)))
    assert rs.experiment(table, "Mean(y)")["B", "Mean(y)"].test == "t"


def test_skewness_of_a_difference_by_hand() -> None:
    """Buyers of a tenth have skewness (1 - 2p) / root(p(1 - p))."""
    base, other = np.repeat([0.0, 1.0], [810, 90]), np.repeat([0.0, 1.0], [90, 10])
    g = (1 - 0.2) / np.sqrt(0.1 * 0.9)
    expected = g * (1 / 100**2 - 1 / 900**2) / (1 / 100 + 1 / 900) ** 1.5
    assert skewness_of_difference(units_of(other), units_of(base)) == pytest.approx(expected)
    assert expected > SKEWED


def test_a_chosen_test_stays() -> None:
    draws = np.random.default_rng(6)
    table = table_of(np.exp(2 * draws.normal(size=900)), np.exp(2 * draws.normal(size=100)))
    found = rs.experiment(table, "Mean(y)", split=SPLIT, test="t")
    assert found["B", "Mean(y)"].test == "t"
    assert "RS640" in {caution.code for caution in found.warnings}
    even = table_of(draws.normal(size=90), draws.normal(size=90))
    asked, usual = (rs.experiment(even, "Mean(y)", test=test)["B", "Mean(y)"] for test in ("permutation", None))
    assert (asked.test, usual.test) == ("permutation", "t")
    assert asked.p_value == pytest.approx(usual.p_value, abs=0.03)


@pytest.mark.parametrize("seed", range(6))
def test_what_can_be_detected_lies_beyond_the_interval(seed: int) -> None:
    draws = np.random.default_rng(seed)
    base, other = (np.exp(1.5 * draws.normal(size=n)) for n in (90, 10))
    c = rs.experiment(table_of(base, other), "Mean(y)", split=SPLIT, test="permutation(rounds=999)")["B", "Mean(y)"]
    assert c.detectable.difference > max(c.difference - c.bounds.lower, c.bounds.upper - c.difference)


def test_a_margin_as_a_share_has_an_error_whatever_that_of_random_deals() -> None:
    """The error by which deals are studentised may be smaller than that of the baseline alone, of a small and uneven variant."""
    run, baseline = Estimate(0.542, 0.074, 7.9, 12, 0.542), Estimate(0.442, 0.427, 1.6, 8, 0.727)
    draws = np.sort(np.random.default_rng(1).normal(size=999))
    difference = replace(Estimate.between(run, baseline), error=0.267, chance=Chance(draws, 0.267))
    both = math.hypot(run.error, baseline.error)
    for share in (-0.9, -0.5, -0.1, 0.0, 0.3, 2.0):
        less = less_share(run, baseline, share, difference)
        expected = 0.267 * math.hypot(run.error, (1 + share) * baseline.error) / both
        assert isinstance(less, Estimate)
        assert less.error == pytest.approx(expected)
    assert above(replace(difference, error=0.0), 0.05) == 0.0


# --- rates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 1.0], ids=["buyers of a twentieth", "everyone buys"])
def test_a_small_variant_loses_no_more_often_than_it_wins(share: float) -> None:
    """A/A on log-normal revenue at nine to one: Welch's t rejects in 10 to 20 of 100, nearly always against the small variant."""
    draws = np.random.default_rng(7)
    low, high, times = 0, 0, 400
    for _ in range(times):
        base, other = ((draws.random(n) < share) * np.exp(1.5 * draws.normal(size=n)) for n in (450, 50))
        estimates = [
            estimate_of(table, Moments.of_set(table), ratio)
            for table, ratio in _ratios(np.column_stack([other, np.ones(50)]), np.column_stack([base, np.ones(450)]))
        ]
        mean = Estimate.between(*estimates).drawn(permutation(rounds=999))
        assert mean.chance is not None
        p_value = mean.chance.p_value(mean.mean / mean.error)
        low += p_value <= 0.05 and mean.mean < 0
        high += p_value <= 0.05 and mean.mean > 0
    assert low + high <= times * 0.05 + 3 * np.sqrt(times * 0.05 * 0.95)
    assert low <= times * 0.025 + 3 * np.sqrt(times * 0.025 * 0.975)


def _ratios(*tables: Any) -> list[Any]:
    from rankscope.panels.ratios import adjusted_ratios

    return list(zip(tables, adjusted_ratios([Moments.of_set(table) for table in tables]), strict=True))


# --- ratios of unequal users, margins as shares, the split at looks, one budget ----------------------------------------


def test_a_margin_as_a_share_counts_the_error_of_the_baseline() -> None:
    """Not worse by 20% is a test that B is above 0.8 A, not above A less 0.2 times what A happened to be."""
    from scipy.stats import t

    draws = np.random.default_rng(8)
    base, other = draws.exponential(size=150), draws.exponential(size=150)
    c = rs.experiment(table_of(base, other), "Mean(y)", margin="20%")["B", "Mean(y)"]
    squares = other.var(ddof=1) / 150, 0.64 * base.var(ddof=1) / 150
    plain = other.var(ddof=1), base.var(ddof=1)  # the degrees of freedom are those of the lift's interval, Welch's
    freedom = 149 * sum(plain) ** 2 / sum(variance**2 for variance in plain)
    expected = t.sf((other.mean() - 0.8 * base.mean()) / np.sqrt(sum(squares)), freedom)
    assert c.not_worse == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("test", [None, "anytime(first=20)", "group_sequential(look=1, looks=2)"])
@pytest.mark.parametrize("seed", range(4))
def test_a_lift_within_a_margin_is_practically_the_same(seed: int, test: str | None) -> None:
    draws = np.random.default_rng(seed)
    table = table_of(draws.normal(3, 1, 200 * (seed + 1)), draws.normal(3.05, 1, 200 * (seed + 1)))
    c = rs.experiment(table, "Mean(y)", margin="10%", test=test)["B", "Mean(y)"]
    found = c.equivalence
    assert found is not None
    assert c.margin is not None
    assert (found.p_value <= 0.05) == (-c.margin < found.lower and found.upper < c.margin)


def test_a_share_of_a_paired_baseline_counts_its_error() -> None:
    from scipy.stats import ttest_1samp

    draws = np.random.default_rng(9)
    base = draws.uniform(0.2, 0.8, 60)
    run = base + draws.normal(0, 0.1, 60)
    panel = rs.compare(pl.DataFrame({"query": [str(i) for i in range(60)], "a": base, "b": run}), margin="10%")
    (c,) = panel.contrasts
    assert c.not_worse == pytest.approx(ttest_1samp(run - 0.9 * base, 0, alternative="greater").pvalue, rel=1e-9)


def test_thirty_looks_at_the_split_alarm_no_more_often_than_one() -> None:
    from rankscope.inference.effects import split_p_value, split_p_value_at_looks

    draws = np.random.default_rng(10)
    once = always = 0
    for _ in range(1500):
        counts = np.cumsum(draws.multinomial(300, [0.9, 0.1], 30), axis=0)
        shares = np.array([0.9, 0.1])
        once += any(split_p_value(row, shares) < 0.02 for row in counts)
        always += any(split_p_value_at_looks(row, shares) < 0.02 for row in counts)
    assert once > 1500 * 0.04
    assert always <= 1500 * 0.02 + 3 * np.sqrt(1500 * 0.02 * 0.98)


def test_a_test_for_looks_checks_the_split_at_looks() -> None:
    draws = np.random.default_rng(11)
    table = table_of(draws.normal(size=540), draws.normal(size=460))
    once, looked = (
        rs.experiment(table, "Mean(y)", test=test).sample_ratio.p_value for test in (None, "anytime(first=200)")
    )
    assert once < looked
