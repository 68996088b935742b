"""Score Spark frames: a board made of sums, and per-query values that stay on the cluster."""

from __future__ import annotations

import contextlib
import io
import math
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.blocks import Chart
from rankscope.engines import spark
from rankscope.engines.local import NAMELESS, check_subtopics, refuse_nameless
from rankscope.engines.remote_queries import sent_objects
from rankscope.errors import DataError, InputError
from rankscope.files.long import FLOAT_NOTE, float_messages, named_grades
from rankscope.files.roles import ColumnRoles, roles_of
from rankscope.inference.base import Bounds
from rankscope.inference.intervals import wilson
from rankscope.lists import Array, Ids
from rankscope.metrics import Metric
from rankscope.scoring.evaluation import NO_QUERY, none_judged, refuse_unjudged
from rankscope.scoring.inputs import Kind, clean, distinct_names, named_runs, read_any
from rankscope.scoring.request import Intervals, Request
from rankscope.scoring.runs import Mean, RunScores
from rankscope.scoring.scores import Scores
from rankscope.scoring.spark.task import JUDGMENTS, QUERY, Layout, MetricTally, RunTally, Scoring, Tally, read_part
from rankscope.tables import Source

IDS = ("query_id", "doc_id", "iteration", "tag")
FAULT = "fault"  # the column with the fault of a row, as readers of text make it


@dataclass(frozen=True)
class SparkSource:
    """A run or judgments as a Spark frame: its columns by role, and the assumptions made."""

    layout: Layout
    frame: Any
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, frame: Any, kind: Kind, number: int, label: str, ordered: bool, column_roles: ColumnRoles | None
    ) -> SparkSource:
        """A frame with known columns of valid types. Raises InputError for others, without a look at any row."""
        notes: list[str] = []
        if not spark.is_frame(frame):
            raise InputError(
                f"{label}: some runs are Spark frames and this one is not: give either all or no runs as Spark frames"
            )
        kinds = spark.kinds_of(frame)
        roles = roles_of([column for column in kinds if column != FAULT], kind, label, notes, column_roles, graded=True)
        columns, chosen, floats = {}, {}, {}
        for role, column in roles.items():
            place, wanted = _fitting(role, column, kinds[column], label)
            columns[role] = (place, column)
            chosen[place] = (column, wanted)
            if role in IDS and kinds[column] == "float":
                fraction, large = (text.replace("%", "%%").format("%s") for text in float_messages(column))
                floats[place] = fraction, large
                notes.append(f"column {column} holds {FLOAT_NOTE}")
        if FAULT in kinds:
            chosen[FAULT] = (FAULT, "string")
        return cls(Layout(number, kind, label, columns), spark.lay_out(frame, chosen, ordered, floats), tuple(notes))


def _fitting(role: str, column: str, kind: str, label: str) -> tuple[str, str]:
    if role in IDS:
        if kind not in {"text", "whole", "float"}:
            remedy = f'; cast it: withColumn("{column}", col("{column}").cast("string"))'
            raise InputError(f"{label}: column {column} is of type {kind}; ids are strings or integers{remedy}")
        return role, "string"
    if kind == "text":
        return f"{role}_text", "string"
    if kind not in {"whole", "float", "boolean"}:
        raise InputError(f"{label}: column {column} is of type {kind}; it should hold numbers")
    return role, "double"


@dataclass(frozen=True)
class Gathered:
    """All inputs as Spark frames by number. ``judgments`` are all judgments, if every executor can hold them, ``source`` their origin."""

    frames: Mapping[int, Any]
    runs: tuple[SparkSource, ...]
    qrels: Layout
    judgments: pl.DataFrame | None
    notes: tuple[str, ...]
    source: Any = None

    @property
    def sent(self) -> bytes | None:
        """The judgments as they are sent."""
        if self.judgments is None:
            return None
        out = io.BytesIO()
        self.judgments.write_ipc(out, compression="zstd")
        return out.getvalue()


