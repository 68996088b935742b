"""Assignments of units to variants, and their events: those that count, and those from before."""

from __future__ import annotations

import re
from datetime import date, timedelta

import polars as pl

from rankscope import words
from rankscope.errors import InputError

# columns of true and false, and a time: no column of an input is called so
BEFORE, EVENT, MET = (" before", " event", " assigned")
LENGTHS = ("seconds", "minutes", "hours", "days", "weeks")
UNITS = {short: unit for unit in LENGTHS for short in (unit[0], unit[:-1])}  # its first letter, or without its s
UNITS |= {"sec": "seconds", "min": "minutes", "hr": "hours"}
Days = tuple[date | None, date | None]  # the first and the last day to use, or None for no limit
WINDOW = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


def window_of(window: object) -> timedelta | None:
    """Return a length of time from a text like ``7d``, ``24h`` or ``90min``. Raises InputError for any other text.

    >>> window_of("7d"), window_of("1.5 hours")
    (datetime.timedelta(days=7), datetime.timedelta(seconds=5400))
    """
    if window is None or isinstance(window, timedelta):
        return window
    match = WINDOW.fullmatch(str(window).strip().lower())
    unit = UNITS.get(match[2] if len(match[2]) == 1 else match[2].removesuffix("s")) if match else None
    length = timedelta(**{unit: float(match[1])}) if match and unit else timedelta()
    if not length:
        raise InputError(f"window={window!r}: write a number above 0 with its unit, like 7d, 24h or 90min")
    return length


def within(day: pl.Expr, days: Days) -> tuple[pl.Expr, str]:
    """Return the rows from the first to the last day, and the days in words."""
    start, end = days
    inside = pl.lit(value=True) if start is None else day >= start
    inside = (inside if end is None else inside & (day <= end)).fill_null(value=False)
    return inside, f"from {start}" + (f" to {end}" if end else "") if start else f"up to {end}"


def first_assignments(rows: pl.DataFrame, unit: str, variant: str, at: str | None) -> tuple[pl.DataFrame, list[str]]:
    """Return one row per unit and variant, the first by time, and notes about the rows that were left out."""
    known = rows.filter(pl.col(unit).is_not_null() & pl.col(variant).is_not_null())
    first = known.sort(at, nulls_last=True, maintain_order=True) if at is not None else known
    kept = first.unique([unit, variant], keep="first", maintain_order=True)
    notes = []
    if nobody := rows.height - first.height:
        notes.append(f"left out: {words.counted(nobody, 'assignment')} without {unit} or {variant}")
    if again := first.height - kept.height:
        came = f"{words.counted(again, 'assignment')} came again to the same unit and variant"
        notes.append(f"{came}: the first {'counts' if again == 1 else 'of each counts'}")
    return kept, notes


def placed_events(
    users: pl.DataFrame, events: pl.DataFrame, unit: str, at: str | None, window: timedelta | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """Return the events of units with a variant, with the columns of ``users`` and a column ``BEFORE``, and notes.

    ``users`` has the time of the assignment in ``MET``. An event at the time of the assignment or later counts, within the ``window``. Days are
    compared with days.
    """
    rows = events.join(users, on=unit, how="inner", maintain_order="left")
    notes = []
    if strangers := events.join(users, on=unit, how="anti").height:
        notes.append(f"left out: {words.counted(strangers, 'event')} of units without an assignment")
    if at is None or MET not in users.columns:
        return rows.with_columns(pl.lit(value=False).alias(BEFORE)), notes
    never = rows[at].null_count()
    if never and never == rows.height:
        if window is not None:
            raise InputError(f"a window needs the times of events, and none has one ({at})")
        notes.append("every event counts, as none has a time: events before the assignment cannot be left out")
        return rows.with_columns(pl.lit(value=False).alias(BEFORE)), notes
    if never:
        notes.append(f"left out: {words.counted(never, 'event')} without a time")
        rows = rows.filter(pl.col(at).is_not_null())
    if unknown := users[MET].null_count():
        notes.append(f"all events of {words.counted(unknown, 'unit')} count, as the time of the assignment is unknown")
    met, midnight = pl.col(MET), pl.col(at).dt.truncate("1d") == pl.col(at)
    if (
        rows.height
        and rows.select(midnight.all()).item()
        and not rows.select((met.dt.truncate("1d") == met).all()).item()
    ):
        met = met.dt.truncate("1d")
        notes.append("events have days and no times: those on the day of the assignment count")
    rows = rows.with_columns((pl.col(at) < met).fill_null(value=False).alias(BEFORE))
    if rows.height and rows[BEFORE].all():
        notes.append("every event is from before the assignment of its unit, so none counts: are both times right?")
    if window is None:
        return rows, notes
    late = rows.select((pl.col(at) >= met + window).sum()).item()
    young = users.select((pl.col(MET) + window > events[at].max()).sum()).item() if late or rows.height else 0
    notes += [f"left out: {words.counted(late, 'event')} after the window of {_length(window)}"] if late else []
    if young:
        notes.append(
            f"the window of {words.counted(young, 'unit')} ends after the last event: they were observed for a shorter time"
        )
    return rows.filter((pl.col(at) < met + window).fill_null(value=True)), notes


def _length(window: timedelta) -> str:
    hours = window.total_seconds() / 3600
    return words.counted(int(hours // 24), "day") if hours % 24 == 0 else f"{words.amount(hours)} hours"
