"""The values of metrics on judged documents, in one order or over the orders that tied documents may stand in, tried one by one.

Orders are told apart by what they show: documents with the same judgment are the same, so a group of
ten with one relevant document has ten orders, not 3.6 million. Where even these are too many, orders
are drawn at random, from a generator of each query's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from rankscope.engines.base import ASPECTS
from rankscope.lists import Array, Judged, Lists, judged_order
from rankscope.lists.judged import chunks_of
from rankscope.parallel import map_parts

MOST_ORDERS = 720  # the most orders of a query that are all tried
SAMPLE_SIZE = 200  # orders that are drawn where there are more
EXTREMES = 4  # orders beside them in which the best and the worst are sought, in place of so many that were drawn
CELLS = 1_000_000  # cells of one rectangle
AT_ONCE = 1 << 15  # documents in orders that are laid out together: more would leave the processor's memory


class Scorable(Protocol):
    """The part of a metric that an engine uses."""

    @property
    def aggregate(self) -> str:
        """Reduce the values of queries to one number. Weights are fetched only if it is ``weighted``."""

    def score(self, lists: Lists) -> Array:
        """The value of each query, NaN if it is undefined."""

    def weight(self, lists: Lists) -> Array:
        """The weight of each query in a weighted mean."""


@dataclass(frozen=True, eq=False)
class Values:
    """One metric's value for every query (NaN: undefined), its weight in a mean, and the standard ``error`` if orders of ties were sampled."""

    value: Array
    weight: Array
    error: Array | None = None
    sampled_queries: int = 0


def map_kernels(judged: Judged, kernels: Sequence[Callable[[Lists], Array]], all_cores: bool = True) -> list[Array]:
    """Map plain functions over judged documents, in chunks of queries that fit the processor's memory."""
    out = [np.full(len(judged), np.nan) for _ in kernels]
    chunks = judged.chunks() if kernels else []

    def work(chunk: Array) -> list[Array]:
        lists = judged.lists(chunk)
        results = [kernel(lists) for kernel in kernels]
        if len(chunks) > 1:
            lists.forget()
        return results

    by_chunk = map_parts(work, chunks) if all_cores and len(chunks) > 1 else map(work, chunks)
    for chunk, of_kernels in zip(chunks, by_chunk, strict=True):
        for values, of_chunk in zip(out, of_kernels, strict=True):
            values[chunk] = of_chunk
    return out


def columns_of(judged: Judged, metrics: Iterable[Scorable], all_cores: bool = True) -> dict[Any, Array]:
    """The value of each metric by query, and its weight under ``(metric, "weight")`` if queries have weights. Nothing is computed twice."""
    kernels: dict[Any, Callable[[Lists], Array]] = {}
    for metric in metrics:
        kernels[metric] = metric.score
        if metric.aggregate == "weighted":
            kernels[metric, "weight"] = metric.weight
    missing = [name for name in kernels if name not in judged.scored]
    columns = map_kernels(judged, [kernels[name] for name in missing], all_cores)
    return judged.scored | dict(zip(missing, columns, strict=True))


def score(judged: Judged, metrics: Iterable[Scorable]) -> list[Values]:
    """Map metrics over judged documents."""
    metrics, plain = list(metrics), np.ones(len(judged))
    if judged.scored:
        known = columns_of(judged, metrics)
        return [Values(known[metric], known.get((metric, "weight"), plain)) for metric in metrics]
    weighted = [metric for metric in metrics if metric.aggregate == "weighted"]
    columns = map_kernels(judged, [*(metric.score for metric in metrics), *(metric.weight for metric in weighted)])
    weights = dict(zip(map(id, weighted), columns[len(metrics) :], strict=True))
    pairs = zip(metrics, columns[: len(metrics)], strict=True)
    return [Values(value, weights.get(id(metric), plain)) for metric, value in pairs]


def cached_per_query(judged: Judged, metric: Any, name: str, kernel: Callable[..., Array]) -> Array:
    """Run a kernel on each query once per metric and name. Other conventions of the metric use the cached values."""
    cache: dict[Any, Array] = vars(judged).setdefault("cached_per_query", {})
    if (metric, name) not in cache:
        cache[metric, name] = map_kernels(judged, [kernel])[0]
    return cache[metric, name]


