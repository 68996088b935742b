"""Logs that are Spark frames: the queries of ``files/logs.py`` and ``logs/rollup.py`` are sent to the executors, and their answers come back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rankscope._version import __version__
from rankscope.engines import remote_queries as queries
from rankscope.engines import spark
from rankscope.engines.packing import PartStream
from rankscope.engines.remote_queries import ORDER, RowReading
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import EXPECTED
from rankscope.files.log_formats.rows import LogRows
from rankscope.impressions import Log
from rankscope.sources import Source

LABEL = "log"
HERE = "bring it here, as log.toArrow()"


def rows_of(frame: Any) -> LogRows:
    """The rows of a Spark frame, none of which was read yet."""
    spark.functions()
    schema = spark.schema_of(frame)
    rows = queries.stand_in(schema)
    source = Source(LABEL, "Spark frame", place_of=lambda _: LABEL)  # rows have no numbers there

    def settle(log: Log) -> Log:
        there = FrameRows(frame, schema, log.frame, log.schema)
        settled = replace(log, frame=queries.stand_in(log.schema), collect=_refuse, elsewhere=there)
        if not settled.rows:
            raise InputError(f"{LABEL}: the data frame has no rows; {EXPECTED}")
        return settled

    frame_rows = FrameRows(frame, schema, rows, schema)
    return LogRows(rows, schema, source, lambda query: frame_rows.gather(query, ""), settle=settle)


def _refuse(_: pl.LazyFrame) -> pl.DataFrame:
    message = f"{LABEL}: this needs all rows in one place, and they are on Spark: {HERE}"
    raise InputError(message)


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a Spark frame, with its columns as in ``columns``. ``reading`` converts them to a log with the columns of ``schema``."""

    frame: Any
    columns: Mapping[str, pl.DataType]
    reading: pl.LazyFrame
    schema: Mapping[str, pl.DataType]

    def gather(self, query: pl.LazyFrame, within: str) -> pl.DataFrame:
        """The answers of a query for each part, end to end. Rows with one value of the column ``within`` are in one part."""
        names = queries.columns_read(query, self.schema)
        names = [within, *(name for name in names if name != within)] if within else names
        reading = self.reading.select(names)
        columns = tuple((name, self.columns[name]) for name in queries.columns_read(reading, self.columns))
        kinds = tuple((name, self.schema[name]) for name in names)
        part_frame = self._part_frame(_plan(query), RowReading(_plan(reading), columns, kinds), bool(within))
        parts = spark.retry(lambda _: spark.collect(part_frame))
        row_counts = queries.sent_objects(parts)
        spark.check_rows(sum(rows for rows, _ in row_counts), sum(check for _, check in row_counts))
        answers = queries.answers_of(parts)
        return pl.concat(answers) if answers else queries.answer(query, pl.DataFrame(schema=self.schema))

    def _part_frame(self, plan: bytes, reading: RowReading, together: bool) -> Any:
        columns = [name for name, _ in reading.inputs]
        if not together:
            task = LogQuery(plan, reading, spark.option(self.frame, "rankscope.part.rows"))
            return spark.map_rows(spark.columns_of(self.frame, columns), task.rows_answered, queries.ANSWER)
        for name, kind in reading.schema:
            if not queries.kind_sent(kind):
                raise InputError(
                    f"{LABEL}: column {name} is of type {kind}, which is not sent between machines: cast it to a text or a number"
                )
        frame = spark.columns_of(self.frame, columns, ORDER)
        return spark.map_read_parts(frame, reading, LogQuery(plan, reading).parts_answered, queries.ANSWER)


def _plan(query: pl.LazyFrame) -> bytes:
    return queries.plan_of(query, spark.pickler())


@dataclass(frozen=True)
class LogQuery:
    """A query as executors with the same versions run it: over parts of whole units, or over a number of rows at a time in their order."""

    plan: bytes
    reading: RowReading
    rows: int = 0
    version: str = __version__
    polars: str = pl.__version__

    def rows_answered(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """The answers of a partition with rows that are not ready."""
        return self._checked(self._answer(self.reading.read(rows)) for rows in queries.frames_of(batches, self.rows))

    def parts_answered(self, parts: PartStream) -> Iterator[pl.DataFrame]:
        """The answers of a partition of parts, and last how many rows more there were than was packed."""

        def answers() -> Iterator[pl.DataFrame]:
            for part in parts:
                yield self._answer(self.reading.unpacked(part[0]))
            yield queries.tell((parts.rows, parts.check))

        return self._checked(answers())

    def _answer(self, rows: pl.DataFrame) -> pl.DataFrame:
        return queries.answered(queries.answer(queries.query_of(self.plan), rows))

    def _checked(self, answers: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        versions = {"rankscope": (__version__, self.version), "Polars": (pl.__version__, self.polars)}
        return queries.with_errors(answers, versions, pl.exceptions.PolarsError)
