"""What is known of the queries of a part without their values: counts, exact sums and moments, which add up to those of the whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from rankscope.inference.base import Bounds, Estimate
from rankscope.inference.intervals import t, wilson
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.moments import ExactSum, Moments
from rankscope.panels.samples import NO_SAMPLE, logs_of
from rankscope.scoring.health import LISTED, Health

NOTHING = ExactSum()
NO_ENDS = (math.inf, -math.inf)


class Mergeable:
    """What is added up field by field: numbers and sums by ``+``, mappings key by key; a subclass says what is not."""

    def __add__(self, other: Self) -> Self:
        """Both together."""
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: self.merged(name, mine[name], theirs[name]) for name in mine})

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Return the sum of a field."""
        return _add(one, other)


def _add(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping):
        return {key: one.get(key, 0) + other.get(key, 0) for key in dict.fromkeys([*one, *other])}
    return one + other


@dataclass(frozen=True)
class MetricTally(Mergeable):
    """One metric over queries: how many it averages and has a value for, the sums of its mean, and the moments of its interval.

    ``products`` sums what each query adds, value times weight; ``squares`` the squared errors that come from sampling the orders of
    tied documents, if ``sampled``. ``moments`` are of value times weight and of weight, over queries that weigh something;
    ``values`` and ``weights`` are the ends of these two.
    """

    inside: int = 0
    defined: int = 0
    products: ExactSum = NOTHING
    weight: ExactSum = NOTHING
    squares: ExactSum = NOTHING
    sampled: int = 0
    sampled_queries: int = 0
    moments: Moments = field(default_factory=lambda: Moments.empty(2))
    binary: int = 0
    values: tuple[float, float] = NO_ENDS
    weights: tuple[float, float] = NO_ENDS

    @classmethod
    def of(cls, metric: Metric, value: Array, weight: Array, error: Array | None, sampled_queries: int) -> MetricTally:
        """The tally of the queries that a metric averages; NaN is a value that is undefined."""
        known = ~np.isnan(value)
        v, w = value[known], weight[known]
        if metric.aggregate == "geometric":
            v = logs_of(v)
        if metric.aggregate == "sum":
            w = np.ones(len(v))
        some = w > 0
        return cls(
            inside=len(value),
            defined=len(v),
            products=ExactSum.of(v * w),
            weight=ExactSum.of(w),
            squares=NOTHING if error is None else ExactSum.of((w * error[known]) ** 2),
            sampled=int(error is not None),
            sampled_queries=sampled_queries,
            moments=Moments.of(np.stack([(v * w)[some], w[some]], axis=1)),
            binary=int(np.count_nonzero(some & ((v == 0) | (v == 1)))),
            values=_ends(v[some]),
            weights=_ends(w[some]),
        )

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Keep the farther ends, and add everything else."""
        return (min(one[0], other[0]), max(one[1], other[1])) if name in {"values", "weights"} else _add(one, other)

    def mean(self, metric: Metric) -> float:
        """The value of the metric over all queries: that of ``panels.samples.mean``, to the bit."""
        if not self.defined:
            return math.nan
        if metric.aggregate == "sum":
            return self.products.value
        whole = self.weight.value
        average = self.products.value / whole if whole else math.nan
        return math.exp(average) if metric.aggregate == "geometric" else average

    @property
    def error(self) -> float | None:
        """The standard error of the mean that comes from sampling the orders of tied documents; None if none was sampled."""
        if not self.sampled:
            return None
        whole = self.weight.value
        return math.sqrt(self.squares.value) / whole if whole else math.nan

    def bounds(self, metric: Metric, interval: Any, level: float) -> Bounds:
        """The interval of the mean, as ``panels.samples.bounds_of`` chooses it: by moments, or of a share of queries."""
        if metric.aggregate in NO_SAMPLE:
            return Bounds.none(NO_SAMPLE[metric.aggregate])
        low, high = metric.range
        geometric = metric.aggregate == "geometric"
        uneven = self.weights[0] < self.weights[1]
        shares = not geometric and not uneven and 0 < self.binary == self.moments.count
        if interval is None and shares and self.moments.count > 1 and high <= 1 and not -math.inf < low < 0:
            interval = wilson()
        if isinstance(interval, wilson):
            if not shares:
                return Bounds.none("wilson takes only values of 0 and 1" if self.moments.count else "no queries")
            return interval.of_share(self.moments.count, self.mean(metric), level).clipped(low, high)
        estimate = self._estimate()
        if geometric and interval is not None:  # an interval that was asked for is of the linearised values
            centre = math.exp(estimate.mean)
            estimate = replace(estimate, mean=centre, error=centre * estimate.error, largest=centre)
        found = t().of(estimate, level)
        if geometric and interval is None and found.known:
            found = Bounds(math.exp(found.lower), math.exp(found.upper), found.method)
        return found.clipped(low, high)

    def _estimate(self) -> Estimate:
        held = self.moments
        if not held.count:
            return Estimate.of(math.nan, math.nan, 0)
        weight = float(held.mean[1])
        mean = float(held.mean[0]) / weight
        if self.values[0] == self.values[1]:
            return Estimate.of(mean, 0.0, held.count)
        if held.count < 2:
            return Estimate.of(mean, math.nan, held.count)
        return Estimate.of(mean, held.combine([1 / weight, -mean / weight])[1], held.count)


def _ends(values: Array) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else NO_ENDS


SHARES = ("unjudged_at_cutoff", "tied_at_cutoff")  # of ``Health``


@dataclass(frozen=True)
class RunTally(Mergeable):
    """One run: its metrics in the order asked for, and its ``Health`` with numbers of documents in place of shares.

    ``shown`` counts the documents in the top k of judged queries. ``scored`` counts the queries that any metric averages, ``tags`` are
    the names that its rows give it, ``infinite`` counts infinite scores.
    """

    metrics: tuple[MetricTally, ...]
    counts: Health
    shown: Mapping[int, int]
    scored: int = 0
    infinite: int = 0
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, metrics: Iterable[MetricTally], health: Health, retrieved: Array, **more: Any) -> RunTally:
        """The tally of a run in a part: ``retrieved`` counts the documents of each judged query, ``more`` are further fields."""
        shown = {k: int(np.minimum(retrieved, k).sum()) for k in health.unjudged_at_cutoff}
        shares = ({k: share * shown[k] for k, share in getattr(health, name).items()} for name in SHARES)
        counts: dict[str, Any] = {
            name: {k: round(n) if abs(n - round(n)) < 1e-6 else n for k, n in one.items()}
            for name, one in zip(SHARES, shares, strict=True)
        }
        return cls(tuple(metrics), replace(health, ratings=None, **counts), shown, **more)

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Metrics and counts add up one by one; of names the first few are kept."""
        if name == "counts":
            return Health(
                **{field: self.merged(field, value, getattr(other, field)) for field, value in vars(one).items()}
            )
        if name == "metrics":
            return tuple(a + b for a, b in zip(one, other, strict=True))
        if name in {"missing", "extra", "tags", "notes"}:
            return tuple(sorted({*one, *other})[:LISTED])
        return None if one is None or other is None else _add(one, other)

    @property
    def health(self) -> Health:
        """The facts as a result has them."""
        shares: dict[str, Any] = {
            name: {k: n / self.shown[k] if self.shown[k] else 0.0 for k, n in getattr(self.counts, name).items()}
            for name in SHARES
        }
        return replace(self.counts, **shares)


@dataclass(frozen=True)
class Tally(Mergeable):
    """All runs over the queries of some parts, and what was seen of the judgments.

    ``judgments`` counts their rows, ``judged`` their queries, of which ``listed`` stand in a list of queries; ``ids`` are some of them.
    ``weighted`` counts the scored queries that were given a weight. ``rows_more`` is how many rows were judged less those that were
    read, and ``rows_check`` the same by the place they went to (to 64 bits): 0 if each row came once.
    """

    runs: tuple[RunTally, ...] = ()
    judgments: int = 0
    judged: int = 0
    ids: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    weighted: int = 0
    rows_more: int = 0
    rows_check: int = 0

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Runs add up one by one."""
        if name == "runs":
            return tuple(a + b for a, b in zip(one, other, strict=True)) if one and other else one or other
        return tuple(sorted({*one, *other})[:LISTED]) if name == "ids" else _add(one, other)
