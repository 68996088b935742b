"""Parts of whole queries, judged and scored on executors, and their tallies: counts, exact sums and moments that add up over parts."""

from __future__ import annotations

import io
import math
import os
import pickle
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import polars as pl

from rankscope._version import __version__
from rankscope.engines import local
from rankscope.engines.packing import Columns, Part, PartStream
from rankscope.engines.remote_queries import tell, with_errors
from rankscope.errors import InputError
from rankscope.files.long import NO_ROWS, ReaderNotes, make_table, named_grades
from rankscope.inference.base import Bounds, Estimate
from rankscope.inference.intervals import t, wilson
from rankscope.lists import Array, Ids
from rankscope.metrics import Metric
from rankscope.moments import ExactSum, Moments
from rankscope.panels.samples import NO_SAMPLE, logs_of
from rankscope.parallel import limits
from rankscope.scoring.evaluation import check_grades, evaluate_judged, mark_averaged, run_scores, weight_of
from rankscope.scoring.health import LISTED, Health
from rankscope.scoring.inputs import CleanInput, Kind, clean
from rankscope.scoring.judging import JudgedRun
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.tables import Qrels, Run, Source

JUDGMENTS, QUERY = -1, -2  # the number of the source of a judgment, and of a row that only says that a query is judged


@dataclass(frozen=True)
class Layout:
    """One source (``kind``: run or qrels) in a part: its column and user's name for each role. Rows that are ``ready`` were checked."""

    number: int
    kind: Kind
    label: str
    columns: Mapping[str, tuple[str, str]]
    ready: bool = False


def row_place(label: str, query: str | None) -> str:
    """The position of a row, by its query."""
    return label if query is None else f"{label} query {query}"


