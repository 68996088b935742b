"""What values of units are of, and how they become one mean with one interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankscope import words
from rankscope.lists import Array, exact_sum
from rankscope.metrics import Metric

if TYPE_CHECKING:  # means do not need the code of intervals
    from rankscope.inference.base import Bounds, Interval, Sample

FLOOR = 0.00001  # what a value of 0 counts as in a geometric mean, as in trec_eval
NO_SAMPLE = {"pooled": "made of the documents of all queries together", "sum": "a total, not a mean"}
SIGNS = {"higher": 1, "lower": -1, "neither": 0}
UNKNOWN = (-math.inf, math.inf)
EVEN = 1e-12  # means closer than this, or than this part of the best, have no winner


@dataclass(frozen=True)
class Measure:
    """What the values of a panel are of: an offline metric, an online one, the value of an estimator.

    ``name`` is how it is spelled, ``better`` its direction, ``range`` the lowest and the highest value that there can be, and
    ``aggregate`` how the values of units become one number. ``metric`` is the metric of the catalogue, where it is one and was computed
    here; scores from elsewhere are plain means, whatever they are called. ``unit`` is what a unit is called, ``decimals`` how many
    differences are written with: the usual three where it is None.
    """

    name: str
    better: Literal["higher", "lower", "neither"] = "higher"
    range: tuple[float, float] = UNKNOWN
    aggregate: str = "mean"
    metric: Metric | None = None
    unit: str = "query"
    decimals: int | None = None

    @classmethod
    def of(cls, metric: Metric) -> Measure:
        """Return the measure of a metric."""
        return cls(str(metric), metric.better, metric.range, metric.aggregate, metric)

    def in_units(self, bounds: Bounds) -> Bounds:
        """Return an interval whose reason, if there is none, names the units of this measure instead of queries."""
        if self.unit == "query" or not bounds.reason:
            return bounds
        reason = bounds.reason.replace("queries", words.plural(self.unit)).replace("query", self.unit)
        return replace(bounds, reason=reason)


def leaders(means: Mapping[str, float], better: str = "higher") -> tuple[str, ...]:
    """The systems with the best mean: all that are even, in their order; nobody where no value is better than another.

    >>> leaders({"a": 0.5, "b": 0.4, "c": 0.5}), leaders({"a": 0.5, "b": 0.4}, "lower"), leaders({"a": 0.5}, "neither")
    (('a', 'c'), ('b',), ())
    """
    known = {
        system: SIGNS[better] * value for system, value in means.items() if not math.isnan(value) and SIGNS[better]
    }
    best = max(known.values(), default=math.nan)
    return tuple(system for system, value in known.items() if best - value <= EVEN * max(1.0, abs(best)))


def mean(measure: Measure | Metric, value: Array, weight: Array) -> float:
    """The values of the units as one number, without undefined ones; NaN if all are undefined."""
    undefined = np.isnan(value)
    if undefined.any():
        value, weight = value[~undefined], weight[~undefined]
    if not len(value):
        return math.nan
    if measure.aggregate == "sum":
        return exact_sum(value)
    if measure.aggregate == "geometric":
        value = logs_of(value)
    if (weight == 1).all():  # as nearly always; their sum is their number
        average = exact_sum(value) / len(value)
    else:
        whole = exact_sum(weight)
        if not whole:
            return math.nan
        average = exact_sum(value * weight) / whole
    return math.exp(average) if measure.aggregate == "geometric" else average


def logs_of(value: Array) -> Array:
    """The logarithms that a geometric mean averages, those of values near 0 from a floor."""
    return np.array([math.log(max(v, FLOOR)) for v in value.tolist()])


def parts_of(measure: Measure | Metric, value: Array, weight: Array | None = None) -> Array:
    """One number per unit (NaN: undefined). Their plain mean is the value of the measure over all units."""
    if weight is None and measure.aggregate not in {"sum", "geometric"}:
        return value
    weight = np.ones(len(value)) if weight is None else weight
    known = ~np.isnan(value) & (weight > 0)
    out = np.where(known, value, np.nan)
    if not known.any():
        return out
    from rankscope.inference.intervals import linearise

    even = bool((weight[known] == 1).all())
    if measure.aggregate == "sum":
        out[known] = value[known] * int(np.count_nonzero(known))
    elif measure.aggregate == "geometric":
        logs = logs_of(value[known])
        logs = logs if even else linearise(logs, weight[known])
        centre = mean(measure, value[known], weight[known])
        out[known] = centre * (1.0 + logs - math.log(centre))
    elif not even:
        out[known] = linearise(value[known], weight[known])
    return out


def bounds_of(
    measure: Measure | Metric, value: Array, weight: Array | None = None, interval: Interval | None = None, level: float = 0.95,
    clusters: Array | None = None,
) -> Bounds:  # fmt: skip
    """The interval of a mean over its units, clipped to the range of the measure; or the reason that there is none.

    ``clusters`` numbers the cluster of each unit, where units come in such. Without an ``interval`` of its own a geometric mean gets
    that of the mean logarithm, turned back; shares of units get Wilson's, all else Student's t.
    """
    from rankscope.inference.base import Bounds
    from rankscope.inference.intervals import interval_of_mean, t

    if measure.aggregate in NO_SAMPLE:
        return Bounds.none(NO_SAMPLE[measure.aggregate])
    low, high = measure.range
    if measure.aggregate == "geometric" and interval is None:
        return _of_geometric(value, weight, level, clusters).clipped(low, high)
    parts = parts_of(measure, value, weight)
    uneven = weight is not None and len(np.unique(weight[~np.isnan(parts)])) > 1
    nameless = isinstance(measure, Measure) and measure.range == UNKNOWN and measure.metric is None
    if interval is None and (uneven or (high > 1 and not nameless)):
        interval = t()  # what weighs differently, or may be more than 1, is no share of units
    return interval_of_mean(sample_of(parts, clusters, weight), interval, level, low, high)


def sample_of(parts: Array, clusters: Array | None, weight: Array | None = None) -> Sample:
    """The units that have a part in a mean, their clusters numbered from 0 without gaps, and what each weighs in it."""
    from rankscope.inference.base import Sample

    kept = ~np.isnan(parts)
    codes = None if clusters is None else number_clusters(clusters[kept])
    return Sample(parts[kept], codes, weights=None if weight is None else weight[kept])


def number_clusters(clusters: Array) -> Array:
    """Clusters numbered from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1]


def _of_geometric(value: Array, weight: Array | None, level: float, clusters: Array | None) -> Bounds:
    """The interval of the mean logarithm, turned back."""
    from rankscope.inference.base import Bounds
    from rankscope.inference.intervals import linearise, t

    known = ~np.isnan(value) & (True if weight is None else weight > 0)
    logs = logs_of(value[known])
    if weight is not None and not (weight[known] == 1).all():
        logs = linearise(logs, weight[known])
    parts = np.full(len(value), np.nan)
    parts[known] = logs
    bounds = t().of(sample_of(parts, clusters, weight), level)
    return Bounds(math.exp(bounds.lower), math.exp(bounds.upper), bounds.method) if bounds.known else bounds
