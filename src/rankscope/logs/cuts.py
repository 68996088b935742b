"""A log cut into parts: by day, by position, by the values of a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import polars as pl

from rankscope.errors import DataError, InputError
from rankscope.impressions import Log
from rankscope.logs.base import Earning
from rankscope.logs.health import LogHealth
from rankscope.logs.rollup import merge_rows

DAY, LATE = " day", " late"  # no column of a log is called so
THE_DAY = pl.col("timestamp").dt.date().alias(DAY)
IDS = ("unit_id", "impression_id", "session_id", "timestamp")


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


def refuse_positions(log: Log, least: int = 0) -> None:
    """Raise DataError for a position below the first one."""
    lowest = log.gather(lambda rows: rows.select(pl.col("position").min())).min().item()
    if lowest is not None and lowest < least:
        raise DataError(f"{log.label}: a row has position {lowest}: positions count from 1 (see rankscope check LOG)")


def column_of(log: Log, name: str, purpose: str = "to slice by") -> str:
    """The column to slice or group by, by its name in the input or here. Raises InputError where there is none, or it is of ids or times."""
    column = log.column(name, purpose)
    if column in IDS:
        raise InputError(
            f"{log.label}: column {name} is taken as {column}: slices need columns with few values, like a country or a device"
        )
    if (dtype := log.schema[column]).is_nested() or dtype in (pl.Binary, pl.Object):
        raise InputError(
            f"{log.label}: column {name} is of type {dtype}: slices are of columns of text, numbers or dates"
        )
    return column


def attribute_of(log: Log, name: str) -> str:
    """The column of attributes to group units of an experiment by; the column of variants is refused."""
    column = column_of(log, name, "to group by")
    if column == "variant":
        raise InputError(
            f"{log.label}: {name} is the column of variants, which are compared already: name another to group by"
        )
    if column == "position":
        refuse_positions(log)
    return column


def attribute_columns(log: Log, slices: Any) -> list[str]:
    """The columns of attributes to slice an experiment by. Raises InputError for any other column."""
    return [attribute_of(log, name) for name in slice_names(log, slices)]


def cluster_columns(log: Log, clusters: Any) -> list[str]:
    """The columns whose values name the cluster that was given a variant. Raises InputError for columns that cannot."""
    columns = [log.column(name, "to cluster by") for name in slice_names(log, clusters, "clusters", "household")]
    for name in columns:
        if name in {"variant", "unit_id"}:
            unit = f"that names each {log.unit_noun}, which is the unit without clusters"
            about = "of variants" if name == "variant" else unit
            raise InputError(
                f"{log.label}: {log.roles.get(name, name)} is the column {about}: name a column of clusters, like household"
            )
    return columns


def slice_names(log: Log, source: Any, option: str = "slices", like: str = "country") -> list[str]:
    """Names of columns to slice by: one, several, or several in one text, apart at commas. Raises InputError for what is no name."""
    names = [] if source is None else [source] if isinstance(source, str) else source
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise InputError(f"{option}: of a log they are names of its columns, like {like}")
    whole = {*log.roles.values(), *log.roles, *log.attributes}  # a name may have a comma of its own
    parts = [part.strip() for name in map(str, names) for part in ([name] if name in whole else name.split(","))]
    return list(dict.fromkeys(parts))
