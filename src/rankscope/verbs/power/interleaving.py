"""Plan a comparison of two rankers on a log of interleaved lists (the lists that interleaving and an A/B test need), or of policies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from rankscope import words
from rankscope.blocks import Chart, Column, NumberText
from rankscope.errors import DataError, InputError
from rankscope.experiments.interleaved import Interleaved
from rankscope.experiments.traffic import Traffic, traffic_of
from rankscope.impressions import Log
from rankscope.inference.power import detectable_difference, queries_needed
from rankscope.logs.rollup import arrivals
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.reach import PowerGoal
from rankscope.scoring.counterfactual import Counterfactual
from rankscope.show.result import Col, OfSource, View
from rankscope.verbs.power.log import LiftTarget, LogPlan, MetricPower, as_lift, days_until, lifts_of


@dataclass(frozen=True)
class DesignTarget:
    """A lift in clicks per list, with the preference that goes with it and the lists that both designs need."""

    lift: float
    difference: float
    preference: float
    interleaving: int
    ab_test: int


def plan_interleaving(log: Log | None, goal: PowerGoal, lifts: Sequence[float]) -> InterleavingPlan:
    """Return the lists that both designs need for some lifts and for the observed difference.

    A lift that is a share of the observed one goes with the same share of the observed preference. Raises DataError for a log that cannot
    say: it must have two rankers, their ranks (columns ``rank_NAME``), items, positions and clicks. Raises InputError without a log.
    """
    if log is None:
        raise InputError("design='interleaving' plans from a log of interleaved lists: give one, like log.parquet")
    interleaved = Interleaved.of(log)
    interleaved.check_method()
    measured = traffic_of(interleaved, goal.power, goal.each)
    if measured is None:
        raise DataError(
            f"{log.label}: both designs cannot be compared: that takes clicks on interleaved lists of two rankers, with item, position, "
            "impression_id and the ranks of both (columns rank_NAME), and items that were shown at several positions"
        )
    observed = abs(measured.difference / measured.value)
    rows = []
    for lift in sorted({*lifts, observed}):
        share = lift / observed
        one, both = measured.needed(share)
        rows.append(DesignTarget(lift, measured.difference * share, measured.preference * share, one, both))
    return InterleavingPlan(log, interleaved.rankers, measured, goal, rows, observed, interleaved.units.noun)


def _lists(head: str, name: str) -> Col:
    return Col(f"lists_{name}", of=lambda row: getattr(row, name), kind="count", head=head,
        cell=lambda row: NumberText(words.rounded(getattr(row, name)), getattr(row, name)))  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class InterleavingPlan(OfSource):
    """The lists that interleaving and an A/B test need for the same difference. ``traffic`` has the measurements."""

    log: Log
    rankers: tuple[str, ...]
    traffic: Traffic
    goal: PowerGoal
    targets: Sequence[DesignTarget]
    observed: float
    unit: str = "unit"

    schema = "power/1"
    source = property(attrgetter("log.source"), doc="The file or table of the log.")
    views = (
        View(
            "results",
            (
                Col("lift", kind="value", head="lift", cell=lambda row: words.relative(row.lift).lstrip("+")),
                Col("difference", kind="value", head="clicks per list", cell=lambda row: words.number(row.difference, sign=True)),
                Col("preference", kind="value", head="preference", cell=lambda row: words.number(row.preference, sign=True)),
                _lists("interleaving", "interleaving"),
                _lists("A/B test", "ab_test"),
                Col("multiplier", of=lambda row: row.ab_test / row.interleaving, kind="value", head="times",
                    cell=lambda row: words.number(row.ab_test / row.interleaving, digits=1)),
            ),
            lambda plan: plan.targets,
            note="lists needed by each design, of both variants together for the A/B test",
        ),
    )  # fmt: skip

    @property
    def conventions(self) -> dict[str, Any]:
        """The goal of the plan, and the measurements."""
        t = self.traffic
        return {
            **self.goal.record(), "design": "interleaving", "rankers": list(self.rankers), "units": t.units, "lists": t.lists, "observed_lift": self.observed,
            "multiplier": words.finite(t.multiplier), "multiplier_ci_lower": words.finite(t.low),
            "multiplier_ci_upper": words.finite(t.high), "decay": t.decay,
        }  # fmt: skip

    def sentences(self) -> Iterator[str]:
        """Yield the lists that both designs need for the observed difference."""
        one, both = map(words.rounded, self.traffic.needed())
        yield (
            f"For the observed difference of {self.rankers[0]} and {self.rankers[1]}, interleaving needs about {one} lists and an "
            f"A/B test about {both} with {words.percent(self.goal.power)} power: {self.traffic.in_words}."
        )

    def small_print(self) -> Iterator[str]:
        """Yield the assumptions of the plan."""
        yield f"measured on {words.counted(self.traffic.lists, 'list')} of {words.counted(self.traffic.units, self.unit)}"
        yield f"two-sided t tests, power {words.percent(self.goal.power)}, alpha {words.amount(self.goal.each)}"
        yield f"A/B test: clicks per list, attention falls as position to the power of −{words.number(self.traffic.decay, digits=2)}"

    def charts(self) -> Iterator[Chart]:
        """Yield the lists that each lift needs, by design."""
        columns = {"interleaving": "interleaving", "A/B test": "ab_test"}.items()
        rows = [(100 * row.lift, getattr(row, name), design) for row in self.targets for design, name in columns]
        yield Chart(
            "designs", "Lists that each lift needs", "lines", (Column("lift in percent", "value"), Column("lists", "count"), Column("design")), tuple(rows),
            x="lift in percent", y="lists", series="design", logs=frozenset({"x", "y"}), caption="If users differ as they do in this log.",
        )  # fmt: skip


def plan_policies(
    log: Log, metrics: Any, goal: PowerGoal, *, lifts: Any = None, differences: Sequence[float] = (), **options: Any
) -> PolicyPlan:
    """Return the differences of policies that a log of this kind can show; ``options`` are as for ``estimate``."""
    counterfactual = Counterfactual.of(log, estimators=metrics, method=method_of(alpha=goal.alpha), **options)
    counterfactual = counterfactual.deciding(named=bool(metrics))
    days = arrivals(log) if log.has("timestamp", "unit_id") else ()
    wanted = [] if lifts is None and differences else lifts_of(lifts)
    reaches, refused = [], dict[str, str]()
    for one in counterfactual.measured:
        for policy, validity in one.validity.items():
            if not validity.holds:
                refused[policy] = validity.reason
                continue
            reaches.append(_reach(one.panel, policy, counterfactual.baseline, goal, wanted, differences, days))
    return PolicyPlan(reaches, goal, tuple(days), log, counterfactual, refused)


def _reach(
    panel: Panel, policy: str, baseline: str, goal: PowerGoal, lifts: Sequence[float], differences: Sequence[float], days: Sequence[int]
) -> MetricPower:  # fmt: skip
    pair = panel.pair(policy, baseline)
    value, sample = pair.baseline_sample.mean, pair.means
    deviation, count = sample.error * math.sqrt(sample.count), goal.n or sample.count
    detects = detectable_difference(count, deviation, goal.power, goal.each, sample.freedom)
    targets = []
    for difference in filter(None, (*(lift * abs(value) for lift in lifts), *differences)):
        needed = queries_needed(deviation, difference, goal.power, goal.each, pilot=sample.freedom)
        targets.append(LiftTarget(difference, as_lift(difference, value), needed, days_until(needed, days)))
    known = value, deviation, count, detects, as_lift(detects, value), tuple(targets)
    return MetricPower(panel.name, "primary", *known, 0.0, goal.power, goal.each, 1.0, policy, baseline)


@dataclass(frozen=True, eq=False, repr=False)
class PolicyPlan(LogPlan):
    """The differences of policies that a log like this one can show, and the users that each lift needs. ``exit_code`` is 4 if a policy is refused."""

    log: Log  # type: ignore[misc] # declared for all plans
    counterfactual: Counterfactual
    refused: Mapping[str, str] = field(default_factory=dict)

    caption = "If users differ as in this log."

    noun = property(attrgetter("counterfactual.event_log.noun"), doc="The name of a unit.")
    warnings = property(
        attrgetter("counterfactual.cautions"), doc="Warnings about the log and its support for the policies."
    )

    @property
    def exit_code(self) -> int:
        """0, or 4 if the log does not support a policy."""
        return 4 if self.refused else 0

    @property
    def conventions(self) -> dict[str, Any]:
        """The goal of the plan, and the policies."""
        event_log = self.counterfactual.event_log
        return {
            **self.goal.record(), "planned_units": self.goal.n, "unit": self.noun, "days": len(self.arrivals) or None,
            "baseline": self.counterfactual.baseline, "reward": event_log.reward, "forced": self.counterfactual.force,
        }  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        """Messages about the log."""
        return [*super().notes, *self.counterfactual.event_log.notes]

    def sentences(self) -> Iterator[str]:
        """Yield the difference of each policy that the users at hand can show, and refusals."""
        yield from super().sentences()
        for policy, reason in self.refused.items():
            yield f"The plan for {policy} is refused: {reason}. --force prints it all the same."

    def small_print(self) -> Iterator[str]:
        """Yield the assumptions of the plan."""
        yield f"for {words.plural(self.noun)} like these, logged by the same policy"
        yield "all policies earn on the same events"
        yield f"two-sided t test, power {words.percent(self.goal.power)}, alpha {words.amount(self.goal.each)}"
