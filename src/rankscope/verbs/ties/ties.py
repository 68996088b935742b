"""Measure the effect of ties: their share of the top k, and the range of each metric over their orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankscope.dialects.base import Ties
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import read_inputs
from rankscope.scoring.request import Request
from rankscope.scoring.scores import Scores
from rankscope.verbs.ties.result import TieRange, TieReport


def ties(qrels: Any, runs: Any, metrics: Any = None, *, seed: int = 0, **policies: Any) -> TieReport:
    """Compute the share of ties in the top k, and the range of each metric over all orders of ties.

    Takes the options of ``evaluate`` except ``ties`` and ``dialect``. Raises the errors of ``evaluate``.

    >>> import rankscope as rs
    >>> report = rs.ties({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}}, "RR")
    >>> [(s.worst, s.expected, s.best, s.queries) for s in report]
    [(0.5, 0.75, 1.0, 1)]
    """
    request = Request.of(metrics, policies)
    grades, read = read_inputs(qrels, runs, request.policies)
    plain = evaluate_request(grades, read, request)

    def under(order: Ties, metrics: list[Any]) -> Scores:
        request = Request.of(metrics, {**policies, "ties": order, "seed": seed, "columns": None})
        return evaluate_request(grades, read, request)

    spellings = [mean.spelling for mean in plain.board if mean.run == plain.runs[0].name]
    directed = [metric for metric in plain.metrics if metric.better != "neither"]
    ends = [under("worst", directed), under("best", directed)] if directed else []
    return TieReport(list(_ranges(plain, under("expected", spellings) if spellings else plain, ends)), plain)


def _ranges(plain: Scores, expected: Scores, ends: Sequence[Scores]) -> Iterator[TieRange]:
    for at, run in enumerate(plain.runs):
        for metric in plain.metrics:
            mean = expected.mean_of((run.name, str(metric)))
            known = [scores for scores in ends if metric in scores.metrics]
            worst, best = [scores[run.name, str(metric)] for scores in known] or (None, None)
            values = [scores.runs[at].values[metric] for scores in known] or (np.zeros(1), np.zeros(1))
            tied = run.health.tied_at_cutoff
            # the metric's cutoff, or the counted one nearest to 10
            depth = getattr(metric, "cutoff", None) or min(tied, key=lambda k: abs(k - 10), default=10)
            moved = int(np.count_nonzero(np.abs(values[1] - values[0]) > 1e-12))  # False for NaN
            yield TieRange(
                run.name, metric, plain[run.name, str(metric)], mean.value, worst, best, queries=moved, of=len(run.query_ids),
                tied=tied.get(depth, 0.0), error=mean.error,
            )  # fmt: skip