def gather(qrels: Any, runs: Sequence[tuple[str | None, Any]], request: Request) -> Gathered:
    """All inputs as frames of Spark. Judgments are read here if they are not Spark's. A small table goes to all executors."""
    ordered = _needs_order(request)
    labels = [name or (f"run{i}" if len(runs) > 1 else "run") for i, (name, _) in enumerate(runs, start=1)]
    pairs = enumerate(zip(labels, runs, strict=True))
    column_roles = request.policies.columns
    sources = tuple(SparkSource.of(run, "run", i, label, ordered, column_roles) for i, (label, (_, run)) in pairs)
    frames = {source.layout.number: source.frame for source in sources}
    limit = spark.option(sources[0].frame, "rankscope.broadcast.rows")
    if not spark.is_frame(qrels):
        return _with_local(qrels, sources, request, limit, ordered)
    mine = SparkSource.of(qrels, "qrels", JUDGMENTS, "qrels", ordered, column_roles)
    if any("subtopics" in m.metric.needs for m in request.metrics):
        some: list[str] = []
        if "iteration" in mine.layout.columns:
            iterations = spark.collect(mine.frame.select("iteration").distinct().limit(len(NAMELESS) + 1))
            some = iterations["iteration"].fill_null("0").unique().sort().to_list()
        refuse_nameless(some, mine.layout.label)
    few = spark.first_rows(mine.frame, limit) if limit else None
    if few is None:
        return Gathered({**frames, JUDGMENTS: mine.frame}, sources, mine.layout, None, mine.notes)
    with named_grades(request.policies.grades):
        read_part(mine.layout, few)  # raises for a faulty row at once: below, only its query is read
    queries = _queries_frame(sources, few["query_id"].unique())
    return Gathered({**frames, QUERY: queries}, sources, mine.layout, few, mine.notes)


def _queries_frame(sources: Sequence[SparkSource], queries: pl.Series) -> Any:
    frame = pl.DataFrame({"query_id": queries}, schema={"query_id": pl.String})
    return spark.of_polars(sources[0].frame.sparkSession, frame)


def _with_local(qrels: Any, sources: tuple[SparkSource, ...], request: Request, limit: int, ordered: bool) -> Gathered:
    from rankscope.files import qrels_of

    table = qrels_of(read_any("qrels", qrels, reading=request.policies))
    clean(table, request.policies, "qrels", [m.metric for m in request.metrics])  # names the line of a fault
    if any("subtopics" in m.metric.needs for m in request.metrics):
        check_subtopics(table)
    layout = Layout(
        JUDGMENTS, "qrels", table.source.label, {name: (name, name) for name in table.frame.columns}, ready=True
    )
    frames = {source.layout.number: source.frame for source in sources}
    frames[QUERY] = _queries_frame(sources, pl.Series(table.queries, dtype=pl.String))
    few = table.frame if table.frame.height <= limit else None
    if few is None:
        rows = spark.of_polars(sources[0].frame.sparkSession, table.frame)
        kinds = {name: (name, "double" if kind.is_numeric() else "string") for name, kind in table.frame.schema.items()}
        frames[JUDGMENTS] = spark.lay_out(rows, kinds, ordered)
    return Gathered(frames, sources, layout, few, tuple(table.source.notes), table.source)


def _needs_order(request: Request) -> bool:
    keeps = request.policies.duplicates != "error" or request.policies.folding is not None
    return keeps or any(m.convention.ties == "input" for m in request.metrics)


