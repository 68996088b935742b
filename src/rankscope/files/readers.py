"""Reads runs and qrels from any input: paths, whose format is told by ending and content, dicts and data frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, cast

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.columns import columns_parts, header_of, read_columns
from rankscope.files.folders import files_of, folder_qrels, folder_run
from rankscope.files.letor import is_letor, read_letor
from rankscope.files.long import EXPECTED, GRADES, named_grades
from rankscope.files.memory import is_pandas, read_dict, read_frame, speaks_arrow, take_frame
from rankscope.files.objects import is_jsonl, jsonl_parts, read_json, read_jsonl
from rankscope.files.parts import RunParts
from rankscope.files.raw import BOM, HEAD, Raw, open_raw
from rankscope.files.roles import ColumnRoles, known_header, known_names
from rankscope.files.tools import handed_over
from rankscope.files.trec import read_trec, trec_parts
from rankscope.tables import MARK, PARTIAL, Qrels, Run

SEPARATORS = {"csv": ",", "tsv": "\t", "semicolon": ";"}
_ENDINGS = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip


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
    if " qid:" in line and is_letor(line):
        return "letor"
    return _separator_kind(raw, ending) if any(sign in line for sign in SEPARATORS.values()) else "trec"


def _separator_kind(raw: Raw, ending: str) -> str:
    """Tell a header from TREC lines, which have none."""
    likely = [ending, *(kind for kind in SEPARATORS if kind != ending)] if ending else [*SEPARATORS]
    headers = {kind: header_of(raw, SEPARATORS[kind]) for kind in likely}
    if raw.columns:
        headers = {kind: [raw.columns.get(name, name) for name in names] for kind, names in headers.items()}
    for kind, names in headers.items():
        if known_header(names) or known_names(names) >= 2:
            return kind
    names = headers.get(ending, [])
    if len(names) > 1 and (ending == "csv" or not any(words.is_number(name) for name in names)):
        return ending  # whose columns are unknown: the reader says which it needs
    return "trec"


TAKEN = {
    "run": "a path, a dict ({query: {document: score}} or {query: [document, ...]}), a data frame, a list of scored documents or a Run",
    "qrels": "a path, a dict ({query: {document: grade}} or {query: {relevant documents}}), a data frame, a list of judged documents or Qrels",
}


def _read_parquet(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    from rankscope.files.parquet import read_parquet  # here, as few files need it and a small one should not wait

    return read_parquet(raw, what, name)


def _parquet_parts(raw: Raw, name: str | None) -> RunParts:
    from rankscope.files.parquet import parquet_parts

    return parquet_parts(raw, name)


READERS: dict[str, Callable[[Raw, str, str | None], Run | Qrels]] = {
    "trec": read_trec,
    "letor": read_letor,
    **{kind: partial(read_columns, separator=separator) for kind, separator in SEPARATORS.items()},
    "jsonl": read_jsonl,
    "json": read_json,
    "parquet": _read_parquet,
}
PARTS: dict[str, Callable[[Raw, str | None], RunParts | None]] = {
    "trec": trec_parts,
    "parquet": _parquet_parts,
    "jsonl": jsonl_parts,
    **{kind: partial(columns_parts, separator=separator) for kind, separator in SEPARATORS.items()},
}


def run_of(source: Any, name: str | None = None, columns: ColumnRoles | None = None) -> Run:
    """Read a run from whatever holds one: a path, a dict, a data frame, or a ``Run`` already.

    >>> run_of({"q1": ["d7", "d3"]}).frame["score"].to_list()
    [-1.0, -2.0]
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, Qrels):
        raise InputError("these are qrels, not a run; the order is qrels first, then runs")
    return cast("Run", _of(source, "run", name, columns=columns))


