"""Reads runs and qrels from any input: paths, dicts, data frames."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from rankscope.errors import InputError
from rankscope.files.memory import read_dict, read_frame, speaks_arrow
from rankscope.files.notes import EXPECTED
from rankscope.files.raw import open_raw
from rankscope.files.sniff import SEPARATORS, kind_of
from rankscope.files.tabular import read_columns, read_json, read_jsonl, read_parquet
from rankscope.files.trec import read_trec
from rankscope.tables import Qrels, Run

TAKEN = {
    "run": "a path, a dict ({query: {document: score}} or {query: [document, ...]}), a data frame or a Run",
    "qrels": "a path, a dict ({query: {document: grade}} or {query: {relevant documents}}), a data frame or Qrels",
}

READERS = {"trec": read_trec, "jsonl": read_jsonl, "json": read_json, "parquet": read_parquet}


def run_of(source: Any, name: str | None = None) -> Run:
    """Read a run from whatever holds one: a path, a dict, a data frame, or a ``Run`` already.

    >>> run_of({"q1": ["d7", "d3"]}).frame["score"].to_list()
    [-1.0, -2.0]
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, Qrels):
        raise InputError("these are qrels, not a run; the order is qrels first, then runs")
    run = _of(source, "run", name)
    assert isinstance(run, Run)
    return run


def qrels_of(source: Any) -> Qrels:
    """Read judgments from whatever holds them: a path, a dict, a data frame, or ``Qrels`` already.

    >>> qrels_of({"q1": {"d7": 2, "d3": 0}}).frame["grade"].to_list()
    [2.0, 0.0]
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Run):
        raise InputError("this is a run, not qrels; the order is qrels first, then runs")
    qrels = _of(source, "qrels", None)
    assert isinstance(qrels, Qrels)
    return qrels


def read_run(path: str | Path, name: str | None = None) -> Run:
    """Read a run from a file, told by its ending and its content; ``-`` is standard input."""
    run = _read(path, "run", name)
    assert isinstance(run, Run)
    return run


def read_qrels(path: str | Path) -> Qrels:
    """Read judgments from a file, told by its ending and its content; ``-`` is standard input."""
    qrels = _read(path, "qrels", None)
    assert isinstance(qrels, Qrels)
    return qrels


def _of(source: Any, what: str, name: str | None) -> Run | Qrels:
    if isinstance(source, (str, PathLike)):
        return _read(Path(source) if not isinstance(source, str) else source, what, name)
    if isinstance(source, Mapping):
        return read_dict(source, what, name)
    if speaks_arrow(source):
        return read_frame(source, what, name)
    kind = type(source).__name__
    raise InputError(f"{'a run' if what == 'run' else 'qrels'} cannot be read from {kind}; taken are {TAKEN[what]}")


def _read(path: str | Path, what: str, name: str | None) -> Run | Qrels:
    if not isinstance(path, (str, PathLike)):
        raise InputError(f"a path is a string or a Path, not {type(path).__name__}")
    raw = open_raw(path, EXPECTED[what])
    kind = kind_of(raw)
    if kind in SEPARATORS:
        return read_columns(raw, what, name, SEPARATORS[kind])
    return READERS[kind](raw, what, name)
