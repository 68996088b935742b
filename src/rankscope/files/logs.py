"""Logs of impressions, and tables with one row per unit, from files, folders of files and frames of any library.

Columns are known by name and checked by content: a column whose name fits an id must hold ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.log_formats.growthbook import GROWTHBOOK
from rankscope.files.log_formats.inputs import EXPECTED, LogFormat, LogInput, LogPart, input_of
from rankscope.files.log_formats.interleaved import INTERLEAVED
from rankscope.files.log_formats.joining import BEFORE, EVENT
from rankscope.files.log_formats.open_bandit import OBP, OPEN_BANDIT
from rankscope.files.log_formats.rows import Clock, LogRows, read_times, refuse_faults
from rankscope.files.log_formats.ubi import UBI
from rankscope.files.log_formats.yandex import YANDEX
from rankscope.files.long import EXACT, FLOAT_ID, FLOAT_NOTE, IS_FLOAT_ID
from rankscope.files.parquet import PIECE, ParquetFile, open_parquet
from rankscope.files.parts import files_of, joint_source
from rankscope.files.raw import Raw, is_path, open_raw
from rankscope.files.roles import column_roles
from rankscope.files.sheets import INDEX, Sheet, open_sheet
from rankscope.files.sums import COUNT, SUCCESSES, as_sums
from rankscope.impressions import BLANKS, COLUMNS, Kind, Log, Pieces, number_of_text
from rankscope.tables import Source
from rankscope.words import plain_name

LOG_FORMATS: dict[str, LogFormat] = {one.name: one for one in (OPEN_BANDIT, OBP, UBI, YANDEX, GROWTHBOOK, INTERLEAVED)}
TABLE = "table"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
LOOKED = 100  # files of a folder that are asked for their columns
KEYS = tuple(key for one in LOG_FORMATS.values() for key in one.keys)

ColumnsOption = Mapping[str, str] | str | None  # roles of columns by name, as the caller gives them


def log_format_named(name: str | None) -> LogFormat | None:
    """Return the format of this name in any spelling; None for a table or no name. Raises InputError for an unknown name."""
    if name is None or plain_name(str(name)) == TABLE:
        return None
    plain = plain_name(str(name))
    for one in LOG_FORMATS.values():
        if plain in map(plain_name, (one.name, *one.names)):
            return one
    there: Sequence[str] = [TABLE, *LOG_FORMATS]
    raise InputError(f"log_format={name!r}: unknown format of logs{words.hint(str(name), there)}")


def log_format_of(log_input: LogInput) -> LogFormat | None:
    """Return the format of an input if it is certain; None for a table."""
    start = replace(log_input, parts=log_input.parts[:LOOKED])
    return next((one for one in LOG_FORMATS.values() if one.is_one(start)), None)


NEAR = 1000  # rows that are searched for the first id before all are read


def read_log(
    source: Any, *, columns: ColumnsOption = None, log_format: str | None = None, clock: Clock | None = None
) -> Log:
    """Read a log: one row per shown item with its clicks and more, or one row per user with numbers.

    ``source`` is any input of ``rankscope.scoring.logs.read_log`` except Spark frames, or rows of a table.
    """
    if isinstance(source, Log):
        if clock is not None:
            raise InputError(
                f"{source.label}: its times are read already: give --time-format and --time-zone to read_log"
            )
        return source
    if isinstance(source, LogRows):
        return log_from(source, columns, clock)
    log_input = input_of(source, KEYS)
    return log_from(_rows_of_format(log_input, log_format) or rows_from(source, log_input), columns, clock)


DONE = {"shown", "click", "dwell_s", "conversion", "revenue", "variant"}  # roles that logs have and judgments have not
OF = {"item_id", "impression_id", "unit_id"}  # roles: every log has one


def log_of(
    source: Any, *, columns: ColumnsOption = None, log_format: str | None = None, clock: Clock | None = None
) -> Log | None:
    """Read an input as a log if it has the columns of one; None for judgments, rankings and other inputs."""
    if isinstance(source, LogRows):
        return _log_by_columns(source, columns, clock)
    if isinstance(source, Log) or log_format is not None:
        return read_log(source, columns=columns, log_format=log_format, clock=clock)
    try:
        log_input = input_of(source, KEYS)
    except InputError:
        if not is_path(source) or (str(source) != "-" and not Path(source).exists()):
            raise
        return None
    if (format_rows := _rows_of_format(log_input, None)) is not None:
        return log_from(format_rows, columns, clock)
    try:
        rows = rows_from(source, log_input)
    except InputError:
        if is_path(source) and Path(source).suffix == ".parquet":  # damaged: no other reader can read it
            raise
        return None
    return _log_by_columns(rows, columns, clock)


def _log_by_columns(rows: LogRows, columns: ColumnsOption, clock: Clock | None) -> Log | None:
    rows, columns = as_sums(rows, columns)
    roles, _ = roles_by_name(list(rows.schema), columns, rows.source.label)
    is_log = rows.sums is not None or (DONE & set(roles) and OF & set(roles))
    return log_from(rows, columns, clock) if is_log else None


def log_from(rows: LogRows, columns: ColumnsOption, clock: Clock | None = None) -> Log:
    """Return the log of some rows, with columns in their types. Raises InputError for columns that are not of a log."""
    rows, columns = as_sums(rows, columns)
    roles, notes = roles_by_name(list(rows.schema), columns, rows.source.label)
    given_roles = _checked_roles(list(rows.schema), columns, rows.source.label) if columns else {}
    roles, changes = (roles, []) if rows.read_as else check_ids(rows, roles, given_roles)
    notes += changes
    if not roles:
        like = f"give a column its role, like --columns '{next(iter(rows.schema), 'visitor')}=unit_id'"
        raise InputError(
            f"{rows.source.label}: no column is known among {words.listing(rows.schema)}; {EXPECTED}; {like}"
        )
    if clock is not None:
        rows = _timed(rows, roles, clock)
    typed, plain, remarks = _typed(rows, roles)
    used = set(roles.values())
    of_sums = () if rows.sums is None else (rows.sums.count, *rows.sums.products.values())
    hidden = {BEFORE, EVENT, *of_sums}
    others = tuple(name for name in rows.schema if name not in used | hidden and not INDEX.fullmatch(name))
    rest = [pl.col(name) for name in others if name not in roles]
    marks = [pl.col(name) for name in (BEFORE, EVENT, *of_sums) if name in rows.schema]
    frame = rows.frame.select(*[typed[role].alias(role) for role in roles], *rest, *marks)
    lie = [plain.get(role, typed[role]).alias(role) for role in roles]
    raw = [piece.select(*lie, *rest) for piece in (rows.frame, *rows.pieces)]
    full = frozenset(role for role in plain if roles[role] in rows.full)
    pieces = Pieces(frame, tuple(raw[1:]), raw[0], full) if rows.pieces else None
    label = rows.source.label
    shows = {"item_id", "impression_id", "position", "shown"} & set(roles)
    several = "one or more rows" if {"timestamp", "unit_id"} & set(roles) else "one row"
    table = f"a table with {several} per unit"
    what = rows.read_as or ("a log" if shows else table)
    named = [f"{role} ({name})" if role != name else role for role, name in roles.items()]
    first = f"read {label} as {what}: {words.listing(named, most=30)}"
    all_notes = dict.fromkeys((first, *(rows.source.notes if rows.read_as else ()), *notes, *remarks))
    noted = replace(rows.source, notes=tuple(all_notes))
    log = Log(
        frame, roles, tuple(name for name in others if name not in roles), noted, rows.collect, pieces, sums=rows.sums
    )
    if BEFORE in rows.schema:  # of two tables: assignments and events
        before = replace(log, frame=frame.filter(pl.col(BEFORE)), events=EVENT)
        return replace(log, frame=frame.filter(~pl.col(BEFORE)), events=EVENT, before=before)
    return log if rows.settle is None else rows.settle(log)


def _timed(rows: LogRows, roles: Mapping[str, str], clock: Clock) -> LogRows:
    """Return the rows with a clock that reads their times. Raises InputError without times, and for a Spark frame."""
    if rows.settle is not None:
        raise InputError(
            f"{rows.source.label}: for a Spark frame leave --time-format, --time-zone, --from and --to out"
        )
    if "timestamp" not in roles:
        raise InputError(
            f"{rows.source.label}: no column of times is known: name it, like --columns 'NAME=timestamp', or leave the options of times out"
        )
    if clock.form is not None and rows.read_as:
        raise InputError(f"{rows.source.label}: --time-format is for plain tables, and this is {rows.read_as}")
    return replace(rows, clock=clock)


# --- where rows come from -----------------------------------------------------------------------------------------


def _rows_of_format(log_input: LogInput | None, log_format: str | None) -> LogRows | None:
    form = log_format_named(log_format)
    if form is None and log_format is None and log_input is not None:
        form = log_format_of(log_input)
    if form is None:
        return None
    if log_input is None:
        expected = f"a path, a data frame or parts by name are expected, with {form.expects}"
        raise InputError(f"log_format={log_format!r}: {expected}")
    table = form.read(log_input)
    source = replace(table.source, notes=tuple(table.notes))
    return LogRows(table.frame.lazy(), dict(table.frame.schema), source, read_as=table.read_as)


def rows_from(source: Any, log_input: LogInput | None) -> LogRows:
    """Return the rows of a table: a path, a folder, a frame, or columns by name."""
    if isinstance(source, pl.LazyFrame):
        return LogRows(source, dict(source.collect_schema()), Source("log"))
    part = None if log_input is None else log_input.one
    if part is not None and part.objects is not None:
        names = dict.fromkeys(name for row in part.objects for name in row)
        return _of_sheet({name: [row.get(name) for row in part.objects] for name in names})
    if not is_path(source):
        return _of_sheet(open_sheet(source, "log", EXPECTED))
    if part is not None and part.raw is not None:
        return _of_raw(part.raw, part)
    parts = [_with_folders(_of_raw(open_raw(file, EXPECTED)), file, Path(source)) for file in files_of(source) or ()]
    return _joined(str(source), parts)


def _with_folders(rows: LogRows, file: Path, root: Path) -> LogRows:
    """Return the rows of a file with the columns of its folders, like ``variant=B/``."""
    within = file.relative_to(root).parts[:-1] if root.is_dir() else file.parts[:-1]
    pairs = [unquote(part).partition("=")[::2] for part in within if "=" in part]
    more = {name: None if value == NO_VALUE else value for name, value in pairs if name and name not in rows.schema}
    if not more:
        return rows
    frame = rows.frame.with_columns(pl.lit(value, pl.String).alias(name) for name, value in more.items())
    return replace(rows, frame=frame, schema={**rows.schema, **dict.fromkeys(more, pl.String())}, pieces=())


def _of_raw(raw: Raw, part: LogPart | None = None) -> LogRows:
    if kind_of(raw) == "parquet":
        return _of_parquet(open_parquet(raw) if part is None else part.parquet)
    return _of_sheet(open_sheet(raw, raw.label, EXPECTED), raw)


def _of_parquet(file: ParquetFile) -> LogRows:
    schema = dict(file.scan.collect_schema())

    def check(plan: str) -> None:  # only pages of columns that the query reads
        file.check([name for name in schema if f'"{name}"' in plan] or schema)

    def collect(query: pl.LazyFrame) -> pl.DataFrame:
        check(query.explain())
        return file.collect(query)

    source, pieces = file.raw.source("Parquet"), tuple(file.pieces)
    return LogRows(file.scan, schema, source, collect, pieces=pieces, finite=file.finite, full=file.full, check=check)


def _of_sheet(sheet: Sheet | Mapping[str, Any], raw: Raw | None = None) -> LogRows:
    if isinstance(sheet, Mapping):
        if raw is None and sheet and all(map(_is_column, sheet.values())):
            return _of_columns(sheet)
        raise InputError(f"{raw.label if raw else 'log'}: an object, not rows; {EXPECTED}")
    source = Source(sheet.label) if raw is None else raw.source("table")
    if sheet.lines is not None:
        lines = sheet.lines
        source = replace(source, line_of=lambda row: int(lines()[row]))
    return _of_table(sheet.frame, source)


def _of_table(table: pl.DataFrame, source: Source) -> LogRows:
    pieces = tuple(table[start : start + PIECE].lazy() for start in range(0, max(len(table), 1), PIECE))
    return LogRows(table.lazy(), dict(table.schema), source, pieces=pieces)


def _is_column(cells: Any) -> bool:
    """Return True for a list, an array of one dimension, a range or a series."""
    if isinstance(cells, str | bytes | Mapping):
        return False
    return hasattr(cells, "__len__") and hasattr(cells, "__iter__") and getattr(cells, "ndim", 1) == 1


def _of_columns(columns: Mapping[str, Any]) -> LogRows:
    try:
        frame = pl.DataFrame([_series(str(name), list(cells)) for name, cells in columns.items()])
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"log: lists as columns need one length and one type of cell each: {first}") from None
    return _of_table(frame, Source("log"))


def _series(name: str, cells: list[Any]) -> pl.Series:
    kinds = {type(cell) for cell in cells} - {type(None), bool}
    if len(kinds) > 1 and all(issubclass(kind, Real) for kind in kinds):  # as 0 among 2.5
        cells = [None if cell is None else float(cell) for cell in cells]
    return pl.Series(name, cells)


def _joined(label: str, parts: Sequence[LogRows]) -> LogRows:
    first, names = parts[0], list(parts[0].schema)
    for part in parts[1:]:
        if odd := sorted(set(part.schema) ^ set(names)):
            raise InputError(
                f"{part.source.label}: its columns differ from {first.source.label} ({words.listing(odd)})"
            )

    checks = [part.check for part in parts if part.check]

    def collect(query: pl.LazyFrame) -> pl.DataFrame:
        plan = query.explain()
        for check in checks:
            check(plan)
        return query.collect()

    frame = pl.concat([part.frame.select(names) for part in parts], how="vertical_relaxed")
    notes = (f"{label}: {words.counted(len(parts), 'file')}",)
    source = joint_source(label, [part.source for part in parts], notes=notes)
    return LogRows(frame, dict(frame.collect_schema()), source, first.collect if len(parts) == 1 else collect)


# --- what columns are ---------------------------------------------------------------------------------------------


def roles_by_name(names: Sequence[str], columns: ColumnsOption, label: str) -> tuple[dict[str, str], list[str]]:
    """Return the column of each role, by the given roles and then by name, and notes about choices."""
    roles = _checked_roles(names, columns, label) if columns else {}
    notes = []
    numbers = _numbers(names, columns)
    by_plain = {plain_name(name): name for name in reversed(names) if name not in numbers}
    for role, column in COLUMNS.items():
        if role in roles:
            continue
        named = [by_plain.get(plain, "") for plain in _plain_names(role)]
        fits = [name for name in dict.fromkeys(named) if name not in {"", *roles.values()}]
        if fits:
            roles[role] = fits[0]
        if len(fits) > 1 and plain_name(fits[0]) != plain_name(role):
            notes.append(f"columns {words.listing(fits)} could each be {role} ({column.about}): {fits[0]} is used")
    return {role: roles[role] for role in COLUMNS if role in roles}, notes


def _plain_names(role: str) -> list[str]:
    return [plain_name(name) for name in (role, *COLUMNS[role].names)]


def _checked_roles(names: Sequence[str], columns: Mapping[str, str] | str, label: str) -> dict[str, str]:
    out: dict[str, str] = {}
    numbers = _numbers(names, columns)
    for name, role_name in _turned(names, dict(column_roles(columns, "visitor=unit_id,hit=click"))).items():
        if name in numbers:
            continue
        role = next((role for role in COLUMNS if plain_name(role_name) in _plain_names(role)), None)
        if role is None:
            raise InputError(
                f"columns: {name!r} has the unknown role {role_name!r}{words.hint(role_name, [*COLUMNS, NUMBER, COUNT, SUCCESSES])}"
            )
        if name not in names:
            raise InputError(f"{label}: no column {name!r}{words.hint(name, names)}")
        if role in out:
            raise InputError(f"{label}: columns {out[role]} and {name} both have the role {role}; name one")
        out[role] = name
    return out


def _numbers(names: Sequence[str], columns: ColumnsOption) -> set[str]:
    """Return the columns that are only numbers, as given."""
    pairs = column_roles(columns, "visit=number") if columns else []
    return {name for name, role in pairs if name in names and plain_name(role) == NUMBER}


def _turned(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Turn round roles given as ``user=unit_id``, if there is no column user."""
    known = {plain for known_role in COLUMNS for plain in _plain_names(known_role)}
    turns = {
        name for name, role in columns.items() if name not in names and role in names and plain_name(name) in known
    }
    return dict((role, name) if name in turns else (name, role) for name, role in columns.items())


