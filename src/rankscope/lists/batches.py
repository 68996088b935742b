"""Ranked lists in arrays, laid out as rectangles all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankscope.lists.judged import Aspects, Judged, LazyJudged, chunks_of, judged_order, rectangle
from rankscope.lists.rectangle import SELECTED_SHARE, Lists, UnsortedIdeal, with_columns
from rankscope.lists.sums import Array

CACHED_CELLS = 50_000  # of a rectangle that stays in the processor's cache while others are made of it


@dataclass(frozen=True, eq=False)
class Batch:
    """Many lists end to end: the grade of each document (NaN: unjudged) and its score.

    List ``i`` has ``size[i]`` documents from ``start[i]`` on. The first ``listed[i]`` were retrieved (None: all). The rest are judged
    documents that the list misses. Without ``score`` they are in rank order. ``aspects`` holds several grades per document, and
    ``grade`` then the highest. Grades keep their type until they are laid out.
    """

    grade: Array
    score: Array | None
    start: Array
    size: Array
    listed: Array | None = None
    aspects: Aspects | None = None

    def __post_init__(self) -> None:
        """Convert scores to floats, which can be negated and hold NaN."""
        score = self.score
        if score is not None and (score.dtype.kind != "f" or score.dtype.itemsize not in {4, 8}):
            half = score.dtype.kind == "f" and score.dtype.itemsize < 4
            object.__setattr__(self, "score", score.astype(np.float32 if half else float))

    def __len__(self) -> int:
        return len(self.size)

    @property
    def retrieved(self) -> Array:
        """The number of retrieved documents of each list."""
        return self.size if self.listed is None else self.listed

    def of(self, queries: Array) -> Batch:
        """The lists with these numbers, of the same documents."""
        listed = None if self.listed is None else self.listed[queries]
        return Batch(self.grade, self.score, self.start[queries], self.size[queries], listed, self.aspects)

    def with_missing(self, count: Array, grade: float) -> Batch:
        """The same lists, each with this many more documents of a grade that were not retrieved."""
        size = self.size + count
        start = np.cumsum(size) - size
        (old, inside), (new, _) = rectangle(self.start, self.size), rectangle(start, self.size)
        grades = np.full(int(size.sum()), grade)
        grades[new[inside]] = self.grade[old[inside]]
        score = self.score
        if score is not None:
            score = np.full(len(grades), np.nan)
            score[new[inside]] = self.score[old[inside]]  # type: ignore[index]
        return Batch(grades, score, start, size, self.size)

    def tied(self) -> Array:
        """The lists with ties."""
        out = np.zeros(len(self), dtype=bool)
        if self.score is not None:
            for chunk in chunks_of(self.size, CACHED_CELLS * SELECTED_SHARE):
                score, inside = self.cells(self.score, chunk)
                rising = np.sort(score if inside is None else np.where(inside, score, np.nan), axis=1)
                out[chunk] = (rising[:, 1:] == rising[:, :-1]).any(axis=1)
        return out

    def cells(self, values: Array, queries: Array) -> tuple[Array, Array | None]:
        """A rectangle of the values of these lists, and a mask of its filled cells, None if all are filled. Copies only if needed."""
        start, size = self.start[queries], self.size[queries]
        count, width = len(size), int(size.max(initial=0))
        if width and (size == width).all():
            if (start == start[0] + width * np.arange(count)).all():
                return values[start[0] : start[0] + count * width].reshape(count, width), None
            return values[start[:, None] + np.arange(width)], None
        at, inside = rectangle(start, size)
        return (values[at] if len(values) else np.zeros(at.shape)), inside


class RankedBatch(LazyJudged):
    """A batch ranked by its scores, made into rectangles straight from the arrays.

    Among ties the first document of the list is ranked first, or the last one with ``last_first``. Rankings end at ``depth``.
    No metric looks below rank ``reach`` (None: some may), so no cell below is laid out.
    """

    batch: Batch
    last_first: bool
    depth: int | None
    reach: int | None

    def __init__(
        self,
        batch: Batch,
        *,
        last_first: bool = False,
        depth: int | None = None,
        reach: int | None = None,
        query_id: Sequence[str] | None = None,
    ) -> None:
        retrieved = batch.retrieved if depth is None else np.minimum(batch.retrieved, depth)
        ids = {} if query_id is None else {"query_id": query_id}
        super().__init__(
            batch=batch, last_first=last_first, depth=depth, reach=reach, retrieved=retrieved, size=batch.size, **ids
        )

    @cached_property
    def query_id(self) -> Sequence[str]:
        """The numbers of the queries, if they have no ids."""
        return [str(i) for i in range(len(self))]

    def chunks(self, cells: int = 0) -> list[Array]:
        """Query numbers in groups of similar size, whose rectangles fit the processor's cache."""
        return chunks_of(self.size, cells or (CACHED_CELLS if self.reach is None else CACHED_CELLS * SELECTED_SHARE))

    def within(self, reach: int | None) -> RankedBatch:
        """The same for metrics that look no further than this rank."""
        ids = vars(self).get("query_id")
        return RankedBatch(self.batch, last_first=self.last_first, depth=self.depth, reach=reach, query_id=ids)

    def lists(self, queries: Array) -> Lists:
        """The rectangle of the queries with these numbers."""
        return self._lay_out(queries, self.depth, self.reach)[0]

    def _lay_out(self, queries: Array, depth: int | None, reach: int | None) -> tuple[Lists, Array]:
        """The rectangle down to a rank, and the place in its list of the document at each cell."""
        batch = self.batch
        grade, inside = batch.cells(batch.grade, queries)
        listed = batch.retrieved[queries]
        widest = grade.shape[1] if batch.listed is None else int(listed.max(initial=1))
        most = min([widest, *(limit for limit in (depth, reach) if limit is not None)])
        rank = np.broadcast_to(np.arange(1, most + 1), (len(listed), most))
        shown = rank <= listed[:, None]
        ties = None
        if batch.score is None:
            at, graded = rank - 1, grade[:, :most].astype(float)
        else:
            retrieved = inside if batch.listed is None else np.arange(grade.shape[1]) < listed[:, None]
            at, ties = in_order(batch.cells(batch.score, queries)[0], retrieved, most, last_first=self.last_first)
            graded = np.take_along_axis(grade, at, 1).astype(float)
        shown &= ~np.isnan(graded)
        start, alike = (rank, np.broadcast_to(1, rank.shape)) if ties is None else ties
        lists = Lists(
            grade=np.where(shown, graded, 0.0), rank=rank, shown=shown,
            retrieved=(listed if depth is None else np.minimum(listed, depth)).astype(float),
            tie_start=start, tie_size=alike,
            ideal=UnsortedIdeal(lambda: grade if inside is None else np.where(inside, grade, np.nan)),
        )  # fmt: skip
        return _without_gaps(lists, at, listed)

    @cached_property
    def flat(self) -> Judged:
        """The same document by document, of whole lists."""
        batch, count = self.batch, len(self.batch)
        parts = [np.empty((7, 0))]
        for chunk in self.chunks():
            lists, at = self._lay_out(chunk, None, None)
            row, column = np.nonzero(lists.shown)
            place = batch.start[chunk][row] + at[row, column]
            score = 1.0 - lists.rank[row, column] if batch.score is None else batch.score[place]
            cells = (lists.grade, lists.rank, lists.tie_start, lists.tie_size)
            parts.append(np.stack([chunk[row], *(values[row, column] for values in cells), score, place]))
        if batch.listed is not None:
            missing, inside = rectangle(batch.start + batch.listed, batch.size - batch.listed)
            row, place = np.nonzero(inside)[0], missing[inside]
            none = np.zeros(len(row))
            parts.append(np.stack([row, batch.grade[place], none, none, none + 1, none + np.nan, place]))
        columns = np.concatenate(parts, axis=1)
        number = columns[0].astype(np.int64)
        by = judged_order(number, columns[2].astype(np.int64), columns[1])
        number, (grade, score) = number[by], columns[[1, 5]][:, by]
        rank, start, alike, place = columns[[2, 3, 4, 6]][:, by].astype(np.int64)
        plain = np.zeros(len(number), dtype=np.int64)
        one_each = Aspects(plain + 1, plain, plain, grade, "the list")
        return Judged(
            query_id=self.query_id, retrieved=batch.retrieved.astype(np.int64),
            size=np.bincount(number, minlength=count), in_run=np.bincount(number[rank > 0], minlength=count),
            grade=grade, rank=rank, tie_start=start, tie_size=alike, score=score,
            aspects=one_each if batch.aspects is None else batch.aspects.at(place),
        )  # fmt: skip


