"""Logs of impressions, and tables with one row a unit: from files, folders of files and frames of any library."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.folders import files_of
from rankscope.files.long import EXACT, FLOAT_ID, FLOAT_NOTE, FLOAT_REMEDY, is_float_id
from rankscope.files.parquet import ParquetFile, open_parquet
from rankscope.files.raw import Raw, open_raw
from rankscope.files.readers import kind_of
from rankscope.files.roles import said_columns
from rankscope.files.sheets import INDEX, Sheet, is_path, open_sheet
from rankscope.impressions import COLUMNS, Kind, Log
from rankscope.sources import UNDEFINED
from rankscope.tables import Source
from rankscope.words import plain_name

EXPECTED = (
    "a log is a table with a row a shown item (item, position, click ...), or a row a user (user, variant, numbers)"
)
YES, NO = ("1", "true", "yes", "y", "t"), ("0", "false", "no", "n", "f")
TIMES = ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d")  # after the zone was cut off
BLANKS = [" ", "\t", "\n", "\r", "\u00a0"]
ZONE = r"(Z|[+-]\d\d:?\d\d)$"
EPOCHS = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"), (0.0, "s"))  # by how large a number is: all of them after 1973


@dataclass(frozen=True, eq=False)
class LogRows:
    """The rows of a log as they were given: a ``frame`` with its own names of columns and their types, and where they came from.

    ``collect`` runs a query over them. Where they lie in parts it gives the answers of the parts, end to end: whoever asks puts them together;
    ``settle`` then makes of the log that was found one that asks where they lie.
    """

    frame: pl.LazyFrame
    schema: Mapping[str, pl.DataType]
    source: Source
    collect: Callable[[pl.LazyFrame], pl.DataFrame] = pl.LazyFrame.collect
    settle: Callable[[Log], Log] | None = None


def read_log(source: Any, *, columns: Mapping[str, str] | str | None = None) -> Log:
    """Read a log: a row a shown item and what was done with it, or a row a user with numbers.

    ``source`` is a path (CSV, TSV, JSON lines, Parquet, compressed or not), a folder or pattern of such files, or a data frame of
    any library. Columns are known by their usual names, however these are spelled (``userId``, ``clicked``, ``rank``); ``columns``
    gives the role of others, as in ``{"visitor": "unit_id"}``. Clicks and the like are numbers, true and false, or yes and no; null (an
    empty cell) says that it was not observed. Times without a zone are taken as UTC.

    Raises InputError for what cannot be read: the first cell that is at fault is named with its row.

    >>> import polars as pl
    >>> log = read_log(pl.DataFrame({"item": ["a", "b"], "clicked": [True, False]}))
    >>> sorted(log.roles.items()), log.rows
    ([('click', 'clicked'), ('item_id', 'item')], 2)
    """
    if isinstance(source, Log):
        return source
    rows = _rows_of(source)
    roles, notes = _roles_of(list(rows.schema), columns, rows.source.label)
    return _log(rows, roles, notes)


DONE = {"shown", "click", "dwell_s", "conversion", "revenue", "variant"}  # what a log tells, and judgments do not
OF = {"item_id", "impression_id", "unit_id"}  # and of what


def log_of(source: Any, *, columns: Mapping[str, str] | str | None = None) -> Log | None:
    """A log, where the columns of what is given are those of one; None for judgments, rankings and all else.

    Raises InputError for a log that cannot be read, and for a file that is not there.
    """
    if isinstance(source, Log):
        return source
    try:
        rows = _rows_of(source)
    except InputError:
        if is_path(source) and str(source) != "-" and not Path(source).exists():
            raise
        return None
    roles, notes = _roles_of(list(rows.schema), columns, rows.source.label)
    return _log(rows, roles, notes) if DONE & set(roles) and OF & set(roles) else None


def _log(rows: LogRows, roles: Mapping[str, str], notes: Sequence[str]) -> Log:
    if not roles:
        raise InputError(f"{rows.source.label}: no column is known among {words.listing(rows.schema)}; {EXPECTED}")
    typed, remarks = _typed(rows, roles)
    used = set(roles.values())
    others = tuple(name for name in rows.schema if name not in used and not INDEX.fullmatch(name))
    frame = rows.frame.select(
        *[typed[role].alias(role) for role in roles], *[pl.col(name) for name in others if name not in roles]
    )
    label = rows.source.label
    what = "a log" if {"item_id", "impression_id", "position", "shown"} & set(roles) else "a table with one row a unit"
    first = f"read {label} as {what}: {words.listing([f'{role} ({name})' if role != name else role for role, name in roles.items()], most=30)}"
    noted = replace(rows.source, notes=(first, *notes, *remarks))
    log = Log(frame, roles, tuple(name for name in others if name not in roles), noted, rows.collect)
    return log if rows.settle is None else rows.settle(log)


# --- where rows come from -----------------------------------------------------------------------------------------


def _rows_of(source: Any) -> LogRows:
    if isinstance(source, LogRows):
        return source
    if isinstance(source, pl.LazyFrame):
        return LogRows(source, dict(source.collect_schema()), Source("log"))
    several = is_path(source) and (any(sign in str(source) for sign in "*?") or Path(source).is_dir())
    files = files_of(source) if several else None
    if files is None:
        return _of_file(source) if is_path(source) else _of_sheet(open_sheet(source, "log", EXPECTED), None)
    parts = [_of_file(file) for file in files]
    return _joined(str(source), parts)


def _of_file(path: str | Path) -> LogRows:
    raw = open_raw(path, EXPECTED)
    if kind_of(raw) == "parquet":
        return _of_parquet(open_parquet(raw))
    return _of_sheet(open_sheet(path, str(path), EXPECTED), raw)


def _of_parquet(file: ParquetFile) -> LogRows:
    schema = dict(file.scan.collect_schema())

    def collect(query: pl.LazyFrame) -> pl.DataFrame:
        # only pages of columns that the query reads are looked over
        wanted = [name for name in schema if name in _read_by(query, list(schema))]
        file.check(wanted)
        return file.collect(query)

    return LogRows(file.scan, schema, file.raw.source("Parquet"), collect)


def _read_by(query: pl.LazyFrame, names: Sequence[str]) -> set[str]:
    """The columns that a query reads, as its plan says; all where that cannot be told."""
    plan = query.explain()
    return {name for name in names if f'"{name}"' in plan} or set(names)


def _of_sheet(sheet: Sheet | Mapping[str, Any], raw: Raw | None) -> LogRows:
    if (
        isinstance(sheet, Mapping)
        and raw is None
        and sheet
        and all(isinstance(cells, list | tuple) for cells in sheet.values())
    ):
        return _of_columns(sheet)
    if isinstance(sheet, Mapping):
        raise InputError(f"{raw.label if raw else 'log'}: an object, not rows; {EXPECTED}")
    source = Source(sheet.label) if raw is None else raw.source("table")
    if sheet.lines is not None:
        lines = sheet.lines
        source = replace(source, line_of=lambda row: int(lines()[row]))
    return LogRows(sheet.frame.lazy(), dict(sheet.frame.schema), source)


def _of_columns(columns: Mapping[str, Any]) -> LogRows:
    """Columns as lists, by name. Raises InputError where they are not of one length, or a cell is of another type than others."""
    try:
        frame = pl.DataFrame({str(name): list(cells) for name, cells in columns.items()})
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"log: lists as columns need one length and one type of cell each: {first}") from None
    return LogRows(frame.lazy(), dict(frame.schema), Source("log"))


def _joined(label: str, parts: Sequence[LogRows]) -> LogRows:
    """Several files as one log. Raises InputError where their columns differ."""
    first = parts[0]
    for part in parts[1:]:
        if list(part.schema) != list(first.schema):
            odd = set(part.schema) ^ set(first.schema)
            raise InputError(
                f"{part.source.label}: its columns are not those of {first.source.label} ({words.listing(sorted(odd) or ['another order'])})"
            )

    def digest() -> str:
        said = "".join(
            f"{Path(part.source.label).name} {part.source.sha256() if part.source.sha256 else ''}\n" for part in parts
        )
        return hashlib.sha256(said.encode()).hexdigest()

    frame = pl.concat([part.frame for part in parts], how="vertical_relaxed")
    source = Source(label, "folder", label, sha256=digest, notes=(f"{label}: {words.counted(len(parts), 'file')}",))
    return LogRows(
        frame, dict(frame.collect_schema()), source, parts[0].collect if len(parts) == 1 else pl.LazyFrame.collect
    )


# --- what columns are ---------------------------------------------------------------------------------------------


def _roles_of(
    names: Sequence[str], columns: Mapping[str, str] | str | None, label: str
) -> tuple[dict[str, str], list[str]]:
    """The column of each role, by what was said and by usual names; and what was assumed."""
    roles = _said_roles(names, columns, label) if columns else {}
    notes = []
    by_plain = {plain_name(name): name for name in reversed(names)}
    for role, column in COLUMNS.items():
        if role in roles:
            continue
        taken = set(roles.values())
        fits = [
            by_plain[plain]
            for plain in map(plain_name, (role, *column.names))
            if by_plain.get(plain, "") not in {"", *taken}
        ]
        fits = list(dict.fromkeys(fits))
        if fits:
            roles[role] = fits[0]
        if len(fits) > 1 and plain_name(fits[0]) != plain_name(role):
            notes.append(f"columns {words.listing(fits)} could each be {role} ({column.about}): {fits[0]} is used")
    return {role: roles[role] for role in COLUMNS if role in roles}, notes


def _said_roles(names: Sequence[str], columns: Mapping[str, str] | str, label: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, said in _turned(names, dict(said_columns(columns, "visitor=unit_id,hit=click"))).items():
        role = next(
            (
                role
                for role, column in COLUMNS.items()
                if plain_name(str(said)) in map(plain_name, (role, *column.names))
            ),
            None,
        )
        if role is None:
            raise InputError(
                f"columns: {name!r} is said to be {said!r}, which no column of a log can be{words.hint(str(said), COLUMNS)}"
            )
        if name not in names:
            raise InputError(f"{label}: no column {name!r}{words.hint(str(name), names)}")
        if role in out:
            raise InputError(f"{label}: columns {out[role]} and {name} are both said to be {role}; name one")
        out[role] = str(name)
    return out


def _turned(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """What was said of columns, with those turned round that name the role first: ``user=unit_id`` where there is no column user."""
    known = {plain_name(one) for role, column in COLUMNS.items() for one in (role, *column.names)}
    turns = {
        name for name, said in columns.items() if name not in names and said in names and plain_name(str(name)) in known
    }
    return {said if name in turns else name: name if name in turns else said for name, said in columns.items()}


# --- cells as what they are ---------------------------------------------------------------------------------------


def _typed(rows: LogRows, roles: Mapping[str, str]) -> tuple[dict[str, pl.Expr], list[str]]:
    """Each column in its type, and what was assumed. The first cell that cannot be read is refused, with its row."""
    typed, odd, notes = {}, {}, []
    blank = _with_blanks(rows, [name for role, name in roles.items() if COLUMNS[role].kind == "id"])
    floats = _with_floats(rows, [name for role, name in roles.items() if COLUMNS[role].kind == "id"])
    for role, name in roles.items():
        kind, dtype = COLUMNS[role].kind, rows.schema[name]
        if kind == "time":
            typed[role], faulty, said = _time(rows, name)
            notes += said
        else:
            column = pl.col(name).str.strip_chars() if name in blank else pl.col(name)
            if name in floats:
                column, dtype = column.str.strip_chars().cast(pl.Float64, strict=False), pl.Float64()
            typed[role], faulty = READ[kind](column, dtype)
            if kind == "id" and dtype.is_float():
                notes.append(f"column {name} holds {FLOAT_NOTE}")
        if faulty is not None:
            odd[role] = faulty
    if odd:
        found = rows.collect(
            rows.frame.select(
                faulty.fill_null(value=False).arg_true().first().alias(role) for role, faulty in odd.items()
            )
        )
        for role, faulty in odd.items():
            at = found[role].drop_nulls()
            if len(at):
                _refuse(rows, roles[role], faulty, int(at[0]), COLUMNS[role].kind)
    return typed, notes


def _with_blanks(rows: LogRows, names: Sequence[str]) -> set[str]:
    """The columns of text in which some cell has a blank: to strip all cells takes as long as to sum a log up."""
    texts = [name for name in names if rows.schema[name] == pl.String]
    if not texts:
        return set()
    each = rows.collect(rows.frame.select(pl.col(name).str.contains_any(BLANKS).any() for name in texts))
    found = each.select(pl.all().any()).row(0)
    return {name for name, blank in zip(texts, found, strict=True) if blank}


def _with_floats(rows: LogRows, names: Sequence[str]) -> set[str]:
    """The columns of text in which each id was written as a float, as a join does it: ``1221.0``; the first of each tells where to look."""
    texts = [name for name in names if rows.schema[name] == pl.String]
    if not texts:
        return set()
    first = rows.collect(rows.frame.select(pl.col(name).drop_nulls().first() for name in texts))
    likely = [name for name in texts if (one := first[name].drop_nulls().first()) is not None and is_float_id(str(one))]
    if not likely:
        return set()
    each = rows.collect(
        rows.frame.select(pl.col(name).str.contains(rf"^\s*{FLOAT_ID}\s*$|^\s*$").all() for name in likely)
    )
    return {name for name in likely if each[name].all()}


EXPECTS: dict[Kind, str] = {
    "id": "an id is a text or a whole number; " + FLOAT_REMEDY,
    "time": "a time is like 2024-05-01T12:30:00Z, or seconds since 1970",
    "place": "a position is a whole number from 1",
    "flag": "true or false, yes or no, 1 or 0, or a number of times; an empty cell where it was not observed",
    "number": "a finite number is expected; an empty cell where it was not observed",
    "probability": "a finite number is expected, above 0 and at most 1; an empty cell where it is not known",
}


def _refuse(rows: LogRows, name: str, faulty: pl.Expr, row: int, kind: Kind) -> None:
    value = rows.collect(rows.frame.filter(faulty).select(name).head(1))[name][0]
    raise InputError(f"{rows.source.at(row)}, column {name}: {words.quote(str(value))}: {EXPECTS[kind]}")


def _id(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype == pl.String:
        return pl.when(column != "").then(column), None
    if dtype.is_float():
        faulty = column.is_finite() & ((column != column.floor()) | (column.abs() >= EXACT))
        return column.fill_nan(None).cast(pl.Int64, strict=False).cast(pl.String), faulty | column.is_infinite()
    return column.cast(pl.String), None


def _number(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype == pl.String:
        text = column.str.strip_chars().str.to_lowercase()
        value = text.cast(pl.Float64, strict=False)
        known = ~text.is_in(UNDEFINED)
        return pl.when(known).then(value), known & (value.is_null() | ~value.is_finite())
    value = column.cast(pl.Float64, strict=False).fill_nan(None)
    return value, value.is_infinite() if dtype.is_float() else None


def _flag(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype != pl.String:
        return _number(column, dtype)
    text = column.str.strip_chars().str.to_lowercase()
    value = (
        pl.when(text.is_in(YES)).then(1.0).when(text.is_in(NO)).then(0.0).otherwise(text.cast(pl.Float64, strict=False))
    )
    known = ~text.is_in(UNDEFINED)
    return pl.when(known).then(value), known & (value.is_null() | ~value.is_finite())


def _place(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype.is_integer():
        return column.cast(pl.Int64), None
    value, faulty = _number(column, dtype)
    odd = value != value.floor()
    return value.cast(pl.Int64, strict=False), odd if faulty is None else faulty | odd


READ: dict[Kind, Callable[[pl.Expr, pl.DataType], tuple[pl.Expr, pl.Expr | None]]] = {
    "id": _id, "number": _number, "flag": _flag, "place": _place, "probability": _number,
}  # fmt: skip


def _time(rows: LogRows, name: str) -> tuple[pl.Expr, pl.Expr | None, list[str]]:
    """Times in UTC, which cells are none, and what was assumed of their zone."""
    column, dtype = pl.col(name), rows.schema[name]
    naive = f"column {name} says no time zone: its times are taken as UTC"
    if isinstance(dtype, pl.Datetime):
        here = column.cast(pl.Datetime("us", dtype.time_zone))
        if dtype.time_zone is None:
            return here.dt.replace_time_zone("UTC"), None, [naive]
        return here.dt.convert_time_zone("UTC"), None, []
    if dtype == pl.Date:
        return column.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"), None, [naive]
    if dtype.is_numeric():
        largest = float(rows.collect(rows.frame.select(column.max())).max().item() or 0)
        return _since_1970(column, largest), None, []
    if dtype != pl.String:
        raise InputError(f"{rows.source.label}: column {name} is of type {dtype}; {EXPECTS['time']}")
    return _written_time(rows, name, naive)


def _since_1970(column: pl.Expr, largest: float) -> pl.Expr:
    unit = next(unit for least, unit in EPOCHS if largest >= least)
    factor = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]
    return (column.cast(pl.Float64) * factor).round().cast(pl.Int64).cast(pl.Datetime("us", "UTC"))


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
    value = pl.when(number.is_not_null()).then(_since_1970(number, float(largest or 0))).otherwise(at)
    value = pl.when(known).then(value)
    return value, known & value.is_null(), [naive] if without else []
