"""What a rank is worth to a metric, found out from the metric itself: one relevant document, moved down rank by rank."""

from __future__ import annotations

import numpy as np

from rankscope.declared import Table as Written
from rankscope.engines.base import mapped
from rankscope.errors import InputError
from rankscope.lists import Array, Aspects, Judged
from rankscope.metrics import Metric

DEPTH = 100  # ranks that are looked at
LEAST = 1e-9  # a difference that is more than rounding


def weights_of(metric: Metric, depth: int = DEPTH) -> Array:
    """What one document of the top grade earns at rank 1, 2 ... where it is the only relevant one, divided by that at rank 1.

    Raises InputError, with the reason, for a metric that has no such weights: because it is blind to the order, because lower
    values are better, or because what a rank is worth depends on how many documents were retrieved.

    >>> from rankscope.metrics import parse
    >>> weights_of(parse("RR"), 4).tolist()
    [1.0, 0.5, 0.3333333333333333, 0.25]
    """
    if metric.better != "higher":
        raise _without(
            metric, "lower values are better" if metric.better == "lower" else "high values are no better than low ones"
        )
    if metric.aggregate == "pooled":
        raise _without(metric, "it is one value over the documents of all queries together")
    if not metric.positions and getattr(metric, "cutoff", None) is None:
        raise _without(metric, "it is blind to the order, so a document counts the same wherever it stands")
    values = _values(metric, depth, depth)
    if not np.isfinite(values).all() or not values[0] > 0:
        raise _without(metric, "one relevant document at rank 1 earns nothing by itself")
    if values.min() < 0:
        raise _without(metric, "its value is a transformation of a sum, and goes below 0")
    out = values / values[0]
    longer = _values(metric, depth, 2 * depth)
    if not np.allclose(out, longer / longer[0] if longer[0] else np.nan, rtol=1e-9, atol=1e-12):
        raise _without(metric, "what a document earns depends on how many stand below it, not on its rank alone")
    return np.asarray(out)


def hidden_of(metric: Metric, depth: int = DEPTH) -> Array | None:
    """What a document of the top grade adds at rank 1, 2 ... where all ranks above it hold such documents too, divided by that at rank 1.

    None for a metric without weights by rank, and where this is nowhere less than what the document earns alone: only of metrics
    with a reader who is satisfied, and stops, do good documents hide those below.

    >>> from rankscope.metrics import parse
    >>> hidden_of(parse("RR"), 4).tolist()
    [1.0, 0.0, 0.0, 0.0]
    >>> hidden_of(parse("DCG")) is None
    True
    """
    try:
        alone = weights_of(metric, depth)
    except InputError:
        return None
    adds = np.diff(mapped(_filled(depth, _top_grade(metric)), [metric.score])[0])
    if not np.isfinite(adds).all() or not adds[0] > 0:
        return None
    out = adds / adds[0]
    hides = bool((out >= -LEAST).all() and (out <= alone + LEAST).all() and (out < alone - LEAST).any())
    return np.maximum(out, 0.0) if hides else None


def _without(metric: Metric, because: str) -> InputError:
    return InputError(f"{metric} has no weight by rank: {because}; RR, nDCG@10 or RBP have one")


def _values(metric: Metric, depth: int, length: int) -> Array:
    """The values of rankings of this length whose only relevant document stands at rank 1, 2 ... ``depth``."""
    try:
        return mapped(_placed(depth, length, _top_grade(metric)), [metric.score])[0]
    except (AssertionError, TypeError):  # a metric that asks for what no ranking of ours has
        raise _without(metric, "it needs more than ranks and grades") from None


def _top_grade(metric: Metric) -> float:
    """The best grade of the metric's scale; a relevant one where it has no scale."""
    gain = getattr(metric, "gain", None)
    if isinstance(gain, Written) and gain:
        return max(gain, key=lambda pair: pair[1])[0]
    top = getattr(metric, "max_grade", None)
    level = float(getattr(metric, "level", None) or 1.0)
    return float(top) if isinstance(top, int | float) else max(1.0, level)


def _filled(depth: int, grade: float) -> Judged:
    """Queries with the first 0, 1 ... ``depth`` ranks full of documents of this grade; all have as many of them, retrieved or not."""
    count = np.arange(depth + 1)
    top = np.arange(depth) < count[:, None]
    grades = (np.hstack([top, ~top]) * grade).ravel()
    rank = np.tile(np.append(np.arange(1, depth + 1), np.zeros(depth, dtype=np.int64)), depth + 1)
    ones = np.ones(len(grades), dtype=np.int64)
    return Judged(
        query_id=[str(r) for r in count.tolist()],
        retrieved=np.full(depth + 1, depth),
        size=np.full(depth + 1, 2 * depth),
        found=np.full(depth + 1, depth),
        grade=grades,
        rank=rank,
        tie_start=rank,
        tie_size=ones,
        score=-rank.astype(float),
        aspects=Aspects(ones, ones - 1, ones - 1, grades, "relevant documents"),
    )


def _placed(depth: int, length: int, grade: float) -> Judged:
    """A query for each rank; all documents are judged, and one of each query has this grade."""
    grades = (np.eye(depth, length) * grade).ravel()
    rank = np.tile(np.arange(1, length + 1), depth)
    ones = np.ones(len(grades), dtype=np.int64)
    size = np.full(depth, length)
    return Judged(
        query_id=[str(r) for r in range(1, depth + 1)],
        retrieved=size,
        size=size,
        found=size,
        grade=grades,
        rank=rank,
        tie_start=rank,
        tie_size=ones,
        score=-rank.astype(float),
        aspects=Aspects(ones, ones - 1, ones - 1, grades, "one relevant document"),
    )
