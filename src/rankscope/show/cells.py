"""A value as text, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankscope import words
from rankscope.blocks import Kind, Note, NumberText, Table, Value, ValueRange, plain_value
from rankscope.words import printable


def text_of(value: Value, kind: Kind = "value") -> str:
    """Return a value as text in a table, without its interval: 0.5123, 1,234, or a dash without a value.

    >>> text_of(0.51234), text_of(1234.0, "count"), text_of(float("nan")), text_of("−0.10 (−2%)")
    ('0.5123', '1,234', '-', '-0.10 (-2%)')
    """
    if isinstance(value, NumberText | ValueRange):
        if value.text:
            return words.in_table(value.text)
        value = value.value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return words.UNDEFINED
    if isinstance(value, str) or kind == "text":
        return str(value) if kind == "text" else words.in_table(str(value))
    if kind == "date":
        return words.day(int(value))
    if kind == "count" and float(value).is_integer():
        return words.count(value)
    return words.cell(value)


def sides_of(value: Value) -> str:
    """Return the sides of the interval of a value: one number if they are equal, otherwise two; empty without an interval.

    >>> sides_of(ValueRange(0.5, 0.4, 0.6)), sides_of(ValueRange(0.98, 0.9, 1.0)), sides_of(0.5)
    ('±0.1000', '-0.0800 +0.0200', '')
    """
    if not isinstance(value, ValueRange) or value.text:
        return ""
    below, above = value.value - value.lower, value.upper - value.value
    if value.even:
        return f"±{words.cell((below + above) / 2)}"
    return f"-{words.cell(max(below, 0.0))} +{words.cell(max(above, 0.0))}"


def numbers_in(value: Value) -> list[float]:
    """The finite numbers of a value: its own and the ends of its interval.

    >>> numbers_in(ValueRange(0.5, 0.4, math.inf)), numbers_in("bm25")
    ([0.5, 0.4], [])
    """
    parts = (value.value, value.lower, value.upper) if isinstance(value, ValueRange) else (plain_value(value),)
    return [float(part) for part in parts if part is not None and not isinstance(part, str) and math.isfinite(part)]


def note_text(note: Note, code: bool = True) -> str:
    """Return a note in sentences: the problem, its remedy, and its code unless ``code`` is false.

    >>> note_text(Note("2 queries are missing", "score them as 0", "W012"))
    '2 queries are missing. Score them as 0. W012'
    """
    hint = f" {note.hint[:1].upper()}{note.hint[1:]}." if note.hint else ""
    return f"{note.text}.{hint}" + (f" {note.code}" if code and note.code else "")


def number_headers(headers: Sequence[str]) -> list[str]:
    """Headers that are keys: one that was there before gets a number.

    >>> number_headers(["run", "AP", "run"])
    ['run', 'AP', 'run 2']
    """
    distinct, out = set(headers), list[str]()
    for header in headers:
        number, key = 1, header
        while key in out or (number > 1 and key in distinct):
            number += 1
            key = f"{header} {number}"
        out.append(key)
    return out


def rows_of(table: Table) -> list[list[str]]:
    """All cells of a table as text, each with its interval."""
    alone = values_of(table)
    return [
        [f"{text} {sides}" if (sides := sides_of(value)) else text for text, value in zip(*both, strict=True)]
        for both in zip(alone, table.rows, strict=True)
    ]


def values_of(table: Table) -> list[list[str]]:
    """All cells of a table as text, without intervals."""
    return [[printable(text_of(v, c.kind)) for v, c in zip(row, table.columns, strict=True)] for row in table.rows]
