"""The weight of each rank in a metric, measured with one relevant document that moves down rank by rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText, Table, Value
from rankscope.declared import Lookup
from rankscope.errors import InputError
from rankscope.lists import Array, Aspects, Judged
from rankscope.metrics.base import Metric
from rankscope.metrics.browsing import ERR

DEPTH = 100  # ranks
ROUNDING = 1e-9
TABLE_RANKS = (1, 2, 3, 5, 10, 20, 50, 100)
TOP = 10  # tables show the share of the weight below this rank
BELOW = ", below others"
ALONE = (
    "The earnings of a single relevant document at each rank, relative to rank 1. With several relevant documents, "
    "the earnings of one may depend on the others."
)
HIDDEN = (
    "The earnings of a document of the top grade at each rank, relative to rank 1: if it is the only relevant one, and below others, "
    "if all ranks above also hold top documents. A good document lowers the earnings below it: rank 2 then adds {} "
    "of rank 1. Real rankings are between the two."
)
GRADED = (
    " The ERR reach of a report is different: the share of readers still looking at each rank of your own rankings."
)


def weights_of(metric: Metric, depth: int = DEPTH) -> Array:
    """The earnings of a document of the top grade at rank 1, 2 ..., if it is the only relevant one, divided by rank 1.

    Raises InputError with the reason for a metric without such weights: it ignores the order, lower values are better, or the weight of
    a rank depends on the number of retrieved documents.
    """
    if metric.better != "higher":
        raise _without(metric, "lower values are better" if metric.better == "lower" else "it has no better direction")
    if metric.aggregate == "pooled":
        raise _without(metric, "it is one value over the documents of all queries together")
    if not metric.positions and getattr(metric, "cutoff", None) is None:
        raise _without(metric, "it ignores the order, so a document counts the same at every rank")
    values = _values(metric, depth, depth)
    if not np.isfinite(values).all() or not values[0] > 0:
        raise _without(metric, "a single relevant document at rank 1 earns nothing")
    if values.min() < 0:
        raise _without(metric, "its value is a transformation of a sum, and goes below 0")
    out = values / values[0]
    longer = _values(metric, depth, 2 * depth)
    if not np.allclose(out, longer / longer[0] if longer[0] else np.nan, rtol=1e-9, atol=1e-12):
        reason = "the earnings of a document depend on the number of documents below it, not only on its rank"
        raise _without(metric, reason)
    return np.asarray(out)


def weights_below_relevant(metric: Metric, depth: int = DEPTH) -> Array | None:
    """The earnings of a document of the top grade at rank 1, 2 ..., if all ranks above also hold such documents, divided by rank 1.

    None for a metric without weights by rank, or if no rank earns less than for a single document: good documents lower the earnings
    below them only in metrics of a reader who stops when satisfied.
    """
    try:
        alone = weights_of(metric, depth)
    except InputError:
        return None
    adds = np.diff(metric.score_all(_fill_top(depth, _top_grade(metric))))
    if not np.isfinite(adds).all() or not adds[0] > 0:
        return None
    out = adds / adds[0]
    hides = bool((out >= -ROUNDING).all() and (out <= alone + ROUNDING).all() and (out < alone - ROUNDING).any())
    return np.maximum(out, 0.0) if hides else None


def weight_below(weights: Array, rank: int = TOP) -> float:
    """The share of the weight below a rank."""
    values = weights.tolist()
    whole = math.fsum(values)
    return math.fsum(values[rank:]) / whole if whole else math.nan


def chart_of(metric: Metric, alone: bool = False) -> Chart:
    """A chart of ``weights_of`` a metric.

    If good documents lower the earnings below them, as in ERR, a second line shows ``weights_below_relevant``. ``alone`` leaves the line
    out, but not its caption. Raises InputError with the reason for a metric without such weights.
    """
    curves = _curves_of(metric)
    hidden, caption = curves.get(f"{metric}{BELOW}"), ALONE
    if hidden is not None:
        share = words.share(float(hidden[1])) if hidden[1] else "nothing"
        caption = HIDDEN.format(share) + (GRADED if isinstance(metric, ERR) else "")
    lines = {str(metric): curves[str(metric)]} if alone else curves
    return chart(lines, f"weights-{type(metric).__name__}", f"Weight of each rank in {metric}", caption)


def table_of(metric: Metric) -> Table:
    """A table of the weights of a metric at some ranks."""
    return table(_curves_of(metric))


def chart(curves: Mapping[str, Array], name: str, title: str, caption: str) -> Chart:
    """A chart of weights by rank, one line per metric."""
    rows: list[tuple[Value, ...]] = [
        (metric, rank, value)
        for metric, weights in curves.items()
        for rank, value in enumerate(weights.tolist(), start=1)
    ]
    columns = Column("metric"), Column("rank", "count"), Column("weight", "value")
    return Chart(
        name, title, "lines", columns, tuple(rows), x="rank", y="weight", series="metric", caption=caption,
        logs=frozenset({"x"}), limits=(0.0, 1.0), axes=(("weight", "weight, relative to rank 1"),),
    )  # fmt: skip


def table(curves: Mapping[str, Array], unsummed: Sequence[str] = ()) -> Table:
    """A table of weights at some ranks, with the share below the top except for ``unsummed`` curves, which are not weights."""
    about = f"the share of the weight of ranks 1 to {DEPTH} below rank {TOP}"
    columns = (
        Column("metric"),
        *(Column(f"rank {rank}" if rank == 1 else f"{rank}", "value") for rank in TABLE_RANKS),
        Column(f"below {TOP}", "value", hint=about),
    )
    rows: list[tuple[Value, ...]] = []
    for name, weights in curves.items():
        share = math.nan if name in unsummed else weight_below(weights)
        last = None if math.isnan(share) else NumberText(words.share(share), share)
        rows.append((name, *(float(weights[rank - 1]) for rank in TABLE_RANKS), last))
    return Table(columns, tuple(rows), name="discounts-table", note=f"below {TOP}: {about}.")


def _curves_of(metric: Metric) -> dict[str, Array]:
    ready = metric.ready()
    curves, hidden = {str(metric): weights_of(ready)}, weights_below_relevant(ready)
    return curves if hidden is None else {**curves, f"{metric}{BELOW}": hidden}


def _without(metric: Metric, because: str) -> InputError:
    return InputError(f"{metric} has no weight by rank: {because}; RR, nDCG@10 or RBP have weights")


def _values(metric: Metric, depth: int, length: int) -> Array:
    """The values of rankings of this length with one relevant document, at rank 1, 2 ... ``depth``."""
    try:
        return metric.score_all(_place_one(depth, length, _top_grade(metric)))
    except (AssertionError, TypeError):  # the metric needs more than these rankings have
        raise _without(metric, "it needs more than ranks and grades") from None


def _top_grade(metric: Metric) -> float:
    """The best grade of the metric's scale. A relevant grade if it has no scale."""
    gain = getattr(metric, "gain", None)
    if isinstance(gain, Lookup) and gain:
        return max(gain, key=lambda pair: pair[1])[0]
    top = getattr(metric, "max_grade", None)
    level = float(getattr(metric, "level", None) or 1.0)
    return float(top) if isinstance(top, int | float) else max(1.0, level)


