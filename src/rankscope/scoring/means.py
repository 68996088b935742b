"""Queries as one number: which are averaged, with what weight, and how."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankscope.engines.base import Values
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.panels.samples import mean
from rankscope.scoring.conventions import MetricRequest
from rankscope.scoring.scores import Mean
from rankscope.scoring.weights import Weights

if TYPE_CHECKING:
    from rankscope.scoring.evaluation import RunEvaluation


def population(
    policy: str,
    query_id: Sequence[str],
    judged: frozenset[str],
    missing: frozenset[str],
    shared_missing: frozenset[str],
    only: frozenset[str] | None,
) -> Array:
    """Which of these queries a policy averages. ``missing``: judged, but not in this run; ``shared_missing``: not in every run."""
    if policy == "list":
        unknown = sorted((only or frozenset()) - judged)
        if unknown:
            raise DataError(
                f"queries: {unknown[0]!r} is not judged ({len(unknown)} of {len(only or ())} of the list are not); "
                "the list holds ids of judged queries"
            )
    listed = only or frozenset()
    if policy == "either" or (policy == "judged" and len(judged) == len(query_id)):
        return np.ones(len(query_id), dtype=bool)
    return np.array(
        [_inside(policy, q, judged, missing, shared_missing, listed) for q in query_id], dtype=bool
    )


def _inside(
    policy: str,
    query: str,
    judged: frozenset[str],
    missing: frozenset[str],
    shared: frozenset[str],
    listed: frozenset[str],
) -> bool:
    if policy == "judged":
        return query in judged
    if policy == "run":
        return query not in missing
    if policy == "both":
        return query in judged and query not in shared
    return policy == "either" or query in listed


def board_of(
    run: str,
    asked: Sequence[MetricRequest],
    found: RunEvaluation,
    inside: Sequence[Array],
    weights: Weights | None,
) -> list[Mean]:
    """The means of one run."""
    out = []
    for a, values, judged, kept in zip(asked, found.values, found.judged, inside, strict=True):
        at = np.flatnonzero(kept)
        whole = len(at) == len(kept)
        value, weight = values.value[at], weight_of(a, values, found.query_id, at, weights)
        pooled = a.metric.aggregate == "pooled"
        # a pooled value is made of the documents of all queries, also of those that have none alone
        defined = len(value) if pooled else int(np.count_nonzero(~np.isnan(value)))
        number = (
            a.metric.pool(judged if whole else judged.of(at)) if pooled else mean(a.metric, value, weight)
        )
        error = None if values.error is None else _error_of_mean(value, weight, values.error[at])
        out.append(Mean(run, a.metric, a.said, number, defined, len(value) - defined, error, values.drawn))
    return out


def weight_of(
    asked: MetricRequest, values: Values, query_id: Sequence[str], at: Array, weights: Weights | None
) -> Array:
    """What the queries at these places weigh in the mean of a metric."""
    weight = values.weight[at]
    if weights is None or asked.metric.aggregate == "sum":
        return weight
    if asked.metric.aggregate == "pooled":
        raise InputError(f"{asked.metric} is made of all documents together: it takes no weights of queries")
    return weight * weights.of([query_id[int(i)] for i in at])


def _error_of_mean(value: Array, weight: Array, error: Array) -> float:
    """The standard error of a mean that comes from sampling the orders of tied documents alone."""
    defined = ~np.isnan(value)
    whole = math.fsum(weight[defined].tolist())
    return math.sqrt(math.fsum(((weight * error)[defined] ** 2).tolist())) / whole if whole else math.nan
