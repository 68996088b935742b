"""Every place a tied document may take, with its chance: the mean over all orders of equal scores without trying them.

A document in a group of m equal scores stands at each of the group's m ranks in 1/m of the orders. What
a position earns from its own grade and rank alone is therefore summed over (grade, rank) cells, each
with the chance that such a document stands there; documents of one grade share their cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rankscope.lists.rectangle import Lists
from rankscope.lists.sums import Array, running


@dataclass(frozen=True, eq=False)
class Spread:
    """Where the cells of spread lists come from: for each cell its group's first and last column in ``ranked``."""

    ranked: Lists
    head: Array
    tail: Array

    def counts(self, level: float) -> tuple[Array, Array]:
        """Relevant documents above each cell's group, and in it."""
        relevant = self.ranked.relevant(level)
        so_far = running(relevant)
        rows = np.arange(len(so_far))[:, None]
        above = so_far[rows, self.head] - relevant[rows, self.head]
        return above, so_far[rows, self.tail] - above

    def so_far(self, lists: Lists, level: float) -> Array:
        """Relevant documents down to each cell, in the mean over the orders in which its document stands there."""
        above, group = self.counts(level)
        here = lists.relevant(level)
        others = np.maximum(lists.tie_size - 1, 1)
        return np.asarray(above + here + (lists.rank - lists.tie_start) * (group - here) / others)

    def none_above(self, lists: Lists, level: float) -> Array:
        """The chance that no relevant document stands above a relevant one at each cell."""
        above, group = self.counts(level)
        cells = np.nonzero(lists.relevant(level) & (above == 0))
        size, relevant = lists.tie_size[cells].astype(np.int64), group[cells].astype(np.int64)
        below = lists.rank[cells] - lists.tie_start[cells]
        most = int(size.max(initial=0)) + 1
        distinct, number = np.unique((size * most + relevant) * most + below, return_inverse=True)
        chance = np.array([_spared(k // most**2, k // most % most, k % most) for k in distinct.tolist()])
        out = np.zeros(lists.shown.shape)
        out[cells] = chance[number] if len(distinct) else 0.0
        return out


def spread(lists: Lists, upto: int | None = None) -> Lists:
    """The same rankings as cells of a grade at a rank; ``chance`` counts the documents that stand there in the mean."""
    lists = packed(lists)
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
    alike = np.diff(np.append(at, len(row)))
    row, first, grade = row[at], first[at], grade[at]
    start, size = lists.tie_start[row, first], lists.tie_size[row, first]

    # the ranks of each group, down to the one asked for
    ranks = size if upto is None else np.clip(upto + 1 - start, 0, size)
    place = np.repeat(np.arange(len(at)), ranks)
    offset = np.arange(len(place)) - np.repeat(np.cumsum(ranks) - ranks, ranks)
    rank = start[place] + offset
    by = np.lexsort((place, rank, row[place]))
    place, rank = place[by], rank[by]
    width = np.bincount(row[place], minlength=len(lists))
    column = np.arange(len(place)) - np.repeat(np.cumsum(width) - width, width)
    cells = (row[place], column)
    shape = (len(lists), max(int(width.max(initial=0)), 1))

    def laid(values: Array, padding: float) -> Array:
        out = np.full(shape, padding, dtype=values.dtype)
        out[cells] = values
        return out

    last = _last_of_group(lists, fresh)
    heads = laid(first[place], 0)
    return replace(
        lists,
        grade=laid(grade[place], 0.0),
        rank=laid(rank.astype(np.int64), 1),
        shown=laid(np.ones(len(place), dtype=bool), False),
        tie_start=laid(start[place], 1),
        tie_size=laid(size[place], 1),
        chance=laid(alike[place] / size[place], 0.0),
        spread_from=Spread(lists, heads, last[np.arange(len(lists))[:, None], heads]),
    )


def packed(lists: Lists) -> Lists:
    """The same rankings with the shown cells of each row side by side."""
    if (lists.shown[:, 1:] <= lists.shown[:, :-1]).all():
        return lists
    cells = np.nonzero(lists.shown)
    place = np.cumsum(lists.shown, axis=1)[cells] - 1

    def moved(values: Array, padding: float) -> Array:
        out = np.full(values.shape, padding, dtype=values.dtype)
        out[cells[0], place] = values[cells]
        return out

    return replace(
        lists,
        grade=moved(lists.grade, 0.0),
        rank=moved(lists.rank, 1),
        shown=moved(lists.shown, False),
        tie_start=moved(lists.tie_start, 1),
        tie_size=moved(lists.tie_size, 1),
    )


def _last_of_group(lists: Lists, fresh: Array) -> Array:
    """For each cell the last column of its group."""
    width = lists.shown.shape[1]
    ends = np.hstack([fresh[:, 1:] | ~lists.shown[:, 1:], np.ones((len(lists), 1), bool)])
    columns = np.where(ends, np.arange(width), width)
    return np.minimum.accumulate(columns[:, ::-1], axis=1)[:, ::-1]


def _spared(size: int, relevant: int, above: int) -> float:
    """The chance that none of ``relevant - 1`` others among ``size - 1`` stands on the ``above`` places above."""
    return math.comb(max(size - 1 - above, 0), relevant - 1) / max(math.comb(size - 1, relevant - 1), 1)
