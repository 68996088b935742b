"""One check of a gate: a metric on all queries or on a slice, and what is known about its loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rankscope.inference.base import Bounds, Sample
from rankscope.inference.intervals import without_interval
from rankscope.lists import Array
from rankscope.panels.contrast import interval_of, p_value_of
from rankscope.panels.method import FEWEST, POWER, Method
from rankscope.panels.panel import PairedValues, Panel
from rankscope.panels.samples import mean
from rankscope.panels.tolerance import Allowance

Status = Literal["pass", "fail", "cannot tell"]
FailOn = Literal["loss", "tolerance"]

NOTHING, LOSSES, FLIPS = "nothing changed", "losses alone", "sign flips"
UNPROMISED = (
    "no interval was used, and no error rate is promised: with so few differing queries a candidate that truly loses as much as "
    "the tolerance may pass in more than half of the cases"
)
ENDLESS = 10_000_000  # more queries than anyone has
ROUNDING = 1e-12  # a loss that exceeds its tolerance by less is rounding


@dataclass(frozen=True)
class Check:
    """One metric on all queries, or on the queries of a ``slice``.

    ``difference`` is how much better the candidate is than the baseline: below 0 it lost, also where lower is better. ``lower`` and
    ``upper`` are the ends of its interval, NaN where no interval was used; ``loss`` is what the mean loses where only the
    queries that got worse count. ``p_value`` is that of the test behind a failure. ``left_out`` counts the queries that have a
    value in one run only, ``differing_clusters`` the clusters in which a query differs, where there are clusters; ``queries_needed`` is how many would settle the check if the difference stayed as it is, None where it
    is settled or no number would.
    """

    metric: str
    slice: str | None
    baseline_value: float
    value: float
    difference: float
    lower: float
    upper: float
    loss: float
    tolerance: float
    allowed: str
    p_value: float
    queries: int
    differing: int
    wins: int
    losses: int
    method: str
    better: str = "higher"
    left_out: int = 0
    differing_clusters: int | None = None
    p_value_adjusted: float = math.nan
    status: Status = "cannot tell"
    reason: str = ""
    queries_needed: int | None = None

    @property
    def ties(self) -> int:
        """Queries on which both score the same."""
        return self.queries - self.differing

    @property
    def name(self) -> str:
        """The metric, and the slice if it is on one."""
        return self.metric if self.slice is None else f"{self.metric} [{self.slice}]"

    @property
    def few(self) -> bool:
        """Whether so few queries, or clusters, differ that no interval is tried."""
        return (self.differing if self.differing_clusters is None else self.differing_clusters) < FEWEST

    @property
    def margin(self) -> float:
        """How far the worst that is not ruled out stays within the tolerance; below 0 it does not."""
        worst = -self.loss if math.isnan(self.lower) else self.lower
        return worst + self.tolerance


def drafted(
    field: Panel, part: str | None, allowed: Allowance, fail_on: FailOn, method: Method
) -> Check | None:
    """What is known about a metric of two systems, the baseline first; the status waits for all checks. None without queries."""
    baseline, run = field.systems
    paired = field.pair(run, baseline)
    if not paired.queries:
        return None
    inside = field.within(paired.inside)
    before = inside.mean(baseline)
    tolerance = allowed.of(before)
    sample = paired.means if field.sign > 0 else paired.means.mirrored
    clusters = None if sample.clusters is None else _clusters(paired)
    few = (paired.differing if clusters is None else clusters) < FEWEST
    bounds = (
        Bounds.none("too few queries differ")
        if few
        else _turned(interval_of(paired, method, method.level, field), field.sign)
    )
    wins, losses = (int(np.count_nonzero(field.sign * side * paired.gains > 0)) for side in (1, -1))
    defined = ~np.isnan(field.values)
    return Check(
        metric=field.name,
        slice=part,
        baseline_value=before,
        value=inside.mean(run),
        difference=sample.mean,
        lower=bounds.lower,
        upper=bounds.upper,
        loss=_losses_alone(field, paired),
        tolerance=tolerance,
        allowed=str(allowed),
        p_value=math.nan if few else p_value_of(paired, method, field.sign * tolerance if fail_on == "tolerance" else 0.0),
        queries=paired.queries,
        differing=paired.differing,
        wins=wins,
        losses=losses,
        method=_method(paired, sample, bounds, few),
        better=field.better,
        left_out=int(np.count_nonzero(defined[0] != defined[1])),
        differing_clusters=clusters,
        queries_needed=_needed(sample, tolerance, fail_on, method) if bounds.known else None,
    )  # fmt: skip


def settled(drafts: Sequence[Check], fail_on: FailOn, method: Method) -> list[Check]:
    """The checks with their status: what fails must be clear after correction over all of them."""
    p_values = np.array([1.0 if math.isnan(c.p_value) else c.p_value for c in drafts])
    adjusted = method.correction.adjusted(p_values).tolist()
    checks = [_judged(c, p, fail_on, method) for c, p in zip(drafts, adjusted, strict=True)]
    if fail_on == "tolerance" or all(check.status == "pass" for check in checks):
        return checks
    return [_held_against(check, method) for check in checks]


def _held_against(check: Check, method: Method) -> Check:
    """A loss that is proved passes only where all checks pass, however small it is."""
    if check.status != "pass" or not check.difference < 0 or not check.p_value_adjusted < method.alpha:
        return check
    reason = "a loss is proved; it is within the tolerance, but not every check passes"
    return replace(check, status="fail", reason=reason)


def _judged(check: Check, adjusted: float, fail_on: FailOn, method: Method) -> Check:
    """The rule, for one check: it holds, or its loss is proved, or neither."""
    tested = not math.isnan(check.p_value)
    more = check.queries_needed
    floor = -check.tolerance if fail_on == "tolerance" else 0.0
    proved = tested and check.difference < floor and adjusted < method.alpha
    percent = f"{method.level:.0%}" if method.level * 100 % 1 < 1e-9 else f"{method.level:.1%}"
    status: Status = "cannot tell"
    if check.method == NOTHING:
        status, reason = "pass", "no query changed"
    elif math.isnan(check.lower):
        within = check.loss <= check.tolerance + ROUNDING
        status = "pass" if within else "fail" if proved else "cannot tell"
        reason = f"the losses alone, gains ignored, are {'within' if within else 'above'} the tolerance; no interval was used"
        if status == "fail":
            reason = "every query lost the same" if check.method == FLIPS else "the loss is proved"
    elif check.lower > -check.tolerance:
        status, reason = "pass", f"a loss above the tolerance is ruled out ({percent} interval)"
    elif proved:
        status = "fail"
        reason = "a loss is proved" if fail_on == "loss" else "a loss above the tolerance is proved"
    else:
        reason = "the interval reaches beyond the tolerance, and no loss is proved"
        if fail_on == "tolerance":
            reason = "the interval has the tolerance inside"
    return replace(
        check,
        status=status,
        reason=reason,
        p_value_adjusted=adjusted if tested else math.nan,
        queries_needed=more if status == "cannot tell" and (more or 0) > check.queries else None,
    )


def _turned(bounds: Bounds, sign: int) -> Bounds:
    """An interval of how much better the candidate is."""
    return bounds if sign > 0 else replace(bounds, lower=-bounds.upper, upper=-bounds.lower)


def _clusters(paired: PairedValues) -> int:
    """In how many clusters a query differs."""
    assert paired.means.clusters is not None
    return len(np.unique(paired.means.clusters[paired.swaps.values != 0]))


def _method(paired: PairedValues, sample: Sample, bounds: Bounds, few: bool) -> str:
    if not paired.differing and not sample.differing:
        return NOTHING
    if few:
        return LOSSES
    if bounds.known:
        return f"{bounds.method} interval"
    return FLIPS if without_interval(sample) and sample.freedom else LOSSES


def _losses_alone(field: Panel, paired: PairedValues) -> float:
    """What the mean loses if the queries that got better had stayed as they were."""
    assert field.metric is not None
    worse = (
        np.minimum(paired.run, paired.baseline) if field.sign > 0 else np.maximum(paired.run, paired.baseline)
    )
    after, before = (
        mean(field.metric, values, _weights(field, row, paired.inside))
        for row, values in ((1, worse), (0, paired.baseline))
    )
    return max(0.0, field.sign * (before - after))


def _weights(field: Panel, row: int, inside: Array) -> Array:
    return np.ones(int(inside.sum())) if field.weights is None else field.weights[row][inside]


def _needed(sample: Sample, tolerance: float, fail_on: FailOn, method: Method) -> int | None:
    """How many queries would settle a check at 80% power, if difference and spread stayed as they are."""
    from rankscope.inference.power import queries_needed

    to_pass = sample.mean + tolerance
    to_fail = -sample.mean - (tolerance if fail_on == "tolerance" else 0.0)
    deviation = sample.error * math.sqrt(sample.count)  # as large as clusters make it
    gap = max(to_pass, to_fail)
    if not gap > ROUNDING or not deviation > 0:
        return None
    needed = queries_needed(deviation, gap, POWER, method.alpha)
    return needed if needed < ENDLESS else None
