"""Systems with units of their own: Mann-Whitney, the bootstrap, and one side of a test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.inference.base import Sides
from rankscope.inference.ranks import mann_whitney
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import Measure

Array = Any


def panel(*arms: Array, every: bool = False, better: Any = "higher", below: Sequence[Array] = ()) -> Panel:
    tables = {
        name: np.column_stack([arm, np.ones(len(arm)) if not below else below[at]])
        for at, (name, arm) in enumerate(zip("ABC", arms, strict=False))
    }
    return panel_of(Measure("m", better, unit="user"), tables, every=every)


def compared(base: Array, other: Array, **options: Any) -> Contrast:
    return contrast(panel(base, other, every=True), "B", "A", method_of(**options))


# --- Mann-Whitney


def test_few_values_are_counted_out() -> None:
    draws = np.random.default_rng(4)
    values = draws.random(9)
    run, baseline = values[:4], values[4:]

    def above(some: Array, others: Array) -> int:
        return int((some[:, None] > others[None, :]).sum())

    ways = [above(values[list(some)], np.delete(values, some)) for some in combinations(range(9), 4)]
    observed = above(run, baseline)
    far = max(observed, 20 - observed)
    assert mann_whitney().p_value(Sides(run, baseline)) == pytest.approx(
        min(2 * sum(one >= far for one in ways) / math.comb(9, 4), 1.0)
    )
    assert mann_whitney().statistic(Sides(run, baseline)) == observed


def test_both_sides_in_reverse_have_the_same_p_value_and_the_other_direction() -> None:
    draws = np.random.default_rng(5)
    one, other = draws.poisson(2, 40).astype(float), draws.poisson(3, 60).astype(float)
    test = mann_whitney()
    assert test.p_value(Sides(one, other)) == pytest.approx(test.p_value(Sides(other, one)), rel=1e-12)
    assert test.direction(Sides(one, other)) == -test.direction(Sides(other, one)) == -1
    rising = test.p_value(Sides(np.exp(one), np.exp(other)))
    assert rising == pytest.approx(test.p_value(Sides(one, other)), rel=1e-12)  # ranks see no scale


def test_all_values_alike_tell_nothing() -> None:
    assert mann_whitney().p_value(Sides(np.ones(20), np.ones(30))) == 1.0
    assert math.isnan(mann_whitney().p_value(Sides(np.ones(0), np.ones(30))))


@pytest.mark.parametrize(
    ("few", "many"), [(5, 7), (8, 60), (9, 12), (200, 150)], ids=["exact", "eight", "nine", "many"]
)
@pytest.mark.parametrize("ties", [False, True], ids=["no ties", "ties"])
def test_p_values_are_those_of_scipy(few: int, many: int, ties: bool) -> None:
    stats = pytest.importorskip("scipy.stats")
    draws = np.random.default_rng(few)
    one, other = draws.normal(0.3, 1, few), draws.normal(0, 1, many)
    if ties:
        one, other = one.round(), other.round()
    theirs = stats.mannwhitneyu(one, other, method="auto").pvalue
    assert mann_whitney().p_value(Sides(one, other)) == pytest.approx(theirs, rel=1e-9)


def test_units_of_a_ratio_are_ranked_by_what_moves_it() -> None:
    draws = np.random.default_rng(6)
    below = [draws.integers(1, 9, 700).astype(float) for _ in range(2)]
    above = [
        draws.binomial(size.astype(int), chance).astype(float) for size, chance in zip(below, (0.3, 0.36), strict=True)
    ]
    of = panel(*above, every=True, below=below)
    c = contrast(of, "B", "A", method_of(test="mann_whitney"))
    ratio = sum(map(np.sum, above)) / sum(map(np.sum, below))
    moved = [a - ratio * b for a, b in zip(above, below, strict=True)]
    assert c.p_value == pytest.approx(mann_whitney().p_value(Sides(moved[1], moved[0])), rel=1e-9)
    assert c.bounds.method == "t"


def test_it_rejects_as_often_as_it_says() -> None:
    draws = np.random.default_rng(8)
    rounds = 600
    p_values = [
        mann_whitney().p_value(Sides(*(np.exp(2 * draws.normal(size=n)) for n in (30, 90)))) for _ in range(rounds)
    ]
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))


def test_runs_on_the_same_queries_are_told_to_use_wilcoxon() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(9)}
    runs = {
        name: {f"q{i}": {"a": 1.0, "b": float((i + shift) % 3)} for i in range(9)} for shift, name in enumerate("xy")
    }
    with pytest.raises(InputError, match=r"systems that share no units.*use wilcoxon"):
        rs.compare(qrels, runs, "RR", test="mann_whitney").to_dicts()


# --- the bootstrap


def test_the_bootstrap_is_near_t_for_many_even_values() -> None:
    draws = np.random.default_rng(1)
    base, other = draws.normal(1, 1, 2000), draws.normal(1.05, 1, 2000)
    plain, drawn = compared(base, other, test="t"), compared(base, other, test="bootstrap")
    assert drawn.p_value == pytest.approx(plain.p_value, abs=0.02)
    width = plain.bounds.upper - plain.bounds.lower
    assert drawn.bounds.lower == pytest.approx(plain.bounds.lower, abs=0.05 * width)
    assert drawn.bounds.upper == pytest.approx(plain.bounds.upper, abs=0.05 * width)
    assert drawn.bounds.method == "bootstrap"


def test_its_interval_excludes_0_exactly_if_its_test_rejects() -> None:
    draws = np.random.default_rng(2)
    for shift in np.linspace(0, 0.6, 25):
        c = compared(draws.exponential(size=90), draws.exponential(size=60) + shift, test="bootstrap(rounds=999)")
        excludes = c.bounds.lower > 0 or c.bounds.upper < 0
        assert excludes == (c.p_value <= 0.05)
        assert excludes == (c.relative[1].lower > 0 or c.relative[1].upper < 0)


def test_draws_of_the_few_that_are_kept_are_like_draws_of_all() -> None:
    draws = np.random.default_rng(3)
    base, other = (np.exp(1.2 * draws.normal(size=n)) for n in (1500, 900))
    below = [draws.integers(1, 4, n).astype(float) for n in (1500, 900)]
    kept, every = (
        contrast(panel(base, other, every=every, below=below), "B", "A", method_of(test="bootstrap"))
        for every in (False, True)
    )
    width = every.bounds.upper - every.bounds.lower
    assert kept.bounds.lower == pytest.approx(every.bounds.lower, abs=0.04 * width)
    assert kept.bounds.upper == pytest.approx(every.bounds.upper, abs=0.04 * width)


def test_the_seed_decides_the_draws() -> None:
    draws = np.random.default_rng(4)
    base, other = draws.exponential(size=80), draws.exponential(size=70)
    first, again, another = (compared(base, other, test=f"bootstrap(seed={seed})").bounds.lower for seed in (1, 1, 2))
    assert first == again != another


def test_its_intervals_hold_the_truth_as_often_as_they_say() -> None:
    draws = np.random.default_rng(9)
    rounds, held = 300, 0
    for _ in range(rounds):
        c = compared(draws.exponential(size=60), draws.exponential(size=60) + 0.5, test="bootstrap(rounds=499)")
        held += c.bounds.lower <= 0.5 <= c.bounds.upper
    assert held / rounds == pytest.approx(0.95, abs=3 * math.sqrt(0.05 * 0.95 / rounds))


# --- one side


@pytest.mark.parametrize("test", ["t", "permutation", "bootstrap", "mann_whitney", "anytime"])
def test_one_side_has_half_the_p_value_and_the_interval_at_twice_alpha(test: str) -> None:
    draws = np.random.default_rng(10)
    base, other = draws.normal(1, 1, 150), draws.normal(1.2, 1, 150)
    both = compared(base, other, test=test)
    up, down = (compared(base, other, test=test, alternative=side) for side in ("greater", "less"))
    assert up.p_value == pytest.approx(both.p_value / 2, abs=1e-3)
    assert up.p_value + down.p_value == pytest.approx(1.0, abs=1e-3)
    wide = compared(base, other, test=test, alpha=0.1)
    assert (up.bounds.lower, up.bounds.upper) == pytest.approx((wide.bounds.lower, wide.bounds.upper))
    assert up.method.level == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("better", "same"), [("higher", "greater"), ("lower", "less")], ids=["more is better", "less is better"]
)
def test_better_is_by_the_direction_of_the_metric(better: Any, same: str) -> None:
    draws = np.random.default_rng(11)
    of = panel(draws.normal(1, 1, 100), draws.normal(1.3, 1, 100), better=better)
    by_direction, by_value = (contrast(of, "B", "A", method_of(alternative=side)) for side in ("better", same))
    assert by_direction.p_value == by_value.p_value
    (undirected,) = [panel(np.arange(9.0), np.arange(9.0) + 1, better="neither")]
    with pytest.raises(InputError, match="alternative='better': m has no better direction: use 'greater'"):
        contrast(undirected, "B", "A", method_of(alternative="better"))


def test_alternatives_are_named() -> None:
    with pytest.raises(InputError, match="alternative='up': alternative is one of"):
        method_of(alternative="up")
