"""The rows that a quantile is of."""

from __future__ import annotations

import numpy as np

from rankscope.lists import Array
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import UnitTotals
from rankscope.logs.rows import UnitRows


def rows_of(units: UnitTotals, metric: Quantile, inside: Array | None = None) -> UnitRows:
    """The rows that have a value, of all units or of those at these places.

    Of a quantile over units each unit is one row: what its rows sum to.
    """
    held = units.values.get(metric)
    if held is None:
        sums, known = units.columns(metric).T
        held = UnitRows.of_numbers(np.where(known > 0, sums, np.nan), np.arange(units.count), units.count)
    return held if inside is None or len(inside) == units.count else held.take(inside)
