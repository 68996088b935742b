"""Laws over contrasts: an interval, a lift and a verdict of one row never contradict each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankscope.inference.base import Estimate, is_significant
from rankscope.inference.effects import relative_of_own
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

SEEDS = st.integers(0, 10_000)
TESTS = [None, "t", "sign", "wilcoxon", "permutation(rounds=199)", "bootstrap(rounds=199)"]
CORRECTIONS = ["holm", "bonferroni", "bh", "none", "tukey", "max_t(rounds=199)"]


def excludes(lower: float, upper: float) -> bool:
    return lower > 0 or upper < 0


def on_queries(seed: int, test: str | None, correction: str, shift: float = 0.0) -> list[Contrast]:
    draws = np.random.default_rng(seed)
    values = draws.normal(shift, 1, size=(4, 12)) + draws.normal(size=12) + np.arange(4)[:, None] * draws.normal()
    names = ("a", "b", "c", "d")
    panel = Panel(Measure("score"), names, tuple(map(str, range(12))), values)
    method = method_of(test=test, correction=correction)
    return Family([panel], pairs_of(names, "a", all_pairs=False), method, "a").contrasts


def on_users(seed: int, shift: float = 0.0, correction: str = "holm") -> list[Contrast]:
    draws = np.random.default_rng(seed)
    names = ("a", "b", "c")
    means = {name: Estimate.of(shift + draws.normal(), draws.exponential(20), 30) for name in names}
    panel = Panel.of_estimates(Measure("score", unit="user"), means)
    return Family([panel], pairs_of(names, "a", all_pairs=False), method_of(correction=correction), "a").contrasts


def agree(c: Contrast) -> None:
    assert excludes(c.shown.lower, c.shown.upper) or not c.shown.known or c.verdict not in CLEAR
    if c.verdict not in CLEAR:
        assert not excludes(c.shown.lower, c.shown.upper), c
    value, lift = c.relative_adjusted
    if lift.known and c.verdict in CLEAR:
        assert excludes(lift.lower, lift.upper), c
    elif lift.known:
        assert not excludes(lift.lower, lift.upper), c
    assert np.isnan(value) or np.sign(value) == np.sign(c.difference)


@settings(max_examples=15, deadline=None)
@given(SEEDS)
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("test", TESTS)
def test_interval_lift_and_verdict_agree_on_queries(test: str | None, correction: str, seed: int) -> None:
    for c in on_queries(seed, test, correction, shift=3.0):
        agree(c)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from([-5.0, 0.0, 5.0]), st.sampled_from(CORRECTIONS[:4]))
def test_interval_lift_and_verdict_agree_on_users(seed: int, shift: float, correction: str) -> None:
    for c in on_users(seed, shift, correction):
        agree(c)


@settings(max_examples=200, deadline=None)
@given(st.floats(-3, 3), st.floats(0.1, 3), st.floats(0.01, 4), st.floats(0.01, 4), st.integers(5, 80), st.booleans())
def test_a_lift_excludes_0_exactly_if_the_difference_does(
    run: float, base: float, one: float, other: float, n: int, negative: bool
) -> None:
    sides = Estimate.of(run, one, n), Estimate.of(-base if negative else base, other, n + 3)
    value, lift = relative_of_own(*sides)
    between = Estimate.between(*sides)
    assert np.sign(value) == np.sign(between.mean)
    from rankscope.inference.intervals import t

    bounds = t().of(between)
    if lift.known and min(abs(bounds.lower), abs(bounds.upper)) > 1e-9:
        assert excludes(lift.lower, lift.upper) == excludes(bounds.lower, bounds.upper)
        assert lift.lower <= value <= lift.upper


def test_a_lift_of_a_baseline_that_may_be_0_has_no_interval() -> None:
    value, lift = relative_of_own(Estimate.of(2.5, 100.0, 30), Estimate.of(0.1, 1.0, 30))
    assert value == pytest.approx(2.5 / 0.1 - 1)
    assert (lift.known, lift.reason) == (False, "the mean of the baseline is not clear of 0")


def test_a_p_value_of_alpha_is_significant() -> None:
    assert is_significant(0.03125, 0.03125)
    assert not is_significant(float("nan"), 0.05)
