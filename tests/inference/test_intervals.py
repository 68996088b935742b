"""Intervals by formula: laws, worked arithmetic, and the same numbers as scipy and statsmodels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankscope.declared import parse_all
from rankscope.errors import InputError
from rankscope.inference.base import Interval, Sample
from rankscope.inference.intervals import interval_of_mean, linearise, t, wilson
from rankscope.inference.paired import t as t_test
from rankscope.lists import Array

VALUES = st.lists(st.floats(-1, 1).map(lambda v: round(v, 6)), min_size=2, max_size=30)
LEVELS = (0.5, 0.9, 0.95, 0.99)


def sample(values: object, clusters: object = None) -> Sample:
    return Sample(np.array(values, dtype=float), None if clusters is None else np.array(clusters))


@given(VALUES, st.randoms(use_true_random=False), st.sampled_from(LEVELS))
def test_order_does_not_matter_and_the_mirror_is_exact(values: Any, random: Any, level: Any) -> None:
    shuffled = random.sample(values, len(values))
    here, there = t().of(sample(values), level), t().of(sample(shuffled), level)
    mirrored = t().of(sample(shuffled).mirror, level)
    assert str(here) == str(there)
    if here.known:
        assert (mirrored.lower, mirrored.upper) == (-here.upper, -here.lower)


@given(VALUES)
def test_clusters_of_one_query_are_no_clusters(values: Any) -> None:
    found, plain = t().of(sample(values, range(len(values)))), t().of(sample(values))
    assert found.known == plain.known
    assert not found.known or (found.lower, found.upper) == (plain.lower, plain.upper)


@given(st.integers(0, 40), st.integers(1, 40), st.sampled_from(LEVELS))
def test_wilson_of_failures_mirrors_that_of_successes(successes: Any, more: Any, level: Any) -> None:
    n = successes + more
    values = np.arange(n) < successes
    here, there = wilson().of(sample(values), level), wilson().of(sample(~values), level)
    assert 0 <= here.lower <= successes / n <= here.upper <= 1
    assert here.lower == pytest.approx(1 - there.upper, abs=1e-14)


def test_t_worked() -> None:
    # mean .2, variance (.01 + 0 + .01) / 2 = .01, error .1 / sqrt(3); two degrees of freedom have a quantile in closed form
    quantile = 0.9 * math.sqrt(2 / (1 - 0.9**2))
    found = t().of(sample([0.1, 0.2, 0.3]), 0.9)
    assert found.upper == pytest.approx(0.2 + quantile * 0.1 / math.sqrt(3), rel=1e-12)
    assert found.lower == pytest.approx(0.2 - quantile * 0.1 / math.sqrt(3), rel=1e-12)
    assert found.method == "t"


def test_clustered_t_worked() -> None:
    # clusters around the mean 0: 1 + 2 = 3, -3, 0, all of two; error sqrt(3 / 2 * 18) / 6 on 2 degrees of freedom
    found = t().of(sample([1, 2, -1, -2, 3, -3], [5, 5, 1, 1, 2, 2]), 0.9)
    reach = 0.9 * math.sqrt(2 / (1 - 0.9**2)) * math.sqrt(3 / 2 * 18) / 6
    assert (found.lower, found.upper) == pytest.approx((-reach, reach), rel=1e-12)


def test_t_between_clusters_of_unequal_size_worked() -> None:
    # clusters around the mean 0: 1 + 2 = 3, -1, -2, with 1/2, 1/4 and 1/4 of the queries; w² / (1 - w) is 1/2, 1/12 and 1/12
    one = sample([1, 2, -1, -2], [5, 5, 1, 2])
    assert one.error == pytest.approx(math.sqrt(9 / (1 / 2) + 1 / (3 / 4) + 4 / (3 / 4)) / 4, rel=1e-14)
    assert one.freedom == pytest.approx(1 / (1 / 4 + 1 / 16 + 1 / 16 + 2 * (1 / 24 + 1 / 24 + 1 / 144)), rel=1e-14)
    reach = float(stats.t.ppf(0.95, one.freedom)) * one.error
    found = t().of(one, 0.9)
    assert (found.lower, found.upper) == pytest.approx((-reach, reach), rel=1e-10)


CHANGES = [0.12, -0.05, 0.3, 0.22, 0.08, -0.1, 0.4, 0.15, 0.02, -0.2, 0.18, 0.05]
BY_CLUBSANDWICH = [  # R 4.2.2, clubSandwich 0.5.8: lm(y ~ 1), vcov = "CR2", test = "Satterthwaite"
    pytest.param(
        [0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3],
        (0.0397193966643562, 2.4444444444444438, 0.1106246685063766, -0.0468186839290605, 0.2418186839290605),
        id="four clusters",
    ),
    pytest.param(
        [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 5],
        (0.0379927225886349, 2.6888888888888887, 0.0923758505237388, -0.0317225042101818, 0.2267225042101818),
        id="a large one among small ones",
    ),
    pytest.param(
        [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
        (0.0385471092253314, 2.9999999999999996, 0.0854711063314960, -0.0251741053335235, 0.2201741053335235),
        id="clusters of equal size",
    ),
    pytest.param(
        [0] * 11 + [1],
        (0.0143217888674438, 0.9999999999999998, 0.0928491750628824, -0.0844755815380068, 0.2794755815380068),
        id="two clusters",
    ),
]


@pytest.mark.parametrize(("clusters", "theirs"), BY_CLUBSANDWICH)
def test_t_between_clusters_is_that_of_clubsandwich(clusters: list[int], theirs: tuple[float, ...]) -> None:
    one = sample(CHANGES, clusters)
    found = t().of(one)
    ours = (one.error, one.freedom, t_test().p_value(one), found.lower, found.upper)
    assert ours == pytest.approx(theirs, rel=1e-12)


WEIGHTS = [3, 1, 1, 0.5, 2, 2, 7, 1, 0.25, 4, 1, 1.5]
BY_CLUBSANDWICH_WEIGHTED = [  # the same: lm(sqrt(w) * y ~ 0 + sqrt(w)), which is y on a constant where y varies by one over its weight
    pytest.param(
        [0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3],
        (0.1050900924187079, 1.8749130374286904, 0.3560448115619409, -0.3549187597417967, 0.6097641205665391),
        id="four clusters",
    ),
    pytest.param(
        [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 5],
        (0.1139858932876303, 2.6975316554947724, 0.3532050986248745, -0.2594636087411005, 0.5143089695658428),
        id="a large one among small ones",
    ),
    pytest.param(
        [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
        (0.1193852917248349, 2.8094941495027679, 0.3688459234026508, -0.2675132274746123, 0.5223585882993547),
        id="clusters of equal size",
    ),
    pytest.param(
        list(range(12)),
        (0.1128763267246289, 5.7835842677853995, 0.3035898789213246, -0.1513004372574644, 0.4061457980822067),
        id="clusters of one query",
    ),
    pytest.param(
        [0] * 11 + [1],
        (0.0198803090644760, 0.9999999999999997, 0.0985301866744667, -0.1251805967792888, 0.3800259576040311),
        id="two clusters",
    ),
]


def weighted(values: object, clusters: object, weights: object) -> Sample:
    numbers, each = np.array(values, dtype=float), np.array(weights, dtype=float)
    return Sample(linearise(numbers, each), np.array(clusters), weights=each)


@pytest.mark.parametrize(("clusters", "theirs"), BY_CLUBSANDWICH_WEIGHTED)
def test_t_between_clusters_with_weights_is_that_of_clubsandwich(
    clusters: list[int], theirs: tuple[float, ...]
) -> None:
    one = weighted(CHANGES, clusters, WEIGHTS)
    found = t().of(one)
    ours = (one.error, one.freedom, t_test().p_value(one), found.lower, found.upper)
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_t_between_clusters_of_unequal_weight_worked() -> None:
    # mean (3 · 1 + 0 + 0 + 0) / 6 = 1/2; what is left of clusters, times weight: 3/2 - 1/2, -1/2, -1/2, of 4/6, 1/6 and 1/6 of the weight
    one = weighted([1, 0, 0, 0], [5, 5, 1, 2], [3, 1, 1, 1])
    assert one.error == pytest.approx(math.sqrt(1 / (1 / 3) + 2 * (1 / 4) / (5 / 6)) / 6, rel=1e-14)
    # w² / (1 - w) is 4/3, 1/30 and 1/30
    assert one.freedom == pytest.approx(1 / (1 / 2 + 2 * (4 / 90 + 4 / 90 + 1 / 900)), rel=1e-14)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 4), st.integers(1, 4)), min_size=2, max_size=15))
def test_a_query_of_weight_3_is_three_queries_of_its_cluster(queries: Any) -> None:
    values, clusters, weights = zip(*queries, strict=True)
    one = weighted(values, clusters, weights)
    again = sample(np.repeat(values, weights), np.repeat(clusters, weights))
    assert one.groups == again.groups
    assert one.mean == pytest.approx(again.mean, abs=1e-12)
    assert one.freedom == pytest.approx(again.freedom, rel=1e-9)
    if again.freedom:
        assert one.error == pytest.approx(again.error, rel=1e-9, abs=1e-9)


@given(VALUES, st.randoms(use_true_random=False), st.sampled_from([0.1, 1.0, 7.0]))
def test_weights_of_clusters_know_no_order_no_unit_and_no_difference_between_equals(
    values: Any, random: Any, unit: Any
) -> None:
    clusters, each = [i % 5 for i in range(len(values))], [random.choice([1.0, 2.5, 0.25]) for _ in values]
    one, even = weighted(values, clusters, each), weighted(values, clusters, [unit] * len(values))
    order = random.sample(range(len(values)), len(values))
    other = weighted(*(np.array(part)[order] for part in (values, clusters, each)))
    twice = weighted(values, clusters, np.array(each) * 2)
    assert (one.freedom, str(t().of(one))) == (other.freedom, str(t().of(other)))
    assert (one.freedom, str(t().of(one))) == (twice.freedom, str(t().of(twice)))
    plain = sample(values, clusters)
    assert (even.freedom, str(t().of(even))) == (plain.freedom, str(t().of(plain)))


@pytest.mark.parametrize("most", [1e6, 1e17, 1e40])
def test_a_cluster_with_nearly_all_weight_leaves_one_degree(most: float) -> None:
    one = weighted(CHANGES, [0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3], [most, *[1.0] * 11])
    assert one.freedom == pytest.approx(1, abs=1e-4)
    assert 0 <= one.error < 0.01


def test_its_error_and_freedom_are_those_of_the_definition() -> None:
    """Bell and McCaffrey's matrices for the regression on a constant, written out; with weights on their roots, of values times them."""
    random = np.random.default_rng(3)
    for sizes, spread in itertools.product(([3, 1, 4, 2], [10, 1, 1, 1, 7, 2], [1, 2]), (0, 1)):
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        n = len(clusters)
        values = random.normal(0.3, 1, n) + random.normal(size=len(sizes))[clusters]
        weights = random.lognormal(0, spread, n)
        roots = np.sqrt(weights)
        hat = np.outer(roots, roots) / weights.sum()
        left = roots * values - hat @ (roots * values)
        square, vectors = 0.0, []
        for group in range(len(sizes)):
            at = np.flatnonzero(clusters == group)
            lengths, axes = np.linalg.eigh(np.eye(len(at)) - hat[np.ix_(at, at)])
            pulls = axes @ np.diag(lengths**-0.5) @ axes.T @ roots[at] / weights.sum()
            square += float(pulls @ left[at]) ** 2
            vectors.append((np.eye(n) - hat)[:, at] @ pulls)
        products = np.array(vectors) @ np.array(vectors).T
        one = weighted(values, clusters, weights)
        assert one.error == pytest.approx(math.sqrt(square), rel=1e-10)
        assert one.freedom == pytest.approx(products.trace() ** 2 / (products**2).sum(), rel=1e-10)


