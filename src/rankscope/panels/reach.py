"""What queries can show about two runs: the smallest difference, and how many queries other differences would need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from rankscope.inference.base import CLOSE, Sample
from rankscope.inference.power import Detectable, detectable, power_of, queries_needed, shown_by
from rankscope.panels.panel import PairedValues, Panel


@dataclass(frozen=True)
class Aim:
    """What is planned for: the power, the false differences accepted over all comparisons, and ``n`` queries if not those at hand."""

    power: float = 0.8
    alpha: float = 0.05
    comparisons: int = 1
    n: int | None = None

    @property
    def each(self) -> float:
        """The false differences accepted in each comparison: alpha over their number, as Bonferroni."""
        return self.alpha / self.comparisons


@dataclass(frozen=True)
class Wanted:
    """A difference that is to be shown, and what it takes.

    ``queries`` are needed, ``low`` to ``high`` at the ends of the 95 % interval of the standard deviation (None where that is given,
    not estimated). ``power`` is the chance that the queries at hand, or those planned, find it. It is None without queries, and for
    the difference that was ``observed``: there it would only say again what the p-value says.
    """

    difference: float
    queries: int
    low: int | None = None
    high: int | None = None
    power: float | None = None
    observed: bool = False


UNKNOWN = Detectable(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Reach:
    """What can be shown about one run against another on one metric.

    ``queries`` are those at hand, ``difference`` is what was seen on them, run - baseline. ``deviation`` is the standard deviation of
    the differences, with clusters as large as those make it. Where nothing can be planned, ``reason`` says why.
    """

    metric: str = ""
    run: str = ""
    baseline: str = ""
    queries: int = 0
    differing: int = 0
    difference: float = math.nan
    deviation: float = math.nan
    detectable: Detectable = UNKNOWN
    wanted: tuple[Wanted, ...] = ()
    reason: str = ""

    @property
    def observed(self) -> Wanted | None:
        """What it takes to show the difference that was seen; None where there is none, or where others were asked for."""
        return next((wanted for wanted in self.wanted if wanted.observed), None)

    @property
    def asked(self) -> tuple[Wanted, ...]:
        """The differences that do not come from these queries."""
        return tuple(wanted for wanted in self.wanted if not wanted.observed)


def reach_of(
    field: Panel, pair: tuple[str, str], aim: Aim, differences: Sequence[float], observed: bool
) -> Reach:
    """What the queries of a metric can show about a run and a baseline."""
    run, baseline = pair
    paired = field.pair(run, baseline)
    sample = paired.means
    seen = (field.name, run, baseline, sample.count, paired.differing, sample.mean)
    if reason := _nothing_to_go_by(paired, field, pair):
        return Reach(*seen, deviation=sample.deviation, reason=reason)
    units, error = sample.freedom + 1, sample.error
    now = detectable(sample, aim.power, aim.each)
    ends = (now.low / now.difference, now.high / now.difference)
    spread = _Spread(error * math.sqrt(units), sample.count / units, ends)
    future = units if aim.n is None else max(int(aim.n * units / sample.count + CLOSE), 2)
    wanted = [spread.wanted(size, aim, future) for size in differences]
    if observed and abs(sample.mean) > CLOSE * _scale(paired):
        wanted.append(spread.wanted(abs(sample.mean), aim, None, observed=True))
    return Reach(
        *seen,
        deviation=error * math.sqrt(sample.count),
        detectable=now if aim.n is None else spread.detectable(future, aim),
        wanted=tuple(wanted),
    )


def reach_by(deviation: float, aim: Aim, differences: Sequence[float]) -> Reach:
    """What can be shown where the standard deviation of the differences is known from elsewhere."""
    spread = _Spread(deviation)
    return Reach(
        deviation=deviation,
        detectable=UNKNOWN if aim.n is None else spread.detectable(aim.n, aim),
        wanted=tuple(spread.wanted(size, aim, aim.n) for size in differences),
    )


@dataclass(frozen=True)
class _Spread:
    """How differences vary: between units, which are queries, or clusters of so many queries ``each``.

    ``ends`` are those of the interval of the deviation, in parts of it.
    """

    deviation: float
    each: float = 1.0
    ends: tuple[float, float] | None = None

    def detectable(self, units: int, aim: Aim) -> Detectable:
        found = shown_by(units, self.deviation, aim.power, aim.each)
        if self.ends is None:
            return Detectable(found, math.nan, math.nan)
        return Detectable(found, self.ends[0] * found, self.ends[1] * found)

    def wanted(self, difference: float, aim: Aim, units: int | None, observed: bool = False) -> Wanted:
        """What it takes to show a difference; ``units`` are those of which the power is asked, if any."""

        def needed(part: float) -> int:
            count = queries_needed(part * self.deviation, difference, aim.power, aim.each)
            return count if self.each == 1 else math.ceil(count * self.each - CLOSE)

        low, high = (None, None) if self.ends is None else map(needed, self.ends)
        power = None if units is None else power_of(self.deviation, difference, units, aim.each)
        return Wanted(
            difference, needed(1.0), low, high, power, observed=units is None and self.ends is not None
        )


def _nothing_to_go_by(paired: PairedValues, field: Panel, pair: tuple[str, str]) -> str:
    """Why nothing can be planned from these queries; empty where something can."""
    sample, (run, baseline) = paired.means, pair
    both = f"both {run} and {baseline} on {field.name}"
    if sample.count < 2:
        count = "no query has" if not sample.count else "only one query has"
        return f"{count} a value for {both}, and two or more are needed to tell how queries vary"
    if not sample.freedom:
        return f"all queries with a value for {both} are in one cluster, and two or more are needed to tell how they vary"
    if _even(sample, _scale(paired)):
        what = "score the same" if not paired.differing else "differ by the same"
        return f"{run} and {baseline} {what} on all {sample.count:,} queries of {field.name}: without spread nothing can be planned"
    return ""


def _even(sample: Sample, scale: float) -> bool:
    """Whether the differences vary by no more than rounding does."""
    return bool(np.ptp(sample.values) <= CLOSE * scale) or sample.error <= CLOSE * scale


def _scale(paired: PairedValues) -> float:
    return max(float(np.abs(paired.run).max()), float(np.abs(paired.baseline).max()))


# --- over pairs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Middle:
    """The median over pairs of runs, and the ends of their range."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Overall:
    """What queries can show on a metric, over all pairs of runs for which something can be planned.

    ``queries`` and ``power`` hold, for each of ``differences``, how many queries it needs and the chance to find it.
    ``variance_within`` is that of queries within a run, pooled over runs, which the design for an analysis of variance takes.
    """

    metric: str
    pairs: int
    left_out: int
    deviation: Middle
    detectable: Middle
    differences: tuple[float, ...]
    queries: tuple[Middle, ...]
    power: tuple[Middle, ...]
    variance_within: float


