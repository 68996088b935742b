"""Files that hold a part of a result: Parquet with what it is as JSON beside it, there in full or not at all."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from rankscope.errors import InputError
from rankscope.files.raw import open_raw

KEY = "rankscope"  # under which the file's metadata holds the JSON
FORMAT = 1
EXPECTED = "a part is a file that rankscope evaluate --partition writes"


def write_partial(frame: pl.DataFrame, facts: Mapping[str, Any], place: str | Path) -> None:
    """Write rows and what they are into a file, under another name until all of it is there.

    Raises InputError where it cannot be written, and leaves nothing then.
    """
    facts = json.loads(json.dumps(facts, ensure_ascii=False))  # as it will be read: names are text
    text = json.dumps({"format": FORMAT, **facts, "sha256": _digest(frame, facts)}, ensure_ascii=False)
    packed, place = io.BytesIO(), Path(place)
    frame.write_parquet(packed, metadata={KEY: text})
    beside = ""
    try:
        handle, beside = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".unfinished")
        with os.fdopen(handle, "wb") as file:
            file.write(packed.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(beside).chmod(0o666 & ~mask)
        Path(beside).replace(place)
    except BaseException as error:
        if beside:
            Path(beside).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"{place}: cannot be written: {error.strerror or error}") from error
        raise


def read_partial(path: str | Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rows and what they are. Raises InputError for what is no such file, or not all of one."""
    raw = open_raw(path, EXPECTED)
    if not raw.start.startswith(b"PAR1"):
        raise InputError(f"{raw.label}: not a part of an evaluation; {EXPECTED}")
    damaged = f"{raw.label}: cut short or damaged: make this part again with rankscope evaluate --partition"
    try:
        data = raw.read()
        text = pl.read_parquet_metadata(io.BytesIO(data)).get(KEY)
        frame = pl.read_parquet(io.BytesIO(data)) if text is not None else pl.DataFrame()
        facts = json.loads(text or "{}")
    except (pl.exceptions.PolarsError, OSError, ValueError, OverflowError, RecursionError) as error:
        raise InputError(damaged) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how Polars stops at some damage
            raise
        raise InputError(damaged) from error
    if text is None:
        raise InputError(f"{raw.label}: a Parquet file, but not a part of an evaluation; {EXPECTED}")
    if not isinstance(facts, dict):
        raise InputError(damaged)
    number, said = facts.pop("format", None), facts.pop("sha256", None)
    if number is not None and number != FORMAT:
        raise InputError(
            f"{raw.label}: a part as another version of rankscope writes it: make all parts with one version"
        )
    if number is None or said != _digest(frame, facts):
        raise InputError(damaged)
    return frame, facts


def sha256_of(frame: pl.DataFrame) -> str:
    """Digest of the values of a table, whatever file or memory it came from."""
    sha = hashlib.sha256()
    for column in frame.get_columns():
        sha.update(f"{column.name} {column.dtype} {len(column)}\n".encode())
        sha.update(column.is_null().to_numpy().tobytes())
        if column.dtype == pl.String:
            texts = column.fill_null("")
            sha.update(texts.str.len_bytes().to_numpy().tobytes())
            sha.update("".join(texts.to_list()).encode("utf-8", "surrogatepass"))
        else:
            sha.update(column.fill_null(0).to_numpy().tobytes())
    return sha.hexdigest()


def _digest(frame: pl.DataFrame, facts: Mapping[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"{sha256_of(frame)} {text}".encode("utf-8", "surrogatepass")).hexdigest()
