"""The input of a log: files, frames or arrays with the names of their columns, and the rows that formats make of them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.columns import header_of
from rankscope.files.long import content_lines
from rankscope.files.memory import speaks_arrow
from rankscope.files.objects import json_of, object_of, objects_of
from rankscope.files.parquet import ParquetFile, open_parquet
from rankscope.files.parts import files_of, joint_source
from rankscope.files.raw import BOM, HEAD, UNREADABLE, Raw, is_path, open_raw
from rankscope.files.sheets import Sheet, column_of, open_sheet
from rankscope.tables import Source

EXPECTED = "a log is a table with one row per shown item (item, position, click ...) or one row per user (user, variant, numbers)"
LONE_RETURN = re.compile(rb"\r(?!\n)")  # which Polars takes for the end of an object
LOOKED = 200  # objects read to detect a format


@dataclass(frozen=True, eq=False)
class LogPart:
    """One file or table of an input: its ``name`` (of a file without endings), and the ``raw`` bytes, a ``frame`` or ``objects``."""

    name: str
    label: str
    raw: Raw | None = None
    frame: Any = None
    objects: Sequence[Mapping[str, Any]] | None = None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its columns, from its beginning; names within objects are joined by dots."""
        try:
            return tuple(self._names())
        except InputError:
            return ()

    def _names(self) -> Iterator[str]:
        if self.objects is not None:
            yield from _keys(self.objects[:LOOKED])
        elif self.raw is None:
            yield from _paths(_schema(self.frame))
        elif self.is_objects:
            yield from _keys([one for one in map(object_of, self._head_objects()) if one is not None])
        elif kind_of(self.raw) == "parquet":
            yield from _paths(self.parquet.scan.collect_schema())
        else:
            yield from max((header_of(self.raw, sign) for sign in ",\t;"), key=len)

    @cached_property
    def parquet(self) -> ParquetFile:
        """Its Parquet file, opened once. Raises InputError for a damaged one."""
        assert self.raw is not None
        return open_parquet(self.raw)

    @cached_property
    def is_objects(self) -> bool:
        """True for a file of JSON."""
        return self.raw is not None and self.raw.head.removeprefix(BOM).lstrip()[:1] in {b"{", b"["}

    def _head_objects(self) -> Iterator[str]:
        """Yield the first objects as text: one per line, from a list, or from a search engine."""
        assert self.raw is not None
        head = self.raw.head.removeprefix(BOM).decode("utf-8", "replace").strip()
        wrap = '"_source"'
        if head.startswith("{") and wrap not in head:
            yield from head.split("\n")[:LOOKED]
            return
        decoder, at = json.JSONDecoder(), 1
        with suppress(ValueError, RecursionError):  # of the last object, which is cut off, and after it
            for _ in range(LOOKED):
                start = head.index("{", head.index(wrap, at) if wrap in head else at)
                _, at = decoder.raw_decode(head, start)
                yield head[start:at]

    def sheet(self) -> Sheet:
        """Return its rows; values within objects become columns named with dots: ``object.object_id``. Lists stay lists."""
        if self.objects is not None:
            return _of_objects(self.label, list(self.objects), None)
        if self.raw is not None and self.is_objects:
            return _plain_lines(self.raw) or _of_objects(self.label, *_objects_of(self.raw))
        table = open_sheet(self.frame if self.raw is None else self.raw, self.label, EXPECTED)
        if isinstance(table, Mapping):
            raise InputError(f"{self.label}: an object, not rows; {EXPECTED}")
        plain = _unnested(table.frame.select(~cs.by_dtype(pl.Binary, pl.Object)))
        return Sheet(table.label, plain, table.lines, table.typed)


@dataclass(frozen=True, eq=False)
class LogInput:
    """The input of a log: its ``parts``, or ``arrays`` by name.

    ``keyed`` is True for parts with names, ``several`` for the files of a folder or pattern.
    """

    label: str
    parts: tuple[LogPart, ...] = ()
    arrays: Mapping[str, Any] | None = None
    keyed: bool = False
    several: bool = False

    @property
    def one(self) -> LogPart | None:
        """The only part of an input of one file or frame."""
        return self.parts[0] if len(self.parts) == 1 and not (self.keyed or self.several) else None

    def source(self, kind: str, parts: Sequence[LogPart], **more: Any) -> Source:
        """Return the source of a log made of these parts."""
        raws = [part.raw for part in parts if part.raw is not None]
        if not raws:
            return Source(self.label, kind, **more)
        if len(raws) == 1 == len(parts):
            return raws[0].source(kind, **more)
        return joint_source(self.label, [raw.source(kind) for raw in raws], kind, **more)

    def left_out(self, used: Sequence[LogPart], what: str) -> list[str]:
        """Return a note on the files that were not read, as they have other content."""
        names = [Path(part.label).name for part in self.parts if part not in used]
        return [f"left out, as they hold no {what}: {words.listing(names)}"] if names else []


