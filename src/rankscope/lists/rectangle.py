"""Rankings as a rectangle: what a metric sees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankscope.lists.sums import Array, running

if TYPE_CHECKING:
    from rankscope.lists.spread import Spread


@dataclass(frozen=True, eq=False)
class Ideal:
    """The grades of all judged documents of each query, best first: what a perfect system would show."""

    grade: Array
    shown: Array


@dataclass(frozen=True, eq=False)
class Pool:
    """All judged documents of each query with their grades by aspect, for metrics that need those.

    The retrieved ones stand first, in the cells that they have in ``Lists``; ``rank`` is 0 for the rest.
    ``aspects[q, d, a]`` is the grade of a document on an aspect (subtopic or judge), NaN where there is none;
    ``group[q, a]`` is the judge an aspect belongs to, -1 past the last. ``by_id`` rises with the
    document's id. ``grade`` is the highest over all aspects.
    """

    grade: Array
    rank: Array
    shown: Array
    by_id: Array
    aspects: Array
    group: Array
    where: str = ""


@dataclass(frozen=True, eq=False)
class Lists:
    """Rankings as a metric sees them; cells past the end of a row hold finite values and are not ``shown``.

    ``pool`` is there for metrics that say so in ``needs``; it is never cut. ``chance`` is there in lists that
    hold every place a tied document may take: how many documents stand at the cell, in the mean.
    """

    grade: Array
    rank: Array
    shown: Array
    retrieved: Array
    tie_start: Array
    tie_size: Array
    ideal: Ideal
    uncut: Lists | None = None
    pool: Pool | None = None
    chance: Array | None = None
    spread_from: Spread | None = None

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

    def relevant_so_far(self, level: float) -> Array:
        """How many relevant documents stand at each cell and above it."""
        return (
            running(self.relevant(level))
            if self.spread_from is None
            else self.spread_from.so_far(self, level)
        )

    def first_relevant(self, level: float) -> Array:
        """The cell of the first relevant document; where places are shared, the chance to be it."""
        relevant = self.relevant(level)
        if self.spread_from is not None:
            return relevant * self.spread_from.none_above(self, level)
        return np.asarray(relevant & (running(relevant) == 1))

    @cached_property
    def _spreads(self) -> dict[int | None, Lists]:
        return {}

    def spread(self, upto: int | None = None) -> Lists:
        """Every place that tied documents may take, each with its chance; only ranks ``upto`` this one where it is given."""
        from rankscope.lists.spread import spread

        if upto not in self._spreads:
            self._spreads[upto] = spread(self, upto)
        return self._spreads[upto]

    def known(self, level: float) -> Array:
        """How many relevant documents each query has, found or not."""
        ideal = self.ideal
        return np.asarray((ideal.shown & (ideal.grade >= max(level, 0.0))).sum(axis=1), dtype=float)

    @cached_property
    def known_judged(self) -> Array:
        """How many documents of each query somebody graded (0 or more)."""
        return self.known(0.0)

    @property
    def aspects(self) -> Array:
        """The grade of each retrieved document on each aspect, NaN where there is none: ``pool.aspects`` of these cells."""
        assert self.pool is not None, "a metric that looks at aspects says so in `needs`"
        return np.where(self.shown[:, :, None], self.pool.aspects[:, : self.shown.shape[1]], np.nan)

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
