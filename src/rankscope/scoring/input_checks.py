"""Checks of the input that ``evaluate`` runs if its numbers are odd: ids spelled differently, swapped inputs, twin runs, lists of uneven length."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from rankscope.blocks import Caution
from rankscope.declared import parameters
from rankscope.diagnostics.inputs import (
    DocIdsAlike,
    GradesFromClicks,
    NothingJudgedRetrieved,
    QueryIdsAlike,
    SwappedByCaller,
    TwinRuns,
)
from rankscope.diagnostics.metrics import ListsEnd
from rankscope.diagnostics.rankings import ShortRun
from rankscope.diagnostics.rule import MIN_PRINTED_CHANGE
from rankscope.engines.base import Order
from rankscope.engines.pairs import SameIds, documents_alike, fold_pattern, queries_alike
from rankscope.engines.top import top
from rankscope.errors import RankscopeError
from rankscope.files import qrels_of, run_of
from rankscope.lists import Array
from rankscope.lists.overlap import same_values
from rankscope.metrics import LAUC, Metric
from rankscope.panels.samples import mean
from rankscope.scoring.fold import Fold, fold_run
from rankscope.scoring.health import Rescored
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.tables import FROM_CLICKS, Run

DEPTH_OF_IDS = 20  # ranks in which ids are compared
MAX_ROWS_READ_AGAIN = 2_000_000
MAX_FRACTIONAL_GRADES = 10  # more different fractions than this are scores
USUALLY = 0.5  # the share of lists that end at the last rank of a run that was cut there
ScoreAgain = Callable[[Any, Any], dict[Any, float]]


def input_cautions(
    request: Request, evaluations: Sequence[RunEvaluation], runs: Sequence[RunScores], strange: Sequence[bool], data: Any,
    score_again: ScoreAgain, rescored: Rescored,
) -> Iterator[Caution]:  # fmt: skip
    """Yield the warnings about the input with their effects: ``strange`` runs may spell ids differently, ``data`` is as passed, ``score_again`` and ``rescored`` score others."""
    names = [run.name for run in runs]
    if evaluations and looks_like_scores(evaluations[0].judged[0].grade):
        clicked = data is not None and grades_from_clicks(qrels_of(data[0]).frame)
        yield GradesFromClicks.caution() if clicked else SwappedByCaller.caution(run=names[0])
    if data is not None:
        sources = dict(zip(names, (run for _, run in data[1]), strict=True))
        rows = {run.name: run.health.rows for run in runs}
        for group in twins(evaluations, names, lambda name: _read_again(sources[name], rows[name])):
            yield TwinRuns.caution(runs=group, count=len(group))
    ends = {name: int(e.judged[0].retrieved.max(initial=0)) for name, e in zip(names, evaluations, strict=True)}
    for numbers in short_runs(ends, [m.metric for m in request.metrics]) if request.policies.depth is None else ():
        if "deeper" in numbers:
            yield ShortRun.caution(**numbers)
    if request.policies.depth is None:
        yield from _uneven_depths(request, dict(zip(names, evaluations, strict=True)), rescored)
    for place, (scores, e, odd) in enumerate(zip(runs, evaluations, strange, strict=True)):
        alike: list[Caution] = []
        if data is not None:
            qrels, (_, run) = data[0], data[1][place]
            if scores.health.missing_queries and scores.health.extra_queries:
                yield from _queries_alike(qrels, run, scores, e.missing, score_again)
            alike += _documents_alike(qrels, run, scores, score_again) if odd else []
        yield from alike
        if odd and not alike and not e.judged[0].rank.any():
            metric, documents = next(iter(scores.values)), len(e.judged[0].grade)
            yield NothingJudgedRetrieved.caution(run=scores.name, total=documents, metric=metric)


def costs_of_empty_rankings(
    evaluations: Sequence[RunEvaluation], runs: Sequence[RunScores]
) -> dict[str, dict[str, Any]]:
    """Return, by run with queries that score as empty, the first metric over its other queries."""
    costs: dict[str, dict[str, Any]] = {}
    for run, e in zip(runs, evaluations, strict=True):
        metric, values = next(iter(run.values.items()))
        empty = dict(zip(e.query_id, e.judged[0].retrieved == 0, strict=True))
        kept = np.array([not empty[query] for query in run.query_ids]) & ~np.isnan(values)
        if metric.aggregate in {"mean", "weighted"} and 0 < kept.sum() < len(kept):
            weights = run.weights.get(metric, np.ones(len(values)))
            value = mean(metric, values[kept], weights[kept])
            costs[run.name] = {"metric": metric, "value": value, "others": int(kept.sum())}
    return costs


def looks_like_scores(grades: Array) -> bool:
    """True for many different grades, most of them fractions."""
    fractions = grades[grades % 1 != 0]
    return len(fractions) > len(grades) / 2 and len(np.unique(fractions)) > MAX_FRACTIONAL_GRADES


def grades_from_clicks(judgments: Any) -> bool:
    """True if column 2 of judgments says that they are grades from clicks."""
    return "iteration" in judgments.columns and bool((judgments["iteration"] == FROM_CLICKS).all())


def twins(
    evaluations: Sequence[RunEvaluation], names: Sequence[str], table_of: Callable[[str], Run | None]
) -> list[list[str]]:
    """Return groups of runs with the same content. ``table_of`` reads a run, and is called only for runs that look alike."""
    places = {
        name: (tuple(e.query_id), e.judged[0].retrieved, e.judged[0].rank, e.judged[0].tie_start, e.judged[0].tie_size)
        for name, e in zip(names, evaluations, strict=True)
        if e.judged[0].rank.any()
    }
    out = []
    for group in same_values(places):
        tables = [(name, table) for name in group if (table := table_of(name)) is not None]
        content = [
            (name, table.frame.select("query_id", "doc_id", "score").sort("query_id", "doc_id"))
            for name, table in tables
        ]
        same = [name for name, frame in content if frame.equals(content[0][1])]
        out += [same] if len(same) > 1 else []
    return out


def short_runs(ends: dict[str, int], metrics: Sequence[Metric]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of runs that end above the cutoff of a metric, with a run that goes deeper if there is one."""
    for name, end in ends.items():
        beyond = [m for m in metrics if (getattr(m, "cutoff", None) or 0) > end > 0]
        if beyond:
            deeper = next(({"deeper": other, "depth": depth} for other, depth in ends.items() if depth > end), {})
            yield {"run": name, "count": end, "metrics": beyond, "number": len(beyond), **deeper}


