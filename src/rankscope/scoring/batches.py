"""Labels and scores in arrays: the lists that they hold, and their values under a request, without tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from rankscope import words
from rankscope.engines.values import Values, cut
from rankscope.errors import HUGE, InputError
from rankscope.lists import Array, Batch, Judged, RankedBatch
from rankscope.lists.arrays import as_array
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.evaluation import values_of
from rankscope.scoring.policies import OVER_ORDERS
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean

LAYOUTS = "labels and scores are flat arrays of one length, with group sizes or query ids, or two-dimensional ones of one shape"


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """Lists of labels and scores, the query id of each list, and the notes of their reader."""

    batch: Batch
    query_ids: Sequence[Any] | Array
    notes: Sequence[str]


def labelled_batch(
    labels: Any, scores: Any, group: Any = None, mask: Any = None, lengths: Any = None, *,
    group_is: Literal["sizes", "ids", ""] = "",
) -> LabelledBatch:  # fmt: skip
    """Return the lists in these arrays. ``group_is`` is the content of ``group`` if known. Raises InputError if their shapes do not match."""
    notes: list[str] = []
    grade = _numbers(as_array(labels, "labels", notes), "labels")
    score = _numbers(as_array(scores, "scores", notes), "scores")
    if grade.shape != score.shape:
        raise InputError(
            f"labels has the shape {_shape(grade)} and scores {_shape(score)}: give a score for each label"
        )
    if grade.ndim == 2:
        if group is not None:
            raise InputError("two-dimensional labels have one query per row: group goes with flat arrays")
        return _of_rows(grade, score, mask, lengths, notes)
    if grade.ndim != 1:
        raise InputError(f"labels has {words.counted(grade.ndim, 'dimension')}: {LAYOUTS}")
    if mask is not None or lengths is not None:
        raise InputError(f"{'lengths' if mask is None else 'mask'} goes with two-dimensional arrays, one query per row")
    _refuse_infinite(grade)
    if not _all_finite(score) and np.isnan(score).any():
        bad = np.flatnonzero(np.isnan(score))
        raise InputError(f"score {int(bad[0]) + 1:,} of {len(score):,} is NaN; give it a number or leave the row out")
    return _of_groups(grade, score, group, group_is, notes)


def _of_groups(grade: Array, score: Array, group: Any, group_is: str, notes: list[str]) -> LabelledBatch:
    rows = len(grade)
    if group is None:
        return LabelledBatch(Batch(grade, score, np.zeros(1, dtype=np.int64), np.array([rows])), range(1), notes)
    groups = as_array(group, "group", notes)
    takes = f"group is the number of rows of each query, which add up to {rows:,}, or a query id for each row"
    if groups.ndim != 1:
        raise InputError(f"group has the shape {_shape(groups)}: {takes}")
    if not group_is and len(groups) == rows > 1 and groups.dtype.kind in "iuf" and (groups == 1).all():
        raise InputError(
            f"group is 1 for each of {words.counted(rows, 'row')}, which can be query ids or sizes: "
            f"give group=[{rows}] for one query, range({rows}) for one query per row"
        )
    if group_is == "sizes" or (not group_is and len(groups) != rows):
        if groups.dtype.kind not in "iu" and not (groups.dtype.kind == "f" and (groups == np.floor(groups)).all()):
            raise InputError(f"group has {len(groups):,} entries for {words.counted(rows, 'label')}: {takes}")
        if (groups < 0).any():
            raise InputError(f"group holds the size {groups[groups < 0][0]}: {takes}")
        if int(groups.sum()) != rows:
            counts = f"{words.counted(len(groups), 'query', 'queries')} adding up to {words.counted(int(groups.sum()), 'row')}"
            raise InputError(f"group holds {counts}, but there are {words.counted(rows, 'label')}: {takes}")
        size = groups.astype(np.int64)
        return LabelledBatch(Batch(grade, score, np.cumsum(size) - size, size), range(len(size)), notes)
    if len(groups) != rows:
        raise InputError(
            f"there are {words.counted(len(groups), 'query id')} for {words.counted(rows, 'label')}: give one for each"
        )
    return _of_ids(grade, score, groups, notes)


def _of_ids(grade: Array, score: Array, ids: Array, notes: list[str]) -> LabelledBatch:
    """Flat arrays with the query id of each row. Rows of a query are brought together in their order."""
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise InputError(
            f"group: the query id of row {int(np.flatnonzero(np.isnan(ids))[0]) + 1:,} is NaN, but rows need query ids"
        )
    if ids.dtype.kind == "O":
        ids = np.array([str(one) for one in ids.tolist()])
    start = np.flatnonzero(np.append(np.ones(min(len(ids), 1), dtype=bool), ids[1:] != ids[:-1]))
    names, size = ids[start], np.diff(np.append(start, len(ids)))
    distinct, first, code = np.unique(names, return_index=True, return_inverse=True)
    if len(distinct) < len(names):
        in_input_order = np.argsort(first)
        number = np.repeat(np.argsort(in_input_order)[code], size)
        by = np.argsort(number, kind="stable")
        grade, score, names, size = grade[by], score[by], distinct[in_input_order], np.bincount(number)
    return LabelledBatch(Batch(grade, score, np.cumsum(size) - size, size), names, notes)


def _of_rows(grade: Array, score: Array, mask: Any, lengths: Any, notes: list[str]) -> LabelledBatch:
    """Two-dimensional arrays, one query per row, with padding by a mask, by lengths or by NaN in both arrays."""
    count, width = grade.shape
    if mask is not None and lengths is not None:
        raise InputError("mask and lengths both mark padding: give one")
    inside, finite = None, mask is None and lengths is None and _all_finite(score)
    if mask is not None:
        inside = as_array(mask, "mask", notes)
        if inside.shape != grade.shape or inside.dtype.kind != "b":
            kind = f"{inside.dtype} of shape {_shape(inside)}"
            raise InputError(f"mask is true for documents, of the shape {_shape(grade)} of the labels; this is {kind}")
    elif lengths is not None:
        from rankscope.metrics.single import lengths_of

        inside = np.arange(width) < lengths_of(lengths, count, width)[:, None]
    elif grade.dtype.kind == "f" and not finite:
        inside = ~(np.isnan(score) & np.isnan(grade))
    if inside is not None and inside.all():
        inside = None
    seen = score if inside is None else np.where(inside, score, 0.0)
    if not (finite or _all_finite(seen)) and np.isnan(seen).any():
        row, column = np.argwhere(np.isnan(seen))[0].tolist()
        raise InputError(
            f"the score in row {row + 1:,}, column {column + 1:,} is NaN; give it a number, or mark padding with mask, "
            "lengths or NaN as its label"
        )
    if inside is None:
        _refuse_infinite(grade)
        flat = Batch(grade.reshape(-1), score.reshape(-1), width * np.arange(count), np.full(count, width))
    else:
        size = inside.sum(axis=1)
        flat = Batch(grade[inside], score[inside], np.cumsum(size) - size, size)
        _refuse_infinite(flat.grade)
    return LabelledBatch(flat, range(count), notes)


def _numbers(values: Array, name: str) -> Array:
    if values.dtype.kind == "b":
        return values.astype(np.int8)
    if values.dtype.kind in "iuf":
        return values
    if values.dtype.kind == "O" and not any(isinstance(one, str | bytes) for one in values.flat):
        try:
            return values.astype(float)
        except (TypeError, ValueError, OverflowError):
            pass
    raise InputError(f"{name} is an array of {_kind_of(values)}, not of numbers: {LAYOUTS}")


def _kind_of(values: Array) -> str:
    if values.dtype.kind in "US":
        return "strings"
    return "objects of several types" if values.dtype.kind == "O" else str(values.dtype)


def _all_finite(values: Array) -> bool:
    """True if the sum is finite, and so all values. False may also mean that the sum overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))


