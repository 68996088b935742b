"""The rows of a log before their columns have types: the expected content of cells, and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import available_timezones

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import FLOAT_REMEDY
from rankscope.files.sheets import Sheet
from rankscope.impressions import Kind, Log, Sums, plain_of
from rankscope.sources import UNDEFINED
from rankscope.tables import Source


@dataclass(frozen=True)
class Clock:
    """How times are read: the strptime ``form`` of written times, and the time ``zone`` of days."""

    form: str | None = None
    zone: str = "UTC"

    def __post_init__(self) -> None:
        """Raise InputError for a form without a date, and for an unknown zone."""
        noon = pl.Series([datetime(2024, 5, 13, 12)]).dt.replace_time_zone("UTC")
        try:
            known = bool(self.zone) and noon.dt.convert_time_zone(self.zone) is not None
        except (pl.exceptions.PolarsError, TypeError):
            known = False
        if not known:
            like = words.hint(str(self.zone), sorted(available_timezones()), ": a zone is like Europe/Berlin")
            raise InputError(f"time zone {words.quote(str(self.zone))} is unknown{like}")
        if self.form is not None:
            try:
                again = noon.dt.strftime(self.form).to_frame("at").select(self.parsed(pl.col("at"))).item()
            except (pl.exceptions.PolarsError, TypeError):
                again = None
            if again is None or again.date() != noon[0].date():
                expected = (
                    "a form has the day, month and year, and minutes if it has hours, like %d/%m/%Y or '%d.%m.%Y %H:%M'"
                )
                raise InputError(f"form of times {words.quote(str(self.form))}: {expected}")

    @property
    def zoned(self) -> bool:
        """True if times in the form have a zone."""
        return any(sign in str(self.form) for sign in ("%z", "%:z", "%#z", "%+"))

    def parsed(self, text: pl.Expr) -> pl.Expr:
        """Return texts in the form as times in UTC, null for other texts."""
        at = text.str.strip_chars().str.to_datetime(self.form, time_unit="us", strict=False)
        return at.dt.convert_time_zone("UTC") if self.zoned else at.dt.replace_time_zone("UTC")


TIMES = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")  # after the zone was cut off
ZONE = r"[ T]?(Z|UTC|[+-]\d\d:?\d\d)$"
HOURS = r"(T[\d:.]+)[ T]?[+-]\d\d$"  # a zone of hours only: the T before it excludes days of a month
EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (0.0, "s"))  # smallest number in each unit: all after 1973
EARLIEST = 1e8  # seconds to 1973: smaller numbers are days, steps or counts
FIRST_DATE, LAST_DATE = 19_000_101, 21_001_231  # dates as whole numbers
# forms of whole numbers, by the size of a day; with hours alone they could be seconds, of 2033 to 2036
DATES = {1: "%Y%m%d", 10**2: "%Y%m%d%H%M", 10**4: "%Y%m%d%H%M", 10**6: "%Y%m%d%H%M%S"}
HOURLY = 10**2
FIRST_HOUR = 19_900_101  # hours are read if all are hours from this day on, as seconds would lie in the future
FIRST, LAST = -62_135_596_800e6, 4_133_980_800e6 - 1  # microseconds to the years 1 and 2100


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
    full: frozenset[str] = frozenset()  # columns known to have no empty cell
    settle: Callable[[Log], Log] | None = None
    clock: Clock = Clock()
    sums: Sums | None = None  # if rows are sums over many units
    check: Callable[[str], None] | None = None  # refuses damage in the columns that a plan of a query reads

    def cells(self, name: str, kind: Kind) -> tuple[pl.Expr, pl.DataType]:
        """Return a column with categories as text, and its type. Raises InputError for lists, bytes, dates and other types."""
        return plain_of(
            pl.col(name), self.schema[name], f"{self.source.label}: column {name}", EXPECTS[kind].partition(". ")[0]
        )


EXPECTS: dict[Kind, str] = {
    "id": "an id is a text or a whole number. " + FLOAT_REMEDY,
    "time": "a time is like 2024-05-01T12:30:00Z, or seconds since 1970; other forms need --time-format, like %d/%m/%Y",
    "place": "a position is a whole number from 1",
    "flag": "true or false, yes or no, 1 or 0, or how often it happened (an empty cell if it was not observed)",
    "number": "a finite number is expected (an empty cell if it was not observed)",
    "probability": "a finite number is expected, above 0 and at most 1 (an empty cell if it is unknown)",
}


def refuse_faults(rows: LogRows, faulty: Mapping[str, tuple[pl.Expr, Kind]]) -> None:
    """Raise InputError for the first faulty cell of a column, with its place, its text and the expected content."""
    if not faulty:
        return
    first = [cells.fill_null(value=False).arg_true().first() for cells, _ in faulty.values()]
    first_faults = rows.collect(rows.frame.select(cells.alias(f"first{n}") for n, cells in enumerate(first)))
    for n, (name, (cells, kind)) in enumerate(faulty.items()):
        if len(at := first_faults[f"first{n}"].drop_nulls()):
            value = rows.collect(rows.frame.filter(cells).select(name).head(1))[name][0]
            raise InputError(f"{rows.source.at(int(at[0]))}, column {name}: {words.quote(str(value))}: {EXPECTS[kind]}")


def read_times(rows: LogRows, name: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    """Return times by the clock of the rows, the faulty cells, and notes on assumed time zones."""
    value, faulty, notes = _times_in_utc(rows, name)
    zone = rows.clock.zone
    if zone == "UTC":
        return value, faulty, notes
    notes = [*notes, f"days are days in {zone}"]
    if len(notes) > 1:  # a date without a zone is the same day everywhere
        dates = rows.collect(rows.frame.select((value.dt.truncate("1d") == value).all().alias("dates")))["dates"].all()
        if dates:
            bare = value.dt.replace_time_zone(None)
            starts = [
                (bare + pl.duration(hours=n)).dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
                for n in (0, 1)  # some days begin at one
            ]
            return pl.coalesce(starts), faulty, [f"column {name} holds dates: read as days in {zone}"]
    return value.dt.convert_time_zone(zone), faulty, notes


def _times_in_utc(rows: LogRows, name: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    column, dtype = pl.col(name), rows.schema[name]
    naive = f"column {name} has no time zone: read as UTC"
    if rows.clock.form is not None:
        return _formed_times(rows, name, naive)
    if isinstance(dtype, pl.Datetime):
        here = column.cast(pl.Datetime("us", dtype.time_zone))
        if dtype.time_zone is None:
            return here.dt.replace_time_zone("UTC"), None, [naive]
        return here.dt.convert_time_zone("UTC"), None, []
    if dtype == pl.Date:
        return column.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"), None, [naive]
    if dtype.is_numeric():
        number = column.cast(pl.Float64).fill_nan(None)
        ends = rows.collect(rows.frame.select(number.min().alias("least"), number.max().alias("largest")))
        value, notes = _numeric_times(rows, name, number, ends)
        return value, number.is_not_null() & value.is_null(), notes
    if dtype == pl.Null:
        return column.cast(pl.Datetime("us", "UTC")), None, []
    if dtype != pl.String:
        raise InputError(f"{rows.source.label}: column {name} is of type {dtype}; {EXPECTS['time']}")
    return _written_time(rows, name, naive)


def _formed_times(rows: LogRows, name: str, naive: str) -> tuple[pl.Expr, pl.Expr, list[str]]:
    form, dtype = rows.clock.form, rows.schema[name]
    if not (dtype == pl.String or dtype.is_integer()):
        raise InputError(
            f"{rows.source.label}: column {name} is of type {dtype}: --time-format is for times as text, leave it out"
        )
    text = pl.col(name).cast(pl.String).str.strip_chars()
    value = rows.clock.parsed(text)
    odd = value.is_null() & ~text.str.to_lowercase().is_in(UNDEFINED)
    facts = rows.collect(rows.frame.select(text=text, odd=odd).with_row_index("row").filter("odd").head(1))
    if len(facts):
        at, first = rows.source.at(facts["row"][0]), words.quote(facts["text"][0])
        raise InputError(f"{at}, column {name}: {first} is not in the form {form} of --time-format")
    return value, odd, [] if rows.clock.zoned else [naive]


def with_times(sheet: Sheet, name: str) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of a sheet with a column of times, and notes on assumed zones. Raises InputError for the first faulty cell."""
    rows = LogRows(sheet.frame.lazy(), dict(sheet.frame.schema), Source(sheet.label, place_of=sheet.at))
    value, faulty, notes = read_times(rows, name)
    if faulty is not None:
        refuse_faults(rows, {name: (faulty, "time")})
    return sheet.frame.with_columns(value.alias(name)), notes


