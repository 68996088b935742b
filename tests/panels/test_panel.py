"""Panels: what a test is given, one interval of a mean, and systems with units of their own."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankscope.errors import DataError, InputError
from rankscope.inference.base import Estimate, PairedTest, Sample
from rankscope.inference.bootstrap import bca, percentile, studentised
from rankscope.inference.paired import permutation, sign, t, wilcoxon
from rankscope.lists import Array
from rankscope.moments import Moments
from rankscope.panels.contrast import contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.reach import _within
from rankscope.panels.samples import FLOOR, Measure, leaders

GEOMETRIC = Measure("GMAP", "higher", (0.0, 1.0), "geometric")
PLAIN = Measure("AP", "higher", (0.0, 1.0))


def panel(seed: int = 0, measure: Measure = PLAIN, queries: int = 40, **more: Any) -> Panel:
    """Two systems; some queries score the same, some next to nothing."""
    draws = np.random.default_rng(seed)
    values = np.clip(draws.random(queries) + draws.normal(0, 0.2, (2, queries)), 0, 1)
    values[0, :5] = values[1, :5]
    return Panel(measure, ("b", "a"), tuple(f"q{i:02}" for i in range(queries)), values, **more)


def weighted(seed: int = 0, measure: Measure = PLAIN) -> Panel:
    weights = np.random.default_rng(seed).integers(1, 9, 40).astype(float)
    return panel(seed, measure, weights=np.stack([weights, weights]))


# --- what a test is given ------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [PLAIN, GEOMETRIC])
@pytest.mark.parametrize("make", [panel, weighted])
@pytest.mark.parametrize("seed", range(5))
def test_a_sign_test_is_given_the_gains(seed: int, make: Any, measure: Measure) -> None:
    found = make(seed, measure)
    gains = found.values[0] - found.values[1]
    better, differing = int((gains > 0).sum()), int((gains != 0).sum())
    p_value = sign().p_value(found.pair("b", "a").sample_for(sign()))
    assert p_value == pytest.approx(stats.binomtest(better, differing).pvalue, rel=1e-12)
    assert found.pair("b", "a").differing == differing


def test_signed_ranks_are_of_what_a_query_adds() -> None:
    plain, geometric = panel(), panel(measure=GEOMETRIC)
    a, b = plain.values[1], plain.values[0]
    assert plain.pair("b", "a").sample_for(wilcoxon()).values.tolist() == (b - a).tolist()
    logs = np.log(np.maximum(b, FLOOR)) - np.log(np.maximum(a, FLOOR))
    assert geometric.pair("b", "a").sample_for(wilcoxon()).values == pytest.approx(logs)
    p_value = wilcoxon().p_value(geometric.pair("b", "a").sample_for(wilcoxon()))
    assert p_value == pytest.approx(stats.wilcoxon(logs).pvalue, rel=1e-9)
    heavy = weighted()
    assert heavy.weights is not None
    ranks = heavy.pair("b", "a").sample_for(wilcoxon()).values
    assert ranks == pytest.approx((b - a) * heavy.weights[0] / heavy.weights[0].mean())
    assert np.sign(ranks).tolist() == np.sign(b - a).tolist()


def test_swaps_turn_their_sign_where_the_systems_change_places() -> None:
    for found in (panel(), panel(measure=GEOMETRIC), weighted(), weighted(measure=GEOMETRIC)):
        here = found.pair("b", "a").sample_for(permutation())
        there = found.pair("a", "b").sample_for(permutation())
        assert here.values.tolist() == (-there.values + 0.0).tolist()


def test_where_weights_differ_between_systems_ranks_are_of_the_gains() -> None:
    weights = np.random.default_rng(3).integers(1, 9, (2, 40)).astype(float)
    found = panel(weights=weights)
    gains = (found.values[0] - found.values[1]).tolist()
    assert found.pair("b", "a").sample_for(wilcoxon()).values.tolist() == gains
    assert found.pair("b", "a").sample_for(sign()).values.tolist() == gains
    swaps, means = (found.pair("b", "a").sample_for(test).values.tolist() for test in (permutation(), t()))
    assert swaps == means


@pytest.mark.parametrize("measure", [PLAIN, GEOMETRIC])
def test_clusters_hold_what_their_units_weigh(measure: Measure) -> None:
    """Units of weight 2 count as two of the same cluster, in a mean and in a difference."""
    clusters, weights = np.arange(40) % 7, np.random.default_rng(2).integers(1, 5, 40)
    heavy = panel(measure=measure, clusters=clusters, weights=np.tile(weights.astype(float), (2, 1)))
    each = np.repeat(np.arange(40), weights)
    again = Panel(
        measure, heavy.systems, tuple(map(str, range(len(each)))), heavy.values[:, each], None, clusters[each]
    )
    one, other = (contrast(found, "b", "a", method_of()) for found in (heavy, again))
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
    pairs = [(one.bounds, other.bounds), (one.relative[1], other.relative[1])]
    pairs += [(heavy.interval(system), again.interval(system)) for system in heavy.systems]
    for mine, theirs in pairs:
        assert (mine.lower, mine.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-9)
    assert one.pair.means.freedom < 6  # seven clusters, of unequal weight
    for interval in (percentile(rounds=199), bca(rounds=199), studentised(rounds=199)):
        mine, theirs = (interval.of(found.paired.means) for found in (one, other))
        assert (mine.lower, mine.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-9)


@pytest.mark.parametrize("measure", [PLAIN, GEOMETRIC])
def test_a_query_that_weighs_more_is_a_larger_cluster_of_its_own(measure: Measure) -> None:
    plain = weighted(measure=measure)
    own = replace(plain, clusters=np.arange(40))
    one, other = (contrast(found, "b", "a", method_of()) for found in (plain, own))
    assert (one.p_value, one.bounds.lower, one.bounds.upper) == (other.p_value, other.bounds.lower, other.bounds.upper)
    mine, theirs = plain.interval("b"), own.interval("b")
    assert (mine.lower, mine.upper) == (theirs.lower, theirs.upper)


def test_the_error_of_a_weighted_difference_is_corrected_for_uneven_weights() -> None:
    """Bell and McCaffrey's CR2 of a weighted mean: each residual over the root of the weight that the others have."""
    found = weighted()
    assert found.weights is not None
    gains, share = found.values[1] - found.values[0], found.weights[0] / found.weights[0].sum()
    mean = float(share @ gains)
    squares = (share * (gains - mean)) ** 2 / (1 - share)
    pulls = share**2 / (1 - share)
    freedom = 1 / ((share**2).sum() + pulls.sum() ** 2 - (pulls**2).sum())
    p_value = 2 * stats.t.sf(abs(mean) / math.sqrt(squares.sum()), freedom)
    assert contrast(found, "b", "a", method_of()).p_value == pytest.approx(p_value, rel=1e-9)


