"""Tallies of parts add up to means and intervals of the whole; needs no Spark."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankscope.inference.base import Interval
from rankscope.metrics import parse
from rankscope.panels.method import find_method
from rankscope.panels.samples import bounds_of, mean
from rankscope.scoring.spark.task import MetricTally

METRICS = [parse(name) for name in ("AP", "Success@1", "GMAP", "NumRel", "DCG@10")]


def values_for(metric: object, seed: int, count: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = (
        rng.integers(0, 2, count).astype(float) if str(metric) == "Success@1" else rng.random(count).round(seed % 3)
    )
    return np.where(rng.random(count) < 0.1, np.nan, values)


@given(
    metric=st.sampled_from(METRICS), seed=st.integers(0, 10_000), count=st.integers(0, 40), cuts=st.lists(st.integers(0, 40), max_size=4),
    uneven=st.booleans(), interval=st.sampled_from([None, "t", "wilson"]),
)  # fmt: skip
def test_parts_add_up(metric, seed, count, cuts, uneven, interval) -> None:  # type: ignore[no-untyped-def]
    values = values_for(metric, seed, count)
    weights = np.random.default_rng(seed).integers(0, 4, count).astype(float) if uneven else np.ones(count)
    ends = [0, *sorted(min(cut, count) for cut in cuts), count]
    tally = MetricTally()
    for start, stop in itertools.pairwise(ends):
        part = MetricTally.of(metric, values[start:stop], weights[start:stop], None, 0)
        tally += pickle.loads(pickle.dumps(part))
    if metric.aggregate == "sum":
        weights = np.ones(count)
    assert (tally.inside, tally.defined) == (count, int((~np.isnan(values)).sum()))
    assert repr(tally.mean(metric)) == repr(mean(metric, values, weights))
    if uneven and not weights[~np.isnan(values)].any():
        return
    if uneven:
        return  # the error of unequal shares needs the values, which are brought here
    method = None if interval is None else find_method(Interval, interval, 0)
    ours, theirs = tally.bounds(metric, method, 0.95), bounds_of(metric, values, weights, method)
    if interval == "wilson" and metric.aggregate == "geometric":
        return  # of linearised values, which are shares only by chance
    assert (ours.method, ours.reason) == (theirs.method, theirs.reason)
    assert (ours.lower, ours.upper) == pytest.approx((theirs.lower, theirs.upper), rel=1e-9, abs=1e-12, nan_ok=True)


def test_errors_of_sampled_orders_add_up() -> None:
    error, weights = np.array([0.1, 0.2, 0.0]), np.array([1.0, 2.0, 1.0])
    metric = METRICS[0]
    parts = [
        MetricTally.of(metric, np.array([v]), np.array([w]), np.array([e]), 1)
        for v, w, e in zip([0.5, 0.25, 1.0], weights, error, strict=True)
    ]
    whole = sum(parts, MetricTally())
    assert whole.error == pytest.approx(math.sqrt(0.1**2 + (2 * 0.2) ** 2) / 4)
    assert whole.sampled_queries == 3
    assert MetricTally().error is None
