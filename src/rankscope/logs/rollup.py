"""The roll-up of a log to its units: what each of them adds above and below the line of every metric, in one pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError
from rankscope.impressions import Log, first_known
from rankscope.lists import Array
from rankscope.logs.base import KEYS, Level, OnlineMetric, RatioParts
from rankscope.logs.bins import sum_in_bins
from rankscope.logs.rows import UnitRows

# what a unit is where the log names none, the widest first
UNITS = ("unit_id", "session_id", "impression_id")
WITHOUT = {
    "session_id": "no user is named: each session counts as one of its own",
    "impression_id": "no user is named: each list counts as one of its own",
    "": "no user is named: each row counts as one of its own",
}
_ALL_ROWS = (
    "{}: no user, session or list is named, so that each row would be a unit of its own, and all of them would have to come here: "
    'say which column names users, as columns={{"visitor": "unit_id"}}, or bring a sample of the rows here, as frame.limit(1000000).toArrow()'
)
TOO_NARROW = "; where users come back, intervals are too narrow"


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """Units and their totals: ``numerators`` and ``denominators`` are metrics x units.

    ``groups`` has, by the name of what was grouped by (a variant, a slice, a day), the value of each unit; a unit that has rows in several groups
    is there several times. ``unit`` is the column that names units, empty where each row is its own; ``ids`` are their names, where asked for.
    ``censored`` counts the units of each metric that were not observed for long enough, ``end`` is the last time in the log. ``values`` has
    for each metric of values (a quantile) those of each unit's rows; below the line is their number then, and above it nothing.
    """

    metrics: tuple[OnlineMetric, ...]
    numerators: Array
    denominators: Array
    groups: Mapping[str, pl.Series]
    unit: str
    noun: str
    rows: int
    censored: tuple[int, ...]
    end: datetime | None = None
    ids: pl.Series | None = None
    values: Mapping[OnlineMetric, UnitRows] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many units there are."""
        return int(self.numerators.shape[1])

    def __add__(self, other: UnitTotals) -> UnitTotals:
        """The units of two logs, or of two parts of one, that have no unit in common: units one after the other, rows and censored counts added up.

        Raises DataError where they are not of one kind, where a unit is in both (as far as ``ids`` tell), and where windowed metrics were rolled up
        to different ends: say then what the end is (``roll_up(..., end=)``).

        >>> from rankscope.files.logs import read_log
        >>> from rankscope.logs.metrics import CTR
        >>> days = [{"user": ["a", "b", "a"], "click": [1, 0, 1]}, {"user": ["c"], "click": [1]}]
        >>> one, two = (roll_up(read_log(day), [CTR()]) for day in days)
        >>> (one + two).count, float((one + two).numerators.sum()), (one + two).rows
        (3, 3.0, 4)
        """
        one, two = ((u.metrics, u.unit, tuple(u.groups), u.ids is None) for u in (self, other))
        if one != two:
            raise DataError(
                "these units are of other metrics, columns or kinds than those: roll both up in the same way"
            )
        if self.end != other.end:
            raise DataError(
                f"these units were looked at up to {self.end} and those up to {other.end}: roll both up with the same end"
            )
        if self.ids is not None and other.ids is not None and (both := self.ids.is_in(other.ids.implode())).any():
            raise DataError(
                f"{self.noun} {self.ids.filter(both)[0]} is in both parts: a part has all rows of its {words.plural(self.noun)}"
            )
        return replace(
            self,
            numerators=np.concatenate([self.numerators, other.numerators], axis=1),
            denominators=np.concatenate([self.denominators, other.denominators], axis=1),
            groups={name: pl.concat([group, other.groups[name]]) for name, group in self.groups.items()},
            rows=self.rows + other.rows,
            censored=tuple(a + b for a, b in zip(self.censored, other.censored, strict=True)),
            ids=None if self.ids is None or other.ids is None else pl.concat([self.ids, other.ids]),
            values={metric: held + other.values[metric] for metric, held in self.values.items()},
        )  # fmt: skip

    @property
    def remark(self) -> str:
        """What to know of units where the log names none; empty where it does."""
        return "" if self.unit == "unit_id" else WITHOUT[self.unit] + TOO_NARROW

    def filter(self, kept: pl.Series) -> UnitTotals:
        """Some of the units."""
        inside = kept.to_numpy()
        return replace(
            self,
            numerators=self.numerators[:, inside],
            denominators=self.denominators[:, inside],
            groups={name: group.filter(kept) for name, group in self.groups.items()},
            ids=None if self.ids is None else self.ids.filter(kept),
            values={metric: held.take(np.flatnonzero(inside)) for metric, held in self.values.items()},
        )

    def observed(self, metric: OnlineMetric) -> UnitTotals:
        """Return the units with a denominator above 0."""
        return self.filter(pl.Series(self.columns(metric)[:, 1] != 0))

    def columns(self, metric: OnlineMetric) -> Array:
        """Two columns, what each unit adds above and below the line: units x 2. Raises DataError for a metric of single rows, which has no sums."""
        if metric in self.values:
            raise DataError(f"{metric} is of single rows: units add nothing up to it")
        row = self.metrics.index(metric)
        return np.stack([self.numerators[row], self.denominators[row]]).T  # a column lies in one place

    def rows_of(self, metric: OnlineMetric, inside: Array | None = None) -> UnitRows:
        """The rows of a quantile that have a value, of all units or of the units at these places.

        Each unit of a quantile over units is one row: the sum of its rows.
        """
        held = self.values.get(metric)
        if held is None:
            sums, known = self.columns(metric).T
            held = UnitRows.of_numbers(np.where(known > 0, sums, np.nan), np.arange(self.count), self.count)
        return held if inside is None or len(inside) == self.count else held.take(inside)


