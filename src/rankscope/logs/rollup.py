"""The roll-up of a log to its units: what each of them adds above and below the line of every metric, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError
from rankscope.impressions import COLUMNS, ROWS, Log, Merged, first_known
from rankscope.lists import Array
from rankscope.logs.base import KEYS, Earning, Level, OnlineMetric, RatioParts, before_of
from rankscope.logs.bins import as_text, sum_at_places, sum_in_bins
from rankscope.logs.rows import UnitRows
from rankscope.parallel import map_parts

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
# most rows that are always merged, most merged rows of a larger log, and rows from which their number is estimated
FEW, MOST, LOOKED = (1 << 20, 1 << 21, 10_000)
FULL = 0.95  # share of merged rows of pieces that differ above which they are not merged again
SIZES = (1e-50, 1e50)  # of numbers other than 0: their squares and ratios stay finite
TOO_NARROW = "; where users come back, intervals are too narrow"


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """Units and their totals: ``numerators`` and ``denominators`` are metrics x units.

    ``groups`` has, by the name of what was grouped by (a variant, a slice, a day), the value of each unit; a unit that has rows in several groups
    is there several times. ``unit`` is the column that names units, empty where each row is its own; ``ids`` are their names, where asked for.
    ``censored`` counts the units of each metric that were not observed for long enough, ``end`` is the last time in the log. ``values`` has
    for each metric of values (a quantile) those of each unit's rows; below the line is their number then, and above it nothing.

    If units are clusters of users, ``members`` are these users, and ``owners`` the place of the cluster of each.
    """

    metrics: tuple[Earning, ...]
    numerators: Array
    denominators: Array
    groups: Mapping[str, pl.Series]
    unit: str
    noun: str
    rows: int
    censored: tuple[int, ...]
    end: datetime | None = None
    ids: pl.Series | None = None
    values: Mapping[Earning, UnitRows] = field(default_factory=dict)
    members: UnitTotals | None = None
    owners: Any = None

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
            raise DataError(f"these units end at {self.end} and those at {other.end}: roll both up with the same end")
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

    def size_of(self, kept: pl.Series) -> int:
        """The number of units among these."""
        return int(kept.sum())

    @property
    def remark(self) -> str:
        """What to know of units where the log names none; empty where it does."""
        return "" if self.unit == "unit_id" else WITHOUT[self.unit] + TOO_NARROW

    @property
    def single(self) -> UnitTotals:
        """The users in clusters, or these units if they are no clusters."""
        return self if self.members is None else self.members

    def clustered(self, columns: Sequence[str], by: Sequence[str] = ()) -> UnitTotals:
        """Return the clusters of these units: sums over units with the same values in these columns."""
        if not columns:
            return self
        table = pl.DataFrame({name: self.groups[name] for name in (*by, *columns)})
        if (without := table.select(pl.any_horizontal(pl.col(columns).is_null()).sum()).item()) > 0:
            raise DataError(
                f"clusters: {words.counted(without, self.noun)} {words.agree(without, 'has')} no {words.listing(columns)}: "
                "give each a cluster, or leave these rows out"
            )
        clusters = table.unique().sort(table.columns).with_row_index("cluster")
        owners = table.join(clusters, on=table.columns, how="left", nulls_equal=True, maintain_order="left")["cluster"]
        totals = replace(
            self, groups={name: clusters[name] for name in table.columns}, unit="unit_id", noun="cluster", members=self,
            ids=clusters.select(pl.concat_str(pl.col(columns).cast(pl.String), separator=" ")).to_series(),
            owners=owners.to_numpy().astype(np.int64),
        )  # fmt: skip
        above, below = (totals.summed(part.T).T for part in (self.numerators, self.denominators))
        values = {
            m: UnitRows.of_numbers(v.values, totals.owners[v.units], len(clusters)) for m, v in self.values.items()
        }
        return replace(totals, numerators=above, denominators=below, values=values)

    def summed(self, columns: Array) -> Array:
        """Return the sums over each cluster of columns of its members, whatever their order; without clusters the columns."""
        if self.members is None or self.ids is None:
            return columns
        orders = [np.lexsort((column, self.owners)) for column in columns.T]
        each = [
            np.bincount(self.owners[order], column[order], len(self.ids))
            for order, column in zip(orders, columns.T, strict=True)
        ]
        return np.stack(each).T

    def filter(self, kept: pl.Series) -> UnitTotals:
        """Some of the units."""
        inside = kept.to_numpy()
        members, owners = self.members, self.owners
        if members is not None:
            own = inside[owners]
            members, owners = members.filter(pl.Series(own)), (np.cumsum(inside) - 1)[owners[own]]
        return replace(
            self,
            members=members,
            owners=owners,
            numerators=self.numerators[:, inside],
            denominators=self.denominators[:, inside],
            groups={name: group.filter(kept) for name, group in self.groups.items()},
            ids=None if self.ids is None else self.ids.filter(kept),
            values={metric: held.take(np.flatnonzero(inside)) for metric, held in self.values.items()},
        )

    def observed(self, metric: Earning) -> UnitTotals:
        """Return the units with a denominator above 0."""
        seen = self.columns(metric)[:, 1] != 0
        return self if seen.all() else self.filter(pl.Series(seen))

    def grouped(self, name: str, values: Any) -> UnitTotals:
        """Return the same units with the values of one group."""
        return replace(self, groups={name: pl.Series(name, values)})

    def counted(self, metric: Earning) -> UnitTotals:
        """Return the units that count for a metric. If it leaves out units, or rows are units, these have a denominator above 0."""
        return self.observed(metric) if metric.leaves_out() or not self.unit else self

    def adjusting(self, covariate: OnlineMetric) -> list[Array]:
        """Return the columns of a covariate, and of an indicator of units without a value if it is a mean and there are any."""
        own = self.columns(covariate)
        missing = own[:, 1] == 0
        is_mean = np.array_equal(own[:, 1], ~missing)  # a ratio has amounts as denominators, and 0 is an amount
        return [own, np.column_stack([missing, np.ones(len(own))])] if missing.any() and is_mean else [own]

    def columns(self, metric: Earning) -> Array:
        """Two columns, what each unit adds above and below the line: units x 2. Raises DataError for a metric of single rows, which has no sums."""
        if metric in self.values:
            raise DataError(f"{metric} is of single rows: units add nothing up to it")
        row = self.metrics.index(metric)
        return np.stack([self.numerators[row], self.denominators[row]]).T  # a column lies in one place

    def rows_of(self, metric: OnlineMetric, inside: Array | None = None) -> UnitRows:
        """The rows of a quantile that have a value, of all units or of the units at these places."""
        held = self.values.get(metric)
        if held is None:
            sums, known = self.single.columns(metric).T
            numbers = np.arange(self.count) if self.owners is None else self.owners
            held = UnitRows.of_numbers(np.where(known > 0, sums, np.nan), numbers, self.count)
        return held if inside is None or len(inside) == self.count else held.take(inside)


def left_out_of_window(metric: Earning, seen: int, left_out: int, noun: str) -> str:
    """Return the note about units that a windowed metric leaves out."""
    return f"{metric} counts {words.counted(seen, noun)} and leaves out {words.count(left_out)}, first seen too near the end of the log"


def _fit(numbers: Array) -> bool:
    size = np.abs(numbers)
    return bool(((size == 0) | ((size >= SIZES[0]) & (size <= SIZES[1]))).all())


def unit_of(log: Log) -> str:
    """The column that names units: users, or else sessions, or else lists; empty where each row is its own. Raises DataError for sums."""
    if log.sums is not None:
        raise DataError(
            f"{log.label}: its rows are sums over many {words.plural(log.sums.noun)}: give one row per {log.sums.noun} or event"
        )
    return next((name for name in UNITS if log.has(name)), "")


def roll_up(
    log: Log,
    metrics: Sequence[Earning],
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
    if any(before_of(metric) for metric in metrics):
        return _with_before(log, metrics, by, attributes, ids, end)
    for metric in metrics:
        log.require(metric.columns(log), str(metric))
    unit = unit_of(log)
    if not unit and log.elsewhere is not None:
        raise DataError(_ALL_ROWS.format(log.label))
    end = (end or _end(log)) if any(metric.windowed for metric in metrics) else None
    parts = [metric.parts(log, end) for metric in metrics]
    keys = [*([unit] if unit else []), *by]
    both = _in_one_pass(log, metrics, parts, keys) if unit and not attributes and log.elsewhere is None else None
    if both is None:
        more = [name for name in attributes if name not in keys]
        table = log.gather(lambda frame: _query(frame, log.label, parts, keys, unit, more), unit)
        held = {name: UnitRows.of_lists(table[name]) for name in _kept(parts)}
    else:
        table, held = both
    if unit and table[unit].null_count():
        count = int(table.filter(pl.col(unit).is_null())["rows"].sum())
        raise DataError(
            f"{log.label}: {words.counted(count, 'row names', 'rows name')} no {log.unit_noun} ({log.roles[unit]} is empty): "
            "give each visitor an id, or leave these rows out"
        )
    groups, named = {name: table[name] for name in (*by, *attributes)}, table[unit] if ids and unit else None
    return replace(_totals(log, metrics, parts, table, unit, held), groups=groups, end=end, ids=named)


def roll_up_parts(
    log: Log, metrics: Sequence[OnlineMetric], column: str, most: int = 0
) -> Iterator[tuple[Any, UnitTotals]]:
    """Yield each value of a column, in order, with the roll-up of its rows; of many values only the ``most`` with the most units."""
    unit, rowwise = unit_of(log), all(metric.rowwise for metric in metrics)
    parts = [metric.parts(log, None) for metric in metrics] if rowwise else []
    by_place = rowwise and unit and not most and all(part.level == "row" for part in parts)
    if by_place and log.elsewhere is None and not _is_merged(log, metrics, [unit, column]):
        for metric in metrics:
            log.require(metric.columns(log), str(metric))
        added = {name: value for i, part in enumerate(parts) for name, value in _columns(i, part).items()}
        if (places := sum_at_places(log, unit, column, added)) is not None:
            yield from ((value, _totals(log, metrics, parts, table, unit, {})) for value, table in places)
            return
    if unit and not most and _is_merged(log, metrics, [unit, column]):  # one value at a time takes less memory
        merged = cast("Merged", log.merged)
        for value in merged.table[column].unique().sort(nulls_last=True):
            table = merged.table.filter(merged.table[column].eq_missing(value))
            yield value, roll_up(replace(log, merged=replace(merged, table=table)), metrics)
        return
    units = roll_up(log, metrics, [column])
    counts = units.groups[column].rename("value").value_counts(name="units")
    if most:
        counts = counts.sort("units", "value", descending=[True, False], nulls_last=True).head(most)
    for value in counts["value"].sort(nulls_last=True):
        yield value, units.filter(units.groups[column].eq_missing(value))


def _totals(
    log: Log, metrics: Sequence[Earning], parts: Sequence[RatioParts], table: pl.DataFrame, unit: str, held: Mapping[str, UnitRows]
) -> UnitTotals:  # fmt: skip
    """The totals of units from a table of their sums. Raises DataError for a number that is too large or too small."""
    above, below = np.empty((len(parts), len(table))), np.empty((len(parts), len(table)))
    for i, (metric, part) in enumerate(zip(metrics, parts, strict=True)):
        if part.level == "values":
            above[i], values, below[i] = 0.0, held[f"v{i}"].values, held[f"v{i}"].sizes
        else:
            values = above[i] = table[f"n{i}"].to_numpy()
            sums = table[f"d{i}"].to_numpy() if part.denominator is not None else np.ones(1)
            below[i] = sums > 0 if part.whole else sums
        if not (_fit(values) and _fit(below[i])):
            least, most = (f"{size:.0e}" for size in SIZES)
            raise DataError(
                f"{log.label}: {metric}: a number or a sum is beyond {most} in size, or below {least} and not 0: leave these cells empty, or use another unit"
            )
    censored = tuple(int(table[f"c{i}"].sum()) if p.censored is not None else 0 for i, p in enumerate(parts))
    return UnitTotals(
        tuple(metrics), above, below, {}, unit,
        log.unit_noun if unit == "unit_id" else {"session_id": "session", "impression_id": "list", "": "row"}[unit],
        int(table["rows"].sum()), censored, None, None,
        {metrics[int(name[1:])]: values for name, values in held.items()},
    )  # fmt: skip


def _in_one_pass(
    log: Log, metrics: Sequence[Earning], parts: Sequence[RatioParts], keys: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, UnitRows]] | None:
    """Return the sums and the values of units from merged rows, or of metrics of single rows in bins; None for other metrics."""
    if (merged := _of_merged(log, metrics, parts, keys)) is not None:
        text = [name for name in keys if log.schema.get(name) == pl.String]
        return merged.collect().with_columns(pl.col(text).cast(pl.String)), {}
    if not all(m.rowwise and p.level in {"row", "values"} for m, p in zip(metrics, parts, strict=True)):
        return None
    rows = [_columns(i, part) for i, part in enumerate(parts) if part.level == "row"]
    return sum_in_bins(log, keys, {name: value for one in rows for name, value in one.items()}, _kept(parts))


def _with_before(
    log: Log, metrics: Sequence[Earning], by: Sequence[str], attributes: Sequence[str], ids: bool, end: datetime | None
) -> UnitTotals:
    """Roll up metrics and covariates from before the assignment. A unit without a row before it adds 0."""
    early = {metric: of for metric in metrics if (of := before_of(metric)) is not None}
    if log.before is None:
        raise DataError(
            f"{log.label}: nothing is known of the time before the assignment: give two tables, assignments and events with times"
        )
    now = roll_up(
        log, [metric for metric in metrics if metric not in early], by, attributes=attributes, ids=True, end=end
    )
    past = roll_up(log.before, [*early.values()], ids=True)
    known = pl.DataFrame({"id": past.ids, "at": np.arange(past.count)})
    at = pl.DataFrame({"id": now.ids}).join(known, on="id", how="left", maintain_order="left")["at"]
    inside, place = at.is_not_null().to_numpy(), at.fill_null(0).to_numpy()
    above, below = np.zeros((len(metrics), now.count)), np.ones((len(metrics), now.count))
    for i, metric in enumerate(metrics):
        if metric not in early:
            row = now.metrics.index(metric)
            above[i], below[i] = now.numerators[row], now.denominators[row]
        elif past.count:
            own = past.columns(early[metric])[place]
            nothing = 1.0 if early[metric].parts(log.before, None).denominator is None else 0.0
            above[i], below[i] = np.where(inside, own[:, 0], 0.0), np.where(inside, own[:, 1], nothing)
    censored = tuple(0 if metric in early else now.censored[now.metrics.index(metric)] for metric in metrics)
    named = now.ids if ids else None
    return replace(now, metrics=tuple(metrics), numerators=above, denominators=below, censored=censored, ids=named)


def adds_up(log: Log, metric: Earning, by: str) -> bool:
    """True if the totals of a unit by a column, such as days, add up to its totals over all rows."""
    if before_of(metric) is not None:  # every day has the whole time before
        return False
    level = metric.parts(log, None).level
    if level not in KEYS:
        return level in {"row", "once", "values"}
    apart = (pl.col(by).min() != pl.col(by).max()).fill_null(value=False)
    key = KEYS[level]
    lists = log.gather(
        lambda rows: rows.filter(pl.col(key).is_not_null()).group_by(key).agg(apart.alias(by)).select(pl.col(by).any()),
        key,
    )
    return not lists[by].any()


def so_far(log: Log, units: UnitTotals, parts: pl.Series, most: int = 0) -> Iterator[tuple[Any, UnitTotals]]:
    """Yield each value of ``parts`` (or the last ``most``) in order, with the totals of the units up to it, one row per unit and its groups."""
    kinds = [metric.parts(log, units.end) for metric in units.metrics]
    number, first = _numbered(units)
    seen = np.zeros(len(first), dtype=bool)
    above, below = np.zeros((2, len(kinds), len(first)))
    values = parts.unique().sort()
    shown = values[-most:] if most else values
    for value in values:
        rows = np.flatnonzero((parts == value).to_numpy())
        at = number[rows]
        seen[at] = True
        for i, kind in enumerate(kinds):
            if kind.level == "once":
                new = below[i, at] == 0
                above[i, at[new]] = units.numerators[i, rows[new]]
            else:
                np.add.at(above[i], at, units.numerators[i, rows])
            np.add.at(below[i], at, units.denominators[i, rows])
        if value < shown[0]:
            continue
        kept = np.flatnonzero(seen)
        names, place, until = first[kept], np.cumsum(seen) - 1, np.flatnonzero((parts <= value).to_numpy())
        held = {metric: own.take(until) for metric, own in units.values.items()}
        once = [
            kind.whole or kind.level == "once" or (kind.denominator is None and kind.level == "row") for kind in kinds
        ]
        yield (
            value,
            replace(
                units,
                numerators=above[:, kept],
                denominators=np.where(np.array(once)[:, np.newaxis], np.minimum(below[:, kept], 1.0), below[:, kept]),
                groups={name: group.gather(names) for name, group in units.groups.items()},
                ids=None if units.ids is None else units.ids.gather(names),
                values={
                    m: UnitRows.of_numbers(o.values, place[number[until]][o.units], len(kept)) for m, o in held.items()
                },
            ),
        )


def _numbered(units: UnitTotals) -> tuple[Array, Array]:
    """The number of each row's unit within its groups, and the first row of each number; without ids each row is a unit."""
    if units.ids is None:
        return np.arange(units.count), np.arange(units.count)
    table = pl.DataFrame({" id": units.ids, **units.groups}).with_row_index(" row")
    rows = table.group_by(" id", *units.groups, maintain_order=True).agg(" row")[" row"]
    number = np.empty(units.count, dtype=np.int64)
    number[rows.explode().to_numpy()] = np.repeat(np.arange(len(rows)), rows.list.len().to_numpy())
    return number, rows.list.first().to_numpy()