@dataclass(frozen=True, eq=False)
class LogTable:
    """Rows of a log with known names of columns, and their source; ``read_as`` describes the log in a few words."""

    frame: pl.DataFrame
    source: Source
    read_as: str
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class LogFormat:
    """A format of logs that another tool writes.

    ``about`` describes it in a list, ``expects`` its content in a message. ``read`` makes rows and raises InputError if it cannot.
    ``columns`` are sets of columns, one of which a part of the format has; ``lines`` are patterns of its first line, ``arrays`` the names in
    a dict of arrays. Where these do not suffice, ``sure`` decides. ``names`` are other names of it, ``keys`` the names of its parts in a dict.
    """

    name: str
    about: str
    expects: str
    read: Callable[[LogInput], LogTable]
    columns: Sequence[Collection[str]] = ()
    lines: Sequence[re.Pattern[str]] = ()
    arrays: Collection[str] = ()
    sure: Callable[[LogInput], bool] | None = None
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()

    def fits(self, part: LogPart) -> bool:
        """True if a part has columns of the format, or begins with a line of it."""
        first = part.raw.first_line.rstrip(" \t\r") if self.lines and part.raw is not None else ""
        return any(set(part.names).issuperset(some) for some in self.columns) or any(p.match(first) for p in self.lines)

    def is_one(self, log_input: LogInput) -> bool:
        """True if an input is certainly of the format."""
        as_arrays = log_input.arrays is not None and bool(self.arrays) and set(log_input.arrays).issuperset(self.arrays)
        return (as_arrays or any(map(self.fits, log_input.parts))) and (self.sure is None or self.sure(log_input))


def tally(values: pl.Series) -> list[tuple[str, int]]:
    """Count each value; the most frequent comes first, equal counts by name."""
    counts = values.value_counts(name="times")
    return counts.sort(pl.col("times"), pl.col(values.name), descending=[True, False]).rows()


def places(label: str, frame: pl.DataFrame, names: Mapping[str, str]) -> Callable[[int], str]:
    """Return a function that names a row made of several by the ids in these columns: ``log: list q-1, item a``."""

    def place_of(row: int) -> str:
        ids = [f"{noun} {value}" for column, noun in names.items() if (value := frame[column][row]) is not None]
        return f"{label}: {', '.join(ids)}"

    return place_of


def input_of(source: Any, keys: Sequence[str]) -> LogInput | None:
    """Open a path, a folder, a frame, arrays by name, or parts by name if one is among ``keys``; None for any other input."""
    if is_path(source):
        several = any(sign in str(source) for sign in "*?") or Path(source).is_dir()
        if several and (files := files_of(source)) is not None:
            return LogInput(str(source), tuple(_openable(files)), several=True)
        part = _part_of(source)
        return LogInput(part.label, (part,), _arrays(part))
    if isinstance(source, Mapping):
        if not any(is_part(source[key]) for key in keys if key in source):
            return LogInput("log", (), source)
        return LogInput("log", tuple(_named_parts(source)), keyed=True)
    if isinstance(source, pl.LazyFrame) or (speaks_arrow(source) and not isinstance(source, pl.Series)):
        return LogInput("log", (LogPart("log", "log", frame=source),))
    if isinstance(source, list | tuple) and source and is_part(source):
        return LogInput("log", (LogPart("log", "log", objects=list(source)),))
    return None


def _part_of(path: Any, name: str | None = None) -> LogPart:
    raw = open_raw(path, EXPECTED)
    return LogPart(Path(raw.label).name.partition(".")[0] if name is None else name, raw.label, raw)


def _openable(files: Sequence[Path]) -> Iterator[LogPart]:
    for file in files:
        with suppress(InputError):
            yield _part_of(file)


def _arrays(part: LogPart) -> Mapping[str, Any] | None:
    """Return the arrays of one JSON object if its beginning looks like feedback of obp."""
    raw = part.raw
    if raw is None or not raw.head.removeprefix(BOM).lstrip().startswith(b"{") or b'"n_rounds"' not in raw.head[:HEAD]:
        return None
    arrays = object_of(raw.read().removeprefix(BOM))
    return dict(arrays) if arrays is not None else None


def is_part(value: Any) -> bool:
    """True for a table: a path, a data frame or a list of objects; False for a column."""
    if isinstance(value, list | tuple):
        return all(isinstance(one, Mapping) for one in value)
    one_column = isinstance(value, pl.Series) or getattr(value, "ndim", 2) == 1
    return is_path(value) or isinstance(value, pl.LazyFrame) or (speaks_arrow(value) and not one_column)


