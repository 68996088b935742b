"""How much equal scores matter: how many there are in the top k, and how far the metrics could move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rankscope.dialects.base import Ties
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunScores
from rankscope.scoring.scores import Scores
from rankscope.verbs.ties.result import Spread, TieReport


def ties(qrels: Any, runs: Any, metrics: Any = None, *, seed: int = 0, **policies: Any) -> TieReport:
    """Say how much of the top k is tied, and how far each metric could move by reordering equal scores.

    Takes what ``evaluate`` takes, but for ``ties`` and ``dialect``. Raises what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> report = rs.ties({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0, "c": 0.5}}, "RR")
    >>> [(s.worst, s.expected, s.best, s.queries) for s in report]
    [(0.5, 0.75, 1.0, 1)]
    """
    grades = read_any("qrels", qrels)
    given = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    plainly = evaluate_request(grades, given, Request.of(metrics, policies))
    asked = [mean.spelling for mean in plainly.board if mean.run == plainly.runs[0].name]
    bounded = [m for m in plainly.metrics if m.better != "neither"]

    def under(policy: Ties, wanted: Sequence[Any]) -> Scores | None:
        if not wanted:
            return None
        request = Request.of(list(wanted), {**policies, "ties": policy, "seed": seed})
        return evaluate_request(grades, given, request)

    spreads = _spreads(plainly, under("expected", asked), under("worst", bounded), under("best", bounded))
    return TieReport(list(spreads), plainly)


def _spreads(plainly: Scores, expected: Scores | None, worst: Scores | None, best: Scores | None) -> Iterator[Spread]:
    for run in plainly.runs:
        for metric in plainly.metrics:
            low, high = _mean(worst, run.name, metric), _mean(best, run.name, metric)
            mean = next(m for m in (expected or plainly).board if m.run == run.name and m.metric == metric)
            yield Spread(
                run=run.name,
                metric=metric,
                value=plainly[run.name, str(metric)],
                expected=mean.value,
                worst=low,
                best=high,
                queries=_moved(_run(worst, run.name), _run(best, run.name), metric),
                of=len(run.query_ids),
                tied=run.health.tied_at_cutoff.get(_depth(metric, run), 0.0),
                error=mean.error,
            )


def _depth(metric: Metric, run: RunScores) -> int:
    """The cutoff of a metric, or the one of the state of the data that comes nearest to 10."""
    known = run.health.tied_at_cutoff
    return getattr(metric, "cutoff", None) or min(known, key=lambda k: abs(k - 10), default=10)


def _mean(scores: Scores | None, run: str, metric: Metric) -> float | None:
    found = [m.value for m in scores.board if m.run == run and m.metric == metric] if scores else []
    return found[0] if found else None


def _run(scores: Scores | None, name: str) -> RunScores | None:
    return next((run for run in scores.runs if run.name == name), None) if scores else None


def _moved(worst: RunScores | None, best: RunScores | None, metric: Metric) -> int:
    """How many queries have a value that depends on the order of equal scores."""
    if worst is None or best is None or metric not in worst.values:
        return 0
    difference = np.abs(best.values[metric] - worst.values[metric])
    return int(np.count_nonzero(difference > 1e-12))  # NaN is no difference
