"""Queries as one number: which are averaged, with what weight, and how."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankscope.engines.base import Values
from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.panels.samples import mean
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean, RunEvaluation
from rankscope.scoring.weights import Weights


def queries_averaged(request: Request, runs: Sequence[RunEvaluation], judged: frozenset[str]) -> list[list[Array]]:
    """Which queries of each run each metric averages; ``judged`` are all queries of the qrels.

    Raises DataError where that is none.
    """
    # a query that any run lacks is in no population "both"
    lacking = frozenset[str]().union(*(run.missing for run in runs))
    out = []
    for run in runs:
        by_policy = {
            policy: _population(policy, run, judged, lacking, request.policies.only)
            for policy in dict.fromkeys(m.convention.queries for m in request.metrics)
        }
        for policy, inside in by_policy.items():
            if not inside.any() and policy == "list":
                raise DataError("no query of the list is scored: the list is empty")
            if not inside.any():
                raise DataError("no query is judged and in every run: compare fewer runs, or use --queries judged")
        out.append([by_policy[m.convention.queries] for m in request.metrics])
    return out


def _population(
    policy: str, run: RunEvaluation, judged: frozenset[str], lacking: frozenset[str], only: frozenset[str] | None
) -> Array:
    """Which queries of a run a policy averages."""
    only = only or frozenset()
    if policy == "list" and (unknown := sorted(only - judged)):
        raise DataError(
            f"queries: {unknown[0]!r} is not judged ({len(unknown)} of {len(only)} of the list are not); "
            "the list holds ids of judged queries"
        )
    queries = run.query_id
    if policy == "either" or (policy == "judged" and len(judged) == len(queries)):
        return np.ones(len(queries), dtype=bool)
    inside = {
        "judged": lambda query: query in judged,
        "run": lambda query: query not in run.missing,
        "both": lambda query: query in judged and query not in lacking,
        "list": lambda query: query in only,
    }[policy]
    return np.fromiter(map(inside, queries), dtype=bool, count=len(queries))


def board_of(run: str, request: Request, evaluation: RunEvaluation) -> list[Mean]:
    """The means of one run."""
    out = []
    for m, values, judged, kept in zip(
        request.metrics, evaluation.values, evaluation.judged, evaluation.inside, strict=True
    ):
        at = np.flatnonzero(kept)
        whole = len(at) == len(kept)
        value, weight = values.value[at], weight_of(m, values, evaluation.query_id, at, request.weights)
        pooled = m.metric.aggregate == "pooled"
        # a pooled value is made of the documents of all queries, also of those that have none alone
        defined = len(value) if pooled else int(np.count_nonzero(~np.isnan(value)))
        number = m.metric.pool(judged if whole else judged.of(at)) if pooled else mean(m.metric, value, weight)
        error = None if values.error is None else _error_of_mean(value, weight, values.error[at])
        undefined = len(value) - defined
        out.append(Mean(run, m.metric, m.spelling, number, defined, undefined, error, values.drawn))
    return out


def weight_of(
    request: MetricRequest, values: Values, query_id: Sequence[str], at: Array, weights: Weights | None
) -> Array:
    """What the queries at these places weigh in the mean of a metric."""
    weight = values.weight[at]
    if weights is None or request.metric.aggregate == "sum":
        return weight
    if request.metric.aggregate == "pooled":
        raise InputError(f"{request.metric} is made of all documents together: it takes no weights of queries")
    return weight * weights.of([query_id[int(i)] for i in at])


def _error_of_mean(value: Array, weight: Array, error: Array) -> float:
    """The standard error of a mean that comes from sampling the orders of tied documents alone."""
    defined = ~np.isnan(value)
    whole = math.fsum(weight[defined].tolist())
    return math.sqrt(math.fsum(((weight * error)[defined] ** 2).tolist())) / whole if whole else math.nan