def _named_parts(source: Mapping[Any, Any]) -> Iterator[LogPart]:
    for key, value in source.items():
        if isinstance(value, Mapping):
            yield from _named_parts(value)
        elif not is_part(value):
            expected = "a path, a data frame or a list of objects is expected"
            raise InputError(f"log: {key} is of type {type(value).__name__}; {expected}")
        elif is_path(value):
            yield _part_of(value, str(key))
        elif isinstance(value, list | tuple):
            yield LogPart(str(key), str(key), objects=list(value))
        else:
            yield LogPart(str(key), str(key), frame=value)


# --- objects as rows ------------------------------------------------------------------------------------------------


def _keys(objects: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(path for one in objects for path in _flat(_document(one) or {})))


def _schema(frame: Any) -> Mapping[str, Any]:
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame.collect_schema()
    if hasattr(frame, "column_names"):  # of PyArrow
        with suppress(*UNREADABLE):
            return pl.DataFrame(frame.slice(0, 1)).schema
    return dict.fromkeys(str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ())))


def _paths(schema: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Struct):
            yield from _paths({field.name: field.dtype for field in dtype.fields}, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _document(one: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the document in an object or in the wrapper of a search engine; None for an instruction about the next line."""
    if isinstance(inner := one.get("_source"), Mapping):
        return inner
    action = next(iter(one.values())) if len(one) == 1 and next(iter(one)) in {"index", "create"} else None
    return None if isinstance(action, Mapping) else one


def _flat(one: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in one.items():
        if isinstance(value, Mapping):
            out |= _flat(value, f"{before}{name}.")
        else:
            out[f"{before}{name}"] = value
    return out


def _unnested(frame: pl.DataFrame) -> pl.DataFrame:
    while nested := [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)]:
        frame = frame.with_columns(pl.col(name).name.prefix_fields(f"{name}.") for name in nested).unnest(nested)
    return frame


def _plain_lines(raw: Raw) -> Sheet | None:
    data = raw.text().removeprefix(BOM)
    if LONE_RETURN.search(data) or data.lstrip()[:1] != b"{" or object_of(data.lstrip().split(b"\n", 1)[0]) is None:
        return None
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except UNREADABLE:
        return None
    ends = data.count(b"\n") + (not data.endswith(b"\n"))
    lines = cache(lambda: content_lines(data) if frame.height < ends else np.arange(1, ends + 1))
    if frame.height != (len(lines()) if frame.height < ends else ends) or "hits" in frame.columns:
        return None
    kept = [pl.col(name).is_null() for name in ("index", "create") if isinstance(frame.schema.get(name), pl.Struct)]
    rows = frame.select(pl.all_horizontal(kept).arg_true()).to_series().to_numpy() if kept else None
    if rows is not None:  # the other lines are instructions about the next line
        frame = frame[rows].drop("index", "create", strict=False)
    frame = _unnested(frame.drop("_id", "_index", strict=False))
    inner = "_source."
    frame = frame.rename({name: name.removeprefix(inner) for name in frame.columns if name.startswith(inner)})
    return Sheet(raw.label, frame, lines if rows is None else lambda: lines()[rows])


def _objects_of(raw: Raw) -> tuple[list[Mapping[str, Any]], list[int] | None]:
    """Return the objects of a file: of lines with their numbers, of a list, or of the answer of a search engine."""
    first = raw.head.removeprefix(BOM).lstrip()
    if first[:1] == b"[" or object_of(first.split(b"\n", 1)[0]) is None:
        value, lines = json_of(raw, dict), None
    else:
        value, lines = objects_of(raw, dict)
        value = value[0] if len(value) == 1 and isinstance(value[0].get("hits"), Mapping) else value
    if isinstance(value, Mapping):
        hits = value.get("hits")
        value, lines = hits.get("hits", []) if isinstance(hits, Mapping) else [value], None
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        expected = "one object per line or a list of objects is expected"
        raise InputError(f"{raw.label}: JSON without a list of objects; {expected}")
    return value, lines


def _of_objects(label: str, objects: list[Mapping[str, Any]], lines: list[int] | None) -> Sheet:
    documents = [_document(one) for one in objects]
    kept = [place for place, one in enumerate(documents) if one is not None]
    rows = [_flat(one) for one in documents if one is not None]
    names = list(dict.fromkeys(name for row in rows for name in row))
    frame = pl.DataFrame([_series(name, [row.get(name) for row in rows], label) for name in names])
    if lines is None:
        return Sheet(label, frame)
    at = np.array(lines)[kept]
    return Sheet(label, frame, lambda: at)


def _series(name: str, values: list[Any], label: str) -> pl.Series:
    if any(isinstance(value, list) for value in values):
        lists = [value if isinstance(value, list) or value is None else [value] for value in values]
        plain = [None if one is None else [value for value in one if value is not None] for one in lists]
        texts = [one and [v if isinstance(v, str) else json.dumps(v) for v in one] for one in plain]
        return pl.Series(name, texts, dtype=pl.List(pl.String))
    return column_of(name, values, label)
