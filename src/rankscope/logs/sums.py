"""Units that are known by their sums: how many there are, sums of columns, and sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np
import polars as pl

from rankscope.errors import InputError
from rankscope.impressions import Log
from rankscope.lists import Array
from rankscope.logs.base import Earning, OnlineMetric
from rankscope.logs.metrics import Attribute, Mean, Ratio
from rankscope.logs.rollup import UnitTotals, roll_up
from rankscope.moments import Moments

Pair = tuple[str, str | None]  # the names of a numerator and of a denominator, None for 1 per unit


@dataclass(frozen=True, eq=False)
class UnitSums(UnitTotals):
    """Units by rows of sums: ``sizes`` counts the units of each row, ``table`` has all sums, and ``numerators`` are metrics x rows."""

    sizes: Array = None  # type: ignore[assignment] # always given
    table: pl.DataFrame = None  # type: ignore[assignment]
    log: Log = None  # type: ignore[assignment]

    @property
    def count(self) -> int:
        """The number of units."""
        return int(self.sizes.sum())

    def size_of(self, kept: pl.Series) -> int:
        """The number of units in some rows."""
        return int(self.sizes[kept.to_numpy()].sum())

    def filter(self, kept: pl.Series) -> UnitSums:
        """Some of the rows."""
        inside = kept.to_numpy()
        return replace(
            self, numerators=self.numerators[:, inside], denominators=self.denominators[:, inside], sizes=self.sizes[inside],
            groups={name: group.filter(kept) for name, group in self.groups.items()}, table=self.table.filter(kept),
        )  # fmt: skip

    def counted(self, metric: Earning) -> UnitSums:
        """All units: sums hold those with a value."""
        return self

    def moments(self, metric: OnlineMetric, covariates: Sequence[OnlineMetric] = ()) -> Moments:
        """The moments of a metric and its covariates. Raises InputError if a sum of products is missing."""
        names = [name for one in (metric, *covariates) for name in _pair(one)]
        sums = np.array([self._sum(name) for name in names])
        products = np.array([[self._product(metric, a, b) for b in names] for a in names])
        parts = (Moments.of_sums(int(n), sums[:, at], products[:, :, at]) for at, n in enumerate(self.sizes))
        return reduce(add, parts)

    def _sum(self, name: str | None) -> Array:
        return self.sizes if name is None else self.table[self.log.column(name)].to_numpy()

    def _product(self, metric: OnlineMetric, a: str | None, b: str | None) -> Array:
        if a is None or b is None:
            return self._sum(b if a is None else a)
        assert self.log.sums is not None
        product = self.log.sums.products.get((min(a, b), max(a, b)))
        if product is None:
            what, like, flags = f"products of {a} and {b}", f"{a}_{b}_sum_product", ""
            if a == b:
                what, like = f"squares of {a}", f"{a}_sum_squares"
                flags = f"; if each {self.noun} has 0 or 1: --columns '{a}=successes'"
            raise InputError(f"{self.log.label}: {metric} needs the sum of {what}, in a column like {like}{flags}")
        return self.table[product].to_numpy()


def _pair(metric: OnlineMetric) -> Pair:
    return (metric.numerator, metric.denominator) if isinstance(metric, Ratio) else (metric.column, None)  # type: ignore[attr-defined]


def totals_of(
    log: Log, metrics: Sequence[OnlineMetric], by: Sequence[str] = (), *, attributes: Sequence[str] = (), ids: bool = False
) -> UnitTotals:  # fmt: skip
    """Return the units of a log: rolled up from rows, or known by sums. Raises InputError for a metric that needs rows."""
    if log.sums is None:
        return roll_up(log, metrics, by, attributes=attributes, ids=ids)
    for metric in metrics:
        if not isinstance(metric, Mean | Attribute | Ratio) or (not isinstance(metric, Attribute) and metric.where):
            raise InputError(
                f"{log.label}: {metric} needs rows: from sums come Mean(COLUMN) and Ratio(COLUMN, COLUMN), like {Mean(column=next(iter(log.sums.of)))}"
            )
        for name in _pair(metric):
            if name is not None and name not in log.sums.of:
                log.column(name, "with sums")
                raise InputError(f"{log.label}: column {name} holds no sums: there are {', '.join(log.sums.of)}")
    table = log.collect(log.frame)
    empty = UnitSums((), np.zeros((0, 0)), np.zeros((0, 0)), {}, "unit_id", log.sums.noun, table.height, (), None, None, {}, sizes=table[log.sums.count].to_numpy(), table=table, log=log)  # fmt: skip
    above, below = ([empty._sum(_pair(metric)[side]) for metric in metrics] for side in (0, 1))
    empty = replace(empty, metrics=tuple(metrics), groups={name: table[name] for name in by})
    return replace(empty, numerators=np.array(above), denominators=np.array(below), censored=(0,) * len(metrics))


def refuse_rows(log: Log, what: str) -> None:
    """Raise InputError if rows are sums and an option needs the rows of units."""
    if log.sums is not None:
        raise InputError(
            f"{what} needs one row per {log.sums.noun} or event, and {log.label} holds sums over many: leave it out"
        )
