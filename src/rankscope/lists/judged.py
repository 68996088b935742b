"""Judged documents of many queries, end to end: the output of an engine."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.lists.ids import Ids
from rankscope.lists.items import Shown
from rankscope.lists.rectangle import Lists, Pool, UnfilledLists, UnsortedIdeal
from rankscope.lists.sums import Array

OF_QUERIES = ("retrieved", "size", "in_run")
OF_DOCUMENTS = ("grade", "rank")
OF_TIES = ("tie_start", "tie_size")
MAX_QUERIES = 1 << 16  # gathered at once
MAX_LEXSORT = 4096  # documents; more are sorted by one number
MAX_GRADE_SPAN = 1 << 20  # of whole grades that are sorted as numbers


@dataclass(frozen=True, eq=False)
class Aspects:
    """Several grades per document, by aspect: by subtopic of the query, or by judge.

    Judged document ``i`` has ``count[i]`` entries, one after another. ``aspect`` numbers the aspects of a query from 0, and
    ``group`` their judges: every aspect has its own group, unless one judge gave preferences in several parts. ``where`` names the
    source of the aspects in messages.
    """

    count: Array
    aspect: Array
    group: Array
    grade: Array
    where: str = ""

    def at(self, rows: Array) -> Aspects:
        """The entries of these documents."""
        start = np.cumsum(self.count) - self.count
        cells, inside = rectangle(start[rows], self.count[rows])
        at = cells[inside]
        return Aspects(self.count[rows], self.aspect[at], self.group[at], self.grade[at], self.where)

    @classmethod
    def join(cls, parts: Sequence[Aspects]) -> Aspects:
        """The entries of several parts end to end."""
        names = ("count", "aspect", "group", "grade")
        columns: dict[str, Array] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(**columns, where=parts[0].where)

    @cached_property
    def width(self) -> int:
        """The largest number of aspects of a query."""
        return int(self.aspect.max(initial=0)) + 1


@dataclass(frozen=True, eq=False)
class Judged:
    """The judged documents of each query end to end, retrieved ones first and in rank order.

    Query ``i`` has ``size[i]`` documents, of which the first ``in_run[i]`` were retrieved. ``rank`` is 1-based, and 0 if the
    document was not retrieved. ``tie_start`` and ``tie_size`` are the first rank and the number of documents with the same score.
    ``retrieved`` counts all documents retrieved for the query, judged or not. ``score``, ``aspects`` and ``by_id`` (the place of the
    document among the query's judged ones, sorted by id) are set if a metric needs them. ``shown`` has every item shown, judged or not,
    for metrics of items. ``scored`` holds values already computed, by metric.
    """

    query_id: Sequence[str]
    retrieved: Array
    size: Array
    in_run: Array
    grade: Array
    rank: Array
    tie_start: Array
    tie_size: Array
    score: Array | None = None
    aspects: Aspects | None = None
    by_id: Array | None = None
    shown: Shown | None = None
    scored: dict[Hashable, Array] = field(init=False, repr=False, default_factory=dict)

    @classmethod
    def join(cls, parts: Sequence[Judged]) -> Judged:
        """The queries of several parts end to end."""
        if len(parts) == 1:
            return parts[0]
        columns = ("retrieved", "size", "in_run", "grade", "rank", "tie_start", "tie_size", "score", "by_id")
        held = [name for name in columns if getattr(parts[0], name) is not None]
        joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in held}
        aspects = [part.aspects for part in parts if part.aspects is not None]
        return Judged(
            query_id=Ids.join([part.query_id for part in parts]),
            **joined,
            aspects=Aspects.join(aspects) if aspects else None,
        )

    def __len__(self) -> int:
        return len(self.retrieved)

    @cached_property
    def start(self) -> Array:
        """The first document of each query."""
        return np.cumsum(self.size) - self.size

    @cached_property
    def query(self) -> Array:
        """The number of the query of each document."""
        return np.repeat(np.arange(len(self)), self.size)

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers, which may be repeated."""
        rows, inside = rectangle(self.start[queries], self.size[queries])
        at = rows[inside]
        return Judged(
            query_id=Ids.take(self.query_id, queries),
            retrieved=self.retrieved[queries],
            size=self.size[queries],
            in_run=self.in_run[queries],
            **self.documents(at),
            shown=None if self.shown is None else self.shown.of(queries),
        )

    def documents(self, at: Array) -> dict[str, Any]:
        """The columns of the documents at these places."""
        columns = {name: getattr(self, name) for name in ("grade", "rank", "tie_start", "tie_size", "score", "by_id")}
        picked = {name: None if values is None else values[at] for name, values in columns.items()}
        return {**picked, "aspects": None if self.aspects is None else self.aspects.at(at)}

    def lists(self, queries: Array) -> Lists:
        """The rectangle of the queries with these numbers."""
        start, size = self.start[queries], self.size[queries]

        def fill() -> dict[str, Array]:
            cells, shown = rectangle(start, self.in_run[queries])
            padding = {"grade": 0.0, "rank": 1, "tie_start": 1, "tie_size": 1}
            return {"shown": shown} | {
                name: _fill(getattr(self, name), cells, shown, pad) for name, pad in padding.items()
            }

        def pooled_grades() -> Array:
            return _fill(self.grade, *rectangle(start, size), math.nan)

        return UnfilledLists.later(
            fill,
            retrieved=self.retrieved[queries].astype(float),
            ideal=UnsortedIdeal(pooled_grades),
            pool=None if self.aspects is None else self._pool(*rectangle(start, size)),
            items=None if self.shown is None else self.shown.rectangle(queries),
        )

    def _pool(self, cells: Array, shown: Array) -> Pool:
        """All judged documents of these queries with their aspects, retrieved ones in their cells."""
        assert self.aspects is not None
        aspects = self.aspects.at(cells[shown])
        cell = np.repeat(np.flatnonzero(shown.ravel()), aspects.count)
        width = aspects.width
        cube = np.full((shown.size, width), np.nan)
        cube[cell, aspects.aspect] = aspects.grade
        group = np.full((len(shown), width), -1, dtype=np.int64)
        group[cell // shown.shape[1], aspects.aspect] = aspects.group
        by_id = np.arange(len(self.grade)) if self.by_id is None else self.by_id
        return Pool(
            grade=_fill(self.grade, cells, shown, 0.0),
            rank=_fill(self.rank, cells, shown, 0),
            shown=shown,
            by_id=_fill(by_id, cells, shown, -1),
            aspects=cube.reshape(*shown.shape, width),
            group=group,
            where=self.aspects.where,
        )

    def chunks(self, cells: int = 1 << 16) -> list[Array]:
        """Query numbers in groups of similar size, so that rectangles have little padding and stay in the processor's cache."""
        if self.aspects is not None:
            cells = 16 * cells // self.aspects.width
        if self.shown is not None:
            return chunks_of(np.maximum(self.size, self.shown.count), cells // 2)
        return chunks_of(self.size, cells)


class LazyJudged(Judged):
    """Judged documents in another layout, which become the columns of ``Judged`` only if one is read.

    A subclass implements ``flat``, and ``lists`` and ``chunks`` if its rectangles need no columns.
    """

    def __init__(self, **values: Any) -> None:
        vars(self).update(aspects=None, by_id=None, shown=None, scored={}, **values)

    def __getattr__(self, name: str) -> Any:
        """A column, or an attribute of the subclass that is missing."""
        if name in {"in_run", "grade", "rank", "tie_start", "tie_size"}:
            return getattr(self.flat, name)
        raise AttributeError(name)

    @cached_property
    def flat(self) -> Judged:
        """The same document by document."""
        raise TypeError(f"{type(self).__name__} defines no flat(): return its documents as one Judged")

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers, which may be repeated."""
        return self.flat.of(queries)


class NarrowJudged(Judged):
    """The same as ``Judged`` in a tenth of the memory.

    A column gets its usual type on first use. ``kept`` holds the narrow one. Without ties no columns of ties are kept.
    """

    kept: dict[str, Array]

    def __init__(self, **columns: Any) -> None:
        values = vars(self)  # the class is frozen
        values |= {"scored": {}, "score": None, "aspects": None, "by_id": None, "shown": None} | columns
        kept = {name: narrowed(values.pop(name)) for name in (*OF_QUERIES, *OF_DOCUMENTS)}
        start, size = (values.pop(name) for name in OF_TIES)
        if (size != 1).any() or (start != columns["rank"]).any():
            kept |= {"tie_start": narrowed(start), "tie_size": narrowed(size)}
        values["kept"] = kept

    @classmethod
    def narrow(cls, judged: Judged) -> Judged:
        """Return the documents in narrow columns, unless they have more than grades and ranks."""
        more = judged.aspects, judged.score, judged.by_id
        if isinstance(judged, NarrowJudged) or any(one is not None for one in more):
            return judged
        return cls(**{field.name: getattr(judged, field.name) for field in fields(judged) if field.init})

    @classmethod
    def join(cls, parts: Sequence[Judged]) -> Judged:
        """The queries of several parts end to end."""
        if len(parts) == 1 or not isinstance(parts[0], NarrowJudged):
            return Judged.join(parts)
        narrow = [part for part in map(cls.narrow, parts) if isinstance(part, NarrowJudged)]
        names = [*OF_QUERIES, *OF_DOCUMENTS, *(OF_TIES if any("tie_size" in part.kept for part in narrow) else ())]
        columns = {name: np.concatenate([part.held(name) for part in narrow]) for name in names}
        return cls._holding(Ids.join([part.query_id for part in narrow]), columns)

    @classmethod
    def _holding(cls, query_id: Sequence[str], kept: dict[str, Array]) -> NarrowJudged:
        made = cls.__new__(cls)
        vars(made).update(query_id=query_id, kept=kept, scored={}, score=None, aspects=None, by_id=None, shown=None)
        return made

    def __len__(self) -> int:
        return len(self.kept["retrieved"])

    def __getattr__(self, name: str) -> Array:
        """A column in its usual type, converted on first use."""
        kept = vars(self).get("kept", {})
        if name not in kept and not (kept and name in OF_TIES):
            raise AttributeError(name)
        kind = np.float64 if name == "grade" else np.int64
        wide: Array = vars(self).setdefault(name, self.held(name).astype(kind))
        return wide

    def held(self, name: str) -> Array:
        """A column in its narrow type."""
        if name in OF_TIES and name not in self.kept:
            rank = self.kept["rank"]
            return rank if name == "tie_start" else np.ones(len(rank), dtype=np.int8)
        return self.kept[name]

    def of(self, queries: Array) -> Judged:
        """The judged documents of the queries with these numbers, which may be repeated."""
        size = self.kept["size"]
        start = np.cumsum(size, dtype=np.int64) - size
        parts: dict[str, list[Array]] = {name: [self.kept[name][:0]] for name in self.kept}
        for at in range(0, len(queries), MAX_QUERIES):
            some = queries[at : at + MAX_QUERIES]
            rows, inside = rectangle(start[some], size[some])
            here = rows[inside]
            for name, columns_of_part in parts.items():
                columns_of_part.append(self.kept[name][some if name in OF_QUERIES else here])
        columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
        out = self._holding(Ids.take(self.query_id, queries), columns)
        return out if self.shown is None else with_shown(out, self.shown.of(queries))


def with_shown(judged: Judged, shown: Shown) -> Judged:
    """A copy of judged documents with every item shown."""
    out = copy(judged)
    vars(out).update(shown=shown, scored={})  # the class is frozen
    return out


def narrowed(values: Array) -> Array:
    """The same numbers in the smallest type that holds them."""
    if not len(values) or values.dtype.itemsize == 1:
        return values
    low, high = values.min(), values.max()
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:  # false for NaN
            narrow = values.astype(kind)
            whole = values.dtype.kind == "i" or ((narrow == values).all() and not np.signbit(values[narrow == 0]).any())
            return narrow if whole else values
    return values


def chunks_of(size: Array, cells: int) -> list[Array]:
    """The numbers of lists of these sizes, in groups whose rectangles have at most about ``cells`` cells."""
    order = np.argsort(size, kind="stable")
    groups: list[Array] = []
    first = 0
    while first < len(order):
        # the last list of a group is the widest
        most = cells // max(int(size[order[first]]), 1) + 1
        widths = np.maximum(size[order[first : first + most]], 1)
        area = widths * np.arange(1, len(widths) + 1)
        stop = first + max(1, int(np.searchsorted(area, cells, side="right")))
        groups.append(order[first:stop])
        first = stop
    return groups


def judged_order(query: Array, rank: Array, grade: Array) -> Array:
    """The order of documents end to end: by query, retrieved ones by rank, then the rest (rank 0), best grade first.

    No two documents of a query have the same rank.
    """
    below = int(rank.max(initial=0)) + 1
    place = query * (below + 1) + np.where(rank > 0, rank, below)
    bits = len(place).bit_length()
    if len(place) < MAX_LEXSORT or int(place.max()).bit_length() + bits > 63:
        return np.lexsort((-grade, place))
    # one number with the row in its low bits sorts five times faster than two numbers
    by = np.sort((place << bits) | np.arange(len(place))) & ((1 << bits) - 1)
    rest = np.flatnonzero(rank[by] == 0)
    rows = by[rest]
    if (grade[rows] != grade[rows[:1]]).any():
        by[rest] = rows[_best_first(query[rows], grade[rows])]
    return by


def _best_first(query: Array, grade: Array) -> Array:
    """The stable order of documents by query, best grade first."""
    bits, lowest = len(grade).bit_length(), float(grade.min(initial=0.0))
    span = float(grade.max(initial=0.0)) - lowest
    if span < MAX_GRADE_SPAN and (whole := grade.astype(np.int64)).size and (whole == grade).all():
        place = query * (int(span) + 1) + (int(lowest + span) - whole)
        if int(place.max()).bit_length() + bits <= 63:
            return np.sort((place << bits) | np.arange(len(place))) & ((1 << bits) - 1)
    return np.lexsort((-grade, query))


def rectangle(start: Array, size: Array) -> tuple[Array, Array]:
    """For lists end to end, the flat index of each cell of a rectangle, and the cells that hold one."""
    column = np.arange(max(int(size.max(initial=0)), 1))
    shown = column < size[:, None]
    return np.where(shown, start[:, None] + column, 0), shown


def _fill(values: Array, cells: Array, shown: Array, padding: float) -> Array:
    if not len(values):
        return np.full(cells.shape, padding, dtype=values.dtype)
    return np.where(shown, values[cells], padding).astype(values.dtype)