def left_out_of_window(metric: OnlineMetric, seen: int, left_out: int, noun: str) -> str:
    """Return the note about units that a windowed metric leaves out."""
    return f"{metric} counts {words.counted(seen, noun)} and leaves out {words.count(left_out)}, first seen too near the end of the log"


def unit_of(log: Log) -> str:
    """The column that names units: users, or else sessions, or else lists; empty where each row is its own."""
    return next((name for name in UNITS if log.has(name)), "")


def roll_up(
    log: Log,
    metrics: Sequence[OnlineMetric],
    by: Sequence[str] = (),
    *,
    attributes: Sequence[str] = (),
    ids: bool = False,
    end: datetime | None = None,
) -> UnitTotals:
    """Sum a log over its units, for all metrics in one pass; ``by`` are columns that are grouped by, too.

    ``attributes`` are columns that say something of a unit: the first value that its rows have counts. ``end`` is when a metric over days
    stopped looking, the last time in the log unless given. Parts of a log that have whole units are rolled up one by one to one end, and added.

    Raises DataError where a column is missing that a metric needs, or rows name no unit.
    """
    for metric in metrics:
        log.require(metric.columns(log), str(metric))
    unit = unit_of(log)
    if not unit and log.elsewhere is not None:
        raise DataError(_ALL_ROWS.format(log.label))
    end = (end or _end(log)) if any(metric.windowed for metric in metrics) else None
    parts = [metric.parts(log, end) for metric in metrics]
    keys = [*([unit] if unit else []), *by]
    alone = unit and not attributes and log.elsewhere is None
    both = None
    if alone and all(m.rowwise and p.level in {"row", "values"} for m, p in zip(metrics, parts, strict=True)):
        rows = [_columns(i, part) for i, part in enumerate(parts) if part.level == "row"]
        both = sum_in_bins(log, keys, {name: value for one in rows for name, value in one.items()}, _kept(parts))
    if both is None:
        more = [name for name in attributes if name not in keys]
        found = log.gather(lambda frame: _query(replace(log, frame=frame), parts, keys, unit, more), unit)
        held = {name: UnitRows.of_lists(found[name]) for name in _kept(parts)}
    else:
        found, held = both
    if unit and found[unit].null_count():
        count = int(found.filter(pl.col(unit).is_null())["rows"].sum())
        raise DataError(
            f"{log.label}: {words.counted(count, 'row names', 'rows name')} no {log.unit_noun} ({log.roles[unit]} is empty): "
            "give each visitor an id, or leave these rows out"
        )
    above, below = np.zeros((len(parts), len(found))), np.ones((len(parts), len(found)))
    for i, (metric, part) in enumerate(zip(metrics, parts, strict=True)):
        if part.level == "values":
            values, below[i] = held[f"v{i}"].values, held[f"v{i}"].sizes
        else:
            values = above[i] = found[f"n{i}"].to_numpy()
            below[i] = 1.0 if part.denominator is None else found[f"d{i}"].to_numpy()
        if metric.of_columns and not (np.isfinite(values).all() and np.isfinite(below[i]).all()):
            raise DataError(
                f"{log.label}: {metric}: a number is infinite, or a sum is; leave such cells empty, or cap them"
            )
    censored = tuple(int(found[f"c{i}"].sum()) if p.censored is not None else 0 for i, p in enumerate(parts))
    return UnitTotals(
        tuple(metrics), above, below, {name: found[name] for name in (*by, *attributes)}, unit,
        log.unit_noun if unit == "unit_id" else {"session_id": "session", "impression_id": "list", "": "row"}[unit],
        int(found["rows"].sum()), censored, end, found[unit] if ids and unit else None,
        {metrics[int(name[1:])]: values for name, values in held.items()},
    )  # fmt: skip