def test_wilson_worked() -> None:
    # all of n succeed: the lower end is n / (n + z²)
    z = stats.norm.ppf(0.975)
    assert wilson().of(sample([1] * 10)).lower == pytest.approx(10 / (10 + z**2), rel=1e-12)
    assert wilson().of(sample([1] * 10)).upper == 1
    assert wilson().of(sample([0] * 10)).lower == 0


@pytest.mark.parametrize("level", LEVELS)
def test_t_is_that_of_scipy_on_real_scores(shared_data: Callable[[str], Path], level: Any) -> None:
    scores = np.loadtxt(shared_data("system_scores/adhoc5_ap.csv"), delimiter=",", skiprows=1)
    for values in (*scores.T[:20], *(scores[:, 1:20] - scores[:, :1]).T):
        if np.ptp(values) == 0:
            continue
        found, theirs = t().of(sample(values), level), stats.ttest_1samp(values, 0).confidence_interval(level)
        assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high), rel=1e-10)
        ends = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
        assert (found.lower, found.upper) == pytest.approx(ends, rel=1e-10)


def test_clustered_t_is_that_of_statsmodels(need: Callable[[str], ModuleType]) -> None:
    linear = need("statsmodels.regression.linear_model")
    random = np.random.default_rng(1)
    for sizes in ([3, 3, 3, 3], [5] * 6, [2, 2]):  # of unequal ones it has no small-sample correction
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        values = random.normal(0.3, 1, len(clusters)) + random.normal(size=len(sizes))[clusters]
        fit = linear.OLS(values, np.ones(len(values))).fit(
            cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
        )
        found = t().of(sample(values, clusters))
        assert (found.lower, found.upper) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-10)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 20), (20, 20), (1, 20), (49, 50), (37, 90)])