def test_geometric_means_differ_by_a_t_test_of_the_logarithms() -> None:
    found = panel(measure=GEOMETRIC)
    logs = np.log(np.maximum(found.values[1], FLOOR)) - np.log(np.maximum(found.values[0], FLOOR))
    c = contrast(found, "b", "a", method_of())
    assert c.p_value == pytest.approx(stats.ttest_1samp(logs, 0).pvalue, rel=1e-9)
    assert c.difference == pytest.approx(found.means["b"] - found.means["a"], rel=1e-12)
    assert (c.bounds.lower > 0 or c.bounds.upper < 0) == (c.p_value <= 0.05)


def test_where_weights_differ_between_systems_clusters_hold_their_middle() -> None:
    weights = np.random.default_rng(3).integers(1, 9, (2, 40)).astype(float)
    found = panel(clusters=np.arange(40) % 7, weights=weights)
    here, there = found.pair("b", "a"), found.pair("a", "b")
    shares = (weights / weights.sum(axis=1)[:, None]).mean(axis=0)
    assert here.means.shares == pytest.approx([shares[at::7].sum() for at in range(7)])
    assert here.means.freedom == there.means.freedom
    assert here.means.error == there.means.error


class my_t(PairedTest):
    """The formula of t, declared elsewhere."""

    def p_value(self, sample: Sample) -> float:
        """By the error and the degrees of freedom of the sample."""
        return float(2 * stats.t.sf(abs(sample.mean) / sample.error, sample.freedom))


