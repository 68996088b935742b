"""A margin: a difference that would not matter, or a loss that is accepted, as a number or as a share of the baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rankscope import words
from rankscope.errors import InputError
from rankscope.metrics import spelled

GUARDRAIL = re.compile(r"(.*\S)\s*=\s*([^()]*?)\s*", re.DOTALL)  # an = in brackets belongs to the metric


class HasRange(Protocol):
    """A metric with a range of values."""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value."""


@dataclass(frozen=True)
class Margin:
    """A margin as it was chosen: a number, or a share of the baseline's mean.

    >>> Margin(0.02, relative=True).of(-0.5), str(Margin(0.02, relative=True)), str(Margin(0.01))
    (0.01, '2% of the baseline', '0.01')
    """

    number: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """Return the margin as a number for a baseline with this mean."""
        return self.number * abs(baseline) if self.relative else self.number

    def __str__(self) -> str:
        return f"{self.number * 100:g}% of the baseline" if self.relative else f"{self.number:g}"

    def fitting(self, metric: HasRange) -> Margin:
        """Return this tolerance for a metric. Raises InputError if no loss could ever exceed it."""
        low, high = metric.range
        if not self.relative and self.number >= high - low:
            raise InputError(
                f"tolerance {self} for {metric}, which goes from {words.amount(low)} to {words.amount(high)}, would pass everything; "
                f"{self.number:g} percent of the baseline is written '{self.number:g}%'"
            )
        return self


def read_margin(value: Any, name: str, meaning: str = "a difference that would not matter") -> Margin:
    """Read a margin: a number above 0, or a percentage of the baseline. Raises InputError with ``name`` and ``meaning``.

    >>> read_margin("1%", "margin"), read_margin(0.01, "margin")
    (Margin(number=0.01, relative=True), Margin(number=0.01, relative=False))
    """
    if isinstance(value, Margin):
        return value
    share = words.as_share(value)
    if share is None or not 0 < share[0] < math.inf:
        raise InputError(
            f"{name}: {meaning} must be a number above 0, like 0.01, or a share of the baseline, like '1%'"
        )
    return Margin(*share)


def split_margin(guardrail: Any) -> tuple[Any, Any]:
    """Return a metric and its margin, or None: of a pair, or of a text like ``R@100=1%``.

    >>> split_margin("Mean(where='a=1')=1%"), split_margin("R@100"), split_margin(("R@100", 0.01))
    (("Mean(where='a=1')", '1%'), ('R@100', None), ('R@100', 0.01))
    """
    name, loss = guardrail if isinstance(guardrail, tuple) else (guardrail, None)
    if isinstance(name, str) and loss is None and (match := GUARDRAIL.fullmatch(name)):
        return match[1], match[2]
    return name, loss


def read_tolerance(value: Any, name: str) -> Margin:
    """Read the loss that a gate accepts: a number of at least 0, or a percentage up to 100%. Raises InputError with ``name``."""
    number, relative = words.as_share(value) or (math.nan, False)
    if not 0 <= number < math.inf or (relative and number > 1):
        raise InputError(
            f"{name} {value!r}: a tolerance must be a number of at least 0 like 0.01, or a percentage of the baseline like '2%'"
        )
    return Margin(number, relative)


def read_margins(margin: Any) -> Margin | Mapping[str, Margin] | None:
    """Read one margin for all metrics, or margins by the canonical name of each. Raises InputError for other values."""
    if margin is None:
        return None
    if not isinstance(margin, Mapping):
        return read_margin(margin, f"margin={margin!r}")
    return {
        spelled(metric) or str(metric): read_margin(value, f"margin of {metric}: {value!r}")
        for metric, value in margin.items()
    }
