"""The Bayesian bootstrap: posteriors that can be written down."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rankscope.errors import InputError
from rankscope.inference.base import Sample
from rankscope.inference.bootstrap import bayesian


def sample(values: object, clusters: object = None) -> Sample:
    return Sample(np.array(values, dtype=float), None if clusters is None else np.array(clusters))


def test_two_queries_have_a_uniform_posterior() -> None:
    # the mean is anywhere between -.1 and .3 alike
    seen = bayesian(sample([-0.1, 0.3]), margin=0.05, rounds=100_000)
    error = 4 * math.sqrt(0.25 / 100_000)
    assert seen.better == pytest.approx(0.3 / 0.4, abs=error)
    assert seen.better + seen.worse == pytest.approx(1)
    assert seen.equal == pytest.approx(0.1 / 0.4, abs=error)
    assert seen.clearly_better == pytest.approx(0.25 / 0.4, abs=error)
    assert seen.clearly_better + seen.clearly_worse + seen.equal == pytest.approx(1)


def test_clusters_are_weighed_whole() -> None:
    # sums -2 of two and 1 of one: the mean is (w - 2 (1 - w)) / (w + 2 (1 - w)), above 0 for w > 2 / 3
    seen = bayesian(sample([-1, -1, 1], [0, 0, 1]), rounds=100_000)
    assert seen.better == pytest.approx(1 / 3, abs=0.006)


def test_many_queries_have_the_posterior_of_a_normal_mean() -> None:
    given = sample(np.random.default_rng(8).normal(0.1, 1, 300))
    expected = stats.norm.cdf(given.mean / given.error)
    assert bayesian(given, rounds=40_000).better == pytest.approx(expected, abs=0.015)


def test_ties_go_to_neither() -> None:
    seen = bayesian(sample([0, 0, 0]))
    assert (seen.better, seen.worse, seen.equal) == (0, 0, 1)
    # a constant difference of .1 is practically equal within a margin of .1, whatever the rounding
    same = bayesian(sample([0.5 - 0.4, 0.6 - 0.5, 0.7 - 0.6]), margin=0.1)
    assert (same.better, same.equal, same.clearly_better) == (1, 1, 0)


def test_no_posterior_of_one_query_or_a_bad_margin() -> None:
    assert math.isnan(bayesian(sample([0.3])).better)
    for margin in (-0.1, math.nan, math.inf):
        with pytest.raises(InputError, match="give the smallest difference that matters"):
            bayesian(sample([0.3, 0.1]), margin)
    with pytest.raises(InputError, match="at least 1 round"):
        bayesian(sample([0.3, 0.1]), rounds=0)