def arrivals(log: Log) -> tuple[int, ...]:
    """How many units were first seen on each day, from the first day to the last."""

    def days(frame: pl.LazyFrame) -> pl.LazyFrame:
        seen = frame.filter(pl.col("timestamp").is_not_null()).group_by("unit_id")
        return seen.agg(pl.col("timestamp").min().dt.date().alias("day")).group_by("day").len()

    found = log.gather(days, "unit_id").group_by("day").agg(pl.col("len").sum()).sort("day")
    if not len(found):
        return ()
    start = found["day"][0]
    counts = dict(zip(((day - start).days for day in found["day"].to_list()), found["len"].to_list(), strict=True))
    return tuple(counts.get(number, 0) for number in range((_end(log).date() - start).days + 1))


def _end(log: Log) -> Any:
    """The last time in a log; None where it has none."""
    log.require(("timestamp",), "a metric over days")
    return log.gather(lambda frame: frame.select(pl.col("timestamp").max())).max().item()


def _query(
    log: Log, parts: Sequence[RatioParts], keys: Sequence[str], unit: str, attributes: Sequence[str]
) -> pl.LazyFrame:
    """One row a unit (and group) with two columns a metric, and the number of rows."""
    here: list[pl.Expr] = []
    inner: dict[Level, list[int]] = {}
    for i, part in enumerate(parts):
        if part.level == "values":
            here.append(_kept(parts)[f"v{i}"].drop_nulls() if unit else _kept(parts)[f"v{i}"])
        elif part.level in {"row", "once"} and not unit:
            here += [column.fill_null(0.0) for column in _numbers(i, part)]
        elif part.level == "row":
            here += [column.sum() for column in _numbers(i, part)]
        elif part.level == "once":
            first, *known = _numbers(i, part)
            here += [first_known(first).fill_null(0.0), *(column.max() for column in known)]
        elif part.level == "unit" and unit:
            here += _numbers(i, part)
        else:
            inner.setdefault(part.level, []).append(i)
    if not unit:
        if inner:
            raise DataError(f"{log.label}: no user, session or list is named")
        return log.frame.select(*keys, *attributes, *here, pl.lit(1).alias("rows"))
    of_units = [first_known(pl.col(name)) for name in attributes]
    out = log.frame.group_by(keys).agg(*here, *of_units, pl.len().alias("rows"))
    for level, places in inner.items():
        each = log.frame.filter(pl.col(KEYS[level]).is_not_null()).group_by(list(dict.fromkeys([*keys, KEYS[level]])))
        lists = each.agg(*[column for i in places for column in _numbers(i, parts[i])])
        columns = [name for i in places for name in _columns(i, parts[i])]
        table = lists.group_by(keys).agg(pl.col(name).sum() for name in columns)
        out = out.join(table, on=keys, how="left", nulls_equal=True).with_columns(pl.col(columns).fill_null(0.0))
    return out


def _columns(i: int, part: RatioParts) -> dict[str, pl.Expr]:
    """The expressions of a metric by the names of their columns: n, d and c for numerator, denominator and censored."""
    named = {f"n{i}": part.numerator, f"d{i}": part.denominator, f"c{i}": part.censored}
    return {name: value for name, value in named.items() if value is not None}


def _numbers(i: int, part: RatioParts) -> list[pl.Expr]:
    return [value.cast(pl.Float64).alias(name) for name, value in _columns(i, part).items()]


def _kept(parts: Sequence[RatioParts]) -> dict[str, pl.Expr]:
    """The columns whose values are kept row by row."""
    return {f"v{i}": part.numerator.alias(f"v{i}") for i, part in enumerate(parts) if part.level == "values"}