def _refuse_infinite(grade: Array) -> None:
    if grade.dtype.kind != "f":
        return
    flat = grade.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        # fastest: np.dot starts threads that take time even afterwards
        if float(np.einsum("i,i->", flat, flat)) <= HUGE:
            return
    beyond = np.flatnonzero(np.abs(flat) > HUGE)
    if len(beyond):
        size = "infinite" if np.isinf(flat[beyond[0]]) else f"{flat[beyond[0]]:g} (too large to compute with)"
        raise InputError(f"label {int(beyond[0]) + 1:,} is {size}; labels are finite numbers")


def _shape(values: Array) -> str:
    return " x ".join(f"{n:,}" for n in values.shape) or "a single number"


def values_of_batch(request: Request, labelled: LabelledBatch) -> list[Values]:
    """The values of each metric for every list, under the policies of the request. Lists without ties have one order, which is faster."""
    if not any(m.convention.ties in OVER_ORDERS for m in request.metrics):
        return values_of(request, judged_batches(request, labelled.batch))
    ids, tied = [str(one) for one in labelled.query_ids], labelled.batch.tied()
    one_order = replace(request, metrics=tuple(_in_one_order(m) for m in request.metrics))
    parts = []
    for at, part_request in ((np.flatnonzero(~tied), one_order), (np.flatnonzero(tied), request)):
        judged = judged_batches(part_request, labelled.batch.of(at), [ids[int(i)] for i in at])
        parts.append((at, values_of(part_request, judged) if len(at) else []))
    return [
        _together(len(tied), [(at, values[i]) for at, values in parts if len(at)]) for i in range(len(request.metrics))
    ]


