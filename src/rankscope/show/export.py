"""The tables and figures of a page as files: CSV and JSON, SVG, PNG and PDF."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope import words
from rankscope.blocks import Chart, Column, Page, Table, Value, ValueRange, plain_value
from rankscope.errors import InputError
from rankscope.show.cells import number_headers, text_of
from rankscope.show.charts.spec import HALVES, pictures_of
from rankscope.show.html.tables import slug
from rankscope.show.text import as_csv

UNTITLED = "-untitled"  # as a paper has titles of its own
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")  # no names of files on Windows


def files_of(page: Page) -> Iterator[tuple[str, bytes]]:
    """Every table (CSV, JSON) and figure (SVG, PNG and PDF, each also untitled, and its numbers) of a page, each with the name of its file.

    Numbers are written in full; a value with an interval takes three columns. Names are small letters, digits and hyphens of
    ASCII. Raises InputError at the end if some figures cannot be drawn.
    """
    failed: list[str] = []
    for name, block in _name_files(page):
        header, records = records_of(block.columns, block.rows)
        yield f"{name}.csv", "".join(as_csv(header, records)).encode("utf-8", HALVES)
        text = json.dumps(records, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        yield f"{name}.json", text.encode("utf-8", HALVES)
        if isinstance(block, Chart):
            try:
                for title, ending, drawn in pictures_of(block):
                    yield f"{name}{'' if title else UNTITLED}.{ending}", drawn
            except InputError as error:
                failed.append(str(error))
    if failed:
        more = f" (and {words.count(len(failed) - 1)} more)" if len(failed) > 1 else ""
        raise InputError(f"{failed[0]}{more}. The rest was exported")


def _name_files(page: Page) -> Iterator[tuple[str, Table | Chart]]:
    """The blocks that have rows, each under the name that the page gives it."""
    used: set[str] = set()
    for section in page.sections:
        for block in section.blocks:
            if isinstance(block, Table | Chart):
                kind = "table" if isinstance(block, Table) else "chart"
                name = _distinct(slug(block.name) or slug(section.name) or kind, used)
                if block.rows:
                    yield name, block


def _distinct(name: str, used: set[str]) -> str:
    number = 1
    out = name = f"{name}-" if RESERVED.fullmatch(name) else name
    while out in used:
        number += 1
        out = f"{name}-{number}"
    used.add(out)
    return out


def records_of(columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> tuple[list[str], list[dict[str, Any]]]:
    """The header and the rows of a table as plain records; a header that was there before gets a number.

    >>> records_of([Column("run"), Column("AP", "value")], [("bm25", ValueRange(0.5, 0.4, 0.6))])
    (['run', 'AP', 'AP lower', 'AP upper'], [{'run': 'bm25', 'AP': 0.5, 'AP lower': 0.4, 'AP upper': 0.6}])
    """
    ranged = {i for row in rows for i, value in enumerate(row) if isinstance(value, ValueRange)}
    ends = [("", " lower", " upper") if i in ranged else ("",) for i in range(len(columns))]
    header = number_headers([c.header + end for c, those in zip(columns, ends, strict=True) for end in those])
    dates = {i for i, column in enumerate(columns) if column.kind == "date"}
    written = ([text_of(v, "date") if i in dates else v for i, v in enumerate(row)] for row in rows)
    return header, [dict(zip(header, _flat(row, ranged), strict=True)) for row in written]


def _flat(row: Sequence[Value], ranged: set[int]) -> Iterator[Any]:
    for i, value in enumerate(row):
        if isinstance(value, ValueRange):
            yield from map(words.finite, (value.value, value.lower, value.upper))
        else:
            yield words.finite(plain_value(value))
            yield from [None, None] if i in ranged else []
