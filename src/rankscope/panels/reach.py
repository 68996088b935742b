"""What queries can detect about two systems: the smallest difference, and how many queries other differences need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from rankscope.inference.base import CLOSE, ROUNDED, Sample
from rankscope.inference.power import Detectable, detectable, detectable_difference, power_of, queries_needed
from rankscope.panels.panel import PairedValues, Panel


@dataclass(frozen=True)
class PowerGoal:
    """What is planned for: the power, the chance of a false difference over all comparisons, and ``n`` queries if not those at hand."""

    power: float = 0.8
    alpha: float = 0.05
    comparisons: int = 1
    n: int | None = None

    @property
    def each(self) -> float:
        """The level of each comparison: alpha over their number, as Bonferroni."""
        return self.alpha / self.comparisons

    def record(self) -> dict[str, Any]:
        """What is planned for, as JSON has it."""
        return {"power": self.power, "alpha": self.alpha, "comparisons": self.comparisons, "alpha_of_each": self.each}


@dataclass(frozen=True)
class Target:
    """A difference, and what it takes to detect it.

    ``queries`` are needed, ``low`` to ``high`` at the ends of the 95% interval of the standard deviation (None where that is given,
    not estimated). ``power`` is the chance that the queries at hand, or those planned, detect it. It is None without queries, and for
    the difference that was ``observed``: there it would only repeat the p-value.
    """

    difference: float
    queries: int
    low: int | None = None
    high: int | None = None
    power: float | None = None
    observed: bool = False


UNKNOWN = Detectable(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class PairPower:
    """What can be detected about one run against another on one metric.

    ``queries`` are those at hand, ``difference`` is the observed one, run - baseline. ``deviation`` is the standard deviation of
    the differences, with clusters as large as those make it. ``targets`` are the differences to detect; ``observed`` is the last of
    them where the observed difference is one. Where nothing can be planned, ``reason`` says why.
    """

    metric: str = ""
    run: str = ""
    baseline: str = ""
    queries: int = 0
    differing: int = 0
    difference: float = math.nan
    deviation: float = math.nan
    detectable: Detectable = UNKNOWN
    targets: tuple[Target, ...] = ()
    reason: str = ""

    @property
    def observed_target(self) -> Target | None:
        """What it takes to detect the observed difference; None where there is none, or where other differences were named."""
        return next((target for target in self.targets if target.observed), None)

    @property
    def chosen_targets(self) -> tuple[Target, ...]:
        """The targets that do not come from these queries."""
        return tuple(target for target in self.targets if not target.observed)


def reach_of(
    panel: Panel, pair: tuple[str, str], goal: PowerGoal, differences: Sequence[float], observed: bool
) -> PairPower:
    """What the queries of a panel can detect about a run and a baseline."""
    run, baseline = pair
    paired = panel.pair(run, baseline)
    sample = paired.means
    known = (panel.name, run, baseline, sample.count, paired.differing, sample.mean)
    if reason := _no_spread(paired, panel, pair):
        return PairPower(*known, deviation=sample.deviation, reason=reason)
    units, error = sample.freedom + 1, sample.error  # of unequal clusters as many of one size as say as much
    now = detectable(sample, goal.power, goal.each)
    ends = (now.low / now.difference, now.high / now.difference)
    spread = _Spread(error * math.sqrt(units), sample.count / units, ends, sample.freedom)
    future = units if goal.n is None else max(int(goal.n * units / sample.count + CLOSE), 2)
    targets = [spread.target(size, goal, future) for size in differences]
    if observed and abs(sample.mean) > ROUNDED * _scale(paired):
        targets.append(spread.target(abs(sample.mean), goal, None, observed=True))
    detects = now if goal.n is None else spread.detectable(future, goal)
    return PairPower(*known, error * math.sqrt(sample.count), detects, tuple(targets))


def reach_by(deviation: float, goal: PowerGoal, differences: Sequence[float]) -> PairPower:
    """What can be detected where the standard deviation of the differences is known from elsewhere."""
    spread = _Spread(deviation)
    detects = UNKNOWN if goal.n is None else spread.detectable(goal.n, goal)
    targets = tuple(spread.target(size, goal, goal.n) for size in differences)
    return PairPower(deviation=deviation, detectable=detects, targets=targets)


@dataclass(frozen=True)
class _Spread:
    """How differences vary between units, which are queries, or clusters of so many queries ``each``.

    ``ends`` are those of the interval of the deviation, in parts of it; ``pilot`` is its number of degrees of freedom, infinite for a known one.
    """

    deviation: float
    each: float = 1.0
    ends: tuple[float, float] | None = None
    pilot: float = math.inf

    def detectable(self, units: float, goal: PowerGoal) -> Detectable:
        size = detectable_difference(units, self.deviation, goal.power, goal.each, self.pilot)
        low, high = self.ends or (math.nan, math.nan)
        return Detectable(size, low * size, high * size)

    def target(self, difference: float, goal: PowerGoal, units: float | None, observed: bool = False) -> Target:
        """What it takes to detect a difference; the power is that of so many ``units``, if any."""

        def count_of(part: float) -> int:
            count = queries_needed(part * self.deviation, difference, goal.power, goal.each, pilot=self.pilot)
            return count if self.each == 1 else math.ceil(count * self.each - CLOSE)

        low, high = (None, None) if self.ends is None else map(count_of, self.ends)
        power = None if units is None else power_of(self.deviation, difference, units, goal.each, self.pilot)
        return Target(difference, count_of(1.0), low, high, power, observed)


def _no_spread(paired: PairedValues, panel: Panel, pair: tuple[str, str]) -> str:
    """Why nothing can be planned from these queries; empty where something can."""
    sample, (run, baseline) = paired.means, pair
    both = f"both {run} and {baseline} on {panel.name}"
    if sample.count < 2:
        count = "no query has" if not sample.count else "only one query has"
        return f"{count} a value for {both}: two or more are needed to see how queries vary"
    if not sample.freedom:
        return f"all queries with a value for {both} are in one cluster: two or more are needed to see how they vary"
    scale = _scale(paired)
    if np.ptp(sample.values) <= ROUNDED * scale or sample.error <= ROUNDED * scale:  # no more than rounding
        same = "score the same" if not paired.differing else "differ by the same"
        return f"{run} and {baseline} {same} on all {sample.count:,} queries of {panel.name}: without spread nothing can be planned"
    return ""


def _scale(paired: PairedValues) -> float:
    return max(float(np.abs(paired.run).max()), float(np.abs(paired.baseline).max()))


# --- over pairs -----------------------------------------------------------------------------------


def pairs_within_reach(panel: Panel, goal: PowerGoal) -> tuple[int, int, PairPower | None]:
    """Return the number of pairs with two units in common, the number that differ by less than can be detected, and the nearest of these."""
    every = (reach_of(panel, pair, goal, (), observed=False) for pair in combinations(panel.systems, 2))
    reaches = [reach for reach in every if reach.queries > 1]
    small = [r for r in reaches if not r.reason and 0 < abs(r.difference) < r.detectable.difference]
    nearest = min(small, key=lambda r: abs(r.difference) / r.detectable.difference, default=None)
    return len(reaches), len(small), nearest


@dataclass(frozen=True)
class MedianRange:
    """The median over pairs of runs, and the ends of their range."""

    median: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class TargetOverPairs:
    """A difference over all pairs: how many queries it needs, and the chance to detect it."""

    difference: float
    queries_needed: MedianRange
    power: MedianRange


@dataclass(frozen=True)
class Summary:
    """What queries can detect on a metric, over all pairs of runs for which something can be planned.

    ``variance_within_runs`` is that of queries within a run, pooled over runs, which the design for an analysis of variance takes.
    """

    metric: str
    pairs: int
    pairs_left_out: int
    deviation: MedianRange
    detectable_difference: MedianRange
    variance_within_runs: float
    wanted: tuple[TargetOverPairs, ...]


def summary_of(panel: Panel, reaches: Sequence[PairPower]) -> Summary | None:
    """A metric over its pairs; None where nothing can be planned for any."""
    known = [reach for reach in reaches if not reach.reason]
    if not known:
        return None
    targets = (
        TargetOverPairs(
            each[0].difference, _median_range([t.queries for t in each]), _median_range([t.power or 0.0 for t in each])
        )
        for each in zip(*(reach.chosen_targets for reach in known), strict=True)
    )
    deviation = _median_range([reach.deviation for reach in known])
    detects = _median_range([reach.detectable.difference for reach in known])
    return Summary(
        panel.name, len(known), len(reaches) - len(known), deviation, detects, _within(panel), tuple(targets)
    )


def summary_of_all_pairs(panel: Panel) -> Summary | None:
    """Return what the queries of a panel can detect about any two of its systems; None if nothing can be planned."""
    pairs = combinations(panel.systems, 2)
    return summary_of(panel, [reach_of(panel, pair, PowerGoal(), (), observed=False) for pair in pairs])


def _median_range(values: Sequence[float]) -> MedianRange:
    return MedianRange(median(values), min(values), max(values))


def _within(panel: Panel) -> float:
    """The variance of queries within systems, pooled over systems by their degrees of freedom."""
    samples = [s for s in map(panel.estimate, panel.systems) if isinstance(s, Sample)]
    parts = [(s.deviation**2 * (s.count - 1), s.count - 1) for s in samples if s.count > 1]
    return math.fsum(total for total, _ in parts) / sum(n for _, n in parts) if parts else math.nan