def override_values(
    values: Values, metric: Any, judged: Judged, kernel: Callable[..., Array], instead: float, name: str
) -> Values:
    """Set another value for queries for which the kernel returns 1, unless the metric ignores relevance."""
    if metric.relevance == "none" or metric.aggregate in {"sum", "pooled"}:
        return values
    return replace(values, value=np.where(cached_per_query(judged, metric, name, kernel) == 1, instead, values.value))


def cut(judged: Judged, depth: int | None) -> Judged:
    """Cut the rankings at a depth. Lower documents count as not retrieved."""
    if depth is None:
        return judged
    rank = np.where(judged.rank <= depth, judged.rank, 0)
    return rerank(judged, rank, np.minimum(judged.retrieved, depth))


def rerank(judged: Judged, rank: Array, retrieved: Array) -> Judged:
    """The documents with other ranks, and in their order."""
    by = judged_order(judged.query, rank, judged.grade)
    there, columns = rank[by] > 0, judged.documents(by)
    columns["rank"], columns["tie_start"] = rank[by], np.where(there, columns["tie_start"], 0)
    columns["tie_size"] = np.where(there, columns["tie_size"], 1)
    in_run = np.bincount(judged.query, weights=there, minlength=len(judged)).astype(np.int64)
    return replace(judged, retrieved=retrieved, in_run=in_run, **columns)


def reverse_ties(judged: Judged) -> Judged:
    """Reverse every group of equal scores: document ids rise instead of falling."""
    rank = np.where(judged.rank > 0, 2 * judged.tie_start + judged.tie_size - 1 - judged.rank, 0)
    return rerank(judged, rank, judged.retrieved)


class TieGroups:
    """The queries with tied documents among the judged ones, and their groups."""

    def __init__(self, judged: Judged) -> None:
        self.judged = judged
        self.queries = np.unique(judged.query[(judged.rank > 0) & (judged.tie_size > 1)])
        self.mask = np.zeros(len(judged), dtype=bool)
        self.mask[self.queries] = True

    def groups(self, number: int) -> list[_Group]:
        """The groups of a query in which there is a judged document."""
        judged = self.judged
        at = judged.start[number]
        here = slice(at, at + judged.in_run[number])
        start, size = judged.tie_start[here], judged.tie_size[here]
        out = []
        for first in sorted(set(start[size > 1].tolist())):
            rows = np.flatnonzero(start == first)
            out.append(_Group(first, int(size[rows[0]]), rows, judged.grade[here][rows]))
        return out

    def scored(self, metrics: Sequence[Any], depth: int | None, seed: int) -> Iterator[tuple[int, list[Array], bool]]:
        """Yield each query, the values of each metric (all look at the same groups) under its orders, and True if these are all orders."""
        reach, alike = _looks_at(metrics[0])
        pending: list[_Tried] = []
        cells = 0
        for number in self.queries.tolist():
            groups = [g for g in self.groups(number) if reach is None or g.start <= reach]
            if not groups:
                continue
            pending.append(_Tried.of(number, *_orders(self.judged, number, groups, alike, seed), reach))
            cells += len(pending[-1].ranks) * int(self.judged.size[number])
            if cells > AT_ONCE:
                yield from _of_orders(self.judged, pending, metrics, depth)
                pending, cells = [], 0
        yield from _of_orders(self.judged, pending, metrics, depth)