def arrivals(log: Log) -> tuple[int, ...]:
    """How many units were first seen on each day, from the first day to the last."""

    def days(frame: pl.LazyFrame) -> pl.LazyFrame:
        seen = frame.filter(pl.col("timestamp").is_not_null()).group_by("unit_id")
        return seen.agg(pl.col("timestamp").min().dt.date().alias("day")).group_by("day").len()

    table = log.gather(days, "unit_id").group_by("day").agg(pl.col("len").sum()).sort("day")
    if not len(table):
        return ()
    start = table["day"][0]
    counts = dict(zip(((day - start).days for day in table["day"].to_list()), table["len"].to_list(), strict=True))
    return tuple(counts.get(number, 0) for number in range((_end(log).date() - start).days + 1))


def _end(log: Log) -> Any:
    """The last time in a log; None where it has none."""
    log.require(("timestamp",), "a metric over days")
    return log.gather(lambda frame: frame.select(pl.col("timestamp").max())).max().item()


def _query(
    frame: pl.LazyFrame, label: str, parts: Sequence[RatioParts], keys: Sequence[str], unit: str, attributes: Sequence[str] = (), count: str = ""
) -> pl.LazyFrame:  # fmt: skip
    """One row per unit (and group) with two columns per metric, and the number of rows, or the sum of the column ``count``."""
    here: list[pl.Expr] = []
    inner: dict[tuple[Level, Any], list[int]] = {}
    frame = frame.with_columns(_sums(parts))
    for i, part in enumerate(parts):
        if part.level == "values":
            here.append(_kept(parts)[f"v{i}"].drop_nulls() if unit else _kept(parts)[f"v{i}"])
        elif part.level in {"row", "once"} and not unit:
            here += [column.fill_null(0.0) for column in _numbers(i, part)]
        elif part.level == "row":
            here += [_summed(column) for column in _numbers(i, part)]
        elif part.level == "once":
            first, *known = _numbers(i, part)
            here += [first_known(first).fill_null(0.0), *(column.max() for column in known)]
        elif part.level == "unit" and unit and part.prepared is None:
            here += _numbers(i, part)
        else:
            inner.setdefault((part.level, part.prepared), []).append(i)
    if not unit:
        if inner:
            raise DataError(f"{label}: no user, session or list is named")
        return frame.select(*keys, *attributes, *here, pl.lit(1).alias("rows"))
    of_units = [first_known(pl.col(name)) for name in attributes]
    out = frame.group_by(keys).agg(*here, *of_units, (pl.col(count).sum() if count else pl.len()).alias("rows"))
    for (level, prepared), places in inner.items():
        groups = list(dict.fromkeys([*keys, KEYS.get(level, unit)]))
        rows = frame.filter(pl.col(KEYS[level]).is_not_null()) if level in KEYS else frame
        each = (rows if prepared is None else prepared(rows, groups)).group_by(groups)
        lists = each.agg(*[column for i in places for column in _numbers(i, parts[i])])
        columns = [name for i in places for name in _columns(i, parts[i])]
        table = lists.group_by(keys).agg(pl.col(name).sum() for name in columns)
        out = out.join(table, on=keys, how="left", nulls_equal=True).with_columns(pl.col(columns).fill_null(0.0))
    return out


