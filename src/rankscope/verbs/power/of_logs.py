"""Plan an experiment from a log: what its users could show, how many users a lift needs, and how many days that takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankscope import words
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
from rankscope.panels.reach import Aim
from rankscope.verbs.power.experiment import ExperimentPlan, LiftTarget, MetricReach

USUAL_LIFTS = (0.01, 0.02, 0.05, 0.1)  # that people ask for, as shares of the value now


def plan_of_log(
    log: Log,
    metrics: Any,
    aim: Aim,
    *,
    lifts: Any = None,
    differences: Sequence[float] = (),
    covariates: Any = None,
    share: Any = None,
) -> ExperimentPlan:
    """What an experiment with users like those of a log could show.

    ``lifts`` are relative differences to detect (0.01, 0.02, 0.05 and 0.1 unless given), ``differences`` absolute ones. ``covariates``
    are as for ``experiment``, ``share`` is that of users who get the new variant (one half).
    """
    chosen = parse_online_metrics(metrics) if metrics else deciding_metrics(log)
    if not chosen:
        raise InputError(f"{log.label}: no metric was named: write one like -m CTR or -m 'Mean(column)'")
    part = _share(share)
    adjust = covariates_of(covariates, chosen)
    asked = list(dict.fromkeys([*chosen, *(other for others in adjust.values() for other in others)]))
    units = roll_up(log, asked)
    if aim.n is None and units.count < 4:
        raise DataError(f"{log.label}: {words.counted(units.count, units.noun)}, too few to plan from")
    days = arrivals(log) if log.has("timestamp") and units.unit == "unit_id" else ()
    wanted = [*([] if lifts is None and differences else _lifts(lifts)), *(("", size) for size in differences)]
    reaches = tuple(_reach(metric, units, adjust.get(metric, ()), aim, part, wanted, days) for metric in chosen)
    return ExperimentPlan(
        log, units, reaches, aim, part, tuple(days), {str(m): [*map(str, o)] for m, o in adjust.items()}
    )


def _reach(
    metric: OnlineMetric,
    units: UnitTotals,
    covariates: Sequence[OnlineMetric],
    aim: Aim,
    share: float,
    wanted: Sequence[Any],
    days: Sequence[int],
) -> MetricReach:
    value, deviation = _deviation(metric, units, covariates)
    count = aim.n or units.count
    detects = detectable_of_variants(count, deviation, aim.power, aim.each, share)
    targets = []
    for kind, size in wanted:
        difference = size * abs(value) if kind == "lift" else size
        if not difference:
            continue
        needed = units_needed(deviation, difference, aim.power, aim.each, share)
        targets.append(
            LiftTarget(difference, difference / abs(value) if value else math.nan, needed, _days(needed, days))
        )
    return MetricReach(
        metric, value, deviation, count, detects, detects / abs(value) if value else math.nan, tuple(targets)
    )


def _deviation(metric: OnlineMetric, units: UnitTotals, covariates: Sequence[OnlineMetric]) -> tuple[float, float]:
    """The value of a metric, and the standard deviation between units of what it is made of (linearised)."""
    if isinstance(metric, Quantile):
        return deviation_of_quantile(metric, units)
    columns = [units.columns(metric), *(units.columns(other) for other in covariates)]
    moments = Moments.of_set(np.column_stack(columns))
    if not moments.mean[1]:
        raise DataError(f"{metric}: nothing is below the line ({metric.below or 'no value'})")
    return deviation_of_units(moments, len(covariates))


def _days(needed: int, days: Sequence[int]) -> int | None:
    """How many days it takes until so many users came, at the pace of the later half of the days; None where no days are known."""
    if not days:
        return None
    came = 0
    for number, new in enumerate(days, start=1):
        came += new
        if came >= needed:
            return number
    later = days[len(days) // 2 :]
    pace = sum(later) / len(later)
    return len(days) + math.ceil((needed - came) / pace) if pace else None


def _lifts(said: Any) -> list[tuple[str, float]]:
    """Lifts as shares: 0.02 or 2%."""
    if said is None or said in ((), []):
        return [("lift", size) for size in USUAL_LIFTS]
    out = []
    for one in [said] if isinstance(said, str | int | float) else said:
        found = words.as_share(one)
        if found is None or not 0 < found[0] < math.inf:
            raise InputError(f"lift={one}: a lift is a number above 0, like 0.02 or 2%")
        out.append(("lift", found[0]))
    return sorted(out)


def _share(said: Any) -> float:
    number = 0.5 if said is None else words.as_number(said)
    if number is None or not 0 < number < 1:
        raise InputError(f"share={said!r}: the share of users who get the new variant is between 0 and 1, like 0.5")
    return float(number)
