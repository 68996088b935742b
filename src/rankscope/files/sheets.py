"""Tables of any content under a header: CSV, JSON, Parquet, data frames; columns of CSV are text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.columns import SEPARATED_BY_ENDING, SEPARATORS, Columns, Rows
from rankscope.files.long import ReaderNotes, id_column, is_whole, restore_floats
from rankscope.files.memory import UNNAMED, frame_of, is_half, is_pandas, quote_value, speaks_arrow, with_index
from rankscope.files.objects import json_of, objects_of
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import BOM, Raw, is_path, open_raw
from rankscope.lists import Ids
from rankscope.sources import UNDEFINED
from rankscope.tables import MARK, PARTIAL, Array
from rankscope.words import plain_name

QUERY = (
    "query_id", "qid", "q_id", "query-id", "query", "topic", "topic_id", "id", "user_id", "user", "session_id", "session",
    "customer_id",
)  # fmt: skip
INDEX = re.compile(r"|Unnamed: 0(\.\d+)?|__index_level_\d+__")  # an index without a name, as frames write it
SYSTEM = ("run", "system", "model", "name", "run_id", "runid", "system_id", "tag")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table of an input: text gives strings. ``lines`` returns the 1-based line of each row, if there are lines.

    ``typed`` is True if the input has types of columns, which CSV has not.
    """

    label: str
    frame: pl.DataFrame
    lines: Callable[[], Array] | None = None
    typed: bool = True

    def at(self, row: int) -> str:
        """Return the place of a 0-based row: ``scores.csv line 3``."""
        if self.lines is None:
            return f"{self.label} row {words.count(row + 1)}"
        return f"{self.label} line {words.count(int(self.lines()[row]))}"

    def role(self, aliases: Sequence[str]) -> str | None:
        """Return the first column with one of these names, in any spelling."""
        by_plain = {plain_name(name): name for name in reversed(self.frame.columns)}
        return next((by_plain[plain] for plain in map(plain_name, aliases) if plain in by_plain), None)

    def pair(self, expected: str) -> tuple[str, str]:
        """Return the columns of a query and of its value: the query by its name, or the first of the two."""
        names = self.frame.columns
        if len(names) != 2:
            raise InputError(f"{self.label}: {words.counted(len(names), 'column')}; {expected}")
        return (names[1], names[0]) if self.role(QUERY) == names[1] else (names[0], names[1])

    def ids(self, name: str, noun: str, whole: bool = False) -> pl.Series:
        """Return a column of ids as strings, or whole numbers as they are with ``whole``. Raises InputError for a row without one."""
        if whole and is_whole(self.frame[name]):
            return self.frame[name].cast(pl.Int64)
        frame = self.frame if self.typed else restore_floats(self.frame.select(name), [name])
        ids = id_column(frame[name], name, self.label, ReaderNotes())
        ids = ids.str.strip_chars() if frame[name].dtype == pl.String else ids
        empty = np.flatnonzero((ids.fill_null("") == "").to_numpy())
        if len(empty):
            raise InputError(f"{self.at(int(empty[0]))}: no {noun} (column {name or 1} is empty)")
        return ids

    def distinct(self, name: str, noun: str) -> Ids:
        """Return a column of ids. Raises InputError for an id in two rows."""
        ids = self.ids(name, noun)
        again = np.flatnonzero(~ids.is_first_distinct().to_numpy())
        if len(again):
            row = int(again[0])
            raise InputError(f"{self.at(row)}: {noun} {ids[row]!r} is there twice; keep one row")
        return Ids(ids)

    def numbers(self, name: str) -> Array:
        """Return a column of numbers, NaN for an empty cell or nan. Raises InputError for the first other cell."""
        column = self.frame[name]
        if column.dtype == pl.String:
            text = column.fill_null("").str.strip_chars()
            missing = text.str.to_lowercase().is_in(UNDEFINED)
            values = text.cast(pl.Float64, strict=False)
            odd = (values.is_null() & ~missing).to_numpy()
        elif column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
            values, odd = column.cast(pl.Float64), np.zeros(len(column), dtype=bool)
        else:
            raise InputError(f"{self.label}: column {name} is of type {column.dtype}; it should hold numbers")
        out = values.fill_null(float("nan")).to_numpy().astype(float)
        odd = np.flatnonzero(odd | np.isinf(out))
        if not len(odd):
            return out
        row, what = int(odd[0]), "is not a number"
        cell = str(column[row]).strip()
        if re.fullmatch(r"[+-]?\d+,\d+", cell):
            what += f"; write {cell.replace(',', '.')}, with a point"
        elif words.is_number(cell) and abs(float(cell)) == float("inf"):
            what = "is infinite; leave the cell empty if a value is undefined"
        raise InputError(f"{self.at(row)}, column {name}: {words.quote(cell)} {what}")


def label_of(source: Any, table: Sheet | Mapping[str, Any], otherwise: str) -> str:
    """Return the name of an opened source in messages."""
    return table.label if isinstance(table, Sheet) else str(source) if is_path(source) else otherwise


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} comes twice in one object")
    if any(isinstance(text, str) and is_half(text) for pair in pairs for text in pair):
        raise ValueError("half of a character (a lone surrogate)")
    return out