@pytest.mark.parametrize("make", [panel, weighted])
@pytest.mark.parametrize("measure", [PLAIN, GEOMETRIC])
def test_a_test_of_means_is_given_the_same_whatever_it_is_called(make: Any, measure: Measure) -> None:
    found = make(1, measure)
    own, ours = (test.p_value(found.pair("b", "a").sample_for(test)) for test in (my_t(), t()))
    assert own == pytest.approx(ours, rel=1e-10)


def test_a_test_of_something_else_is_refused() -> None:
    class odd(PairedTest):
        """Of nothing there is."""

        of = "moods"  # type: ignore[assignment]

    with pytest.raises(InputError, match=r"^the test odd has of = 'moods': it must be means, signs, ranks, swaps$"):
        panel().pair("b", "a").sample_for(odd())


@pytest.mark.parametrize(
    ("test", "interval", "in_order"),
    [
        ("t", "t", False),
        ("t", "betting", True),
        ("betting", "t", True),
        ("betting", "betting", True),
        ("t", None, False),
    ],
)
def test_the_order_of_queries_matters_where_it_does_to_the_test_or_to_the_interval(
    test: str, interval: str | None, in_order: bool
) -> None:
    assert method_of(test=test, interval=interval).in_order is in_order


def test_a_shift_is_added_to_every_gain() -> None:
    found = panel().pair("b", "a")
    for test in (t(), sign(), wilcoxon(), permutation()):
        assert found.sample_for(test, 0.01).values == pytest.approx(found.gains + 0.01)
    heavy = weighted().pair("b", "a")
    assert heavy.weights is not None
    assert heavy.sample_for(wilcoxon(), 0.01).values == pytest.approx((heavy.gains + 0.01) * heavy.weights)
    assert heavy.sample_for(sign(), 0.01).values == pytest.approx(heavy.gains + 0.01)


# --- one mean ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [PLAIN, GEOMETRIC])
@pytest.mark.parametrize("make", [panel, weighted])
def test_the_values_of_a_pair_are_means_over_the_queries_of_both(make: Any, measure: Measure) -> None:
    found = make(measure=measure)
    found.values[0, 7], found.values[1, 11:14] = math.nan, math.nan
    c = contrast(found, "b", "a", method_of())
    used = ~np.isnan(found.values).any(axis=0)
    weights = None if found.weights is None else found.weights[0, used]
    over = stats.gmean if measure is GEOMETRIC else np.average
    for value, row in ((c.value, 0), (c.baseline_value, 1)):
        assert value == pytest.approx(over(np.maximum(found.values[row, used], FLOOR), weights=weights), abs=FLOOR)
    assert (c.queries, c.pair.undefined_for_one) == (36, 4)
    assert c.difference == pytest.approx(c.value - c.baseline_value)


def test_the_interval_of_a_geometric_mean_in_clusters_is_made_of_logarithms() -> None:
    clusters = np.arange(40) % 8
    found = panel(measure=GEOMETRIC, clusters=clusters)
    logs = np.log(np.maximum(found.values[0], FLOOR))
    around = np.array([(logs[clusters == c] - logs.mean()).sum() for c in range(8)])
    error = math.sqrt(8 / 7 * (around**2).sum()) / 40
    reach = stats.t.ppf(0.975, 7) * error
    bounds = found.interval("b")
    assert bounds.lower == pytest.approx(math.exp(logs.mean() - reach), rel=1e-9)
    assert bounds.upper == pytest.approx(min(math.exp(logs.mean() + reach), 1), rel=1e-9)


# --- units of their own -------------------------------------------------------------------------------------------


def family(found: Panel, **method: Any) -> Family:
    first = found.systems[0]
    return Family([found], pairs_of(found.systems, first, False), method_of(**method), first)


