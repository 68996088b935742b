"""One metric of several systems on the same queries, wherever it comes from: evaluated here, or a table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from rankscope.inference.base import Bounds, Sample, summed
from rankscope.inference.intervals import interval_of_mean
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.panels.samples import NO_SAMPLE, bounds_of, parts_of

SAME = 1e-12  # values closer than this part of the larger differ by their rounding alone


@dataclass(frozen=True, eq=False)
class PairedValues:
    """Two systems on the queries for which both have a value.

    ``inside`` marks these queries among those measured, ``run`` and ``baseline`` are their values, and ``gains`` the differences, run minus baseline, 0 where they differ
    by rounding alone. ``sample`` holds what each query adds to the difference of the means and how it spreads; ``swapped`` what
    changes its sign where the two systems change places on the query. For a plain mean both are the gains.
    """

    inside: Array
    run: Array
    baseline: Array
    gains: Array
    sample: Sample
    swapped: Sample

    @property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.gains)

    @property
    def difference(self) -> float:
        """The difference of the means."""
        return self.sample.mean

    @cached_property
    def differing(self) -> int:
        """How many queries differ."""
        return self.swapped.differing


@dataclass(frozen=True, eq=False)
class Panel:
    """One metric of several systems: ``values`` is systems x queries, NaN where undefined; the queries are sorted by id.

    ``name`` is how the metric is spelled, ``better`` its direction and ``bounds`` its range. ``weights`` is like ``values``, where
    queries weigh differently in the mean; ``clusters`` numbers the cluster of each query, where queries come in such.
    """

    name: str
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Array
    metric: Metric | None = None
    better: Literal["higher", "lower", "neither"] = "higher"
    bounds: tuple[float, float] = (-np.inf, np.inf)
    weights: Array | None = None
    clusters: Array | None = None

    @property
    def reason(self) -> str:
        """Why nothing can be inferred about this metric; empty where something can."""
        return NO_SAMPLE.get(self.metric.aggregate, "") if self.metric else ""

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where neither."""
        return {"higher": 1, "lower": -1, "neither": 0}[self.better]

    def row(self, system: str) -> int:
        """The row of a system."""
        return self.systems.index(system)

    def sample(self, system: str) -> Sample:
        """What each query adds to the mean of a system."""
        at = self.row(system)
        parts = self._parts(at, np.asarray(~np.isnan(self.values[at])))
        kept = ~np.isnan(parts)
        return Sample(parts[kept], None if self.clusters is None else _numbered(self.clusters[kept]))

    def mean(self, system: str) -> float:
        """The mean of a system over the queries for which it has a value."""
        return self.sample(system).mean

    def interval(self, system: str, level: float = 0.95) -> Bounds:
        """The interval of the mean of a system, clipped to the range of the metric."""
        if self.metric is not None and self.clusters is None:
            weights = None if self.weights is None else self.weights[self.row(system)]
            return bounds_of(self.metric, self.values[self.row(system)], weights, level=level)
        return interval_of_mean(self.sample(system), None, level, *self.bounds)

    def pair(self, run: str, baseline: str, inside: Array | None = None) -> PairedValues:
        """Two systems on the queries for which both have a value, and that are ``inside`` if that is given."""
        a, b = self.row(run), self.row(baseline)
        both = np.asarray(~np.isnan(self.values[[a, b]]).any(axis=0))
        if self.weights is not None:
            both &= (self.weights[a] > 0) & (self.weights[b] > 0)
        if inside is not None:
            both &= inside
        clusters = None if self.clusters is None else _numbered(self.clusters[both])
        ours, theirs = self.values[a][both], self.values[b][both]
        gains = _without_rounding(ours - theirs, ours, theirs)
        if self.metric is None or (self.weights is None and self.metric.aggregate == "mean"):
            sample = Sample(gains, clusters)
            return PairedValues(both, ours, theirs, gains, sample, sample)
        here, there = self._parts(a, both)[both], self._parts(b, both)[both]
        sample = Sample(_without_rounding(here - there, here, there), clusters)
        return PairedValues(both, ours, theirs, gains, sample, self._swapped(a, b, both, gains, sample))

    def _swapped(self, a: int, b: int, both: Array, gains: Array, sample: Sample) -> Sample:
        """What each query adds to a weighted difference, where its weight is the same for both systems."""
        if self.metric is not None and self.metric.aggregate in {"geometric", "sum"}:
            return sample
        if self.weights is None:  # every query weighs the same
            return sample
        weight = self.weights[a][both]
        if not len(weight) or not np.array_equal(weight, self.weights[b][both]):
            return sample
        return replace(sample, values=gains * weight * (len(weight) / summed(weight)))

    @cached_property
    def complete(self) -> Array:
        """What each query adds to each system's mean, systems x queries, on the queries for which all have a value."""
        inside = np.asarray(~np.isnan(self.values).any(axis=0))
        return np.stack([self._parts(i, inside)[inside] for i in range(len(self.systems))])

    def restricted(self, rows: Sequence[int]) -> Panel:
        """The same of some of the systems."""
        return replace(
            self,
            systems=tuple(self.systems[row] for row in rows),
            values=self.values[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def within(self, inside: Array) -> Panel:
        """The same on some of the queries."""
        ids = tuple(q for q, kept in zip(self.query_ids, inside.tolist(), strict=True) if kept)
        return replace(
            self,
            query_ids=ids,
            values=self.values[:, inside],
            weights=None if self.weights is None else self.weights[:, inside],
            clusters=None if self.clusters is None else _numbered(self.clusters[inside]),
        )

    def _parts(self, at: int, inside: Array) -> Array:
        """What each query adds to a system's mean over the queries that are inside; NaN outside."""
        values = np.where(inside, self.values[at], np.nan)
        if self.metric is None and self.weights is None:
            return values
        weights = None if self.weights is None else np.where(inside, self.weights[at], 0.0)
        return parts_of(self.metric, values, weights)


def _without_rounding(difference: Array, run: Array, baseline: Array) -> Array:
    """Differences that are 0 where only rounding tells two values apart."""
    tiny = np.abs(difference) <= SAME * np.maximum(np.abs(run), np.abs(baseline))
    return np.where(tiny, 0.0, difference)


def _numbered(clusters: Array) -> Array:
    """Clusters numbered from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1]
