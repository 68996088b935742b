"""What runs on executors: parts of some whole queries, judged and scored by the functions that score everything else."""

from __future__ import annotations

import io
import os
import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from rankscope._version import __version__
from rankscope.engines import local
from rankscope.engines.packing import Columns, Part, PartStream
from rankscope.engines.remote_queries import tell, with_errors
from rankscope.errors import InputError
from rankscope.files.long import NO_ROWS, ReaderNotes, make_table, named_grades
from rankscope.lists import Array, Ids
from rankscope.parallel import limits
from rankscope.scoring.evaluation import check_grades, evaluate_judged, mark_averaged, run_scores, weight_of
from rankscope.scoring.inputs import CleanInput, Kind, clean
from rankscope.scoring.judging import JudgedRun
from rankscope.scoring.request import Request
from rankscope.scoring.runs import RunEvaluation, RunScores
from rankscope.scoring.spark.tallies import MetricTally, RunTally, Tally
from rankscope.tables import Qrels, Run, Source

JUDGMENTS, QUERY = -1, -2  # the number of the source of a judgment, and of a row that only says that a query is judged


@dataclass(frozen=True)
class Layout:
    """One source, a run or judgments, as its rows lie in a part.

    ``columns`` gives for each role the column of the part and the name that users know it by; ``kind`` is run or qrels. Rows that are
    ``ready`` were checked and have their types.
    """

    number: int
    kind: Kind
    label: str
    columns: Mapping[str, tuple[str, str]]
    ready: bool = False


def row_place(label: str, query: str | None) -> str:
    """Where a row stands, by its query."""
    return label if query is None else f"{label} query {query}"


@dataclass(frozen=True)
class Scoring:
    """Scores parts by a request; ``judgments`` are those of all queries as Arrow bytes where they do not lie next to the runs.

    ``request`` is what was asked for, pickled, so that an executor of another version says so before it reads it.
    """

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
        """One frame per part, one row per run and query, and last a row with the tally of them all; or, alone, what is wrong with the data."""

        def answers() -> Iterator[pl.DataFrame]:
            tally = Tally()
            for part in parts:
                with limits(threads=1):  # a core is what Spark gives to a task
                    found, counted = self.part(part)
                tally += counted
                yield found
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
        found = [e for e, _ in evaluations]
        scored = mark_averaged(request, found, len(judged))
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
        table, found = read_part(layout, part[layout.number])
        run = clean(table, request.policies, "run")
        labels = (layout.label, "", "")
        by_order = {order: local.judge(run.data, grades.data, order) for order in dict.fromkeys(request.orders)}
        judged = JudgedRun(labels, None, by_order, run.duplicates, run.self_matches)
        infinite = int(table.frame["score"].is_infinite().sum())
        notes = tuple(note for note in found.notes if "infinite" not in note)
        extra = {"tags": () if found.tag is None else (found.tag,), "infinite": infinite, "notes": notes}
        return evaluate_judged(judged, grades.duplicates, request), extra

    def _frame(self, number: int, run: RunScores, e: RunEvaluation) -> pl.DataFrame:
        """The values of a run: null for a query that a metric does not average, NaN if it is undefined."""
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
    """The run or the qrels of a part, made of its rows as any other table is; without rows an empty one.

    Raises InputError for the first row that cannot be used, named by its query.
    """
    what, label, found = layout.kind, layout.label, ReaderNotes()
    if "fault" in rows.columns and (broken := rows["fault"].drop_nulls()).len():
        raise InputError(f"{label}: {broken.sort()[0]}")
    value = "score" if what == "run" else "grade"
    source = Source(label, "Spark frame")
    if not rows.height:
        frame = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, value: pl.Float64})
        frame = frame.with_columns(rank=pl.lit(None, pl.Int64)) if "rank" in layout.columns else frame
        return (Run(frame, source, name=label) if what == "run" else Qrels(frame, source)), found
    if layout.ready:
        return Qrels(rows.select(*layout.columns), source), found
    ids = rows["query_id"]
    frame = rows.select(pl.col(column).alias(name) for column, name in layout.columns.values())
    roles = {role: name for role, (_, name) in layout.columns.items()}
    try:
        table = make_table(frame, roles, source, found, what, label, lambda: np.arange(len(ids)), NO_ROWS)
    except InputError:
        if not found.faults:
            raise
    if found.faults:
        fault = found.faults[0]
        row = fault.line or 0
        text = fault.message.removeprefix(f"{label} line {row:,}: ")
        more = f" (and {found.faulty - 1:,} more like it)" if found.faulty > 1 else ""
        raise InputError(f"{row_place(label, ids[row])}: {text}{more}")
    return replace(table, source=replace(table.source, place_of=lambda row: row_place(label, ids[row]))), found
