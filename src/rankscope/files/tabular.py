"""JSON, JSON lines and Parquet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, make_table, roles_of
from rankscope.files.memory import DICTS, Pairs, quote_value, read_dict
from rankscope.files.parts import PartFacts, RunParts, table_part, table_parts
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Array, Qrels, Run


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
    except pl.exceptions.PolarsError:
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
    try:
        value = json.loads(raw.read().removeprefix(BOM), object_pairs_hook=_pairs)
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


def read_parquet(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read the columns that matter from a Parquet file."""
    found, scan = Findings(), raw.scan_parquet()
    roles = roles_of(scan.collect_schema().names(), what, raw.label, found)
    frame = _collect(raw, scan.select(list(dict.fromkeys(roles.values()))))
    return make_table(frame, roles, raw.source(f"Parquet {what}"), found, what, name)


def _collect(raw: Raw, scan: pl.LazyFrame) -> pl.DataFrame:
    try:
        return scan.collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raw.fail_parquet(error)


PART = 1 << 18  # rows of a part of a Parquet file
BEYOND = 1 << 10  # rows read beyond a part at first, to find where its last query ends


def parquet_parts(raw: Raw, name: str | None) -> RunParts:
    """A run in a Parquet file, to be read in parts."""
    found, scan = Findings(), raw.scan_parquet()
    roles = roles_of(scan.collect_schema().names(), "run", raw.label, found)
    columns = scan.select(list(dict.fromkeys(roles.values())))
    query = roles["query_id"]

    def read(start: int, size: int) -> tuple[Run, PartFacts]:
        return table_part(_whole_queries(raw, columns, query, start, size), roles, raw.label)

    def reads(pieces: int | None = None) -> Iterator[Callable[[], tuple[Run, PartFacts]]]:
        count = _collect(raw, scan.select(pl.len())).item()
        size = PART if pieces is None else max(min(PART, -(-count // pieces)), 1)
        return (partial(read, start, size) for start in range(0, count, size))

    return table_parts(raw, "Parquet run", name, found, reads, lambda: cast("Run", read_parquet(raw, "run", name)))


def _whole_queries(raw: Raw, scan: pl.LazyFrame, query: str, start: int, size: int) -> pl.DataFrame:
    """The rows of a part: from where the first query begins in it to where the last one ends, which may be beyond it."""
    before, beyond = min(start, 1), BEYOND
    while True:
        rows = _collect(raw, scan.slice(start - before, before + size + beyond))
        sizes = rows[query].rle().struct.field("len").cast(pl.Int64).to_numpy()
        begins = np.cumsum(sizes) if start else np.append(np.cumsum(sizes) - sizes, len(rows))
        end = min(before + size, len(rows))
        first, last = np.searchsorted(begins, [before, end])
        if begins[first] >= end:  # all of it belongs to a query that begins in an earlier part
            return rows.clear()
        if begins[last] < len(rows) or len(rows) < before + size + beyond:
            return rows.slice(int(begins[first]), int(begins[last] - begins[first]))
        beyond *= 8
