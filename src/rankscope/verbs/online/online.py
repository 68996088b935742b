"""Compute online metrics from a log of what users were shown and did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankscope import words
from rankscope.diagnostics.codes import codes_of
from rankscope.errors import DataError, InputError
from rankscope.impressions import COLUMNS, Log, column_of, slice_names
from rankscope.inference.base import Bounds, check_between
from rankscope.inference.order_statistics import quantile_of
from rankscope.lists import exact_sum
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.cuts import DAY, with_days, with_merged_rows, with_positions
from rankscope.logs.health import LogHealth, empty_cells, examine
from rankscope.logs.metrics import Quantile, usual_metrics
from rankscope.logs.rollup import UnitTotals, left_out_of_window, roll_up, roll_up_parts
from rankscope.panels.families import MAX_VALUES
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import ratio_parts
from rankscope.panels.samples import Measure
from rankscope.parallel import map_parts
from rankscope.scoring.logs import TimeOptions, read_log
from rankscope.verbs.online.result import OnlineValue, OnlineValues, decimals_of

OVER = ("day", "position")
VARIANTS = "The variants of an experiment are pooled here: rankscope experiment compares them"


def online(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, metrics: Any = None, *, columns: Mapping[str, str] | str | None = None, by: str | Iterable[str] = (),
    slices: str | Iterable[str] = (), level: float = 0.95, ignore: str | Iterable[str] = (),
    log_format: str | None = None, time_format: str | None = None, time_zone: str | None = None, start: Any = None,
    end: Any = None,
) -> OnlineValues:  # fmt: skip
    """Say what users did: click-through rate and other online metrics of a log, with intervals that hold where users come back.

    ``log`` is a path (CSV, TSV, JSON lines, Parquet, a folder), a data frame or what ``read_log`` gave: one row per shown item, or a row
    a user. ``metrics`` are names such as ``"CTR"`` or ``"Retention@7"``, objects, or several; without them all that the columns allow. ``columns``
    gives columns their role, as in ``{"visitor": "unit_id"}``. ``by`` is ``"day"``, ``"position"`` or both, ``slices`` names columns whose values are looked
    at one by one. ``level`` is that of the intervals: the delta method at the unit (the user; or the session, the list, the row, where
    none is named), Wilson's where each unit is a success or none. ``ignore`` names codes of warnings to leave out, like ``"RS611"``,
    and ``log_format`` what wrote the log, as for ``read_log``, as are ``time_format``, ``time_zone``, ``start`` and ``end``.

    Raises InputError for what cannot be read or is no metric, DataError where the log lacks a column that a metric needs.

    >>> import polars as pl, rankscope as rs
    >>> log = pl.DataFrame(
    ...     {"item": ["a", "b", "c", "a", "b"], "shown": [True] * 5, "clicked": ["yes", "no", "yes", "no", "yes"]}
    ... )
    >>> print(next(rs.online(log, "CTR").sentences()))
    CTR is 60.0% (95% interval 23.1% to 88.2%): 3 out of 5 impressions that were shown.
    """
    check_between("level", level, 0.95)
    ignored = frozenset(codes_of(ignore))
    over = [by] if isinstance(by, str) else list(dict.fromkeys(by))
    if strange := [name for name in over if name not in OVER]:
        raise InputError(f"by={strange[0]!r}: by is {words.choices(OVER)}")
    when: TimeOptions = {"time_format": time_format, "time_zone": time_zone, "start": start, "end": end}
    read = read_log(log, columns=columns, log_format=log_format, **when)
    chosen = parse_online_metrics(metrics) if metrics else usual_metrics(read)
    if not chosen:
        raise DataError(_nothing_allowed(read))
    health = examine(read, metrics=chosen)
    read = with_merged_rows(read, chosen, [column_of(read, name) for name in slice_names(read, slices)])
    units = roll_up(read, chosen)
    health = replace(health, facts=(*health.facts, *empty_cells(read, units, health.facts)))
    values = [_value(units, metric, level) for metric in chosen]
    if not metrics:  # what was not observed for long enough was not asked for either
        values = [one for one in values if one.denominator or not one.metric.windowed] or values
    chosen = [one.metric for one in values]
    variants = VARIANTS if read.has("variant") else ""
    about = (units.remark, *_remarks(values, units.noun), health.remark(), variants, read.allowance())
    compute = map_parts if read.elsewhere is None else map  # Spark has cores of its own
    parts = dict(zip(over, compute(lambda name: _over(name, read, health, chosen, level), over), strict=True))
    left = {name: [str(metric) for metric in chosen if not _has_parts(name, metric, read)] for name in over}
    unfit = [f"Not by {name}: {words.listing(metrics, most=20)}" for name, metrics in left.items() if metrics]
    remarks = [text for text in (*about, *unfit) if text]
    sliced = [one for name in slice_names(read, slices) for one in _slices(read, chosen, level, name, remarks)]
    row = "impression" if read.of_impressions else units.noun if units.count == units.rows else "row"
    values, days, places, sliced = (
        [replace(one, nouns=(row, units.noun)) for one in found]
        for found in (values, parts.get("day", ()), parts.get("position", ()), sliced)
    )
    return OnlineValues(
        values, read.source, health, units.count, units.noun, level, days, places, sliced,
        [f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" for text in remarks], ignored,
    )  # fmt: skip


def _nothing_allowed(log: Log) -> str:
    """What to say of a log whose columns allow no metric by themselves, with a column that a mean can be of as an example."""
    numbers = [name for role, name in log.roles.items() if COLUMNS[role].kind in {"flag", "number"}]
    like = next(iter([*numbers, *log.fitting("reward", log.attributes)]), "COLUMN")
    columns = words.listing([*log.roles.values(), *log.attributes], most=12)
    return (
        f"{log.label}: its columns allow no online metric ({columns}): clicks allow CTR (--columns 'NAME=click' names the "
        f"column). A column of numbers is averaged with -m 'Mean({like})'"
    )


def _remarks(values: Sequence[OnlineValue], noun: str) -> Iterator[str]:
    """Yield the number of units that a windowed metric leaves out, and quantiles with too few rows beyond them."""
    for one in values:
        if one.censored:
            yield left_out_of_window(one.metric, one.units, one.censored, noun)
    for one in values:
        if one.needed and one.bounds.known:
            needed, there = words.rounded(one.needed, up=True), words.amount(one.denominator)
            yield f"{one.metric} has few rows beyond it: its interval needs about {needed}, and there are {there}"


# --- one value ------------------------------------------------------------------------------------------------------


def _value(units: UnitTotals, metric: OnlineMetric, level: float, **part: Any) -> OnlineValue:
    """A metric over units, with its interval."""
    if isinstance(metric, Quantile):
        return _quantile(units, metric, level, **part)
    row = units.metrics.index(metric)
    above, below = units.numerators[row], units.denominators[row]
    censored = 0
    if metric.leaves_out() or not units.unit:
        seen = below != 0
        censored = int(len(below) - seen.sum()) if metric.windowed else 0
        above, below = above[seen], below[seen]
    over, under = exact_sum(above) if len(above) else 0.0, exact_sum(below) if len(below) else 0.0
    bounds = Bounds.none(f"the denominator is 0 ({metric.below})")
    if under:
        measure = Measure(str(metric), metric.direction, metric.range, unit=units.noun)
        bounds = Panel(measure, ("log",), (), ratio_parts(above, below, (over, under))[np.newaxis]).interval(
            "log", level
        )
        reason = bounds.reason.replace("queries", words.plural(units.noun)).replace("query", units.noun)
        bounds = replace(bounds, reason=reason)
    value = over / under if under else np.nan
    return OnlineValue(metric, value, bounds, len(above), over, under, censored, **part)


def _quantile(units: UnitTotals, metric: Quantile, level: float, **part: Any) -> OnlineValue:
    """A quantile over units, with its interval; above the line are the rows at or below it."""
    rows = units.rows_of(metric)
    quantile = quantile_of(rows.values, rows.units, metric.q, level)
    count = units.count if units.unit else quantile.rows
    below, known = float(quantile.below), float(quantile.rows)
    return OnlineValue(metric, quantile.value, quantile.bounds, count, below, known, needed=quantile.needed, **part)


# --- parts ----------------------------------------------------------------------------------------------------------


def _parts(log: Log, metrics: Sequence[OnlineMetric], level: float, column: str, **part: Any) -> list[OnlineValue]:
    """The metrics for each value of a column, metric by metric; of many values those with the most units."""
    found = [
        [_value(units, metric, level, part=value, **part) for metric in metrics]
        for value, units in roll_up_parts(log, metrics, column, MAX_VALUES if part else 0)
    ]
    return [replace(one, decimals=decimals_of(column)) for column in zip(*found, strict=True) for one in column]


def _has_parts(name: str, metric: OnlineMetric, log: Log) -> bool:
    """True if a metric is made of what happens on a day, or at a position."""
    return not metric.windowed and (name == "day" or metric.parts(log, None).level in {"row", "values"})


def _over(name: str, log: Log, health: LogHealth, metrics: Sequence[OnlineMetric], level: float) -> list[OnlineValue]:
    """The metrics by day, or by position."""
    cut, column = (with_days(log), DAY) if name == "day" else (with_positions(log, health), "position")
    within = [metric for metric in metrics if _has_parts(name, metric, cut)]
    return _parts(cut, within, level, column) if within else []


def _slices(
    log: Log, metrics: Sequence[OnlineMetric], level: float, name: str, remarks: list[str]
) -> list[OnlineValue]:
    """The metrics for each value of a column of the log."""
    values = _parts(log, metrics, level, column_of(log, name), attribute=name)
    if len(values) >= MAX_VALUES * len(metrics):
        remarks.append(f"Slices of {name}: the {MAX_VALUES} values with the most units")
    return values
