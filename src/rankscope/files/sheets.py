"""Tables that are neither runs nor qrels, with their columns as text: CSV, JSON, Parquet, data frames."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NoReturn, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.columns import Columns, Rows
from rankscope.files.long import Findings, id_column, restore_floats
from rankscope.files.memory import UNNAMED, frame_of, is_half, is_pandas, quote_value, speaks_arrow, with_index
from rankscope.files.parquet import open_parquet
from rankscope.files.raw import BOM, Raw, open_raw
from rankscope.files.readers import kind_of
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
    """A table as it was given: files of text give strings. ``lines`` has the 1-based line of each row, where there are lines.

    ``typed`` tells whether the file or frame says what is a number: CSV does not.
    """

    label: str
    frame: pl.DataFrame
    lines: Callable[[], Array] | None = None
    typed: bool = True

    def at(self, row: int) -> str:
        """Say where a 0-based row stands: ``scores.csv line 3``."""
        if self.lines is None:
            return f"{self.label} row {words.count(row + 1)}"
        return f"{self.label} line {words.count(int(self.lines()[row]))}"

    def role(self, aliases: Sequence[str]) -> str | None:
        """The first column with one of these names, however it is spelled."""
        by_plain = {plain_name(name): name for name in reversed(self.frame.columns)}
        return next((by_plain[plain] for plain in map(plain_name, aliases) if plain in by_plain), None)

    def pair(self, expected: str) -> tuple[str, str]:
        """The columns of a query and of what is said of it: by its name, or else the first. There are only two."""
        names = self.frame.columns
        if len(names) != 2:
            raise InputError(f"{self.label}: {words.counted(len(names), 'column')}; {expected}")
        return (names[1], names[0]) if self.role(QUERY) == names[1] else (names[0], names[1])

    def ids(self, name: str, noun: str) -> pl.Series:
        """A column of ids as strings; every row must have one."""
        frame = self.frame if self.typed else restore_floats(self.frame.select(name), [name])
        ids = id_column(frame[name], name, self.label, Findings()).str.strip_chars()
        empty = np.flatnonzero((ids.fill_null("") == "").to_numpy())
        if len(empty):
            raise InputError(f"{self.at(int(empty[0]))}: no {noun} (column {name or 1} is empty)")
        return ids

    def distinct(self, name: str, noun: str) -> list[str]:
        """A column of ids, each in one row."""
        ids = self.ids(name, noun)
        again = np.flatnonzero(~ids.is_first_distinct().to_numpy())
        if len(again):
            row = int(again[0])
            raise InputError(f"{self.at(row)}: {noun} {ids[row]!r} is there twice; keep one row")
        return ids.to_list()

    def numbers(self, name: str) -> Array:
        """A column of numbers, NaN where a cell is empty or says nan; the first other cell is refused."""
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
        if len(odd):
            self._refuse(int(odd[0]), name, str(column[int(odd[0])]).strip())
        return out

    def _refuse(self, row: int, name: str, text: str) -> NoReturn:
        what = "is not a number"
        if re.fullmatch(r"[+-]?\d+,\d+", text):
            what += f"; write {text.replace(',', '.')}, with a point"
        elif words.is_number(text) and abs(float(text)) == float("inf"):
            what = "is infinite; leave the cell empty where a value is undefined"
        raise InputError(f"{self.at(row)}, column {name}: {words.quote(text)} {what}")


def read_objects(raw: Raw, expected: str) -> Sheet | Mapping[str, Any]:
    """Read a list of objects, what ``evaluate`` writes as JSON, or any other object as it is."""
    data = raw.read().removeprefix(BOM)
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        where = f" line {words.count(error.lineno)}" if isinstance(error, json.JSONDecodeError) else ""
        said = getattr(error, "msg", str(error))
        raise InputError(f"{raw.label}{where}: not JSON that can be read ({said})") from None
    return _of_objects(value, raw.label, expected)


def read_lines(raw: Raw, expected: str) -> Sheet | Mapping[str, Any]:
    """Read one object a line."""
    objects, lines = [], []
    for number, line in enumerate(raw.text().removeprefix(BOM).splitlines(), 1):
        if line.strip():
            try:
                value = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                text = words.quote(line.decode("utf-8", "replace"))
                raise InputError(f"{raw.label} line {words.count(number)}: not a JSON object: {text}")
            objects.append(value)
            lines.append(number)
    if len(objects) == 1 and "per_query" in objects[0]:
        return _of_objects(objects[0], raw.label, expected)
    return Sheet(raw.label, _columns(objects, raw.label), lambda: np.array(lines))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(k for k in keys if keys.count(k) > 1)!r} comes twice in one object")
    if any(isinstance(text, str) and is_half(text) for pair in pairs for text in pair):
        raise ValueError("half of a character (a lone surrogate)")
    return out


def _of_objects(value: Any, label: str, expected: str) -> Sheet | Mapping[str, Any]:
    """A list of objects as a sheet; of what ``evaluate`` writes, the part with one row a query."""
    if isinstance(value, Mapping) and "per_query" in value:
        value = value["per_query"]
        if not value:
            raise InputError(f"{label}: holds means, no values of queries: write it with --per-query")
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{label}: JSON that is neither an object nor a list of objects; {expected}")
    return Sheet(label, _columns(value, label))


def _columns(objects: Sequence[Mapping[str, Any]], label: str) -> pl.DataFrame:
    """One column a key, of numbers where all its values are such, else of strings; null where an object lacks it."""
    names = list(dict.fromkeys(key for item in objects for key in item))
    return pl.DataFrame([column_of(name, [item.get(name) for item in objects], label) for name in names])


def column_of(name: str, values: list[Any], label: str) -> pl.Series:
    """The values of a key as a column: of numbers where all are such, else of texts. Raises InputError for a list or an object."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds <= {str, int, float, bool}:
        odd = next(value for value in values if isinstance(value, dict | list))
        raise InputError(f"{label}: {name} holds {quote_value(odd)}; a text, a number or null is expected")
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds and kinds <= {int, float} and kinds != {int}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)


