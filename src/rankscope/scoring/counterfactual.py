"""Policies on the events of a log: the value of each by each estimator, the support of the log, and their panels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankscope import words
from rankscope.blocks import Caution, NumberText, Value
from rankscope.errors import InputError
from rankscope.estimators.base import Estimator
from rankscope.estimators.catalogue import read_estimators, usual
from rankscope.estimators.events import Earned, LoggedEvents, TargetPolicy
from rankscope.estimators.overlap import LogSupport, calibration, support_of
from rankscope.estimators.rewards import model_of
from rankscope.estimators.targets import Recorded
from rankscope.impressions import Log
from rankscope.inference.base import Bounds, Interval
from rankscope.lists import Array
from rankscope.panels.families import MAX_VALUES, Family, pairs_of, too_many_values
from rankscope.panels.method import VALID, Method, Validity
from rankscope.panels.panel import Panel
from rankscope.panels.ratios import panel_of
from rankscope.panels.samples import UNKNOWN, Measure, bounds_of
from rankscope.parallel import map_parts
from rankscope.scoring.events import LOGGED, TARGETS, EventLog, read_events, targets_of


@dataclass(frozen=True, eq=False)
class PolicyValue:
    """The value of a policy by one estimator (``settled``: with its chosen parameters). With a ``reason`` it is refused, and ``shown`` is NaN."""

    estimator: Estimator
    settled: Estimator
    policy: str
    value: float
    bounds: Bounds
    support: LogSupport
    decimals: int | None
    cautions: tuple[Caution, ...] = ()
    reason: str = ""

    @property
    def refused(self) -> bool:
        """True if the log cannot support the estimate."""
        return bool(self.reason)

    @property
    def shown(self) -> float:
        """The value, or NaN after a refusal."""
        return math.nan if self.refused else self.value

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the interval, NaN if there is none."""
        return (math.nan, math.nan) if self.refused else self.bounds.ends

    def write(self, number: float) -> str:
        """Return a number with the digits that the estimate has."""
        return words.number(number, digits=self.decimals)

    @property
    def cell(self) -> Value:
        """The value for a table."""
        return "refused" if self.refused else NumberText(words.in_table(self.write(self.value)), self.value)

    @property
    def interval_cell(self) -> Value:
        """The interval for a table."""
        if self.refused or not self.bounds.known:
            return None
        text = words.interval(*self.bounds.ends, digits=self.decimals)
        return self.bounds.around(self.value, words.in_table(text))


