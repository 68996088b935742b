"""Plan an evaluation of policies from a log: the difference to the policy that ran that its users can show, and the users that each lift needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rankscope import words
from rankscope.blocks import Caution
from rankscope.impressions import Log
from rankscope.inference.power import detectable_difference, queries_needed
from rankscope.logs.rollup import arrivals
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.reach import PowerGoal
from rankscope.scoring.counterfactual import Counterfactual
from rankscope.verbs.power.log import LiftTarget, LogPlan, MetricPower, as_lift, days_until, lifts_of


def plan_policies(
    log: Log, metrics: Any, goal: PowerGoal, *, lifts: Any = None, differences: Sequence[float] = (), **options: Any
) -> PolicyPlan:
    """Return the differences of policies that a log of this kind can show; ``options`` are those of ``estimate``."""
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

    @property
    def noun(self) -> str:
        """The name of a unit."""
        return self.counterfactual.event_log.noun

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

    @cached_property
    def warnings(self) -> Sequence[Caution]:  # type: ignore[override] # a plan of an experiment has none
        """The warnings about the log and its support for the policies."""
        return self.counterfactual.cautions

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