def qrels_of(source: Any, columns: ColumnRoles | None = None) -> Qrels:
    """Read judgments from whatever holds them: a path, a dict, a data frame, or ``Qrels`` already.

    >>> qrels_of({"q1": {"d7": 2, "d3": 0}}).frame["grade"].to_list()
    [2.0, 0.0]
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Run):
        raise InputError("this is a run, not qrels; the order is qrels first, then runs")
    return cast("Qrels", _of(source, "qrels", None, columns=columns))


def open_run(source: Any, name: str | None = None, columns: ColumnRoles | None = None) -> Run | RunParts:
    """A run as ``run_of`` reads it, but for a large file whose format has parts, or a folder: that is left to be read part by part."""
    if isinstance(source, Run):
        return source
    return cast("Run | RunParts", _of(source, "run", name, in_parts=True, columns=columns))


def read_run(source: Any, name: str | None = None, *, columns: Mapping[str, str] | None = None) -> Run:
    """Read a run from whatever holds one: a file, a dict, a data frame, a list of scored documents, or a ``Run`` already.

    The ending and the content of a file tell its format, and ``-`` is standard input. ``name`` is what the run is called, and
    ``columns`` says what columns of other names are: ``{"user": "query_id", "sku": "doc_id"}``. Raises InputError for what is no run.

    >>> read_run({"q1": ["d7", "d3"]}, "mine").name
    'mine'
    """
    roles = None if columns is None else ColumnRoles.of(columns)
    run = run_of(source, name, roles)
    if roles is not None:
        roles.refuse_absent()
    return run if name is None or run.name == name else replace(run, name=name)


def read_qrels(
    source: Any, *, columns: Mapping[str, str] | None = None, grades: Mapping[str, float] | str | None = None
) -> Qrels:
    """Read judgments from whatever holds them: a file, a dict, a data frame, a list of judged documents, or ``Qrels`` already.

    The ending and the content of a file tell its format, and ``-`` is standard input. ``columns`` says what columns of other names
    are: ``{"user": "query_id", "stars": "grade"}``. ``grades`` says what grades are worth that are words, as
    ``"Perfect=4,Excellent=3,Good=2,Fair=1,Bad=0"`` or a dict; upper and lower case are the same, and numbers stay what they are.
    Raises InputError for what are no judgments, and for a name that is worth no number.

    >>> read_qrels({"q1": {"d7": 2}}).frame.rows()
    [('q1', 'd7', 2.0)]
    >>> read_qrels({"q1": {"d7": "Perfect", "d3": "bad"}}, grades="Perfect=4,Bad=0").frame["grade"].to_list()
    [4.0, 0.0]
    """
    roles = None if columns is None else ColumnRoles.of(columns)
    qrels = qrels_of(source, roles) if grades is None else _graded(source, roles, grades)
    if roles is not None and roles is not columns:
        roles.refuse_absent()
    return qrels


def _graded(source: Any, columns: ColumnRoles | None, grades: Mapping[str, float] | str) -> Qrels:
    """Judgments whose grades are words, which are worth these numbers."""
    with named_grades(grades_by_name(grades)):
        return qrels_of(source, columns)


def grades_by_name(grades: Any) -> dict[str, str]:
    """What names are worth, in small letters. Raises InputError for what is no name with a number."""
    like = "write them like Perfect=4,Good=2,Bad=0"
    if isinstance(grades, str):
        pairs: Any = [
            part.rpartition("=")[::2] if "=" in part else (part, "") for part in grades.split(",") if part.strip()
        ]
    else:
        pairs = grades.items() if isinstance(grades, Mapping) else []
    out: dict[str, str] = {}
    for name, worth in pairs:
        text = str(worth).strip()
        if not str(name).strip() or not words.is_number(text) or not isfinite(float(text)):
            raise InputError(f"grades: {str(name).strip()}={text} is no name with a number; {like}")
        if out.setdefault(str(name).strip().casefold(), text) != text:
            raise InputError(f"grades: {name!s} has two values; keep one")
    if not out:
        raise InputError(f"grades={grades!r}: no grade is named; {like}")
    return out


def _lines_with_names(raw: Raw) -> Qrels:
    """Judgments of lines without a header, in which the grade is the fourth word, or the last of three."""
    named, lines = GRADES.get(), []
    for line in raw.read().split(b"\n"):
        fields = [*re.finditer(rb"\S+", line)]
        grade = fields[min(3, len(fields) - 1)] if len(fields) > 2 else None
        worth = named.get(grade[0].decode("utf-8", "replace").casefold()) if grade is not None else None
        lines.append(
            line if grade is None or worth is None else line[: grade.start()] + worth.encode() + line[grade.end() :]
        )
    data = b"\n".join(lines)
    found = cast("Qrels", read_trec(Raw(raw.label, data, data[:HEAD]), "qrels", None))
    own = raw.source("TREC qrels")  # the file as it lies
    return replace(found, source=replace(found.source, path=own.path, sha256=own.sha256, same=own.same))


def _of(
    source: Any, what: str, name: str | None, *, in_parts: bool = False, columns: ColumnRoles | None = None
) -> Run | Qrels | RunParts:
    if isinstance(source, (str, PathLike)):
        path = source if isinstance(source, str) else Path(source)
        several = any(sign in str(path) for sign in "*?") or (str(path).strip() and Path(path).is_dir())
        if several and (files := files_of(path)):
            if what == "qrels":
                return folder_qrels(path, files, partial(qrels_of, columns=columns))
            run = folder_run(path, files, name, partial(open_run, columns=columns))
            return run if in_parts else run.whole()
        raw = open_raw(path, EXPECTED[what])
        raw = raw if columns is None else replace(raw, columns=columns)
        kind = kind_of(raw)
        if kind == "trec" and what == "qrels" and GRADES.get():
            return _lines_with_names(raw)
        parts = PARTS[kind](raw, name) if in_parts and kind in PARTS and not raw.is_small else None
        return parts or READERS[kind](raw, what, name)
    if isinstance(source, Mapping):
        return read_dict(source, what, name)
    if speaks_arrow(source) or is_pandas(source):
        data = take_frame(source, what, name or what, columns)
        if any(kind.is_nested() for kind in data.dtypes):
            from rankscope.files.rankings import frame_rankings

            roles = columns.among(data.columns, what, name or what) if columns else {}
            if (lists := frame_rankings(data, roles, what, name or what)) is not None:
                return read_dict(lists, what, name)
        return read_frame(data, what, name, columns)
    if (handed := handed_over(source, what)) is not None:
        return _of(handed, what, name or getattr(source, "name", None), columns=columns)
    if hasattr(source, MARK):
        raise InputError(f"{'the run' if what == 'run' else 'the qrels'}: {PARTIAL}")
    kind = type(source).__name__
    raise InputError(f"{'a run' if what == 'run' else 'qrels'} cannot be read from {kind}; taken are {TAKEN[what]}")
