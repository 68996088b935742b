"""Score rankings as a request asks: judge each run, compute its values, average those of the queries that count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankscope import words
from rankscope.engines.base import DataFacts, Order, Values
from rankscope.engines.orders import score_under_ties
from rankscope.errors import DataError, InputError
from rankscope.lists import Array, Judged
from rankscope.scoring.facts import relstrings
from rankscope.scoring.health import examine
from rankscope.scoring.inputs import (
    CleanInput,
    clean,
    distinct_names,
    fraction_in,
    judge,
    label_of,
    named_runs,
    read_any,
    takers,
)
from rankscope.scoring.means import board_of, queries_averaged, weight_of
from rankscope.scoring.policies import of_metric
from rankscope.scoring.request import MetricRequest, Request
from rankscope.scoring.runs import Mean, RunEvaluation, RunScores
from rankscope.scoring.scores import Scores
from rankscope.scoring.spread import first_ranks


def evaluate_request(qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None) -> Scores:
    """Score rankings as a request asks. Raises DataError where a run and the qrels share no query."""
    metrics = [m.metric for m in request.metrics]
    grades = clean(read_any("qrels", qrels), request.policies, "qrels", takers(metrics))
    _refuse_fractions(grades, request)
    evaluations = []
    given = list(named_runs(runs))
    for number, (name, run) in enumerate(given, start=1):
        evaluations.append(_evaluate_run(run, name, number, grades, request))
        if progress is not None:
            progress(evaluations[-1].labels[0])
    judged = frozenset(grades.data if grades.is_mapping else grades.data.queries)
    averaged = queries_averaged(request, evaluations, judged)
    evaluations = [replace(e, inside=inside) for e, inside in zip(evaluations, averaged, strict=True)]
    return _scores_of(evaluations, grades, request, (qrels, given))


def _refuse_fractions(grades: CleanInput, request: Request) -> None:
    """One line where a grade is no whole number and what was asked for takes nothing else."""
    whole = False
    if request.policies.dialect is not None:
        from rankscope.scoring.dialect import dialect_called

        whole = dialect_called(request.policies.dialect).whole_grades
    if (whole or request.facts) and (where := fraction_in(grades)):
        taker = f"dialect {request.policies.dialect!r}" if whole else next(iter(request.facts))
        raise InputError(f"{where}, and {taker} takes whole grades only; round them, or leave it out")


def _evaluate_run(run: Any, name: str | None, number: int, grades: CleanInput, request: Request) -> RunEvaluation:
    data = read_any("run", run, name)
    source = None if isinstance(data, dict) else data.source
    labels = label_of(data, name, number)
    cleaned = clean(data, request.policies, "run")
    by_order: dict[Order, tuple[Judged, DataFacts]] = {}
    for m in request.metrics:
        order = request.order(m)
        if order not in by_order:
            by_order[order] = judge(cleaned, grades, order, labels[0])
    judged, seen = next(iter(by_order.values()))
    count = len(judged) - (len(seen.extra) if request.extra else 0)
    if len(seen.missing) == count:
        name = labels[0] if source is None else source.label
        raise DataError(
            f"no query of {name} is judged: the run has ids like {_like(seen.extra)}, the qrels like {_like(seen.missing)}"
        )
    by_metric = [by_order[request.order(m)][0] for m in request.metrics]
    health = examine(
        judged,
        seen,
        request.cutoffs,
        count,
        cleaned.duplicates,
        cleaned.self_matches,
        qrels_duplicates=grades.duplicates,
    )
    return RunEvaluation(
        labels,
        judged.query_id,
        by_metric,
        values_of(request, by_metric),
        frozenset(seen.missing),
        health,
        source,
        None if source is None else source.tag,
    )


def _like(ids: Sequence[str]) -> str:
    return words.sample(map(repr, ids[:2]), most=2)


def values_of(request: Request, judged: Sequence[Judged]) -> list[Values]:
    """The values of each metric over its judged documents, those under one tie policy computed together, with all policies applied."""
    out: dict[int, Values] = {}
    together: dict[tuple[int, str], list[int]] = {}
    for i, (m, data) in enumerate(zip(request.metrics, judged, strict=True)):
        together.setdefault((id(data), m.convention.ties), []).append(i)
    policies = request.policies
    for (_, ties), numbers in together.items():
        metrics = [request.metrics[i].metric for i in numbers]
        values = score_under_ties(judged[numbers[0]], metrics, ties, policies.depth, policies.seed)
        out.update(zip(numbers, values, strict=True))
    return [_under_policies(m, request, out[i], judged[i]) for i, m in enumerate(request.metrics)]


def _under_policies(m: MetricRequest, request: Request, values: Values, judged: Judged) -> Values:
    for policy, value in of_metric(request.policies, m.convention):
        values = policy.applied(value, values, m.metric, judged, m.convention)
    return values


def _scores_of(
    evaluations: Sequence[RunEvaluation],
    grades: CleanInput,
    request: Request,
    data: tuple[Any, Sequence[tuple[str | None, Any]]],
) -> Scores:
    names = distinct_names([e.labels for e in evaluations])
    runs = [_run_scores(name, e, request) for name, e in zip(names, evaluations, strict=True)]
    board = [m for name, e in zip(names, evaluations, strict=True) for m in board_of(name, request, e)]
    sources = [None if grades.is_mapping else grades.data.source, *(e.source for e in evaluations)]
    notes = [note for s in sources if s is not None for note in s.notes]
    if request.weights is not None:
        notes += request.weights.unused({query for run in runs for query in run.query_ids})
    return Scores(
        request=request,
        runs=runs,
        board=_with_intervals(board, runs, request),
        warnings=request.cautions({run.name: run.health for run in runs}),
        inputs=[s for s in sources if s is not None],
        notes=notes,
        evaluations=evaluations,
        data=data,
    )


def _run_scores(name: str, e: RunEvaluation, request: Request) -> RunScores:
    """The values of the queries that some metric averages, NaN where a metric does not average them."""
    shown = np.flatnonzero(np.logical_or.reduce(list(e.inside)))
    by_metric = list(zip(request.metrics, e.values, e.inside, strict=True))
    depth = request.policies.depth
    return RunScores(
        name,
        [e.query_id[int(i)] for i in shown] if len(shown) < len(e.query_id) else list(e.query_id),
        {m.metric: np.where(kept, v.value, np.nan)[shown] for m, v, kept in by_metric},
        e.health,
        e.tag,
        {m.metric: np.where(kept, v.error, np.nan)[shown] for m, v, kept in by_metric if v.error is not None},
        {
            fact: relstrings(e.judged[0], shown.tolist(), min(signs, depth or signs))
            for fact, signs in request.facts.items()
        },
        {
            m.metric: _laid_out(weight_of(m, v, e.query_id, np.flatnonzero(kept), request.weights), kept)[shown]
            for m, v, kept in by_metric
            if request.weights is not None or (v.weight != 1).any()
        },
        first_ranks(e.judged[0], depth)[shown],
    )


def _laid_out(values: Array, kept: Array) -> Array:
    """Values of some queries at their places among all, NaN elsewhere."""
    out = np.full(len(kept), np.nan)
    out[kept] = values
    return out


def _with_intervals(board: Sequence[Mean], runs: Sequence[RunScores], request: Request) -> list[Mean]:
    """These means, each with its interval, which is made when it is first looked at."""
    codes = request.intervals.codes([run.query_ids for run in runs])
    by_name = {run.name: (run, numbers) for run, numbers in zip(runs, codes, strict=True)}

    def bounds(mean: Mean) -> partial[Any]:
        run, numbers = by_name[mean.run]
        weights = run.weights.get(mean.metric)
        return partial(request.intervals.of_mean, mean.metric, run.values[mean.metric], weights, numbers)

    return [replace(mean, interval=bounds(mean)) for mean in board]