def test_wilson_is_that_of_scipy_and_statsmodels(
    need: Callable[[str], ModuleType], successes: Any, n: Any, level: Any
) -> None:
    found = wilson().of(sample(np.arange(n) < successes), level)
    theirs = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high), rel=1e-12, abs=1e-15)
    ends = need("statsmodels.stats.proportion").proportion_confint(successes, n, 1 - level, method="wilson")
    assert (found.lower, found.upper) == pytest.approx(ends, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("values", "method"),
    [([0, 1, 1], "wilson"), ([1, 1, 1], "wilson"), ([0, 0.5, 1], "t"), ([0.2, 0.4], "t"), ([-1, 0, 1], "t")],
)
def test_the_interval_of_a_mean_where_none_is_asked_for(values: Any, method: Any) -> None:
    assert interval_of_mean(sample(values)).method == method


def test_differences_that_are_0_and_1_by_chance_get_t() -> None:
    ends = interval_of_mean(sample([0, 1, 1]), low=-1, high=1)
    assert ends.method == "t"
    mirrored = interval_of_mean(sample([0, -1, -1]), low=-1, high=1)
    assert (mirrored.lower, mirrored.upper) == (-ends.upper, -ends.lower)


def test_the_interval_that_is_given_wins() -> None:
    found = interval_of_mean(sample([0, 1, 1]), t(), low=0, high=1)
    assert found.method == "t"
    assert found.upper == 1


