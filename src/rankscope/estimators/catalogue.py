"""Estimators by name, and those that a log allows."""

from __future__ import annotations

from typing import Any

from rankscope.errors import InputError
from rankscope.estimators import single, slates  # noqa: F401 - declare their estimators
from rankscope.estimators.base import Estimator
from rankscope.estimators.events import LoggedEvents
from rankscope.estimators.single import DR, IPS, SNIPS
from rankscope.estimators.slates import IIPS, RIPS, SNIIPS, Clicked


def read_estimators(given: Any) -> list[Estimator]:
    """Read estimators: one, several, or texts that name several, each once.

    >>> read_estimators(["IPS, SNIPS(clip=50)", "DR"])
    [IPS, SNIPS(clip=50), DR]
    """
    out = Estimator.read_all(given)
    if not out:
        raise InputError("no estimator is named: give one, like SNIPS")
    return list(dict.fromkeys(each.ready() for each in out))


def usual(events: LoggedEvents, whole: bool) -> list[Estimator]:
    """Return the usual estimators of a log: for clicks under position bias, of lists, or of single items.

    ``whole`` is true if the target's probability of every item is known, as reward models need.
    """
    if events.examination is not None:
        return [Clicked()]
    if not events.of_items:
        by_prefix = "prefix" in events.propensities or events.logging is not None
        return [SNIIPS(), IIPS(), *([RIPS()] if by_prefix else [])]
    return [SNIPS(), IPS(), *([DR()] if whole else [])]
