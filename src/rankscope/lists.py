"""Judged rankings of many queries, as flat lists and as a rectangle.

``Judged`` is what an engine hands over: for each query its judged documents, laid end to end.
``Lists`` is what a metric sees: a row is a query, a column is the j-th judged document that was
retrieved, in rank order, with its rank beside it. Documents nobody judged take no cell; they show
only as gaps between ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged documents of each query, end to end, those retrieved first and in rank order.

    ``size[i]`` documents belong to query ``i``, of which the first ``found[i]`` were retrieved.
    ``rank`` is 1-based, and 0 where the document was not retrieved. ``tie_start`` and ``tie_size``
    tell the first rank and the number of the documents that share its score. ``retrieved`` counts
    all documents retrieved for the query, judged or not.
    """

    query_id: Sequence[str]
    retrieved: Array
    size: Array
    found: Array
    grade: Array
    rank: Array
    tie_start: Array
    tie_size: Array
    score: Array | None = None

    def __len__(self) -> int:
        return len(self.retrieved)

    @cached_property
    def start(self) -> Array:
        """Where each query's documents begin."""
        return np.cumsum(self.size) - self.size

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers."""
        rows, inside = _cells(self.start[queries], self.size[queries])
        at = rows[inside]
        return Judged(
            query_id=[self.query_id[int(q)] for q in queries],
            retrieved=self.retrieved[queries],
            size=self.size[queries],
            found=self.found[queries],
            grade=self.grade[at],
            rank=self.rank[at],
            tie_start=self.tie_start[at],
            tie_size=self.tie_size[at],
            score=None if self.score is None else self.score[at],
        )

    def lists(self, queries: Array) -> Lists:
        """The rectangle of the queries with these numbers."""
        start, size, found = self.start[queries], self.size[queries], self.found[queries]
        cells, shown = _cells(start, found)
        pool, judged = _cells(start, size)
        grade = self.grade[pool] if len(self.grade) else np.zeros(pool.shape)
        ideal = -np.sort(-np.where(judged, grade, -np.inf), axis=1)
        ideal = np.where(judged, ideal, 0.0)

        def cell(values: Array, padding: float) -> Array:
            if not len(values):
                return np.full(cells.shape, padding, dtype=values.dtype)
            return np.where(shown, values[cells], padding).astype(values.dtype)

        return Lists(
            grade=cell(self.grade, 0.0),
            rank=cell(self.rank, 1),
            shown=shown,
            retrieved=self.retrieved[queries].astype(float),
            tie_start=cell(self.tie_start, 1),
            tie_size=cell(self.tie_size, 1),
            ideal=Ideal(ideal, judged),
        )

    def chunks(self, cells: int = 1_000_000) -> list[Array]:
        """Query numbers in groups of like size, so that no rectangle is much larger than its content."""
        order = np.argsort(self.size, kind="stable")
        groups: list[Array] = []
        first = 0
        while first < len(order):
            # the last of the group is the widest: stop where its width times the rows would be too much
            widths = np.maximum(self.size[order[first:]], 1)
            area = widths * np.arange(1, len(widths) + 1)
            stop = first + max(1, int(np.searchsorted(area, cells, side="right")))
            groups.append(order[first:stop])
            first = stop
        return groups


def _cells(start: Array, size: Array) -> tuple[Array, Array]:
    """For lists laid end to end, the flat index of each cell of a rectangle, and which cells hold one."""
    column = np.arange(max(int(size.max(initial=0)), 1))
    shown = column < size[:, None]
    return np.where(shown, start[:, None] + column, 0), shown


@dataclass(frozen=True, eq=False)
class Ideal:
    """The grades of all judged documents of each query, best first: what a perfect system would show."""

    grade: Array
    shown: Array


@dataclass(frozen=True, eq=False)
class Lists:
    """Rankings as a metric sees them; cells past the end of a row hold finite values and are not ``shown``."""

    grade: Array
    rank: Array
    shown: Array
    retrieved: Array
    tie_start: Array
    tie_size: Array
    ideal: Ideal
    uncut: Lists | None = None

    def __len__(self) -> int:
        return len(self.retrieved)

    @cached_property
    def judged(self) -> Array:
        """Cells of documents somebody graded (0 or more)."""
        return np.asarray(self.shown & (self.grade >= 0))

    @cached_property
    def pooled(self) -> Array:
        """Cells of documents that were pooled and left without a grade (negative)."""
        return np.asarray(self.shown & (self.grade < 0))

    def relevant(self, level: float) -> Array:
        """Cells of documents with at least this grade."""
        return np.asarray(self.judged & (self.grade >= level))

    def known(self, level: float) -> Array:
        """How many relevant documents each query has, found or not."""
        ideal = self.ideal
        return np.asarray((ideal.shown & (ideal.grade >= max(level, 0.0))).sum(axis=1), dtype=float)

    @cached_property
    def known_judged(self) -> Array:
        """How many documents of each query somebody graded (0 or more)."""
        return self.known(0.0)

    @property
    def whole(self) -> Lists:
        """The rankings before they were cut."""
        return self.uncut or self

    def top(self, cutoff: int | None) -> Lists:
        """The same rankings cut after this rank. What is true of the query, ``ideal``, is never cut."""
        if cutoff is None:
            return self
        return replace(
            self,
            shown=self.shown & (self.rank <= cutoff),
            retrieved=np.minimum(self.retrieved, cutoff),
            uncut=self.whole,
        )

    @cached_property
    def condensed(self) -> Lists:
        """The same rankings without the documents nobody graded, the gaps closed."""
        keep = self.judged
        place = running(keep)
        fresh = np.hstack([np.ones((len(self), 1), bool), self.tie_start[:, 1:] != self.tie_start[:, :-1]])
        start, size = _regroup(keep, place, np.cumsum(fresh, axis=1))
        return replace(
            self,
            rank=np.where(keep, place, 1).astype(np.int64),
            shown=keep,
            retrieved=place[:, -1],
            tie_start=np.where(keep, start, 1).astype(np.int64),
            tie_size=np.where(keep, size, 1).astype(np.int64),
        )


def _regroup(keep: Array, place: Array, group: Array) -> tuple[Array, Array]:
    """Start and size of each tied group, counting kept cells only."""
    rows = np.arange(len(keep))[:, None] * (int(group.max(initial=0)) + 1)
    key = (rows + group).ravel()
    size = np.bincount(key, weights=keep.ravel())[key].reshape(keep.shape)
    first = np.full(int(key.max(initial=0)) + 1, np.inf)
    np.minimum.at(first, key[keep.ravel()], place.ravel()[keep.ravel()])
    return first[key].reshape(keep.shape), size


def running(per_position: Array) -> Array:
    """The sum so far, one position after another, so that no query's numbers depend on its neighbours'."""
    return np.cumsum(per_position, axis=1, dtype=float)


def total(per_position: Array) -> Array:
    """The sum of each row, added in the order of ``running``."""
    return np.asarray(running(per_position)[:, -1])


def each(function: Callable[[float], float], values: Array) -> Array:
    """Apply a plain function to an array, once for each distinct value.

    Vector instructions may round a logarithm differently at the edge of an array than inside it; a
    value taken from a table cannot depend on where it stands.
    """
    distinct, number = np.unique(values, return_inverse=True)
    return np.array([function(v) for v in distinct.tolist()], dtype=float)[number.reshape(values.shape)]


def by_rank(weight: Callable[[int], float], rank: Array) -> Array:
    """A weight of the rank at every cell, computed once for each rank that occurs."""
    present = np.zeros(int(rank.max(initial=1)) + 1, dtype=bool)
    present[rank] = True
    table = np.zeros(len(present))
    for r in np.flatnonzero(present).tolist():
        table[r] = weight(r) if r else 0.0
    return table[rank]


def log2_discount(rank: int) -> float:
    """1 / log2(rank + 1)."""
    return 1.0 / math.log2(rank + 1)
