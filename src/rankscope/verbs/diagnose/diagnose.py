"""What is wrong with a ranking, over all queries: what it loses and why, which queries fail, and how."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rankscope.errors import InputError
from rankscope.lists import Array, Judged
from rankscope.metrics import RR, Metric
from rankscope.scoring.ceilings import ceilings
from rankscope.scoring.evaluation import evaluate_request
from rankscope.scoring.inputs import named_runs, read_any
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.scoring.scores import Scores
from rankscope.show.notebook import InNotebook
from rankscope.verbs.diagnose.failures import (
    EQUAL,
    Facts,
    at_ranks,
    depths_of,
    facts_of,
    kind_of,
    typical,
)
from rankscope.verbs.diagnose.losses import Diagnosed, Loss, Query
from rankscope.verbs.diagnose.shown_documents import Shown


@dataclass(frozen=True, eq=False)
class Diagnosis(InNotebook):
    """What ``diagnose`` found: ``runs`` in the order given, ``queries`` the records of all queries of all runs.

    ``hardest`` are the queries that lose most (with several runs, in the run that is best on them), ``regrets`` the queries on which
    a run is furthest below the best run. ``reason`` says why there are no ceilings, where there are none. ``shown`` finds documents
    with their ids. Printed, it is the answer in sentences.
    """

    shown_by: ClassVar[str] = "rankscope.verbs.diagnose.result"

    metric: Metric
    runs: Sequence[Diagnosed]
    scores: Scores
    queries_shown: int
    shown: Shown

    def __getitem__(self, run: str) -> Diagnosed:
        found = next((one for one in self.runs if one.name == run), None)
        if found is None:
            raise KeyError(f"no run is called {run!r}: there are {', '.join(one.name for one in self.runs)}")
        return found

    @property
    def reason(self) -> str:
        """Why no ceiling is known; empty where one is."""
        return self.runs[0].could.reason

    @cached_property
    def queries(self) -> list[Query]:
        """Every query of every run, with its regret."""
        records = [run.query(at) for run in self.runs for at in range(len(run.query_ids))]
        if len(self.runs) < 2 or self.metric.better == "neither":
            return records
        sign = self.runs[0].sign
        best: dict[str, Query] = {}
        for one in records:
            held = best.get(one.query_id)
            if not math.isnan(one.value) and (held is None or sign * one.value > sign * held.value):
                best[one.query_id] = one
        return [
            one if (top := best.get(one.query_id)) is None else
            replace(one, regret=sign * (top.value - one.value), best_run=top.run)
            for one in records
        ]  # fmt: skip

    @cached_property
    def hardest(self) -> list[Query]:
        """The queries that lose most, each once; without a known loss those of the worst values."""
        if self.metric.better == "neither":
            return []
        sign = self.runs[0].sign
        chosen = [
            one
            for one in self.queries
            if (len(self.runs) < 2 or one.best_run == one.run) and not math.isnan(one.value)
        ]
        if self.reason:
            return sorted(chosen, key=lambda one: sign * one.value)[: self.queries_shown]
        losing = [one for one in chosen if one.loss > EQUAL]
        return sorted(losing, key=lambda one: -one.loss)[: self.queries_shown]

    @cached_property
    def regrets(self) -> list[Query]:
        """The queries on which a run is furthest below the best run; empty for one run."""
        behind = [one for one in self.queries if one.regret > EQUAL]
        return sorted(behind, key=lambda q: -q.regret)[: self.queries_shown]

    def __str__(self) -> str:
        from rankscope.verbs.diagnose.result import sentences

        return "\n".join(sentences(self))

    __repr__ = __str__


def diagnose(
    qrels: Any,
    runs: Any,
    metric: Any = "nDCG@10",
    *,
    queries_shown: int = 10,
    progress: Callable[[str], None] | None = None,
    **policies: Any,
) -> Diagnosis:
    """Say what rankings lose on a metric and why, which queries fail, and in what way.

    Each query's loss against the best ranking there is has two parts: what was never retrieved, and what was ordered badly. The
    value with all that was retrieved in the best order is the ceiling of a re-ranker. Every query is of one kind of ``KINDS``.
    ``queries_shown`` is how many of the worst queries are listed; further ``policies`` (``ties``, ``queries``, ``depth`` ...) are those
    of ``evaluate``. Raises InputError for several metrics at once, and what ``evaluate`` raises.

    >>> import rankscope as rs
    >>> found = rs.diagnose({"q1": {"a": 1, "b": 1}}, {"q1": {"c": 3.0, "a": 2.0}}, "P@2")
    >>> lost = found.runs[0].lost  # "b" was never retrieved; "a" could stand first, which P@2 does not mind
    >>> lost.value, lost.ceiling, lost.best, lost.never_retrieved, lost.ordered_badly
    (0.5, 0.5, 1.0, 0.5, 0.0)
    >>> found.runs[0].kinds["low in the top"]
    1
    """
    if isinstance(queries_shown, bool) or not hasattr(queries_shown, "__index__") or queries_shown < 0:
        raise InputError(f"queries_shown={queries_shown!r}: how many queries to list, a whole number from 0")
    grades = read_any("qrels", qrels)
    given = [(name, read_any("run", run, name)) for name, run in named_runs(runs)]
    scores = evaluate_request(grades, given, Request.of(metric, policies), progress)
    if len(scores.metrics) != 1:
        said = ", ".join(map(str, scores.metrics[:3])) or "none"
        raise InputError(f"a diagnosis is of one metric at a time, like nDCG@10; this asks for {said}")
    runs = {run.name: data for run, (_, data) in zip(scores.runs, given, strict=True)}
    return diagnosis_of(scores, grades, runs, int(queries_shown))


def diagnosis_of(scores: Scores, qrels: Any, runs: Mapping[str, Any], queries_shown: int = 10) -> Diagnosis:
    """The diagnosis of what was evaluated already, on its first metric; ``qrels`` and ``runs`` (by name) are only read for documents."""
    found = [_diagnosed(run, e, scores) for run, e in zip(scores.runs, scores.evaluations, strict=True)]
    return Diagnosis(scores.metrics[0], found, scores, queries_shown, Shown(qrels, runs, scores))


def _diagnosed(run: RunScores, e: RunEvaluation, scores: Scores) -> Diagnosed:
    metric = scores.metrics[0]
    judged = _of_queries(e, run.query_ids)
    value = run.values[metric]
    micro = scores.request.metrics[0].convention.mean == "micro"
    could = ceilings(metric, judged, value, micro, _fixed(facts_of(metric, judged, value), scores))
    sign = -1.0 if metric.better == "lower" else 1.0
    facts = facts_of(metric, judged, sign * (could.best - value))
    first = facts.first
    if isinstance(metric, RR):  # what stands below its cutoff is not found, and what has no value not counted
        first = np.where(first > (metric.cutoff or np.inf), 0, first)[~np.isnan(value)]
    rank, median = typical(first)
    return Diagnosed(
        run.name,
        metric,
        run.query_ids,
        value,
        run.weights.get(metric, np.ones(len(value))),
        could,
        facts,
        kind_of(facts),
        at_ranks(metric, judged),
        depths_of(metric, judged),
        rank,
        median,
        judged,
    )


def _of_queries(e: RunEvaluation, query_ids: Sequence[str]) -> Judged:
    """The judged documents of these queries."""
    if len(query_ids) == len(e.query_id):
        return e.judged[0]
    number = {query: i for i, query in enumerate(e.query_id)}
    return e.judged[0].of(np.array([number[query] for query in query_ids], dtype=np.int64))


def _fixed(facts: Facts, scores: Scores) -> Array:
    """The queries whose value a policy gives, because no relevant document is known (or, in some dialects, retrieved)."""
    convention = scores.request.metrics[0].convention
    if convention.no_relevant == "metric":
        return np.zeros(len(facts.known), dtype=bool)
    return np.asarray((facts.found if convention.looks_at == "list" else facts.known) == 0)


__all__ = ["Diagnosed", "Diagnosis", "Loss", "Query", "diagnose"]
