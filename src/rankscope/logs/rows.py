"""Values of single rows, laid out unit by unit: what sums over units cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankscope.lists import Array


@dataclass(frozen=True, eq=False)
class UnitRows:
    """The ``values`` of rows, unit by unit: those of unit i begin at ``starts[i]`` and end where those of the next begin.

    >>> rows = UnitRows.of_numbers(np.array([5.0, np.nan, 7.0, 9.0]), np.array([1, 0, 1, 2]), 3)
    >>> rows.sizes.tolist(), rows.take(np.array([2, 1])).values.tolist(), rows.take(np.array([2, 1])).units.tolist()
    ([0, 2, 1], [9.0, 5.0, 7.0], [0, 1, 1])
    """

    values: Array
    starts: NDArray[np.int64]

    @classmethod
    def of_numbers(cls, values: Array, numbers: NDArray[Any], count: int) -> UnitRows:
        """From rows in any order, each with the number of its unit, of ``count`` units; NaN is a missing value."""
        known = ~np.isnan(values)
        table = pl.DataFrame({"number": numbers[known], "value": values[known]}).sort("number", maintain_order=True)
        return cls(table["value"].to_numpy(), _starts(np.bincount(table["number"].to_numpy(), minlength=count)))

    @classmethod
    def of_lists(cls, lists: pl.Series) -> UnitRows:
        """From a list of values a unit; or one value per unit, maybe none."""
        if lists.dtype != pl.List:
            return cls(lists.drop_nulls().to_numpy(), _starts(lists.is_not_null().to_numpy()))
        sizes = lists.list.len()
        return cls(lists.filter(sizes > 0).explode().to_numpy(), _starts(sizes.to_numpy()))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many rows each unit has."""
        return np.diff(self.starts)

    @property
    def units(self) -> NDArray[np.int64]:
        """The number of each row's unit, from 0."""
        return np.repeat(np.arange(len(self.starts) - 1), self.sizes)

    def take(self, places: NDArray[Any]) -> UnitRows:
        """The rows of the units at these places."""
        sizes = self.sizes[places]
        starts = _starts(sizes)
        at = np.arange(starts[-1]) + np.repeat(self.starts[places] - starts[:-1], sizes)
        return UnitRows(self.values[at], starts)

    def __add__(self, other: UnitRows) -> UnitRows:
        """These units, and those of another part behind them."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        return UnitRows(np.concatenate([self.values, other.values]), starts)


def _starts(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