def test_ends_are_clipped_to_the_range() -> None:
    assert t().of(sample([0.9, 1.0, 0.7])).upper > 1
    found = interval_of_mean(sample([0.9, 1.0, 0.7]), low=0, high=1)
    assert found.upper == 1
    assert 0 < found.lower < 0.8


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (sample([]), "no queries"),
        (sample([0.5]), "fewer than 2 queries"),
        (sample([1.0]), "fewer than 2 queries"),
        (sample([0.1, 0.2], [0, 0]), "fewer than 2 clusters"),
        (sample([0.5, 0.5]), "every query has the same value"),
        (sample([0.5 - 0.4, 0.6 - 0.5, 0.7 - 0.6]), "every query has the same value"),
        (sample([1.0, 1.0], [0, 1]), "every cluster has the same mean"),
        (sample([0.1, 0.4, 0.4, 0.1], [0, 0, 1, 1]), "every cluster has the same mean"),
    ],
)
def test_where_there_is_no_interval_the_reason_is_told(given: Any, reason: Any) -> None:
    found = interval_of_mean(given)
    assert not found.known
    assert math.isnan(found.upper)
    assert found.reason == reason


@pytest.mark.parametrize("given", [sample([0.5, 1]), sample([0, 1], [0, 1]), sample([])])
def test_wilson_takes_only_independent_0_and_1(given: Any) -> None:
    assert not wilson().of(given).known
    assert wilson().of(given).reason


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -1.0, math.nan])
@pytest.mark.parametrize("interval", [t(), wilson()])
def test_a_level_is_between_0_and_1(level: Any, interval: Any) -> None:
    with pytest.raises(InputError, match=r"level is between 0 and 1, like 0\.95"):
        interval.of(sample([0, 1]), level)


