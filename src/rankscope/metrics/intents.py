"""Documents by the subtopics they are about, and the ranking that a greedy reader would make of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankscope.lists import Array, Lists

CLOSE = 1e-13  # gains closer than this differ by rounding alone


def about(lists: Lists, level: float) -> Array:
    """Which subtopics each judged document is about, retrieved or not: ``[query, document, subtopic]``."""
    assert lists.pool is not None, "a metric that looks at subtopics says so in `needs`"
    return np.asarray(lists.pool.shown[:, :, None] & (lists.pool.aspects >= max(level, 0.0)))


def added(by_subtopic: Array) -> Array:
    """The sum over subtopics, one after another, so that no query's numbers depend on its neighbours'."""
    return np.asarray(np.cumsum(by_subtopic, axis=2, dtype=float)[:, :, -1])


class _Kinds(NamedTuple):
    """The documents of each query by kind: those about the same subtopics, which gain the same wherever they stand.

    ``[query, kind]``: the documents of a kind are a stretch of ``by_id``, greatest first, of which the next
    stands at ``following`` and ``left`` are left. ``covers[subtopic, query, kind]`` is 1 or 0.
    """

    by_id: Array
    following: Array
    left: Array
    covers: Array


def _kinds(lists: Lists, level: float) -> _Kinds:
    which = about(lists, level)
    query, doc = np.nonzero(which.any(axis=2))
    assert lists.pool is not None
    subtopics, by_id = which[query, doc], lists.pool.by_id[query, doc]
    kind = np.unique(np.packbits(subtopics, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    order = np.lexsort((-by_id, kind, query))
    query, kind = query[order], kind[order]

    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (query[1:] != query[:-1]) | (kind[1:] != kind[:-1])
    start = np.flatnonzero(fresh)
    row = query[start]
    column = np.arange(len(start)) - np.searchsorted(row, row)
    shape = (len(which), int(column.max(initial=0)) + 1)
    following = np.zeros(shape, dtype=np.int64)
    following[row, column] = start
    left = np.zeros(shape, dtype=np.int64)
    left[row, column] = np.diff(start, append=len(order))
    covers = np.zeros((which.shape[2], *shape))
    covers[:, row, column] = subtopics[order[start]].T
    # one more, where the next document is past the last
    return _Kinds(np.append(by_id[order], -1), following, left, covers)


def greedy_gains(lists: Lists, level: float, alpha: float, depth: int | None) -> Array:
    """The gain at each rank when every rank takes the document, of all judged ones, that gains most there.

    A document gains (1 - alpha)^n for each of its subtopics that n documents above it are about. Of
    documents that gain the same, the one with the greatest id is taken; other tools may let rounding decide
    between sums such as 0.1 + 1 + 1 and 1 + 1 + 0.1.
    """
    by_id, following, left, covers = _kinds(lists, level)
    rounds = int(left.sum(axis=1).max(initial=0))
    rounds = rounds if depth is None else min(depth, rounds)
    worth = np.array([(1.0 - alpha) ** n for n in range(rounds + 1)])
    met = np.zeros(covers.shape[:2], dtype=np.int64)
    query = np.arange(len(left))
    out = np.zeros((len(left), max(rounds, 1)))
    for place in range(rounds):
        gain = np.zeros(left.shape)
        for covered, weight in zip(covers, worth[met], strict=True):
            gain += covered * weight[:, None]
        gain[left == 0] = -1.0
        best = gain.max(axis=1)
        going = best >= 0.0
        equal = gain >= (best - CLOSE * np.abs(best))[:, None]
        chosen = np.where(equal, by_id[following], -1).argmax(axis=1)
        out[:, place] = np.where(going, gain[query, chosen], 0.0)
        met += np.where(going, covers[:, query, chosen], 0.0).astype(np.int64)
        left[query, chosen] -= going
        following[query, chosen] += going
    return out
