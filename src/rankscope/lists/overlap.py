"""The overlap of two rankings: rank-biased overlap, with most weight on the top, and Jaccard at a cutoff.

Webber, Moffat and Zobel, A Similarity Measure for Indefinite Rankings, TOIS 2010. With ties: Corsi and Urbano, The Treatment of
Ties in Rank-Biased Overlap, SIGIR 2024.

``rbo`` and ``jaccard`` compare two rankings, with ties and bounds. ``rbo_by_query`` and ``jaccard_by_query`` compute
the same for many queries at once without ties, for the agreement of runs in a report.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.lists.sums import Array, total

Variant = Literal["w", "a", "b"]
VARIANTS: tuple[Variant, ...] = ("w", "a", "b")
MAX_CELLS = 2_000_000  # documents times depths in memory at once


@dataclass(frozen=True)
class Overlap:
    """The rank-biased overlap of two rankings whose top is known.

    ``min`` and ``max`` are its bounds over all possible unknown parts. ``ext`` assumes that the unknown parts agree as much as
    the known ones. It is NaN if one ranking is empty.
    """

    ext: float
    min: float
    max: float

    @property
    def res(self) -> float:
        """The residual: the distance between the bounds."""
        return self.max - self.min


def rbo(a: Sequence[Any], b: Sequence[Any], p: float = 0.9, ties: Variant = "a") -> Overlap:
    """The rank-biased overlap of two rankings, best first: the mean overlap at depth 1, 2, 3 ..., with weights that fall by p.

    Tied documents are a group: a set, frozenset or list in the ranking. ``ties`` sets the meaning of a tie: with ``w`` the
    documents share their rank, with ``a`` their order is unknown (the mean over all orders), and ``b`` corrects ``a`` so that the overlap of
    a ranking with itself is 1. Without ties the three are equal.
    Raises InputError for p outside 0 to 1, a repeated item, or an unknown variant.

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
    return _sum_agreements(_agreements(_Pair(short, long), ties), len(short), len(long), p)


def jaccard(a: Sequence[Hashable], b: Sequence[Hashable], k: int) -> float:
    """The number of documents in the top k of both rankings over the number in either top k. NaN if both are empty.

    Raises InputError for a k below 1.

    >>> jaccard(["x", "y", "z"], ["y", "v", "x"], 2)  # y, of x, y and v
    0.3333333333333333
    """
    if k < 1:
        raise InputError(f"k={k!r}: k must be at least 1")
    top, other = set(a[:k]), set(b[:k])
    either = len(top | other)
    return len(top & other) / either if either else math.nan


# --- many queries at once --------------------------------------------------------------------------------


def count_shared_by_depth(query: Array, deeper: Array, queries: int, depth: int) -> Array:
    """The number of documents that two rankings share down to each depth, queries x depth.

    ``query`` is the query number of each document in both rankings, ``deeper`` the larger of its two ranks (from 1).

    >>> count_shared_by_depth(np.array([0, 0]), np.array([2, 2]), 1, 3)  # x, y and y, x
    array([[0, 2, 2]])
    """
    inside = deeper <= depth
    cells = query[inside] * depth + deeper[inside] - 1
    counts = np.bincount(cells, minlength=queries * depth).reshape(queries, depth)
    return np.asarray(np.cumsum(counts, axis=1))


