"""Logs from any place: files, folders and frames are read here, rows of Spark frames stay on the cluster."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Literal, TypedDict, Unpack

import polars as pl

from rankscope.errors import DataError, InputError
from rankscope.files import logs
from rankscope.files.assigned import read_assigned
from rankscope.files.log_formats.joining import Days, within
from rankscope.files.log_formats.rows import Clock
from rankscope.files.roles import column_roles
from rankscope.impressions import Log
from rankscope.interleavings.credits import usual_credit
from rankscope.words import counted, hint, plain_name, quote

KINDS = frozenset({"event", "eventname", "eventtype", "action", "actionname", "activity"})
LOST = (
    "this looks like events joined with variants: users without events are missing{}: "
    "prefer two tables, --assignments and --events"
)
START = " start"  # no column of an input is called so
TOP = 10_000  # rows that are searched for a unit with several events


class TimeOptions(TypedDict, total=False):
    """How the times of a log are read, and its first and last day."""

    time_format: str | None
    time_zone: str | None
    start: date | str | None
    end: date | str | None


TIME_OPTIONS = tuple(TimeOptions.__annotations__)
OPTIONS_OF_TIMES = tuple(zip(TIME_OPTIONS, ("--time-format", "--time-zone", "--from", "--to"), strict=True))


def read_log(
    source: Any, *, columns: Mapping[str, str] | str | None = None, log_format: str | None = None,
    **times: Unpack[TimeOptions],
) -> Log:  # fmt: skip
    """Read a log: one row per shown item and what was done with it, or one row per user with numbers.

    ``source`` is a path (CSV, TSV, JSON lines, Parquet, compressed or not), a folder or pattern of such files, or a data frame of
    any library. Columns are known by their usual names, however these are spelled (``userId``, ``clicked``, ``rank``); ``columns``
    gives the role of others, as in ``{"visitor": "unit_id"}``. Clicks and the like are numbers, true and false, or yes and no; null (an
    empty cell) says that it was not observed. Times without a zone are taken as UTC. The rows of a Spark frame stay where
    they are, and are asked there.

    Logs that other tools write are told from tables by what they hold, and made rows of: files of Open Bandit (``open_bandit``) and the dict
    of obp (``obp``), OpenSearch UBI (``ubi``: a folder with queries and events, or ``{"queries": ..., "events": ...}``), lines of queries
    and clicks of Yandex, PyClick and NAVER CLARA 2 (``yandex``), GrowthBook's rows (``growthbook``: a folder with exposures and metrics, or
    ``{"exposures": ..., "orders": ...}``) and events of interleaved searches (``interleaved``). ``log_format`` names one of these, or
    ``"table"`` where a table must not be taken for one.

    ``time_format`` is the form of written times, as for strptime: ``"%d/%m/%Y"``. Days are calendar days in ``time_zone``, like
    ``"Europe/Berlin"`` (UTC by default). Rows before the day ``start`` or after the day ``end`` are left out, and a note counts them.

    Raises InputError for what cannot be read: the first cell or line that is at fault is named with its row.

    >>> import polars as pl
    >>> log = read_log(pl.DataFrame({"item": ["a", "b"], "clicked": [True, False]}))
    >>> sorted(log.roles.items()), log.rows
    ([('click', 'clicked'), ('item_id', 'item')], 2)
    >>> queries = [{"query_id": "q-1", "client_id": "c", "user_query": "tv", "query_response_hit_ids": ["a", "b"]}]
    >>> events = [{"query_id": "q-1", "action_name": "click", "event_attributes": {"object": {"object_id": "b"}}}]
    >>> log = read_log({"queries": queries, "events": events})
    >>> log.collect(log.frame.select("item_id", "position", "click")).rows()
    [('a', 1, 0.0), ('b', 2, 1.0)]
    """
    clock, days = _clock_of(times), _days_of(times)
    log = logs.read_log(_in_place(source, log_format), columns=columns, log_format=log_format, clock=clock)
    return _within(log, *days)


def _clock_of(times: Mapping[str, Any]) -> Clock | None:
    for name in times:
        if name not in TIME_OPTIONS:
            raise InputError(f"read_log takes no {name}{hint(name, TIME_OPTIONS)}")
    if all(value is None for value in times.values()):
        return None
    zone = times.get("time_zone")
    return Clock(times.get("time_format"), "UTC" if zone is None else zone)


def _days_of(times: Mapping[str, Any]) -> Days:
    days: list[date | None] = []
    for name, which in (("start", "first"), ("end", "last")):
        value = times.get(name)
        try:
            days.append(date.fromisoformat(value) if isinstance(value, str) else value)
        except ValueError:
            days.append(datetime.min)  # refused below
        if isinstance(days[-1], datetime) or not isinstance(days[-1], date | None):
            raise InputError(f"{which} day {quote(str(value))}: a day is like 2024-05-01")
    start, end = days
    if start and end and end < start:
        raise InputError(f"the last day, {end}, is before the first, {start}")
    return start, end


def _within(log: Log, start: date | None, end: date | None) -> Log:
    """Return the rows from the first to the last day, with a note on the others. Raises DataError without any."""
    if start is None and end is None:
        return log
    inside, days = within(pl.col("timestamp").dt.date(), (start, end))
    kept = replace(log, frame=log.frame.filter(inside))
    if not kept.rows:
        raise DataError(f"{log.label}: no row is {days}: its days are {' to '.join(map(str, log.days()))}")
    lost = log.rows - kept.rows
    noted = f"{counted(lost, 'row')} left out: days {days} are used"
    return replace(kept, source=replace(log.source, notes=(*log.source.notes, noted))) if lost else kept


def read_experiment(
    source: Any, *, variant: str | None = None, columns: Mapping[str, str] | str | None = None,
    log_format: str | None = None, assignments: Any = None, events: Any = None, window: Any = None,
    **times: Unpack[TimeOptions],
) -> Log:  # fmt: skip
    """Read the log of an experiment, or its ``assignments`` and ``events`` in two tables; ``variant`` is the column of variants.

    Raises InputError for one table of the two, or a log next to them, DataError if no column has the variants of units.
    """
    named_roles = dict(column_roles(columns, "visitor=unit_id")) if columns else {}
    roles = {**named_roles, **({variant: "variant"} if variant else {})}
    if assignments is not None or events is not None:
        if source is not None or log_format is not None:
            raise InputError("give a log, or --assignments and --events, not both")
        return read_assigned(
            assignments, events, columns=roles or None, window=window, clock=_clock_of(times), days=_days_of(times)
        )
    if source is None:
        raise InputError("give a log, or two tables with --assignments and --events")
    if window is not None:
        raise InputError(f"window={window!r}: it is for two tables, --assignments and --events")
    log = read_log(source, columns=roles or None, log_format=log_format, **times)
    log.require(("variant",), "an experiment")
    log = apart_from_before(log)
    lost = LOST.format("" if log.before is not None else ", and events before the assignment")
    return replace(log, source=replace(log.source, notes=(*log.source.notes, lost))) if _is_of_events(log) else log


def apart_from_before(log: Log) -> Log:
    """Return a log without the rows from before the first row of a unit with a variant: they become its time before the assignment."""
    if log.elsewhere is not None or log.events is not None or not log.has("unit_id", "timestamp"):
        return log
    variant, time = pl.col("variant"), pl.col("timestamp")
    if not log.some_empty("variant"):
        return log
    starts = log.frame.filter(variant.is_not_null()).group_by("unit_id").agg(time.min().alias(START))
    frame = log.frame.join(starts, on="unit_id", how="left", maintain_order="left")
    early = (variant.is_null() & (time < pl.col(START))).fill_null(value=False)
    past, now = (replace(log, frame=frame.filter(rows).drop(START), parts=None) for rows in (early, ~early))
    if not past.rows:
        return log
    noted = f"{counted(past.rows, 'row')} from before the assignment (without a variant): used as covariates"
    return replace(now, before=past, source=replace(log.source, notes=(*log.source.notes, noted)))


def _is_of_events(log: Log) -> bool:
    named = any(plain_name(name) in KINDS for name in log.attributes)
    if not named or log.of_impressions or not log.has("unit_id"):
        return False
    facts = log.gather(
        lambda frame: frame.select("unit_id").head(TOP).select(pl.len(), pl.col("unit_id").n_unique().alias("units"))
    )
    return bool(facts["units"].sum() < facts["len"].sum())


def log_of(
    source: Any, *, columns: Mapping[str, str] | str | None = None, log_format: str | None = None, target: Any = None,
    **times: Unpack[TimeOptions],
) -> Log | None:  # fmt: skip
    """A log, if there are columns of one or a ``target`` policy. None for other inputs. Raises InputError for a log that cannot be read."""
    if target is not None:
        return read_log(source, columns=columns, log_format=log_format, **times)
    clock, days = _clock_of(times), _days_of(times)
    log = logs.log_of(_in_place(source, log_format), columns=columns, log_format=log_format, clock=clock)
    return None if log is None else _within(log, *days)


def design_of(log: Log, target: Any = None) -> Literal["policies", "variants", "rankers", ""]:
    """Return the systems that a log compares: policies if there is a target, variants of users, or rankers of interleaved lists; empty for none."""
    if target is not None:
        return "policies"
    if log.has("variant"):
        return "variants"
    interleaved = log.has("merge_method") or usual_credit(log) is not None
    return "rankers" if interleaved else ""


def _in_place(source: Any, log_format: str | None) -> Any:
    """The rows of a Spark frame on the cluster, any other input unchanged."""
    if "pyspark" not in sys.modules:  # whoever has a frame has loaded it
        return source
    from rankscope.engines.spark import is_frame

    if not is_frame(source):
        return source
    if log_format not in {None, "table"}:
        raise InputError(
            f"log_format={log_format!r}: a Spark frame must be a table, with one row per shown item or per user"
        )
    from rankscope.scoring.spark.logs import rows_of

    return rows_of(source)
