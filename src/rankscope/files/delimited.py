"""CSV and TSV with a header line."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import long_table, made_table, roles_of, tag_of
from rankscope.files.notes import Found, line_finder
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Array, Qrels, Run, Source

NAMES = {",": "CSV", "\t": "TSV", ";": "CSV (apart by semicolons)"}
_WORDS = {",": "a comma", "\t": "a tab", ";": "a semicolon"}
_BEYOND = "columns beyond the header"


def header_of(raw: Raw, separator: str) -> list[str]:
    """Names in the first line."""
    line = raw.head.removeprefix(BOM).split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def read_delimited(raw: Raw, what: str, name: str | None, separator: str) -> Run | Qrels:
    """Read a table with a header; all columns are read as strings, so that ``01`` stays ``01``."""
    found = Found()
    quote = quote_of(raw, separator)
    scan = _scan(raw.feed, separator, quote)
    try:
        names = scan.collect_schema().names()
        roles = roles_of(names, what, raw.label, found)
        columns = list(dict.fromkeys(roles.values()))
        frame = scan.select(columns).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        if "more fields" not in str(error):
            raw.fail(error)
        scan = _scan(_with_column(raw, separator), separator, quote, ragged=True)
        frame = scan.select([*columns, _BEYOND]).collect()
    blank = _blank(scan, frame)
    wide = np.flatnonzero(frame[_BEYOND].is_not_null().to_numpy()) if _BEYOND in frame.columns else blank[:0]
    open_quotes = np.setdiff1d(_over_lines(frame, roles), wide) if quote else blank[:0]
    silent = np.union1d(np.union1d(blank, wide), open_quotes)
    kept = np.delete(np.arange(len(frame)), silent)

    def lines() -> Array:
        return record_lines(raw, separator, quote)

    where = line_finder(lines, np.empty(0, dtype=np.int64))
    remedy = f"an id that holds {_WORDS[separator]} must stand in quotes"
    beyond = f"more columns than the header, which has {len(names)}; {remedy}"
    for rows, text in (
        (wide, beyond),
        (open_quotes, "an id that runs over several lines: is a quote left open?"),
    ):
        for row in rows[:20].tolist():
            found.fault("columns", f"{raw.label} line {words.count(where(row))}: {text}", where(row))
        found.faulty += max(len(rows) - 20, 0)
    if what == "run":
        found.tag = tag_of(frame, roles, raw.label)
    table = long_table(
        frame[kept] if len(silent) else frame, roles, raw.label,
        lambda row: f"{raw.label} line {words.count(where(int(kept[row])))}", found,
    )  # fmt: skip
    left_out = np.union1d(silent, kept[table.left_out])
    source = Source(
        raw.label, f"{NAMES[separator]} {what}", str(raw.path) if raw.path else None,
        line_of=line_finder(lines, left_out), sha256=raw.sha256, same=raw.same,
    )  # fmt: skip
    return made_table(table, source, found, what, name)


def _scan(feed: object, separator: str, quote: str | None, ragged: bool = False) -> pl.LazyFrame:
    return pl.scan_csv(
        feed, separator=separator, quote_char=quote, infer_schema=False, glob=False,  # type: ignore[arg-type]
        truncate_ragged_lines=ragged,
    )  # fmt: skip


def quote_of(raw: Raw, separator: str) -> str | None:
    """Quotes are quotes in CSV; in TSV only where the first lines use them around a whole field."""
    if separator == "\t" and not re.search(rb'(^|\t)"[^\t\n]*"(\t|\r?$)', raw.head, re.MULTILINE):
        return None
    quotes = raw.read().count(b'"')
    if quotes % 2:
        raise InputError(
            f"{raw.label}: {words.counted(quotes, 'double quote')}, an odd number: one is opened and never closed; "
            'a quote within an id is written twice ("")'
        )
    return '"' if quotes else None


def _with_column(raw: Raw, separator: str) -> bytes:
    """Add one more name to the header, to catch what lines hold beyond it."""
    header, _, rest = raw.read().removeprefix(BOM).partition(b"\n")
    return header.rstrip(b"\r") + f"{separator}{_BEYOND}\n".encode() + rest


def _blank(scan: pl.LazyFrame, frame: pl.DataFrame) -> Array:
    """Rows of blank lines: those where every column of the input is null."""
    if not any(frame[name].null_count() for name in frame.columns[:1]):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(scan.select(pl.all_horizontal(pl.all().is_null())).collect().to_series().to_numpy())


def _over_lines(frame: pl.DataFrame, roles: dict[str, str]) -> Array:
    """Rows whose ids hold a line break."""
    broken = pl.any_horizontal(
        pl.col(roles[role]).str.contains("\n", literal=True) for role in ("query_id", "doc_id")
    )
    return np.flatnonzero(frame.select(broken.fill_null(False)).to_series().to_numpy())


def record_lines(raw: Raw, separator: str, quote: str | None) -> Array:
    """1-based line on which each record starts, the header left out."""
    text = io.StringIO(raw.read().decode("utf-8", "replace"), newline="")
    if quote:
        reader = csv.reader(text, delimiter=separator, quotechar=quote)
    else:
        reader = csv.reader(text, delimiter=separator, quoting=csv.QUOTE_NONE)
    starts, last = [], 0
    for _ in reader:
        starts.append(last + 1)
        last = reader.line_num
    return np.array(starts[1:], dtype=np.int64)
