"""The primary metric over the days of an experiment: the difference on each day, and whether it wears off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from rankscope import words
from rankscope.blocks import Chart, Column
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import FEWEST_UNITS, counts_of
from rankscope.experiments.heterogeneity import Heterogeneity, correct_heterogeneity, shared_units
from rankscope.experiments.variants import Variants
from rankscope.impressions import Log
from rankscope.inference.base import Bounds, Estimate, Sample
from rankscope.inference.corrections import none
from rankscope.logs.base import OnlineMetric
from rankscope.logs.cuts import DAY, LATE, with_days, with_halves
from rankscope.logs.rollup import UnitTotals, adds_up, so_far
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.contrast_result import effects_drawn
from rankscope.panels.families import Family, correct
from rankscope.panels.method import TWO_SIDED, Method
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure

MOST_DAYS = 62  # the last days that have effects cumulated up to them
CLEAR = 3.0  # standard errors above 0 from which the logarithm of a value is as good as normal


# units by half, and the units up to each of the last days
Together = tuple[UnitTotals, Iterator[tuple[date, UnitTotals]]]


def _adding_up(variants: Variants, log: Log, units: UnitTotals, last: date) -> Together | None:
    """Add up the units of each day; None if they do not add up, like a session over midnight."""
    own = variants.adjustment.stratum is None and not variants.clusters
    if not (own and all(adds_up(log, metric, DAY) for metric in units.metrics)):
        return None
    days = units.groups[DAY]
    whole = {name: group for name, group in units.groups.items() if name != DAY}
    _, halves = next(so_far(log, replace(units, groups={**whole, LATE: days > last}), days, 1))
    return halves, so_far(log, replace(units, groups=whole), days, MOST_DAYS)


def _again(variants: Variants, metric: OnlineMetric, log: Log, last: date, days: Sequence[date]) -> Together:
    """Sum up the rows of each half and up to each day anew."""

    def until(day: date) -> UnitTotals:
        return variants.units_by(LATE, metric, with_halves(log, day))

    parts = ((day, until(day)) for day in days[-MOST_DAYS:])
    return until(last), ((day, units.filter(~units.groups[LATE])) for day, units in parts)


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
        if all(half.mean - CLEAR * half.error > 0 for half in (before, after)):  # of one unit the error is unknown
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


# --- days compared ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DayContrast:
    """A variant against the baseline on one day; ``number`` counts days from the first one on."""

    day: date
    number: int
    contrast: Contrast


@dataclass(frozen=True, eq=False)
class Change:
    """A variant against the baseline ``early`` and ``late``, and how that changes, within units.

    ``contrast`` is the change of the difference, ``growth`` the change of the logarithm of the ratio. The ratio decides if there is one:
    on a holiday the baseline changes and the difference with it, while the ratio stays.
    """

    early: Contrast
    late: Contrast
    contrast: Contrast
    growth: Contrast | None

    def with_decisive(self, c: Contrast) -> Change:
        """Return the same with another contrast that decides."""
        return replace(self, contrast=c) if self.growth is None else replace(self, growth=c)

    @property
    def decisive(self) -> Contrast:
        """The contrast whose test decides."""
        return self.contrast if self.growth is None else self.growth

    @property
    def relative(self) -> tuple[float, float, float]:
        """The relative change and both ends of its interval; NaN without a ratio."""
        if self.growth is None:
            return math.nan, math.nan, math.nan
        bounds = self.growth.shown
        return math.expm1(self.growth.difference), math.expm1(bounds.lower), math.expm1(bounds.upper)

    @property
    def verdict(self) -> str:
        """``wears off``, ``grows`` or ``turns around`` if lift and difference clearly do so, otherwise ``cannot tell``."""
        early, late = self.early, self.late
        smaller = abs(late.difference) < abs(early.difference)
        lifts = abs(early.relative[0]), abs(late.relative[0])
        agree = not all(map(math.isfinite, lifts)) or (lifts[1] < lifts[0]) == smaller
        if not self.decisive.validity.holds:
            return "withheld"
        if not self.decisive.significant:
            return "cannot tell"
        if early.difference * late.difference < 0 and _clear(early.bounds) and _clear(late.bounds):
            return "turns around"
        return ("wears off" if smaller else "grows") if agree else "cannot tell"

    @property
    def moved(self) -> str:
        """The change of the lift, or of the difference if lifts are not known."""
        c = self.contrast
        known = words.number(c.difference, sign=True, digits=c.panel.measure.decimals)
        return known if self.growth is None else words.relative(self.relative[0])

    @property
    def interval(self) -> str:
        """Its interval."""
        c = self.contrast
        if self.growth is None:
            return words.interval(c.shown.lower, c.shown.upper, sign=True, digits=c.panel.measure.decimals)
        return " to ".join(map(words.relative, self.relative[1:]))

    def sentence(self, days: tuple[int, int], method: Method) -> str:
        """The change in words; ``days`` counts the early and the late ones."""
        c, (first, second) = self.contrast, (words.counted(number, "day") for number in days)
        return (
            f"The difference between {c.run} and {c.baseline} on {self.early.metric} {self.verdict} over the days: "
            f"{with_lift(self.early)} in the first {first}, {with_lift(self.late)} in the {second} after (change"
            f"{f' relative to {c.baseline}' if self.growth else ''} {self.moved}, {words.percent(method.level)} interval {self.interval}, "
            f"{words.p_value(self.decisive.p_value_adjusted)}{method.corrected_for(self.decisive.comparisons, 'test')})."
        )


@dataclass(frozen=True, eq=False)
class OverDays:
    """The variants on a metric by day, and what changed from the ``early`` days to the ``late`` ones, corrected over the variants.

    ``without_time`` rows are on no day.
    """

    metric: str
    days: Sequence[DayContrast]
    early: Sequence[date]
    late: Sequence[date]
    changes: Sequence[Change]
    without_time: int
    so_far: Callable[[], Sequence[DayContrast]]
    zone: str = "UTC"

    @cached_property
    def cumulated(self) -> Sequence[DayContrast]:
        """The contrasts on all rows up to each day, computed on use."""
        return self.so_far()

    def sentences(self, method: Method) -> Iterator[str]:
        """What changed over the days, where that is clear."""
        for change in self.changes:
            if change.verdict not in {"cannot tell", "withheld"}:
                yield change.sentence((len(self.early), len(self.late)), method)

    def remark(self) -> str:
        """What to know of values by day."""
        without = len(self.early) + len(self.late) - len({one.day for one in self.days})
        parts = [
            f"{words.counted(without, 'day')} left out, as a variant has too few units there" if without else "",
            f"{words.counted(self.without_time, 'row')} without a time left out" if self.without_time else "",
        ]
        text = f"days in {self.zone}, each on its own, uncorrected; a user counts on every day with a visit"
        return "; ".join([text, *filter(None, parts)])

    def halves(self) -> str:
        """Which days are early, and which late."""
        relative = any(change.growth for change in self.changes)
        first, last = (
            f"{some[0]} to {some[-1]}" if some[0] != some[-1] else str(some[0]) for some in (self.early, self.late)
        )
        return (
            f"Difference early ({first}) and late ({last}). The change is {'relative to the baseline, ' * relative}within units: "
            "a unit that comes in both counts once."
        )

    def chart(self) -> Iterator[Chart]:
        """Yield the lift by day, cumulated up to each day, and the units by day."""
        alone = "Against the baseline, with intervals at the level of a single day."
        so_far = "Against the baseline, on all rows up to each day. Intervals are for one look: do not stop at the first clear day."
        if len({one.day for one in self.days}) > 1:
            yield self._lifts("by_day", "by day", self.days, alone)
            if len({one.day for one in self.cumulated}) > 1:
                yield self._lifts("cumulated", "up to each day", self.cumulated, so_far)
            yield self._counts()

    def _lifts(self, name: str, when: str, days: Sequence[DayContrast], caption: str) -> Chart:
        """Return a chart of lifts with intervals, or of differences if a day has no lift."""
        over, effects = effects_drawn([one.contrast for one in days], corrected=False)
        rows = [(day.contrast.run, words.day_number(day.day), ends) for day, ends in zip(days, effects, strict=True)]
        return Chart(
            name, f"{over.split()[0].capitalize()} on {self.metric} {when}", "lines", (Column("variant"), Column("day", "date"), Column(over, "value")),
            tuple(rows), x="day", y=over, series="variant", guide="zero", caption=caption,
        )  # fmt: skip

    def _counts(self) -> Chart:
        """Return the units of each variant by day."""
        of_day = {one.number: (one.day, one.contrast.panel) for one in self.days}
        panels = [(words.day_number(day), panel) for _, (day, panel) in sorted(of_day.items())]
        first = panels[0][1]
        several = words.plural(first.measure.unit)
        rows = tuple((name, day, panel.estimate(name).count) for name in first.systems for day, panel in panels)
        return Chart(
            "exposures", f"{several.capitalize()} by day", "lines", (Column("variant"), Column("day", "date"), Column(several, "count")),
            rows, x="day", y=several, series="variant", guide="zero", caption=f"{several.capitalize()} that {self.metric} counts on each day.",
        )  # fmt: skip


def over_days(variants: Variants, metric: OnlineMetric, primary: Family) -> OverDays:
    """The pairs of a family by day (in the zone of the log), and the two-sided test that their late difference equals the early one.

    Late and early are halves of the days, as nobody has to choose where one ends. The days are those of the calendar: by days since a
    unit's first row only those who came back would be left on later days, and the variant may have chosen them.

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
    by_half, up_to_days = _adding_up(variants, log, units, early[-1]) or _again(variants, metric, log, early[-1], dates)
    before, after, change, growth = _halves(variants, metric, by_half)
    of_days = list(_panels(variants, metric, ((day, units.filter(units.groups[DAY] == day)) for day in dates)))
    baseline, pairs, validity = primary.baseline, primary.pairs, variants.validity
    method = replace(primary.method, margin=None, alternative=TWO_SIDED)
    plain = replace(method, correction=none())

    def contrasts_of(panels: Sequence[tuple[date, Panel]]) -> list[DayContrast]:
        family = Family([panel for _, panel in panels], pairs, plain, baseline, validity)
        numbered = [(day, (day - early[0]).days + 1) for day, _ in panels for _ in pairs]
        out = [DayContrast(*day, c) for day, c in zip(numbered, family.contrasts, strict=True)]
        return sorted(out, key=lambda one: variants.names.index(one.contrast.run))

    halves = [[contrast(panel, *pair, method, validity) for panel in (before, after)] for pair in pairs]
    of_change, of_growth = (
        Family([panel], pairs, method, baseline, validity).contrasts if panel else [None] * len(pairs)
        for panel in (change, growth)
    )
    changes = [Change(*half, *both) for half, *both in zip(halves, of_change, of_growth, strict=True)]
    without = variants.arms.units.rows - units.rows
    return OverDays(
        variants.name_of(metric), contrasts_of(of_days), early, late, changes, without,
        lambda: contrasts_of(list(_panels(variants, metric, up_to_days))), variants.log.zone,
    )  # fmt: skip


def share_alpha(days: OverDays, tests: Sequence[Heterogeneity], method: Method) -> tuple[OverDays, list[Heterogeneity]]:
    """Return changes over days and tests of slices, corrected together: they share one alpha."""
    if not tests:
        return days, []
    decisive = [change.decisive for change in days.changes]
    corrected_tests = correct_heterogeneity(tests, method, [c.p_value for c in decisive])
    corrected = correct(decisive, [test.p_value for test in tests])
    changes = [change.with_decisive(c) for change, c in zip(days.changes, corrected, strict=True)]
    return replace(days, changes=changes), corrected_tests


def _clear(bounds: Bounds) -> bool:
    return bounds.known and bounds.lower * bounds.upper > 0


def change_cell(change: Change) -> str:
    """Return the change of the lift, or of the difference if lifts are not known, with its interval."""
    return f"{change.moved} ({change.interval})"


def with_lift(c: Contrast) -> str:
    """Return a difference with its lift."""
    value, _ = c.relative
    size = words.number(c.difference, sign=True, digits=c.panel.measure.decimals)
    return f"{size} ({words.relative(value)})" if math.isfinite(value) else size
