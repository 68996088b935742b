"""Sums, logarithms and powers that do not depend on the batch of a query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LOG2_DISCOUNTS = np.array([0.0, *(1.0 / math.log2(r + 1) for r in range(1, 2_048))])  # by rank
# adding column by column takes a fifth of the time of a cumulative sum for at least MIN_ROWS rows of at most MAX_COLUMNS
MAX_COLUMNS = 32
MIN_ROWS = 256
BLOCK = 1 << 14  # numbers that are split at once and fit the processor's cache
EXACT = 2.0**53  # whole numbers up to it are exact
MAX_SPLIT = 1e250  # larger numbers are not split


def running(per_position: Array) -> Array:
    """The running sum of each row, one position after another, so that a query's value does not depend on its batch."""
    rows, columns = per_position.shape
    if rows < MIN_ROWS or columns > MAX_COLUMNS:
        return np.cumsum(per_position, axis=1, dtype=float)
    out = per_position.astype(float)
    for column in range(1, columns):
        out[:, column] += out[:, column - 1]
    return out


def total(per_position: Array) -> Array:
    """The sum of each row, added in the order of ``running``."""
    rows, columns = per_position.shape
    if rows < MIN_ROWS or columns > 2 * MAX_COLUMNS:
        return np.asarray(np.cumsum(per_position, axis=1, dtype=float)[:, -1])
    values = per_position.astype(float, copy=False)
    out = values[:, 0].copy()
    for column in range(1, columns):
        out += values[:, column]
    return out


def exact_sum(values: Array) -> float:
    """The exact sum of all values, rounded once like ``math.fsum``, so that their order does not matter.

    >>> exact_sum(np.array([1e100, 0.1, -1e100]))
    0.1
    """
    values = np.asarray(values, dtype=float).ravel()
    if len(values) < MIN_ROWS or not (largest := max(float(values.max()), -float(values.min()))) < MAX_SPLIT:
        return math.fsum(values.tolist())
    if len(values) * largest < EXACT and _are_whole(values[:MIN_ROWS]) and _are_whole(values):
        return float(values.sum()) + 0.0  # partial sums are exact, and + 0.0 makes -0 a 0
    blocks = (values[at : at + BLOCK] for at in range(0, len(values), BLOCK))
    return math.fsum(chain.from_iterable(map(_sums_without_rounding, blocks)))


def _are_whole(values: Array) -> bool:
    return bool((np.rint(values) == values).all())


def _sums_without_rounding(values: Array) -> Iterator[float]:
    """A few numbers with exactly the sum of a block of values: the sum of their leading bits, of the next bits, and so on.

    Adding and subtracting a much larger power of 2 leaves so few bits of each value that their sum needs no rounding.

    Source: Rump, Ogita and Oishi, Accurate floating-point summation part I, 2008.
    """
    while largest := max(float(values.max()), -float(values.min())):
        unit = math.ldexp(2.0 * BLOCK, math.frexp(largest)[1])
        leading = (values + unit) - unit
        yield float(leading.sum())
        values = values - leading


def ratio(part: Array, whole: Array | float) -> Array:
    """Part / whole, cell by cell, and 0 if the whole is 0."""
    if not isinstance(whole, np.ndarray):
        return part / whole if whole else np.zeros(part.shape)
    if whole.shape != part.shape:
        whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)


def each(function: Callable[[float], float], values: Array) -> Array:
    """Apply a plain function to an array, once per distinct value.

    Vector instructions may round a logarithm differently at the edge of an array than inside it. A table does not.
    """
    distinct, number = np.unique(values, return_inverse=True)
    return np.array([function(v) for v in distinct.tolist()], dtype=float)[number.reshape(values.shape)]


def each_rank(weight: Callable[[int], float], rank: Array) -> Array:
    """Apply a plain function to ranks, once per distinct rank. 0 at rank 0."""
    present = np.zeros(int(rank.max(initial=1)) + 1, dtype=bool)
    present[rank] = True
    table = np.zeros(len(present))
    for r in np.flatnonzero(present).tolist():
        table[r] = weight(r) if r else 0.0
    return table[rank]


def log2_discounts(rank: Array) -> Array:
    """1 / log2(rank + 1) at every cell, and 0 at rank 0."""
    if int(rank.max(initial=1)) < len(LOG2_DISCOUNTS):
        return np.asarray(LOG2_DISCOUNTS[rank])
    return each_rank(lambda r: 1.0 / math.log2(r + 1), rank)


def not_before(chance: Array) -> Array:
    """The chance that an event with these chances has not happened before each cell."""
    rows, columns = chance.shape
    if rows < MIN_ROWS or columns > MAX_COLUMNS:
        stays = np.cumprod(1.0 - chance, axis=1)
        return np.hstack([np.ones((rows, 1)), stays[:, :-1]])
    out = np.ones((rows, columns))
    for column in range(1, columns):
        out[:, column] = out[:, column - 1] * (1.0 - chance[:, column - 1])
    return out