# --- several roll-ups in one pass ---------------------------------------------------------------------------------


def merge_rows(log: Log, metrics: Sequence[Earning], by: Sequence[str]) -> Merged | None:
    """Merge the rows of a log, so that roll-ups of these metrics by some of these columns (and the unit) need no other pass over it."""
    unit = unit_of(log)
    if not unit or log.elsewhere is not None:
        return None
    known = [m for m in dict.fromkeys(metrics) if before_of(m) is None and log.has(*m.columns(log))]
    end = _end(log) if any(metric.windowed for metric in known) else None
    both = [(metric, metric.parts(log, end)) for metric in known]
    both = [(m, part) for m, part in both if part.distinct or (m.rowwise and part.level == "row")]
    of_rows = {n: v for i, (_, part) in enumerate(both) if not part.distinct for n, v in _columns(i, part).items()}
    kinds = log.pieces[0].select(value.alias(name) for name, value in of_rows.items()).collect_schema()
    # flags are counted as they are, which takes less time than as numbers
    added = [(v if kinds[name] == pl.Boolean else v.cast(pl.Float64)).alias(name) for name, v in of_rows.items()]
    sums = [pl.col(name).sum().cast(pl.Float64) for name in of_rows]
    added += (of_parts := _sums(part for _, part in both))
    sums += [pl.col(value.meta.output_name()).sum() for value in of_parts]
    seen, read = {unit: None, **dict.fromkeys(by)}, set[str]()
    for metric, part in both:
        if part.distinct:
            columns = list(metric.columns(log)) if part.prepared else sorted(_roots(_columns(0, part).values()))
            unasked = {*part.sums, *_roots(part.sums.values())} if part.sums else set()
            more = [KEYS[part.level]] if part.level in KEYS else []
            seen |= dict.fromkeys([*more, *(name for name in columns if name not in unasked)])
            read |= {*columns} - ({unit} if part.prepared else set())
    top = log.collect(log.frame.head(LOOKED).select(*seen)) if log.rows > FEW else pl.DataFrame()
    if len(top) and top.n_unique() * log.rows > MOST * len(top):
        return None
    ids = [name for name in seen if name in log.roles and COLUMNS[name].kind == "id"]
    plain = all(COLUMNS[name].kind != "id" for name in _roots(added) & set(log.roles) - set(seen))

    def merge(frame: pl.LazyFrame) -> pl.LazyFrame:
        rows = frame.select(*seen, *added).group_by(*seen, maintain_order=True)
        return rows.agg(*sums, pl.len().cast(pl.Int64).alias(ROWS))

    table = None
    if plain and len(log.pieces) > 1:  # first each piece, then their results: in a fraction of the memory
        table = as_text(pl.concat(map_parts(lambda piece: log.collect(merge(piece)), log.pieces)))
        # rows that several pieces have are merged again, unless they are too few to matter: all sums are right without
        if table is not None and table.select(*seen).hash_rows().n_unique() < FULL * len(table):
            table = table.group_by(*seen, maintain_order=True).agg(*sums, pl.col(ROWS).sum())
    if table is None:
        table = log.gather(merge, unit, ids if plain else ())
    only_keys = [name for name in (unit, *by) if name not in read and table.schema[name] == pl.String]
    # categories are grouped in two thirds of the time
    table = table.with_columns(pl.col(only_keys).cast(pl.Categorical))
    return Merged(log.frame, table, (unit, *by), tuple(metric for metric, _ in both))


