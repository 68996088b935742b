"""The rows of a chart as plain records for Vega-Lite: flat, finite, with safe field names."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from rankscope.blocks import Chart, Value, ValueRange, plain_value
from rankscope.show.cells import numbers_in, text_of
from rankscope.words import printable

# properties of every JavaScript object: a runtime that uses names as keys would find these
INHERITED = frozenset({
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
})  # fmt: skip
UNSEEN = "\u200b"  # a space without width


def safe(text: str) -> str:
    r"""Text that a chart can hold: unprintable characters are escaped, and names of object properties avoided.

    >>> safe("bm25"), safe("a\x1b"), safe("constructor") == "constructor\u200b"
    ('bm25', 'a\\x1b', True)
    """
    return text + UNSEEN if text in INHERITED else printable(text)


def field_of(chart: Chart, header: str) -> str:
    """The field that holds a column: c0, c1, ... Headers may hold dots, brackets and quotes, which mean something in a field."""
    return f"c{chart.at(header)}"


def data_of(chart: Chart) -> list[dict[str, Any]]:
    """Return the rows as records: ``c0``, ``c1``, ... by column, with ``c2_low`` and ``c2_high`` for a ``ValueRange``.

    Numbers that are not finite are None, as are unknown ends of an interval. Names are made ``safe``, and names of bars, colours and
    panels are text, also if they are numbers: if that changes a value of a column, ``c3_id`` holds its values as they are, to be saved
    and looked up.

    >>> from rankscope.blocks import Column
    >>> columns = (Column("run"), Column("AP", "value"))
    >>> data_of(Chart("a", "A", "intervals", columns, (("bm25", ValueRange(0.5, 0.25, 0.75)),), x="AP", y="run"))
    [{'c0': 'bm25', 'c1': 0.5, 'c1_low': 0.25, 'c1_high': 0.75}]
    """
    records: list[dict[str, Any]] = [{} for _ in chart.rows]
    for record, row in zip(records, chart.rows, strict=True):
        for at, value in enumerate(row):
            record[f"c{at}"] = _finite(value)
            if isinstance(value, ValueRange):
                record |= {f"c{at}_low": _finite(value.lower), f"c{at}_high": _finite(value.upper)}
    for at in range(len(chart.columns)):
        if (shown := _display(chart, at)) is not None:
            for record, text in zip(records, shown, strict=True):
                record |= {f"c{at}_id": record[f"c{at}"], f"c{at}": text}
    return records


def query_field(chart: Chart) -> str | None:
    """Return the field with the id of the query to open at a click; None if there is none."""
    if not chart.query:
        return None
    at = chart.at(chart.query)
    return f"c{at}" if _display(chart, at) is None else f"c{at}_id"


def _display(chart: Chart, at: int) -> list[Any] | None:
    """Return the texts of a column for display; None if the values are shown as they are."""
    plain = [_finite(row[at]) for row in chart.rows]
    shown: list[Any] = [safe(value) if isinstance(value, str) else value for value in plain]
    if at in {chart.at(header) for header in naming(chart)}:
        shown = [_name(chart, at, row) for row in chart.rows]
    return None if shown == plain else shown


def _finite(value: Value) -> str | float | int | None:
    """Return a text as it is, a number if it is finite."""
    value = plain_value(value)
    if value is None or isinstance(value, str):
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(value) if not isinstance(value, float) and number.is_integer() else number


def naming(chart: Chart) -> list[str]:
    """The headers of the columns that hold names, not numbers."""
    axes = {"intervals": [chart.y], "stacked": [chart.y], "bars": [chart.x], "heat": [chart.x, chart.y]}
    return [header for header in (*axes.get(chart.form, []), chart.series, chart.panel) if header]


def names_of(chart: Chart, header: str) -> list[str]:
    """Return the names in a column, each once, in the order of the rows; empty without such a column."""
    if not header:
        return []
    at = chart.at(header)
    return list(dict.fromkeys(name for row in chart.rows if (name := _name(chart, at, row)) is not None))


def parts_of(chart: Chart) -> list[Chart]:
    """The chart in parts, one a panel, in the order of ``names_of``."""
    at = chart.at(chart.panel)
    kept: dict[str, list[tuple[Value, ...]]] = {}
    for row in chart.rows:
        if (name := _name(chart, at, row)) is not None:
            kept.setdefault(name, []).append(row)
    return [replace(chart, rows=tuple(rows)) for rows in kept.values()]


def _name(chart: Chart, at: int, row: tuple[Value, ...]) -> str | None:
    value = row[at]
    return None if value is None else safe(text_of(value, chart.columns[at].kind))


def has_intervals(chart: Chart, header: str) -> bool:
    """True if some value of a column has an interval."""
    at = chart.at(header)
    return any(isinstance(row[at], ValueRange) for row in chart.rows)


def numbers_of(chart: Chart, header: str) -> list[float]:
    """All finite numbers of a column, ends of intervals among them."""
    at = chart.at(header)
    return [number for row in chart.rows for number in numbers_in(row[at])]
