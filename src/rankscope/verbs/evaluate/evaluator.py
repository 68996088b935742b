"""Score many runs against the same judgments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from rankscope.engines.base import SEVERAL
from rankscope.engines.prepared import PreparedQrels
from rankscope.engines.values import Values, score
from rankscope.scoring.evaluation import evaluate_request, read_judgments, values_of
from rankscope.scoring.keywords import PolicyOptions, with_policies
from rankscope.scoring.policies import OVER_ORDERS, POLICIES
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.evaluate.result import BatchScores

# policies that the order of the documents, the readers and those who tell warnings have seen to
SEEN_TO = {"ties", "depth", "columns", "grades", "ignore"}


class Evaluator:
    """Judgments and metrics made ready once, to score one run after another: in a training loop, a sweep, a test.

    ``qrels`` and ``metrics`` are what ``evaluate`` takes, and so are the policies. ``evaluator(run)`` is the same as
    ``evaluator.evaluate(run)``. Runs that are dicts, ``{query: {document: score}}``, go a quick way: no table is made, and the state of
    the data is not looked at, so there are no warnings (``missing`` names judged queries without a ranking). Paths, data frames and
    ``Run`` are taken too. The numbers are those of ``evaluate``, to the last bit.

    Raises InputError for what cannot be used, DataError if a run and the qrels share no query.

    >>> import rankscope as rs
    >>> evaluator = rs.Evaluator({"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}, ["RR", "nDCG@10"])
    >>> evaluator({"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 0.5}})["RR"]
    0.75
    >>> evaluator({"q1": {"a": 2.0, "b": 1.0}}).per_query["RR"]
    array([1., 0.])
    """

    @with_policies
    def __init__(self, qrels: Any, metrics: Any = None, **policies: Unpack[PolicyOptions]) -> None:
        """Read the judgments and make them ready.

        {policies}
        """
        self.request = Request.of(metrics, policies)
        self.qrels = read_judgments(qrels, self.request).data
        self._prepared = None
        if _goes_by_lookup(self.request):
            self._prepared = PreparedQrels(self.qrels if isinstance(self.qrels, dict) else self.qrels.mapping)
        self._plain = all(
            getattr(m.convention, name, getattr(self.request.policies, name)) == policy.default
            for name, policy in POLICIES.items()
            for m in self.request.metrics
            if name not in SEEN_TO
        )

    def __call__(self, run: Any) -> BatchScores:
        """Score one run."""
        return self.evaluate(run)

    def evaluate(self, run: Any) -> BatchScores:
        """Score one run: ``{query: {document: score}}``, or anything that ``evaluate`` takes."""
        prepared = self._prepared
        if prepared is None or not _is_nested(run):
            return _of_scores(evaluate_request(self.qrels, [run], self.request))
        missing = tuple(query for query in prepared.names if query not in run)
        if len(missing) == len(prepared.names):  # it says so, or finds ids that were numbers
            return _of_scores(evaluate_request(self.qrels, [run], self.request))
        judged = prepared.judge(run, self.request.orders[0])
        metrics = [m.metric for m in self.request.metrics]
        values = score(judged, metrics) if self._plain else values_of(self.request, [judged] * len(metrics))
        return BatchScores(self.request, values, prepared.names, missing=missing, ids_by_place=False)


def _goes_by_lookup(request: Request) -> bool:
    policies, orders = request.policies, request.orders
    one_order = len(set(orders)) == 1 and orders[0].ties != "rank" and not orders[0].needs & SEVERAL
    whole = (
        policies.queries == "judged" and policies.self_match == "keep" and policies.weights is policies.folding is None
    )
    each = all(
        m.convention.ties not in OVER_ORDERS and m.convention.queries == "judged" and m.metric.aggregate != "pooled"
        for m in request.metrics
    )
    return one_order and whole and each and not request.facts and policies.dialect is None


def _is_nested(run: Any) -> bool:
    if not isinstance(run, dict) or not all(isinstance(ranking, dict) for ranking in run.values()):
        return False
    first: dict[Any, Any] = next((ranking for ranking in run.values() if ranking), {})
    return not isinstance(next(iter(first.values()), 0.0), Mapping | list | tuple)


def _of_scores(scores: Scores) -> BatchScores:
    run = scores.runs[0]
    ones = np.ones(len(run.query_ids))
    metrics = [m.metric for m in scores.request.metrics]
    values = [Values(run.values[metric], run.weights.get(metric, ones)) for metric in metrics]
    pooled = {mean.metric: mean.value for mean in scores.board if mean.metric.aggregate == "pooled"}
    missing = tuple(sorted(scores.evaluations[0].missing))
    return BatchScores(scores.request, values, run.query_ids, pooled, scores.notes, missing, ids_by_place=False)
