"""Tables of any columns from whatever holds one: CSV, TSV, Parquet, JSON, JSONL, data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.delimited import quote_of, record_lines
from rankscope.files.memory import frame_of, speaks_arrow
from rankscope.files.objects import read_lines, read_objects
from rankscope.files.raw import BOM, Raw, open_raw
from rankscope.files.sheets import QUERY, SYSTEM, Sheet
from rankscope.files.sniff import kind_of

_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def is_path(source: Any) -> bool:
    """Whether a source names a file."""
    return isinstance(source, str | PathLike)


def opened(source: Any, label: str, expected: str) -> Sheet | Mapping[str, Any]:
    """Read a file or a data frame as a sheet; a dict, or a JSON object of a file, is given as it is.

    ``label`` is what messages call what is no file, ``expected`` says what would be right.
    """
    if isinstance(source, Mapping):
        return source
    if is_path(source):
        raw = open_raw(source, expected)
        kind = kind_of(raw)
        if kind in {"json", "jsonl"}:
            found = read_objects(raw, expected) if kind == "json" else read_lines(raw, expected)
        else:
            found = _parquet(raw) if kind == "parquet" else _delimited(raw)
    elif speaks_arrow(source) and not isinstance(source, pl.Series):
        found = Sheet(label, _frame(source, label))
    else:
        raise InputError(f"{label}: cannot be read from {type(source).__name__}; {expected}")
    if isinstance(found, Sheet) and not len(found.frame):
        raise InputError(f"{found.label}: a header and no rows; {expected}")
    return _without_numbering(found) if isinstance(found, Sheet) else found


def _frame(source: Any, label: str) -> pl.DataFrame:
    """The columns of a data frame; an index of pandas that says something becomes the first column."""
    unnamed = False
    if type(source).__module__.partition(".")[0] == "pandas":
        source, unnamed = _with_index(source)
    if not isinstance(source, pl.DataFrame | pl.LazyFrame):
        _refuse_twice([str(name) for name in getattr(source, "columns", [])], label)
    frame = frame_of(source, label)
    return frame.rename({frame.columns[0]: ""}) if unnamed else frame


def _with_index(source: Any) -> tuple[Any, bool]:
    """A pandas frame with its index as columns, and whether the first has no name."""
    kind = type(source.index).__name__
    if kind == "RangeIndex":
        source = source.to_frame() if source.ndim == 1 else source
        return source.set_axis([str(name) for name in source.columns], axis=1), False
    unnamed = all(name is None for name in source.index.names)
    source = source.reset_index()
    names = [str(name) for name in source.columns]
    return source.set_axis(["" if unnamed else names[0], *names[1:]], axis=1), unnamed


def _without_numbering(sheet: Sheet) -> Sheet:
    """Leave out a first column that has no name and numbers the rows from 0, where another names the rows."""
    frame = sheet.frame
    if frame.width < 2 or frame.columns[0] or not (sheet.role(QUERY) or sheet.role(SYSTEM)):
        return sheet
    numbers = frame.to_series(0).cast(pl.Int64, strict=False)
    if numbers.null_count() or (numbers != pl.Series(range(len(frame)))).any():
        return sheet
    return replace(sheet, frame=frame[:, 1:])


def _refuse_twice(names: Sequence[str], label: str) -> None:
    again = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if again is not None:
        raise InputError(f"{label}: column {again!r} is there twice; is the header line missing or doubled?")


# --- text with separators ------------------------------------------------------------------------------


def _delimited(raw: Raw) -> Sheet:
    head = raw.head if b"\n" in raw.head else raw.read()
    line = head.removeprefix(BOM).split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")
    separator = _separator(raw.label, line)
    quote = quote_of(raw, separator)
    names = [name.strip() for name in next(_reader(io.StringIO(line), separator, quote), [])]
    _refuse_twice(names, raw.label)
    if "" in names[1:]:
        raise InputError(f"{raw.label}: column {names.index('', 1) + 1} has no name in the header")
    try:
        scan = pl.scan_csv(raw.feed, separator=separator, quote_char=quote, infer_schema=False, glob=False)
        frame = scan.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        if "more fields" not in str(error):
            raw.fail(error)
        return _careful(raw, separator, quote, names)
    if frame.width != len(names) or any(frame.null_count().row(0)):
        return _careful(raw, separator, quote, names)  # empty cells, or rows that are too short
    frame.columns = names
    return Sheet(raw.label, frame, lambda: record_lines(raw, separator, quote))


def _separator(label: str, line: str) -> str:
    """The separator that the ending says, where the header has it; else the one it has most of."""
    path = Path(label)
    ending = (path.with_suffix("") if path.suffix.lower() in {".gz", ".zst"} else path).suffix.lower()
    said = _SEPARATORS.get(ending, "")
    return said if said and said in line else max(",\t;", key=line.count)


def _reader(text: io.StringIO, separator: str, quote: str | None) -> Any:
    if quote:
        return csv.reader(text, delimiter=separator, quotechar=quote)
    return csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE)


def _careful(raw: Raw, separator: str, quote: str | None, names: list[str]) -> Sheet:
    """Read row by row, so that a row of another length is told from one with empty cells."""
    text = io.StringIO(raw.read().removeprefix(BOM).decode("utf-8"), newline="")
    reader = _reader(text, separator, quote)
    next(reader)
    rows, lines, last = [], [], reader.line_num
    for row in reader:
        start, last = last + 1, reader.line_num
        if not row:
            continue
        if len(row) != len(names):
            raise InputError(
                f"{raw.label} line {words.count(start)}: {len(row)} columns, the header has {len(names)}"
            )
        rows.append(row)
        lines.append(start)
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    data = [pl.Series(name, column, dtype=pl.String) for name, column in zip(names, columns, strict=True)]
    return Sheet(raw.label, pl.DataFrame(data), lambda: np.array(lines))


def _parquet(raw: Raw) -> Sheet:
    try:
        frame = pl.read_parquet(io.BytesIO(raw.read()))
    except (pl.exceptions.PolarsError, OSError) as error:
        text = str(error).splitlines()[0]
        raise InputError(
            f"{raw.label}: not a whole Parquet file ({text}): fetch or write it again"
        ) from error
    return Sheet(raw.label, frame)
