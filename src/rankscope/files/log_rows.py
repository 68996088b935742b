"""Rows of a log before their columns have types, expected content of cells, and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import FLOAT_REMEDY
from rankscope.files.sheets import Sheet
from rankscope.impressions import Kind, Log
from rankscope.sources import UNDEFINED
from rankscope.tables import Source

TIMES = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")  # after the zone was cut off
ZONE = r"(Z|[+-]\d\d:?\d\d)$"
EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (0.0, "s"))  # smallest number in each unit: all after 1973
FIRST, LAST = -62_135_596_800e6, 253_402_300_799e6  # microseconds to the years 1 and 9999, between which there are days


@dataclass(frozen=True, eq=False)
class LogRows:
    """The rows of an input: a frame with its own names, a function that runs queries over it, and its rows in pieces.

    If rows are in parts on other machines, ``collect`` returns the answers of all parts, and ``settle`` makes a log that queries the parts.
    """

    frame: pl.LazyFrame
    schema: Mapping[str, pl.DataType]
    source: Source
    collect: Callable[[pl.LazyFrame], pl.DataFrame] = pl.LazyFrame.collect
    read_as: str = ""  # the origin of columns that the input does not have
    pieces: tuple[pl.LazyFrame, ...] = ()
    finite: frozenset[str] = frozenset()  # columns of floats without infinite numbers
    settle: Callable[[Log], Log] | None = None


EXPECTS: dict[Kind, str] = {
    "id": "an id is a text or a whole number; " + FLOAT_REMEDY,
    "time": "a time is like 2024-05-01T12:30:00Z, or seconds since 1970",
    "place": "a position is a whole number from 1",
    "flag": "true or false, yes or no, 1 or 0, or a number of times; an empty cell if it was not observed",
    "number": "a finite number is expected; an empty cell if it was not observed",
    "probability": "a finite number is expected, above 0 and at most 1; an empty cell if it is unknown",
}


def refuse_faults(rows: LogRows, faulty: Mapping[str, tuple[pl.Expr, Kind]]) -> None:
    """Raise InputError for the first faulty cell of a column, with its place, its text and the expected content."""
    if not faulty:
        return
    first = [cells.fill_null(value=False).arg_true().first() for cells, _ in faulty.values()]
    found = rows.collect(rows.frame.select(cells.alias(f"first{n}") for n, cells in enumerate(first)))
    for n, (name, (cells, kind)) in enumerate(faulty.items()):
        if len(at := found[f"first{n}"].drop_nulls()):
            value = rows.collect(rows.frame.filter(cells).select(name).head(1))[name][0]
            raise InputError(f"{rows.source.at(int(at[0]))}, column {name}: {words.quote(str(value))}: {EXPECTS[kind]}")


def read_times(rows: LogRows, name: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    """Return times in UTC, the faulty cells, and notes on assumed time zones."""
    column, dtype = pl.col(name), rows.schema[name]
    naive = f"column {name} has no time zone: read as UTC"
    if isinstance(dtype, pl.Datetime):
        here = column.cast(pl.Datetime("us", dtype.time_zone))
        if dtype.time_zone is None:
            return here.dt.replace_time_zone("UTC"), None, [naive]
        return here.dt.convert_time_zone("UTC"), None, []
    if dtype == pl.Date:
        return column.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"), None, [naive]
    if dtype.is_numeric():
        number = column.cast(pl.Float64).fill_nan(None)
        value = _since_1970(number, float(rows.collect(rows.frame.select(number.max())).max().item() or 0))
        return value, number.is_not_null() & value.is_null(), []
    if dtype != pl.String:
        raise InputError(f"{rows.source.label}: column {name} is of type {dtype}; {EXPECTS['time']}")
    return _written_time(rows, name, naive)


def with_times(sheet: Sheet, name: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of a sheet with a column of times, and notes on assumed zones. Raises InputError for the first faulty cell."""
    rows = LogRows(sheet.frame.lazy(), dict(sheet.frame.schema), Source(sheet.label, place_of=sheet.at))
    value, faulty, notes = read_times(rows, name)
    if faulty is not None:
        refuse_faults(rows, {name: (faulty, "time")})
    return sheet.frame.with_columns(value.alias(name)), notes


def _since_1970(column: pl.Expr, largest: float) -> pl.Expr:
    unit = next((unit for least, unit in EPOCHS if largest >= least), "s")
    value = (column * {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]).round()
    value = pl.when(value.is_between(FIRST, LAST)).then(value)
    return value.cast(pl.Int64, strict=False).cast(pl.Datetime("us", "UTC"))


def _written_time(rows: LogRows, name: str, naive: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    text = pl.col(name).str.strip_chars().str.replace(" ", "T", literal=True)
    known = ~text.str.to_lowercase().is_in(UNDEFINED)
    number = text.cast(pl.Float64, strict=False)
    zoned = text.str.contains(ZONE) & number.is_null()
    facts = rows.collect(rows.frame.select(number.max().alias("largest"), (zoned & known).sum().alias("zoned"),
        (known & ~zoned & number.is_null()).sum().alias("naive")))  # fmt: skip
    largest, with_zone, without = facts.select(pl.col("largest").max(), pl.col("zoned", "naive").sum()).row(0)
    if with_zone and without:
        raise InputError(
            f"{rows.source.label}: {words.counted(with_zone, 'time')} in column {name} {words.agree(with_zone, 'says')} the zone and {words.count(without)} {words.agree(without, 'does')} not; "
            "write all of them in UTC, with Z"
        )
    bare = text.str.replace(ZONE, "")
    clock = pl.coalesce([bare.str.to_datetime(form, time_unit="us", strict=False) for form in TIMES])
    offset = text.str.extract(r"([+-]\d\d):?\d\d$", 1).cast(pl.Int64, strict=False).fill_null(0) * 60 + (
        text.str.extract(r"[+-]\d\d:?(\d\d)$", 1).cast(pl.Int64, strict=False).fill_null(0)
        * pl.when(text.str.contains(r"-\d\d:?\d\d$")).then(-1).otherwise(1)
    )
    at = pl.when(zoned).then(clock - pl.duration(minutes=offset)).otherwise(clock).dt.replace_time_zone("UTC")
    at = pl.when(at.dt.year().is_between(1, 9999)).then(at)
    value = pl.when(number.is_not_null()).then(_since_1970(number, float(largest or 0))).otherwise(at)
    value = pl.when(known).then(value)
    return value, known & value.is_null(), [naive] if without else []
