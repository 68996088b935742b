"""Text whose columns have names: CSV, TSV, JSON and JSONL."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NoReturn

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, make_table, roles_of
from rankscope.files.memory import DICTS, Pairs, quote_value, read_dict
from rankscope.files.raw import BOM, UNREADABLE, Raw
from rankscope.tables import Array, Qrels, Run

NAMES = {",": "CSV", "\t": "TSV", ";": "CSV (apart by semicolons)"}
_WORDS = {",": "a comma", "\t": "a tab", ";": "a semicolon"}
_BEYOND = "columns beyond the header"


def header_of(raw: Raw, separator: str) -> list[str]:
    """Names in the first line."""
    try:
        return next(csv.reader([raw.first_line], delimiter=separator), [])
    except csv.Error:
        return []


def read_columns(raw: Raw, what: str, name: str | None, separator: str) -> Run | Qrels:
    """Read a table with a header; all columns are read as strings, so that ``01`` stays ``01``."""
    found = Findings()
    quote = quote_of(raw, separator)
    scan = _scan(raw.plain, separator, quote)
    try:
        names = scan.collect_schema().names()
        roles = roles_of(names, what, raw.label, found)
        columns = list(dict.fromkeys(roles.values()))
        frame = scan.select(columns).collect()
    except UNREADABLE as error:
        if "more fields" not in str(error):
            raw.fail(error)
        scan = _scan(_with_column(raw, separator), separator, quote, ragged=True)
        frame = scan.select([*columns, _BEYOND]).collect()
    blank = _blank(scan, frame)
    wide = np.flatnonzero(frame[_BEYOND].is_not_null().to_numpy()) if _BEYOND in frame.columns else blank[:0]
    open_quotes = np.setdiff1d(_over_lines(frame, roles), wide) if quote else blank[:0]

    @cache
    def lines() -> Array:
        return record_lines(raw, separator, quote)

    remedy = f"an id that holds {_WORDS[separator]} must stand in quotes"
    beyond = f"more columns than the header, which has {len(names)}; {remedy}"
    broken = "an id that runs over several lines: is a quote left open?"
    found.fault_rows(raw.label, wide, lambda _: ("columns", beyond), lambda row: int(lines()[row]))
    found.fault_rows(raw.label, open_quotes, lambda _: ("columns", broken), lambda row: int(lines()[row]))
    source = raw.source(f"{NAMES[separator]} {what}")
    silent = np.union1d(np.union1d(blank, wide), open_quotes)
    return make_table(frame, roles, source, found, what, name, lines, silent)


def _scan(feed: object, separator: str, quote: str | None, ragged: bool = False) -> pl.LazyFrame:
    return pl.scan_csv(
        feed, separator=separator, quote_char=quote, infer_schema=False, glob=False,  # type: ignore[arg-type]
        truncate_ragged_lines=ragged,
    )  # fmt: skip


def quote_of(raw: Raw, separator: str) -> str | None:
    """Quotes are quotes in CSV; in TSV only where the first lines use them around a whole field."""
    if separator == "\t" and not re.search(rb'(^|\t)"[^\t\n]*"(\t|\r?$)', raw.head, re.MULTILINE):
        return None
    quotes = raw.text().count(b'"')
    if quotes % 2:
        said = f"{words.counted(quotes, 'double quote')}, an odd number: one is opened and never closed"
        raise InputError(f'{raw.label}: {said}; a quote within an id is written twice ("")')
    return '"' if quotes else None


def _with_column(raw: Raw, separator: str) -> bytes:
    """Add one more name to the header, to catch what lines hold beyond it."""
    header, _, rest = raw.text().removeprefix(BOM).partition(b"\n")
    return header.rstrip(b"\r") + f"{separator}{_BEYOND}\n".encode() + rest


def _blank(scan: pl.LazyFrame, frame: pl.DataFrame) -> Array:
    """Rows of blank lines: those where every column of the input is null."""
    if not any(frame[name].null_count() for name in frame.columns[:1]):
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(scan.select(pl.all_horizontal(pl.all().is_null())).collect().to_series().to_numpy())


def _over_lines(frame: pl.DataFrame, roles: dict[str, str]) -> Array:
    broken = pl.any_horizontal(pl.col(roles[role]).str.contains("\n", literal=True) for role in ("query_id", "doc_id"))
    return np.flatnonzero(frame.select(broken.fill_null(False)).to_series().to_numpy())


def reader_of(text: str, separator: str, quote: str | None) -> Any:
    """The rows of a text, each a list of cells."""
    lines = io.StringIO(text, newline="")
    return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE)


def record_lines(raw: Raw, separator: str, quote: str | None) -> Array:
    """1-based line on which each record starts, the header left out."""
    reader = reader_of(raw.text().decode("utf-8", "replace"), separator, quote)
    starts, last = [], 0
    for _ in reader:
        starts.append(last + 1)
        last = reader.line_num
    return np.array(starts[1:], dtype=np.int64)


def read_jsonl(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object a line, under the same names as columns have."""
    found = Findings()
    roles = roles_of(_keys(raw), what, raw.label, found)
    lines = raw.lines_frame()["line"]
    content = np.flatnonzero((lines.fill_null("").str.strip_chars() != "").to_numpy())
    text = lines.gather(content)
    frame, broken = _decode(text, list(dict.fromkeys(roles.values())))
    frame = _with_ids(frame, text, roles, raw.label, content, found)
    number = content + 1
    told = (lambda row: ("json", f"not a JSON object: {words.quote(text[row])}")), (lambda row: int(number[row]))
    found.fault_rows(raw.label, broken, *told)
    return make_table(frame, roles, raw.source(f"JSONL {what}"), found, what, name, lambda: number, broken)


