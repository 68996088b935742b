"""A log cut into parts: by day and by position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import polars as pl

from rankscope.impressions import Log, refuse_positions
from rankscope.logs.base import Earning
from rankscope.logs.health import LogHealth
from rankscope.logs.rollup import merge_rows

DAY, LATE = " day", " late"  # no column of a log is called so
THE_DAY = pl.col("timestamp").dt.date().alias(DAY)


def with_days(log: Log) -> Log:
    """The rows that have a time, with the day (in the zone of the log) of each."""
    log.require(("timestamp",), "by day")
    days = log.turned(lambda rows: rows.filter(pl.col("timestamp").is_not_null()).with_columns(THE_DAY))
    merged = log.merged
    if merged is None or merged.frame is not log.frame or DAY not in merged.by:
        return days
    table = merged.table.filter(pl.col(DAY).is_not_null())
    return replace(days, merged=replace(merged, frame=days.frame, table=table))


def with_merged_rows(log: Log, metrics: Sequence[Earning], by: Sequence[str] = ()) -> Log:
    """Return the log with its rows merged for roll-ups of these metrics, by day and by these columns, if they can be."""
    if log.merged is not None and log.merged.frame is log.frame:
        return log
    days = log.turned(lambda rows: rows.with_columns(THE_DAY)) if log.has("timestamp") else log
    merged = merge_rows(days, metrics, [*by, *([DAY] if log.has("timestamp") else [])])
    return log if merged is None else replace(log, merged=replace(merged, frame=log.frame))


def come_back(log: Log) -> bool:
    """True if the log names a user with rows on several days."""
    if not (log.has("timestamp") and log.has("unit_id")):
        return False
    days = pl.col("timestamp").dt.date().n_unique()
    users = log.gather(lambda frame: frame.group_by("unit_id").agg(days.alias(DAY)), "unit_id")
    return bool((users[DAY] > 1).any())


def with_halves(log: Log, last: date) -> Log:
    """A log with days, in which each row says whether it is later than the last day of the first half."""
    return log.turned(lambda rows: rows.with_columns((pl.col(DAY) > last).alias(LATE)))


def with_positions(log: Log, health: LogHealth) -> Log:
    """The rows that have a position, counted from 1. Raises DataError where one is below what positions count from."""
    log.require(("position",), "by position")
    position = pl.col("position") + (1 if health.first_position == 0 else 0)
    counted = log.turned(lambda rows: rows.filter(pl.col("position").is_not_null()).with_columns(position))
    refuse_positions(counted, least=1)
    return counted
