"""Scores runs that are Spark frames, where they lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rankscope import words
from rankscope.engines import spark
from rankscope.engines.remote_queries import told_by
from rankscope.errors import DataError, InputError
from rankscope.inference.base import Bounds
from rankscope.inference.intervals import wilson
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import NO_QUERY, none_judged, refuse_unjudged
from rankscope.scoring.inputs import distinct_names, named_runs
from rankscope.scoring.request import Intervals, Request
from rankscope.scoring.runs import Mean, RunScores
from rankscope.scoring.spark.frames import Gathered, gather
from rankscope.scoring.spark.scores import SparkScores, ValueFrame, fetched_run
from rankscope.scoring.spark.tallies import MetricTally, RunTally, Tally
from rankscope.scoring.spark.task import Scoring
from rankscope.tables import Source


def evaluate_frames(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None
) -> SparkScores:
    """Score runs that are Spark frames as a request asks; the rows of all runs go to the same place by their query, once.

    Raises InputError for what cannot be used, and DataError if a run and the qrels share no query.
    """
    spark.functions()
    _refuse_pooled(request)
    given = list(named_runs(runs))
    gathered = gather(qrels, given, request)
    if request.policies.columns is not None:
        request.policies.columns.refuse_absent()
    metrics = list(dict.fromkeys(m.metric for m in request.metrics))
    weighted = [_weighs(request, metric) for metric in metrics]
    task = Scoring(
        spark.pickled(replace(request, intervals=Intervals())), tuple(source.layout for source in gathered.runs),
        gathered.qrels, tuple(request.facts), tuple(weighted), gathered.sent,
    )  # fmt: skip
    values, tally = _evaluate(task, gathered, lambda kept: ValueFrame(kept, metrics, weighted, list(request.facts)))
    _refuse(request, tally, gathered)
    tags = [next(iter(run.tags), None) for run in tally.runs]
    names = distinct_names([
        (name, "", "") if name is not None else (tag or "run", "", f"run{i}")
        for i, ((name, _), tag) in enumerate(zip(given, tags, strict=True), start=1)
    ])  # fmt: skip
    scored = [
        fetched_run(name, i, tag, run.health, run.scored, values)
        for i, (name, tag, run) in enumerate(zip(names, tags, tally.runs, strict=True))
    ]
    if progress is not None:
        for name in names:
            progress(name)
    sources = [Source(layout.label, "Spark frame") for layout in (gathered.qrels, *(s.layout for s in gathered.runs))]
    return SparkScores(
        request=request, runs=scored, board=list(_board(request, scored, tally.runs)),
        warnings=request.cautions({run.name: run.health for run in scored}),
        inputs=[gathered.source or sources[0], *(replace(s, label=n) for s, n in zip(sources[1:], names, strict=True))],
        notes=list(_notes(request, gathered, tally, names)), data=(qrels, given), values=values,
    )  # fmt: skip


def _refuse_pooled(request: Request) -> None:
    for m in request.metrics:
        if m.metric.aggregate == "pooled":
            raise InputError(
                f"{m.metric} is made of the documents of all queries together, which Spark does not bring together: leave it out"
            )


def _weighs(request: Request, metric: Metric) -> bool:
    micro = any(m.convention.mean == "micro" for m in request.metrics if m.metric == metric)
    return request.policies.weights is not None or metric.aggregate == "weighted" or micro


def _evaluate(task: Scoring, gathered: Gathered, values_of: Callable[[Any], ValueFrame]) -> tuple[ValueFrame, Tally]:
    """The values of all queries, kept by Spark, and their tally. Raises what a part found wrong with its data.

    Spark gives a job up if an executor is lost with rows that others have fetched, and these rows come in another order when they are
    packed again. The job is then done anew, with nothing left of what was kept.
    """

    def job(number: int) -> tuple[ValueFrame, Tally]:
        again = replace(task, token=f"{task.token} {number}")
        values = values_of(spark.keep(spark.map_parts(gathered.frames, "query_id", again.parts, again.schema)))
        try:
            return values, _tally_of(values)
        except spark.LostRowsError:
            values.let_go()
            raise

    return spark.retry(job)


def _tally_of(values: ValueFrame) -> Tally:
    told = told_by(spark.collect(values.frame.where("also is not null").select("also")))
    tally = sum(sorted(told, key=lambda tally: tally.ids), Tally())
    spark.check_rows(tally.rows_more, tally.rows_check)
    return tally


def _refuse(request: Request, tally: Tally, gathered: Gathered) -> None:
    """Raise what is wrong with all parts together."""
    for layout, run in zip((source.layout for source in gathered.runs), tally.runs, strict=False):
        if not run.counts.rows:
            raise InputError(f"{layout.label}: the data frame has no rows")
        if len(run.tags) > 1:
            name = layout.columns["tag"][1]
            several = f"column {name} names several runs ({words.listing(run.tags, 3)})"
            raise InputError(
                f"{layout.label}: {several}; a run table holds one: split it by {name}, or drop the column"
            )
    if not tally.judged:
        raise InputError(f"{gathered.qrels.label}: the data frame has no rows")
    for layout, run in zip((source.layout for source in gathered.runs), tally.runs, strict=True):
        if run.counts.missing_queries == tally.judged:
            raise DataError(none_judged(layout.label, run.counts.extra, tally.ids))
    only = request.policies.queries
    if not isinstance(only, str):
        refuse_unjudged(only, tally.listed)
    if not all(metric.inside for run in tally.runs for metric in run.metrics):
        raise DataError(NO_QUERY)


def _board(request: Request, runs: Sequence[RunScores], tallies: Sequence[RunTally]) -> Iterator[Mean]:
    for run, tallied in zip(runs, tallies, strict=True):
        for m, metric in zip(request.metrics, tallied.metrics, strict=True):
            interval = partial(_bounds, request, run, m.metric, metric)
            yield Mean(
                run.name, m.metric, m.spelling, metric.mean(m.metric), metric.defined, metric.inside - metric.defined,
                metric.error, metric.sampled_queries, interval,
            )  # fmt: skip


def _by_sums(request: Request) -> bool:
    interval = request.intervals.interval
    return request.intervals.clusters is None and (
        interval is None or interval.by_moments or isinstance(interval, wilson)
    )


def _bounds(request: Request, run: RunScores, metric: Metric, tally: MetricTally) -> Bounds:
    intervals = request.intervals
    if not _by_sums(request):
        codes = None if intervals.clusters is None else intervals.codes([run.query_ids])[0]
        return intervals.of_mean(metric, run.values[metric], run.weights.get(metric), codes)
    bounds = tally.bounds(metric, intervals.interval, intervals.level)
    if math.isinf(bounds.lower) or math.isinf(bounds.upper):
        return Bounds.none(f"{bounds.method} finds no end: too few queries differ")
    return bounds


def _notes(request: Request, gathered: Gathered, tally: Tally, names: Sequence[str]) -> Iterator[str]:
    """What was read, and what was assumed in reading it."""
    if gathered.source is None:
        rows, queries = words.counted(tally.judgments, "judgment"), words.counted(tally.judged, "query")
        yield f"read qrels as a Spark frame: {rows}, {queries}"
    yield from gathered.notes
    for name, source, run in zip(names, gathered.runs, tally.runs, strict=True):
        rows, queries = words.counted(run.counts.rows, "row"), words.counted(run.counts.queries, "query")
        yield f"read {name} as a Spark frame: {rows}, {queries}"
        yield from source.notes
        yield from run.notes
        if run.infinite:
            yield f"{words.counted(run.infinite, 'score is', 'scores are')} infinite"
    weights = request.policies.weights
    if weights is not None and (left := len(weights.by_query) - tally.weighted) > 0:
        yield f"{weights.label}: {words.counted(left, 'weight is of a query', 'weights are of queries')} that no run is scored on"
    if not _by_sums(request):
        numbers = words.counted(sum(run.scored for run in tally.runs), "query")
        why = "clusters" if request.intervals.clusters is not None else str(request.intervals.interval)
        yield f"intervals by {why} look at single queries: the values of {numbers} are brought to the driver"
