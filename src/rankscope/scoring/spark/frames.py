"""Spark frames as inputs: the columns used, their types, and one frame of all of them."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rankscope.engines import spark
from rankscope.engines.local import NAMELESS, check_subtopics, refuse_nameless
from rankscope.errors import InputError
from rankscope.files.long import FLOAT_NOTE, float_messages, named_grades
from rankscope.files.roles import ColumnRoles, roles_of
from rankscope.scoring.inputs import Kind, clean, read_any
from rankscope.scoring.request import Request
from rankscope.scoring.spark.task import JUDGMENTS, QUERY, Layout, read_part

IDS = ("query_id", "doc_id", "iteration", "tag")
FAULT = "fault"  # a column that says what is wrong with a row, as readers of text make it


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
    """All inputs as Spark frames by number. ``judgments`` are all if few enough for every executor, ``source`` where they were read here."""

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
            iterations = spark.collect(spark.distinct(mine.frame, "iteration").limit(len(NAMELESS) + 1))
            some = iterations["iteration"].fill_null("0").unique().sort().to_list()
        refuse_nameless(some, mine.layout.label)
    few = spark.first_rows(mine.frame, limit) if limit else None
    if few is None:
        return Gathered({**frames, JUDGMENTS: mine.frame}, sources, mine.layout, None, mine.notes)
    with named_grades(request.policies.grades):
        read_part(mine.layout, few)  # what is wrong with a row is told at once: below only its query is looked at
    queries = _queries_frame(sources, few["query_id"].unique())
    return Gathered({**frames, QUERY: queries}, sources, mine.layout, few, mine.notes)


def _queries_frame(sources: Sequence[SparkSource], queries: pl.Series) -> Any:
    frame = pl.DataFrame({"query_id": queries}, schema={"query_id": pl.String})
    return spark.of_polars(sources[0].frame.sparkSession, frame)


def _with_local(qrels: Any, sources: tuple[SparkSource, ...], request: Request, limit: int, ordered: bool) -> Gathered:
    from rankscope.files import qrels_of

    table = qrels_of(read_any("qrels", qrels, reading=request.policies))
    clean(
        table, request.policies, "qrels", [m.metric for m in request.metrics]
    )  # what is wrong with it is told by line
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
