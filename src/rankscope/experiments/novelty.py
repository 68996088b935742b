"""An experiment over its days: the variants on each day, and whether their late difference equals the early one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import FEWEST_UNITS, counts_of
from rankscope.experiments.shared import shared_units
from rankscope.experiments.variants import Variants
from rankscope.impressions import Log
from rankscope.inference.base import Estimate, Sample
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import DAY, LATE, with_days, with_halves
from rankscope.logs.rollup import UnitTotals, adds_up, so_far
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

MOST_DAYS = 62  # the last days that have effects cumulated up to them
CLEAR = 3.0  # standard errors above 0 from which the logarithm of a value is as good as normal


@dataclass(frozen=True, eq=False)
class DayPanels:
    """The variants on a metric by day, and on the first and the second half of the days.

    ``days`` are those on which each variant has enough units, of ``early`` and ``late`` days. ``halves`` are the panels of both.
    ``change`` is late less early, and ``growth`` the logarithm of late over early, both within units: a unit that comes in both halves
    counts as one. ``growth`` is None unless every value is clearly above 0. ``without_time`` rows are on no day. ``so_far`` returns the panels of
    all rows up to each day, each by a pass over the log.
    """

    days: Sequence[tuple[date, Panel]]
    early: Sequence[date]
    late: Sequence[date]
    halves: tuple[Panel, Panel]
    change: Panel
    growth: Panel | None
    without_time: int
    so_far: Callable[[], Sequence[tuple[date, Panel]]]


def panels_by_day(variants: Variants, metric: OnlineMetric) -> DayPanels:
    """The variants by day (in the zone of the log), and late less early: halves of the days, as nobody has to choose where one ends.

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
    dates = units.groups[DAY].unique().sort().to_list()
    if len(dates) < 2:
        only = f"all rows are of {dates[0]}" if dates else "no row has a time"
        raise DataError(f"{log.label}: {only}: whether a difference changes over days takes two days or more")
    early, late = dates[: len(dates) // 2], dates[len(dates) // 2 :]
    together = _adding_up(variants, log, units, early[-1]) or _again(variants, metric, log, early[-1], dates)
    before, after, change, growth = _halves(variants, metric, together[0])
    days = list(_days(variants, metric, units, dates))

    def cumulated() -> list[tuple[date, Panel]]:
        return list(_panels(variants, metric, together[1]))

    without = variants.arms.units.rows - units.rows
    return DayPanels(days, early, late, (before, after), change, growth, without, cumulated)


Together = tuple[
    UnitTotals, Iterator[tuple[date, UnitTotals]]
]  # units by half, and the units up to each of the last days


def _adding_up(variants: Variants, log: Log, units: UnitTotals, last: date) -> Together | None:
    """Add up the units of each day; None if they do not add up, like a session over midnight."""
    own = variants.adjustment.stratum is None and not variants.clusters
    if not (own and all(adds_up(log, metric, DAY) for metric in units.metrics)):
        return None
    days = units.groups[DAY]
    whole = {name: group for name, group in units.groups.items() if name != DAY}
    *_, (_, halves) = so_far(log, replace(units, groups={**whole, LATE: days > last}), days)
    return halves, islice(so_far(log, replace(units, groups=whole), days), max(days.n_unique() - MOST_DAYS, 0), None)


def _again(variants: Variants, metric: OnlineMetric, log: Log, last: date, days: Sequence[date]) -> Together:
    """Sum up the rows of each half and up to each day anew."""

    def until(day: date) -> UnitTotals:
        return variants.units_by(LATE, metric, with_halves(log, day))

    parts = ((day, until(day)) for day in days[-MOST_DAYS:])
    return until(last), ((day, units.filter(~units.groups[LATE])) for day, units in parts)


def _days(
    variants: Variants, metric: OnlineMetric, units: UnitTotals, days: Sequence[date]
) -> Iterator[tuple[date, Panel]]:
    """Yield the panel of each day on which every variant has units, and something below the line."""
    yield from _panels(variants, metric, ((day, units.filter(units.groups[DAY] == day)) for day in days))


def _panels(
    variants: Variants, metric: OnlineMetric, parts: Iterable[tuple[date, UnitTotals]]
) -> Iterator[tuple[date, Panel]]:
    """Yield the panel of each part in which every variant has units."""
    for day, part in parts:
        if min(counts_of(part, variants.names).values()) < FEWEST_UNITS:
            continue
        try:
            yield day, variants.panel(metric, part)
        except DataError:
            continue


def _halves(variants: Variants, metric: OnlineMetric, units: UnitTotals) -> tuple[Panel, Panel, Panel, Panel | None]:
    """The panels of both halves, of their difference and of their ratio; units in both halves give the covariance."""
    late = units.groups[LATE]
    parts = {"first": ~late, "second": late}
    panels = []
    for half, inside in parts.items():
        try:
            panels.append(variants.panel(metric, units.filter(inside)))
        except DataError as error:
            raise DataError(f"{error} in the {half} half of the days") from None
    shared = shared_units(variants, metric, units, [*parts.values()])
    changes, growths = {}, {}
    for name in variants.names:
        before, after = (panel.estimate(name) for panel in panels)
        covariance = float(shared.covariance(name)[0, 1])
        count = before.count + after.count - shared.count([name], [0, 1])
        changes[name] = _change(before, after, covariance, count)
        if min(before.mean - CLEAR * before.error, after.mean - CLEAR * after.error) > 0:
            growths[name] = _change(_logarithm(before), _logarithm(after), covariance / before.mean / after.mean, count)
    of = panels[0].measure
    measure = Measure(f"{metric}, late less early", metric.direction, unit=of.unit, decimals=of.decimals)
    growth = Measure(f"{metric}, late over early", metric.direction, unit=of.unit)
    known = Panel.of_estimates(growth, growths) if len(growths) == len(changes) else None
    return panels[0], panels[1], Panel.of_estimates(measure, changes), known


def _change(before: Sample | Estimate, after: Sample | Estimate, covariance: float, count: int) -> Estimate:
    """Late less early, for two estimates with a covariance."""
    freedom = min(count - 1, before.freedom + after.freedom) if before.freedom and after.freedom else 0
    variance = max(before.error**2 + after.error**2 - 2 * covariance, 0.0)
    error = math.sqrt(variance) if freedom else math.nan
    return Estimate(after.mean - before.mean, error, freedom, count, max(before.largest, after.largest))


def _logarithm(value: Sample | Estimate) -> Estimate:
    """The logarithm of a value, by the delta method."""
    return Estimate(math.log(value.mean), value.error / value.mean, value.freedom, value.count, 1.0)
