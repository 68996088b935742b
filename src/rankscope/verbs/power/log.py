"""Plan an experiment from a log: the difference that its users can detect, and the users and days that each lift needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import Arms, SampleRatio, name_of_test
from rankscope.experiments.quantiles import deviation_of_quantile, refuse_adjustment
from rankscope.experiments.roles import guardrails_of
from rankscope.experiments.variants import Adjustment, Variants, check_winsorise, covariates_of
from rankscope.impressions import Log, attribute_of, cluster_columns
from rankscope.inference import paired, sequential
from rankscope.inference.base import PairedTest
from rankscope.inference.power import detectable_of_variants, inflation_of_looks, units_needed
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric, parse_online_metrics
from rankscope.logs.metrics import Quantile, deciding_metrics
from rankscope.logs.rollup import arrivals
from rankscope.logs.sums import UnitSums, totals_of
from rankscope.moments import Moments
from rankscope.panels.method import Margin, Method, method_of, read_margin
from rankscope.panels.ratios import adjusted_ratios, pulls
from rankscope.panels.reach import PowerGoal
from rankscope.show.result import Col, OfSource, View

REACH = 1.96  # standard errors on both sides of a number of users
MOST_LIFT = 1.0  # larger lifts that multiply values count as this one


@dataclass(frozen=True, eq=False)
class Pilot:
    """A metric of all users: its ``value``, the ``deviation`` between users, and the share of the variance that adjusting takes away.

    ``moved`` is the amount by which each user moves the value, times their number; None for a quantile and for sums. ``rate`` is true if users are 0 or 1.
    """

    value: float
    deviation: float
    explained: float = 0.0
    moved: Array | None = None
    rate: bool = False

    def deviation_at(self, difference: float, share: float) -> float:
        """The deviation if this share of users has a value that is higher by the difference: it grows as the values of users do."""
        times = 1.0
        if self.rate and 0 < self.value < 1:
            then = min(self.value + difference, 1.0)
            times = then * (1 - then) / (self.value * (1 - self.value))
        elif self.value > 0:
            times = (1 + min(difference / self.value, MOST_LIFT)) ** 2
        return self.deviation * math.sqrt((1 - share) * times + share)

    def range_of(self, *, lift: bool) -> tuple[float, float] | None:
        """Both ends of the 95% interval of the users needed, in parts of them: the variance is estimated, and the value for a lift."""
        if self.moved is None or not self.deviation or (lift and not self.value):
            return None
        parts = self.moved**2 / float(np.mean(self.moved**2)) - (2 * self.moved / self.value if lift else 0.0)
        reach = REACH * float(parts.std()) / math.sqrt(len(parts))
        return math.exp(-reach), math.exp(reach)


def pilot_of(users: Variants, metric: OnlineMetric) -> Pilot:
    """Return a metric of the users of a log. Raises DataError if its denominator is 0."""
    units = users.arms.units
    if isinstance(metric, Quantile):
        return Pilot(*deviation_of_quantile(metric, units))
    units, table, rate = units.counted(metric), None, False
    if isinstance(units, UnitSums):
        moments, alone = units.moments(metric, users.adjustment.covariates.get(metric, ())), units.moments(metric)
    else:
        table = users.table(metric, units)
        moments, alone = Moments.of_set(table), Moments.of_set(table[:, :2])
        rate = bool((table[:, 1] == 1).all() and np.isin(table[:, 0], (0.0, 1.0)).all())
    if not moments.mean[1]:
        raise DataError(f"{metric}: the denominator is 0 ({metric.below or 'no value'})")
    (adjusted,) = adjusted_ratios([moments], len(moments.mean) // 2 - 1)
    (plain,) = adjusted_ratios([alone])
    whole, variance = alone.variance_of(plain.factors), moments.variance_of(adjusted.factors)
    explained = 1 - variance / whole if whole > 0 else 0.0
    moved = None if table is None else pulls(table, moments, adjusted.factors)
    return Pilot(plain.value, math.sqrt(variance), explained, moved, rate)


PLANNED = (paired.t, paired.permutation, sequential.anytime, sequential.group_sequential)
USUAL_LIFTS = (0.01, 0.02, 0.05, 0.1)  # shares of the value now
Sizes = Sequence[tuple[float, bool]]  # differences, and whether each is a share of the value


@dataclass(frozen=True)
class LiftTarget:
    """A difference to detect, also as a share of the value now; the ``units`` of both variants together and the ``days`` it needs.

    With ``not_worse`` it is a loss to rule out. ``low`` and ``high`` are the units at both ends of the 95% interval of the pilot, None for
    a quantile. ``together`` are the units that also rule out the losses of all guardrails, None without guardrails.
    """

    difference: float
    lift: float
    units: int
    days: int | None
    low: int | None = None
    high: int | None = None
    not_worse: bool = False
    together: int | None = None


@dataclass(frozen=True)
class MetricPower:
    """A metric now: its ``value``, the ``deviation`` between units, the difference that ``units`` can detect, and the targets.

    ``explained`` is the share of the variance that covariates and strata take away. ``power`` and ``alpha`` are those of its test, which
    takes ``inflation`` times the units of a single look.
    """

    metric: str
    role: str
    value: float
    deviation: float
    units: int
    detectable: float
    detectable_lift: float
    targets: Sequence[LiftTarget]
    explained: float
    power: float
    alpha: float
    inflation: float
    policy: str = ""
    baseline: str = ""

    @property
    def about(self) -> str:
        """The quantity whose difference is planned: a metric, or an estimate of a policy and its baseline on the same units."""
        return f"{self.metric} between {self.policy} and {self.baseline}" if self.policy else self.metric


# --- the plan ---------------------------------------------------------------------------------------------


def plan_of_log(  # noqa: PLR0913 - the options of the command line for a log
    log: Log, metrics: Any, goal: PowerGoal, *, lifts: Any = None, differences: Sequence[float] = (), covariates: Any = None, share: Any = None,
    strata: str | None = None, winsorise: float | None = None, clusters: Any = None, test: Any = None, guardrails: Any = None, margin: Any = None,
) -> ExperimentPlan:  # fmt: skip
    """Return what an experiment with users like those of a log can detect.

    ``lifts`` are relative differences to detect (default: 0.01, 0.02, 0.05 and 0.1), ``differences`` absolute ones. ``margin`` is a loss of
    the first metric to rule out, and ``guardrails`` are metrics with such a loss. ``share`` is the share of users who get the new variant
    (default: one half), ``test`` is t, permutation, anytime or group_sequential. The others are as for ``experiment``.

    The first metric and the guardrails must all hold, so each of k tests gets the power 1 - (1 - power) / k. Source: Schultzberg,
    Ankargren and Frånberg, Risk-aware product decisions in A/B tests with multiple metrics, 2024.
    """
    chosen = parse_online_metrics(metrics) if metrics else deciding_metrics(log)
    if not chosen:
        raise InputError(f"{log.label}: name a metric, like -m CTR or -m 'Mean(column)'")
    part = 0.5 if share is None else words.as_number(share)
    if part is None or not 0 < part < 1:
        raise InputError(f"share={share!r}: the share of users with the new variant is between 0 and 1, like 0.5")
    guards = guardrails_of(guardrails, chosen)
    if bare := [metric for metric, accepted in guards.items() if accepted is None]:
        raise InputError(f"guardrail {bare[0]}: a plan takes the loss that would be accepted, like {bare[0]}=1%")
    loss = None if margin is None else read_margin(margin, f"margin {margin}", "a loss to rule out")
    check_winsorise(winsorise)
    planned, within = [*chosen, *guards], cluster_columns(log, clusters)
    stratum = None if strata is None else attribute_of(log, strata)
    if stratum is not None:
        refuse_adjustment(planned, f"strata={strata}")
    adjust = covariates_of(covariates, planned, log)
    needed = list(dict.fromkeys([*planned, *(other for others in adjust.values() for other in others)]))
    units = totals_of(log, needed, within, attributes=[stratum] if stratum else [], ids=bool(within)).clustered(within)
    adjustment = Adjustment(adjust, stratum, winsorise)
    users = Variants(log, Arms(units, ()), SampleRatio({}, {}, math.nan, at_looks=False), adjustment, tuple(within))
    if goal.n is None and units.count < 4:
        raise DataError(f"{log.label}: {words.counted(units.count, units.noun)}, and a plan needs more")
    days = arrivals(log) if log.has("timestamp", "unit_id") and not users.clusters else ()
    method = users.method_for(method_of(test=test, alpha=goal.alpha), planned)
    if method.test is not None and not isinstance(method.test, PLANNED):
        raise InputError(f"test={str(method.test)!r}: a plan takes t, permutation, anytime or group_sequential")
    wanted = [] if lifts is None and (differences or loss) else lifts_of(lifts)
    sizes = [*((lift, True) for lift in wanted), *((difference, False) for difference in differences)]
    must = 1 - (1 - goal.power) / (1 + len(guards)), goal.each
    corrected = goal.power, goal.each / max(len(chosen) - 1, 1)
    plan = _Planner(goal.n or units.count, part, tuple(days), method.test)
    guarded = [plan.reach(users, metric, guard, "guardrail", must, []) for metric, guard in guards.items()]
    most = max((target.units for reach in guarded for target in reach.targets), default=None)
    lead = plan.reach(users, chosen[0], loss, "primary", must, sizes, most)
    others = [plan.reach(users, metric, None, "secondary", corrected, sizes) for metric in chosen[1:]]
    return ExperimentPlan([lead, *others, *guarded], goal, tuple(days), users, part, method)


@dataclass(frozen=True)
class _Planner:
    """The aim of a plan: the ``units`` at hand, the ``share`` of them in the new variant, the ``days`` they came on, and the test."""

    units: int
    share: float
    days: tuple[int, ...]
    test: PairedTest | None

    def reach(
        self, users: Variants, metric: OnlineMetric, loss: Margin | None, role: str, level: tuple[float, float], sizes: Sizes,
        most: int | None = None,
    ) -> MetricPower:  # fmt: skip
        """Return a metric with its targets, planned at this power and alpha; ``most`` are the units that guardrails need."""
        pilot, inflation = pilot_of(users, metric), inflation_of_looks(self.test, self.units, *level)
        size, units = abs(pilot.value), max(self.units / inflation, 4)
        detects = 0.0
        for _ in range(100):  # the detected difference has a spread of its own, which grows less and less
            detects = detectable_of_variants(units, pilot.deviation_at(detects, self.share), *level, self.share)
        targets = []
        for number, lift in sizes:
            if difference := number * (size if lift else 1.0):
                deviation = pilot.deviation_at(difference, self.share)
                targets.append(self.target(pilot, difference, deviation, level, lift, most=most))
        if loss is not None and (accepted := loss.of(pilot.value)):
            rest = 1 - loss.number if loss.relative else 1.0
            deviation = pilot.deviation * math.sqrt(1 - self.share + self.share * rest**2)
            # a test for looks is always two-sided
            at = level[0], level[1] * (1 if inflation > 1 else 2)
            targets.append(self.target(pilot, accepted, deviation, at, loss.relative, not_worse=True, most=most))
        known = pilot.value, pilot.deviation, self.units, detects, as_lift(detects, size)
        return MetricPower(users.name_of(metric), role, *known, tuple(targets), pilot.explained, *level, inflation)

    def target(
        self, pilot: Pilot, difference: float, deviation: float, level: tuple[float, float], lift: bool, *, not_worse: bool = False,
        most: int | None = None,
    ) -> LiftTarget:  # fmt: skip
        """Return the units and days that a difference needs."""
        alone = needed = units_needed(deviation, difference, *level, self.share)
        for _ in range(1 if self.test is None else 4):
            needed = math.ceil(alone * inflation_of_looks(self.test, needed, *level))
        ends = pilot.range_of(lift=lift)
        low, high = (None, None) if ends is None else (max(math.ceil(needed * end), 4) for end in ends)
        days = days_until(needed, self.days)
        together, share = None if most is None else max(needed, most), as_lift(difference, pilot.value)
        return LiftTarget(difference, share, needed, days, low, high, not_worse, together)


def as_lift(difference: float, value: float) -> float:
    """Return a difference as a share of the value now, NaN if it is 0."""
    return difference / abs(value) if value else math.nan


def days_until(needed: int, days: Sequence[int]) -> int | None:
    """Return the days until that many users came, later days at the pace of the later half of the log; None without days."""
    came = np.cumsum(days)
    if not len(came) or came[-1] >= needed:
        return int(np.searchsorted(came, needed)) + 1 if len(came) else None
    later = days[len(days) // 2 :]
    pace = sum(later) / len(later)
    return len(days) + math.ceil((needed - int(came[-1])) / pace) if pace else None


def lifts_of(lifts: Any) -> list[float]:
    """Read lifts as shares, 0.02 or 2%. Default: 0.01, 0.02, 0.05 and 0.1. Raises InputError."""
    if lifts is None or lifts in ((), []):
        return [*USUAL_LIFTS]
    out = []
    for lift in [lifts] if isinstance(lifts, str | int | float) else lifts:
        share = words.as_share(lift)
        if share is None or not 0 < share[0] < math.inf:
            raise InputError(f"lift={lift}: a lift must be a number above 0, like 0.02 or 2%")
        out.append(share[0])
    return sorted(out)


# --- the result -------------------------------------------------------------------------------------------


def _percent(value: float) -> str:
    return words.relative(value).lstrip("+") if math.isfinite(value) else ""


def _goal(target: LiftTarget, size: str) -> str:
    return f"not −{size}" if target.not_worse and size else size


def _ends(target: LiftTarget) -> str | None:
    if target.low is None or target.high is None:
        return None
    return f"{words.rounded(target.low)} to {words.rounded(target.high)}"


@dataclass(frozen=True, eq=False, repr=False)
class LogPlan(OfSource):
    """The difference that users like those of a log can show, and the users and days that each lift needs.

    ``results`` is a Polars frame with one row per metric and lift; ``reaches`` holds the values of each metric.
    """

    reaches: Sequence[MetricPower]
    goal: PowerGoal
    arrivals: Sequence[int]

    log: ClassVar[Any]
    noun: ClassVar[Any]
    remark: ClassVar[Any] = ""

    schema = "power/1"
    caption: ClassVar[str]
    source = property(attrgetter("log.source"), doc="The file or table of the log.")
    shown = ("results", "metrics")
    views = (
        View(
            "results",
            (
                Col("policy", of=lambda row: row[0].policy or None, head="policy", rare=True),
                Col("metric", of=lambda row: row[0].metric, head="metric"),
                Col("role", of=lambda row: row[0].role),
                Col("value", "deviation", of=lambda row: (row[0].value, row[0].deviation), kind="value"),
                Col("units", of=lambda row: row[0].units, kind="count"),
                Col("detectable_difference", "detectable_lift", of=lambda row: (row[0].detectable, row[0].detectable_lift), kind="value"),
                Col("shows", of=lambda row: "not worse" if row[1].not_worse else "difference"),
                Col("wanted_lift", of=lambda row: row[1].lift, kind="value", head="lift", cell=lambda row: _goal(row[1], _percent(row[1].lift))),
                Col("wanted_difference", of=lambda row: row[1].difference, kind="value", head="difference", cell=lambda row: _goal(row[1], words.amount(row[1].difference))),
                Col("units_needed", of=lambda row: row[1].units, kind="count", head="units", cell=lambda row: NumberText(words.rounded(row[1].units), row[1].units)),
                Col("units_low", of=lambda row: row[1].low, kind="count", head="range", cell=lambda row: _ends(row[1])),
                Col("units_high", of=lambda row: row[1].high, kind="count"),
                Col("units_together", of=lambda row: row[1].together, kind="count"),
                Col("days_needed", of=lambda row: row[1].days, kind="count", head="days"),
                Col("power", "alpha", "inflation", of=lambda row: (row[0].power, row[0].alpha, row[0].inflation), kind="value"),
            ),
            lambda plan: [(reach, target) for reach in plan.reaches for target in reach.targets],
            note="units of both variants together · range: at the ends of the 95% interval measured on this log",
        ),
        View(
            "metrics",
            (
                Col("policy", of=lambda reach: reach.policy or None, head="policy", rare=True),
                Col("metric", head="metric"),
                *(Col(name, head=name, kind="value") for name in ("value", "deviation")),
                Col("units", head="units", kind="count"),
                Col("detectable", head="detects", kind="value"),
                Col("detectable_lift", head="as a lift", kind="value", cell=lambda reach: _percent(reach.detectable_lift)),
                Col("explained", kind="value"),
            ),
            lambda plan: plan.reaches,
        ),
    )  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """Messages about the log and the roll-up."""
        return [*super().notes, *([self.remark] if self.remark else [])]

    def sentences(self) -> Iterator[str]:
        """Yield per metric what the users at hand can detect, and the users for the smallest lift beyond that."""
        unit = self.noun
        for reach in self.reaches:
            chance = f"with {words.percent(round(reach.power, 4))} power"
            if reach.role == "guardrail":
                yield from (self._of_loss(reach, target, chance) for target in reach.targets)
                continue
            digits = words.decimals_for(reach.detectable)
            lift = _percent(reach.detectable_lift)
            lift = f" ({lift} of {words.number(reach.value, digits=digits)})" if lift else ""
            about = words.number(reach.detectable, digits=digits)
            text = f"{words.counted(reach.units, unit)} can detect a difference of about {about}{lift} in {reach.about} {chance}"
            if beyond := [target for target in reach.targets if target.units > reach.units and not target.not_worse]:
                target = beyond[-1]
                text += f". A lift of {_percent(target.lift)} takes about {words.rounded(target.units)} {words.plural(unit)}"
                if target.days is not None:
                    text += f", about {words.counted(target.days, 'day')} at the pace of this log"
            yield f"{text}."
            yield from (self._of_loss(reach, target, chance) for target in reach.targets if target.not_worse)
        lead = self.reaches[0]
        first = next(iter(lead.targets), None)
        if first is not None and first.together is not None:
            size = words.amount(first.difference)
            shown = "ruling that loss out" if first.not_worse else f"a difference of {size}"
            yield (
                f"The whole plan, {shown} in {lead.metric} with every guardrail, takes about {words.rounded(first.together)} "
                f"{words.plural(unit)}: then all hold with {words.percent(self.goal.power)} power or more."
            )

    def _of_loss(self, reach: MetricPower, target: LiftTarget, chance: str) -> str:
        lift = f" ({_percent(target.lift)})" if math.isfinite(target.lift) else ""
        return (
            f"Ruling out a loss of {words.amount(target.difference)}{lift} in {reach.metric} takes about "
            f"{words.rounded(target.units)} {words.plural(self.noun)} {chance}, if there is no difference."
        )

    def charts(self) -> Iterator[Chart]:
        """Yield the units that each lift needs, one line per metric."""
        lifts = [(t, r) for r in self.reaches for t in r.targets if math.isfinite(t.lift) and not t.not_worse]
        rows = [(100 * t.lift, t.units, r.about) for t, r in lifts]
        if len(rows) > len(self.reaches):
            units = words.plural(self.noun)
            columns = (Column("lift in percent", "value"), Column(units, "count"), Column("metric"))
            yield Chart(
                "lifts", f"How many {units} a lift takes", "lines", columns, tuple(rows), x="lift in percent", y=units,
                series="metric", logs=frozenset({"x", "y"}), caption=self.caption,
            )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ExperimentPlan(LogPlan):
    """The difference that an experiment with users like those of a log can detect, and the users and days that each lift needs."""

    users: Variants
    share: float
    method: Method

    caption = "Both variants together, if users differ as in this log."

    log = property(attrgetter("users.log"), doc="The log that was read.")
    noun = property(attrgetter("users.arms.units.noun"), doc="The name of a unit.")
    remark = property(attrgetter("users.arms.units.remark"), doc="A remark if the log names no users.")

    @property
    def conventions(self) -> dict[str, Any]:
        """The goal of the plan and the experiment that is planned."""
        adjusted = self.users.adjustment.statement()
        return {
            **self.goal.record(), "planned_units": self.goal.n, "share": self.share, "unit": self.noun,
            "days": len(self.arrivals) or None, **adjusted, "test": name_of_test(self.method.test),
            **({"clusters": [*self.users.clusters]} if self.users.clusters else {}),
        }  # fmt: skip

    def small_print(self) -> Iterator[str]:
        """Yield the assumptions of the plan."""
        yield f"for {words.plural(self.noun)} like these, observed over the period of this log"
        if self.users.clusters:
            yield f"clusters of {words.listing(self.users.clusters)}"
        yield f"{words.percent(self.share)} in the new variant, whose values grow by the lift, and so does their spread"
        test = "t test" if self.method.test is None else f"{self.method.test}"
        yield f"two-sided {test}, power {words.percent(self.goal.power)}, alpha {words.amount(self.goal.each)}"
        lead, *others = self.reaches
        if lead.inflation > 1:
            yield f"looks take {words.number(lead.inflation, digits=2)} times the {words.plural(self.noun)} of a single test"
        guards = sum(reach.role == "guardrail" for reach in others)
        if guards:
            yield f"the first metric and {words.counted(guards, 'guardrail')} must all hold, so each test is planned with {words.percent(round(lead.power, 4))} power"
        if sum(reach.role == "secondary" for reach in others) > 1:
            yield f"further metrics are corrected: alpha {words.number(others[0].alpha)} for each"
        if self.arrivals:
            yield f"{words.counted(len(self.arrivals), 'day')} in this log, later days at the pace of its later half"
        yield from self.users.adjustment.remarks()
        for reach in self.reaches if self.users.adjustment.covariates or self.users.adjustment.stratum else ():
            yield f"that takes away {words.share(max(reach.explained, 0.0))} of the variance of {reach.metric}"
