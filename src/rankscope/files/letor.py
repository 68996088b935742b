"""LETOR: one row per document with its label, its query and its features: ``2 qid:10 1:0.03 2:0.5 #docid = GX001``."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.formats import RunFormat
from rankscope.files.long import ReaderNotes, make_qrels
from rankscope.files.raw import BOM, Raw
from rankscope.files.roles import ORDER
from rankscope.tables import Qrels, Run

ROW = re.compile(r"\s*(\S+)\s+qid:(\S+)\s*([^#]*)(?:#\s*(.*))?")
DOCUMENT = re.compile(r"(?:docid\s*[=:]\s*)?([^\s=:]+)")


class Letor(RunFormat):
    """Rows of labels, queries and features, as learning to rank uses them."""

    name = "letor"

    def recognises(self, raw: Raw) -> bool:
        """Accept a file whose first line is a label and ``qid:``."""
        row = ROW.match(raw.first_line)
        return " qid:" in raw.first_line and row is not None and words.is_number(row[1])

    def read(self, raw: Raw, what: str, name: str | None) -> Run | Qrels:
        """Read labels as judgments; a row's comment names its document, or the row's place in its query does."""
        if what == "run":
            raise InputError(f"{raw.label}: LETOR rows hold labels and features, no ranking; labels are qrels: {ORDER}")
        notes, rows, counts = ReaderNotes(), list[tuple[str, str, float]](), dict[str, int]()
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
                lacks = "no label" if row is None else f"label {words.quote(row[1])} is not a number"
                place = f"{raw.label} line {words.count(number)}"
                notes.fault("number", f"{place}: {lacks}; LETOR has lines like '2 qid:10 1:0.03'", number)
                continue
            counts[row[2]] = counts.get(row[2], 0) + 1
            doc = DOCUMENT.match(row[4] or "")
            named += doc is not None
            rows.append((row[2], doc[1] if doc else str(counts[row[2]]), float(row[1])))
            at.append(number)
        if not rows:
            notes.refuse(f"{raw.label}: no row", "line")
        if named < len(rows):
            unnamed = words.counted(len(rows) - named, "row names", "rows name")
            notes.notes.append(f"{unnamed} no document: its place in its query, from 1, is its id")
        schema = {"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return make_qrels(frame, replace(raw.source("LETOR qrels"), line_of=at.__getitem__), notes, "LETOR labels")
