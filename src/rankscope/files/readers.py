"""Reads runs and qrels from any input: paths, whose format is told by ending and content, dicts and data frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, cast

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.columns import columns_parts, header_of, read_columns
from rankscope.files.folders import files_of, folder_qrels, folder_run
from rankscope.files.long import ALIASES, EXPECTED, known_header
from rankscope.files.memory import read_dict, read_frame, speaks_arrow
from rankscope.files.objects import is_jsonl, jsonl_parts, read_json, read_jsonl
from rankscope.files.parquet import parquet_parts, read_parquet
from rankscope.files.parts import RunParts
from rankscope.files.raw import BOM, Raw, open_raw
from rankscope.files.trec import read_trec, trec_parts
from rankscope.tables import MARK, PARTIAL, Qrels, Run

SEPARATORS = {"csv": ",", "tsv": "\t", "semicolon": ";"}
_ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip
_NAMES = {alias for aliases in ALIASES.values() for alias in aliases}


def kind_of(raw: Raw) -> str:
    """Name the format: trec, csv, tsv, semicolon, jsonl, json or parquet."""
    ending = _ENDINGS.get(raw.ending, "")
    if raw.head.startswith(b"PAR1") and (ending == "parquet" or raw.head[4:5] < b"\t" or b"\r" < raw.head[4:5] < b" "):
        return "parquet"  # and no text of a query PAR1...: binary numbers follow
    if ending == "parquet":
        raise InputError(f"{raw.label}: named like a Parquet file, but does not begin like one (PAR1)")
    start = raw.head.removeprefix(BOM).lstrip()[:1]
    if start == b"{":
        return "jsonl" if ending == "jsonl" or is_jsonl(raw) else "json"
    if start == b"[":
        return "json"
    if ending in {"json", "jsonl"}:
        return ending
    line = raw.first_line
    return _separator_kind(raw, ending) if any(sign in line for sign in SEPARATORS.values()) else "trec"


def _separator_kind(raw: Raw, ending: str) -> str:
    """Tell a header from TREC lines, which have none."""
    likely = [ending, *(kind for kind in SEPARATORS if kind != ending)] if ending else [*SEPARATORS]
    headers = {kind: header_of(raw, SEPARATORS[kind]) for kind in likely}
    for kind, names in headers.items():
        if known_header(names) or len({name.strip().lower() for name in names} & _NAMES) >= 2:
            return kind
    names = headers.get(ending, [])
    if len(names) > 1 and (ending == "csv" or not any(words.is_number(name) for name in names)):
        return ending  # whose columns are unknown: the reader says which it needs
    return "trec"


TAKEN = {
    "run": "a path, a dict ({query: {document: score}} or {query: [document, ...]}), a data frame or a Run",
    "qrels": "a path, a dict ({query: {document: grade}} or {query: {relevant documents}}), a data frame or Qrels",
}

READERS: dict[str, Callable[[Raw, str, str | None], Run | Qrels]] = {
    "trec": read_trec,
    **{kind: partial(read_columns, separator=separator) for kind, separator in SEPARATORS.items()},
    "jsonl": read_jsonl,
    "json": read_json,
    "parquet": read_parquet,
}
PARTS: dict[str, Callable[[Raw, str | None], RunParts | None]] = {
    "trec": trec_parts,
    "parquet": parquet_parts,
    "jsonl": jsonl_parts,
    **{kind: partial(columns_parts, separator=separator) for kind, separator in SEPARATORS.items()},
}


def run_of(source: Any, name: str | None = None) -> Run:
    """Read a run from whatever holds one: a path, a dict, a data frame, or a ``Run`` already.

    >>> run_of({"q1": ["d7", "d3"]}).frame["score"].to_list()
    [-1.0, -2.0]
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, Qrels):
        raise InputError("these are qrels, not a run; the order is qrels first, then runs")
    return cast("Run", _of(source, "run", name))


def qrels_of(source: Any) -> Qrels:
    """Read judgments from whatever holds them: a path, a dict, a data frame, or ``Qrels`` already.

    >>> qrels_of({"q1": {"d7": 2, "d3": 0}}).frame["grade"].to_list()
    [2.0, 0.0]
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Run):
        raise InputError("this is a run, not qrels; the order is qrels first, then runs")
    return cast("Qrels", _of(source, "qrels", None))


def open_run(source: Any, name: str | None = None) -> Run | RunParts:
    """A run as ``run_of`` reads it, but for a large file whose format has parts, or a folder: that is left to be read part by part."""
    return source if isinstance(source, Run) else cast("Run | RunParts", _of(source, "run", name, in_parts=True))


def read_run(path: str | Path, name: str | None = None) -> Run:
    """Read a run from a file; its ending and its content tell the format, and ``-`` is standard input."""
    return cast("Run", _of(_path(path), "run", name))


def read_qrels(path: str | Path) -> Qrels:
    """Read judgments from a file; its ending and its content tell the format, and ``-`` is standard input."""
    return cast("Qrels", _of(_path(path), "qrels", None))


def _path(path: Any) -> str | PathLike[str]:
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"a path is a string or a Path, not {type(path).__name__}")
    return path


def _of(source: Any, what: str, name: str | None, in_parts: bool = False) -> Run | Qrels | RunParts:
    if isinstance(source, (str, PathLike)):
        path = source if isinstance(source, str) else Path(source)
        several = any(sign in str(path) for sign in "*?") or (str(path).strip() and Path(path).is_dir())
        if several and (files := files_of(path)):
            if what == "qrels":
                return folder_qrels(path, files, read_qrels)
            run = folder_run(path, files, name, open_run)
            return run if in_parts else run.whole()
        raw = open_raw(path, EXPECTED[what])
        kind = kind_of(raw)
        parts = PARTS[kind](raw, name) if in_parts and kind in PARTS and not raw.is_small else None
        return parts or READERS[kind](raw, what, name)
    if isinstance(source, Mapping):
        return read_dict(source, what, name)
    if speaks_arrow(source):
        return read_frame(source, what, name)
    if hasattr(source, MARK):
        raise InputError(f"{'the run' if what == 'run' else 'the qrels'}: {PARTIAL}")
    kind = type(source).__name__
    raise InputError(f"{'a run' if what == 'run' else 'qrels'} cannot be read from {kind}; taken are {TAKEN[what]}")