def _in_one_order(m: MetricRequest) -> MetricRequest:
    over = m.convention.ties in OVER_ORDERS
    return replace(m, convention=replace(m.convention, ties="input")) if over else m


def _together(count: int, parts: Sequence[tuple[Array, Values]]) -> Values:
    value, weight, error = np.full(count, np.nan), np.ones(count), np.zeros(count)
    for at, values in parts:
        value[at], weight[at] = values.value, values.weight
        if values.error is not None:
            error[at] = values.error
    sampled = any(values.error is not None for _, values in parts)
    return Values(value, weight, error if sampled else None, sum(values.sampled_queries for _, values in parts))


def judged_batches(request: Request, batch: Batch, query_ids: Sequence[str] | None = None) -> list[Judged]:
    """The lists as each metric sees them, shared by metrics that see the same. The place of a document in its list serves as its id."""
    by_order: dict[Any, Judged] = {}
    out = []
    plain = [m.convention.ties not in OVER_ORDERS and not _by_document(m.metric) for m in request.metrics]
    reaches = [_reach(m) for m, quick in zip(request.metrics, plain, strict=True) if quick]
    reach = None if None in reaches else max((r for r in reaches if r is not None), default=None)
    for order, quick in zip(request.orders, plain, strict=True):
        if order.ties == "rank":
            raise InputError(
                "ties='rank': arrays have no rank column; ties='input' takes equal scores in the order given"
            )
        # over all orders, one is reported as in other engines: trec_eval's
        key = (order.ties == "trec", order.depth, quick)
        if key not in by_order:
            ranked = RankedBatch(
                batch, last_first=key[0], depth=order.depth, reach=reach if quick else None, query_id=query_ids
            )
            by_order[key] = ranked if quick else cut(ranked.flat, order.depth)
        out.append(by_order[key])
    return out


def _by_document(metric: Metric) -> bool:
    return bool(metric.needs) or metric.aggregate == "pooled"


def _reach(m: MetricRequest) -> int | None:
    c = m.convention
    whole = c.no_relevant != "metric" or c.nothing_found != "metric" or c.mean != "macro"
    return None if whole else m.metric.reach


def refuse_fractions(request: Request, batch: Batch) -> None:
    """Refuse fractional grades in the dialect of a tool that takes only whole ones."""
    dialect = request.policies.dialect
    if dialect is None or batch.grade.dtype.kind != "f":
        return
    from rankscope.dialects import DIALECTS

    known = batch.grade[~np.isnan(batch.grade)]
    if DIALECTS[dialect].whole_grades and (known % 1).any():
        bad = words.amount(float(known[known % 1 != 0][0]))
        raise InputError(
            f"a label is {bad}, and dialect {dialect!r} takes whole grades only; round them, or leave it out"
        )


def pooled_values(request: Request, batch: Batch) -> dict[Metric, float]:
    """The values of metrics over the documents of all lists."""
    pooled = [m.metric for m in request.metrics if m.metric.aggregate == "pooled"]
    return {one: one.pool(judged_batches(request.with_metrics(one), batch)[0]) for one in pooled}


def mean_of_values(metric: Metric, values: Values, pooled: Mapping[Metric, float]) -> float:
    """The mean of the values of all queries, or the pooled value."""
    return pooled[metric] if pooled and metric in pooled else mean(metric, values.value, values.weight)


def board_of_values(
    request: Request, values_of_metrics: Sequence[Values], pooled: Mapping[Metric, float]
) -> list[Mean]:
    """The means over all queries. Each interval is computed on first use."""
    out = []
    for m, values in zip(request.metrics, values_of_metrics, strict=True):
        value, undefined = values.value, int(np.count_nonzero(np.isnan(values.value)))
        undefined = 0 if m.metric in pooled else undefined
        number = mean_of_values(m.metric, values, pooled)
        weights = values.weight if (values.weight != 1).any() else None
        interval = partial(request.intervals.of_mean, m.metric, value, weights, None)
        counts = len(value) - undefined, undefined
        out.append(Mean("run", m.metric, m.spelling, number, *counts, None, values.sampled_queries, interval))
    return out
