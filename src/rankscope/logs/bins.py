"""The sums of a log over its units where each row adds by itself: ids get numbers from 0 up, and rows are summed into bins by number.

It gives what grouping gives (``logs/rollup.py``) in a fraction of the time: sums of whole numbers to the bit, others but for rounding. Where
that takes a closer look (a row names no unit, an id has a blank at its end) it gives nothing, and rows are grouped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankscope.impressions import COLUMNS, Log, padded
from rankscope.lists import Array
from rankscope.logs.rows import UnitRows
from rankscope.parallel import map_parts

LEVELS = 8  # tables in which a key looks for a place
FEWEST, MOST = 10, 24  # bits of a place
BITS = 8  # columns of what is true or false that are counted together
SPARSE = 2  # bins per row above which too many would be empty
STEP = 1 << 16  # rows that are summed at once, so that all that is made of them stays in the cache
# 2 ** 64 over the golden ratio: products with it differ in their first bits if numbers differ at all
ODD = np.uint64(0x9E3779B97F4A7C15)
KEY, SPOT, GROUP = 1, 2, 3  # seeds of hashes
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
HASHED = (*WHOLE, pl.String, pl.Boolean, pl.Date, pl.Datetime)  # equal values have one hash in all pieces

Keys: TypeAlias = NDArray[np.uint64]
Numbers: TypeAlias = NDArray[np.int64]
Marks: TypeAlias = NDArray[np.uint8]
NOTHING: Numbers = np.zeros(0, dtype=np.int64)
ONE = np.int32(1)  # NumPy takes 30 times as long to add numbers of another type to bins


class Numbering:
    """A number from 0 up for each different key, in the order in which keys come.

    A key is 64 bits, and further 64 bits (its spot) say where in a table its number stands. Where another key stands there, it looks in the next
    table, at another spot.
    """

    def __init__(self, bits: int) -> None:
        self.bits = min(max(bits, FEWEST), MOST)
        self.count, self.full = 0, False
        self._tables: list[NDArray[np.int32]] = []
        self._keys: Keys = np.zeros(0, dtype=np.uint64)

    def number(self, keys: Keys, spots: Keys) -> tuple[Numbers, Numbers]:
        """The number of each key, and where the keys stand that are new, in the order of their numbers. It is ``full`` where one finds no place."""
        numbers, new = self._look(0, keys, spots & np.uint64((1 << self.bits) - 1))
        first, level = [new], 0
        left = np.flatnonzero(self._keys.take(numbers, mode="wrap") != keys)
        spots = spots[left]
        while len(left):
            level += 1
            if level == LEVELS:
                self.full = True
                break
            own = keys[left]
            spots = (spots + own) * ODD
            numbers[left], new = self._look(level, own, spots >> np.uint64(64 - self.bits))
            first.append(left[new])
            lost = self._keys.take(numbers[left], mode="wrap") != own
            left, spots = left[lost], spots[lost]
        return numbers, np.concatenate(first)

    def _look(self, level: int, keys: Keys, at: Keys) -> tuple[Numbers, Numbers]:
        """The number at each place of a table once keys have got the places that were free, and where these keys stand."""
        if level == len(self._tables):
            self._tables.append(np.full(1 << self.bits, -1, dtype=np.int32))
        table, places = self._tables[level], at.view(np.int64)
        numbers = table.take(places, mode="wrap")
        free = np.flatnonzero(numbers < 0)
        if not len(free):
            return numbers.astype(np.int64), free
        wanted, order = places[free], np.arange(len(free), dtype=np.int32)
        table[wanted] = order
        won = table.take(wanted, mode="wrap") == order  # one of the rows that want a place
        new = free[won]
        table[wanted[won]] = np.arange(self.count, self.count + len(new), dtype=np.int32)
        self._keys = with_room(self._keys, self.count + len(new))
        self._keys[self.count : self.count + len(new)] = keys[new]
        self.count += len(new)
        numbers[free] = table.take(wanted)
        return numbers.astype(np.int64), new


def with_room(values: NDArray[Any], count: int) -> NDArray[Any]:
    """The values with room for ``count``, padded with 0."""
    if count <= len(values):
        return values
    out = np.zeros(max(count, 2 * len(values)), dtype=values.dtype)
    out[: len(values)] = values
    return out


@dataclass(frozen=True)
class _Piece:
    """Some rows: their keys and spots, the columns that name units and groups, and what rows add.

    ``marks`` have what is true or false of a row, one bit per column; ``values`` are numbers, a column each; ``kept`` are those that are not summed.
    """

    keys: Keys
    spots: Keys
    names: pl.DataFrame
    marks: Sequence[Marks]
    values: Sequence[Array]
    kept: Sequence[Array]


class _Sums:
    """What rows add, in one bin per number. Most rows have the same marks: others are counted by their marks, so that a row goes to one bin or two."""

    def __init__(self) -> None:
        self.rows: Numbers = NOTHING
        self.usual: list[int] = []
        self.others: list[dict[int, Numbers]] = []
        self.values: list[Array] = []

    def add(self, numbers: Numbers, count: int, marks: Sequence[Marks], values: Sequence[Array]) -> None:
        """Add rows to the bins of their ``numbers``, of which there are ``count`` now."""
        if not len(self.rows):
            self.usual = [int(np.bincount(mark).argmax()) for mark in marks]
            self.others, self.values = [{} for _ in marks], [np.zeros(0) for _ in values]
        self.rows = with_room(self.rows, count)
        np.add.at(self.rows, numbers, 1)
        for usual, bins, mark in zip(self.usual, self.others, marks, strict=True):
            unusual = np.flatnonzero(mark != usual)
            where, which = numbers[unusual], mark[unusual]
            for bits in np.flatnonzero(np.bincount(which)).tolist():
                bins[bits] = with_room(bins.get(bits, NOTHING), count)
                np.add.at(bins[bits], where[which == bits], 1)
        for i, column in enumerate(values):
            self.values[i] = with_room(self.values[i], count)
            np.add.at(self.values[i], numbers, column)

    def marked(self, column: int) -> Numbers:
        """In how many rows of each number a column is true."""
        at, bit = divmod(column, BITS)
        usual, out = self.usual[at] >> bit & 1, np.zeros(len(self.rows), dtype=np.int64)
        for bits, bins in self.others[at].items():
            if (bits >> bit & 1) != usual:
                out[: len(bins)] += bins[: len(out)]  # each has room for more than there are
        return self.rows - out if usual else out


def sum_in_bins(
    log: Log, keys: Sequence[str], added: Mapping[str, pl.Expr], kept: Mapping[str, pl.Expr] | None = None
) -> tuple[pl.DataFrame, dict[str, UnitRows]] | None:
    """The sums of what rows add, a row for each unit (and group), with the number of ``rows``: what a group_by of ``keys`` gives, in an order of its own.

    The first of ``keys`` names units, the others are to group by; ``added`` are expressions of single rows, and so are those whose values are
    ``kept`` one by one. None where rows must be grouped.
    """
    numbering, names, sums = None, [], _Sums()
    values = {name: value.cast(pl.Float64).alias(name) for name, value in (kept or {}).items()}
    held: list[tuple[Numbers, Sequence[Array]]] = []
    kinds = log.pieces[0].select(value.alias(name) for name, value in added.items()).collect_schema()
    flags = [name for name in added if kinds[name] == pl.Boolean]
    for piece in _pieces(log, keys, added, flags, values):
        if piece is None:
            return None
        at: list[Numbers] = []
        numbering = numbering or Numbering(_bits(piece.spots, log.rows))
        first = []
        for start in range(0, len(piece.keys), STEP):
            step = slice(start, start + STEP)
            numbers, new = numbering.number(piece.keys[step], piece.spots[step])
            if numbering.full:
                return None
            first.append(new + start)
            if values:
                at.append(numbers)
            marks, added_up = ([column[step] for column in columns] for columns in (piece.marks, piece.values))
            sums.add(numbers, numbering.count, marks, added_up)
        names.append(piece.names[np.concatenate([NOTHING, *first])])
        held.append((np.concatenate([NOTHING, *at]), piece.kept))
    table = as_text(pl.concat(names))
    if table is None:
        return None
    summed = iter(sums.values)
    columns = {name: sums.marked(flags.index(name)) if name in flags else next(summed) for name in added}
    units = table.with_columns(
        pl.Series("rows", sums.rows[: len(table)]),
        *(pl.Series(name, column[: len(table)].astype(np.float64)) for name, column in columns.items()),
    )
    at_all = np.concatenate([at for at, _ in held])
    rows_kept = (np.concatenate([columns[i] for _, columns in held]) for i in range(len(values)))
    return units, {n: UnitRows.of_numbers(rows, at_all, len(table)) for n, rows in zip(values, rows_kept, strict=True)}


def sum_at_places(
    log: Log, unit: str, column: str, added: Mapping[str, pl.Expr]
) -> Iterator[tuple[int, pl.DataFrame]] | None:
    """Yield each number of a column, such as a position, with a table of its sums: one row per unit, with its number of ``rows``.

    Each unit has a bin at each place, so no pair is searched. None if rows must be grouped, or if most bins would be empty.
    """
    numbering, found = None, list[tuple[NDArray[np.int32], NDArray[np.int32]]]()
    for piece in map_parts(lambda rows: _placed(log.collect(rows.select(unit, column))), log.pieces):
        if piece is None:
            return None
        names, keys, spots, runs, places = piece
        numbering = numbering or Numbering(_bits(spots, log.rows))
        numbers, new = numbering.number(keys, spots)
        if numbering.full or as_text(names[new].to_frame()) is None:
            return None
        found.append((np.repeat(numbers.astype(np.int32), runs), places))
    assert numbering is not None  # a log has a piece
    at = range(int(min(places.min() for _, places in found)), int(max(places.max() for _, places in found)) + 1)
    if numbering.count * len(at) > SPARSE * log.rows:
        return None
    return _at_places(log, column, added, found, numbering.count, at)


_Placed: TypeAlias = tuple[pl.Series, Keys, Keys, Numbers, NDArray[np.int32]]


def _placed(table: pl.DataFrame) -> _Placed | None:
    """The runs of rows of one unit (its name, key and spot, their lengths) and the place of each row. None as in ``_piece``."""
    unit = table.to_series(0)
    whole = len(table) and unit.dtype in HASHED and table.dtypes[1] in WHOLE
    places = table.to_series(1).cast(pl.Int32, strict=False) if whole else None
    if places is None or unit.null_count() or places.null_count():
        return None
    keys, spots = keys_of(unit)
    first = np.append(True, keys[1:] != keys[:-1])
    runs = np.diff(np.flatnonzero(first), append=len(keys))
    return unit.filter(pl.Series(first)), keys[first], spots[first], runs, places.to_numpy()


def _at_places(
    log: Log, column: str, added: Mapping[str, pl.Expr], found: list[tuple[NDArray[np.int32], NDArray[np.int32]]], units: int, at: range
) -> Iterator[tuple[int, pl.DataFrame]]:  # fmt: skip
    """Sum rows with known units and places into bins, one place after another: only rows that differ from most rows go to a bin."""
    columns = [pl.col(column), *(value.alias(name) for name, value in added.items())]  # a literal alone is one row
    rows = np.zeros(len(at) * units, dtype=np.int32)
    sums, usual = dict[str, Array](), dict[str, bool]()
    tables = map_parts(lambda part: log.collect(part.select(columns)), log.pieces)
    for (unit, place), table in zip(found, tables, strict=True):
        bins = (place.astype(np.int64) - at.start) * units + unit
        np.add.at(rows, bins, ONE)
        for name in added:
            flag = table[name].dtype == pl.Boolean
            known = table[name].fill_null(value=False) if flag else table[name].cast(pl.Float64).fill_null(0.0)
            values = known.to_numpy()
            most = usual.setdefault(name, bool(flag and 2 * np.count_nonzero(values) > len(values)))
            here = np.flatnonzero(values != most)
            into = sums.setdefault(name, np.zeros(len(rows), dtype=np.int32 if flag else np.float64))
            np.add.at(into, bins[here], (-ONE if most else ONE) if flag else values[here])
    for i, number in enumerate(at):
        part = slice(i * units, (i + 1) * units)
        here = np.flatnonzero(rows[part])
        own = {n: (rows[part] + into[part] if usual[n] else into[part])[here] for n, into in sums.items()}
        if len(here):
            yield number, pl.DataFrame({**own, "rows": rows[part][here]}).with_columns(pl.all().cast(pl.Float64))


def _pieces(
    log: Log, keys: Sequence[str], added: Mapping[str, pl.Expr], flags: Sequence[str], kept: Mapping[str, pl.Expr]
) -> Iterator[_Piece | None]:
    columns = [value.alias(name) for name, value in added.items()]

    def read(rows: pl.LazyFrame) -> _Piece | None:
        table = log.collect(rows.select(*keys, *columns, *kept.values()))
        return _piece(table.rechunk(), keys, flags, [*kept])  # rows are picked faster from one chunk

    return map_parts(read, log.pieces)


def _piece(table: pl.DataFrame, keys: Sequence[str], flags: Sequence[str], kept: Sequence[str]) -> _Piece | None:
    """What is to be summed of some rows; None where there are none, one names no unit, or a column is of a kind that is left to grouping."""
    unit, *others = (table[name] for name in keys)
    if not len(unit) or unit.null_count() or not all(column.dtype in HASHED for column in (unit, *others)):
        return None
    key, spot = keys_of(unit)
    for i, column in enumerate(others):
        key = key ^ column.hash(GROUP + i).to_numpy()
    summed = [name for name in table.columns if name not in {*keys, *flags, *kept}]
    values = [table[name].cast(pl.Float64).fill_null(0.0).to_numpy() for name in summed]
    single = [table[name].fill_null(np.nan).to_numpy() for name in kept]
    return _Piece(key, spot, table.select(keys), [*_marks(table.select(flags))], values, single)


def keys_of(column: pl.Series) -> tuple[Keys, Keys]:
    """Return the key of each value, and its spot (see ``Numbering``)."""
    if column.dtype not in WHOLE:
        return column.hash(KEY).to_numpy(), column.hash(SPOT).to_numpy()
    # a number is its own key, and its last bits are its place: numbers near each other never meet
    wide = np.int64 if column.dtype.is_signed_integer() else np.uint64
    key = column.to_numpy().astype(wide, copy=False).view(np.uint64)
    return key, key


def _marks(flags: pl.DataFrame) -> Iterator[Marks]:
    """What is true of each row, one bit per column, for some columns at a time."""
    for first in range(0, flags.width, BITS):
        mark = np.zeros(len(flags), dtype=np.uint8)
        for bit, column in enumerate(flags.get_columns()[first : first + BITS]):
            mark |= column.fill_null(value=False).to_numpy().view(np.uint8) << bit
        yield mark


def _bits(spots: Keys, rows: int) -> int:
    """How large tables are to be: with a place for each number from 0 on, where units are such numbers, else one for four rows."""
    largest = int(spots.max(initial=0)).bit_length()
    return largest if largest <= MOST else rows.bit_length() - 2


def as_text(names: pl.DataFrame) -> pl.DataFrame | None:
    """Columns of ids as text; None where one is empty or has a blank, so that all are to be stripped."""
    ids = [name for name in names.columns if name in COLUMNS and COLUMNS[name].kind == "id"]
    for name in ids:
        if names.schema[name] == pl.String and padded(names[name]):
            return None
    return names.with_columns(pl.col(ids).cast(pl.String))
