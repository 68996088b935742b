"""JSON and Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, make_table, roles_of
from rankscope.files.memory import DICTS, Pairs, pairs_of, read_dict
from rankscope.files.parts import PartFacts, RunParts, table_part, table_parts
from rankscope.files.raw import BOM, Raw
from rankscope.tables import Qrels, Run


def read_json(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read one JSON object ``{query: {document: number}}``."""
    try:
        value = json.loads(raw.read().removeprefix(BOM).decode("utf-8"), object_pairs_hook=pairs_of)
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