_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def is_path(source: Any) -> bool:
    """Whether a source names a file."""
    return isinstance(source, str | PathLike)


def open_sheet(
    source: Any, label: str, expected: str, roles: Collection[str] = (*QUERY, *SYSTEM)
) -> Sheet | Mapping[str, Any]:
    """Read a file or a data frame as a sheet; a dict, or a JSON object of a file, is given as it is.

    ``label`` is what messages call what is no file, ``expected`` says what would be right. ``roles`` are the names by which a
    column names the rows: where one does, an index of another name is no column.
    """
    if isinstance(source, Mapping):
        return source
    if is_path(source) or isinstance(source, Raw):
        raw = source if isinstance(source, Raw) else open_raw(source, expected)
        kind = kind_of(raw)
        if kind in {"json", "jsonl"}:
            found = read_objects(raw, expected) if kind == "json" else read_lines(raw, expected)
        else:
            found = Sheet(raw.label, open_parquet(raw).table()) if kind == "parquet" else _read_columns(raw)
    elif speaks_arrow(source) and not isinstance(source, pl.Series):
        found = Sheet(label, _frame(source, label, roles))
    else:
        what = PARTIAL if hasattr(source, MARK) else f"cannot be read from {type(source).__name__}; {expected}"
        raise InputError(f"{label}: {what}")
    if isinstance(found, Sheet) and not len(found.frame):
        raise InputError(f"{found.label}: a header and no rows; {expected}")
    return _without_index(found, roles) if isinstance(found, Sheet) else found


def _frame(source: Any, label: str, roles: Collection[str]) -> pl.DataFrame:
    """The columns of a data frame; of an index of pandas what names the rows."""
    if is_pandas(source):
        source = with_index(source, roles)
    if not isinstance(source, pl.DataFrame | pl.LazyFrame):
        _refuse_twice([str(name) for name in getattr(source, "columns", [])], label)
    frame = frame_of(source, label)
    return frame.rename({UNNAMED: ""}) if UNNAMED in frame.columns else frame


def _without_index(sheet: Sheet, roles: Collection[str]) -> Sheet:
    """Leave out what was the index of a frame and was written beside its columns, where one of these names the rows."""
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
    separator = _SEPARATORS.get(raw.ending, "")
    if not separator or separator not in line:  # the one that the header has most of
        separator = max(",\t;", key=line.count)
    columns = Columns.of(raw, separator)
    names = [name.strip() for name in columns.names]
    _refuse_twice(names, raw.label)
    if "" in names[1:]:
        raise InputError(f"{raw.label}: column {names.index('', 1) + 1} has no name in the header")
    text = columns.body()
    rows = cast("Rows", columns.rows(text))
    for at, cells in rows.odd[:1]:
        where = f"{raw.label} line {words.count(columns.line(text, at))}"
        said = (
            f"{words.counted(cells, 'column')}, the header has {len(names)}"
            if cells
            else "a carriage return within the line"
        )
        raise InputError(f"{where}: {said}")
    frame = columns.parse(rows.only(text), dict.fromkeys(columns.names, pl.String))
    if frame is None or len(frame) != len(rows.begin):
        raw.fail(ValueError("its rows cannot be told apart"))
    frame = frame.fill_null("")
    frame.columns = names
    return Sheet(raw.label, frame, columns.lines, typed=False)
