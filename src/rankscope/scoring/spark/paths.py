"""Files and folders that Spark reads, recognised as all other files are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankscope.engines import spark
from rankscope.errors import InputError
from rankscope.files.catalogue import kind_of
from rankscope.files.columns import SEPARATORS
from rankscope.files.long import EXPECTED, FLOAT_ID, QRELS_LINE, RUN_LINE, stem
from rankscope.files.raw import open_raw
from rankscope.files.roles import ID_ROLES, ColumnRoles, known_header, roles_of
from rankscope.scoring.inputs import Kind, distinct_names
from rankscope.scoring.request import Request
from rankscope.scoring.spark.evaluation import SparkScores, evaluate_frames
from rankscope.tables import Source

RUN_COLUMNS = {"query_id": 0, "doc_id": 2, "rank": 3, "score": 4}
QRELS_COLUMNS = {"query_id": 0, "iteration": 1, "doc_id": 2, "grade": 3}
ENDINGS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def evaluate_paths(
    master: str | None, qrels: str, runs: Sequence[tuple[str | None, str]], request: Request, progress: Any = None
) -> SparkScores:
    """Score files or folders on Spark, at this master. Each run has the name given to it, or None."""
    for path in (qrels, *(path for _, path in runs)):
        if path == "-":
            raise InputError("- is standard input, which Spark cannot read: give a file or a folder")
    named: Mapping[str, str] = request.policies.columns or {}
    kinds = [_kind_of(qrels, "qrels", named), *(_kind_of(path, "run", named) for _, path in runs)]
    session = spark.session_of(master)
    column_roles = request.policies.columns
    frames = [read_path(session, path, kind, what, column_roles) for (path, what), kind in zip(
        [(qrels, "qrels"), *((path, "run") for _, path in runs)], kinds, strict=True
    )]  # fmt: skip
    labels = []
    for (name, path), kind in zip(runs, kinds[1:], strict=True):
        tag = _tag_of(session, path) if kind == "trec" and name is None else None
        labels.append((name or tag or stem(path.rstrip("/")), "" if name else path.rstrip("/"), ""))
    names = distinct_names(labels)
    scores = evaluate_frames(frames[0], list(zip(names, frames[1:], strict=True)), request, progress)
    inputs = [Source(path, "Spark frame", path) for path in (qrels, *(path for _, path in runs))]
    return replace(scores, inputs=inputs)


def read_path(session: Any, path: str, kind: str, what: str, column_roles: ColumnRoles | None = None) -> Any:
    """Read a run or qrels as a Spark frame with the column names of its file. ``column_roles`` has the roles that the user named."""
    if kind == "parquet":
        return spark.read_parquet(session, path)
    if kind in SEPARATORS:
        frame = spark.read_columns(session, path, SEPARATORS[kind])
        try:
            roles = roles_of(frame.columns, what, path, [], column_roles, graded=True)
        except InputError:  # told of the run by its name
            return frame
        return spark.restore_floats(frame, [roles[role] for role in ID_ROLES if role in roles], FLOAT_ID)
    if kind == "jsonl":
        keys: dict[str, None] = {}
        for line in spark.head_of(session, path, 200):
            keys |= dict.fromkeys(_keys(line))
        if not keys:
            raise InputError(f"{path}: the first lines are not JSON objects; JSONL has one object per line")
        return spark.read_jsonl(session, path, list(keys))
    columns, width, line = (RUN_COLUMNS, 6, RUN_LINE) if what == "run" else (QRELS_COLUMNS, 4, QRELS_LINE)
    return spark.read_lines(session, path, columns, width, line)


def _keys(line: str) -> list[str]:
    try:
        value = json.loads(line)
    except ValueError:
        return []
    return list(value) if isinstance(value, dict) else []


def _kind_of(path: str, what: Kind, named: Mapping[str, str]) -> str:
    if "://" in path:
        return next((kind for ending, kind in ENDINGS.items() if ending in path.lower()), "trec")
    raw = open_raw(_first_file(path), EXPECTED[what])
    kind = kind_of(raw)
    if kind == "json":
        raise InputError(f"{path}: one JSON object, which Spark does not take apart: --engine local reads it")
    if raw.compression == "zstd" and kind != "parquet":
        raise InputError(f"{path}: zstd text, which Spark does not unpack: write it as gzip or Parquet")
    header = raw.first_line.replace('"', "").split(SEPARATORS[kind]) if kind in SEPARATORS else []
    if kind in SEPARATORS and not known_header(named.get(name, name) for name in header):
        kind = kind if raw.ending in ENDINGS else "trec"
    return kind


def _first_file(path: str) -> str:
    folder = Path(os.path.expanduser(path))  # as the readers do
    if not folder.is_dir():
        return path
    inside = sorted(
        file for file in folder.rglob("*")
        if file.is_file() and file.stat().st_size and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    )  # fmt: skip
    if not inside:
        raise InputError(f"{path}: the folder holds no file (those that begin with _ or . are passed over)")
    return str(inside[0])


def _tag_of(session: Any, path: str) -> str | None:
    rows = (line.split() for line in spark.head_of(session, path, 200) if line.strip() and not line.startswith("#"))
    first = next(rows, [])
    return first[5] if len(first) == 6 else None
