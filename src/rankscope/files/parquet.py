"""Parquet tables."""

from __future__ import annotations

import io

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import long_table, made_table, roles_of, tag_of
from rankscope.files.notes import Found
from rankscope.files.raw import Raw
from rankscope.tables import Qrels, Run, Source


def read_parquet(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read the columns that matter from a Parquet file."""
    found = Found()
    feed = raw.path if raw.path and not raw.packed else io.BytesIO(raw.read())
    try:
        scan = pl.scan_parquet(feed, glob=False)
        roles = roles_of(scan.collect_schema().names(), what, raw.label, found)
        frame = scan.select(list(dict.fromkeys(roles.values()))).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        text = str(error).splitlines()[0]
        raise InputError(
            f"{raw.label}: not a whole Parquet file ({text}): fetch or write it again"
        ) from error
    if what == "run":
        found.tag = tag_of(frame, roles, raw.label)
    table = long_table(frame, roles, raw.label, lambda row: f"{raw.label} row {words.count(row + 1)}", found)
    path = str(raw.path) if raw.path else None
    return made_table(
        table, Source(raw.label, f"Parquet {what}", path, sha256=raw.sha256, same=raw.same), found, what, name
    )