# --- cells as what they are ---------------------------------------------------------------------------------------


def _typed(rows: LogRows, roles: Mapping[str, str]) -> tuple[dict[str, pl.Expr], dict[str, pl.Expr], list[str]]:
    typed, plain, notes = {}, {}, list[str]()
    odd: dict[str, tuple[pl.Expr, Kind]] = {}
    floats = _float_ids(rows, [name for role, name in roles.items() if COLUMNS[role].kind == "id"])
    for role, name in roles.items():
        kind = COLUMNS[role].kind
        if kind == "time":
            typed[role], faulty, remarks = read_times(rows, name)
            notes += remarks
        else:
            column, dtype = rows.cells(name, kind)
            if name in floats:
                column, dtype = column.str.strip_chars().cast(pl.Float64, strict=False), pl.Float64()
            elif kind == "id" and (dtype == pl.String or dtype.is_integer()):
                plain[role] = column
                if dtype == pl.String:
                    column = column.map_batches(_stripped, return_dtype=pl.String, is_elementwise=True)
            typed[role], faulty = READ[kind](column, dtype)
            if kind == "id" and dtype.is_float():
                notes.append(f"column {name} holds {FLOAT_NOTE}")
        if faulty is not None and name not in rows.finite:
            odd[name] = faulty, kind
    refuse_faults(rows, odd)
    return typed, plain, notes


