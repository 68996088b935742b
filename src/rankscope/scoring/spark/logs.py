"""Logs that are Spark frames: what is asked of them goes to where their rows lie, and the answers of the parts come back.

What each column is and what its cells mean is decided by the same queries as here (``files/logs.py``), and rows are rolled up by the same ones
(``logs/rollup.py``): they are sent to the executors, which run them on the rows as they lie, or on parts of some whole units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rankscope._version import __version__
from rankscope.engines import remote_queries as queries
from rankscope.engines import spark
from rankscope.engines.packing import PartStream
from rankscope.engines.remote_queries import ORDER, RowReading
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.files.log_formats.inputs import EXPECTED
from rankscope.files.log_rows import LogRows
from rankscope.impressions import Log
from rankscope.scoring.spark.task import ERRORS
from rankscope.sources import Source

TRIES = 3  # executors are lost rarely: with a job that is done so often, something else is wrong
LABEL = "log"
HERE = "bring it here, as log.toArrow()"


def rows_of(frame: Any) -> LogRows:
    """The rows of a Spark frame, of which no one was looked at yet."""
    spark.functions()
    schema = spark.schema_of(frame)
    rows = queries.stand_in(schema)
    source = Source(LABEL, "Spark frame", place_of=lambda _: LABEL)  # rows have no numbers there

    def settle(log: Log) -> Log:
        there = FrameRows(frame, schema, log.frame, log.schema)
        found = replace(log, frame=queries.stand_in(log.schema), collect=_refuse, elsewhere=there)
        if not found.rows:
            raise InputError(f"{LABEL}: the data frame has no rows; {EXPECTED}")
        return found

    given = FrameRows(frame, schema, rows, schema)
    return LogRows(rows, schema, source, lambda query: given.gather(query, ""), settle=settle)


def _refuse(_: pl.LazyFrame) -> pl.DataFrame:
    message = f"{LABEL}: this needs all rows in one place, and they lie on Spark: {HERE}"
    raise InputError(message)


@dataclass(frozen=True, eq=False)
class FrameRows:
    """The rows of a Spark frame, with its columns as in ``given``; ``reading`` makes of them what a log has, with the columns of ``schema``."""

    frame: Any
    given: Mapping[str, pl.DataType]
    reading: pl.LazyFrame
    schema: Mapping[str, pl.DataType]

    def gather(self, query: pl.LazyFrame, within: str) -> pl.DataFrame:
        """What a query gives for each part, end to end; rows of one value of the column ``within`` are in one part."""
        wanted = queries.columns_read(query, self.schema)
        wanted = [within, *(name for name in wanted if name != within)] if within else wanted
        reading = self.reading.select(wanted)
        given = tuple((name, self.given[name]) for name in queries.columns_read(reading, self.given))
        task = LogQuery(_plan(query), __version__, pl.__version__)
        kinds = tuple((name, self.schema[name]) for name in wanted)
        for again in range(TRIES):
            try:
                found = spark.collect(self._asked(task, RowReading(_plan(reading), given, kinds), bool(within)))
                break
            except spark.LostRowsError:
                if again == TRIES - 1:
                    raise
        _check(found)
        answers = queries.answers_of(found)
        return pl.concat(answers) if answers else queries.answer(query, pl.DataFrame(schema=self.schema))

    def _asked(self, task: LogQuery, reading: RowReading, together: bool) -> Any:
        given = [name for name, _ in reading.given]
        if not together:
            rows = spark.option(self.frame, "rankscope.part.rows")
            return spark.map_rows(
                spark.columns_of(self.frame, given), replace(task, reading=reading, rows=rows), queries.ANSWER
            )
        for name, kind in reading.schema:
            if not queries.kind_sent(kind):
                raise InputError(
                    f"{LABEL}: column {name} is of type {kind}, which is not sent between machines: cast it to a text or a number"
                )
        frame = spark.columns_of(self.frame, given, ORDER)
        return spark.map_read_parts(frame, reading, replace(task, reading=reading), queries.ANSWER)


def _plan(query: pl.LazyFrame) -> bytes:
    return queries.plan_of(query, spark.pickler())


@dataclass(frozen=True)
class LogQuery:
    """What executors run: a query over parts of some whole units, or over the rows of a partition as they lie, so many at a time.

    Versions are those of who asks: an executor with others says so before it reads the query.
    """

    plan: bytes
    version: str
    polars: str
    reading: RowReading | None = None
    rows: int = 0

    def __call__(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """The answers of a partition whose rows are not ready."""
        reading = self.reading
        assert reading is not None

        def answers() -> Iterator[pl.DataFrame]:
            for rows in queries.frames_of(batches, self.rows):
                yield self._answer(reading.read(rows))

        return self._said(answers)

    def parts(self, parts: PartStream) -> Iterator[pl.DataFrame]:
        """The answers of a partition of parts, and last how many rows more there were than was packed."""
        reading = self.reading
        assert reading is not None

        def answers() -> Iterator[pl.DataFrame]:
            for part in parts:
                yield self._answer(reading.unpacked(part[0]))
            yield told({"rows": parts.rows, "check": parts.check})

        return self._said(answers)

    def _answer(self, rows: pl.DataFrame) -> pl.DataFrame:
        return queries.answered(queries.answer(queries.query_of(self.plan), rows))

    def _said(self, answers: Callable[[], Iterator[pl.DataFrame]]) -> Iterator[pl.DataFrame]:
        """The answers, or what is wrong."""
        for what, here, there in (("rankscope", __version__, self.version), ("Polars", pl.__version__, self.polars)):
            if here != there:
                yield told(
                    {
                        "error": "InputError",
                        "message": f"the executors have {what} {here}, and this is {there}: install the same",
                    }
                )
                return
        try:
            yield from answers()
        except (RankscopeError, pl.exceptions.PolarsError) as error:
            kind = "DataError" if isinstance(error, DataError) else "InputError"
            yield told({"error": kind, "message": str(error)})


def told(record: Mapping[str, Any]) -> pl.DataFrame:
    """A row that holds no answer but a record."""
    return pl.DataFrame({"told": [json.dumps(record)]})


def _check(found: pl.DataFrame) -> None:
    records = [json.loads(one) for one in found["told"].drop_nulls()]
    if errors := sorted((one["error"], one["message"]) for one in records if "error" in one):
        kind, message = errors[0]
        raise ERRORS[kind](message)
    spark.check_rows(sum(one["rows"] for one in records), sum(one["check"] for one in records))
