"""The primary metric over the days of an experiment: the difference on each day, and whether it wears off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from rankscope import words
from rankscope.blocks import Chart, Column, ValueRange
from rankscope.errors import InputError
from rankscope.experiments.novelty import panels_by_day
from rankscope.experiments.variants import Variants
from rankscope.inference.base import Bounds
from rankscope.inference.corrections import none
from rankscope.logs.base import OnlineMetric
from rankscope.panels.contrast import Contrast, contrast
from rankscope.panels.families import Family, pairs_of
from rankscope.panels.method import Method


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
            f"{words.p_value(self.decisive.p_value_adjusted)}{method.corrected_for(c.comparisons, 'variant')})."
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
        said = "days in UTC, each by itself and not corrected; who comes on several days counts on each of them"
        return "; ".join([said, *filter(None, parts)])

    def halves(self) -> str:
        """Which days are early, and which late."""
        relative = any(change.growth for change in self.changes)
        first, last = (
            f"{some[0]} to {some[-1]}" if some[0] != some[-1] else str(some[0]) for some in (self.early, self.late)
        )
        return (
            f"the difference early ({first}) and late ({last}). The change is {'relative to the baseline, ' * relative}within units: "
            "a unit that comes in both counts once"
        )

    def chart(self) -> Iterator[Chart]:
        """The lift by day with its interval, or the difference if a day has no lift."""
        if len({one.day for one in self.days}) < 2:
            return
        lifts = all(one.contrast.relative[1].known for one in self.days)
        over = "lift in percent" if lifts else "difference"
        rows = []
        for one in self.days:
            value, bounds = one.contrast.relative if lifts else (one.contrast.difference, one.contrast.bounds)
            by = 100 if lifts else 1
            ends = ValueRange(by * value, by * bounds.lower, by * bounds.upper) if bounds.known else by * value
            rows.append((one.contrast.run, one.number, ends))
        what = "Lift" if lifts else "Difference"
        yield Chart(
            "by_day", f"{what} on {self.metric} by day", "lines", (Column("variant"), Column("day", "count"), Column(over, "value")),
            tuple(rows), x="day", y=over, series="variant", guide="zero", told=True,
            caption="Against the baseline, with intervals at the level of a single day. The first day is 1.",
        )  # fmt: skip


def over_days(variants: Variants, metric: OnlineMetric, method: Method) -> OverDays:
    """The variants by day, and the test that their difference late is what it was early. Raises what ``panels_by_day`` raises."""
    found = panels_by_day(variants, metric)
    baseline, method = variants.names[0], replace(method, margin=None)
    pairs = pairs_of(variants.names, baseline, all_pairs=False)
    start = found.early[0]
    alone = Family(
        [panel for _, panel in found.days], pairs, replace(method, correction=none()), baseline, variants.validity
    )
    numbered = [(day, (day - start).days + 1) for day, _ in found.days for _ in pairs]
    days = [DayContrast(*day, c) for day, c in zip(numbered, alone.contrasts, strict=True)]
    days.sort(key=lambda one: variants.names.index(one.contrast.run))
    halves = [[contrast(panel, *pair, method, variants.validity) for panel in found.halves] for pair in pairs]
    of_change, of_growth = (
        Family([panel], pairs, method, baseline, variants.validity).contrasts if panel else [None] * len(pairs)
        for panel in (found.change, found.growth)
    )
    changes = [Change(*half, *both) for half, *both in zip(halves, of_change, of_growth, strict=True)]
    return OverDays(str(metric), days, found.early, found.late, changes, found.without_time)


def check_by(by: object) -> bool:
    """Return True if days are requested. Raises InputError for any other part."""
    asked = [] if by is None else [by] if isinstance(by, str) else list(by) if isinstance(by, list | tuple) else [by]
    odd = [one for one in asked if one != "day"]
    if odd:
        raise InputError(
            f"by={odd[0]!r}: an experiment is reported by 'day', and by the values of a column with slices"
        )
    return bool(asked)


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
