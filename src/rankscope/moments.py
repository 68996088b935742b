"""Counts, means and sums of products that can be merged, in place of values that are too many to keep."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
WHOLE = 2**53  # up to here all whole numbers are exact
CANCELLED = 1e-14  # a smaller variance, as a share of its terms, is rounding


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of some columns over units: how many units, the mean of each column, and the columns' sums of products.

    ``products`` holds, for each two columns, the sum over units of the products of their distances from the mean. Moments of parts
    add up to those of the whole, whichever way it was cut (up to rounding in the last digits); ``a + b`` is ``b + a`` to the bit.

    Source: Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979.
    """

    count: int
    mean: Array
    products: Array

    @classmethod
    def of(cls, values: ArrayLike) -> Moments:
        """The moments of values: units x columns, or one column."""
        table = np.asarray(values, dtype=np.float64)
        table = table[:, None] if table.ndim == 1 else table
        count, columns = table.shape
        if not count:
            return cls.empty(columns)
        mean = table.mean(axis=0)
        around = table - mean
        mean = mean + around.mean(axis=0)  # what rounding left of the first mean
        around = table - mean
        return cls(count, mean, around.T @ around)

    @classmethod
    def of_set(cls, values: ArrayLike) -> Moments:
        """The moments of values whose order says nothing: rows in any order give the same bits.

        Sums of whole numbers are exact. Other rows are put in order first.
        """
        table = np.asarray(values, dtype=np.float64)
        table = table[:, None] if table.ndim == 1 else table
        columns = np.ascontiguousarray(table.T)
        size = max(float(columns.max(initial=0.0)), -float(columns.min(initial=0.0)))
        if len(table) * size * size < WHOLE and (columns == np.floor(columns)).all():
            return cls.of_sums(len(table), columns.sum(axis=1), columns @ columns.T)  # no sum on the way is rounded
        return cls.of(np.ascontiguousarray(table[np.lexsort(columns)]))

    @classmethod
    def of_sums(cls, count: int, sums: ArrayLike, products: ArrayLike) -> Moments:
        """Moments from plain sums: of each column, and of the products of each two, as a database gives them."""
        total = np.atleast_1d(np.asarray(sums, dtype=np.float64))
        if not count:
            return cls.empty(len(total))
        squares = np.atleast_2d(np.asarray(products, dtype=np.float64))
        return cls(int(count), total / count, squares - np.outer(total, total) / count)

    @classmethod
    def empty(cls, columns: int = 1) -> Moments:
        """The moments of no units: adding them changes nothing."""
        return cls(0, np.zeros(columns), np.zeros((columns, columns)))

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of units together."""
        if not other.count:
            return self
        if not self.count:
            return other
        count = self.count + other.count
        apart = other.mean - self.mean
        return Moments(
            count,
            (self.count * self.mean + other.count * other.mean) / count,
            self.products + other.products + np.outer(apart, apart) * (self.count * other.count / count),
        )

    @property
    def covariance(self) -> Array:
        """The covariance of each two columns, by n - 1. NaN for fewer than two units."""
        if self.count < 2:
            return np.full(self.products.shape, np.nan)
        return self.products / (self.count - 1)

    @property
    def variance(self) -> Array:
        """The variance of each column, by n - 1. NaN for fewer than two units."""
        return np.diagonal(self.covariance)

    def combine(self, factors: ArrayLike) -> tuple[float, float]:
        """The mean and the variance of a sum of the columns, each times its factor."""
        by = np.asarray(factors, dtype=np.float64)
        return float(by @ self.mean), self.variance_of(by)

    def variance_of(self, factors: Array) -> float:
        """The variance of a sum of the columns, each times its factor: 0 if its terms cancel, NaN for fewer than two units."""
        covariance = self.covariance
        variance, size = (
            float(by @ table @ by) for by, table in ((factors, covariance), (np.abs(factors), np.abs(covariance)))
        )
        return 0.0 if variance <= CANCELLED * size else variance


SMALLEST = 1074  # every finite double is a whole multiple of 2 ** -1074
LOW = 26  # bits of the lower part of a number, so that sums of either part are exact


@dataclass(frozen=True)
class ExactSum:
    """A sum that can be merged without rounding: in parts of any number and order it is the same to the last bit.

    ``units`` is the sum in multiples of 2 ** -1074; ``odd`` is the sum of what is infinite or no number. ``value`` rounds once, as
    ``math.fsum`` does over all values at a time.
    """

    units: int = 0
    odd: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike) -> ExactSum:
        """The sum of values."""
        number = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if len(number) > 1 and np.isfinite(number[0]) and (number == number[0]).all():  # as weights are
            return cls(cls.of(number[:1]).units * len(number))
        finite = np.isfinite(number)
        odd = math.fsum(number[~finite].tolist()) if not finite.all() else 0.0
        fraction, exponent = np.frexp(number[finite])
        whole = np.ldexp(fraction, 53).astype(np.int64)
        exponents, group = np.unique(exponent, return_inverse=True)
        high = np.bincount(group, weights=whole >> LOW, minlength=len(exponents))
        low = np.bincount(group, weights=whole & ((1 << LOW) - 1), minlength=len(exponents))
        units = 0
        for at, above, below in zip(exponents.tolist(), high.tolist(), low.tolist(), strict=True):
            total, shift = (int(above) << LOW) + int(below), at - 53 + SMALLEST
            units += total << shift if shift >= 0 else total >> -shift  # what is shifted out of so small a number is 0
        return cls(units, odd)

    def __add__(self, other: ExactSum) -> ExactSum:
        """The sum of both."""
        return ExactSum(self.units + other.units, self.odd + other.odd)

    @property
    def value(self) -> float:
        """The sum as a number, rounded once."""
        if self.odd:
            return self.odd
        try:
            return self.units / (1 << SMALLEST)
        except OverflowError:
            return math.inf if self.units > 0 else -math.inf
