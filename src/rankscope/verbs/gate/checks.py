"""The checks of a gate, and its rule: when a check passes, when it fails, and when it cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.base import Bounds, is_significant
from rankscope.logs.base import OnlineMetric
from rankscope.metrics import Metric
from rankscope.panels.contrast import Contrast
from rankscope.panels.families import interval_at
from rankscope.panels.method import FEWEST, Margin, Method
from rankscope.panels.tolerance import (
    ROUNDING,
    LossEvidence,
    differing_clusters,
    evidence_of_loss,
    largest_loss,
    losses_alone,
    queries_to_settle,
)

Status = Literal["pass", "fail", "cannot tell", "withheld"]
FailOn = Literal["loss", "tolerance"]
NOTHING, LOSSES, FLIPS, NO_SPREAD = "nothing changed", "losses alone", "sign flips", "no spread"
DIGITS = 4  # decimals of a change on a scale from 0 to 1


@dataclass(frozen=True)
class Check:
    """One metric on all queries, or on the queries of a ``slice``.

    ``difference`` is the gain of the candidate over the baseline: below 0 for a loss, also if lower is better. ``lower`` and
    ``upper`` are the ends of its interval, by which a check passes; ``lower_adjusted`` and ``upper_adjusted`` are corrected as
    ``p_value_adjusted`` is, by which it fails. They are NaN if no interval was used. ``loss`` is the loss of the mean if only the
    queries that got worse count, ``loss_upper`` the largest one that is not ruled out if too few queries differ for an interval. ``p_value`` comes from the test behind a failure, and ``loses`` is true if the test sees a loss.
    ``left_out`` counts the queries that have a value in one run only, ``differing_clusters`` the clusters in which a query differs,
    if there are clusters. ``queries_needed`` is the number that would settle the check if the difference stayed as it is, None if it
    is settled or no number would.

    In the gate of an experiment ``queries`` are users, none of whom has a value in both variants, so ``loss`` is NaN. ``variant`` is
    the variant that is checked, if there are several.
    """

    contrast: Contrast = field(repr=False, compare=False)
    metric: str
    slice: str | None
    variant: str
    better: str
    baseline_value: float
    value: float
    difference: float
    lower: float
    upper: float
    loss: float
    loss_upper: float
    tolerance: float
    tolerance_said: str
    test: str
    p_value: float
    loses: bool
    queries: int
    differing: int
    differing_clusters: int | None
    wins: int
    losses: int
    ties: int
    left_out: int
    method: str
    digits: int
    reason: str
    queries_needed: int | None
    p_value_adjusted: float = math.nan
    lower_adjusted: float = math.nan
    upper_adjusted: float = math.nan
    status: Status = "cannot tell"

    @property
    def name(self) -> str:
        """The metric, the variant if there are several, and the slice if it is on one."""
        variant = f" of {self.variant}" if self.variant else ""
        return f"{self.metric}{variant}" if self.slice is None else f"{self.metric}{variant} [{self.slice}]"

    @property
    def few(self) -> bool:
        """True if too few queries, or clusters, differ for an interval."""
        return (self.differing if self.differing_clusters is None else self.differing_clusters) < FEWEST

    @property
    def margin(self) -> float:
        """The distance of the largest loss that is not ruled out from the tolerance; below 0 beyond it."""
        if not math.isnan(self.lower):
            return self.tolerance + self.lower
        return -math.inf if math.isnan(self.loss) else self.tolerance - self.possible_loss

    @property
    def possible_loss(self) -> float:
        """The loss that counts without an interval: the largest possible one, or the loss that all units had."""
        return self.loss_upper if self.method == LOSSES else self.loss

    @property
    def deciding(self) -> tuple[float, float]:
        """The interval that decided: the plain one if the check passes, otherwise the corrected one; NaN if there is none."""
        return (self.lower, self.upper) if self.status == "pass" else (self.lower_adjusted, self.upper_adjusted)

    @property
    def tolerance_in_words(self) -> str:
        """The tolerance as a number, and as a share if it was given as one."""
        share = f" ({self.tolerance_said})" if "%" in self.tolerance_said else ""
        return f"{words.number(self.tolerance, digits=self.digits_of_tolerance)}{share}"

    @property
    def digits_of_tolerance(self) -> int:
        """The decimals of the tolerance: those of the change, or more if these would show none of it."""
        return max(self.digits, words.decimals_for(self.tolerance) - 1)


def draft_check(c: Contrast, allowance: Margin, fail_on: FailOn, part: str | None = None, variant: str = "") -> Check:
    """Return what is known about a contrast; the status waits for all checks."""
    panel, by_unit, beyond = c.panel, c.pair.by_unit, fail_on == "tolerance"
    tolerance = allowance.of(c.baseline_value)
    clusters = differing_clusters(c) if by_unit else None
    bounds, evidence = c.bounds, LossEvidence(math.nan, loses=False, by_flips=False)
    if (c.queries if not by_unit else c.differing if clusters is None else clusters) < FEWEST:
        bounds = Bounds.none(f"fewer than {FEWEST} {words.plural(panel.measure.unit)}")
    else:
        evidence = evidence_of_loss(c, tolerance if beyond else 0.0)
    lower, upper = _gains(bounds, panel.sign)
    return Check(
        c, panel.name, part, variant, panel.better, c.baseline_value, c.value, panel.sign * c.difference, lower, upper,
        loss=losses_alone(c) if by_unit else math.nan, loss_upper=largest_loss(c) if by_unit else math.nan, tolerance=tolerance, tolerance_said=str(allowance), test=c.test,
        p_value=evidence.p_value, loses=evidence.loses, queries=c.queries, differing=c.differing, differing_clusters=clusters,
        wins=c.wins, losses=c.losses, ties=c.queries - c.differing, left_out=c.pair.undefined_for_one,
        method=_method_of(c, bounds, evidence), digits=DIGITS if panel.measure.decimals is None else panel.measure.decimals,
        reason=f"the interval is missing ({bounds.reason})",
        queries_needed=queries_to_settle(c, tolerance, beyond) if bounds.known else None,
    )  # fmt: skip


def _gains(bounds: Bounds, sign: int) -> tuple[float, float]:
    """Return the ends of an interval of a difference as ends of a gain."""
    return (bounds.lower, bounds.upper) if sign > 0 else (-bounds.upper, -bounds.lower)


def _method_of(c: Contrast, bounds: Bounds, evidence: LossEvidence) -> str:
    """Return the basis of a check."""
    means = c.pair.means
    if not (c.differing or means.differing):  # by its weight a query may add more to one mean than to the other
        return NOTHING
    if bounds.known:
        return f"{bounds.method} interval"
    if c.pair.by_unit:
        return FLIPS if evidence.by_flips else LOSSES
    return NO_SPREAD if c.queries >= FEWEST and means.error <= means.rounding else "no interval"


# --- the rule ---------------------------------------------------------------------------------------------


def refuse_undirected(metric: Metric | OnlineMetric) -> None:
    """Refuse a metric without a better direction, in which nothing can be lost. Raises InputError."""
    if metric.better == "neither":
        raise InputError(f"{metric} has no better direction: leave it out of the gate")


def settle_checks(drafts: Sequence[Check], fail_on: FailOn, method: Method) -> list[Check]:
    """Return the checks with their status; a failure must be clear after correction over all of them.

    A check without a test does not count for the correction (Tarone 1990). If not every check passes, a proved loss fails, even within
    the tolerance.
    """
    p_values = np.array([check.p_value for check in drafts])
    adjusted = method.correction.adjusted(p_values).tolist()
    levels = method.correction.levels(p_values, method.alpha).tolist()
    checks = [_settle_check(*each, fail_on, method) for each in zip(drafts, adjusted, levels, strict=True)]
    if fail_on == "tolerance" or all(check.status == "pass" for check in checks):
        return checks
    reason = "a loss is proved, within the tolerance, but not every check passes"
    return [
        replace(c, status="fail", reason=reason) if c.status == "pass" and _is_proved(c, 0.0, method) else c
        for c in checks
    ]


def _settle_check(check: Check, p_value: float, level: float, fail_on: FailOn, method: Method) -> Check:
    floor = -check.tolerance if fail_on == "tolerance" else 0.0
    lower, upper = _corrected_interval(check, p_value, level, floor, method)
    check = replace(check, p_value_adjusted=p_value, lower_adjusted=lower, upper_adjusted=upper)
    status, reason = _status(check, fail_on, floor, method)
    unsettled = status == "cannot tell" and (check.queries_needed or 0) > check.queries
    return replace(check, status=status, reason=reason, queries_needed=check.queries_needed if unsettled else None)


def _corrected_interval(
    check: Check, p_value: float, level: float, floor: float, method: Method
) -> tuple[float, float]:
    """Return the interval at the level that the correction leaves; it holds the floor exactly if the test is not significant."""
    lower, upper = check.lower, check.upper
    if not (math.isnan(lower) or math.isnan(level) or math.isclose(level, method.alpha, rel_tol=1e-12)):
        lower, upper = _gains(interval_at(check.contrast, 1 - level), check.contrast.panel.sign)
    if not is_significant(p_value, method.alpha) or check.loses != (check.difference < floor):
        return min(lower, floor), max(upper, floor)
    return (math.nan, math.nan) if lower < floor < upper else (lower, upper)


def _status(check: Check, fail_on: FailOn, floor: float, method: Method) -> tuple[Status, str]:
    """Return the status of one check by the rule, and its reason."""
    proved = _is_proved(check, floor, method)
    if check.method == NOTHING:
        return "pass", "nothing changed" if math.isnan(
            check.loss
        ) else f"no {check.contrast.panel.measure.unit} changed"
    if check.method == NO_SPREAD and check.difference > -check.tolerance:
        return "pass", "all units of a variant have the same value, and no loss is above the tolerance"
    if math.isnan(check.lower) and math.isnan(check.loss):  # no user of a variant is known to have lost
        return ("fail", "a loss is proved") if proved else ("cannot tell", check.reason)
    if math.isnan(check.lower):
        if proved and check.loss > check.tolerance + ROUNDING:
            alike = f"every {check.contrast.panel.measure.unit} lost the same"
            return "fail", alike if check.method == FLIPS else "the loss is proved"
        within = check.possible_loss <= check.tolerance + ROUNDING
        ruled = "ruled out" if within else "not ruled out"
        return "pass" if within else "cannot tell", f"a loss above the tolerance is {ruled} without an interval"
    if check.lower > -check.tolerance:
        return "pass", f"a loss above the tolerance is ruled out ({words.percent(method.level)} interval)"
    if proved:
        return "fail", "a loss is proved" if fail_on == "loss" else "a loss above the tolerance is proved"
    if fail_on == "tolerance":
        return "cannot tell", "the tolerance is inside the interval"
    return "cannot tell", "the interval reaches beyond the tolerance, and no loss is proved"


def _is_proved(check: Check, floor: float, method: Method) -> bool:
    """True if the mean lies below a floor, the test sees a loss, and that is more than chance."""
    return check.difference < floor and check.loses and is_significant(check.p_value_adjusted, method.alpha)