def _of_json(raw: Raw, kind: str, expected: str) -> Sheet | Mapping[str, Any]:
    label = raw.label
    value, lines = (json_of(raw, _once), None) if kind == "json" else objects_of(raw, _once)
    if lines is not None and len(value) == 1 and "per_query" in value[0]:
        value, lines = value[0], None
    if isinstance(value, Mapping) and "per_query" in value:
        value = value["per_query"]
        if not value:
            raise InputError(f"{label}: holds means, no values of queries: write it with --per-query")
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{label}: JSON must be an object or a list of objects; {expected}")
    names = list(dict.fromkeys(key for item in value for key in item))
    frame = pl.DataFrame([column_of(name, [item.get(name) for item in value], label) for name in names])
    return Sheet(label, frame, None if lines is None else lambda: np.array(lines))


def column_of(name: str, values: list[Any], label: str) -> pl.Series:
    """Return the values of a key as a column of numbers or texts. Raises InputError for a list or an object."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds <= {str, int, float, bool}:
        if kinds <= {date, datetime}:  # of Python's objects
            return pl.Series(name, values)
        odd = next(value for value in values if type(value) not in {type(None), str, int, float, bool})
        raise InputError(f"{label}: {name} holds {quote_value(odd)}; a text, a number or null is expected")
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and kinds != {int}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)


def open_sheet(
    source: Any, label: str, expected: str, roles: Collection[str] = (*QUERY, *SYSTEM)
) -> Sheet | Mapping[str, Any]:
    """Read a file or a data frame as a sheet; return a dict, or the JSON object of a file, as it is."""
    if isinstance(source, Mapping):
        return source
    if is_path(source) or isinstance(source, Raw):
        raw = source if isinstance(source, Raw) else open_raw(source, expected)
        if (kind := kind_of(raw)) in {"json", "jsonl"}:
            sheet = _of_json(raw, kind, expected)
        else:
            sheet = Sheet(raw.label, open_parquet(raw).table()) if kind == "parquet" else _read_columns(raw)
    elif speaks_arrow(source) and not isinstance(source, pl.Series):
        sheet = Sheet(label, _frame(source, label, roles))
    else:
        rows = (
            "; give the rows of the query: .fetch_arrow_table()"
            if hasattr(source, "fetch_arrow_table")
            else f"; {expected}"
        )
        what = PARTIAL if hasattr(source, MARK) else f"cannot be read from {type(source).__name__}{rows}"
        raise InputError(f"{label}: {what}")
    if isinstance(sheet, Mapping):
        return sheet
    if not len(sheet.frame):
        raise InputError(f"{sheet.label}: a header and no rows; {expected}")
    return _without_index(sheet, roles)


def _frame(source: Any, label: str, roles: Collection[str]) -> pl.DataFrame:
    if is_pandas(source):
        source = with_index(source, roles)
    if not isinstance(source, pl.DataFrame | pl.LazyFrame):
        _refuse_twice([str(name) for name in getattr(source, "column_names", getattr(source, "columns", []))], label)
    frame = frame_of(source, label)
    return frame.rename({UNNAMED: ""}) if UNNAMED in frame.columns else frame


def _without_index(sheet: Sheet, roles: Collection[str]) -> Sheet:
    """Drop the index that a frame wrote next to its columns, if another column names the rows."""
    names = sheet.frame.columns
    index = [name for name in names if INDEX.fullmatch(name)]
    known = set(map(plain_name, roles))
    if not index or not any(plain_name(name) in known for name in names if name not in index):
        return sheet
    return replace(sheet, frame=sheet.frame.drop(index))


def _refuse_twice(names: Sequence[str], label: str) -> None:
    again = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if again is not None:
        raise InputError(f"{label}: column {again!r} is there twice; is the header line missing or doubled?")


def _read_columns(raw: Raw) -> Sheet:
    head = raw.head if b"\n" in raw.head else raw.text()
    line = head.removeprefix(BOM).split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")
    separator = SEPARATORS.get(SEPARATED_BY_ENDING.get(raw.ending, ""), "")
    if not separator or separator not in line:  # the most frequent one in the header
        separator = max(SEPARATORS.values(), key=line.count)
    columns = Columns.of(raw, separator)
    names = [name.strip() for name in columns.names]
    _refuse_twice(names, raw.label)
    if "" in names[1:]:
        raise InputError(f"{raw.label}: column {names.index('', 1) + 1} has no name in the header")
    text = columns.body()
    rows = cast("Rows", columns.rows(text))
    for at, cells in rows.odd[:1]:
        wide = f"{words.counted(cells, 'column')}, the header has {len(names)}"
        where = f"{raw.label} line {words.count(columns.line(text, at))}"
        raise InputError(f"{where}: {wide if cells else 'a carriage return within the line'}")
    frame = columns.parse_rows(text, rows, columns.names).fill_null("")
    frame.columns = names
    return Sheet(raw.label, frame, columns.lines, typed=False)