def _stripped(ids: pl.Series) -> pl.Series:
    """Strip ids only if one has blanks: to strip all takes as long as to sum a log up."""
    return ids.str.strip_chars() if ids.str.contains_any(BLANKS).any() else ids


def _float_ids(rows: LogRows, names: Sequence[str]) -> set[str]:
    texts = [name for name in names if rows.schema[name] == pl.String]
    first = [pl.col(name).drop_nulls().first() for name in texts]
    if not first:
        return set()
    near = rows.collect(rows.frame.head(NEAR).select(first))
    first_ids = {name: near[name].drop_nulls().first() for name in texts}
    if far := [name for name in texts if first_ids[name] is None]:  # no id is near the top
        each = rows.collect(rows.frame.select(pl.col(name).drop_nulls().first() for name in far))
        first_ids |= {name: each[name].drop_nulls().first() for name in far}
    maybe = [name for name, one in first_ids.items() if one is not None and IS_FLOAT_ID(str(one))]
    if not maybe:
        return set()
    all_floats = rows.collect(
        rows.frame.select(pl.col(name).str.contains(rf"^\s*{FLOAT_ID}\s*$|^\s*$").all() for name in maybe)
    )
    return {name for name in maybe if all_floats[name].all()}


def _id(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype == pl.String:
        return pl.when(column != "").then(column), None
    if dtype.is_float():
        faulty = column.is_finite() & ((column != column.floor()) | (column.abs() >= EXACT))
        return column.fill_nan(None).cast(pl.Int64, strict=False).cast(pl.String), faulty | column.is_infinite()
    return column.cast(pl.String), None


def _number(column: pl.Expr, dtype: pl.DataType, *, flags: bool = False) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype == pl.String:
        value, faulty = number_of_text(column, flags=flags)
        return value, faulty | value.is_infinite() | value.is_nan()
    value = column.cast(pl.Float64, strict=False).fill_nan(None)
    return value, value.is_infinite() if dtype.is_float() else None


def _flag(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    return _number(column, dtype, flags=True)


def _place(column: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, pl.Expr | None]:
    if dtype.is_integer():
        return column.cast(pl.Int64), None
    value, faulty = _number(column, dtype)
    odd = value != value.floor()
    return value.cast(pl.Int64, strict=False), odd if faulty is None else faulty | odd


READ: dict[Kind, Callable[[pl.Expr, pl.DataType], tuple[pl.Expr, pl.Expr | None]]] = {
    "id": _id, "number": _number, "flag": _flag, "place": _place, "probability": _number,
}  # fmt: skip


IDS = ("unit_id", "session_id", "impression_id")
COUNTS = frozenset({"session", "visit", "impression"})  # plain names of ids that are as often counts
NUMBER = "number"  # the role of a column that is only a number
# roles of tables with several rows per unit
ONE_ROW_EACH = ("item_id", "impression_id", "session_id", "position", "shown")
# keys of things that a unit has several of
OTHER_KEYS = ("event", "row", "order", "transaction", "record", "log", "line", "request")
KEY_WORDS = frozenset({"id", "key", "uid", "uuid", "guid", "hash"})
PEOPLE = {
    "user",
    "customer",
    "client",
    "visitor",
    "member",
    "player",
    "account",
    "shopper",
    "subscriber",
    "cookie",
    "device",
}
FLAGS = ("0", "1", "0.0", "1.0", "true", "false", "yes", "no", "y", "n", "t", "f")
SAMPLE = 10_000  # rows at the top that are searched
FEWEST = 20  # rows below which a column with two values may hold ids
PER_ID = 20  # rows per value from which a few numbers are counts rather than ids


def check_ids(rows: LogRows, roles: Mapping[str, str], chosen: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the roles without id columns that hold flags or counts, with a unique key as unit, and notes about both.

    ``chosen`` are roles that the caller chose: they are not checked. Raises InputError for a column that may be ids or counts.
    """
    id_columns = {role: roles[role] for role in IDS if role in roles and role not in chosen}
    kept, notes = dict(roles), list[str]()
    texts = [rows.cells(name, "id")[0].cast(pl.String).alias(role) for role, name in id_columns.items()]
    sample = rows.collect(rows.frame.head(SAMPLE).select(texts)) if id_columns else pl.DataFrame()
    cells = {role: sample[role].drop_nulls() for role in id_columns}
    for role, name in id_columns.items():
        if _is_flag(cells[role]):
            del kept[role]
            notes.append(
                f"column {name} holds only yes and no, so it is not taken as {role} (--columns '{name}={role}' does so)"
            )
    key = None if "unit_id" in kept else _unique_key(rows, kept, cells)
    if key is not None:
        kept = {"unit_id": key, **kept}
        notes.append(f"each {key} has one row: it is taken as unit_id")
    for role, name in id_columns.items():
        if role not in kept or not _may_be_counts(name, cells[role]):
            continue
        if key is None and role == next(one for one in IDS if one in kept):
            values = words.counted(cells[role].n_unique(), "value")
            raise InputError(
                f"{rows.source.label}: column {name} has {values} in {words.counted(len(cells[role]), 'row')}: it may be {role} or a number; "
                f"name its role, like --columns '{name}={role}' or --columns '{name}={NUMBER}'"
            )
        del kept[role]
        notes.append(
            f"column {name} holds a few numbers, so it is not taken as {role} (--columns '{name}={role}' does so)"
        )
    people = _repeated_key(rows, kept) if "unit_id" not in kept and rows.settle is None else None
    if people is not None:
        notes.append(f"column {people} may name the users: --columns '{people}=unit_id'")
    return kept, notes


def _repeated_key(rows: LogRows, roles: Mapping[str, str]) -> str | None:
    """Return the first column without a role that is named like the id of a user, if several rows at the top share a value."""
    names = [name for name in rows.schema if name not in roles.values() and _names_people(name)]
    if not names:
        return None
    sample = rows.collect(rows.frame.head(SAMPLE).select(names))
    return next((name for name in names if FEWEST <= sample[name].n_unique() < len(sample)), None)


def _names_people(name: str) -> bool:
    parts = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return bool(parts) and (parts[-1] in KEY_WORDS or not PEOPLE.isdisjoint(parts)) and not set(OTHER_KEYS) & set(parts)


def _is_flag(cells: pl.Series) -> bool:
    """True if a column has two values, which say yes and no."""
    if len(cells) < FEWEST or cells.n_unique() < 2:
        return False
    return bool(cells.str.strip_chars().str.to_lowercase().is_in(FLAGS).all())


def _may_be_counts(name: str, cells: pl.Series) -> bool:
    """True if a column that is named like a count has a few numbers, each in many rows."""
    if plain_name(name) not in COUNTS or len(cells) < PER_ID:
        return False
    numbers = cells.str.strip_chars().cast(pl.Float64, strict=False)
    return not numbers.has_nulls() and len(cells) >= PER_ID * cells.n_unique()


def _unique_key(rows: LogRows, roles: Mapping[str, str], cells: Mapping[str, pl.Series]) -> str | None:
    """Return the first column named like an id with unique cells, in a table with one row per unit; None without one."""
    counts = {role for role, name in roles.items() if role in cells and _may_be_counts(name, cells[role])}
    if rows.settle is not None or set(ONE_ROW_EACH) & (set(roles) - counts):
        return None
    names = [
        name
        for name in rows.schema
        if name not in roles.values() and plain_name(name).endswith("id") and not any(other in plain_name(name) for other in OTHER_KEYS)
    ]  # fmt: skip
    for name in names:
        column = pl.col(name)
        unique, full, count = rows.collect(
            rows.frame.select(
                (column.n_unique() == pl.len()).alias("u"), (column.null_count() == 0).alias("f"), pl.len().alias("n")
            )
        ).row(0)
        if unique and full and count >= FEWEST:
            return name
    return None
