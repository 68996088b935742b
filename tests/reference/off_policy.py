"""Off-policy estimators in plain loops, over rows of (reward, propensity, target, user)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Rows = Sequence[tuple[Any, ...]]


def value(name: str, rows: Rows) -> float:
    """The estimate of IPS, SNIPS or BetaIPS."""
    above = below = squared = pulled = 0.0
    for reward, propensity, target, _ in rows:
        weight = target / propensity
        above += weight * reward
        below += weight
        squared += weight * weight - weight
        pulled += (weight * weight - weight) * reward
    if name == "IPS":
        return float(above / len(rows))
    if name == "SNIPS":
        return float(above / below)
    beta = pulled / squared
    return float(
        sum(target / propensity * (reward - beta) + beta for reward, propensity, target, _ in rows) / len(rows)
    )


def error_by_user(rows: Rows) -> float:
    """The standard error of SNIPS between users, by the delta method."""
    centre = value("SNIPS", rows)
    sums: dict[Any, float] = {}
    below = 0.0
    for reward, propensity, target, user in rows:
        weight = target / propensity
        below += weight
        sums[user] = sums.get(user, 0.0) + weight * (reward - centre)
    users = len(sums)
    return math.sqrt(users / (users - 1) * sum(part * part for part in sums.values())) / below


def effective_clicks(rows: Rows) -> float:
    """(sum w r)^2 / sum (w r)^2."""
    earned = [target / propensity * reward for reward, propensity, target, _ in rows]
    return float(sum(earned) ** 2 / sum(x * x for x in earned))