@dataclass(frozen=True, eq=False)
class _Group:
    """A group of tied documents of one query: its first rank, its size, and the judged ones among them."""

    start: int
    size: int
    rows: Array
    grade: Array

    def kinds(self, alike: bool) -> list[int]:
        """The number of documents of each kind: judged ones by grade, or each as its own kind, then the unjudged ones."""
        judged = np.unique(self.grade, return_counts=True)[1].tolist() if alike else [1] * len(self.rows)
        return [*judged, self.size - len(self.rows)]

    def count(self, alike: bool) -> int:
        """The number of orders that differ, or a number above the limit."""
        number = 1
        left = self.size
        for kind in self.kinds(alike):
            if 0 < kind < left and left > MOST_ORDERS:
                return MOST_ORDERS + 1  # at least one order for each place that the first of the kind may take
            number *= math.comb(left, kind)
            left -= kind
            if number > MOST_ORDERS:
                return MOST_ORDERS + 1
        return number

    def all_orders(self, alike: bool) -> list[Array]:
        """The ranks of the judged documents in every order that can be told apart by the metric."""
        kinds = np.argsort(self.grade, kind="stable")
        sizes = self.kinds(alike)[:-1]
        out = []
        for ranks in _place_kinds(tuple(range(self.size)), sizes):
            order = np.empty(len(self.rows), dtype=np.int64)
            order[kinds] = ranks
            out.append(order + self.start)
        return out

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """The same in orders drawn at random, a row each."""
        orders = rng.permuted(np.tile(np.arange(self.size), (count, 1)), axis=1)
        return orders[:, : len(self.rows)] + self.start


def _place_kinds(free: tuple[int, ...], sizes: Sequence[int]) -> Iterator[list[int]]:
    if not sizes:
        yield []
        return
    for taken in combinations(free, sizes[0]):
        left = tuple(sorted(set(free).difference(taken)))
        for rest in _place_kinds(left, sizes[1:]):
            yield [*taken, *rest]


@dataclass(frozen=True, eq=False)
class _Tried:
    """The orders in which a query is scored: the ranks of its judged documents, one row per order, and of each order the row that shows it."""

    number: int
    ranks: Array
    complete: bool
    row: Array

    @classmethod
    def of(cls, number: int, ranks: Array, complete: bool, reach: int | None) -> _Tried:
        """Merge orders that are equal down to ``reach``. Lower documents count as not retrieved."""
        if reach is None:
            return cls(number, ranks, complete, np.arange(len(ranks)))
        ranks = np.where(ranks <= reach, ranks, 0)
        rows: dict[bytes, int] = {}
        row = np.array([rows.setdefault(one.tobytes(), len(rows)) for one in ranks])
        first = np.unique(row, return_index=True)[1]
        return cls(number, ranks[first], complete, row)


def try_orders(
    tied: TieGroups, metrics: Sequence[Any], plainly: Sequence[Values], ties: str, depth: int | None, seed: int
) -> list[Values]:
    """Score all orders of each query, or a sample, and return their mean, best or worst value. The metrics need the same groups."""
    values = [one.value.copy() for one in plainly]
    errors = [np.zeros(len(one)) for one in values]
    drawn = 0
    picks = [_picker(metric, ties) for metric in metrics]
    for number, of_metrics, complete in tied.scored(metrics, depth, seed):
        drawn += not complete
        for every, pick, value, error in zip(of_metrics, picks, values, errors, strict=True):
            order_values = every if complete else every[:-EXTREMES] if ties == "expected" else every[EXTREMES:]
            value[number] = pick(order_values)
            if not complete and ties == "expected":
                known = order_values[~np.isnan(order_values)]
                error[number] = float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0
    return [
        replace(plain, value=value, error=error if error.any() else None, sampled_queries=drawn)
        for plain, value, error in zip(plainly, values, errors, strict=True)
    ]


def _looks_at(metric: Any) -> tuple[int | None, bool]:
    everywhere = metric.looks_below or getattr(metric, "judged_only", False)
    return (None if everywhere else getattr(metric, "cutoff", None), not metric.needs & ASPECTS)


def _picker(metric: Any, ties: str) -> Callable[[Array], float]:
    high = (ties == "best") == (metric.better != "lower")

    def pick(values: Array) -> float:
        known = values[~np.isnan(values)]
        if not len(known):
            return math.nan
        if ties == "expected":
            return math.fsum(known.tolist()) / len(known)
        return float(known.max() if high else known.min())

    return pick


