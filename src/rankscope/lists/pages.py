"""Pages of a log as one rectangle: the item at each place of each list, and the clicks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope.lists.sums import Array


@dataclass(frozen=True, eq=False)
class PairIds:
    """The queries and items of a log: a pair is an item shown for a query, known by its number."""

    query: Sequence[str]
    item: Sequence[str]

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """The number of each pair."""
        return {pair: number for number, pair in enumerate(zip(self.query, self.item, strict=True))}

    @cached_property
    def query_number(self) -> Array:
        """The query of each pair, as a number."""
        known: dict[str, int] = {}
        return np.array([known.setdefault(query, len(known)) for query in self.query], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Pages:
    """Lists as they were shown: ``item`` has the pair at each place (lists x places, -1 where nothing was shown), ``click`` the clicks.

    ``session`` and ``unit`` number the session and the user of each list, ``unit`` being what is independent. The others may be absent:
    ``ranker`` numbers the ranker of each list, ``chance`` is the probability of each item at its place, ``worth`` how much the
    engagement with an item was worth, ``label`` the grade of an item, ``time`` the order of the lists in time, ``part`` the slice of each list.

    >>> pages = Pages.of([[0, 1], [1, 0]], [[1, 0], [0, 0]])
    >>> pages.counts.shown.tolist(), pages.counts.clicks.tolist()
    ([1, 1, 1, 1], [1, 0, 0, 0])
    """

    item: Array
    click: Array
    pairs: PairIds
    session: Array
    unit: Array
    ranker: Array | None = None
    chance: Array | None = None
    worth: Array | None = None
    label: Array | None = None
    time: Array | None = None
    part: Array | None = None

    @classmethod
    def of(cls, item: object, click: object, pairs: int | None = None) -> Pages:
        """Pages of arrays, each list a session and a user of its own; pairs have their numbers as ids."""
        items = np.asarray(item, dtype=np.int32)
        names = list(map(str, range(pairs or int(items.max(initial=-1)) + 1)))
        each = np.arange(len(items))
        return cls(items, np.asarray(click) != 0, PairIds([""] * len(names), names), each, each)

    def __len__(self) -> int:
        return len(self.item)

    @property
    def places(self) -> int:
        """The number of places."""
        return int(self.item.shape[1])

    def where(self, inside: Array) -> Pages:
        """Some of the lists, by a mask or by their numbers. PairIds keep their numbers."""
        held: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "pairs"}
        some: dict[str, Any] = {name: None if array is None else array[inside] for name, array in held.items()}
        return replace(self, **some)

    def renumbered(self, pairs: PairIds) -> Pages:
        """The same with the numbers of other pairs; pairs that are not among these follow them."""
        if pairs is self.pairs:
            return self
        own = list(zip(self.pairs.query, self.pairs.item, strict=True))
        new = [pair for pair in own if pair not in pairs.numbers]
        numbers = {**pairs.numbers, **{pair: len(pairs) + i for i, pair in enumerate(new)}}
        to = np.array([*(numbers[pair] for pair in own), -1], dtype=np.int32)
        both = PairIds([*pairs.query, *(query for query, _ in new)], [*pairs.item, *(item for _, item in new)])
        return replace(self, item=to[self.item], pairs=both)

    def by_label(self) -> Pages | None:
        """The same with one item per grade, under the grade as its name; items without a grade are one item. None without labels."""
        if self.label is None or np.isnan(self.label[self.item >= 0]).all():
            return None
        grades, number = np.unique(self.label, return_inverse=True)  # NaN comes last
        names = [f"{grade:.15g}" for grade in grades.tolist()]
        item = np.where(self.item >= 0, number.reshape(self.item.shape), -1).astype(np.int32)
        return replace(self, item=item, pairs=PairIds([""] * len(names), names))

    @cached_property
    def counts(self) -> Counts:
        """Counts of views and clicks of each pair at each of its places."""
        list_number, place = np.nonzero(self.item >= 0)
        cell = self.item[list_number, place].astype(np.int64) * self.places + place
        cells, row = np.unique(cell, return_inverse=True)
        clicks = np.bincount(row, self.click[list_number, place], minlength=len(cells)).astype(np.int64)
        shown = np.bincount(row, minlength=len(cells))
        return Counts(cells // self.places, cells % self.places, shown, clicks, list_number, row)


@dataclass(frozen=True, eq=False)
class Counts:
    """Sparse counts: one row per pair and place (from 0). ``row`` is the row of every shown item, ``list_number`` its list."""

    pair: Array
    place: Array
    shown: Array
    clicks: Array
    list_number: Array
    row: Array