@dataclass(frozen=True, eq=False)
class ValueFrame:
    """The values of all queries as a Spark frame, one row per run and query, ``v0`` of the first metric, with weights if ``weighted``, and ``facts``."""

    frame: Any
    metrics: Sequence[Metric]
    weighted: Sequence[bool]
    facts: Sequence[str]

    def __post_init__(self) -> None:
        weakref.finalize(self, _let_go, self.frame).atexit = False

    def let_go(self) -> None:
        """Have Spark forget the values."""
        _let_go(self.frame)

    def long(self, names: Sequence[str]) -> Any:
        """run, query_id, metric, value (null: undefined): one row per query and metric."""
        F = spark.functions()
        run = F.element_at(F.array(*map(F.lit, names)), F.col("run") + 1).alias("run")
        pairs = [
            F.struct(
                F.lit(str(metric)).alias("metric"), F.nanvl(F.col(f"v{i}"), F.lit(None).cast("double")).alias("value")
            )
            for i, metric in enumerate(self.metrics)
        ]
        rows = self.frame.where("run is not null").select(run, "query_id", F.explode(F.array(*pairs)).alias("of"))
        return rows.select("run", "query_id", "of.metric", "of.value")

    @cached_property
    def here(self) -> pl.DataFrame:
        """All values, brought to the driver. Queries in the order of their ids."""
        return spark.collect(self.frame.where("run is not null").drop("also")).sort("run", "query_id")

    def of_run(self, number: int) -> pl.DataFrame:
        """The values of a run, brought to the driver."""
        return self.here.filter(pl.col("run") == number)


def _let_go(frame: Any) -> None:
    with contextlib.suppress(Exception):  # the session may be gone
        frame.unpersist()


class FetchedIds(Ids):
    """Texts of queries, as their ids, that are fetched when they are first looked at. Their number is known before."""

    def __init__(self, count: int, fetch: Callable[[], pl.Series]) -> None:
        self._count, self._fetch = count, fetch

    @cached_property
    def column(self) -> pl.Series:
        """The texts."""
        return self._fetch()

    def __len__(self) -> int:
        return self._count


class FetchedArrays(Mapping[Metric, Array]):
    """An array for each metric, fetched when it is first looked at."""

    def __init__(self, metrics: Sequence[Metric], fetch: Callable[[Metric], Array]) -> None:
        self._metrics, self._fetch = list(metrics), fetch

    def __getitem__(self, metric: Metric) -> Array:
        if metric not in self._metrics:
            raise KeyError(metric)
        return self._fetch(metric)

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


def fetched_run(name: str, number: int, tag: str | None, health: Any, count: int, values: ValueFrame) -> RunScores:
    """A run with values that are fetched on first use."""
    metrics = list(values.metrics)

    def column_of(name: str) -> pl.Series:
        return values.of_run(number)[name]

    def array(letter: str, metric: Metric) -> Array:
        return column_of(f"{letter}{metrics.index(metric)}").fill_null(np.nan).to_numpy()

    weighed = [metric for metric, weighs in zip(metrics, values.weighted, strict=True) if weighs]
    facts = {fact: FetchedIds(count, partial(column_of, f"f{i}")) for i, fact in enumerate(values.facts)}
    return RunScores(
        name, FetchedIds(count, partial(column_of, "query_id")),
        FetchedArrays(metrics, partial(array, "v")), health, tag, facts,
        FetchedArrays(weighed, partial(array, "w")),
        lambda: column_of("first").to_numpy().astype(np.int64),
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SparkScores(Scores):
    """What ``evaluate`` found in Spark frames: as ``Scores``, with the values of the queries left on the cluster.

    ``per_query`` is a Spark frame of run, query_id, metric and value, kept by Spark (``persist``) as long as this result lives. The board,
    its intervals, ``data_health`` and ``warnings`` are made of sums. What looks at single queries (``distribution``,
    ``to_polars("per_query")``, ``compare`` and ``gate``) brings queries x metrics numbers to the driver; ``collect()`` does so in the open.
    """

    values: ValueFrame | None = field(default=None)

    @property
    def per_query(self) -> Any:
        """run, query_id, metric, value (null: undefined): one row per query and metric, as a Spark frame."""
        assert self.values is not None
        return self.values.long([run.name for run in self.runs])

    def collect(self) -> Scores:
        """The same scores with the values of all queries on this machine, so that later calls need no Spark."""
        runs = [
            RunScores(
                run.name, list(run.query_ids), dict(run.values), run.health, run.tag,
                {name: list(fact) for name, fact in run.facts.items()}, dict(run.weights), run.ranks,
            )
            for run in self.runs
        ]  # fmt: skip
        return Scores(self.request, runs, self.board, self.warnings, self.inputs, self.notes)

    def to_polars(self, table: str = "") -> pl.DataFrame:
        """A table as a Polars frame. ``per_query`` is brought to the driver."""
        return self.collect().per_query if table == "per_query" else super().to_polars(table)

    def reader_notes(self) -> list[str]:
        """Return the notes of each input."""
        return list(self.notes)

    def charts(self) -> Iterator[Chart]:
        """None: charts show single queries, so ask ``collect()`` for them."""
        yield from ()


def evaluate_frames(
    qrels: Any, runs: Any, request: Request, progress: Callable[[str], None] | None = None
) -> SparkScores:
    """Score runs that are Spark frames. The rows of all runs go to one place by query, once. Raises DataError if a run shares no query with the qrels."""
    spark.functions()
    _refuse_pooled(request)
    named = list(named_runs(runs))
    gathered = gather(qrels, named, request)
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
        for i, ((name, _), tag) in enumerate(zip(named, tags, strict=True), start=1)
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
        notes=list(_notes(request, gathered, tally, names)), data=(qrels, named), values=values,
    )  # fmt: skip


