"""Fusions that learn from judgments how often each rank of each run is relevant."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from rankscope.declared import Param
from rankscope.lists import Array
from rankscope.rankers.fusions import Fusion
from rankscope.rankers.rank_table import RankTable


class _Trained(Fusion):
    """Base of fusions with a value for each run and rank, learned from queries with judgments."""

    learns = True

    def scores_with(self, table: RankTable, learned: list[Array]) -> Array:
        out = np.zeros(len(table))
        for run, values in enumerate(learned):
            rows = np.flatnonzero(table.found[:, run])
            out[rows] += self.value(table, rows, run, values)
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        """The contribution of a run to these rows: by default the value at the rank, 0 beyond the ranks of the training."""
        at = table.ranks[rows, run].astype(np.int64) - 1
        return np.where(at < len(values), values[np.minimum(at, len(values) - 1)], 0.0)


class PosFuse(_Trained, aliases=("posfuse",)):
    """The sum over runs of the share of training queries with a relevant document at this rank."""

    source = "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion, Estimating probabilities for effective data fusion, SIGIR 2010"

    def learn(self, table: RankTable) -> list[Array]:
        return [_share_at_ranks(table, run) for run in range(table.runs)]


class SlideFuse(PosFuse, aliases=("slidefuse",)):
    """Like PosFuse, averaged over the neighbouring ranks within a window on each side."""

    window: Annotated[int, Param("ranks on each side", low=0)] = 5
    source = "Lillis, Toolan, Collier and Dunnion, Extending probabilistic data fusion using sliding windows, ECIR 2008"

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        at, length = table.ranks[rows, run].astype(np.int64) - 1, table.retrieved[rows, run].astype(np.int64)
        first, last = np.maximum(at - self.window, 0), np.minimum(at + self.window, length - 1)
        sums = np.append(0.0, np.cumsum(values))
        until = np.minimum(last + 1, len(values))
        return np.asarray((sums[until] - sums[np.minimum(first, until)]) / (last - first + 1))


class BayesFuse(_Trained, aliases=("bayesfuse",)):
    """The sum of log odds that a document at this rank of a run is relevant. A run that did not retrieve it adds ln(0.001 / 0.999)."""

    source = "Aslam and Montague, Models for metasearch, SIGIR 2001"
    ends = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

    def learn(self, table: RankTable) -> list[Array]:
        out = []
        for run in range(table.runs):
            hits, queries, start, odds = _hits_at_ranks(table, run), _lists(table, run), 0, np.empty(self.ends[-1])
            for end in self.ends:
                share = float(hits[start:end].sum()) / (end - start) / queries
                share = share or 0.001
                odds[start:end] = np.log(share / ((1.0 - share) or 0.001))
                start = end
            out.append(odds)
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        at = np.minimum(table.ranks[rows, run].astype(np.int64) - 1, len(values) - 1)
        return np.asarray(values[at] - MISSING)

    def scores_with(self, table: RankTable, learned: list[Array]) -> Array:
        return super().scores_with(table, learned) + MISSING * len(learned)


MISSING = float(np.log(0.001 / 0.999))


class ProbFuse(_Trained, aliases=("probfuse",)):
    """The sum over runs of the share of relevant documents in this segment of the list, divided by the segment's number."""

    segments: Annotated[int, Param("equal segments of each list", low=1)] = 25
    source = "Lillis, Toolan, Collier and Dunnion, ProbFuse: a probabilistic approach to data fusion, SIGIR 2006"

    def learn(self, table: RankTable) -> list[Array]:
        out = []
        for run in range(table.runs):
            rows = np.flatnonzero(table.found[:, run])
            key = table.query[rows] * self.segments + self._segment(table, rows, run)
            many = len(table.sizes) * self.segments
            size = np.bincount(key, minlength=many)
            hits = np.bincount(key, weights=_relevant(table)[rows], minlength=many)
            shares = np.divide(hits, size, out=np.zeros(many), where=size > 0).reshape(-1, self.segments)
            out.append(shares.sum(axis=0) / _lists(table, run))
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        at = self._segment(table, rows, run)
        return values[at] / (at + 1.0)

    def _segment(self, table: RankTable, rows: Array, run: int) -> Array:
        size = np.ceil(table.retrieved[rows, run] / self.segments)
        return np.asarray(((table.ranks[rows, run] - 1.0) // size).astype(np.int64))


class SegFuse(_Trained, aliases=("segfuse",)):
    """The sum over runs of the share of relevant documents in this segment, times the normalised score plus 1. Segments grow with rank."""

    of_scores = True
    source = "Shokouhi, Segmentation of search engine results for effective data-fusion, ECIR 2007"
    ends = tuple(10 * 2 ** (k - 1) - 5 for k in range(1, 11))

    def learn(self, table: RankTable) -> list[Array]:
        out = []
        for run in range(table.runs):
            hits, start, shares = _hits_at_ranks(table, run), 0, np.zeros(self.ends[-1])
            for end in self.ends:
                shares[start:end] = hits[start:end].sum() / (end - start) / _lists(table, run)
                start = end
            out.append(shares)
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        return np.asarray(super().value(table, rows, run, values) * (table.scores[rows, run] + 1.0))


class MAPFuse(_Trained, aliases=("mapfuse",)):
    """The sum over runs of their mean average precision in training, divided by the rank."""

    source = "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion, Estimating probabilities for effective data fusion, SIGIR 2010"

    def learn(self, table: RankTable) -> list[Array]:
        if table.known is None:
            raise TypeError("training needs the number of relevant documents per query")
        out = []
        for run in range(table.runs):
            rows = np.flatnonzero(table.found[:, run] & (_relevant(table) > 0))
            rows = rows[np.lexsort((table.ranks[rows, run], table.query[rows]))]
            query = table.query[rows]
            before = np.arange(len(rows)) - np.searchsorted(query, query)
            precision = (before + 1.0) / table.ranks[rows, run]
            total = np.bincount(query, weights=precision, minlength=len(table.sizes))
            values = np.divide(total, table.known, out=np.zeros(len(total)), where=table.known > 0)
            out.append(np.array([values.mean()]))
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        return np.asarray(values[0] / table.ranks[rows, run])


def _relevant(table: RankTable) -> Array:
    if table.relevant is None:
        raise TypeError("training needs judgments")
    return table.relevant


def _lists(table: RankTable, run: int) -> int:
    """The number of queries for which a run retrieved documents, at least 1."""
    return max(len(np.unique(table.query[table.found[:, run]])), 1)


def _hits_at_ranks(table: RankTable, run: int) -> Array:
    rows = np.flatnonzero(table.found[:, run])
    at = table.ranks[rows, run].astype(np.int64) - 1
    return np.bincount(at, weights=_relevant(table)[rows], minlength=1)


def _share_at_ranks(table: RankTable, run: int) -> Array:
    rows = np.flatnonzero(table.found[:, run])
    lists = np.bincount(table.ranks[rows, run].astype(np.int64) - 1, minlength=1)
    return _hits_at_ranks(table, run) / np.maximum(lists, 1)