def _numeric_times(rows: LogRows, name: str, number: pl.Expr, ends: pl.DataFrame) -> tuple[pl.Expr, list[str]]:
    """Return numbers as times: dates like 20240512 if all have eight digits, otherwise seconds (or parts of them) since 1970."""
    ends = ends.select(pl.col("least").min(), pl.col("largest").max()).cast(pl.Float64)
    if ends["largest"].null_count():
        return _since_1970(number, 0.0), []
    least, largest = map(float, ends.row(0))
    for day, form in DATES.items():
        if least >= (FIRST_HOUR if day == HOURLY else FIRST_DATE) * day and largest < (LAST_DATE + 1) * day:
            text = number.cast(pl.Int64, strict=False).cast(pl.String) + ("00" if day == HOURLY else "")
            date = text.str.to_datetime(form, time_unit="us", strict=False).dt.replace_time_zone("UTC")
            odd = number.is_not_null() & ((number % 1 != 0) | date.is_null())
            if day == HOURLY and rows.collect(rows.frame.select(odd.any().alias("odd")))["odd"].any():
                continue
            return date, [f"column {name} holds dates like {largest:.0f}: read as UTC"]
    if abs(largest) < EARLIEST:
        raise InputError(
            f"{rows.source.label}: column {name} holds numbers up to {words.amount(largest)}, too small for times after 1973; {EXPECTS['time']}"
        )
    return _since_1970(number, largest), []


