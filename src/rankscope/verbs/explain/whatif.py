"""What a value would be if documents stood at other ranks, or had other grades."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rankscope.engines.base import mapped
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric

FEW = 10  # ranks that are tried, of a metric without a cutoff
MOST = 200  # judged documents that are tried at other ranks


@dataclass(frozen=True)
class Swap:
    """Two ranks whose exchange gains most, and the gain in the better direction."""

    upper: int
    lower: int
    gain: float


def best_swap(metric: Metric, judged: Judged, value: float, length: int) -> Swap | None:
    """The exchange of two retrieved documents that gains most; None where none gains anything.

    ``judged`` is one query of this ``value``, whose ranking has this ``length``.
    """
    count = min(int(judged.found[0]), MOST)
    sign = {"higher": 1.0, "lower": -1.0, "neither": 0.0}[metric.better]
    if not count or not sign or math.isnan(value):
        return None
    ranks = judged.rank[: int(judged.found[0])]
    limit = getattr(metric, "cutoff", None) or FEW
    places = sorted({*range(1, min(limit, length) + 1), *ranks[:count].tolist()})
    pairs = [(j, place) for j in range(count) for place in places if place != ranks[j]]
    if not pairs:
        return None
    moved = np.array([j for j, _ in pairs])
    target = np.array([place for _, place in pairs])
    at = {int(rank): j for j, rank in enumerate(ranks.tolist())}
    tried = np.tile(ranks, (len(pairs), 1))
    there = np.array([at.get(place, -1) for place in target.tolist()])
    both = np.flatnonzero(there >= 0)
    tried[both, there[both]] = ranks[moved[both]]
    tried[np.arange(len(pairs)), moved] = target
    gains = sign * (_values(metric, _at_ranks(judged, tried)) - value)
    best = int(np.nanargmax(gains)) if not np.isnan(gains).all() else 0
    if not gains[best] > 1e-12:
        return None
    upper, lower = sorted((int(ranks[moved[best]]), int(target[best])))
    return Swap(upper, lower, float(gains[best]))


def value_if_relevant(metric: Metric, judged: Judged, value: float) -> tuple[int, float]:
    """How many documents that the metric looks at are unjudged, and the value if they had the top grade of the query."""
    cutoff = getattr(metric, "cutoff", None)
    depth = min(int(judged.retrieved[0]), cutoff or int(judged.retrieved[0]))
    known = set(judged.rank[: int(judged.found[0])].tolist())
    missing = np.array([rank for rank in range(1, depth + 1) if rank not in known], dtype=np.int64)
    if not len(missing) or judged.aspects is not None:
        return len(missing), value
    top = max(float(np.max(judged.grade, initial=1.0)), 1.0)
    old, more = int(judged.found[0]), len(missing)
    rank = np.concatenate([judged.rank[:old], missing])
    grade = np.concatenate([judged.grade[:old], np.full(more, top)])
    order = np.argsort(rank, kind="stable")
    rank = np.concatenate([rank[order], judged.rank[old:]])
    filled = replace(
        judged,
        size=judged.size + more,
        found=judged.found + more,
        grade=np.concatenate([grade[order], judged.grade[old:]]),
        rank=rank,
        tie_start=rank,
        tie_size=np.ones_like(rank),
        score=None if judged.score is None else -rank.astype(float),
        by_id=None,
    )
    return more, float(_values(metric, filled)[0])


def _values(metric: Metric, judged: Judged) -> Array:
    (values,) = mapped(judged, [metric.score])
    return values


def _at_ranks(judged: Judged, ranks: Array) -> Judged:
    """Copies of one query with its retrieved judged documents at other ranks: ``ranks`` is copies x found, distinct in a row."""
    copies, found = ranks.shape
    size = int(judged.size[0])
    order = np.argsort(ranks, axis=1, kind="stable")
    rest = np.broadcast_to(np.arange(found, size), (copies, size - found))
    rows = np.concatenate([order, rest], axis=1).ravel()
    rank = np.concatenate(
        [np.take_along_axis(ranks, order, 1), np.zeros((copies, size - found), dtype=np.int64)], axis=1
    ).ravel()
    return Judged(
        query_id=list(judged.query_id) * copies,
        retrieved=np.repeat(judged.retrieved, copies),
        size=np.repeat(judged.size, copies),
        found=np.repeat(judged.found, copies),
        grade=judged.grade[rows],
        rank=rank,
        tie_start=rank,
        tie_size=np.ones_like(rank),
        score=None if judged.score is None else -rank.astype(float),
        aspects=None if judged.aspects is None else judged.aspects.at(rows),
        by_id=None if judged.by_id is None else judged.by_id[rows],
    )
