"""Other metrics on judged lists, by the code of ``evaluate`` under the same request, without reading or judging again."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from rankscope.engines.values import depends_on_order, has_closed_form, score_under_ties
from rankscope.lists import Array, Judged
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import board_of, values_of
from rankscope.scoring.policies import MIXED
from rankscope.scoring.request import Request
from rankscope.scoring.runs import Mean, RunEvaluation
from rankscope.scoring.scores import Scores


def why_not(scores: Scores, metric: Metric, like: Metric) -> str:
    """The reason that a metric cannot be computed under the conventions of a requested one, empty if it can."""
    request, policies = scores.request, scores.request.policies
    if policies.dialect is not None and type(metric) is not type(like):
        return f"{policies.dialect} has conventions of its own for each metric"
    if request.statement_of("queries") == MIXED:
        return f"{policies.dialect} does not average the same queries for each metric"
    needed = frozenset[str]().union(*(m.needs for m in scores.metrics))
    if metric.aggregate == "pooled" or metric.needs - needed or metric.trec_ties != like.trec_ties:
        return f"{metric} needs more of the rankings than is kept"
    convention = request.of_metric(like).convention
    plain = metric.aggregate in {"mean", "geometric"} and like.aggregate in {"mean", "geometric"}
    if policies.weights is not None and not (plain and convention.mean == "macro"):
        return "queries are weighed by the metric as well as by the weights that were given"
    ties, depth = convention.ties, policies.depth
    if ties == "expected" and depends_on_order(metric, depth) and not has_closed_form(metric, depth):
        return f"the mean of {metric} over all orders of equal scores has no closed form"
    if ties in {"best", "worst"} and (not metric.settled_by_grade or metric.needs):
        return f"the {ties} order of equal scores has to be searched for {metric}"
    return ""


def rescore(scores: Scores, pairs: Sequence[tuple[Metric, Metric]], runs: Container[str] | None = None) -> list[Mean]:
    """The means of other metrics, over all runs unless some are named.

    Each pair is of a metric that was asked for, whose judged documents, queries and conventions are used, and another metric.
    The means are what ``evaluate`` gives for the other metrics, to the bit, where ``why_not`` has no reason against it. Raises
    RankscopeError if a metric cannot be computed on these judgments.
    """
    request = scores.request
    others = [replace(request.of_metric(like), spelling=str(other), metric=other) for like, other in pairs]
    other_request = request.with_metrics(*others)
    places = [request.place(like) for like, _ in pairs]
    out = []
    for run, e in zip(scores.runs, scores.evaluations, strict=True):
        if runs is not None and run.name not in runs:
            continue
        judged, inside = [e.judged[place] for place in places], [e.inside[place] for place in places]
        values = values_of(other_request, judged)
        out += board_of(run.name, other_request, replace(e, judged=judged, inside=inside, values=values))
    return out


def values_on(request: Request, judged: Judged) -> Array:
    """The values of the first metric of a request on some judged documents, over the orders of ties, before policies for queries without relevant ones."""
    first, policies = request.metrics[0], request.policies
    return score_under_ties(judged, [first.metric], first.convention.ties, policies.depth, policies.seed)[0].value


def judged_of(scores: Scores, run: str, metric: Metric) -> tuple[Judged, Array]:
    """The judged documents of a run as a metric needs them, and the positions of the queries that the run's scores show."""
    place = next(i for i, one in enumerate(scores.runs) if one.name == run)
    e = scores.evaluations[place]
    return e.judged[scores.request.place(metric)], places_of(scores.runs[place].query_ids, e)


def places_of(query_ids: Sequence[str], evaluation: RunEvaluation) -> Array:
    """The positions of queries among all judged ones."""
    if len(query_ids) == len(evaluation.query_id):
        return np.arange(len(evaluation.query_id))
    places = {query: i for i, query in enumerate(evaluation.query_id)}
    return np.array([places[query] for query in query_ids], dtype=np.int64)
