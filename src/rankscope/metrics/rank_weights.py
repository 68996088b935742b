"""What each rank is worth to a metric, measured on the metric itself: one relevant document, moved down rank by rank."""

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

DEPTH = 100  # ranks that are looked at
LEAST = 1e-9  # a difference that is more than rounding
RANKS = (1, 2, 3, 5, 10, 20, 50, 100)  # ranks of a table
TOP = 10  # the share of the weight below this rank is told
BELOW = ", below others"
ALONE = (
    "What one relevant document at each rank adds, compared with rank 1, where it is the only one. Where there are several, "
    "what one adds may depend on the others."
)
HIDDEN = (
    "What one document of the top grade at each rank adds, compared with rank 1: where it is the only relevant one, and below others, "
    "where all ranks above hold such documents too. A good document makes those below it worth less: at rank 2 it then adds {} "
    "of what it adds at rank 1. Rankings lie between the two."
)
GRADED = " The ERR reach of a report is something else: the share of readers still looking at each rank of your own rankings."


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
    adds = np.diff(_score_all(metric, _fill_top(depth, _top_grade(metric))))
    if not np.isfinite(adds).all() or not adds[0] > 0:
        return None
    out = adds / adds[0]
    hides = bool((out >= -LEAST).all() and (out <= alone + LEAST).all() and (out < alone - LEAST).any())
    return np.maximum(out, 0.0) if hides else None


def weight_below(weights: Array, rank: int = TOP) -> float:
    """The share of the weight that lies below a rank."""
    values = weights.tolist()
    whole = math.fsum(values)
    return math.fsum(values[rank:]) / whole if whole else math.nan


def chart_of(metric: Metric, alone: bool = False) -> Chart:
    """The weight of each rank of one metric: what one document of the top grade earns there where it is the only relevant one, over that at rank 1.

    Where good documents hide those below, as in ERR, a second line shows what it adds below others of the top grade; ``alone``
    leaves that line out of the chart, not out of its caption. Raises InputError, with the reason, for a metric without such weights.

    >>> from rankscope.metrics import parse
    >>> chart_of(parse("RR")).rows[:2]
    (('RR', 1, 1.0), ('RR', 2, 0.5))
    """
    curves = _curves_of(metric)
    hidden = curves.get(f"{metric}{BELOW}")
    caption = ALONE
    if hidden is not None:
        share = words.share(float(hidden[1])) if hidden[1] else "nothing"
        caption = HIDDEN.format(share) + (GRADED if isinstance(metric, ERR) else "")
    lines = {str(metric): curves[str(metric)]} if alone else curves
    return chart(lines, f"weights-{type(metric).__name__}", f"What each rank is worth to {metric}", caption)


def table_of(metric: Metric) -> Table:
    """The weights of one metric as a table, at some ranks."""
    return table(_curves_of(metric))


def chart(curves: Mapping[str, Array], name: str, title: str, caption: str) -> Chart:
    """Weights by rank, a line a metric."""
    rows: list[tuple[Value, ...]] = [
        (metric, rank, value)
        for metric, weights in curves.items()
        for rank, value in enumerate(weights.tolist(), start=1)
    ]
    columns = Column("metric"), Column("rank", "count"), Column("weight", "value")
    return Chart(
        name, title, "lines", columns, tuple(rows), x="rank", y="weight", series="metric", caption=caption,
        logs=frozenset({"x"}), limits=(0.0, 1.0), axes=(("weight", "weight, out of that of rank 1"),),
    )  # fmt: skip


def table(curves: Mapping[str, Array], unsummed: Sequence[str] = ()) -> Table:
    """Weights at some ranks, and how much lies below the top; of the ``unsummed`` curves, which are no weights, only the first."""
    about = f"the share of the weight of ranks 1 to {DEPTH} that lies below rank {TOP}"
    columns = (
        Column("metric"),
        *(Column(f"rank {rank}" if rank == 1 else f"{rank}", "value") for rank in RANKS),
        Column(f"below {TOP}", "value", hint=about),
    )
    rows: list[tuple[Value, ...]] = []
    for name, weights in curves.items():
        share = math.nan if name in unsummed else weight_below(weights)
        last = None if math.isnan(share) else NumberText(words.share(share), share)
        rows.append((name, *(float(weights[rank - 1]) for rank in RANKS), last))
    return Table(columns, tuple(rows), name="discounts-table", note=f"below {TOP}: {about}.")


def _curves_of(metric: Metric) -> dict[str, Array]:
    """What a document is worth at each rank by itself, and below others where that is less."""
    ready = metric.ready()
    curves, hidden = {str(metric): weights_of(ready)}, hidden_of(ready)
    return curves if hidden is None else {**curves, f"{metric}{BELOW}": hidden}


def _without(metric: Metric, because: str) -> InputError:
    return InputError(f"{metric} has no weight by rank: {because}; RR, nDCG@10 or RBP have one")


def _values(metric: Metric, depth: int, length: int) -> Array:
    """The values of rankings of this length whose only relevant document stands at rank 1, 2 ... ``depth``."""
    try:
        return _score_all(metric, _place_one(depth, length, _top_grade(metric)))
    except (AssertionError, TypeError):  # a metric that asks for what no ranking of ours has
        raise _without(metric, "it needs more than ranks and grades") from None


def _top_grade(metric: Metric) -> float:
    """The best grade of the metric's scale; a relevant one where it has no scale."""
    gain = getattr(metric, "gain", None)
    if isinstance(gain, Lookup) and gain:
        return max(gain, key=lambda pair: pair[1])[0]
    top = getattr(metric, "max_grade", None)
    level = float(getattr(metric, "level", None) or 1.0)
    return float(top) if isinstance(top, int | float) else max(1.0, level)


def _score_all(metric: Metric, judged: Judged) -> Array:
    out = np.full(len(judged), np.nan)
    for chunk in judged.chunks():
        out[chunk] = metric.score(judged.lists(chunk))
    return out


def _fill_top(depth: int, grade: float) -> Judged:
    """Queries with the first 0, 1 ... ``depth`` ranks full of documents of this grade; all have as many of them, retrieved or not."""
    count = np.arange(depth + 1)
    top = np.arange(depth) < count[:, None]
    grades = (np.hstack([top, ~top]) * grade).ravel()
    rank = np.tile(np.append(np.arange(1, depth + 1), np.zeros(depth, dtype=np.int64)), depth + 1)
    return _judged(grades, rank, np.full(depth + 1, depth), np.full(depth + 1, 2 * depth))


def _place_one(depth: int, length: int, grade: float) -> Judged:
    """A query for each rank; all documents are judged, and one of each query has this grade."""
    size = np.full(depth, length)
    return _judged((np.eye(depth, length) * grade).ravel(), np.tile(np.arange(1, length + 1), depth), size, size)


def _judged(grades: Array, rank: Array, retrieved: Array, size: Array) -> Judged:
    """Queries made up of graded documents, of which the first ones are retrieved."""
    ones = np.ones(len(grades), dtype=np.int64)
    return Judged(
        query_id=list(map(str, range(len(size)))), retrieved=retrieved, size=size, in_run=retrieved, grade=grades, rank=rank,
        tie_start=rank, tie_size=ones, score=-rank.astype(float),
        aspects=Aspects(ones, ones - 1, ones - 1, grades, "relevant documents"),
    )  # fmt: skip
