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

    def learn(self, table: RankTable) -> list[Array]:
        return [self.values(table, run, np.flatnonzero(table.found[:, run])) for run in range(table.runs)]

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        """The values of a run from a table with ``relevant``, and the rows that the run retrieved."""
        raise TypeError(f"{type(self).__name__} does not learn")

    def scores_with(self, table: RankTable, learned: list[Array]) -> Array:
        out = np.zeros(len(table))
        for run, values in enumerate(learned):
            rows = np.flatnonzero(table.found[:, run])
            out[rows] += self.value(table, rows, run, values)
        return out

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        """The contribution of a run to these rows: by default the value at the rank, 0 beyond the ranks of the training."""
        at = _at(table, rows, run)
        return np.where(at < len(values), values[np.minimum(at, len(values) - 1)], 0.0)


class PosFuse(_Trained, aliases=("posfuse",)):
    """The sum over runs of the share of training queries with a relevant document at this rank."""

    source = "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion, Estimating probabilities for effective data fusion, SIGIR 2010"

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        return _hits(table, run, rows) / np.maximum(np.bincount(_at(table, rows, run), minlength=1), 1)


class SlideFuse(PosFuse, aliases=("slidefuse",)):
    """Like PosFuse, averaged over the neighbouring ranks within a window on each side."""

    window: Annotated[int, Param("ranks on each side", low=0)] = 5
    source = "Lillis, Toolan, Collier and Dunnion, Extending probabilistic data fusion using sliding windows, ECIR 2008"

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        at, length = _at(table, rows, run), table.retrieved[rows, run].astype(np.int64)
        first, last = np.maximum(at - self.window, 0), np.minimum(at + self.window, length - 1)
        sums = np.append(0.0, np.cumsum(values))
        until = np.minimum(last + 1, len(values))
        return np.asarray((sums[until] - sums[np.minimum(first, until)]) / (last - first + 1))


class BayesFuse(_Trained, aliases=("bayesfuse",)):
    """The sum of log odds that a document at this rank of a run is relevant. A run that did not retrieve it adds ln(0.001 / 0.999)."""

    source = "Aslam and Montague, Models for metasearch, SIGIR 2001"
    ends = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        shares = _shares_of_segments(table, run, rows, self.ends)
        shares = np.where(shares == 0, 0.001, shares)
        return np.asarray(np.log(shares / np.where(shares == 1, 0.001, 1.0 - shares)))

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        return np.asarray(values[np.minimum(_at(table, rows, run), len(values) - 1)] - MISSING)

    def scores_with(self, table: RankTable, learned: list[Array]) -> Array:
        return super().scores_with(table, learned) + MISSING * len(learned)


MISSING = float(np.log(0.001 / 0.999))


class ProbFuse(_Trained, aliases=("probfuse",)):
    """The sum over runs of the share of relevant documents in this segment of the list, divided by the segment's number."""

    segments: Annotated[int, Param("equal segments of each list", low=1)] = 25
    source = "Lillis, Toolan, Collier and Dunnion, ProbFuse: a probabilistic approach to data fusion, SIGIR 2006"

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        key, many = (
            table.query[rows] * self.segments + self._segment(table, rows, run),
            len(table.sizes) * self.segments,
        )
        hits = np.bincount(key, weights=_relevant(table)[rows], minlength=many)
        shares = (hits / np.maximum(np.bincount(key, minlength=many), 1)).reshape(-1, self.segments)
        return np.asarray(shares.sum(axis=0) / _lists(table, rows))

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

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        return _shares_of_segments(table, run, rows, self.ends)

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        return np.asarray(super().value(table, rows, run, values) * (table.scores[rows, run] + 1.0))


class MAPFuse(_Trained, aliases=("mapfuse",)):
    """The sum over runs of their mean average precision in training, divided by the rank."""

    source = "Lillis, Zhang, Toolan, Collier, Leonard and Dunnion, Estimating probabilities for effective data fusion, SIGIR 2010"

    def values(self, table: RankTable, run: int, rows: Array) -> Array:
        if table.known is None:
            raise TypeError("training needs the number of relevant documents per query")
        rows = rows[_relevant(table)[rows] > 0]
        rows = rows[np.lexsort((table.ranks[rows, run], table.query[rows]))]
        query = table.query[rows]
        before = np.arange(len(rows)) - np.searchsorted(query, query)
        total = np.bincount(query, weights=(before + 1.0) / table.ranks[rows, run], minlength=len(table.sizes))
        return np.array([np.divide(total, table.known, out=np.zeros(len(total)), where=table.known > 0).mean()])

    def value(self, table: RankTable, rows: Array, run: int, values: Array) -> Array:
        return np.asarray(values[0] / table.ranks[rows, run])


def _relevant(table: RankTable) -> Array:
    if table.relevant is None:
        raise TypeError("training needs judgments")
    return table.relevant


def _lists(table: RankTable, rows: Array) -> int:
    """The number of queries of some rows, at least 1."""
    return max(len(np.unique(table.query[rows])), 1)


def _at(table: RankTable, rows: Array, run: int) -> Array:
    return np.asarray(table.ranks[rows, run].astype(np.int64) - 1)


def _hits(table: RankTable, run: int, rows: Array) -> Array:
    return np.bincount(_at(table, rows, run), weights=_relevant(table)[rows], minlength=1)


def _shares_of_segments(table: RankTable, run: int, rows: Array, ends: tuple[int, ...]) -> Array:
    """The share of relevant documents in the segment of each rank, for segments of ranks with these ends."""
    hits, sizes = _hits(table, run, rows), np.diff((0, *ends))
    sums = [hits[end - size : end].sum() for end, size in zip(ends, sizes.tolist(), strict=True)]
    return np.repeat(sums / sizes / _lists(table, rows), sizes)
