"""The rectangle that a metric sees: one row per query, one column per retrieved judged document, with its rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.lists.items import ShownLists
from rankscope.lists.sums import Array, running, total

SELECTED_SHARE = 4  # the first k of w documents are selected without a full sort if k <= w / SELECTED_SHARE


@dataclass(frozen=True, eq=False)
class Ideal:
    """The grades of all judged documents of each query, best first: the output of a perfect system.

    ``kept`` caches numbers that depend only on the judgments, for other metrics and runs.
    """

    grade: Array
    shown: Array
    kept: dict[Hashable, Array] = field(init=False, repr=False, default_factory=dict)

    def first(self, depth: int) -> Ideal:
        """The best ``depth`` documents of each query."""
        return Ideal(self.grade[:, :depth], self.shown[:, :depth])


class UnsortedIdeal(Ideal):
    """The grades of all judged documents of each query, sorted on first use down to the depth in use."""

    def __init__(self, find_rows: Callable[[], Array]) -> None:
        """Take a function that returns the grades in any order, NaN in empty cells."""
        vars(self).update(_find_rows=find_rows, kept={})

    @cached_property
    def _rows(self) -> Array:
        rows: Array = vars(self)["_find_rows"]()
        return rows

    @cached_property
    def _sorted(self) -> Array:
        return -np.sort(-self._rows.astype(float), axis=1)  # NaN is last

    @cached_property
    def shown(self) -> Array:
        """Cells that hold a grade."""
        return ~np.isnan(self._sorted)

    @cached_property
    def grade(self) -> Array:
        """The grades, best first. 0 past the last."""
        return np.where(self.shown, self._sorted, 0.0)

    def first(self, depth: int) -> Ideal:
        """The best ``depth`` documents of each query."""
        rows = self._rows
        if depth * SELECTED_SHARE > rows.shape[1] or "_sorted" in vars(self):
            return super().first(depth)
        # the smallest negated grades: to select the largest, with many zeros, takes five times longer
        least = np.partition(-rows.astype(float), depth - 1, axis=1)[:, :depth]
        best = -np.sort(least, axis=1)
        shown = ~np.isnan(best)
        return Ideal(np.where(shown, best, 0.0), shown)


@dataclass(frozen=True, eq=False)
class Pool:
    """All judged documents of each query with their grades by aspect, for metrics that need them.

    Retrieved documents come first, in their cells of ``Lists``. ``rank`` is 0 for the rest. ``aspects[q, d, a]`` is the grade of a
    document on an aspect (subtopic or judge), NaN if there is none. ``group[q, a]`` is the judge of an aspect, -1 past the
    last. ``by_id`` rises with the document's id. ``grade`` is the highest over all aspects.
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
    """Rankings as a metric sees them. Cells past the end of a row hold finite values and are not ``shown``.

    ``pool`` and ``items`` (every item shown) are set for metrics that declare them in ``needs``. They are never cut. ``chance`` is set in lists that hold every rank a
    tied document may take: the mean number of documents at the cell.
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
    items: ShownLists | None = None
    chance: Array | None = None
    spread_from: TieSpread | None = None
    # caches, empty in a copy
    _relevant: dict[float, Array] = field(init=False, repr=False, default_factory=dict)
    _spreads: dict[int | None, Lists] = field(init=False, repr=False, default_factory=dict)
    _tops: dict[int, Lists] = field(init=False, repr=False, default_factory=dict)
    _every: dict[int | None, tuple[Lists, ShownLists]] = field(init=False, repr=False, default_factory=dict)

    def __len__(self) -> int:
        return len(self.retrieved)

    @cached_property
    def judged(self) -> Array:
        """Cells of judged documents (grade 0 or more)."""
        return np.asarray(self.shown & (self.grade >= 0))

    @cached_property
    def pooled(self) -> Array:
        """Cells of documents that were pooled and left without a grade (negative)."""
        return np.asarray(self.shown & (self.grade < 0))

    def relevant(self, level: float) -> Array:
        """Cells of documents with at least this grade."""
        if level not in self._relevant:
            self._relevant[level] = np.asarray(self.judged & (self.grade >= level))
        return self._relevant[level]

    def relevant_so_far(self, level: float) -> Array:
        """The number of relevant documents at each cell and above."""
        return running(self.relevant(level)) if self.spread_from is None else self.spread_from.so_far(self, level)

    def first_relevant(self, level: float) -> Array:
        """The cell of the first relevant document. In spread lists, the chance of each cell to be it."""
        relevant = self.relevant(level)
        if self.spread_from is not None:
            return relevant * self.spread_from.none_above(self, level)
        return np.asarray(relevant & (running(relevant) == 1))

    def spread(self, upto: int | None = None) -> Lists:
        """Every rank that tied documents may take, with its chance, down to rank ``upto``."""
        if upto not in self._spreads:
            self._spreads[upto] = _spread(_Kinds.of(self), upto)
        return self._spreads[upto]

    def spreads(self, upto: int | None = None, level: float | None = None) -> Iterator[Lists]:
        """The same in parts, if one query has too many cells, as with ties of many different grades.

        With ``level``, grades only count as relevant or not.
        """
        kinds = None if len(self) != 1 or self.shown.size**2 <= MAX_SPREAD_CELLS else _Kinds.of(self)
        if kinds is not None and level is not None:
            grade = np.where(self.grade < 0, -1.0, np.where(self.grade >= level, max(level, 0.0), 0.0))
            kinds = _Kinds.of(replace(self, grade=grade))
        ends = None if kinds is None else np.cumsum(kinds.ranks(upto))
        if kinds is None or ends is None or not len(ends):
            yield self.spread(upto)
            return
        at = 0
        while at < len(ends):
            stop = max(at + 1, int(np.searchsorted(ends, ends[at] + MAX_SPREAD_CELLS)))
            yield _spread(kinds.only(slice(at, stop)), upto)
            at = stop

    def known(self, level: float) -> Array:
        """The number of relevant documents of each query, retrieved or not."""
        kept, name = self.ideal.kept, ("known", level)
        if name not in kept:
            kept[name] = (self.ideal.shown & (self.ideal.grade >= max(level, 0.0))).sum(axis=1).astype(float)
        return kept[name]

    @cached_property
    def known_judged(self) -> Array:
        """The number of judged documents of each query (grade 0 or more)."""
        return self.known(0.0)

    @property
    def aspects(self) -> Array:
        """The grade of each retrieved document on each aspect, NaN if there is none: ``pool.aspects`` at these cells."""
        assert self.pool is not None, "a metric of aspects declares them in `needs`"
        return np.where(self.shown[:, :, None], self.pool.aspects[:, : self.shown.shape[1]], np.nan)

    def of(self, queries: Array) -> Lists:
        """The rankings of some queries: only their grades and ranks."""
        names = ("grade", "rank", "shown", "retrieved", "tie_start", "tie_size")
        ideal = Ideal(self.ideal.grade[queries], self.ideal.shown[queries])
        return Lists(**{name: getattr(self, name)[queries] for name in names}, ideal=ideal)

    @property
    def whole(self) -> Lists:
        """The rankings before they were cut."""
        return self.uncut or self

    def every_item(self, cutoff: int | None) -> tuple[Lists, ShownLists]:
        """The rankings with a cell for every item shown, judged or not, and these items, down to the cutoff. Needs ``items``."""
        assert self.items is not None, "a metric of items declares them in `needs`"
        kept = self.whole._every
        if cutoff not in kept:  # shared by metrics of one cutoff
            items = self.items.top(cutoff)
            rank = np.broadcast_to(np.arange(1, items.code.shape[1] + 1), items.code.shape)
            one = np.broadcast_to(np.int64(1), rank.shape)
            grade = np.where(np.isnan(items.grade), -1.0, items.grade)
            kept[cutoff] = (
                replace(
                    self.whole, grade=grade, rank=rank, shown=items.shown, retrieved=total(items.shown), tie_start=rank,
                    tie_size=one, pool=None,
                ),
                items,
            )  # fmt: skip
        return kept[cutoff]

    def top(self, cutoff: int | None) -> Lists:
        """The same rankings cut after this rank. ``ideal`` is never cut."""
        if cutoff is None:
            return self
        if cutoff not in self._tops:  # shared by metrics of one cutoff
            shown, retrieved = self.shown & (self.rank <= cutoff), np.minimum(self.retrieved, cutoff)
            self._tops[cutoff] = replace(self, shown=shown, retrieved=retrieved, uncut=self.uncut or self)
        return self._tops[cutoff]

    def forget(self) -> None:
        """Drop cached rankings, which refer back to this one and would keep its memory until the next garbage collection."""
        condensed = [vars(self)["condensed"]] if "condensed" in vars(self) else []
        every = [made for made, _ in self._every.values()]
        for made in (*self._tops.values(), *self._spreads.values(), *every, *condensed):
            made.forget()
        self._tops.clear()
        self._every.clear()
        self._spreads.clear()

    @cached_property
    def condensed(self) -> Lists:
        """The same rankings without unjudged documents and gaps."""
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


class UnfilledLists(Lists):
    """Rankings whose cells are filled on first use: metrics of items need no cells."""

    @classmethod
    def later(cls, fill: Callable[[], dict[str, Array]], **known: Any) -> UnfilledLists:
        """Take a function that returns the columns of the cells, and the known attributes."""
        made = object.__new__(cls)
        vars(made).update(
            {one.name: one.default_factory() for one in fields(Lists) if one.default_factory is not MISSING}
        )
        vars(made).update(known, _fill=fill)
        return made

    def __getattr__(self, name: str) -> Any:
        """A column of the cells, or an attribute that is missing."""
        fill = vars(self).get("_fill")
        if fill is None or name not in {"grade", "rank", "shown", "tie_start", "tie_size"}:
            raise AttributeError(name)
        vars(self).update(fill())
        return vars(self)[name]


def _regroup(keep: Array, place: Array, group: Array) -> tuple[Array, Array]:
    """Start and size of each tied group, counting kept cells only."""
    rows = np.arange(len(keep))[:, None] * (int(group.max(initial=0)) + 1)
    key = (rows + group).ravel()
    size = np.bincount(key, weights=keep.ravel())[key].reshape(keep.shape)
    first = np.full(int(key.max(initial=0)) + 1, np.inf)
    np.minimum.at(first, key[keep.ravel()], place.ravel()[keep.ravel()])
    return first[key].reshape(keep.shape), size


# --- every rank a tied document may take, with its chance -------------------------------------------
#
# A document in a group of m ties is at each of the group's m ranks in 1/m of the orders. Earnings that depend
# only on grade and rank are therefore summed over (grade, rank) cells, each weighted with the chance of such a
# document at the cell; documents of one grade share their cells.


@dataclass(frozen=True, eq=False)
class TieSpread:
    """The origin of spread lists: the first and last column in ``source`` of the group of each cell."""

    source: Lists
    head: Array
    tail: Array

    def counts(self, level: float) -> tuple[Array, Array]:
        """Relevant documents above each cell's group, and in it."""
        relevant = self.source.relevant(level)
        so_far = running(relevant)
        rows = np.arange(len(so_far))[:, None]
        above = so_far[rows, self.head] - relevant[rows, self.head]
        return above, so_far[rows, self.tail] - above

    def so_far(self, lists: Lists, level: float) -> Array:
        """Relevant documents down to each cell, averaged over the orders with its document at this rank."""
        above, group = self.counts(level)
        here = lists.relevant(level)
        others = np.maximum(lists.tie_size - 1, 1)
        return np.asarray(above + here + (lists.rank - lists.tie_start) * (group - here) / others)

    def none_above(self, lists: Lists, level: float) -> Array:
        """The chance that no relevant document is above a relevant one at each cell."""
        above, group = self.counts(level)
        cells = np.nonzero(lists.relevant(level) & (above == 0))
        size, relevant = lists.tie_size[cells].astype(np.int64), group[cells].astype(np.int64)
        below = lists.rank[cells] - lists.tie_start[cells]
        most = int(size.max(initial=0)) + 1
        distinct, number = np.unique(size * most + relevant, return_inverse=True)
        deepest = np.zeros(len(distinct), dtype=np.int64)
        np.maximum.at(deepest, number, below)
        chances = [
            chance
            for key, deep in zip(distinct.tolist(), deepest.tolist(), strict=True)
            for chance in _chances_spared(key // most, key % most, deep)
        ]
        out = np.zeros(lists.shown.shape)
        out[cells] = np.array(chances)[(np.cumsum(deepest + 1) - deepest - 1)[number] + below] if chances else 0.0
        return out


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Documents of one grade in one tied group: ``row`` and ``first`` column of the group, ``grade``, and their number ``alike``."""

    lists: Lists
    fresh: Array
    row: Array
    first: Array
    grade: Array
    alike: Array

    @classmethod
    def of(cls, lists: Lists) -> _Kinds:
        lists = _pack(lists)
        columns = np.arange(lists.shown.shape[1])
        fresh = np.hstack([np.ones((len(lists), 1), bool), lists.tie_start[:, 1:] != lists.tie_start[:, :-1]])
        head = np.maximum.accumulate(np.where(fresh & lists.shown, columns, 0), axis=1)
        row, column = np.nonzero(lists.shown)
        first = head[row, column]
        order = np.lexsort((-lists.grade[row, column], first, row))
        row, column, first = row[order], column[order], first[order]
        grade = lists.grade[row, column]
        new = np.ones(len(row), dtype=bool)
        new[1:] = (row[1:] != row[:-1]) | (first[1:] != first[:-1]) | (grade[1:] != grade[:-1])
        at = np.flatnonzero(new)
        return cls(lists, fresh, row[at], first[at], grade[at], np.diff(np.append(at, len(row))))

    def ranks(self, upto: int | None) -> Array:
        """The number of ranks of each kind, down to ``upto``."""
        start, size = self.lists.tie_start[self.row, self.first], self.lists.tie_size[self.row, self.first]
        return size if upto is None else np.clip(upto + 1 - start, 0, size)

    def only(self, some: slice) -> _Kinds:
        """A slice of the kinds."""
        return replace(self, row=self.row[some], first=self.first[some], grade=self.grade[some], alike=self.alike[some])


def _spread(kinds: _Kinds, upto: int | None = None) -> Lists:
    """The same rankings as cells of a grade at a rank. ``chance`` is the mean number of documents at the cell."""
    lists, row, first, ranks = kinds.lists, kinds.row, kinds.first, kinds.ranks(upto)
    start, size = lists.tie_start[row, first], lists.tie_size[row, first]
    place = np.repeat(np.arange(len(row)), ranks)
    offset = np.arange(len(place)) - np.repeat(np.cumsum(ranks) - ranks, ranks)
    rank = start[place] + offset
    by = np.lexsort((place, rank, row[place]))
    place, rank = place[by], rank[by]
    width = np.bincount(row[place], minlength=len(lists))
    column = np.arange(len(place)) - np.repeat(np.cumsum(width) - width, width)
    cells = (row[place], column)
    shape = (len(lists), max(int(width.max(initial=0)), 1))

    def lay(values: Array, padding: float) -> Array:
        out = np.full(shape, padding, dtype=values.dtype)
        out[cells] = values
        return out

    last = _last_of_group(lists, kinds.fresh)
    heads = lay(first[place], 0)
    return replace(
        lists,
        grade=lay(kinds.grade[place], 0.0),
        rank=lay(rank.astype(np.int64), 1),
        shown=lay(np.ones(len(place), dtype=bool), False),
        tie_start=lay(start[place], 1),
        tie_size=lay(size[place], 1),
        chance=lay(kinds.alike[place] / size[place], 0.0),
        spread_from=TieSpread(lists, heads, last[np.arange(len(lists))[:, None], heads]),
    )


def with_columns(lists: Lists, columns: Array) -> Lists:
    """The same rankings with the cells in these columns of each row."""
    names = ("grade", "rank", "shown", "tie_start", "tie_size")
    cells: dict[str, Any] = {name: np.take_along_axis(getattr(lists, name), columns, 1) for name in names}
    return replace(lists, **cells)


def _pack(lists: Lists) -> Lists:
    """The same rankings with the shown cells of each row side by side."""
    if (lists.shown[:, 1:] <= lists.shown[:, :-1]).all():
        return lists
    return with_columns(lists, np.argsort(~lists.shown, axis=1, kind="stable"))


def _last_of_group(lists: Lists, fresh: Array) -> Array:
    """For each cell the last column of its group."""
    width = lists.shown.shape[1]
    ends = np.hstack([fresh[:, 1:] | ~lists.shown[:, 1:], np.ones((len(lists), 1), bool)])
    columns = np.where(ends, np.arange(width), width)
    return np.minimum.accumulate(columns[:, ::-1], axis=1)[:, ::-1]


MAX_SPREAD_CELLS = 1 << 20  # of the ties of one query in memory at once
CHANCE_BITS = 1200  # the range of a double, so that a chance is rounded only once


def _chances_spared(size: int, relevant: int, deepest: int) -> Iterator[float]:
    """The chances that none of ``relevant - 1`` others among ``size - 1`` is at the 0, 1, ... ``deepest`` ranks above.

    >>> list(_chances_spared(4, 2, 3))
    [1.0, 0.6666666666666666, 0.3333333333333333, 0.0]
    """
    one = chance = 1 << CHANCE_BITS
    others = size - relevant
    yield 1.0
    for above in range(deepest):
        # the next rank goes to one of the remaining documents
        chance = chance * max(others - above, 0) // max(size - 1 - above, 1)
        yield chance / one


def perfect(lists: Lists, worth: Callable[[Array], Array] | None = None) -> Lists:
    """The best possible rankings: all judged documents of each query and no others, in the order of their worth (default: the grade).

    Lists with ``pool`` (several grades per document) cannot be sorted by one number.
    """
    assert lists.pool is None, "documents with several grades have several best orders"
    grade, shown = lists.ideal.grade, lists.ideal.shown
    value = grade if worth is None else worth(grade)
    order = np.argsort(np.where(shown, -value, np.inf), axis=1, kind="stable")
    shown = np.take_along_axis(shown, order, 1)
    rank = np.where(shown, np.arange(1, shown.shape[1] + 1)[None, :], 1)
    return replace(
        lists,
        grade=np.where(shown, np.take_along_axis(grade, order, 1), 0.0),
        shown=shown,
        rank=rank,
        retrieved=shown.sum(axis=1).astype(float),
        tie_start=rank,
        tie_size=np.ones_like(rank),
        uncut=None,
        chance=None,
        spread_from=None,
    )