def _since_1970(column: pl.Expr, largest: float) -> pl.Expr:
    unit = next((unit for least, unit in EPOCHS if largest >= least), "s")
    value = (column * {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]).round()
    value = pl.when(value.is_between(FIRST, LAST)).then(value)
    return value.cast(pl.Int64, strict=False).cast(pl.Datetime("us", "UTC"))


def _written_time(rows: LogRows, name: str, naive: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    text = pl.col(name).str.strip_chars().str.replace(" ", "T", literal=True)
    known = ~text.str.to_lowercase().is_in(UNDEFINED)
    number = text.cast(pl.Float64, strict=False)
    hours = text.str.contains(HOURS)
    zoned = (text.str.contains(ZONE) | hours) & number.is_null()
    facts = rows.collect(rows.frame.select(number.min().alias("least"), number.max().alias("largest"), (zoned & known).sum().alias("zoned"),
        (known & ~zoned & number.is_null()).sum().alias("naive"), hours.any().alias("hours")))  # fmt: skip
    with_zone, without = facts.select(pl.col("zoned", "naive").sum()).row(0)
    bare = text.str.replace(ZONE, "") if with_zone else text
    bare = bare.str.replace(HOURS, "$1") if facts["hours"].any() else bare
    clock = pl.coalesce([bare.str.to_datetime(form, time_unit="us", strict=False) for form in TIMES])
    if with_zone:
        offset = text.str.extract(r"([+-]\d\d)(?::?\d\d)?$", 1).cast(pl.Int64, strict=False).fill_null(0) * 60 + (
            text.str.extract(r"[+-]\d\d:?(\d\d)$", 1).cast(pl.Int64, strict=False).fill_null(0)
            * pl.when(text.str.contains(r"-\d\d:?\d\d$")).then(-1).otherwise(1)
        )
        clock = pl.when(zoned).then(clock - pl.duration(minutes=offset)).otherwise(clock)
    at = clock.dt.replace_time_zone("UTC")
    at = pl.when(at.dt.year().is_between(1, 9999)).then(at)
    if with_zone or without:  # then a small number is one faulty cell, not a column of steps
        number = pl.when(number.abs() >= EARLIEST).then(number)
        facts = facts.with_columns(
            pl.when(pl.col("least", "largest").abs() >= EARLIEST).then(pl.col("least", "largest"))
        )
    numeric, notes = _numeric_times(rows, name, number, facts)
    value = pl.when(known).then(pl.when(number.is_not_null()).then(numeric).otherwise(at))
    faulty = known & value.is_null()
    if with_zone and without:
        refuse_faults(rows, {name: (faulty, "time")})
        zoned_times = f"{words.counted(with_zone, 'time')} in column {name} {words.agree(with_zone, 'says')} the zone"
        others = f"{words.count(without)} {words.agree(without, 'does')} not"
        raise InputError(f"{rows.source.label}: {zoned_times} and {others}: write all times in UTC, with Z")
    return value, faulty, [*notes, *([naive] if without else [])]