def _refuse_pooled(request: Request) -> None:
    for m in request.metrics:
        if "items" in m.metric.needs:
            raise InputError(
                f"{m.metric} looks at every item shown, which Spark does not keep: evaluate it on this machine, or leave it out"
            )
        if m.metric.aggregate == "pooled":
            raise InputError(
                f"{m.metric} is made of the documents of all queries together, which Spark does not bring together: leave it out"
            )


def _weighs(request: Request, metric: Metric) -> bool:
    micro = any(m.convention.mean == "micro" for m in request.metrics if m.metric == metric)
    return request.policies.weights is not None or metric.aggregate == "weighted" or micro


def _evaluate(task: Scoring, gathered: Gathered, values_of: Callable[[Any], ValueFrame]) -> tuple[ValueFrame, Tally]:
    """The values of all queries, kept by Spark, and their tally, done anew if Spark gives up on the job because an executor with rows was lost."""

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
    tallies = sent_objects(spark.collect(values.frame.where("also is not null").select("also")))
    tally = sum(sorted(tallies, key=lambda tally: tally.ids), Tally())
    spark.check_rows(tally.rows_more, tally.rows_check)
    return tally


def _refuse(request: Request, tally: Tally, gathered: Gathered) -> None:
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
    if tally.uneven or not _by_sums(request):
        codes = None if intervals.clusters is None else intervals.codes([run.query_ids])[0]
        return intervals.of_mean(metric, run.values[metric], run.weights.get(metric), codes)
    bounds = tally.bounds(metric, intervals.interval, intervals.level)
    if math.isinf(bounds.lower) or math.isinf(bounds.upper):
        return Bounds.none(f"{bounds.method} finds no end: too few queries differ")
    return bounds


def _notes(request: Request, gathered: Gathered, tally: Tally, names: Sequence[str]) -> Iterator[str]:
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
        yield f"{weights.label}: {words.counted(left, 'weight is of a query', 'weights are of queries')}, on which no run is scored"
    uneven = any(metric.uneven for run in tally.runs for metric in run.metrics)
    if uneven or not _by_sums(request):
        numbers = words.counted(sum(run.scored for run in tally.runs), "query")
        interval = "weights" if _by_sums(request) else str(request.intervals.interval)
        why = interval if request.intervals.clusters is None else "clusters"
        yield f"intervals by {why} look at single queries: the values of {numbers} are brought to the driver"
