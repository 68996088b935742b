"""The bootstrap: laws, samples small enough to list every draw, and the same numbers as scipy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference.base import Interval, PairedTest, Sample
from rankscope.inference.bootstrap import (
    Groups,
    acceleration_of,
    bayesian,
    bca,
    bootstrap,
    percentile,
    quantile,
    studentised,
)
from rankscope.lists import Array

INTERVALS = (percentile, bca, studentised)
SOME = st.lists(st.tuples(st.floats(-1, 1).map(lambda v: round(v, 2)), st.integers(0, 5)), min_size=2, max_size=15)


def sample(values: object, clusters: object = None) -> Sample:
    return Sample(np.array(values, dtype=float), None if clusters is None else np.array(clusters))


def skewed(n: int = 40) -> Sample:
    return Sample(np.random.default_rng(3).beta(0.5, 2, n))


def said(given: Sample) -> list[Any]:
    """All that is said of a sample, in turn: ends, p-value, probabilities."""
    ends = [i(rounds=199).of(given) for i in INTERVALS]
    seen = bayesian(given, 0.1, rounds=199)
    return [(e.lower, e.upper) for e in ends] + [bootstrap(rounds=199).p_value(given), seen]


def mirrored(given: Sample) -> list[Any]:
    *ends, p, seen = said(given.mirror)
    return [*((-upper, -lower) for lower, upper in ends), p, seen.mirror]


@settings(max_examples=60)
@given(SOME, st.booleans(), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_the_mirror_is_exact(pairs: Any, clustered: Any, random: Any) -> None:
    def of(pairs: Any) -> Sample:
        values, clusters = zip(*pairs, strict=True)
        return sample(values, clusters if clustered else None)

    given = of(pairs)
    expected = str(said(given))
    assert str(said(of(random.sample(pairs, len(pairs))))) == expected
    assert str(said(of([(v, 7 * (5 - c) % 17) for v, c in pairs]))) == expected
    assert str(mirrored(given)).replace("-0.0", "0.0") == expected.replace("-0.0", "0.0")


@pytest.mark.parametrize("values", [[-1, 0, 1], [-2, -1, 1, 2], [0.25, 0.5, 0.75]])
def test_a_symmetric_sample_gets_a_symmetric_answer(values: Any) -> None:
    given = sample(values)
    for interval in INTERVALS:
        ends = interval(rounds=199).of(given, 0.9)
        assert given.mean - ends.lower == pytest.approx(ends.upper - given.mean, rel=1e-12)
    seen = bayesian(sample(np.array(values) - given.mean), rounds=99)
    assert seen.better == seen.worse


def test_clusters_mirror_where_only_their_sizes_tell_them_apart() -> None:
    given = sample([1, 1, -1, -1, 0.5, -0.5], [0, 0, 1, 2, 3, 3])
    assert mirrored(given) == said(given)


@pytest.mark.parametrize("interval", INTERVALS)
def test_clusters_of_one_query_are_no_clusters(interval: Any) -> None:
    values = skewed().values
    plain, alone = interval(rounds=999).of(sample(values)), interval(rounds=999).of(sample(values, range(40)))
    assert (alone.lower, alone.upper) == pytest.approx((plain.lower, plain.upper), rel=1e-12)


@pytest.mark.parametrize("interval", INTERVALS)
def test_rounds_in_chunks_are_the_same(interval: Any, monkeypatch: Any) -> None:
    whole = interval(rounds=999).of(skewed())
    monkeypatch.setattr("rankscope.inference.base.CELLS", 1234)
    assert interval(rounds=999).of(skewed()) == whole


def test_draws_come_from_the_seed() -> None:
    assert percentile(rounds=999).of(skewed()) == percentile(rounds=999).of(skewed())
    assert percentile(rounds=999, seed=1).of(skewed()).lower != percentile(rounds=999).of(skewed()).lower


# --- worked --------------------------------------------------------------------------------------


def test_quantiles_are_counted_from_rounds_plus_1() -> None:
    ordered = np.arange(1.0, 10_000.0)
    assert quantile(ordered, 0.025) == 250
    assert quantile(ordered, 1 - 0.025) == 9750
    assert quantile(np.arange(1.0, 10.0), 0.25) == 2.5
    assert quantile(np.array([-math.inf, 1, 2]), 0.3) == -math.inf
    assert quantile(np.array([-math.inf, 1, 2]), 0.6) == pytest.approx(1.4)
    assert quantile(np.array([1.0, 2, 3]), 0.0001) == 1


def every_draw(values: list[float]) -> Array:
    return np.array([np.mean(draw) for draw in itertools.product(values, repeat=len(values))])


def test_between_a_number_and_infinity_it_is_infinite() -> None:
    ends = np.array([-np.inf, -np.inf, 1.0, 2.0, np.inf, np.inf])
    assert quantile(ends, 0.22) == quantile(ends, 0.35) == -np.inf
    assert quantile(ends, 0.64) == quantile(ends, 0.78) == np.inf
    assert quantile(ends, 0.5) == 1.5
    assert quantile(np.array([-np.inf, np.inf]), 0.5) == np.inf  # between the two: the end that is nearer
    assert quantile(np.array([-np.inf, np.inf]), 0.4) == -np.inf
    assert quantile(np.array([1.0, 2.0, np.inf]), 0.6) == np.inf  # 0.4 of the way from 2: above the middle or below it
    assert quantile(np.array([1.0, 2.0, np.inf, np.inf]), 0.45) == np.inf


def test_of_a_few_queries_every_draw_is_known() -> None:
    values = [0.0, 0.1, 0.7, 0.2]
    means = np.sort(every_draw(values))
    found = percentile(rounds=199_999).of(sample(values), 0.8)
    assert found.lower == pytest.approx(np.quantile(means, 0.1, method="weibull"), abs=1e-9)
    assert found.upper == pytest.approx(np.quantile(means, 0.9, method="weibull"), abs=1e-9)
    far = np.count_nonzero(np.abs(means - 0.25) >= 0.25 - 1e-12) / 4**4
    p = bootstrap(rounds=199_999).p_value(sample(values))
    assert p == pytest.approx(far, abs=4 * math.sqrt(far / 200_000))


def test_the_acceleration_worked() -> None:
    # around the mean -2, -1, 3: cubes sum to 18, squares to 14
    assert acceleration_of(Groups.of(sample([0, 1, 5]))) == pytest.approx(18 / (6 * 14**1.5))
    # with clusters of 1 and 2: sums around the mean 2 are -2 and 2, so means without each are 2 + 1 and 2 - 2
    groups = Groups.of(sample([0, 2, 4], [0, 1, 1]))
    left_out = np.array([3.0, 0.0])
    around = left_out.mean() - left_out
    expected = (around**3).sum() / (6 * (around**2).sum() ** 1.5)
    assert groups.sign * acceleration_of(groups) == pytest.approx(expected, abs=1e-15)
    three = Groups.of(sample([0, 2, 4, 9], [0, 1, 1, 2]))
    left_out = np.array([np.mean(kept) for kept in ([2, 4, 9], [0, 9], [0, 2, 4])])
    around = left_out.mean() - left_out
    expected = (around**3).sum() / (6 * (around**2).sum() ** 1.5)
    assert three.sign * acceleration_of(three) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("clusters", [None, [0, 0, 1, 2, 2, 2, 3, 4]])
def test_each_round_has_its_own_standard_error(clusters: Any) -> None:
    values = np.array([0.1, 0.4, -0.3, 0.9, 0.0, 0.2, 0.25, 0.7])
    given = sample(values, clusters)
    ids = np.arange(8) if clusters is None else np.array(clusters)
    groups, count = Groups.of(given), ids.max() + 1
    picked = next(groups.draw(99, 0))
    parts = np.bincount(ids, values - given.mean)
    named = [  # which cluster each group is, by its part
        int(np.argmin(np.abs(parts - groups.sign * part))) for part in groups.parts
    ]
    ours, means = groups.studentised(picked), groups.means(picked)
    for row, drawn in enumerate(picked):
        rows = [np.flatnonzero(ids == named[g]) for g in drawn]
        again = Sample(values[np.concatenate(rows)], np.repeat(np.arange(count), [len(r) for r in rows]))
        assert given.mean + groups.sign * means[row] == pytest.approx(again.mean, rel=1e-12)
        above = again.mean - given.mean
        expected = above / again.error if again.error > 1e-12 else math.copysign(math.inf, above)
        assert groups.sign * ours[row] == pytest.approx(expected, rel=1e-9)


def test_a_round_without_spread_is_infinitely_far() -> None:
    groups = Groups.of(sample([0, 0, 3]))
    picked = np.array([[0, 0, 0], [2, 2, 2], [0, 1, 2]])
    assert (groups.sign * groups.studentised(picked)).tolist() == [-math.inf, math.inf, 0]
    assert Groups.of(sample([0, 1, 2])).studentised(np.array([[1, 1, 1]])).tolist() == [0]
    # nine queries of ten alike: about a third of the rounds draw no spread
    found = studentised(rounds=999).of(sample([0] * 9 + [1]))
    assert found.upper == math.inf
    assert found.clipped(0, 1).upper == 1


# --- the same as scipy ---------------------------------------------------------------------------


def test_percentile_and_bca_are_those_of_scipy(shared_data: Callable[[str], Path]) -> None:
    scores = np.loadtxt(shared_data("system_scores/adhoc5_ap.csv"), delimiter=",", skiprows=1)
    for values in (scores[:, 5], scores[:, 9] - scores[:, 30], skewed().values):
        for interval, method in ((percentile, "percentile"), (bca, "BCa")):
            # what is called rng later is random_state in the oldest scipy, and still read
            theirs = stats.bootstrap(
                (values,), np.mean, n_resamples=40_000, method=method, random_state=np.random.default_rng(5)
            )
            found = interval(rounds=39_999).of(sample(values))
            ends = (theirs.confidence_interval.low, theirs.confidence_interval.high)
            # an end has a standard error of about .013 standard errors of the mean with 40,000 rounds, and so has theirs
            assert (found.lower, found.upper) == pytest.approx(ends, abs=0.08 * theirs.standard_error)


def test_bca_is_that_of_scipy_on_the_same_draws() -> None:
    for values in (skewed().values, -skewed().values, skewed(200).values):
        given = sample(values)
        groups = Groups.of(given)
        means = groups.sign * np.concatenate([groups.means(p) for p in groups.draw(9_999, 0)])
        same = SimpleNamespace(bootstrap_distribution=given.mean + means)
        for level in (0.9, 0.95, 0.99):
            theirs = stats.bootstrap(
                (values,), np.mean, n_resamples=0, bootstrap_result=same, method="BCa", confidence_level=level
            ).confidence_interval
            found = bca().of(given, level)
            ordered = np.sort(same.bootstrap_distribution)
            for ours, end in ((found.lower, theirs.low), (found.upper, theirs.high)):
                # they number quantiles from rounds - 1: at most one draw apart
                near = np.searchsorted(ordered, end)
                assert ordered[max(near - 2, 0)] <= ours <= ordered[min(near + 1, 9_998)]


def test_clustered_draws_have_the_clustered_error() -> None:
    random = np.random.default_rng(6)
    clusters = np.repeat(np.arange(30), random.integers(1, 9, 30))
    given = Sample(random.normal(size=len(clusters)) + random.normal(size=30)[clusters], clusters)
    groups = Groups.of(given)
    means = np.concatenate([groups.means(p) for p in groups.draw(20_000, 0)])
    # resampling has the variance by n, not n - 1, and ratios a little more
    assert means.std() == pytest.approx(given.error * math.sqrt(29 / 30), rel=0.06)


def test_the_test_holds_its_level_about() -> None:
    random = np.random.default_rng(7)
    ps = np.array([bootstrap(rounds=199).p_value(sample(random.normal(size=60))) for _ in range(600)])
    assert 0.03 < (ps <= 0.05).mean() < 0.09
    assert 0.35 < (ps <= 0.4).mean() < 0.47


# --- ends of the range, and bad input ------------------------------------------------------------


def test_p_values_where_nothing_can_be_said() -> None:
    assert bootstrap().p_value(sample([0, 0, 0])) == 1
    assert bootstrap().p_value(sample([0])) == 1
    assert math.isnan(bootstrap().p_value(sample([])))
    assert math.isnan(bootstrap().p_value(sample([0.1])))
    assert math.isnan(bootstrap().p_value(sample([0.1, 0.2], [0, 0])))
    assert bootstrap(rounds=999).p_value(sample([0.5 - 0.4, 0.6 - 0.5])) == 1 / 1000
    assert bootstrap(rounds=999).p_value(sample([0.1, 0.2, -0.3])) == 1  # a mean of 0 but for rounding


@pytest.mark.parametrize("interval", INTERVALS)
def test_no_interval_without_spread(interval: Any) -> None:
    assert interval().of(sample([0.5, 0.5])).reason == "every query has the same value"
    assert interval().of(sample([0.5])).reason == "fewer than 2 queries"


@pytest.mark.parametrize("interval", INTERVALS)
def test_rounds_enough_for_the_level(interval: Any) -> None:
    with pytest.raises(InputError, match="needs at least 199 rounds, not 198"):
        interval(rounds=198).of(skewed(), 0.99)
    assert interval(rounds=199).of(skewed(), 0.99).known
    with pytest.raises(InputError, match="level=95: level is between 0 and 1"):
        interval().of(skewed(), 95)


def test_spellings() -> None:
    assert parse_all(Interval, "bootstrap_t(rounds=999)") == (studentised(rounds=999),)
    assert parse_all(Interval, "studentized") == (studentised(),)
    assert parse_all(PairedTest, "bootstrap(seed=3)") == (bootstrap(seed=3),)
    assert bca(rounds=1999).of(skewed()).method == "bca(rounds=1999)"
    with pytest.raises(InputError, match="rounds must be from 99"):
        bca(rounds=10)
