"""Text and numbers as a page writes them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankscope.blocks import Column, Table, Tone, Value, ValueRange, plain_value
from rankscope.show.cells import sides_of, text_of
from rankscope.show.charts.theme import PALETTE
from rankscope.words import MINUS, printable

LONG = 12  # rows: of longer tables the first 10 are shown
PRINTED = 50  # rows that are printed, and 10 of longer tables
WIDE = 48  # characters of a name, more are cut
Link = Callable[[str], str]  # the address of a query, or empty
_HYPHEN = re.compile(r"-(?=[\d.∞])")  # as the minus sign that other programs read
_ENDS = re.compile(r"^ +| +$")
JOINERS = ("\u200c", "\u200d")  # scripts need them to be spelled right, and they do no harm
TONES: dict[Tone, tuple[str, str]] = {
    "better": ("▲", "Better"), "worse": ("▼", "Worse"), "unclear": ("◆", "Cannot tell"), "same": ("=", "Same"),
    "opposite": ("⇄", "Opposite directions"), "invalid": ("✕", "Invalid"), "plain": ("", ""),
}  # fmt: skip


def visible(text: str) -> str:
    r"""Text with escapes for control characters and for changes of text direction.

    >>> print(visible("a\x00b"))
    a\x00b
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in JOINERS else printable(sign) for sign in text)


def visible_id(query_id: str) -> str:
    r"""An id as the explorer writes it: spaces at its ends are shown as ␣.

    >>> print(visible_id(" a b"))
    ␣a b
    """
    return _ENDS.sub(lambda spaces: "␣" * len(spaces[0]), visible(query_id))


def exact(value: Value) -> str:
    """Return a number in full for scripts; empty without a value.

    >>> exact(0.1 + 0.2), exact(3), exact(None), exact(float("-inf"))
    ('0.30000000000000004', '3', '', '-Infinity')
    """
    value = plain_value(value)
    if value is None or isinstance(value, str):
        return value or ""
    if not isinstance(value, float):
        return str(int(value))
    return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "" if math.isnan(value) else repr(float(value)))


def slug(text: str) -> str:
    """Text as the name of a file: small letters and digits of ASCII, joined by hyphens.

    >>> slug("Scores of nDCG@10")
    'scores-of-ndcg-10'
    """
    kept = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower())
    return "-".join(kept.split())[:60]


@dataclass(frozen=True)
class Cell:
    """A cell, made ready for the page.

    ``full`` is what is exported where that is not the text; ``own`` is the same as JSON, where signs of it cannot stand in a page or
    text is a number; ``bar`` places the interval in its column, in per cent. ``colour`` is the place in the palette of the run that the cell names, from 1 on.
    ``tone`` is set for verdicts, which begin with its sign.
    """

    text: str
    sides: str
    full: str | None
    ends: tuple[str, str] | None
    bar: tuple[float, float, float] | None
    link: str
    best: bool
    cut: bool
    own: str | None
    colour: int = 0
    tone: str = ""


def table_of(table: Table, anchor: str, name: str, label: str, link: Link) -> dict[str, Any]:
    """Return a table with its own id, the name of its files, and its label, made ready for its template."""
    with_zero = [column.guide == "zero" for column in table.columns]
    scales = list(map(_scale, zip(*table.rows, strict=True), with_zero)) or [None] * len(table.columns)
    zeros = tuple(
        round(100 * -scale[0] / (scale[1] - scale[0]), 1) if scale and zero else None
        for scale, zero in zip(scales, with_zero, strict=True)
    )
    colours = dict(zip(table.order, range(1, len(PALETTE) + 1), strict=False))
    rows = []
    for i, row in enumerate(table.rows):
        places = enumerate(zip(row, table.columns, scales, strict=True))
        cells = [_cell(value, column, scale, link, (i, j) in table.best) for j, (value, column, scale) in places]
        if table.order:
            cells[0] = replace(cells[0], colour=colours.get(str(row[0]), 0))
        rows.append(cells)
    ranged = tuple(any(isinstance(row[j], ValueRange) for row in table.rows) for j in range(len(table.columns)))
    widths = tuple(max((len(row[j].sides) for row in rows), default=0) for j in range(len(ranged)))
    return {
        "anchor": anchor, "table": table, "name": name, "label": label, "rows": rows, "long": len(rows) > LONG, "longer": len(rows) > PRINTED,
        "with_interval": ranged, "widths": widths, "zeros": zeros,  # the position of 0 in columns with a line
        "heads": [own(column.header) for column in table.columns],  # as JSON, if the page shows another text
        "parts": dict(table.parts),
        "hints": [(i, column) for i, column in enumerate(table.columns) if column.hint],
    }  # fmt: skip


def _cell(value: Value, column: Column, scale: tuple[float, float] | None, link: Link, best: bool) -> Cell:
    text, full = text_of(value, column.kind), exact(value)
    if column.kind in {"value", "count"}:
        text = _HYPHEN.sub(MINUS, text)
    return Cell(
        text,
        _HYPHEN.sub(MINUS, sides_of(value)),
        full if best or full != text or isinstance(value, ValueRange) else None,
        (exact(value.lower), exact(value.upper)) if isinstance(value, ValueRange) else None,
        _bar(value, scale) if isinstance(value, ValueRange) and scale else None,
        link(text) if column.queries and value is not None else "",
        best,
        column.kind == "text" and not column.wraps and len(text) > WIDE,
        own(value, column.kind == "text"),
        tone=next((tone for tone, (sign, _) in TONES.items() if sign and text.startswith(f"{sign} ")), ""),
    )


def own(value: Value, numbers: bool = False) -> str | None:
    r"""A value as JSON if the page shows another text; with ``numbers`` also for numbers.

    >>> own("bm25"), own("a\x00"), own(3), own(3, numbers=True)
    (None, '"a\\u0000"', None, '3')
    """
    value = plain_value(value)
    if isinstance(value, str):
        return json.dumps(value) if visible(value) != value else None
    return json.dumps(value) if numbers and value is not None and math.isfinite(value) else None


def _scale(values: Sequence[Value], zero: bool = False) -> tuple[float, float] | None:
    """Return the ends of all intervals of a column, including ``zero``; None without intervals."""
    ranged = [value for value in values if isinstance(value, ValueRange)]
    ends = [end for value in ranged for end in (value.lower, value.upper) if math.isfinite(end)]
    ends += [0.0] if zero and ends else []
    return (min(ends), max(ends)) if len(ranged) > 1 - zero and ends and min(ends) < max(ends) else None


def _bar(value: ValueRange, scale: tuple[float, float]) -> tuple[float, float, float] | None:
    low, high = scale
    places = [100 * (end - low) / (high - low) for end in (value.lower, value.value, value.upper)]
    if not all(map(math.isfinite, places)):
        return None
    a, v, b = (round(min(max(place, 0.0), 100.0), 1) for place in places)
    return a, v, b
