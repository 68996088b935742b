"""LETOR: a row a document, its label, its query and its features: ``2 qid:10 1:0.03 2:0.5 #docid = GX001``."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.long import Findings, make_qrels
from rankscope.files.raw import BOM, Raw
from rankscope.files.roles import ORDER
from rankscope.tables import Qrels, Run

ROW = re.compile(r"\s*(\S+)\s+qid:(\S+)\s*([^#]*)(?:#\s*(.*))?")
DOCUMENT = re.compile(r"(?:docid\s*[=:]\s*)?([^\s=:]+)")


def is_letor(line: str) -> bool:
    """Whether a line is a row of LETOR.

    >>> is_letor("2 qid:10 1:0.03"), is_letor("2 Q0 d7 1")
    (True, False)
    """
    row = ROW.match(line)
    return row is not None and words.is_number(row[1])


def read_letor(raw: Raw, what: str, name: str | None) -> Run | Qrels:
    """Read the labels of LETOR rows as judgments; the comment of a row names its document, else its place in the query does."""
    if what == "run":
        raise InputError(f"{raw.label}: LETOR rows hold labels and features, no ranking; labels are qrels: {ORDER}")
    found, rows, counts = Findings(), list[tuple[str, str, float]](), dict[str, int]()
    try:
        lines = raw.read().removeprefix(BOM).decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        raw.fail(error)
    named, at = 0, list[int]()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        row = ROW.match(line)
        if row is None or not words.is_number(row[1]):
            what_is = "no label" if row is None else f"label {words.quote(row[1])} is not a number"
            found.fault(
                "number",
                f"{raw.label} line {words.count(number)}: {what_is}; LETOR has lines like '2 qid:10 1:0.03'",
                number,
            )
            continue
        counts[row[2]] = counts.get(row[2], 0) + 1
        doc = DOCUMENT.match(row[4] or "")
        named += doc is not None
        rows.append((row[2], doc[1] if doc else str(counts[row[2]]), float(row[1])))
        at.append(number)
    if not rows:
        found.refuse(f"{raw.label}: no row", "line")
    if named < len(rows):
        rest = len(rows) - named
        found.notes.append(
            f"{words.counted(rest, 'row names', 'rows name')} no document: its place in its query, from 1, stands for it"
        )
    frame = pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}, orient="row")
    return make_qrels(frame, replace(raw.source("LETOR qrels"), line_of=at.__getitem__), found, "LETOR labels")
