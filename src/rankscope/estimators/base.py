"""The base of every estimator, and the choice of a parameter that trades bias for variance (SLOPE)."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

import numpy as np

from rankscope.declared import Param
from rankscope.estimators.events import Earned, Level, LoggedEvents
from rankscope.lists import Array
from rankscope.logs.base import Earning

Clip = Annotated[
    float | Literal["slope"] | None,
    Param("the largest weight: larger ones count as this number; 'slope' chooses it from the log", low=1.0),
]
STEPS = 12  # values that SLOPE tries


class Estimator(Earning, kind="estimator"):
    """Base of every estimator of the value of a policy. ``earn`` returns the sums that it is made of.

    ``level`` is the propensity that it divides by: of the item, of the list down to the item, or of the whole list (None: of nothing).
    ``per`` is the event that earns: a row, or a list. An ``unbiased`` estimator has the right mean if ``assumes`` holds; a ``normalised`` one
    divides by a random sum. ``fallible`` is true if its error is not known from the log, as that of a model. ``models`` is true if it needs a reward model, ``conditional`` if it needs the policy step by step.
    """

    level: ClassVar[Level | None] = "item"
    per: ClassVar[Literal["row", "list"]] = "row"
    unbiased: ClassVar[bool] = False
    normalised: ClassVar[bool] = False
    fallible: ClassVar[bool] = False
    models: ClassVar[bool] = False
    conditional: ClassVar[bool] = False
    assumes: ClassVar[str] = ""

    def earn(self, events: LoggedEvents) -> Earned:
        """Return what each row earns, out of what it weighs: by default the used weight x reward, out of rows."""
        used = self.used_weights(events)
        if used is None:
            raise TypeError(
                f"{type(self).__name__} defines no earn(): return what each row earns, out of what it weighs"
            )
        return Earned.of(events.weighted(used))

    def used_weights(self, events: LoggedEvents) -> Array | None:
        """Return the weight of each row as the estimator uses it, for diagnostics, or None if it works without weights."""
        return None if self.level is None else self.cut(events)

    def cut(self, events: LoggedEvents) -> Array:
        """Return the importance weights, limited as the estimator does it: by default at most ``clip`` each."""
        weights, clip = events.weights(self.level or "item"), getattr(self, "clip", None)
        return np.minimum(weights, clip) if isinstance(clip, float | int) else weights

    def settled(self, events: LoggedEvents) -> Estimator:
        """Return the estimator with every parameter ``'slope'`` chosen for these events."""
        found: Estimator = self
        for name in self.defaults:
            if getattr(self, name) == "slope":
                found = slope(found, name, events)
        return found


def slope(estimator: Estimator, name: str, events: LoggedEvents) -> Estimator:
    """Return the estimator with the parameter ``name`` chosen by SLOPE: the least variance whose intervals agree with all less biased ones.

    Candidates are quantiles of the weights, the largest first. Source: Su, Srinath and Krishnamurthy, Adaptive estimator selection for
    off-policy evaluation, ICML 2020.
    """
    weights = events.weights(estimator.level or "item")
    positive = weights[weights > 0]
    grid = np.unique(np.maximum(np.quantile(positive if len(positive) else 1.0, np.linspace(0.5, 1.0, STEPS)), 1.0))[
        ::-1
    ]
    low, high = -math.inf, math.inf
    chosen = estimator.having(**{name: float(grid[0])})
    for value in grid:
        candidate = estimator.having(**{name: float(value)})
        centre, error = centre_and_error(candidate.earn(events), events)
        low, high = max(low, centre - 2 * error), min(high, centre + 2 * error)
        if low > high:
            break
        chosen = candidate
    return chosen


def centre_and_error(earned: Earned, events: LoggedEvents) -> tuple[float, float]:
    """Return an estimate and its standard error between units, by its influence function."""
    totals = earned.totals(events)
    influence = np.zeros(events.units)
    for above, below in zip(totals.T[::2], totals.T[1::2], strict=True):
        whole = below.sum()
        influence += (above - above.sum() / whole * below) / whole if whole else math.nan
    return earned.value, float(np.sqrt((influence**2).sum()))