@dataclass(frozen=True, eq=False)
class Measured:
    """Policies by one estimator: their values, their panel, and their comparisons: of policies that the log supports, then of others."""

    estimator: Estimator
    settled: Mapping[str, Estimator]
    panel: Panel
    values: Sequence[PolicyValue]
    method: Method
    validity: Mapping[str, Validity]

    @cached_property
    def families(self) -> list[Family]:
        """The comparisons with the baseline; none if the error of the estimator is not known."""
        if self.estimator.fallible:
            return []
        first = self.panel.systems[0]
        supported = [name for name, validity in self.validity.items() if validity is VALID]
        apart = [([name], validity) for name, validity in self.validity.items() if name not in supported]
        out = []
        for names, validity in ([(supported, VALID)] if supported else []) + apart:
            own = self.panel.of_rows([self.panel.systems.index(name) for name in (first, *names)])
            out.append(Family([own], pairs_of(own.systems, first, all_pairs=False), self.method, first, validity))
            out[-1].check_margins()
        return out


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """Policies on the events of one log, the baseline first, by several estimators, the first of which leads."""

    event_log: EventLog
    policies: Mapping[str, TargetPolicy | None]
    estimators: Sequence[Estimator]
    method: Method
    force: bool = False

    @classmethod
    def of(  # noqa: PLR0913 - the options of estimate
        cls, log: Log, target: Any, estimators: Any = None, *, method: Method, baseline: Any = None, reward: str | None = None, logging: Any = None,
        model: Any = None, examination: Any = None, force: bool = False,
    ) -> Counterfactual:  # fmt: skip
        """Return the policies of a log, with options as for ``estimate``. Raises what ``estimate`` raises."""
        check_target(target, method)
        chosen = read_estimators(estimators) if estimators else []
        groups = tuple({str(by): "" for each in chosen if (by := getattr(each, "by", None))})
        fitted = model_of(model)
        event_log = read_events(
            log, reward=reward, logging=logging, examination=examination, features=not fitted.by_cell, categories=groups
        )
        targets = targets_of(event_log, target)
        policies: dict[str, TargetPolicy | None] = {LOGGED: None, **targets}
        first = LOGGED if baseline is None else str(baseline)
        if first not in policies:
            raise InputError(f"baseline {first!r}: no policy is called that{words.hint(first, policies)}")
        ordered = {first: policies[first], **{name: one for name, one in policies.items() if name != first}}
        events = replace(event_log.events, model=fitted, compared=tuple(ordered.values()))
        if not chosen:
            chosen = usual(events, whole=not any(isinstance(one, Recorded) for one in targets.values()))
        return cls(replace(event_log, events=events), ordered, chosen, method, force)

    def deciding(self, *, named: bool) -> Counterfactual:
        """Return all estimators if they were named, otherwise the first. Raises InputError for an estimator without a known error."""
        kept = self.estimators if named else self.estimators[:1]
        if fallible := next((one for one in kept if one.fallible), None):
            raise InputError(
                f"{fallible} has no interval to decide by, as the error of the reward model is not known: name DR or SNIPS"
            )
        return replace(self, estimators=kept)

    @property
    def baseline(self) -> str:
        """The policy that others are compared with."""
        return next(iter(self.policies))

    @cached_property
    def measured(self) -> list[Measured]:
        """All policies by each estimator."""
        longest_first = sorted(self.estimators, key=lambda estimator: not estimator.models)
        by_estimator = dict(zip(longest_first, map_parts(self._measured, longest_first), strict=True))
        return [by_estimator[estimator] for estimator in self.estimators]

    @property
    def values(self) -> list[PolicyValue]:
        """The value of each policy by each estimator."""
        return [value for one in self.measured for value in one.values]

    @property
    def calibrated(self) -> list[tuple[Caution, bool]]:
        """The caution about propensities that frequencies contradict, if they do, and True if it refuses estimates."""
        events = self.event_log.events
        outcome = events.share("calibration", lambda: calibration(events))
        return [outcome] if outcome else []

    @cached_property
    def cautions(self) -> list[Caution]:
        """The cautions about the log, its propensities and its support for each policy."""
        log_cautions = [*self.event_log.cautions, *(caution for caution, _ in self.calibrated)]
        return list(dict.fromkeys([*log_cautions, *(caution for value in self.values for caution in value.cautions)]))

    def _measured(self, estimator: Estimator) -> Measured:
        under = {name: self.event_log.events.under(policy) for name, policy in self.policies.items()}
        settled = {name: estimator.settled(events) for name, events in under.items()}
        panel, values = self.panel(estimator, settled), []
        for at, (name, events) in enumerate(under.items()):
            support = support_of(settled[name], events, name, self.event_log.noun)
            values.append(self._value(panel, estimator, settled[name], support, at))
        reasons = {value.policy: value.reason for value in values}
        first, *others = self.policies
        validity = {name: Validity.unless(not (why := reasons[name] or reasons[first]), why, 4) for name in others}
        return Measured(estimator, settled, panel, values, self._method_of(estimator), validity)

    def slices(self, attributes: Sequence[str], measured: Measured) -> tuple[dict[tuple[str, str], Panel], list[str]]:
        """Return the panel within each value of the columns, by one estimator, and notes about columns that are left out."""
        panels, notes = {}, []
        for attribute in attributes:
            column = self.event_log.read(attribute)[attribute].cast(str, strict=False).fill_null("")
            values = sorted(column.unique())
            if len(values) > MAX_VALUES:
                notes.append(too_many_values(attribute, len(values)))
                continue
            for value in values:
                inside = (column == value).to_numpy()
                panels[attribute, value or "(empty)"] = self.panel(measured.estimator, measured.settled, inside)
        return panels, notes

    def panel(self, estimator: Estimator, settled: Mapping[str, Estimator], inside: Array | None = None) -> Panel:
        """Return the panel of policies on units, or on rows with their units as clusters for an interval of a range."""
        events, totals = self.event_log.events, {}
        by_range = self.method.interval is not None and self.method.interval.by_range
        kept = None if inside is None else events.sum_units(inside) > 0
        for name, policy in self.policies.items():
            earned = settled[name].earn(events.under(policy))
            if inside is not None:
                earned = Earned(tuple((np.where(inside, a, 0.0), np.where(inside, b, 0.0)) for a, b in earned.parts))
            sums = _rows_of(earned, events, estimator) if by_range else earned.totals(events)
            totals[name] = sums if kept is None or by_range else sums[kept]
        signed = any((table[:, ::2] < 0).any() for table in totals.values())
        measure = Measure(
            str(estimator), estimator.better or "higher", UNKNOWN if signed else (0.0, np.inf), unit=self.event_log.noun
        )
        clusters = None
        if by_range:
            clusters = events.unit[events.starts] if estimator.per == "list" else events.unit
        return panel_of(measure, totals, paired=True, clusters=clusters)

    def _method_of(self, estimator: Estimator) -> Method:
        """Return the method; differences of values within a range have twice its width."""
        interval: Any = self.method.interval
        if interval is None or not interval.by_range:
            return self.method
        width = interval.high - interval.low
        test = None if self.method.test is None else self.method.test.having(low=-width, high=width)
        return replace(self.method, interval=interval.having(low=-width, high=width), test=test)

    def _value(
        self, panel: Panel, estimator: Estimator, settled: Estimator, support: LogSupport, at: int
    ) -> PolicyValue:
        support_cautions = list(support.cautions()) if support.policy != LOGGED else []
        against = [*support_cautions, *(self.calibrated if support.weighs and support.policy != LOGGED else [])]
        reason = "" if self.force else next((caution.message for caution, refuses in against if refuses), "")
        bounds = interval_of(panel, at, self.method.interval, self.method.level, estimator)
        value, cautions = panel.estimate(panel.systems[at]).mean, tuple(caution for caution, _ in support_cautions)
        decimals = panel.measure.decimals
        if decimals is not None and bounds.known:  # another policy of the comparison may be far less certain
            decimals = max(decimals, words.decimals_for((bounds.upper - bounds.lower) / 2) - 1)
        return PolicyValue(estimator, settled, support.policy, value, bounds, support, decimals, cautions, reason)