def _fill_top(depth: int, grade: float) -> Judged:
    """Queries with documents of this grade at the first 0, 1 ... ``depth`` ranks. Each query has ``depth`` of them, retrieved or not."""
    count = np.arange(depth + 1)
    top = np.arange(depth) < count[:, None]
    grades = (np.hstack([top, ~top]) * grade).ravel()
    rank = np.tile(np.append(np.arange(1, depth + 1), np.zeros(depth, dtype=np.int64)), depth + 1)
    return _judged(grades, rank, np.full(depth + 1, depth), np.full(depth + 1, 2 * depth))


def _place_one(depth: int, length: int, grade: float) -> Judged:
    """One query per rank. All documents are judged, and one per query has this grade."""
    size = np.full(depth, length)
    return _judged((np.eye(depth, length) * grade).ravel(), np.tile(np.arange(1, length + 1), depth), size, size)


def _judged(grades: Array, rank: Array, retrieved: Array, size: Array) -> Judged:
    ones = np.ones(len(grades), dtype=np.int64)
    return Judged(
        query_id=list(map(str, range(len(size)))), retrieved=retrieved, size=size, in_run=retrieved, grade=grades, rank=rank,
        tie_start=rank, tie_size=ones, score=-rank.astype(float),
        aspects=Aspects(ones, ones - 1, ones - 1, grades, "relevant documents"),
    )  # fmt: skip