def rbo_by_query(shared: Array, a_size: Array, b_size: Array, p: float = 0.9) -> Array:
    """The extrapolated rank-biased overlap of each query, for rankings without ties. NaN if one of the two is empty.

    ``shared`` comes from ``count_shared_by_depth``. The rankings have ``a_size`` and ``b_size`` documents, none deeper than ``shared``.

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
    """``jaccard`` at k of each query. ``shared`` comes from ``count_shared_by_depth``.

    >>> jaccard_by_query(np.array([[0, 1, 2]]), np.array([3]), np.array([3]), 2)
    array([0.33333333])
    """
    both = shared[:, min(k, shared.shape[1]) - 1].astype(float)
    either = np.minimum(a_size, k) + np.minimum(b_size, k) - both
    return np.asarray(np.divide(both, either, out=np.full(len(both), np.nan), where=either > 0))


def rbo_to_depth(a: Sequence[Hashable], b: Sequence[Hashable], p: float, depth: int) -> float:
    """Rank-biased overlap of the ranks down to ``depth``, with weights that sum to 1. Nothing agrees below the end of a ranking.

    This is the form of Clarke et al. (TOIS 2021) and of repro_eval.

    >>> rbo_to_depth(["x", "y"], ["y", "x"], p=0.5, depth=2)  # nothing is shared at depth 1, all at depth 2
    0.3333333333333333
    """
    _check(p)
    rank = {item: i for i, item in enumerate(b[:depth])}
    shared = np.zeros(depth)
    for i, item in enumerate(a[:depth]):
        if item in rank:
            shared[max(i, rank[item])] += 1
    weights = p ** np.arange(depth, dtype=float)
    parts = np.cumsum(shared) / np.arange(1, depth + 1) * weights
    return math.fsum(parts.tolist()) / math.fsum(weights.tolist())


def kendall(one: Any, two: Any) -> float:
    """Kendall's tau-b of two rows of values of the same things. NaN if one has no order.

    Source: Kendall, Rank Correlation Methods, 1948.

    >>> kendall([1, 2, 3], [1, 3, 2]), kendall([1, 2, 2], [1, 2, 2])
    (0.3333333333333333, 1.0)
    """
    signs = []
    for values in (np.asarray(one, dtype=float), np.asarray(two, dtype=float)):
        above, below = values[:, None] > values, values[:, None] < values
        signs.append(above.astype(np.int8) - below.astype(np.int8))
    ordered = math.sqrt(float(np.count_nonzero(signs[0])) * float(np.count_nonzero(signs[1])))
    return float((signs[0] * signs[1]).sum(dtype=np.int64)) / ordered if ordered else math.nan


# --- rankings with ties ----------------------------------------------------------------------------------


def _check(p: float) -> None:
    if not 0 < p < 1:
        raise InputError(f"p={p!r}: the chance of going on must be above 0 and below 1")


def _flat(ranking: Sequence[Any]) -> dict[Hashable, tuple[int, int]]:
    """The first and the last rank of the group of each item."""
    out: dict[Hashable, tuple[int, int]] = {}
    count = 0
    for entry in ranking:
        group = list(entry) if isinstance(entry, set | frozenset | list) else [entry]
        for item in group:
            if item in out:
                raise InputError(f"{item!r} is in the ranking twice")
            out[item] = (count + 1, count + len(group))
        count += len(group)
    return out


class _Pair:
    """Two rankings over the items of both, the shorter first. A missing item has rank infinity."""

    def __init__(self, short: dict[Hashable, tuple[int, int]], long: dict[Hashable, tuple[int, int]]) -> None:
        items = list(dict.fromkeys([*short, *long]))
        nowhere = (math.inf, math.inf)
        self.short = np.array([short.get(item, nowhere) for item in items]).reshape(-1, 2)
        self.long = np.array([long.get(item, nowhere) for item in items]).reshape(-1, 2)
        self.sizes = (len(short), len(long))

    def count_documents(self, ranks: Array, depth: Array, ties: Variant) -> Array:
        """The share of each item at each depth or above, items x depths: 0 to 1."""
        first, last = ranks[:, :1], ranks[:, 1:]
        if ties == "w":
            return np.asarray(depth >= first, dtype=float)
        size = np.where(np.isinf(first), 1.0, last - np.where(np.isinf(first), 0.0, first) + 1.0)
        return np.clip((depth - first + 1.0) / size, 0.0, 1.0)

    def blocks(self) -> Iterator[Array]:
        """All depths in blocks that fit in memory."""
        step = max(1, MAX_CELLS // max(len(self.short), 1))
        for start in range(1, self.sizes[1] + 1, step):
            yield np.arange(start, min(start + step, self.sizes[1] + 1))


def _agreements(pair: _Pair, ties: Variant) -> tuple[Array, Array, Array, float]:
    """The smallest, extrapolated and largest agreement at each depth, and the number of shared items."""
    short = pair.sizes[0]
    extra = np.isinf(pair.short[:, 0])
    parts: list[tuple[Array, Array, Array]] = []
    seen = math.nan  # the agreement at the end of the shorter
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
        # below its end the shorter may hold the items of the longer that it lacks, one per rank
        taken = np.vstack([np.zeros(len(depth)), np.cumsum(more, axis=0)])
        most = taken[np.minimum(beyond, len(more)), np.arange(len(depth))]
        unseen = np.where(beyond > 0, beyond * seen * usual, 0.0)
        parts.append((least, (both + unseen) / whole, (both + most) / whole))
    least, ext, most = (np.concatenate([np.empty(0), *(part[i] for part in parts)]) for i in range(3))
    shared = float((~np.isinf(pair.short[:, 0]) & ~np.isinf(pair.long[:, 0])).sum())
    return least, ext, most, shared


def _whole(ours: Array, theirs: Array, beyond: Array, ties: Variant) -> Array:
    """The divisor of the shared items at each depth. Beyond its end the shorter list counts one item per rank."""
    if ties == "b":
        return np.asarray(np.sqrt((ours**2).sum(axis=0) + beyond) * np.sqrt((theirs**2).sum(axis=0)))
    counts = ours.sum(axis=0) + beyond, theirs.sum(axis=0)
    return np.asarray((counts[0] + counts[1]) / 2.0)


def _sum_agreements(agreements: tuple[Array, Array, Array, float], short: int, long: int, p: float) -> Overlap:
    """The weighted agreements of all depths, and of the ranks below the end of the longer ranking."""
    least, ext, most, shared = agreements
    depth = np.arange(1, long + 1)
    weight = p ** depth.astype(float)
    scale = (1 - p) / p
    below = shared * (-math.log1p(-p) - math.fsum((weight / depth).tolist()))
    # both grow by one item per rank until each holds all items
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


def same_values(values: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    """Groups of two or more systems with the same values, bit by bit."""
    alike: dict[object, list[str]] = {}
    for name, parts in values.items():
        key = tuple(part if isinstance(part, tuple) else np.asarray(part).tobytes() for part in parts)
        alike.setdefault(key, []).append(name)
    return [names for names in alike.values() if len(names) > 1]
