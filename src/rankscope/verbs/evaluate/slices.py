"""Score every run on the queries of each slice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankscope.errors import InputError
from rankscope.inference.base import Bounds
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.panels.families import parts_of
from rankscope.panels.samples import mean
from rankscope.scoring.evaluation import bounds_of_pooled
from rankscope.scoring.runs import Mean, RunScores, SliceMean
from rankscope.scoring.scores import Scores


def with_slices(scores: Scores, source: Any) -> Scores:
    """Scores with means on each slice by a table of query attributes, without attributes of very many values. Raises DataError without shared queries."""
    ids = list(dict.fromkeys(query for run in scores.runs for query in run.query_ids))
    parts, notes = parts_of(source, ids)
    place = {query: i for i, query in enumerate(ids)}
    at = [np.array([place[query] for query in run.query_ids], dtype=np.int64) for run in scores.runs]
    of = scores.request.intervals
    codes = [None] * len(at) if of.clusters is None else of.codes([run.query_ids for run in scores.runs])
    means = [
        SliceMean(attribute, name, _mean_of(scores, number, metric, inside[at[number]], codes[number]))
        for attribute, name, inside in parts
        for number in range(len(scores.runs))
        for metric in scores.metrics
    ]
    return replace(scores, slices=means, notes=[*scores.notes, *notes])


def _mean_of(scores: Scores, number: int, metric: Metric, inside: Array, clusters: Array | None) -> Mean:
    run, request = scores.runs[number], scores.request
    values = run.values[metric][inside]
    weights = run.weights[metric][inside] if metric in run.weights else None
    spelling = request.of_metric(metric).spelling
    undefined = int(np.isnan(values).sum())
    if metric.aggregate == "pooled":
        value, interval = _pooled(scores, number, metric, run, inside, clusters)
        return Mean(run.name, metric, spelling, value, len(values), interval=interval)
    value = mean(metric, values, np.ones(len(values)) if weights is None else weights)
    codes = None if clusters is None else clusters[inside]
    interval = partial(request.intervals.of_mean, metric, values, weights, codes)
    return Mean(run.name, metric, spelling, value, len(values) - undefined, undefined, interval=interval)


def _pooled(
    scores: Scores, number: int, metric: Metric, run: RunScores, inside: Array, clusters: Array | None
) -> tuple[float, Callable[[], Bounds]]:
    if not scores.evaluations:
        raise InputError(
            f"{metric} is made of the documents of all queries, which are not kept here: leave it out, or slices"
        )
    evaluation, request = scores.evaluations[number], scores.request
    judged = evaluation.judged[request.place(metric)]
    place = {query: i for i, query in enumerate(judged.query_id)}
    queries = [query for query, kept in zip(run.query_ids, inside.tolist(), strict=True) if kept]
    codes = None if clusters is None else clusters[inside]
    value = metric.pool(judged.of(np.array([place[query] for query in queries], dtype=np.int64)))
    return value, partial(bounds_of_pooled, request, metric, evaluation, queries, codes)