def _without_gaps(lists: Lists, at: Array, listed: Array) -> tuple[Lists, Array]:
    """The same with the shown cells of each row side by side, as unjudged documents take no cell."""
    count = lists.shown.sum(axis=1)
    if (count == np.minimum(listed, lists.shown.shape[1])).all():
        return lists, at
    keep = np.argsort(~lists.shown, axis=1, kind="stable")[:, : max(int(count.max(initial=0)), 1)]
    return with_columns(lists, keep), np.take_along_axis(at, keep, 1)


Ties = tuple[Array, Array] | None  # first rank and size of the tied group of each cell; None: no ties


def in_order(score: Array, inside: Array | None, most: int, *, last_first: bool = False) -> tuple[Array, Ties]:
    """The columns of the ``most`` best scored cells of each row, best first, and their ties.

    ``inside`` marks the cells that hold a score (None: all). The others come last, in no particular order. Only rows with ties take
    a stable sort.

    >>> in_order(np.array([[0.1, 0.9, 0.9]]), None, 2)[0]
    array([[1, 2]])
    >>> in_order(np.array([[0.1, 0.9, 0.9]]), None, 2, last_first=True)[0]
    array([[2, 1]])
    """
    count, width = score.shape
    if most * SELECTED_SHARE <= width:
        key = score if inside is None else np.where(inside, score, -np.inf)
        at = np.argpartition(key, width - most - 1, axis=1)[:, width - most - 1 :]
        best = np.take_along_axis(key, at, 1)
        order = np.argsort(-best, axis=1)
        falling = -np.take_along_axis(best, order, 1)
        at = np.take_along_axis(at, order, 1)
    else:
        key = -score if inside is None else np.where(inside, -score, np.nan)
        at = np.argsort(key, axis=1)
        falling = np.take_along_axis(key, at, 1)
    at, tied = at[:, :most], (falling[:, 1:] == falling[:, :-1]).any(axis=1)
    if not tied.any():
        return at, None
    start = np.tile(np.arange(1, most + 1), (count, 1))
    size = np.ones((count, most), dtype=np.int64)
    rows = np.flatnonzero(tied)
    key = -score[rows] if inside is None else np.where(inside[rows], -score[rows], np.nan)
    if last_first:
        key = key[:, ::-1]
    place = np.argsort(key, axis=1, kind="stable")
    first, alike = _groups(np.take_along_axis(key, place, 1))
    at[rows] = (width - 1 - place if last_first else place)[:, :most]
    start[rows], size[rows] = first[:, :most], alike[:, :most]
    return at, (start, size)


def _groups(falling: Array) -> tuple[Array, Array]:
    """The first rank and the size of the group of ties around each sorted key."""
    column = np.arange(falling.shape[1])
    same = falling[:, 1:] == falling[:, :-1]
    edge = np.zeros((len(falling), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, same]), 0, column), axis=1)
    ends = np.where(np.hstack([same, edge]), len(column), column)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return first + 1, last - first + 1
