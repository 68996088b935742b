"""Metrics of the documents of all queries together, as the area under one curve: what each query adds, and what resampled ones have.

Such a value is the share of pairs of a relevant and another document, of whatever queries, in which the relevant one scores higher. It
has no value of a query. What a query adds is its jackknife value, linearised (Obuchowski, Nonparametric analysis of clustered ROC
curve data, Biometrics 53, 1997): the mean of these is the value, and their spread that of the value. The bootstrap draws whole queries
(or clusters) and counts the pairs of the drawn ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from rankscope.inference.base import Bounds, Interval, Sample
from rankscope.inference.intervals import t
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.metrics.population import PooledShares

MOST = 1_000  # queries or clusters whose pairs are counted in each round; of more what they add is drawn, which is as good then
WORK = 50_000_000  # comparisons that counting pairs may take


@dataclass(frozen=True, eq=False)
class PooledPairs:
    """The documents of one system that are in pairs: the number of the unit each is of, its score, and whether it is relevant.

    ``units`` is how many units there are.
    """

    units: int
    unit: Array
    score: Array
    relevant: Array

    def within(self, inside: Array) -> PooledPairs:
        """Those of some of the units, numbered anew."""
        number = np.cumsum(inside) - 1
        kept = inside[self.unit]
        return PooledPairs(int(inside.sum()), number[self.unit[kept]], self.score[kept], self.relevant[kept])

    def parts(self) -> Array:
        """What each unit adds: numbers whose mean is the value; NaN where there is no pair."""
        won, lost = self._shares()
        positive = np.bincount(self.unit, self.relevant, self.units)
        negative = np.bincount(self.unit, ~self.relevant, self.units)
        if not (positive.sum() and negative.sum()):
            return np.full(self.units, np.nan)
        value = float(won.sum() / positive.sum())
        of_won = (won - value * positive) / positive.sum()
        of_lost = (lost - value * negative) / negative.sum()
        return np.asarray(value + self.units * (of_won + of_lost))

    def _shares(self) -> tuple[Array, Array]:
        """For each unit, over its relevant documents the shares of others below; over its others the shares of relevant ones above."""
        above, below = np.sort(self.score[self.relevant]), np.sort(self.score[~self.relevant])
        share = np.zeros(len(self.score))
        mine, theirs = self.score[self.relevant], self.score[~self.relevant]
        if len(above) and len(below):
            share[self.relevant] = _below(below, mine) / len(below)
            share[~self.relevant] = (len(above) - _below(above, theirs)) / len(above)
        won = np.bincount(self.unit, np.where(self.relevant, share, 0.0), self.units)
        return won, np.bincount(self.unit, np.where(self.relevant, 0.0, share), self.units)

    def statistic(self, clusters: Array | None) -> Callable[[Array], Array] | None:
        """The value by how often each unit (or cluster) is drawn, rounds x groups; None where they are too many to count pairs."""
        group = self.unit if clusters is None else clusters[self.unit]
        groups = self.units if clusters is None else int(clusters.max(initial=-1)) + 1
        positive = np.bincount(group, self.relevant, groups)
        if groups > MOST or groups * positive.sum() > WORK:
            return None
        negative = np.bincount(group, ~self.relevant, groups)
        won = np.zeros((groups, groups))
        mine, of = self.score[self.relevant], group[self.relevant]
        for other in range(groups):
            theirs = np.sort(self.score[~self.relevant & (group == other)])
            won[:, other] = np.bincount(of, _below(theirs, mine), groups)

        def value(counts: Array) -> Array:
            pairs = (counts @ positive) * (counts @ negative)
            earned = ((counts @ won) * counts).sum(axis=1)
            return np.asarray(np.divide(earned, pairs, out=np.full(len(counts), np.nan), where=pairs > 0))

        return value


def _below(ascending: Array, scores: Array) -> Array:
    """Return how many of the ascending scores lie below each score; equal ones count half."""
    return np.asarray((np.searchsorted(ascending, scores) + np.searchsorted(ascending, scores, "right")) / 2)


Pool = PooledPairs | PooledShares


def pool_of(metric: Metric, judged: Judged, places: Mapping[str, int]) -> Pool | None:
    """The documents of a pooled metric, or the shares of its totals, on the queries that have a place. None for any other metric."""
    shares: PooledShares | None = metric.pooled_shares(judged)
    if shares is not None:
        at = np.array([places.get(one, -1) for one in judged.query_id], dtype=np.int64)[shares.unit]
        return replace(
            shares, units=len(places), unit=at[at >= 0], column=shares.column[at >= 0], amount=shares.amount[at >= 0]
        )
    documents = metric.pooled_documents(judged)
    if documents is None:
        return None
    query, score, relevant = documents
    place = np.array([places.get(one, -1) for one in judged.query_id], dtype=np.int64)[query]
    kept = place >= 0
    return PooledPairs(len(places), place[kept], score[kept], relevant[kept])


def sample_of_pool(pool: Pool, clusters: Array | None) -> Sample:
    """What each unit adds to the value of one system, to be resampled by its pairs."""
    parts = pool.parts()
    if np.isnan(parts).any():
        return Sample(np.empty(0))
    return Sample(parts, clusters, pool.statistic(clusters))


def sample_of_pools(run: Pool, baseline: Pool, gains: Array, clusters: Array | None) -> Sample:
    """What each unit adds to the difference of two systems, to be resampled by the pairs of both."""
    ours, theirs = run.statistic(clusters), baseline.statistic(clusters)
    if ours is None or theirs is None:
        return Sample(gains, clusters)
    return Sample(gains, clusters, lambda counts: ours(counts) - theirs(counts))


def bounds_of_pool(
    pool: Pool, clusters: Array | None, interval: Interval | None, level: float, ends: tuple[float, float],
) -> Bounds:  # fmt: skip
    """Return the interval of a value (default: t over the contributions of units), within the range of values."""
    return (interval or t()).of(sample_of_pool(pool, clusters), level).clipped(*ends)
