"""What a metric is over all orders of equal scores: the mean, the best and the worst.

Closed forms come from the metric where it has one, else orders are tried one by one (``arrangements``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope.engines.arrangements import Tied, cut, reordered, tried
from rankscope.engines.base import Values, score
from rankscope.lists import Array, Judged

CELLS = 1_000_000  # cells of one rectangle


def scored(judged: Judged, metrics: Sequence[Any], ties: str, depth: int | None, seed: int) -> list[Values]:
    """The values of metrics under a tie policy; ``judged`` is cut at ``depth`` already where the policy is one order."""
    if ties not in {"expected", "best", "worst"}:
        return score(judged, metrics)
    plainly = score(cut(judged, depth), metrics)
    tied = Tied(judged)
    if not len(tied.queries):
        return plainly
    closed_ones = [m for m in metrics if ties == "expected" and ordered(m, depth) and closed(m, depth)]
    means = dict(zip(map(id, closed_ones), _expected(judged, tied, closed_ones, depth), strict=True))
    out = []
    for metric, values in zip(metrics, plainly, strict=True):
        if not ordered(metric, depth) or (ties == "expected" and metric.counts_ties and depth is None):
            out.append(values)
        elif id(metric) in means:
            out.append(replace(values, value=np.where(tied.mask, means[id(metric)], values.value)))
        elif ties != "expected" and _settled(metric, depth):
            arranged = cut(by_grade(judged, _good(judged, metric), best=ties == "best"), depth)
            out.append(score(arranged, [metric])[0])
        else:
            out.append(tried(tied, metric, values, ties, depth, seed))
    return out


def ordered(metric: Any, depth: int | None = None) -> bool:
    """Whether the order of tied documents can make a difference to a metric; where lists are cut, it can to any."""
    cut_somewhere = depth is not None or getattr(metric, "cutoff", None) is not None
    return metric.aggregate != "pooled" and (metric.positions or cut_somewhere)


def _free_of(depth: int | None, metric: Any) -> bool:
    """Whether a depth that cuts through tied documents changes nothing but what stands below it."""
    looks = metric.looks_below or metric.counts_ties or getattr(metric, "judged_only", False)
    return depth is None or (metric.empty == 0 and not looks)


def _settled(metric: Any, depth: int | None) -> bool:
    """Whether the order of the grades is the best, and its reverse the worst."""
    # to be cut off may be better than to stand low, where low values are good
    better = depth is None or metric.better != "lower"
    return metric.settled_by_grade and not metric.needs and better and _free_of(depth, metric)


def closed(metric: Any, depth: int | None) -> bool:
    """Whether the mean over all orders has a closed form."""
    return bool(metric.additive) and _free_of(depth, metric)


def _good(judged: Judged, metric: Any) -> Array:
    """The documents that a metric wants high in the list."""
    level = getattr(metric, "level", None) if metric.relevance == "binary" else None
    return np.asarray(judged.grade > 0 if level is None else judged.grade >= max(level, 0.0))


def by_grade(judged: Judged, good: Array, best: bool) -> Judged:
    """Tied documents by grade: the good ones on top of their group, best first, the rest at its end; or all in reverse."""
    query = np.repeat(np.arange(len(judged)), judged.size)
    there = judged.rank > 0
    falling = np.lexsort((-judged.grade, judged.tie_start, ~there, query))
    group = np.stack([query[falling], judged.tie_start[falling]])
    fresh = (
        np.append(True, (group[:, 1:] != group[:, :-1]).any(axis=0)) if len(falling) else np.empty(0, bool)
    )
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
    rank = np.where(there, rank, 0)
    by = np.lexsort((-judged.grade, np.where(there, rank, np.iinfo(np.int64).max), query))
    arranged = reordered(judged, by, rank, judged.retrieved)
    return replace(arranged, tie_start=arranged.rank, tie_size=np.ones_like(arranged.tie_size))


def _expected(judged: Judged, tied: Tied, metrics: Sequence[Any], depth: int | None) -> list[Array]:
    """The closed forms for the queries with ties; NaN for the others."""
    out = [np.full(len(judged), np.nan) for _ in metrics]
    if not metrics:
        return out
    reach = [getattr(m, "cutoff", None) if not getattr(m, "judged_only", False) else None for m in metrics]
    cutoffs = [k for k in reach if k is not None]
    upto = max(cutoffs) if len(cutoffs) == len(reach) and not any(m.looks_below for m in metrics) else None
    for chunk in _chunks(judged, tied.queries):
        lists = judged.lists(chunk)
        for metric, values in zip(metrics, out, strict=True):
            values[chunk] = metric.expected(lists, depth, upto)
    return out


def _chunks(judged: Judged, queries: Array) -> Iterator[Array]:
    """Queries in portions of which the lists, all places of tied documents told, stay small."""
    query = np.repeat(np.arange(len(judged)), judged.size)
    places = np.where(judged.rank > 0, judged.tie_size, 1).astype(float)
    # documents of one grade share their cells: no more cells than documents x places, nor than a few grades x ranks
    most = np.bincount(query, weights=places, minlength=len(judged))
    first = np.ones(len(query), dtype=bool)
    first[1:] = (query[1:] != query[:-1]) | (judged.tie_start[1:] != judged.tie_start[:-1])
    ranks = np.bincount(query, weights=places * first, minlength=len(judged))
    width = np.minimum(most, 6 * ranks)[queries]
    order = queries[np.argsort(width, kind="stable")]
    width = np.sort(width)
    at = 0
    while at < len(order):
        area = width[at:] * np.arange(1, len(order) - at + 1)
        stop = at + max(1, int(np.searchsorted(area, CELLS, side="right")))
        yield order[at:stop]
        at = stop
