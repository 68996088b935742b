"""Tests for those who look more than once: their p-values hold at every look, whatever made one look."""

from __future__ import annotations

import math
from typing import Annotated

from rankscope.declared import Param
from rankscope.errors import InputError
from rankscope.inference.base import CLOSE, PairedTest, Sample
from rankscope.inference.betting import High, Low, fitted, log_capital, within

# --- the vocabulary of parameters ----------------------------------------------------------------

First = Annotated[int, Param("how many queries there are at the first look, decided beforehand", low=20)]
Narrowest = Annotated[
    int, Param("the number of queries at which the interval is narrowest, decided beforehand", low=20)
]

_BEST = 8.2122  # where (1 + 1/x) * log((1 + x) / 0.05**2) is smallest: the narrowest 95% interval


def prior(count: int, narrowest: int) -> float:
    """The variance that the mixture gives to the mean, in squared standard errors at this many queries."""
    return _BEST * count / narrowest


def without_spread(sample: Sample) -> bool:
    """Whether all values are the same up to rounding, so that nothing can be said of their spread."""
    return sample.constant or sample.error <= CLOSE * sample.largest


class anytime(PairedTest, aliases=("asymptotic",)):
    """An asymptotic test that may be looked at after every query from the first look on.

    A mean of normal values is tested against a normal mixture of other means. That holds for the differences of scores as
    soon as their mean is near enough to normal, which is what the first look waits for: on real scores, looking after every
    query from 20 to 1,000 errs in about 4 of 100 cases, where a repeated t test errs in 42. NaN before the first look, and
    where all differences are the same other than 0. At each look it does not depend on the order of queries.

    >>> import numpy as np
    >>> values = np.array([0.1, 0.3, 0.2, -0.1] * 6)
    >>> round(anytime().p_value(Sample(values)), 4)
    0.0074
    >>> round(anytime().p_value(Sample(values[:19])), 4)
    nan
    """

    every_look = True
    hypothesis = "the mean difference is 0, at every look"
    source = "Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 2024"
    best_for = (
        "queries that are judged one after the other, to stop as soon as enough is known; from 20 queries"
    )

    first: First = 20
    narrowest: Narrowest = 100

    def p_value(self, sample: Sample) -> float:
        """The smallest alpha at which the interval ``anytime`` excludes 0."""
        self.refuse_clusters(sample)
        if sample.count and not sample.differing:
            return 1.0
        if sample.count < self.first or without_spread(sample):
            return math.nan
        x = prior(sample.count, self.narrowest)
        z = sample.mean / sample.error
        return min(1.0, math.exp((math.log1p(x) - z * z * x / (1 + x)) / 2))


class betting(PairedTest):
    """An exact test of bounded differences that may be looked at after every query from the first on.

    A gambler bets that the mean difference is not 0; one over the most capital there ever was is the p-value. It supposes only
    that differences lie from ``low`` to ``high`` and that each has mean 0 given those before. Queries are taken in the order
    given, as they were judged: in another order the p-value is another.

    >>> import numpy as np
    >>> round(betting().p_value(Sample(np.array([0.1, 0.3, 0.2, -0.1] * 6))), 4)
    0.4707
    """

    every_look = True
    in_order = True
    hypothesis = "the mean difference is 0, at every look"
    source = "Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, JRSS B 2024"
    best_for = "a promise that holds for any number of queries, at the price of power"

    low: Low = -1.0
    high: High = 1.0

    def check(self) -> None:
        """The range has room, and 0 in it."""
        fitted(self.low, self.high)
        if not self.low <= 0 <= self.high:
            raise InputError(
                f"betting(low={self.low:g}, high={self.high:g}): 0 lies between low and high, as in betting(low=-1, high=1)"
            )

    def p_value(self, sample: Sample) -> float:
        """One over the largest capital so far, at most 1. InputError for a difference outside ``low`` to ``high``."""
        self.refuse_clusters(sample)
        if not sample.differing:
            return 1.0 if sample.count else math.nan
        values = within(sample, self.low, self.high)
        middle = -(self.low + self.high) / (self.high - self.low)
        return min(1.0, math.exp(-log_capital(values, middle)))


__all__ = ["anytime", "betting"]
