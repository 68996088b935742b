"""The formats of runs and judgments, each declared once, in the order in which a file is asked for them."""

from __future__ import annotations

from rankscope.files.columns import SEPARATED
from rankscope.files.objects import Json, JsonLines, RankedLists
from rankscope.files.parquet import Parquet
from rankscope.files.parts import RunFormat
from rankscope.files.raw import Raw
from rankscope.files.trec import Letor, Trec

RUN_FORMATS: list[RunFormat] = [Parquet(), RankedLists(), JsonLines(), Json(), Letor(), *SEPARATED, Trec()]


def format_of(raw: Raw) -> RunFormat:
    """Return the first format that recognises a file; TREC lines take every text."""
    return next(one for one in RUN_FORMATS if one.recognises(raw))


def kind_of(raw: Raw) -> str:
    """Name the kind of a file: trec, letor, csv, tsv, semicolon, jsonl, json or parquet."""
    form = format_of(raw)
    return form.holds or form.name
