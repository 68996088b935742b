"""Plan an experiment from a log: the difference that its users can detect, and the users and days that each lift needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import Caution, Chart, Column, NumberText
from rankscope.errors import DataError, InputError
from rankscope.experiments.covariates import covariates_of
from rankscope.experiments.quantiles import deviation_of_quantile
from rankscope.impressions import Log
from rankscope.inference.power import detectable_of_variants, units_needed
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.metrics import Quantile, deciding_metrics
from rankscope.logs.rollup import UnitTotals, arrivals, roll_up
from rankscope.moments import Moments
from rankscope.panels.ratios import deviation_of_units
from rankscope.panels.reach import PowerGoal
from rankscope.show.result import Col, Result, View

USUAL_LIFTS = (0.01, 0.02, 0.05, 0.1)  # shares of the value now


@dataclass(frozen=True)
class LiftTarget:
    """A difference to detect, also as a share of the value now; the ``units`` of both variants together and the ``days`` it needs."""

    difference: float
    lift: float
    units: int
    days: int | None


@dataclass(frozen=True)
class MetricPower:
    """A metric now: its ``value``, the ``deviation`` between units, the difference that ``units`` can detect, and the lifts."""

    metric: OnlineMetric
    value: float
    deviation: float
    units: int
    detectable: float
    detectable_lift: float
    targets: Sequence[LiftTarget]


# --- the plan ---------------------------------------------------------------------------------------------


def plan_of_log(
    log: Log, metrics: Any, goal: PowerGoal, *, lifts: Any = None, differences: Sequence[float] = (), covariates: Any = None, share: Any = None,
) -> ExperimentPlan:  # fmt: skip
    """Return what an experiment with users like those of a log can detect.

    ``lifts`` are relative differences to detect (default: 0.01, 0.02, 0.05 and 0.1), ``differences`` absolute ones. ``covariates``
    are as for ``experiment``, ``share`` is the share of users who get the new variant (default: one half).
    """
    chosen = parse_online_metrics(metrics) if metrics else deciding_metrics(log)
    if not chosen:
        raise InputError(f"{log.label}: no metric was named: write one like -m CTR or -m 'Mean(column)'")
    part = 0.5 if share is None else words.as_number(share)
    if part is None or not 0 < part < 1:
        raise InputError(f"share={share!r}: the share of users who get the new variant is between 0 and 1, like 0.5")
    adjust = covariates_of(covariates, chosen)
    units = roll_up(log, list(dict.fromkeys([*chosen, *(other for others in adjust.values() for other in others)])))
    if goal.n is None and units.count < 4:
        raise DataError(f"{log.label}: {words.counted(units.count, units.noun)}, too few to plan from")
    days = arrivals(log) if log.has("timestamp") and units.unit == "unit_id" else ()
    wanted = [] if lifts is None and differences else _lifts(lifts)
    count, reaches = goal.n or units.count, []
    for metric in chosen:
        value, deviation = _deviation(metric, units, adjust.get(metric, ()))
        size = abs(value)
        detects = detectable_of_variants(count, deviation, goal.power, goal.each, part)
        targets = []
        for difference in filter(None, (*(lift * size for lift in wanted), *differences)):
            needed = units_needed(deviation, difference, goal.power, goal.each, part)
            targets.append(LiftTarget(difference, _as_lift(difference, size), needed, _days(needed, days)))
        reaches.append(MetricPower(metric, value, deviation, count, detects, _as_lift(detects, size), tuple(targets)))
    return ExperimentPlan(
        log, units, reaches, goal, part, tuple(days), {str(m): [*map(str, o)] for m, o in adjust.items()}
    )


def _as_lift(difference: float, size: float) -> float:
    return difference / size if size else math.nan


def _deviation(metric: OnlineMetric, units: UnitTotals, covariates: Sequence[OnlineMetric]) -> tuple[float, float]:
    """Return the value of a metric, and the standard deviation between units of its linearised parts."""
    if isinstance(metric, Quantile):
        return deviation_of_quantile(metric, units)
    moments = Moments.of_set(np.column_stack([units.columns(one) for one in (metric, *covariates)]))
    if not moments.mean[1]:
        raise DataError(f"{metric}: nothing is below the line ({metric.below or 'no value'})")
    return deviation_of_units(moments, len(covariates))


def _days(needed: int, days: Sequence[int]) -> int | None:
    """Return the days until that many users came, later days at the pace of the later half of the log; None without days."""
    came = np.cumsum(days)
    if not len(came) or came[-1] >= needed:
        return int(np.searchsorted(came, needed)) + 1 if len(came) else None
    later = days[len(days) // 2 :]
    pace = sum(later) / len(later)
    return len(days) + math.ceil((needed - int(came[-1])) / pace) if pace else None


def _lifts(lifts: Any) -> list[float]:
    """Read lifts as shares: 0.02 or 2%."""
    if lifts is None or lifts in ((), []):
        return [*USUAL_LIFTS]
    out = []
    for lift in [lifts] if isinstance(lifts, str | int | float) else lifts:
        share = words.as_share(lift)
        if share is None or not 0 < share[0] < math.inf:
            raise InputError(f"lift={lift}: a lift is a number above 0, like 0.02 or 2%")
        out.append(share[0])
    return sorted(out)


# --- the result -------------------------------------------------------------------------------------------


def _percent(value: float) -> str:
    return words.relative(value).lstrip("+") if math.isfinite(value) else ""


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentPlan(Result):
    """The difference that an experiment with users like those of a log can detect, and the users and days that each lift needs.

    ``results`` is a Polars frame with one row per metric and lift; ``reaches`` holds the values of each metric.
    """

    log: Log
    units: UnitTotals
    reaches: Sequence[MetricPower]
    goal: PowerGoal
    share: float
    arrivals: Sequence[int]
    covariates: Mapping[str, Sequence[str]]

    schema = "power/1"
    header = ("verdict", "conventions", "inputs")
    shown = ("results", "metrics")
    warnings: ClassVar[Sequence[Caution]] = ()
    views = (
        View(
            "results",
            (
                Col("metric", of=lambda row: str(row[0].metric), head="metric"),
                Col("value", "deviation", of=lambda row: (row[0].value, row[0].deviation), kind="value"),
                Col("units", of=lambda row: row[0].units, kind="count"),
                Col("detectable_difference", "detectable_lift", of=lambda row: (row[0].detectable, row[0].detectable_lift), kind="value"),
                Col("wanted_lift", of=lambda row: row[1].lift, kind="value", head="lift", cell=lambda row: _percent(row[1].lift)),
                Col("wanted_difference", of=lambda row: row[1].difference, kind="value", head="difference", cell=lambda row: words.amount(row[1].difference)),
                Col("units_needed", of=lambda row: row[1].units, kind="count", head="units", cell=lambda row: NumberText(words.rounded(row[1].units), row[1].units)),
                Col("days_needed", of=lambda row: row[1].days, kind="count", head="days"),
            ),
            lambda plan: [(reach, target) for reach in plan.reaches for target in reach.targets],
        ),
        View(
            "metrics",
            (
                Col("metric", of=lambda reach: str(reach.metric), head="metric"),
                *(Col(name, head=name, kind="value") for name in ("value", "deviation")),
                Col("units", head="units", kind="count"),
                Col("detectable", head="detects", kind="value"),
                Col("detectable_lift", head="as a lift", kind="value", cell=lambda reach: _percent(reach.detectable_lift)),
            ),
            lambda plan: plan.reaches,
        ),
    )  # fmt: skip

    @property
    def inputs(self) -> Sequence[Any]:
        """The source of the log."""
        return [self.log.source]

    @property
    def notes(self) -> Sequence[str]:
        """Messages about the log and the roll-up."""
        return [*self.log.source.notes, *([self.units.remark] if self.units.remark else [])]

    @property
    def conventions(self) -> dict[str, Any]:
        """The goal of the plan and the experiment that is planned."""
        return {
            **self.goal.record(), "planned_units": self.goal.n, "share": self.share, "unit": self.units.noun,
            "days": len(self.arrivals) or None, "covariates": dict(self.covariates),
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield per metric what the users at hand can detect, and the users for the smallest lift beyond that."""
        unit, chance = self.units.noun, f"with {words.percent(self.goal.power)} power"
        for reach in self.reaches:
            digits = words.decimals_for(reach.detectable)
            lift = _percent(reach.detectable_lift)
            lift = f" ({lift} of {words.number(reach.value, digits=digits)})" if lift else ""
            about = words.number(reach.detectable, digits=digits)
            text = f"{words.counted(reach.units, unit)} can detect a difference of about {about}{lift} in {reach.metric} {chance}"
            if beyond := [target for target in reach.targets if target.units > reach.units]:
                target = beyond[-1]
                text += f"; a lift of {_percent(target.lift)} takes about {words.rounded(target.units)} {words.plural(unit)}"
                if target.days is not None:
                    text += f", about {words.counted(target.days, 'day')} at the pace of this log"
            yield f"{text}."

    def small_print(self) -> Iterator[str]:
        """Yield what the plan assumes."""
        yield f"for {words.plural(self.units.noun)} like these, seen for as long as in this log"
        yield f"{words.percent(self.share)} in the new variant"
        yield f"two-sided t test, power {words.percent(self.goal.power)}, alpha {words.amount(self.goal.each)}"
        if self.arrivals:
            yield f"{words.counted(len(self.arrivals), 'day')} in this log, later days at the pace of its later half"
        for metric, others in self.covariates.items():
            yield f"{metric} adjusted for {words.listing(others)}"

    def charts(self) -> Iterator[Chart]:
        """Yield the units that each lift needs, one line per metric."""
        rows = [
            (100 * t.lift, t.units, str(r.metric)) for r in self.reaches for t in r.targets if math.isfinite(t.lift)
        ]
        if len(rows) > len(self.reaches):
            units = words.plural(self.units.noun)
            columns = (Column("lift in percent", "value"), Column(units, "count"), Column("metric"))
            yield Chart(
                "lifts", f"How many {units} a lift takes", "lines", columns, tuple(rows), x="lift in percent", y=units,
                series="metric", logs=frozenset({"x", "y"}), caption="Of both variants together, if users differ as they do in this log.",
            )  # fmt: skip
