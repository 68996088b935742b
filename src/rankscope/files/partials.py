"""Files of a part of a result: Parquet with its facts as JSON in the metadata, written in full or not at all."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rankscope.errors import InputError
from rankscope.files.raw import open_raw
from rankscope.store import write_file

KEY = "rankscope"  # under which the file's metadata holds the JSON
FORMAT = 2
SEAL = (
    b"sha256 of this file with zeros here: "  # the digest follows, and is checked before anything else reads the file
)
EXPECTED = "parts are written by rankscope evaluate --partition"


def write_partial(frame: pl.DataFrame, facts: Mapping[str, Any], place: str | Path) -> None:
    """Write rows and their facts into a file. Raises InputError if it cannot be written, and then leaves no file."""
    # in ASCII, as the name of a file may have letters that Parquet cannot store
    text = json.dumps({"format": FORMAT, **facts})
    packed = io.BytesIO()
    frame.write_parquet(packed, metadata={KEY: text, f"{KEY}.digest": f"{SEAL.decode()}{'0' * 64}"})
    write_file(place, [_sealed(packed.getvalue())])


def read_partial(path: str | Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows and their facts. Raises InputError for another file, or a damaged one."""
    raw = open_raw(path, EXPECTED)
    if not raw.start.startswith(b"PAR1"):
        raise InputError(f"{raw.label}: not a part of an evaluation; {EXPECTED}")
    damaged = f"{raw.label}: cut short or damaged: make this part again with rankscope evaluate --partition"
    data = raw.read()
    if not data.endswith(b"PAR1"):
        raise InputError(damaged)
    if SEAL not in data:
        raise InputError(f"{raw.label}: a Parquet file, but not a part of an evaluation; {EXPECTED}")
    if _sealed(data) != data:
        raise InputError(damaged)
    facts = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[KEY])
    if facts.pop("format") != FORMAT:
        problem = "a part as another version of rankscope writes it"
        raise InputError(f"{raw.label}: {problem}: make all parts with one version")
    return pl.read_parquet(io.BytesIO(data)), facts


def _sealed(data: bytes) -> bytes:
    """Return the bytes of a file with the digest filled in."""
    at = data.rindex(SEAL) + len(SEAL)  # in the metadata after all rows
    digest = hashlib.sha256(data[:at] + b"0" * 64 + data[at + 64 :]).hexdigest()
    return data[:at] + digest.encode() + data[at + 64 :]
