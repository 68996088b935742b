"""Ranked lists that come as arrays, laid out as rectangles all together: no list is looked at alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.lists.judged import Aspects, Judged, chunks_of, judged_order, rectangle
from rankscope.lists.rectangle import Ideal, Lists
from rankscope.lists.sums import Array

IN_CACHE = 50_000  # cells of a rectangle from which several others are made while it is at hand
FEW = 4  # the first k of w documents are looked for without putting all in order where k is no more than w / FEW


@dataclass(frozen=True, eq=False)
class Batch:
    """Many lists end to end: the grade of each document, NaN where nobody judged it, and its score.

    List ``i`` holds ``size[i]`` documents from ``start[i]`` on. Without ``score`` they stand in rank order. ``missing`` are the grades of judged
    documents that are in no list, a row a list, NaN past the last. Grades keep the type they came in until they are laid out.
    """

    grade: Array
    score: Array | None
    start: Array
    size: Array
    missing: Array | None = None

    def __post_init__(self) -> None:
        """Scores become floats, which can be negated and hold NaN."""
        score = self.score
        if score is not None and (score.dtype.kind != "f" or score.dtype.itemsize not in {4, 8}):
            half = score.dtype.kind == "f" and score.dtype.itemsize < 4
            object.__setattr__(self, "score", score.astype(np.float32 if half else float))

    def __len__(self) -> int:
        return len(self.size)

    def of(self, queries: Array) -> Batch:
        """The lists with these numbers, of the same documents."""
        missing = None if self.missing is None else self.missing[queries]
        return Batch(self.grade, self.score, self.start[queries], self.size[queries], missing)

    def tied(self) -> Array:
        """The lists in which scores are equal."""
        out = np.zeros(len(self), dtype=bool)
        if self.score is not None:
            for chunk in chunks_of(self.size, IN_CACHE * FEW):
                score, inside = self.cells(self.score, chunk)
                rising = np.sort(score if inside is None else np.where(inside, score, np.nan), axis=1)
                out[chunk] = (rising[:, 1:] == rising[:, :-1]).any(axis=1)
        return out

    def cells(self, values: Array, queries: Array) -> tuple[Array, Array | None]:
        """A rectangle of the values of these lists, and which cells hold one: None where all do. No copy where none is needed."""
        start, size = self.start[queries], self.size[queries]
        count, width = len(size), int(size.max(initial=0))
        if width and (size == width).all():
            if (start == start[0] + width * np.arange(count)).all():
                return values[start[0] : start[0] + count * width].reshape(count, width), None
            return values[start[:, None] + np.arange(width)], None
        at, inside = rectangle(start, size)
        if not len(values):
            return np.zeros(at.shape), inside
        return values[at], inside


class UnsortedIdeal(Ideal):
    """The grades of all judged documents of each query, put in order when they are looked at, and only as far as needed."""

    def __init__(self, rows: Array) -> None:
        """``rows`` holds the grades in any order, NaN where there is none."""
        vars(self).update(_rows=rows, kept={})

    @cached_property
    def _sorted(self) -> Array:
        return _falling(vars(self)["_rows"])

    @cached_property
    def shown(self) -> Array:
        """Cells that hold a grade."""
        return ~np.isnan(self._sorted)

    @cached_property
    def grade(self) -> Array:
        """The grades, best first; 0 past the last."""
        return np.where(self.shown, self._sorted, 0.0)

    def first(self, depth: int) -> Ideal:
        """The best ``depth`` documents of each query."""
        rows = vars(self)["_rows"]
        width = rows.shape[1]
        if depth * FEW > width or "_sorted" in vars(self):
            return super().first(depth)
        # the least of the negated grades: the most of the grades, which are mostly 0, take five times as long to find
        least = np.partition(-rows.astype(float), depth - 1, axis=1)[:, :depth]
        best = -np.sort(least, axis=1)  # NaN is last in both
        shown = ~np.isnan(best)
        return Ideal(np.where(shown, best, 0.0), shown)


def _falling(rows: Array) -> Array:
    """The values of each row in falling order as doubles, NaN last."""
    return -np.sort(-rows.astype(float), axis=1)


class RankedBatch(Judged):
    """A batch in the order of its scores: what an engine hands over, made into rectangles straight from the arrays.

    Among equal scores the document that stands first in its list is ranked first, or with ``last_first`` the last. Rankings end at
    ``depth``. No metric looks below rank ``reach`` of what is retrieved (None: some may), so nothing below is laid out. ``flat``
    has the same document by document, for what needs more than rectangles.
    """

    def __init__(
        self,
        batch: Batch,
        *,
        last_first: bool = False,
        depth: int | None = None,
        reach: int | None = None,
        query_id: Sequence[str] | None = None,
    ) -> None:
        retrieved = batch.size if depth is None else np.minimum(batch.size, depth)
        vars(self).update(batch=batch, last_first=last_first, depth=depth, reach=reach, retrieved=retrieved)
        wider = 0 if batch.missing is None else batch.missing.shape[1]
        if query_id is not None:
            vars(self)["query_id"] = query_id
        vars(self).update(size=batch.size + wider, aspects=None, by_id=None, scored={})

    def __getattr__(self, name: str) -> Any:
        """What is told document by document is worked out when it is asked for."""
        if name in {"in_run", "grade", "rank", "tie_start", "tie_size", "score"}:
            return getattr(self.flat, name)
        if name == "query_id":
            return vars(self).setdefault(name, [str(i) for i in range(len(self.retrieved))])
        raise AttributeError(name)

    def chunks(self, cells: int = 0) -> list[Array]:
        """Query numbers in groups of like size, whose rectangles fit the processor's cache."""
        return chunks_of(self.size, cells or (IN_CACHE if vars(self)["reach"] is None else IN_CACHE * FEW))

    def within(self, reach: int | None) -> RankedBatch:
        """The same for metrics that look no further than this rank."""
        mine = {name: vars(self)[name] for name in ("batch", "last_first", "depth")}
        return RankedBatch(**mine, reach=reach, query_id=vars(self).get("query_id"))

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers, which may be repeated."""
        return self.flat.of(queries)

    def lists(self, queries: Array) -> Lists:
        """The rectangle of the queries with these numbers."""
        return self._lay_out(queries, self.depth, self.reach)[0]

    def _lay_out(self, queries: Array, depth: int | None, reach: int | None) -> tuple[Lists, Array]:
        """The rectangle down to a rank, and the place in its list of the document at each cell."""
        batch: Batch = vars(self)["batch"]
        grade, inside = batch.cells(batch.grade, queries)
        width = grade.shape[1]
        most = min([width, *(limit for limit in (depth, reach) if limit is not None)])
        score = None if batch.score is None else batch.cells(batch.score, queries)[0]
        size = batch.size[queries]
        rank = np.broadcast_to(np.arange(1, most + 1), (len(size), most))
        shown = rank <= size[:, None]
        ties = None
        if score is None:
            at, graded = rank - 1, grade[:, :most].astype(float)
        else:
            at, ties = in_order(score, inside, most, last_first=vars(self)["last_first"])
            graded = np.take_along_axis(grade, at, 1).astype(float)
        shown &= ~np.isnan(graded)
        start, alike = (rank, np.broadcast_to(1, rank.shape)) if ties is None else ties
        lists = Lists(
            grade=np.where(shown, graded, 0.0), rank=rank, shown=shown,
            retrieved=(size if depth is None else np.minimum(size, depth)).astype(float),
            tie_start=start, tie_size=alike, ideal=self._ideal(queries, grade, inside),
        )  # fmt: skip
        return _without_gaps(lists, at, size)

    def _ideal(self, queries: Array, grade: Array, inside: Array | None) -> Ideal:
        missing = vars(self)["batch"].missing
        rows = grade if inside is None else np.where(inside, grade, np.nan)
        return UnsortedIdeal(rows if missing is None else np.hstack([rows, missing[queries]]))

    @cached_property
    def flat(self) -> Judged:
        """The same document by document."""
        batch: Batch = vars(self)["batch"]
        parts, count = [np.empty((6, 0))], len(batch)
        for chunk in self.chunks():
            lists, at = self._lay_out(chunk, None, None)
            row, column = np.nonzero(lists.shown)
            place = batch.start[chunk][row] + at[row, column]
            score = 1.0 - lists.rank[row, column] if batch.score is None else batch.score[place]
            cells = (lists.grade, lists.rank, lists.tie_start, lists.tie_size)
            parts.append(np.stack([chunk[row], *(values[row, column] for values in cells), score]))
        if batch.missing is not None:
            row, column = np.nonzero(~np.isnan(batch.missing))
            grade, none = batch.missing[row, column], np.zeros(len(row))
            parts.append(np.stack([row, grade, none, none, none + 1, none + np.nan]))
        query, grade, rank, start, alike, score = np.concatenate(parts, axis=1)
        by = judged_order(query.astype(np.int64), rank.astype(np.int64), grade)
        query, grade, rank, start, alike, score = (v[by] for v in (query, grade, rank, start, alike, score))
        number, plain = query.astype(np.int64), np.zeros(len(query), dtype=np.int64)
        return Judged(
            query_id=self.query_id, retrieved=batch.size.astype(np.int64),
            size=np.bincount(number, minlength=count), in_run=np.bincount(number[rank > 0], minlength=count),
            grade=grade, rank=rank.astype(np.int64), tie_start=start.astype(np.int64), tie_size=alike.astype(np.int64),
            score=score, aspects=Aspects(plain + 1, plain, plain, grade, "the list"),
        )  # fmt: skip


def _without_gaps(lists: Lists, at: Array, size: Array) -> tuple[Lists, Array]:
    """The cells that are shown side by side, as unjudged documents take none."""
    count = lists.shown.sum(axis=1)
    whole = np.minimum(size, lists.shown.shape[1])
    if (count == whole).all():
        return lists, at
    keep = np.argsort(~lists.shown, axis=1, kind="stable")[:, : max(int(count.max(initial=0)), 1)]

    def move(values: Array) -> Array:
        return np.take_along_axis(values, keep, 1)

    moved = Lists(
        move(lists.grade), move(lists.rank), move(lists.shown), lists.retrieved,
        move(lists.tie_start), move(lists.tie_size), lists.ideal,
    )  # fmt: skip
    return moved, move(at)


Ties = tuple[Array, Array] | None  # the first rank and the size of the tied group of each cell; None: nothing is tied


def in_order(score: Array, inside: Array | None, most: int, *, last_first: bool = False) -> tuple[Array, Ties]:
    """The columns of the ``most`` best scored cells of each row, best first, and their ties.

    ``inside`` marks the cells that hold a score (None: all); the others come last, in no particular order. What is quick is tried first:
    only rows in which scores are equal are put in order by a stable sort.

    >>> (
    ...     in_order(np.array([[0.1, 0.9, 0.9]]), None, 2)[0],
    ...     in_order(np.array([[0.1, 0.9, 0.9]]), None, 2, last_first=True)[0],
    ... )
    (array([[1, 2]]), array([[2, 1]]))
    """
    count, width = score.shape
    if most * FEW <= width:
        key = score if inside is None else np.where(inside, score, -np.inf)
        at = np.argpartition(key, width - most - 1, axis=1)[:, width - most - 1 :]
        best = np.take_along_axis(key, at, 1)
        order = np.argsort(-best, axis=1)
        falling = -np.take_along_axis(best, order, 1)
        at = np.take_along_axis(at, order, 1)[:, :most]
        tied = (falling[:, 1:] == falling[:, :-1]).any(axis=1)
    else:
        key = -score if inside is None else np.where(inside, -score, np.nan)
        at = np.argsort(key, axis=1)
        falling = np.take_along_axis(key, at, 1)
        at = at[:, :most]
        tied = (falling[:, 1:] == falling[:, :-1]).any(axis=1)
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
    """For keys in order, the first rank and the number of the equal ones around each."""
    column = np.arange(falling.shape[1])
    same = falling[:, 1:] == falling[:, :-1]
    edge = np.zeros((len(falling), 1), dtype=bool)
    first = np.maximum.accumulate(np.where(np.hstack([edge, same]), 0, column), axis=1)
    ends = np.where(np.hstack([same, edge]), len(column), column)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return first + 1, last - first + 1