@dataclass(frozen=True)
class Scoring:
    """Scores parts by a request, pickled to check versions first. ``judgments`` are all as Arrow bytes if they do not come with the runs."""

    request: bytes
    runs: tuple[Layout, ...]
    qrels: Layout
    facts: tuple[str, ...]
    weighted: tuple[bool, ...]
    judgments: bytes | None = field(default=None, repr=False)
    version: str = __version__
    # without it Spark would take what it kept of an evaluation before a file changed
    token: str = field(default_factory=lambda: f"{os.getpid()} {time.time_ns()}")

    def parts(self, parts: PartStream) -> Iterator[pl.DataFrame]:
        """One frame per part, with one row per run and query, and a last row with the tally of all, or with the faults of the data."""

        def answers() -> Iterator[pl.DataFrame]:
            tally = Tally()
            for part in parts:
                with limits(threads=1):  # a core is what Spark gives to a task
                    frame, counted = self.part(part)
                tally += counted
                yield frame
            tally += Tally(rows_more=parts.rows, rows_check=parts.check)
            if tally != Tally():
                yield tell(tally)

        return with_errors(answers(), {"rankscope": (__version__, self.version)})

    def part(self, part: Part) -> tuple[pl.DataFrame, Tally]:
        """The values of some whole queries, and their tally."""
        request = request_of(self.request)
        # rows come in any order
        part = {number: rows.sort("row") if "row" in rows.columns else rows for number, rows in part.items()}
        grades = self._grades(part, request)
        judged = grades.data.names
        evaluations = [self._evaluate(layout, part, grades, request) for layout in self.runs]
        run_evaluations = [e for e, _ in evaluations]
        scored = mark_averaged(request, run_evaluations, len(judged))
        only, weights = request.policies.queries, request.policies.weights
        frames, tallies, queries = [], [], set[str]()
        for layout, e, (_, extra) in zip(self.runs, scored, evaluations, strict=True):
            run = run_scores(layout.label, e, request)
            if weights is not None:
                queries.update(run.query_ids)
            frames.append(self._frame(layout.number, run, e))
            retrieved, extra["scored"] = e.judged[0].retrieved[: len(judged)], len(run.query_ids)
            tallies.append(RunTally.of(_tally_metrics(e, request), e.health, retrieved, **extra))
        tally = Tally(
            tuple(tallies), grades.data.frame.height, len(judged), tuple(judged.sort().head(2).to_list()),
            () if isinstance(only, str) else tuple(sorted(only.intersection(judged.to_list()))),
            0 if weights is None else len(queries & weights.by_query.keys()),
        )  # fmt: skip
        return pl.concat(frames), tally

    def _grades(self, part: Part, request: Request) -> CleanInput:
        queries = part[QUERY]["query_id"].sort() if QUERY in part else pl.Series([], dtype=pl.String)
        if self.judgments is not None:
            rows = judgments_of(self.judgments).filter(pl.col("query_id").is_in(queries.implode()))
        else:
            rows = part[JUDGMENTS]
        with named_grades(request.policies.grades):
            table, _ = read_part(self.qrels, rows)
        table = replace(table, more_queries=tuple(queries.to_list()))
        grades = clean(table, request.policies, "qrels", [m.metric for m in request.metrics])
        check_grades(grades, request)
        return grades

    def _evaluate(
        self, layout: Layout, part: Part, grades: CleanInput, request: Request
    ) -> tuple[RunEvaluation, dict[str, Any]]:
        table, reader_notes = read_part(layout, part[layout.number])
        run = clean(table, request.policies, "run")
        labels = (layout.label, "", "")
        by_order = {order: local.judge(run.data, grades.data, order) for order in dict.fromkeys(request.orders)}
        judged = JudgedRun(labels, None, by_order, run.duplicates, run.self_matches)
        infinite = int(table.frame["score"].is_infinite().sum())
        notes = tuple(note for note in reader_notes.notes if "infinite" not in note)
        extra = {"tags": () if reader_notes.tag is None else (reader_notes.tag,), "infinite": infinite, "notes": notes}
        return evaluate_judged(judged, grades.duplicates, request), extra

    def _frame(self, number: int, run: RunScores, e: RunEvaluation) -> pl.DataFrame:
        """The values of a run: null if a metric does not average the query, NaN if the value is undefined."""
        at = np.flatnonzero(np.logical_or.reduce(list(e.inside)))
        columns: dict[str, Any] = {
            "run": pl.Series([number], dtype=pl.Int32).new_from_index(0, len(at)),
            "query_id": run.query_ids.column
            if isinstance(run.query_ids, Ids)
            else pl.Series(run.query_ids, dtype=pl.String),
            "first": pl.Series(run.first_relevant, dtype=pl.Int32),
        }
        metrics = list(dict.fromkeys(m.metric for m in request_of(self.request).metrics))
        for i, metric in enumerate(metrics):
            place = request_of(self.request).place(metric)
            value = pl.Series(run.values[metric], dtype=pl.Float64)
            inside = e.inside[place][at]
            columns[f"v{i}"] = value if inside.all() else value.set(pl.Series(~inside), None)
            if self.weighted[i]:
                weight = run.weights.get(metric)
                columns[f"w{i}"] = pl.Series(np.ones(len(at)) if weight is None else weight, dtype=pl.Float64)
        for i, name in enumerate(self.facts):
            columns[f"f{i}"] = pl.Series(run.facts[name], dtype=pl.String)
        return pl.DataFrame(columns).with_columns(pl.lit(None, pl.Binary).alias("also"))

    @property
    def schema(self) -> Columns:
        """The columns of a part, with their types in Spark."""
        values = [(f"v{i}", "double") for i in range(len(self.weighted))]
        weights = [(f"w{i}", "double") for i, on in enumerate(self.weighted) if on]
        facts = [(f"f{i}", "string") for i in range(len(self.facts))]
        return (("run", "int"), ("query_id", "string"), ("first", "int"), *values, *weights, *facts, ("also", "binary"))


def _tally_metrics(e: RunEvaluation, request: Request) -> Iterator[MetricTally]:
    for m, values, kept in zip(request.metrics, e.values, e.inside, strict=True):
        at: Array = np.flatnonzero(kept)
        weight = weight_of(m, values, e.query_id, at, request)
        error = None if values.error is None else values.error[at]
        yield MetricTally.of(m.metric, values.value[at], weight, error, values.sampled_queries)


@lru_cache(maxsize=4)
def request_of(pickled: bytes) -> Request:
    """The request."""
    request: Request = pickle.loads(pickled)  # noqa: S301 - Spark hands functions over in the same way
    return request


@lru_cache(maxsize=1)
def judgments_of(arrow: bytes) -> pl.DataFrame:
    """The judgments of all queries, read once a worker."""
    return pl.read_ipc(io.BytesIO(arrow))


