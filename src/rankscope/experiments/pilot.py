"""A log as the pilot of an experiment: how a metric differs between its users, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankscope.errors import DataError
from rankscope.experiments.arms import Arms
from rankscope.experiments.quantiles import deviation_of_quantile
from rankscope.experiments.split import SampleRatio
from rankscope.experiments.variants import Adjustment, Variants
from rankscope.impressions import Log
from rankscope.lists import Array
from rankscope.logs.base import OnlineMetric
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.logs.sums import UnitSums
from rankscope.moments import Moments
from rankscope.panels.ratios import adjusted_ratios, pulls

REACH = 1.96  # standard errors on both sides of a number of users
MOST_LIFT = 1.0  # a larger lift is taken as this one, where it multiplies values


@dataclass(frozen=True, eq=False)
class Pilot:
    """A metric of all users: its ``value``, the ``deviation`` between users, and the share of the variance that adjusting takes away.

    ``moved`` is the amount by which each user moves the value, times their number; None for a quantile and for sums. ``rate`` is true if users are 0 or 1.
    """

    value: float
    deviation: float
    explained: float = 0.0
    moved: Array | None = None
    rate: bool = False

    def deviation_at(self, difference: float, share: float) -> float:
        """The deviation if this share of users has a value that is higher by the difference: it grows as the values of users do."""
        times = 1.0
        if self.rate and 0 < self.value < 1:
            then = min(self.value + difference, 1.0)
            times = then * (1 - then) / (self.value * (1 - self.value))
        elif self.value > 0:
            times = (1 + min(difference / self.value, MOST_LIFT)) ** 2
        return self.deviation * math.sqrt((1 - share) * times + share)

    def range_of(self, *, lift: bool) -> tuple[float, float] | None:
        """Both ends of the 95% interval of the users needed, in parts of them: the variance is estimated, and the value for a lift."""
        if self.moved is None or not self.deviation or (lift and not self.value):
            return None
        parts = self.moved**2 / float(np.mean(self.moved**2)) - (2 * self.moved / self.value if lift else 0.0)
        reach = REACH * float(parts.std()) / math.sqrt(len(parts))
        return math.exp(-reach), math.exp(reach)


def users_of(log: Log, units: UnitTotals, adjustment: Adjustment, clusters: tuple[str, ...]) -> Variants:
    """Return all users of a log as one group, cut and adjusted as variants are."""
    return Variants(log, Arms(units, ()), SampleRatio({}, {}, math.nan), adjustment, clusters)


def pilot_of(users: Variants, metric: OnlineMetric) -> Pilot:
    """Return a metric of the users of a log. Raises DataError for one with nothing below the line."""
    units = users.arms.units
    if isinstance(metric, Quantile):
        return Pilot(*deviation_of_quantile(metric, units))
    units, table, rate = units.counted(metric), None, False
    if isinstance(units, UnitSums):
        moments, alone = units.moments(metric, users.adjustment.covariates.get(metric, ())), units.moments(metric)
    else:
        table = users.table(metric, units)
        moments, alone = Moments.of_set(table), Moments.of_set(table[:, :2])
        rate = bool((table[:, 1] == 1).all() and np.isin(table[:, 0], (0.0, 1.0)).all())
    if not moments.mean[1]:
        raise DataError(f"{metric}: the denominator is 0 ({metric.below or 'no value'})")
    (adjusted,) = adjusted_ratios([moments], len(moments.mean) // 2 - 1)
    (plain,) = adjusted_ratios([alone])
    whole, variance = alone.variance_of(plain.factors), moments.variance_of(adjusted.factors)
    explained = 1 - variance / whole if whole > 0 else 0.0
    moved = None if table is None else pulls(table, moments, adjusted.factors)
    return Pilot(plain.value, math.sqrt(variance), explained, moved, rate)