def of_own_units(**systems: Moments) -> Panel:
    held = {name: Estimate.of(float(m.mean[0]), float(m.variance[0]), m.count) for name, m in systems.items()}
    return Panel.of_estimates(Measure("clicks"), held)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_variants_on_units_of_their_own_are_compared_by_welch(seed: int) -> None:
    draws = np.random.default_rng(seed)
    control, variant = draws.normal(1, 1, 20 + seed % 30), draws.normal(1.3, 2, 25)
    held = [Moments.of(control), Moments.of(variant[:10]) + Moments.of(variant[10:])]
    (c,) = family(of_own_units(control=held[0], variant=held[1])).contrasts
    expected = stats.ttest_ind(variant, control, equal_var=False)
    assert c.p_value == pytest.approx(expected.pvalue, rel=1e-8)
    interval = expected.confidence_interval(0.95)
    assert (c.bounds.lower, c.bounds.upper) == pytest.approx((interval.low, interval.high), rel=1e-7)
    assert c.difference == pytest.approx(variant.mean() - control.mean())
    assert (c.value, c.baseline_value) == pytest.approx((variant.mean(), control.mean()))
    assert c.queries == len(control) + len(variant)


def test_estimates_say_what_they_cannot_answer() -> None:
    found = of_own_units(a=Moments.of([1.0, 2.0, 4.0]), b=Moments.of([1.0, 2.0, 4.0]))
    with pytest.raises(InputError, match="the test sign is for systems that share units"):
        family(found, test="sign").contrasts  # noqa: B018
    with pytest.raises(InputError, match="the interval bca is for systems that share units"):
        family(found, interval="bca").contrasts  # noqa: B018
    with pytest.raises(InputError, match="use holm"):
        family(found, correction="max_t").contrasts  # noqa: B018
    (c,) = family(found).contrasts
    with pytest.raises(DataError, match="no units in common"):
        c.paired  # noqa: B018
    assert (c.value, c.favourable) == (found.means["b"], None)


def test_merit_is_by_the_mean_in_the_direction_of_the_measure() -> None:
    values: Array = np.array([[0.1, 0.2], [0.5, 0.6], [np.nan, np.nan]])
    units = ("q1", "q2")
    assert list(Panel(Measure("AP"), ("a", "b", "c"), units, values).means) == ["b", "a", "c"]
    assert list(Panel(Measure("Loss", "lower"), ("a", "b", "c"), units, values).means) == ["a", "b", "c"]
    assert list(Panel(Measure("NumRet", "neither"), ("a", "b"), units, values[:2]).means) == ["a", "b"]


def test_who_leads() -> None:
    assert leaders({"a": 0.5, "b": 0.5 + 1e-15, "c": 0.4}) == ("a", "b")
    assert leaders({"a": 0.5, "b": 0.4}, "lower") == ("b",)
    assert leaders({"a": 0.5, "b": float("nan")}) == ("a",)
    assert leaders({"a": 0.5}, "neither") == ()
    assert leaders({}) == ()


def test_no_variance_leaves_all_degrees_of_freedom() -> None:
    found = Estimate.between(Sample(np.array([2.0, 2.0, 2.0])), Sample(np.array([1.0, 1.0])))
    assert (found.mean, found.error, found.freedom) == (1.0, 0.0, 3.0)


def test_a_pair_of_estimates_has_no_undefined_units() -> None:
    (c,) = family(of_own_units(a=Moments.of([1.0, 2.0, 4.0]), b=Moments.of([1.0, 2.0, 4.0]))).contrasts
    assert (c.pair.higher, c.pair.lower, c.pair.undefined_for_one, c.pair.by_unit) == (0, 0, 0, False)


def test_a_system_with_one_unit_tells_nothing_of_the_spread_within() -> None:
    gap = np.nan
    values = np.array([[1.0, 2.0, 4.0, gap], [gap, gap, gap, 5.0]])
    found = Panel(Measure("clicks"), ("a", "b"), ("q1", "q2", "q3", "q4"), values)
    assert _within(found) == pytest.approx(7 / 3)  # 1, 2 and 4
