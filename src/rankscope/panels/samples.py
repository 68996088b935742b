"""The queries' values as what an inference takes: numbers whose plain mean is the mean that the scoreboard shows."""

from __future__ import annotations

import math

import numpy as np

from rankscope.inference.base import Bounds, Interval, Sample
from rankscope.inference.intervals import interval_of_mean, linearised, t
from rankscope.lists import Array
from rankscope.metrics import Metric

FLOOR = 0.00001  # what a value of 0 counts as in a geometric mean, as in trec_eval
NO_SAMPLE = {
    "pooled": "made of the documents of all queries together",
    "sum": "a total, not a mean",
}


def mean(metric: Metric, value: Array, weight: Array) -> float:
    """The values of the queries as one number, undefined ones left out; NaN where none is defined.

    Sums are exact before they are rounded, so the order of the queries does not matter.
    """
    defined = ~np.isnan(value)
    value, weight = value[defined], weight[defined]
    if not len(value):
        return math.nan
    if metric.aggregate == "sum":
        return math.fsum(value.tolist())
    if metric.aggregate == "geometric":
        value = np.array([math.log(max(v, FLOOR)) for v in value.tolist()])
    whole = math.fsum(weight.tolist())
    if not whole:
        return math.nan
    average = math.fsum((value * weight).tolist()) / whole
    return math.exp(average) if metric.aggregate == "geometric" else average


def parts_of(metric: Metric | None, value: Array, weight: Array | None = None) -> Array:
    """One number a query, NaN where undefined, whose plain mean is the metric's value over all queries.

    A plain mean needs nothing; weighted and geometric means are linearised around their value, so that the spread of the numbers
    is the spread that the mean has.
    """
    weight = np.ones(len(value)) if weight is None else weight
    known = ~np.isnan(value) & (weight > 0)
    out = np.where(known, value, np.nan)
    if not known.any():
        return out
    even = bool((weight[known] == 1).all())
    aggregate = metric.aggregate if metric else "mean"
    if aggregate == "sum":
        out[known] = value[known] * int(np.count_nonzero(known))
    elif metric and aggregate == "geometric":
        logs = np.array([math.log(max(v, FLOOR)) for v in value[known].tolist()])
        logs = logs if even else linearised(logs, weight[known])
        centre = mean(metric, value[known], weight[known])
        out[known] = centre * (1.0 + logs - math.log(centre))
    elif not even:
        out[known] = linearised(value[known], weight[known])
    return out


def bounds_of(
    metric: Metric,
    value: Array,
    weight: Array | None = None,
    interval: Interval | None = None,
    level: float = 0.95,
    clusters: Array | None = None,
) -> Bounds:
    """The interval of a metric's value over its queries, clipped to the metric's range; or the reason that there is none.

    ``clusters`` numbers the cluster of each query, where queries come in such.
    """
    if metric.aggregate in NO_SAMPLE:
        return Bounds.none(NO_SAMPLE[metric.aggregate])
    low, high = metric.range
    if metric.aggregate == "geometric" and interval is None:
        return _of_geometric(value, weight, level, clusters).clipped(low, high)
    parts = parts_of(metric, value, weight)
    uneven = weight is not None and len(np.unique(weight[~np.isnan(parts)])) > 1
    if interval is None and (uneven or high > 1):
        interval = t()  # what weighs differently, or may be more than 1, is no share of queries
    return interval_of_mean(_sample(parts, clusters), interval, level, low, high)


def _sample(parts: Array, clusters: Array | None) -> Sample:
    """The queries that have a part in a mean, their clusters numbered from 0 without gaps."""
    kept = ~np.isnan(parts)
    codes = None if clusters is None else np.unique(clusters[kept], return_inverse=True)[1]
    return Sample(parts[kept], codes)


def _of_geometric(value: Array, weight: Array | None, level: float, clusters: Array | None) -> Bounds:
    """The interval of the mean logarithm, turned back."""
    known = ~np.isnan(value) & (True if weight is None else weight > 0)
    logs = np.array([math.log(max(v, FLOOR)) for v in value[known].tolist()])
    if weight is not None and not (weight[known] == 1).all():
        logs = linearised(logs, weight[known])
    parts = np.full(len(value), np.nan)
    parts[known] = logs
    found = t().of(_sample(parts, clusters), level)
    return Bounds(math.exp(found.lower), math.exp(found.upper), found.method) if found.known else found
