"""How much worse a candidate may be: one tolerance for all metrics, or one for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from rankscope.errors import InputError
from rankscope.metrics import Metric, parse

USUAL = 0.01  # of a metric on a scale from 0 to 1


@dataclass(frozen=True)
class Allowance:
    """A tolerance as it was said: a number, or a share of the baseline's mean."""

    number: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """As a number, for a baseline with this mean."""
        return self.number * abs(baseline) if self.relative else self.number

    def __str__(self) -> str:
        return f"{self.number * 100:g}% of the baseline" if self.relative else f"{self.number:g}"


@dataclass(frozen=True)
class Tolerances:
    """The allowance of each metric: its own, else the general one, else 0.01 where the scale is from 0 to 1."""

    general: Allowance | None = None
    own: Mapping[Metric, Allowance] = field(default_factory=dict)

    def of(self, metric: Metric) -> Allowance:
        """The allowance of a metric. InputError where it has none, or one that nothing could ever exceed."""
        found = self.own.get(metric, self.general)
        low, high = metric.range
        if found is None:
            if not -1 <= low <= high <= 1:
                raise InputError(
                    f"{metric} is not on a scale from 0 to 1, so it needs a tolerance of its own, like --tolerance '{metric}=2%'"
                )
            return Allowance(USUAL)
        if not found.relative and found.number >= high - low:
            raise InputError(
                f"tolerance {found} for {metric}, which goes from {low:g} to {high:g}, would pass everything; "
                f"{found.number:g} percent of the baseline is written '{found.number:g}%'"
            )
        return found


class Settled(dict[str, Any]):
    """Tolerances by metric of a project: those of metrics that are not asked for wait for a call that asks for them."""


def tolerances_of(said: Any, metrics: Iterable[tuple[str, Metric]]) -> Tolerances:
    """The tolerances that were said, for metrics as they were asked for: a number, ``"2%"``, or a mapping of these by metric.

    In a mapping ``default`` stands for all metrics that are not named. Raises InputError for what is no tolerance, for a metric
    that is not asked for (which ``Settled`` may hold), and for a metric that has two.
    """
    if said is None:
        return Tolerances()
    if not isinstance(said, Mapping):
        return Tolerances(_allowance(said, "tolerance"))
    known = list(dict.fromkeys(metrics))
    own: dict[Metric, Allowance] = {}
    general, spelled = None, dict[Metric, Any]()
    for key, value in said.items():
        allowed = _allowance(value, f"tolerance of {key}")
        if key == "default":
            general = allowed
            continue
        for metric in _called(key, known, isinstance(said, Settled)):
            if metric in own:
                raise InputError(
                    f"tolerance of {key}: {metric} has one already, as {spelled[metric]}: give one"
                )
            own[metric], spelled[metric] = allowed, key
    return Tolerances(general, own)


def _called(key: Any, known: list[tuple[str, Metric]], spare: bool = False) -> list[Metric]:
    """The metrics that a tolerance is for; none where it is ``spare`` and nobody asks for it."""
    spelled = str(key)
    found = [metric for asked, metric in known if spelled in {asked, str(metric)}]
    if not found:
        meant = parse(key)
        found = [metric for _, metric in known if metric == meant]
    if not found and not spare:
        names = list(dict.fromkeys(str(metric) for _, metric in known))
        close = get_close_matches(spelled, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
        raise InputError(f"tolerance of {spelled}: the gate does not look at it, {hint}")
    return list(dict.fromkeys(found))


def _allowance(value: Any, name: str) -> Allowance:
    relative = isinstance(value, str) and value.strip().endswith("%")
    number = _number(value.strip().removesuffix("%") if isinstance(value, str) else value)
    if not 0 <= number < math.inf or (relative and number > 100):
        raise InputError(
            f"{name} {value!r}: a tolerance is a number of at least 0 like 0.01, or a percentage of the baseline like '2%'"
        )
    return Allowance(number / 100 if relative else number, relative)


def _number(value: Any) -> float:
    """A number, NaN for what is none."""
    try:
        return math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return math.nan