def test_spellings() -> None:
    assert parse_all(Interval, "t") == (t(),)
    assert parse_all(Interval, "wilson") == (wilson(),)


# --- weighted means ------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(1e-3, 1e3)), min_size=2, max_size=30))
def test_the_mean_of_linearised_values_is_the_weighted_mean(pairs: Any) -> None:
    values, weights = np.array(pairs).T
    x = linearise(values, weights)
    assert math.fsum(x) / len(x) == pytest.approx(np.average(values, weights=weights), abs=1e-12)
    assert linearise(-values, weights).tolist() == (-x).tolist()


def test_linearised_worked() -> None:
    # weights 1, 1, 2 of 0, 1, 1: mean 3/4, mean weight 4/3
    expected = [3 / 4 + 3 / 4 * w * (v - 3 / 4) for v, w in ((0, 1), (1, 1), (1, 2))]
    assert linearise(np.array([0.0, 1, 1]), np.array([1.0, 1, 2])).tolist() == pytest.approx(expected)


def ratio_error(values: Array, weights: Array) -> float:
    """The textbook standard error of sum(w v) / sum(w) by linearisation (Cochran 1977, 6.4)."""
    n, mean = len(values), np.average(values, weights=weights)
    residual = weights * (values - mean)
    return float(np.sqrt(n / (n - 1) * (residual**2).sum()) / weights.sum())


def test_its_error_is_that_of_a_ratio_and_of_weighted_least_squares(need: Callable[[str], ModuleType]) -> None:
    linear = need("statsmodels.regression.linear_model")
    random = np.random.default_rng(2)
    values, weights = random.random(40), random.integers(1, 20, 40).astype(float)
    clusters = random.permutation(40) % 8
    x = linearise(values, weights)
    assert sample(x).error == pytest.approx(ratio_error(values, weights), rel=1e-12)
    model = linear.WLS(values, np.ones(40), weights=weights)
    assert sample(x).error == pytest.approx(model.fit(cov_type="HC1").bse[0], rel=1e-10)
    clustered = model.fit(cov_type="cluster", cov_kwds={"groups": clusters}).bse[0]
    assert sample(x, clusters).error == pytest.approx(clustered, rel=1e-10)


def test_a_pooled_mean_is_a_weighted_one() -> None:
    hits, shown = np.array([1.0, 3, 0, 5]), np.array([4.0, 5, 1, 9])
    assert linearise(hits / shown, shown).mean() == pytest.approx(9 / 19, rel=1e-14)


def test_equal_weights_change_nothing() -> None:
    values = np.array([0.1, 0.7, 1.0])
    assert linearise(values, np.full(3, 0.3)).tolist() == values.tolist()
    assert linearise(np.full(3, 0.7), values).tolist() == [0.7] * 3


@pytest.mark.parametrize(
    ("values", "weights", "said"),
    [
        ([1.0], [1.0, 2.0], "one a value"),
        ([1.0, 2.0], [1.0, -2.0], "0 or more"),
        ([1.0, 2.0], [0.0, 0.0], "not all 0"),
        ([1.0, math.nan], [1.0, 1.0], "finite"),
    ],
)
def test_weights_that_cannot_be(values: Any, weights: Any, said: Any) -> None:
    with pytest.raises(InputError, match=said):
        linearise(np.array(values), np.array(weights))


def test_without_a_range_an_interval_is_not_clipped() -> None:
    sample = Sample(np.array([-4.0, 0.0, 4.0, 8.0]))
    assert interval_of_mean(sample) == t().of(sample)
    assert interval_of_mean(sample, low=0.0, high=3.0).lower == 0.0
    assert interval_of_mean(sample, low=0.0, high=3.0).upper == 3.0
