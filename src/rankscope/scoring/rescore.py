"""Metrics that nobody asked for, on the judged documents of runs that were scored: by the same machinery, under the same conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from rankscope.dialects import Convention
from rankscope.engines.orders import closed, ordered
from rankscope.lists import Array
from rankscope.metrics import Metric
from rankscope.panels.samples import mean
from rankscope.scoring.conventions import MetricRequest
from rankscope.scoring.evaluation import RunEvaluation, values_of
from rankscope.scoring.inputs import policy_in
from rankscope.scoring.request import Request
from rankscope.scoring.scores import RunScores, Scores


def why_not(scores: Scores, metric: Metric, like: Metric) -> str:
    """Why a metric cannot be computed under the conventions of one that was asked for; empty where it can."""
    said = scores.conventions
    if said["dialect"] is not None and type(metric) is not type(like):
        return f"{said['dialect']} has conventions of its own for each metric"
    if said["queries"] == "as the dialect says":
        return f"{said['dialect']} does not average the same queries for each metric"
    needed = frozenset[str]().union(*(m.needs for m in scores.metrics))
    if metric.aggregate == "pooled" or metric.needs - needed or metric.trec_ties != like.trec_ties:
        return f"{metric} needs more of the rankings than is kept"
    plain = metric.aggregate in {"mean", "geometric"} and like.aggregate in {"mean", "geometric"}
    if said["weights"] is not None and not (plain and convention_of(scores, like).mean == "macro"):
        return "queries are weighed by the metric as well as by the weights that were given"
    ties = convention_of(scores, like).ties
    if ties == "expected" and ordered(metric, said["depth"]) and not closed(metric, said["depth"]):
        return f"the mean of {metric} over all orders of equal scores has no closed form"
    if ties in {"best", "worst"} and (not metric.settled_by_grade or metric.needs):
        return f"the {ties} order of equal scores has to be searched for {metric}"
    return ""


def rescored(scores: Scores, run: str, metrics: Sequence[Metric], like: Metric) -> list[float]:
    """The means of a run on these metrics, over the queries and under the conventions of the metric ``like``.

    What ``evaluate`` gives for the same metrics, to the bit. There must be no reason against it in ``why_not``.
    """
    place = [scored.name for scored in scores.runs].index(run)
    scored, found = scores.runs[place], scores.found[place]
    said, convention = scores.conventions, convention_of(scores, like)
    call = Request(
        [MetricRequest(str(metric), metric, convention) for metric in metrics],
        policy_in(said),
        said["depth"],
        seed=said["seed"] or 0,
    )
    at = places_of(scored, found)
    weights = None if said["weights"] is None else np.nan_to_num(scored.weights[like])
    out = []
    judged = found.judged[index_of(scores, like)]
    for metric, values in zip(metrics, values_of(call, [judged] * len(metrics)), strict=True):
        weight = values.weight[at] if weights is None else values.weight[at] * weights
        out.append(mean(metric, values.value[at], weight))
    return out


def index_of(scores: Scores, metric: Metric) -> int:
    """The place of a metric among those that were asked for, as ``RunEvaluation`` holds them."""
    name = scores.runs[0].name
    return [mean.metric for mean in scores.board if mean.run == name].index(metric)


def places_of(scored: RunScores, found: RunEvaluation) -> Array:
    """Where the queries that were scored stand among all."""
    if len(scored.query_ids) == len(found.query_id):
        return np.arange(len(found.query_id))
    places = {query: i for i, query in enumerate(found.query_id)}
    return np.array([places[query] for query in scored.query_ids], dtype=np.int64)


def convention_of(scores: Scores, metric: Metric) -> Convention:
    """The conventions that a metric was computed under."""
    said = scores.conventions
    if said["dialect"] is not None:
        return Convention(**said["by_metric"][str(metric)])
    names = [f.name for f in fields(Convention) if f.name in said]
    return Convention(**{name: said[name] for name in names})