def read_part(layout: Layout, rows: pl.DataFrame) -> tuple[Any, ReaderNotes]:
    """The run or the qrels of a part, empty without rows. Raises InputError for the first invalid row, named by its query."""
    what, label, reader_notes = layout.kind, layout.label, ReaderNotes()
    if "fault" in rows.columns and (broken := rows["fault"].drop_nulls()).len():
        raise InputError(f"{label}: {broken.sort()[0]}")
    value = "score" if what == "run" else "grade"
    source = Source(label, "Spark frame")
    if not rows.height:
        frame = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, value: pl.Float64})
        frame = frame.with_columns(rank=pl.lit(None, pl.Int64)) if "rank" in layout.columns else frame
        return (Run(frame, source, name=label) if what == "run" else Qrels(frame, source)), reader_notes
    if layout.ready:
        return Qrels(rows.select(*layout.columns), source), reader_notes
    ids = rows["query_id"]
    frame = rows.select(pl.col(column).alias(name) for column, name in layout.columns.values())
    roles = {role: name for role, (_, name) in layout.columns.items()}
    try:
        table = make_table(frame, roles, source, reader_notes, what, label, lambda: np.arange(len(ids)), NO_ROWS)
    except InputError:
        if not reader_notes.faults:
            raise
    if reader_notes.faults:
        fault = reader_notes.faults[0]
        row = fault.line or 0
        text = fault.message.removeprefix(f"{label} line {row:,}: ")
        more = f" (and {reader_notes.faulty - 1:,} more like it)" if reader_notes.faulty > 1 else ""
        raise InputError(f"{row_place(label, ids[row])}: {text}{more}")
    return replace(table, source=replace(table.source, place_of=lambda row: row_place(label, ids[row]))), reader_notes


NOTHING = ExactSum()
NO_ENDS = (math.inf, -math.inf)


class Mergeable:
    """A tally that is merged field by field: numbers and sums by ``+``, mappings key by key. A subclass names its exceptions."""

    def __add__(self, other: Self) -> Self:
        """Both together."""
        mine, theirs = vars(self), vars(other)
        return type(self)(**{name: self.merged(name, mine[name], theirs[name]) for name in mine})

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Return the sum of a field."""
        return _add(one, other)


def _add(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping):
        return {key: one.get(key, 0) + other.get(key, 0) for key in dict.fromkeys([*one, *other])}
    return one + other


@dataclass(frozen=True)
class MetricTally(Mergeable):
    """One metric over queries: how many it averages and has a value for, the sums of its mean, and the moments of its interval.

    ``products`` sums what each query adds, value times weight; ``squares`` the squared errors that come from sampling the orders of
    tied documents, if ``sampled``. ``moments`` are of value times weight and of weight, over queries that weigh something;
    ``values`` and ``weights`` are the ends of these two.
    """

    inside: int = 0
    defined: int = 0
    products: ExactSum = NOTHING
    weight: ExactSum = NOTHING
    squares: ExactSum = NOTHING
    sampled: int = 0
    sampled_queries: int = 0
    moments: Moments = field(default_factory=lambda: Moments.empty(2))
    binary: int = 0
    values: tuple[float, float] = NO_ENDS
    weights: tuple[float, float] = NO_ENDS

    @classmethod
    def of(cls, metric: Metric, value: Array, weight: Array, error: Array | None, sampled_queries: int) -> MetricTally:
        """The tally of the queries that a metric averages. NaN is an undefined value."""
        known = ~np.isnan(value)
        v, w = value[known], weight[known]
        if metric.aggregate == "geometric":
            v = logs_of(v)
        if metric.aggregate == "sum":
            w = np.ones(len(v))
        some = w > 0
        return cls(
            inside=len(value), defined=len(v), products=ExactSum.of(v * w), weight=ExactSum.of(w),
            squares=NOTHING if error is None else ExactSum.of((w * error[known]) ** 2), sampled=int(error is not None),
            sampled_queries=sampled_queries, moments=Moments.of(np.stack([(v * w)[some], w[some]], axis=1)),
            binary=int(np.count_nonzero(some & ((v == 0) | (v == 1)))), values=_ends(v[some]), weights=_ends(w[some]),
        )  # fmt: skip

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Keep the outer ends, and add everything else."""
        return (min(one[0], other[0]), max(one[1], other[1])) if name in {"values", "weights"} else _add(one, other)

    def mean(self, metric: Metric) -> float:
        """The value of the metric over all queries, equal to ``panels.samples.mean`` to the bit."""
        if not self.defined:
            return math.nan
        if metric.aggregate == "sum":
            return self.products.value
        whole = self.weight.value
        average = self.products.value / whole if whole else math.nan
        return math.exp(average) if metric.aggregate == "geometric" else average

    @property
    def error(self) -> float | None:
        """The standard error of the mean from sampled orders of tied documents, None if none was sampled."""
        if not self.sampled:
            return None
        whole = self.weight.value
        return math.sqrt(self.squares.value) / whole if whole else math.nan

    @property
    def uneven(self) -> bool:
        """True if queries weigh differently, so that the interval needs the weight of each."""
        return bool(self.weights[0] < self.weights[1])

    def bounds(self, metric: Metric, interval: Any, level: float) -> Bounds:
        """The interval of the mean, as ``panels.samples.bounds_of`` chooses it: by moments, or of a share of queries."""
        if metric.aggregate in NO_SAMPLE:
            return Bounds.none(NO_SAMPLE[metric.aggregate])
        low, high = metric.range
        geometric = metric.aggregate == "geometric"
        shares = not geometric and not self.uneven and 0 < self.binary == self.moments.count
        if interval is None and shares and self.moments.count > 1 and high <= 1 and not -math.inf < low < 0:
            interval = wilson()
        if isinstance(interval, wilson):
            if not shares:
                return Bounds.none("wilson takes only values of 0 and 1" if self.moments.count else "no queries")
            return interval.of_share(self.moments.count, self.mean(metric), level).clipped(low, high)
        estimate = self._estimate()
        if geometric and interval is not None:  # an interval that was asked for is of the linearised values
            centre = math.exp(estimate.mean)
            estimate = replace(estimate, mean=centre, error=centre * estimate.error, largest=centre)
        bounds = t().of(estimate, level)
        if geometric and interval is None and bounds.known:
            bounds = Bounds(math.exp(bounds.lower), math.exp(bounds.upper), bounds.method)
        return bounds.clipped(low, high)

    def _estimate(self) -> Estimate:
        held = self.moments
        if not held.count:
            return Estimate.of(math.nan, math.nan, 0)
        weight = float(held.mean[1])
        mean = float(held.mean[0]) / weight
        if self.values[0] == self.values[1]:
            return Estimate.of(mean, 0.0, held.count)
        if held.count < 2:
            return Estimate.of(mean, math.nan, held.count)
        return Estimate.of(mean, held.combine([1 / weight, -mean / weight])[1], held.count)