def _is_merged(log: Log, metrics: Sequence[Earning], keys: Sequence[str]) -> bool:
    """True if there are merged rows for a roll-up."""
    merged = log.merged
    if merged is None or merged.frame is not log.frame:
        return False
    return {*keys} <= {*merged.by} and {*metrics} <= {*merged.metrics}


def _of_merged(
    log: Log, metrics: Sequence[Earning], parts: Sequence[RatioParts], keys: Sequence[str]
) -> pl.LazyFrame | None:
    """Return the query of a roll-up from merged rows, or None if there are none for it."""
    if not _is_merged(log, metrics, keys):
        return None
    merged, own = cast("Merged", log.merged), []
    for metric, part in zip(metrics, parts, strict=True):
        at = merged.metrics.index(metric)
        below = None if part.denominator is None else pl.col(f"d{at}")
        again = (
            replace(part, sums={}) if part.distinct else replace(part, numerator=pl.col(f"n{at}"), denominator=below)
        )
        own.append(again)
    return _query(merged.table.lazy(), log.label, own, keys, keys[0], count=ROWS)


def _columns(i: int, part: RatioParts) -> dict[str, pl.Expr]:
    """The expressions of a metric by the names of their columns: n, d and c for numerator, denominator and censored."""
    named = {f"n{i}": part.numerator, f"d{i}": part.denominator, f"c{i}": part.censored}
    return {name: value for name, value in named.items() if value is not None}


def _numbers(i: int, part: RatioParts) -> list[pl.Expr]:
    return [value.cast(pl.Float64).alias(name) for name, value in _columns(i, part).items()]


def _summed(column: pl.Expr) -> pl.Expr:
    """The sum over the rows of a group; a literal has only one value for all of them."""
    name = column.meta.output_name()
    return column.sum() if column.meta.root_names() else (column.first() * pl.len()).alias(name)


def _roots(expressions: Iterable[pl.Expr]) -> set[str]:
    """The columns that expressions look at."""
    return {name for one in expressions for name in one.meta.root_names()}


def _sums(parts: Iterable[RatioParts]) -> list[pl.Expr]:
    """The columns that expressions add up over."""
    return [*{name: value.alias(name) for part in parts for name, value in part.sums.items()}.values()]


def _kept(parts: Sequence[RatioParts]) -> dict[str, pl.Expr]:
    """The columns whose values are kept row by row."""
    return {f"v{i}": part.numerator.alias(f"v{i}") for i, part in enumerate(parts) if part.level == "values"}