def _orders(judged: Judged, number: int, groups: Sequence[_Group], alike: bool, seed: int) -> tuple[Array, bool]:
    """Ranks of the retrieved judged documents of a query, one row per order, and whether these are all. Drawn orders are followed by the best and worst by grade, that of ids and its reverse."""
    at = judged.start[number]
    plain = judged.rank[at : at + judged.in_run[number]]
    count = math.prod(group.count(alike) for group in groups)
    if count <= MOST_ORDERS:
        out = np.tile(plain, (count, 1))
        for row, chosen in enumerate(product(*(group.all_orders(alike) for group in groups))):
            for group, ranks in zip(groups, chosen, strict=True):
                out[row, group.rows] = ranks
        return out, True
    name = blake2b(judged.query_id[number].encode("utf-8", "surrogatepass"), digest_size=8).digest()
    rng = np.random.default_rng([seed, int.from_bytes(name, "big")])
    out = np.tile(plain, (SAMPLE_SIZE + EXTREMES, 1))
    best, worst, by_id, reverse = out[SAMPLE_SIZE:]
    for group in groups:
        out[:SAMPLE_SIZE, group.rows] = group.draw(rng, SAMPLE_SIZE)
        by_id[group.rows] = plain[group.rows]
        reverse[group.rows] = 2 * group.start + group.size - 1 - plain[group.rows]
        by = np.argsort(-group.grade, kind="stable")
        best[group.rows[by]] = group.start + np.arange(len(by))
        worst[group.rows[by]] = group.start + group.size - 1 - np.arange(len(by))
    return out, False


def _of_orders(
    judged: Judged, pending: Sequence[_Tried], metrics: Sequence[Any], depth: int | None
) -> Iterator[tuple[int, list[Array], bool]]:
    if not pending:
        return
    values = [one.value for one in score(cut(_arranged(judged, pending), depth), metrics)]
    at = 0
    for tried in pending:
        yield tried.number, [one[at : at + len(tried.ranks)][tried.row] for one in values], tried.complete
        at += len(tried.ranks)


def _arranged(judged: Judged, pending: Sequence[_Tried]) -> Judged:
    """Each query in each of its orders. Documents that were not retrieved keep their positions, because only their grades count."""
    many = judged.of(np.repeat([tried.number for tried in pending], [len(tried.ranks) for tried in pending]))
    ranks = np.concatenate([tried.ranks.ravel() for tried in pending])
    query = np.repeat(np.arange(len(many)), many.in_run)
    here = (many.start - np.cumsum(many.in_run) + many.in_run)[query] + np.arange(len(query))
    by = judged_order(query, ranks, np.zeros(len(query)))
    where = np.arange(len(many.rank))
    where[here] = here[by]
    rank = np.zeros(len(where), dtype=many.rank.dtype)
    rank[here] = ranks[by]
    in_run = np.bincount(query, weights=ranks > 0, minlength=len(many)).astype(np.int64)
    columns = many.documents(where) | {"rank": rank, "tie_start": rank, "tie_size": np.ones_like(many.tie_size)}
    return replace(many, in_run=in_run, **columns)


def score_under_ties(judged: Judged, metrics: Sequence[Any], ties: str, depth: int | None, seed: int) -> list[Values]:
    """The values of metrics under a tie policy. ``judged`` is cut at ``depth`` already if the policy is one order."""
    if ties not in {"expected", "best", "worst"}:
        return score(judged, metrics)
    plainly = score(cut(judged, depth), metrics)
    tied = TieGroups(judged)
    if not len(tied.queries):
        return plainly
    closed = [m for m in metrics if ties == "expected" and depends_on_order(m, depth) and has_closed_form(m, depth)]
    means = dict(zip(map(id, closed), _expected_values(judged, tied, closed, depth), strict=True))
    out: list[Values] = []
    tried: dict[tuple[int | None, bool], list[int]] = {}
    arranged: dict[float | None, Judged] = {}
    for metric, values in zip(metrics, plainly, strict=True):
        if not depends_on_order(metric, depth) or (ties == "expected" and metric.counts_ties and depth is None):
            out.append(values)
        elif id(metric) in means:
            out.append(replace(values, value=np.where(tied.mask, means[id(metric)], values.value)))
        elif ties != "expected" and _grades_settle(metric, depth):
            level = _level(metric)
            if level not in arranged:
                good = np.asarray(judged.grade > 0 if level is None else judged.grade >= max(level, 0.0))
                arranged[level] = cut(by_grade(judged, good, best=ties == "best"), depth)
            out.append(score(arranged[level], [metric])[0])
        else:
            tried.setdefault(_looks_at(metric), []).append(len(out))
            out.append(values)
    for numbers in tried.values():
        tied_values = try_orders(tied, [metrics[i] for i in numbers], [out[i] for i in numbers], ties, depth, seed)
        for i, values in zip(numbers, tied_values, strict=True):
            out[i] = values
    return out