def looks_to_the_end(metric: Metric) -> bool:
    """Return True for a metric of ranks without a cutoff that could have one."""
    uncut = "cutoff" in parameters(type(metric)) and getattr(metric, "cutoff", None) is None
    ranks = metric.positions and metric.better != "neither" and not metric.counts_ties
    return uncut and ranks and metric.aggregate in {"mean", "geometric"} and not isinstance(metric, LAUC)


def _uneven_depths(request: Request, runs: dict[str, RunEvaluation], rescored: Rescored) -> Iterator[Caution]:
    """Warn of lists that were cut, if another run goes deeper and the same cutoff changes its value."""
    ends = {name: int(e.judged[0].retrieved.max(initial=0)) for name, e in runs.items()}
    end = min(ends.values(), default=0)
    cut = [name for name, e in runs.items() if ends[name] == end and _ends_at(e.judged[0].retrieved, end)]
    metrics = [m.metric for m in request.metrics if looks_to_the_end(m.metric)]
    if not cut or end == max(ends.values()) or not metrics:
        return
    moves: dict[Metric, tuple[float, str]] = {}
    for metric in metrics:
        then, now = rescored(metric, metric.having(cutoff=end)), rescored(metric, metric)
        moved = [(then[name] - now[name], name) for name in runs]
        moves[metric] = max(moved, key=lambda move: abs(move[0]))
    moved_metrics = [metric for metric in metrics if abs(moves[metric][0]) >= MIN_PRINTED_CHANGE]
    if moved_metrics:
        change, name = moves[moved_metrics[0]]
        yield ListsEnd.caution(
            runs=cut, depth=end, metrics=moved_metrics, number=len(moved_metrics), change=change, most_changed=f"{moved_metrics[0]} of {name}",
            cut=[m.having(cutoff=end) for m in moved_metrics], named=moved_metrics[0].having(cutoff=end),
        )  # fmt: skip


def _ends_at(lengths: Array, end: int) -> bool:
    filled = lengths[lengths > 0]
    return bool(len(filled)) and float((filled == end).mean()) > USUALLY


def alike_numbers(run: str, same: SameIds) -> dict[str, Any]:
    """Return the numbers of ids that differ from judged ones only in spelling."""
    ranked, judged = same.pairs["ranked"][0], same.pairs["judged"][0]
    return {
        "run": run, "count": same.pairs.height, "spelling": same.spelling.words,
        "ranked": repr(ranked), "judged": repr(judged), "pattern": fold_pattern(same) or None,
    }  # fmt: skip


def _read_again(run: Any, rows: int) -> Run | None:
    """Return a run as a table. None if it is too long to be read again, or cannot be."""
    in_memory = isinstance(run, dict) or hasattr(run, "frame") or hasattr(type(run), "columns")
    is_file = isinstance(run, str | os.PathLike) and os.path.isfile(run)
    if rows > MAX_ROWS_READ_AGAIN or not (in_memory or is_file):
        return None
    try:
        return run_of(run)
    except RankscopeError:
        return None


def _queries_alike(
    qrels: Any, run: Any, scores: RunScores, missing: Collection[str], score_again: ScoreAgain
) -> Iterator[Caution]:
    if queries_alike(scores.health.extra, missing) is None:  # a few ids show if the run is worth reading again
        return
    table = _read_again(run, scores.health.rows)
    same = None if table is None else queries_alike(set(table.queries) - set(qrels_of(qrels).queries), missing)
    if table is not None and same is not None:
        value = _score_under(scores, score_again, qrels, same.with_queries(table), "value")
        yield QueryIdsAlike.caution(**alike_numbers(scores.name, same), **value)


def _documents_alike(qrels: Any, run: Any, scores: RunScores, score_again: ScoreAgain) -> Iterator[Caution]:
    table = _read_again(run, scores.health.rows)
    if table is None:
        return
    try:
        judgments = qrels_of(qrels).frame.select("query_id", "doc_id", "grade")
        same = documents_alike(table, top(table, Order(), DEPTH_OF_IDS, scores.name), judgments)
    except RankscopeError:  # it cannot be read twice
        return
    if same is not None:
        pattern = fold_pattern(same)
        other = fold_run(table, Fold(pattern), "max", "documents") if pattern else same.with_documents(table, judgments)
        value = _score_under(scores, score_again, qrels, other, "folded" if pattern else "value")
        yield DocIdsAlike.caution(**alike_numbers(scores.name, same), cutoff=DEPTH_OF_IDS, **value)


def _score_under(scores: RunScores, score_again: ScoreAgain, qrels: Any, table: Run, name: str) -> dict[str, Any]:
    """Return the first metric of a run with other ids, or nothing if it cannot be scored."""
    metric = next(iter(scores.values))
    try:
        return {"metric": metric, name: score_again(qrels, table).get(metric)}
    except RankscopeError:
        return {}
