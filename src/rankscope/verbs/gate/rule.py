"""The rule of a gate: when a check passes, when it fails, and when it cannot tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rankscope import words
from rankscope.errors import InputError
from rankscope.inference.base import is_significant
from rankscope.logs.base import OnlineMetric
from rankscope.metrics import Metric
from rankscope.panels.method import Method
from rankscope.panels.tolerance import ROUNDING, corrected_p
from rankscope.verbs.gate.checks import FLIPS, NO_SPREAD, NOTHING, Check, FailOn, Status


def refuse_undirected(metric: Metric | OnlineMetric) -> None:
    """Refuse a metric in which nothing can be lost, as no direction of it is better. Raises InputError."""
    if metric.better == "neither":
        raise InputError(f"{metric} is neither better nor worse when it is higher: leave it out of the gate")


def settle_checks(drafts: Sequence[Check], fail_on: FailOn, method: Method) -> list[Check]:
    """The checks with their status: what fails must be clear after correction over all of them.

    Where not every check passes, a loss that is proved fails, however small it is.
    """
    adjusted = corrected_p([check.p_value for check in drafts], method)
    checks = [
        _settle_check(replace(c, p_value_adjusted=p), fail_on, method) for c, p in zip(drafts, adjusted, strict=True)
    ]
    if fail_on == "tolerance" or all(check.status == "pass" for check in checks):
        return checks
    reason = "a loss is proved; it is within the tolerance, but not every check passes"
    return [
        replace(check, status="fail", reason=reason)
        if check.status == "pass" and _is_proved(check, 0.0, method)
        else check
        for check in checks
    ]


def _settle_check(check: Check, fail_on: FailOn, method: Method) -> Check:
    status, reason = _status(check, fail_on, method)
    unsettled = status == "cannot tell" and (check.queries_needed or 0) > check.queries
    return replace(check, status=status, reason=reason, queries_needed=check.queries_needed if unsettled else None)


def _status(check: Check, fail_on: FailOn, method: Method) -> tuple[Status, str]:
    """The rule, for one check: it holds, or its loss is proved, or neither; and why."""
    proved = _is_proved(check, -check.tolerance if fail_on == "tolerance" else 0.0, method)
    if check.method == NOTHING:
        return "pass", "nothing changed" if math.isnan(check.loss) else "no query changed"
    if check.method == NO_SPREAD and check.difference > -check.tolerance:
        return "pass", "all units of a variant have the same value, and no loss is above the tolerance"
    if math.isnan(check.lower) and math.isnan(check.loss):  # variants of an experiment: nobody is known to have lost
        return ("fail", "a loss is proved") if proved else ("cannot tell", check.reason)
    if math.isnan(check.lower):
        within = check.loss <= check.tolerance + ROUNDING
        if proved and not within:
            return "fail", "every query lost the same" if check.method == FLIPS else "the loss is proved"
        side = "within" if within else "above"
        reason = f"ignoring gains, the loss is {side} the tolerance; no interval was used"
        return "pass" if within else "cannot tell", reason
    if check.lower > -check.tolerance:
        return "pass", f"a loss above the tolerance is ruled out ({words.percent(method.level)} interval)"
    if proved:
        return "fail", "a loss is proved" if fail_on == "loss" else "a loss above the tolerance is proved"
    if fail_on == "tolerance":
        return "cannot tell", "the tolerance lies inside the interval"
    return "cannot tell", "the interval reaches beyond the tolerance, and no loss is proved"


def _is_proved(check: Check, floor: float, method: Method) -> bool:
    """Whether the mean lies below a floor, the test sees a loss, too, and that is more than chance."""
    return check.difference < floor and check.loses and is_significant(check.p_value_adjusted, method.alpha)