def _ends(values: Array) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else NO_ENDS


SHARES = ("unjudged_at_cutoff", "tied_at_cutoff")  # of ``Health``


@dataclass(frozen=True)
class RunTally(Mergeable):
    """One run: its metrics in the order asked for, and its ``Health`` with numbers of documents in place of shares.

    ``shown`` counts the documents in the top k of judged queries. ``scored`` counts the queries that any metric averages, ``tags`` are
    the names that its rows give it, ``infinite`` counts infinite scores.
    """

    metrics: tuple[MetricTally, ...]
    counts: Health
    shown: Mapping[int, int]
    scored: int = 0
    infinite: int = 0
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, metrics: Iterable[MetricTally], health: Health, retrieved: Array, **more: Any) -> RunTally:
        """The tally of a run in a part: ``retrieved`` counts the documents of each judged query, ``more`` are further fields."""
        shown = {k: int(np.minimum(retrieved, k).sum()) for k in health.unjudged_at_cutoff}
        shares = ({k: share * shown[k] for k, share in getattr(health, name).items()} for name in SHARES)
        counts: dict[str, Any] = {
            name: {k: round(n) if abs(n - round(n)) < 1e-6 else n for k, n in one.items()}
            for name, one in zip(SHARES, shares, strict=True)
        }
        return cls(tuple(metrics), replace(health, ratings=None, **counts), shown, **more)

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Metrics and counts add up one by one, and the first few names are kept."""
        if name == "counts":
            return Health(
                **{field: self.merged(field, value, getattr(other, field)) for field, value in vars(one).items()}
            )
        if name == "metrics":
            return tuple(a + b for a, b in zip(one, other, strict=True))
        if name in {"missing", "extra", "tags", "notes"}:
            return tuple(sorted({*one, *other})[:LISTED])
        return None if one is None or other is None else _add(one, other)

    @property
    def health(self) -> Health:
        """The facts as a result has them."""
        shares: dict[str, Any] = {
            name: {k: n / self.shown[k] if self.shown[k] else 0.0 for k, n in getattr(self.counts, name).items()}
            for name in SHARES
        }
        return replace(self.counts, **shares)


@dataclass(frozen=True)
class Tally(Mergeable):
    """All runs over the queries of some parts, and what was seen of the judgments.

    ``judgments`` counts their rows, ``judged`` their queries, of which ``listed`` stand in a list of queries; ``ids`` are some of them.
    ``weighted`` counts the scored queries that were given a weight. ``rows_more`` is how many rows were judged less those that were
    read, and ``rows_check`` the same by the place they went to (to 64 bits): 0 if each row came once.
    """

    runs: tuple[RunTally, ...] = ()
    judgments: int = 0
    judged: int = 0
    ids: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    weighted: int = 0
    rows_more: int = 0
    rows_check: int = 0

    def merged(self, name: str, one: Any, other: Any) -> Any:
        """Runs add up one by one."""
        if name == "runs":
            return tuple(a + b for a, b in zip(one, other, strict=True)) if one and other else one or other
        return tuple(sorted({*one, *other})[:LISTED]) if name == "ids" else _add(one, other)
