"""What ``power`` gives for a log: what an experiment with its users can detect, and how many users and days each lift takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rankscope import words
from rankscope.blocks import EMPTY, Caution, Chart, Column, NumberText, Paragraph
from rankscope.impressions import Log
from rankscope.logs.base import OnlineMetric
from rankscope.logs.rollup import UnitTotals
from rankscope.panels.reach import Aim
from rankscope.show.result import Col, Result, Shown, View, input_record


@dataclass(frozen=True)
class LiftTarget:
    """A difference to detect, also as a share of the value now, with the ``units`` of both variants together and the ``days`` that it takes."""

    difference: float
    lift: float
    units: int
    days: int | None


@dataclass(frozen=True)
class MetricReach:
    """A metric now: its ``value``, the ``deviation`` between units, what so many ``units`` can detect, and what lifts take."""

    metric: OnlineMetric
    value: float
    deviation: float
    units: int
    detectable: float
    detectable_lift: float
    targets: Sequence[LiftTarget]


def _percent(value: float) -> str:
    return words.relative(value).lstrip("+") if math.isfinite(value) else ""


def _days(target: LiftTarget) -> str:
    return "" if target.days is None else words.counted(target.days, "day")


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentPlan(Result):
    """What an experiment with users like those of a log can detect, and how many users and days each lift takes.

    ``results`` is a Polars frame with a row a metric and lift; ``reaches`` has what is known of each metric.
    """

    log: Log
    units: UnitTotals
    reaches: Sequence[MetricReach]
    aim: Aim
    share: float
    arrivals: Sequence[int]
    covariates: Mapping[str, Sequence[str]]

    schema = "power/1"
    warnings: ClassVar[Sequence[Caution]] = ()
    views = (
        View(
            "results",
            (
                Col("metric", of=lambda row: str(row[0].metric), head="metric"),
                Col("value", of=lambda row: row[0].value, kind="value"),
                Col("deviation", of=lambda row: row[0].deviation, kind="value"),
                Col("units", of=lambda row: row[0].units, kind="count"),
                Col("detectable_difference", of=lambda row: row[0].detectable, kind="value"),
                Col("detectable_lift", of=lambda row: row[0].detectable_lift, kind="value"),
                Col("wanted_lift", of=lambda row: row[1].lift, kind="value", head="lift", cell=lambda row: _percent(row[1].lift)),
                Col("wanted_difference", of=lambda row: row[1].difference, kind="value", head="difference", cell=lambda row: words.amount(row[1].difference)),
                Col("units_needed", of=lambda row: row[1].units, kind="count", head="units", cell=lambda row: NumberText(words.rounded(row[1].units), row[1].units)),
                Col("days_needed", of=lambda row: row[1].days, kind="count", head="days"),
            ),
            lambda plan: [(reach, target) for reach in plan.reaches for target in reach.targets],
            labels=1,
        ),
        View(
            "metrics",
            (
                Col("metric", of=lambda reach: str(reach.metric), head="metric"),
                Col("value", head="value", kind="value"),
                Col("deviation", head="deviation", kind="value"),
                Col("units", head="units", kind="count"),
                Col("detectable", head="detects", kind="value"),
                Col("detectable_lift", head="as a lift", kind="value", cell=lambda reach: _percent(reach.detectable_lift)),
            ),
            lambda plan: plan.reaches,
        ),
    )  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """What was read, and how it was rolled up."""
        return [*self.log.source.notes, *([self.units.remark] if self.units.remark else [])]

    @property
    def conventions(self) -> dict[str, Any]:
        """What is planned for."""
        return {
            **self.aim.record(), "planned_units": self.aim.n, "share": self.share, "unit": self.units.noun,
            "days": len(self.arrivals) or None, "covariates": dict(self.covariates),
        }  # fmt: skip

    def json_header(self) -> dict[str, Any]:
        """The answer, what is planned for, and what was read."""
        return {
            "verdict": list(self.sentences()),
            "conventions": self.conventions,
            "inputs": [input_record(self.log.source)],
        }

    def extra_views(self, **_: Any) -> Iterator[str]:
        """The view that JSON holds beside the results."""
        yield "metrics"

    def sentences(self) -> Iterator[str]:
        """What the users at hand can detect, and what the smallest lift beyond that takes."""
        noun = words.counted(self.reaches[0].units, self.units.noun)
        chance = f"with {words.percent(self.aim.power)} power"
        for reach in self.reaches:
            decimals = words.decimals_for(reach.detectable)
            lift = (
                f" ({_percent(reach.detectable_lift)} of {words.number(reach.value, digits=decimals)})"
                if math.isfinite(reach.detectable_lift)
                else ""
            )
            text = f"{noun} can detect a difference of about {words.number(reach.detectable, digits=decimals)}{lift} in {reach.metric} {chance}"
            beyond = [target for target in reach.targets if target.units > reach.units]
            if beyond:
                target = beyond[-1]
                days = f", about {_days(target)} at the pace of this log" if target.days is not None else ""
                text += f"; a lift of {_percent(target.lift)} takes about {words.rounded(target.units)} {words.plural(self.units.noun)}{days}"
            yield f"{text}."

    def blocks(self, **_: Any) -> list[Shown]:
        """The answer, the tables, and what it assumes."""
        small = Paragraph(" · ".join(self._small_print()), quiet=True)
        return [*map(Paragraph, self.sentences()), EMPTY, self.table(), EMPTY, self.table("metrics"), EMPTY, small]

    def _small_print(self) -> Iterator[str]:
        yield f"for {words.plural(self.units.noun)} like these, seen for as long as in this log"
        yield f"{words.percent(self.share)} in the new variant"
        yield f"two-sided t test, power {words.percent(self.aim.power)}, alpha {words.amount(self.aim.each)}"
        if self.arrivals:
            yield f"{words.counted(len(self.arrivals), 'day')} in this log, later days at the pace of its later half"
        for metric, others in self.covariates.items():
            yield f"{metric} adjusted for {words.listing(others)}"

    def charts(self) -> Iterator[Chart]:
        """How many units each lift takes, a line a metric."""
        rows = [
            (100 * t.lift, t.units, str(r.metric)) for r in self.reaches for t in r.targets if math.isfinite(t.lift)
        ]
        if len(rows) > len(self.reaches):
            columns = (
                Column("lift in percent", "value"),
                Column(words.plural(self.units.noun), "count"),
                Column("metric"),
            )
            yield Chart(
                "lifts", f"How many {words.plural(self.units.noun)} a lift takes", "lines", columns, tuple(rows), x="lift in percent",
                y=columns[1].header, series="metric", logs=frozenset({"x", "y"}), caption="Of both variants together, if users differ as they do in this log.",
            )  # fmt: skip