def _decode(text: pl.Series, keys: list[str]) -> tuple[pl.DataFrame, Array]:
    """Give the values as strings, one row a line, and the rows that are no JSON objects.

    Polars decodes fast and to the last digit, but stops at anything odd; then Python takes line by line.
    """
    try:
        rows = text.str.json_decode(pl.Struct(dict.fromkeys(keys, pl.String)))
    except UNREADABLE:
        rows = None
    if rows is not None and len(rows) == len(text) and not rows.null_count():
        return rows.struct.unnest(), np.empty(0, dtype=np.int64)
    objects = [_object(line) for line in text]
    broken = np.array([row for row, value in enumerate(objects) if value is None], dtype=np.int64)
    columns = {key: [_text((value or {}).get(key)) for value in objects] for key in keys}
    return pl.DataFrame(columns, schema=dict.fromkeys(keys, pl.String)), broken


def _with_ids(
    frame: pl.DataFrame, text: pl.Series, roles: dict[str, str], label: str, content: Array, found: Findings
) -> pl.DataFrame:
    """Refuse ids that are neither strings nor whole numbers, which look like strings once decoded."""
    for key in dict.fromkeys(roles[role] for role in ("query_id", "doc_id")):
        bare = rf"{re.escape(json.dumps(key, ensure_ascii=False))}\s*:\s*(-?[0-9]+[.eE]|true|false|\[|\{{)"
        odd = frame[key].str.contains(r"^(-?[0-9]+[.eE]|true$|false$|\[|\{)").fill_null(False)
        rows = np.flatnonzero(odd.to_numpy())
        rows = rows[text.gather(rows).str.contains(bare).fill_null(False).to_numpy()]
        whole: dict[int, str] = {}
        for row in rows.tolist():
            value = (_object(text[row]) or {}).get(key)
            if isinstance(value, float) and value.is_integer():
                whole[row] = str(int(value))
            elif value is not None and not isinstance(value, str):
                where = f"{label} line {words.count(int(content[row]) + 1)}"
                raise InputError(f"{where}: {key} is {quote_value(value)}, not an id; ids are strings or integers")
        if whole:
            found.notes.append(f"{key} holds ids as floats: 1.0 is read as '1'")
            ids = frame[key].scatter(list(whole), list(whole.values()))
            frame = frame.with_columns(ids.alias(key))
    return frame


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _object(line: str | bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def _keys(raw: Raw) -> list[str]:
    """Keys of the first objects, in order of appearance."""
    keys: dict[str, None] = {}
    for line in raw.head.removeprefix(BOM).split(b"\n")[:200]:
        keys |= dict.fromkeys(_object(line) or {})
    if not keys:
        said = f"not a JSON object: {words.quote(raw.first_line)}"
        raise InputError(f"{raw.label} line 1: {said}; JSONL has one object a line")
    return list(keys)


def is_jsonl(raw: Raw) -> bool:
    """Whether the first line is a whole object with plain values, as a row has."""
    first = raw.head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
    value = _object(first)
    return value is not None and not all(isinstance(item, (dict, list)) for item in value.values())


def read_json(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object ``{query: {document: number}}``."""
    data = raw.read().removeprefix(BOM)
    try:
        value = json.loads(data, object_pairs_hook=_pairs)
    except UnicodeDecodeError as error:
        raw.fail(error)
    except RecursionError as error:
        raise InputError(f"{raw.label}: nested too deeply; {DICTS[what]}") from error
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{raw.label} line {words.count(line)}: not JSON ({getattr(error, 'msg', error)})") from error
    if not isinstance(value, Mapping):
        kind, lines = "array" if isinstance(value, list) else "value", "(jq -c '.[]' turns an array into lines)"
        raise InputError(f"{raw.label}: a JSON {kind}; {DICTS[what]}, or one object a line {lines}")
    return read_dict(_merge(value, what, raw.label), what, name, raw)


def _pairs(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    """Keep an object's keys that come twice, which a dict would lose."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else Pairs(pairs)


def _merge(queries: Mapping[str, Any], what: str, label: str) -> dict[str, Any]:
    """Put the documents of a query that comes twice together, every one of them."""
    out: dict[str, Any] = {}
    for query, value in queries.items():
        if query not in out:
            out[query] = value
        elif isinstance(value, Mapping) and isinstance(out[query], Mapping):
            out[query] = Pairs([*out[query].items(), *value.items()])
        elif what == "qrels" and isinstance(value, list) and isinstance(out[query], list):
            out[query] = [*out[query], *value]
        else:
            raise InputError(f"{label}: query {query!r} is there twice; put its documents into one list")
    return out
