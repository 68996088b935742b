"""Sums, logarithms and powers that do not depend on the batch a query is in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LOG2_DISCOUNTS = np.array([0.0, *(1.0 / math.log2(r + 1) for r in range(1, 2_048))])  # of small ranks


def running(per_position: Array) -> Array:
    """The sum so far, one position after another, so that no query's numbers depend on its neighbours'."""
    return np.cumsum(per_position, axis=1, dtype=float)


def total(per_position: Array) -> Array:
    """The sum of each row, added in the order of ``running``."""
    return np.asarray(np.cumsum(per_position, axis=1, dtype=float)[:, -1])


def ratio(part: Array, whole: Array | float) -> Array:
    """Part / whole, cell by cell, and 0 where the whole is 0."""
    if not isinstance(whole, np.ndarray):
        return part / whole if whole else np.zeros(part.shape)
    if whole.shape != part.shape:
        whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)


def each(function: Callable[[float], float], values: Array) -> Array:
    """Apply a plain function to an array, once for each distinct value.

    Vector instructions may round a logarithm differently at the edge of an array than inside it; a
    value taken from a table cannot depend on where it stands.
    """
    distinct, number = np.unique(values, return_inverse=True)
    return np.array([function(v) for v in distinct.tolist()], dtype=float)[number.reshape(values.shape)]


def by_rank(weight: Callable[[int], float], rank: Array) -> Array:
    """A weight of the rank at every cell, computed once for each rank that occurs."""
    present = np.zeros(int(rank.max(initial=1)) + 1, dtype=bool)
    present[rank] = True
    table = np.zeros(len(present))
    for r in np.flatnonzero(present).tolist():
        table[r] = weight(r) if r else 0.0
    return table[rank]


def log2_discounts(rank: Array) -> Array:
    """1 / log2(rank + 1) at every cell and nothing at rank 0, each logarithm computed once, as in ``each``."""
    if int(rank.max(initial=1)) < len(LOG2_DISCOUNTS):
        return np.asarray(LOG2_DISCOUNTS[rank])
    return by_rank(lambda r: 1.0 / math.log2(r + 1), rank)


def not_before(chance: Array) -> Array:
    """The chance that what happens with these chances has not happened before each cell."""
    stays = np.cumprod(1.0 - chance, axis=1)
    return np.hstack([np.ones((len(chance), 1)), stays[:, :-1]])
