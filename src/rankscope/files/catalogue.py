"""The formats of runs and judgments, in the order in which a file is asked for them, and the readers of any input.

An input is a path, whose format is detected by ending and content, a dict or a data frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, cast

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.columns import SEPARATED
from rankscope.files.long import EXPECTED, GRADES, named_grades
from rankscope.files.memory import handed_over, is_pandas, read_dict, read_frame, speaks_arrow, take_frame
from rankscope.files.objects import Json, JsonLines, RankedLists, frame_rankings
from rankscope.files.parquet import Parquet
from rankscope.files.parts import RunFormat, RunParts, files_of, folder_qrels, folder_run
from rankscope.files.raw import BOM, Raw, open_raw
from rankscope.files.roles import ColumnRoles
from rankscope.files.trec import Letor, Trec
from rankscope.tables import MARK, PARTIAL, Qrels, Run

RUN_FORMATS: list[RunFormat] = [Parquet(), RankedLists(), JsonLines(), Json(), Letor(), *SEPARATED, Trec()]


def format_of(raw: Raw) -> RunFormat:
    """Return the first format that recognises a file; TREC lines take every text."""
    start, line, ending = raw.head.removeprefix(BOM).lstrip(), raw.first_line, raw.ending
    return next(
        one
        for one in RUN_FORMATS
        if (ending in one.endings or (start.startswith(one.begins or b"") and one.within in line))
        and one.recognises(raw)
    )


def kind_of(raw: Raw) -> str:
    """Name the kind of a file: trec, letor, csv, tsv, semicolon, jsonl, json or parquet."""
    form = format_of(raw)
    return form.holds or form.name


INPUTS = {
    "run": "a path, a dict ({query: {document: score}} or {query: [document, ...]}), a data frame, a list of scored documents or a Run",
    "qrels": "a path, a dict ({query: {document: grade}} or {query: {relevant documents}}), a data frame, a list of judged documents or Qrels",
}


def run_of(source: Any, name: str | None = None, columns: ColumnRoles | None = None) -> Run:
    """Read a run from any input: a path, a dict, a data frame, or a ``Run``.

    >>> run_of({"q1": ["d7", "d3"]}).frame["score"].to_list()
    [-1.0, -2.0]
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, Qrels):
        raise InputError("these rows are qrels, not a run: give qrels first, then runs")
    return cast("Run", _of(source, "run", name, columns=columns))


def qrels_of(source: Any, columns: ColumnRoles | None = None) -> Qrels:
    """Read judgments from any input: a path, a dict, a data frame, or ``Qrels``.

    >>> qrels_of({"q1": {"d7": 2, "d3": 0}}).frame["grade"].to_list()
    [2.0, 0.0]
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Run):
        raise InputError("these rows are a run, not qrels: give qrels first, then runs")
    return cast("Qrels", _of(source, "qrels", None, columns=columns))


def open_run(source: Any, name: str | None = None, columns: ColumnRoles | None = None) -> Run | RunParts:
    """Read a run as ``run_of`` does, or open a folder or a large file of a format with parts to be read part by part."""
    if isinstance(source, Run):
        return source
    return cast("Run | RunParts", _of(source, "run", name, in_parts=True, columns=columns))


def read_run(source: Any, name: str | None = None, *, columns: Mapping[str, str] | None = None) -> Run:
    """Read a run from any input: a file, a dict, a data frame, a list of scored documents, or a ``Run``.

    The format of a file is detected by its ending and content, and ``-`` is standard input. ``name`` names the run. ``columns`` gives
    roles to columns with other names: ``{"user": "query_id", "sku": "doc_id"}``. Raises InputError for any other input.

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
    """Read judgments from any input: a file, a dict, a data frame, a list of judged documents, or ``Qrels``.

    The format of a file is detected by its ending and content, and ``-`` is standard input. ``columns`` gives roles to columns with
    other names: ``{"user": "query_id", "stars": "grade"}``. ``grades`` gives numbers to grades that are words, as
    ``"Perfect=4,Excellent=3,Good=2,Fair=1,Bad=0"`` or a dict. Case does not matter, and grades that are numbers stay.
    Raises InputError for any other input, and for a grade without a number.

    >>> read_qrels({"q1": {"d7": 2}}).frame.rows()
    [('q1', 'd7', 2.0)]
    >>> read_qrels({"q1": {"d7": "Perfect", "d3": "bad"}}, grades="Perfect=4,Bad=0").frame["grade"].to_list()
    [4.0, 0.0]
    """
    roles = None if columns is None else ColumnRoles.of(columns)
    with named_grades(GRADES.get() if grades is None else grades_by_name(grades)):
        qrels = qrels_of(source, roles)
    if roles is not None and roles is not columns:
        roles.refuse_absent()
    return qrels


def grades_by_name(grades: Any) -> dict[str, str]:
    """Return the number of each name in small letters, as text. Raises InputError for a name without a number."""
    like = "write them like Perfect=4,Good=2,Bad=0"
    if isinstance(grades, str):
        pairs: Any = [
            part.rpartition("=")[::2] if "=" in part else (part, "") for part in grades.split(",") if part.strip()
        ]
    else:
        pairs = grades.items() if isinstance(grades, Mapping) else []
    out: dict[str, str] = {}
    for name, number in pairs:
        text = str(number).strip()
        if not str(name).strip() or not words.is_number(text) or not isfinite(float(text)):
            raise InputError(f"grades: {str(name).strip()}={text} is not a name with a number; {like}")
        if out.setdefault(str(name).strip().casefold(), text) != text:
            raise InputError(f"grades: {name!s} has two values; keep one")
    if not out:
        raise InputError(f"grades={grades!r}: no grade is named; {like}")
    return out


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
        form = format_of(raw)
        parts = form.parts(raw, name) if in_parts and not raw.is_small else None
        return parts or form.read(raw, what, name)
    if isinstance(source, Mapping):
        return read_dict(source, what, name)
    if speaks_arrow(source) or is_pandas(source):
        data = take_frame(source, what, name or what, columns)
        if any(kind.is_nested() for kind in data.dtypes):
            roles = columns.among(data.columns, what, name or what) if columns else {}
            if (lists := frame_rankings(data, roles, what, name or what)) is not None:
                return read_dict(lists, what, name)
        return read_frame(data, what, name, columns)
    if (rows := handed_over(source, what)) is not None:
        return _of(rows, what, name or getattr(source, "name", None), columns=columns)
    if hasattr(source, MARK):
        raise InputError(f"{'the run' if what == 'run' else 'the qrels'}: {PARTIAL}")
    kind = type(source).__name__
    raise InputError(f"{'a run' if what == 'run' else 'qrels'} cannot be read from {kind}; taken are {INPUTS[what]}")
