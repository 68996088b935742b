"""The rows of units one by one, for quantiles: what sums over units cannot tell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from rankscope.lists import Array
from rankscope.logs.metrics import Quantile
from rankscope.logs.rollup import Units


@dataclass(frozen=True, eq=False)
class UnitRows:
    """The ``values`` of rows, and for each the number of its unit, from 0; None where each row is a unit of its own."""

    values: Array
    units: Array | None = None


def rows_of(units: Units, metric: Quantile, inside: Array | None = None) -> UnitRows:
    """The rows that have a value, of all units or of those at these places.

    Of a quantile over units each unit is one row: what its rows sum to.
    """
    held = units.values.get(metric)
    if held is None:
        sums, known = units.columns(metric).T
        values = sums if inside is None else sums[inside]
        return UnitRows(values[(known if inside is None else known[inside]) > 0])
    if inside is not None and len(inside) < len(held):
        held = held.gather(inside)
    if held.dtype != pl.List:
        return UnitRows(held.drop_nulls().to_numpy())
    sizes = held.list.len().to_numpy()
    return UnitRows(held.filter(sizes > 0).explode().to_numpy(), np.repeat(np.arange(len(sizes)), sizes))
