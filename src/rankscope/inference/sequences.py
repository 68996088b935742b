"""Sequential intervals: valid however often one looks at the results."""

from __future__ import annotations

import math

from rankscope.inference import sequential
from rankscope.inference.base import Bounds, Estimate, Interval, Sample, check_between
from rankscope.inference.intervals import without_interval


class anytime(Interval, aliases=("asymptotic", "confidence_sequence")):
    """An asymptotic confidence sequence: valid at every look from the first one on.

    The mean, and on both sides the standard error times what a normal mixture over all looks asks for: about 1.6 times as
    wide as the t interval from 20 to 1,000 queries, and narrowest at ``narrowest``. No interval before the first look, nor
    without spread. At each look it does not depend on the order of queries.

    >>> import numpy as np
    >>> bounds = anytime().of(Sample(np.array([0.1, 0.3, 0.2, -0.1] * 6)))
    >>> round(bounds.lower, 4), round(bounds.upper, 4)
    (0.0242, 0.2258)
    >>> anytime().of(Sample(np.array([0.1, 0.3]))).reason
    'the first look is at 20 queries'
    """

    every_look = True
    has_test = True
    by_moments = True
    in_words = "intervals that hold at every look (asymptotic confidence sequences)"
    source = "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 2024"
    best_for = "queries that are judged one after the other, to stop as soon as enough is known, from 20 queries on"

    first: sequential.First = 20
    narrowest: sequential.Narrowest = 100

    def of(self, sample: Sample | Estimate, level: float = 0.95) -> Bounds:
        """The interval at this look; none before the first look, without spread, or for clusters."""
        check_between("level", level, 0.95)
        alpha = 1 - level
        if sample.clusters is not None:
            return Bounds.none("anytime takes queries as independent, and these come in clusters")
        if sequential.units_seen(sample) < self.first:
            return Bounds.none(sequential.first_look(sample, self.first))
        if sample.reason:
            return Bounds.none(sample.reason)
        if sequential.is_constant(sample):
            return Bounds.none("every query has the same value")
        x = sequential.prior(sample.count, self.narrowest)
        away = math.sqrt((1 + 1 / x) * (math.log1p(x) - 2 * math.log(alpha))) * sequential.error_of_looks(sample)
        return Bounds(sample.mean - away, sample.mean + away, str(self))


class group_sequential(sequential.Planned, Interval, aliases=("sequential", "alpha_spending")):
    """The interval at one of some planned looks: over all of them together it misses no more often than alpha.

    >>> import numpy as np
    >>> bounds = group_sequential(look=1, looks=5).of(Sample(np.array([0.3, 0.1, 0.2, 0.4, -0.1] * 10)))
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (0.043, 0.317)
    """

    by_moments = True
    has_test = True
    in_words = "intervals at planned looks (alpha spending)"
    source = "Jennison and Turnbull, Interim analyses: the repeated confidence interval approach, JRSS B 1989"
    best_for = "experiments with a few looks at planned dates"

    look: sequential.Look = 1
    looks: sequential.Looks = 1
    spending: sequential.Spending = "obrien_fleming"
    shares: sequential.Shares = None
    adding: sequential.Adding = False

    def of(self, sample: Sample | Estimate, level: float = 0.95) -> Bounds:
        """The interval at this look; none for fewer than two units, or without spread."""
        check_between("level", level, 0.95)
        if reason := without_interval(sample):
            return Bounds.none(reason)
        away = sequential.as_student(self.reach(1 - level), sample.freedom) * sequential.error_of_looks(sample)
        return Bounds(sample.mean - away, sample.mean + away, str(self))


class betting(Interval):
    """An exact confidence sequence for the mean of bounded values: valid after every query.

    It holds the means that no gambler has grown rich on betting against. It supposes only that values lie from ``low`` to
    ``high`` (for the differences of scores from 0 to 1 that is -1 to 1; for the scores themselves write ``betting(low=0)``,
    which is narrower) and that each has this mean given those before. Queries are taken in the order given, as they were
    judged: in another order the interval is another.

    >>> import numpy as np
    >>> bounds = betting(low=0).of(Sample(np.array([1.0, 0.5, 0.75, 1.0] * 6)))
    >>> round(bounds.lower, 3), round(bounds.upper, 3)
    (0.598, 0.927)
    """

    every_look = True
    has_test = True
    in_order = True
    in_words = "intervals that hold at every look (betting)"
    source = "Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024"
    best_for = "a promise that holds for any number of queries, at the price of a wider interval"

    low: sequential.Low = -1.0
    high: sequential.High = 1.0

    def check(self) -> None:
        """The range has room."""
        sequential.check_range(self.low, self.high)

    def of(self, sample: Sample, level: float = 0.95) -> Bounds:
        """The means that no look so far has refuted; none for clusters. InputError for values outside ``low`` to ``high``."""
        check_between("level", level, 0.95)
        alpha = 1 - level
        if not sample.count:
            return Bounds.none("no queries")
        if sample.clusters is not None:
            return Bounds.none("betting takes queries as independent, and these come in clusters")
        values = sequential.within(sample, self.low, self.high)
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        lower, upper = sequential.lowest(values, alpha), -sequential.lowest(-values, alpha)
        if lower >= upper:
            return Bounds.none("every mean has been refuted at some look: the values drift")
        return Bounds(middle + half * lower, middle + half * upper, str(self))