def overall(field: Panel, reaches: Sequence[Reach]) -> Overall | None:
    """A metric over its pairs; None where nothing can be planned for any."""
    known = [reach for reach in reaches if not reach.reason]
    if not known:
        return None
    places = range(len(known[0].asked))

    def over(value: Callable[[Wanted], float | None]) -> tuple[Middle, ...]:
        return tuple(_middle([value(reach.asked[i]) or 0.0 for reach in known]) for i in places)

    return Overall(
        field.name,
        len(known),
        len(reaches) - len(known),
        _middle([reach.deviation for reach in known]),
        _middle([reach.detectable.difference for reach in known]),
        tuple(wanted.difference for wanted in known[0].asked),
        over(lambda wanted: wanted.queries),
        over(lambda wanted: wanted.power),
        _within(field),
    )


def _middle(values: Sequence[float]) -> Middle:
    return Middle(median(values), min(values), max(values))


def _within(field: Panel) -> float:
    """The variance of queries within systems, pooled over systems by their degrees of freedom."""
    samples = [field.sample_of_mean(system) for system in field.systems]
    parts = [(s.deviation**2 * (s.count - 1), s.count - 1) for s in samples if s.count > 1]
    return (
        math.fsum(total for total, _ in parts) / sum(freedom for _, freedom in parts) if parts else math.nan
    )


__all__ = ["Aim", "Middle", "Overall", "Reach", "Wanted", "overall", "reach_by", "reach_of"]
