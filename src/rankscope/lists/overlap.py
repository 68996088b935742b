"""How much two rankings overlap, the top counting most: rank-biased overlap, and Jaccard at a cutoff.

Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010; with ties: Corsi and Urbano, The Treatment of
Ties in Rank-Biased Overlap, SIGIR 2024.

``rbo`` and ``jaccard`` take two rankings, with ties and bounds: ``rs.rbo``, ``rs.jaccard``. ``rbo_by_query`` and ``jaccard_by_query`` give
the same for many queries at once, of rankings without ties: the agreement of runs in a report.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.lists.sums import Array, total

Variant = Literal["w", "a", "b"]
VARIANTS: tuple[Variant, ...] = ("w", "a", "b")
CELLS = 2_000_000  # documents times depths that are held in memory at once


@dataclass(frozen=True)
class Overlap:
    """The rank-biased overlap of two rankings of which only the top is known.

    ``min`` is what it is at least, whatever stands below the known part, and ``max`` what it is at most. ``ext`` takes what is
    not known to agree as much as what is; it is NaN where one of the two is empty.
    """

    ext: float
    min: float
    max: float

    @property
    def res(self) -> float:
        """The residual: how much is not known."""
        return self.max - self.min


def rbo(a: Sequence[Any], b: Sequence[Any], p: float = 0.9, ties: Variant = "a") -> Overlap:
    """The rank-biased overlap of two rankings, best first: the mean overlap at depth 1, 2, 3 ..., each weighing p times the one above.

    Tied documents are given as a group: a set, frozenset or list in the ranking. ``ties`` says what a tie means: ``w`` that the
    documents do share the rank (all of them stand at it), ``a`` that their order is not known (the mean over all orders), ``b``
    the same, corrected for what is lost by ties, such that a ranking with itself is 1. Without ties the three are one.
    Raises InputError for p outside 0 to 1, for an item that stands twice and for another variant.

    >>> found = rbo(["x", "y"], ["y", "x"], p=0.5)  # nothing is shared at depth 1, all at depth 2
    >>> found.ext  # (1 - 0.5) / 0.5 * 0.5**2 + 0.5**2
    0.5
    >>> rbo(["x", "y"], ["x", "y"]).ext
    1.0
    >>> rbo(
    ...     [{"x", "y"}], [{"x", "y"}], p=0.5, ties="a"
    ... ).ext  # half of the orders agree: at depth 1 one of two documents
    0.75
    """
    _check(p)
    if ties not in VARIANTS:
        raise InputError(f"ties={ties!r}: ties is one of {words.choices(VARIANTS)}")
    first, second = _flat(a), _flat(b)
    short, long = (second, first) if len(first) >= len(second) else (first, second)
    found = _agreements(_Pair(short, long), ties)
    return _sum_agreements(found, len(short), len(long), p)


def jaccard(a: Sequence[Hashable], b: Sequence[Hashable], k: int) -> float:
    """The documents in the top k of both rankings over those in the top k of either; NaN where both are empty.

    Raises InputError for a k below 1.

    >>> jaccard(["x", "y", "z"], ["y", "v", "x"], 2)  # y, of x, y and v
    0.3333333333333333
    """
    if k < 1:
        raise InputError(f"k={k!r}: look at 1 document at least")
    top, other = set(a[:k]), set(b[:k])
    either = len(top | other)
    return len(top & other) / either if either else math.nan


# --- many queries at once --------------------------------------------------------------------------------


def count_shared_by_depth(query: Array, deeper: Array, queries: int, depth: int) -> Array:
    """How many documents two rankings share down to each depth, queries x depth.

    ``query`` is the number of the query of each document that both rank, ``deeper`` the lower of its two places (the larger
    rank, from 1).

    >>> count_shared_by_depth(np.array([0, 0]), np.array([2, 2]), 1, 3)  # x, y and y, x
    array([[0, 2, 2]])
    """
    inside = deeper <= depth
    cells = query[inside] * depth + deeper[inside] - 1
    counts = np.bincount(cells, minlength=queries * depth).reshape(queries, depth)
    return np.asarray(np.cumsum(counts, axis=1))


def rbo_by_query(shared: Array, a_size: Array, b_size: Array, p: float = 0.9) -> Array:
    """The extrapolated rank-biased overlap of each query, of rankings without ties; NaN where one of the two is empty.

    ``shared`` is as from ``count_shared_by_depth``; the rankings have ``a_size`` and ``b_size`` documents, none deeper than ``shared``.

    >>> rbo_by_query(np.array([[0, 2]]), np.array([2]), np.array([2]), p=0.5)
    array([0.5])
    """
    _check(p)
    depth = np.arange(1, shared.shape[1] + 1)
    short, long = np.minimum(a_size, b_size), np.maximum(a_size, b_size)
    known = np.where(short > 0, short, 1)
    rows = np.arange(len(shared))
    agree = shared[rows, known - 1] / known
    beyond = np.maximum(depth - short[:, None], 0) * agree[:, None]
    parts = (shared + beyond) / depth * p**depth
    inside = np.where(depth <= long[:, None], parts, 0.0)
    last = np.maximum(long, 1)
    tail = (shared[rows, last - 1] + (long - short) * agree) / last * p ** last.astype(float)
    return np.where(short > 0, (1 - p) / p * total(inside) + tail, np.nan)


def jaccard_by_query(shared: Array, a_size: Array, b_size: Array, k: int) -> Array:
    """``jaccard`` at k of each query; ``shared`` is as from ``count_shared_by_depth``.

    >>> jaccard_by_query(np.array([[0, 1, 2]]), np.array([3]), np.array([3]), 2)
    array([0.33333333])
    """
    both = shared[:, min(k, shared.shape[1]) - 1].astype(float)
    either = np.minimum(a_size, k) + np.minimum(b_size, k) - both
    return np.asarray(np.divide(both, either, out=np.full(len(both), np.nan), where=either > 0))


# --- rankings with ties ----------------------------------------------------------------------------------


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise InputError(f"p={p!r}: the chance of going on lies between 0 and 1, both left out")


def _flat(ranking: Sequence[Any]) -> dict[Hashable, tuple[int, int]]:
    """Each item with the first and the last rank that its group takes."""
    out: dict[Hashable, tuple[int, int]] = {}
    count = 0
    for entry in ranking:
        group = list(entry) if isinstance(entry, set | frozenset | list) else [entry]
        for item in group:
            if item in out:
                raise InputError(f"{item!r} stands in the ranking twice")
            out[item] = (count + 1, count + len(group))
        count += len(group)
    return out


class _Pair:
    """Two rankings over all items of either, those of the shorter first; an item that a ranking lacks stands at infinity."""

    def __init__(self, short: dict[Hashable, tuple[int, int]], long: dict[Hashable, tuple[int, int]]) -> None:
        items = list(dict.fromkeys([*short, *long]))
        nowhere = (math.inf, math.inf)
        self.short = np.array([short.get(item, nowhere) for item in items]).reshape(-1, 2)
        self.long = np.array([long.get(item, nowhere) for item in items]).reshape(-1, 2)
        self.sizes = (len(short), len(long))

    def count_documents(self, ranks: Array, depth: Array, ties: Variant) -> Array:
        """How much of each item stands at each depth or above, items x depths: 0 to 1."""
        first, last = ranks[:, :1], ranks[:, 1:]
        if ties == "w":
            return np.asarray(depth >= first, dtype=float)
        size = np.where(np.isinf(first), 1.0, last - np.where(np.isinf(first), 0.0, first) + 1.0)
        return np.clip((depth - first + 1.0) / size, 0.0, 1.0)

    def blocks(self) -> Iterator[Array]:
        """All depths in blocks that fit the memory."""
        step = max(1, CELLS // max(len(self.short), 1))
        for start in range(1, self.sizes[1] + 1, step):
            yield np.arange(start, min(start + step, self.sizes[1] + 1))


def _agreements(pair: _Pair, ties: Variant) -> tuple[Array, Array, Array, float]:
    """The agreement at each depth as at least, as extrapolated and as at most, and how many items are shared in all."""
    short = pair.sizes[0]
    extra = np.isinf(pair.short[:, 0])
    parts: list[tuple[Array, Array, Array]] = []
    seen = math.nan  # the agreement where the shorter ends
    for depth in pair.blocks():
        ours, theirs = (pair.count_documents(pair.short, depth, ties), pair.count_documents(pair.long, depth, ties))
        both = (ours * theirs).sum(axis=0)
        beyond = np.maximum(depth - short, 0)
        more = theirs[extra]
        whole = _whole(ours, theirs, beyond, ties)
        least = both / whole
        if depth[0] <= short <= depth[-1]:
            seen = float(least[short - depth[0]])
        there = (more > 0).sum(axis=0)
        usual = np.divide(more.sum(axis=0), there, out=np.zeros(len(depth)), where=there > 0)
        # what the shorter may hold below its end: at most the items of the longer that it lacks, one a rank
        taken = np.vstack([np.zeros(len(depth)), np.cumsum(more, axis=0)])
        most = taken[np.minimum(beyond, len(more)), np.arange(len(depth))]
        unseen = np.where(beyond > 0, beyond * seen * usual, 0.0)
        parts.append((least, (both + unseen) / whole, (both + most) / whole))
    least, ext, most = (np.concatenate([np.empty(0), *(part[i] for part in parts)]) for i in range(3))
    shared = float((~np.isinf(pair.short[:, 0]) & ~np.isinf(pair.long[:, 0])).sum())
    return least, ext, most, shared


def _whole(ours: Array, theirs: Array, beyond: Array, ties: Variant) -> Array:
    """What the items shared down to each depth are divided by; below its end the shorter holds one item a rank."""
    if ties == "b":
        return np.asarray(np.sqrt((ours**2).sum(axis=0) + beyond) * np.sqrt((theirs**2).sum(axis=0)))
    counts = ours.sum(axis=0) + beyond, theirs.sum(axis=0)
    # under a both counts are the depth
    return np.asarray((counts[0] + counts[1]) / 2.0)


def _sum_agreements(found: tuple[Array, Array, Array, float], short: int, long: int, p: float) -> Overlap:
    """The agreements of all depths weighed, with what comes below the end of the longer ranking."""
    least, ext, most, shared = found
    depth = np.arange(1, long + 1)
    weight = p ** depth.astype(float)
    scale = (1 - p) / p
    below = shared * (-math.log1p(-p) - math.fsum((weight / depth).tolist()))
    # the two grow together, one item of each a rank, until all of either is in both
    full = round(long + short - shared)
    growing = np.arange(long + 1, full + 1)
    above = math.fsum(((2 * growing - long - short + shared) / growing * p**growing).tolist())
    above += p ** (full + 1) / (1 - p)
    tail = float(ext[-1]) * p ** (long + 1) / (1 - p) if long else math.nan
    return Overlap(
        scale * (math.fsum((ext * weight).tolist()) + tail) if short else math.nan,
        scale * (math.fsum((least * weight).tolist()) + below),
        scale * (math.fsum((most * weight).tolist()) + above),
    )