def _rows_of(earned: Earned, events: LoggedEvents, estimator: Estimator) -> Array:
    """Return the earnings of each event. Raises InputError if the estimator divides by a random sum."""
    if estimator.normalised or len(earned.parts) > 1:
        raise InputError(f"{estimator} divides by a random sum, and bernstein needs a mean: use IPS, DR, IIPS or RIPS")
    ((above, below),) = earned.parts
    return np.stack([events.sum_lists(one) if estimator.per == "list" else one for one in (above, below)], axis=1)


def interval_of(panel: Panel, at: int, interval: Interval | None, level: float, estimator: Estimator) -> Bounds:
    """Return the interval of a policy's value. A self-normalised estimate of a constant reward has width 0."""
    if estimator.fallible and panel.systems[at] != LOGGED:
        return Bounds.none("the error of the reward model is not known")
    values = panel.values[at]
    bounds = bounds_of(panel.measure, values, None, interval, level, panel.clusters)
    constant = len(values) > 1 and np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max()))
    if constant and not bounds.known and estimator.normalised:
        value = panel.estimate(panel.systems[at]).mean
        return Bounds(value, value, "constant")
    return panel.measure.in_units(bounds)


def check_target(target: Any, method: Method) -> None:
    """Refuse to estimate without a policy, and by a test that looks at signs or ranks of weighted rows. Raises InputError."""
    if target is None or (isinstance(target, list) and not target):
        raise InputError(f"no policy to evaluate was given: --target is {TARGETS}")
    if method.test is not None and method.test.of in {"signs", "ranks"}:
        raise InputError(
            f"--test {method.test}: rows are weighted, so that their signs and ranks mean nothing: use t, permutation, bootstrap, anytime or bernstein"
        )
