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
    """A variant against the baseline ``early`` and ``late``, and the ``contrast`` of late less early, within units."""

    early: Contrast
    late: Contrast
    contrast: Contrast

    @property
    def verb(self) -> str:
        """What the difference does over the days: wears off, grows, turns around; or changes, where lifts and differences disagree."""
        early, late = self.early, self.late
        if early.difference * late.difference < 0 and _clear(early.bounds) and _clear(late.bounds):
            return "turns around"
        smaller = abs(late.difference) < abs(early.difference)
        lifts = abs(early.relative[0]), abs(late.relative[0])
        if all(map(math.isfinite, lifts)) and (lifts[1] < lifts[0]) != smaller:
            return "changes"
        return "wears off" if smaller else "grows"


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
            c = change.contrast
            if not c.significant:
                continue
            digits = c.panel.measure.decimals
            moved = words.number(c.difference, sign=True, digits=digits)
            ends = words.interval(c.adjusted.lower, c.adjusted.upper, sign=True, digits=digits)
            corrected = method.corrected_for(c.comparisons, "variant")
            yield (
                f"The difference between {c.run} and {c.baseline} on {self.metric} {change.verb} over the days: "
                f"{_with_lift(change.early)} in the first {words.counted(len(self.early), 'day')}, {_with_lift(change.late)} in the "
                f"{words.counted(len(self.late), 'day')} after (change {moved}, {words.percent(method.level)} interval {ends}, "
                f"{words.p_value(c.p_value_adjusted)}{corrected})."
            )

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
        first, last = (
            f"{some[0]} to {some[-1]}" if some[0] != some[-1] else str(some[0]) for some in (self.early, self.late)
        )
        return (
            f"the difference early ({first}) and late ({last}); the change is within units, as who comes in both is one"
        )

    def chart(self) -> Iterator[Chart]:
        """The lift by day with its interval, a line a variant; the difference, where some day has no lift."""
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
    corrected = Family([found.change], pairs, method, baseline, variants.validity).contrasts
    changes = [Change(early, late, c) for (early, late), c in zip(halves, corrected, strict=True)]
    return OverDays(str(metric), days, found.early, found.late, changes, found.without_time)


def check_by(by: object) -> bool:
    """Whether days are asked for. Raises InputError for anything else that an experiment could be cut by."""
    asked = [] if by is None else [by] if isinstance(by, str) else list(by) if isinstance(by, list | tuple) else [by]
    odd = [one for one in asked if one != "day"]
    if odd:
        raise InputError(f"by={odd[0]!r}: an experiment is looked at by 'day'; for values of a column there is slices")
    return bool(asked)


def _clear(bounds: Bounds) -> bool:
    return bounds.known and bounds.lower * bounds.upper > 0


def _with_lift(c: Contrast) -> str:
    value, _ = c.relative
    size = words.number(c.difference, sign=True, digits=c.panel.measure.decimals)
    return f"{size} ({words.relative(value)})" if math.isfinite(value) else size
