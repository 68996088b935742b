"""An experiment over its days: the variants on each of them, and whether their difference late is the one that it was early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from rankscope.errors import DataError, InputError
from rankscope.lists import Array
from rankscope.logs.arms import FEWEST_UNITS, counts_of
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import DAY, with_days
from rankscope.logs.rollup import Units
from rankscope.moments import Moments
from rankscope.panels.experiments import adjusted_ratios, panel_of_ratios
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.panels.variants import Variants, unit_numbers

LATE = " late"  # no column of a log is called so


@dataclass(frozen=True, eq=False)
class DayPanels:
    """The variants on a metric by day, and on the first and the second half of the days.

    ``days`` are those on which each variant has units enough, of ``early`` and ``late`` days. ``halves`` are the panels of both, and
    ``change`` is that of late less early, within units: who comes in both halves is in both, and counts as one. ``without_time`` rows
    are on no day.
    """

    days: Sequence[tuple[date, Panel]]
    early: Sequence[date]
    late: Sequence[date]
    halves: tuple[Panel, Panel]
    change: Panel
    without_time: int


def panels_by_day(variants: Variants, metric: OnlineMetric) -> DayPanels:
    """The variants by day (in UTC), and late less early: halves of the days, as nobody has to choose where one ends.

    The days are those of the calendar. By days since a unit's first row only those who came back would be left on later days, and the
    variant may have chosen them.

    Raises InputError for a metric that looks over days by itself, DataError where the log has no times, or fewer than two days.
    """
    if metric.windowed:
        raise InputError(
            f"{metric} looks over days by itself, so it has no value of one day: take by=day with another primary metric"
        )
    log = with_days(variants.log)
    units = variants.units_by(DAY, metric, log)
    found = units.groups[DAY].unique().sort().to_list()
    if len(found) < 2:
        only = f"all rows are of {found[0]}" if found else "no row has a time"
        raise DataError(f"{log.label}: {only}: whether a difference changes over days takes two days or more")
    early, late = found[: len(found) // 2], found[len(found) // 2 :]
    halves = replace(log, frame=log.frame.with_columns((pl.col(DAY) > early[-1]).alias(LATE)))
    before, after, change = _halves(variants, metric, variants.units_by(LATE, metric, halves))
    days = list(_days(variants, metric, units, found))
    return DayPanels(days, early, late, (before, after), change, variants.arms.units.rows - units.rows)


def _days(variants: Variants, metric: OnlineMetric, units: Units, days: Sequence[date]) -> Iterator[tuple[date, Panel]]:
    """The panel of each day on which every variant has units, and something below the line."""
    for day in days:
        part = units.filter(units.groups[DAY] == day)
        if min(counts_of(part, variants.names).values()) < FEWEST_UNITS:
            continue
        try:
            yield day, variants.panel(metric, part)
        except DataError:
            continue


def _halves(variants: Variants, metric: OnlineMetric, units: Units) -> tuple[Panel, Panel, Panel]:
    """The variants early, late, and late less early, over units with what each of them adds in both halves."""
    table, variant = _side_by_side(variants.table(metric, units), units)
    width = table.shape[1] // 2
    arms = {name: Moments.of_set(table[variant == name]) for name in variants.names}
    for name, arm in arms.items():
        for place, half in ((1, "first"), (width + 1, "second")):
            if not arm.mean[place]:
                raise DataError(f"{metric}: {name} has no {metric.below or 'value'} in the {half} half of the days")
    early, late = (adjusted_ratios([*arms.values()], width // 2 - 1, start) for start in (0, width))
    change = [(last - first, moved - before) for (first, before), (last, moved) in zip(early, late, strict=True)]
    measure = Measure(str(metric), metric.better, metric.range, unit=units.noun)
    over = replace(measure, name=f"{metric}, late less early", range=(-np.inf, np.inf))
    return (
        panel_of_ratios(measure, arms, early),
        panel_of_ratios(measure, arms, late),
        panel_of_ratios(over, arms, change),
    )


def _side_by_side(table: Array, units: Units) -> tuple[Array, Array]:
    """A row a unit with its columns early and then late, 0 where it was not there; and its variant."""
    late = units.groups[LATE].to_numpy().astype(bool)
    row = unit_numbers(units)
    out = np.zeros((int(row.max()) + 1, 2 * table.shape[1]))
    out[row[~late], : table.shape[1]] = table[~late]
    out[row[late], table.shape[1] :] = table[late]
    variant: Any = np.empty(len(out), dtype=object)
    variant[row] = units.groups["variant"].to_numpy()
    return out, variant