def depends_on_order(metric: Any, depth: int | None = None) -> bool:
    """True if the order of tied documents can make a difference to a metric. If lists are cut, it can to any."""
    cut_somewhere = depth is not None or getattr(metric, "cutoff", None) is not None
    return metric.aggregate != "pooled" and (metric.positions or cut_somewhere)


def _free_of(depth: int | None, metric: Any) -> bool:
    looks = metric.looks_below or metric.counts_ties or getattr(metric, "judged_only", False)
    return depth is None or (metric.empty == 0 and not looks)


def _grades_settle(metric: Any, depth: int | None) -> bool:
    # to be cut off may be better than to stand low, where low values are good
    better = depth is None or metric.better != "lower"
    return metric.settled_by_grade and not metric.needs and better and _free_of(depth, metric)


def has_closed_form(metric: Any, depth: int | None) -> bool:
    """True if the mean over all orders has a closed form."""
    return bool(metric.additive) and _free_of(depth, metric)


def _level(metric: Any) -> float | None:
    return getattr(metric, "level", None) if metric.relevance == "binary" else None


def by_grade(judged: Judged, good: Array, best: bool) -> Judged:
    """Tied documents by grade: the good ones on top of their group, best first, the rest at its end, or all in reverse."""
    there = judged.rank > 0
    falling = np.lexsort((-judged.grade, judged.tie_start, ~there, judged.query))
    group = np.stack([judged.query[falling], judged.tie_start[falling]])
    fresh = np.append(True, (group[:, 1:] != group[:, :-1]).any(axis=0)) if len(falling) else np.empty(0, bool)
    head = np.maximum.accumulate(np.where(fresh, np.arange(len(falling)), 0))
    number = np.cumsum(fresh) - 1
    members = np.bincount(number)[number] if len(number) else number
    from_top = np.arange(len(falling)) - head
    size = judged.tie_size[falling]
    # documents nobody judged stand between the relevant ones and the others
    offset = np.where(good[falling], from_top, size - members + from_top)
    offset = offset if best else size - 1 - offset
    rank = np.zeros(len(falling), dtype=np.int64)
    rank[falling] = judged.tie_start[falling] + offset
    return _untie(rerank(judged, np.where(there, rank, 0), judged.retrieved))


def _untie(judged: Judged) -> Judged:
    return replace(judged, tie_start=judged.rank, tie_size=np.ones_like(judged.tie_size))


def _expected_values(judged: Judged, tied: TieGroups, metrics: Sequence[Any], depth: int | None) -> list[Array]:
    out = [np.full(len(judged), np.nan) for _ in metrics]
    if not metrics:
        return out
    reach = [getattr(m, "cutoff", None) if not getattr(m, "judged_only", False) else None for m in metrics]
    cutoffs = [k for k in reach if k is not None]
    upto = max(cutoffs) if len(cutoffs) == len(reach) and not any(m.looks_below for m in metrics) else None
    for chunk in _chunks(judged, tied.queries):
        lists = judged.lists(chunk)
        for metric, values in zip(metrics, out, strict=True):
            values[chunk] = metric.mean_over_orders(lists, depth, upto)
    return out


def _chunks(judged: Judged, queries: Array) -> list[Array]:
    """Split queries into chunks, so that their lists stay small for all positions of tied documents."""
    query, there = judged.query, judged.rank > 0
    by = np.lexsort((judged.grade, judged.tie_start, query, ~there))[: int(there.sum())]
    fresh = np.ones(len(by), dtype=bool)  # documents of one grade in one group share their cells
    for one in (query, judged.tie_start, judged.grade):
        fresh[1:] = (one[by[1:]] != one[by[:-1]]) | (fresh[1:] if one is not query else False)
    width = np.bincount(query[by[fresh]], weights=judged.tie_size[by[fresh]], minlength=len(judged))[queries]
    return [queries[chunk] for chunk in chunks_of(width, CELLS)]
