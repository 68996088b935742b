"""Charts of every form, made of made-up rows, as several tests take them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from rankscope.blocks import Chart, Column, Form, Value, ValueRange
from rankscope.show.charts import config_of, data_of, spec_of
from rankscope.show.extra import import_extra

COLUMNS = (
    Column("name"),
    Column("other"),
    Column("value", "value"),
    Column("count", "count"),
    Column("panel"),
    Column("marked", "count"),
    Column("query", queries=True),
)
AXES: dict[Form, tuple[str, str]] = {
    "intervals": ("value", "name"),
    "bars": ("name", "value"),
    "ordered": ("count", "value"),
    "stacked": ("count", "name"),
    "points": ("count", "value"),
    "lines": ("count", "value"),
    "steps": ("count", "value"),
    "heat": ("name", "other"),
}
FORMS = list(AXES)
NASTY = (
    "a.b[0]",
    'it\'s "quoted" \\',
    "</script><script>alert(1)</script>",
    "a\nb\x00\x1b",
    "x" * 500,
    "\u2028 é 名",
    "\ud800",
)
INHERITED = (
    "constructor", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "__proto__",
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
)  # fmt: skip


def chart(form: Form, rows: tuple[tuple[Value, ...], ...] | None = None, **more: Any) -> Chart:
    x, y = AXES[form]
    more = {"series": "other", "colour": "value" if form == "heat" else "", "query": "query"} | more
    if form == "heat":
        more["series"] = ""
    return Chart("made", f"All of {form}", form, COLUMNS, made() if rows is None else rows, x=x, y=y, **more)


def made(names: int = 3, others: int = 2, panels: int = 1) -> tuple[tuple[Value, ...], ...]:
    places = [(i, j, p) for p in range(panels) for i in range(names) for j in range(others)]
    return tuple(
        (
            f"name {i}",
            f"other {j}",
            ValueRange(v := (i + j) / 10, v - 0.05, v + 0.1),
            i * others + j + 1,
            f"panel {p}",
            j % 2,
            f"q{i}",
        )
        for i, j, p in places
    )


def renamed(given: Chart, headers: dict[str, str]) -> Chart:
    """The chart under other headers."""
    columns = tuple(replace(column, header=headers.get(column.header, column.header)) for column in given.columns)
    roles = ("x", "y", "series", "panel", "label", "query", "colour", "path", "marked")
    return replace(
        given, columns=columns, **{role: headers.get(getattr(given, role), getattr(given, role)) for role in roles}
    )


def named_as(form: Form, names: Sequence[str]) -> Chart:
    """A chart of two panels: the headers are these names, each another one, and the first is a name in every column of names, too."""
    at = (0, 1, 4, 6)
    rows = tuple(
        tuple(names[0] if i in at and str(value).endswith("0") else value for i, value in enumerate(row))
        for row in made(panels=2)
    )
    given = chart(form, rows, panel="panel", label="name", marked="marked")
    return renamed(given, dict(zip([column.header for column in COLUMNS], names, strict=False)))


@cache
def schema() -> Any:
    """What Altair says that Vega-Lite takes."""
    return import_extra("jsonschema").Draft7Validator(import_extra("altair").load_schema())


def valid(given: Chart) -> dict[str, Any]:
    """The specification of a chart, held against the schema of Vega-Lite."""
    spec = spec_of(given)
    schema().validate({**spec, "config": config_of()})
    json.dumps([spec, data_of(given)], allow_nan=False)
    return spec


def letters(svg: str) -> str:
    """All the text of a picture, which is read as XML."""
    return " ".join(node.text or "" for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))


rows_of_anything = st.lists(
    st.tuples(
        st.none() | st.text(max_size=12),
        st.sampled_from(["better", "worse", "same", "é", None]),
        st.none() | st.floats() | st.builds(ValueRange, st.floats(), st.floats(), st.floats()),
        st.none() | st.integers(-(10**6), 10**6),
        st.none() | st.text(max_size=3),
        st.sampled_from([0, 1]),
        st.none() | st.text(max_size=8),
    ),
    max_size=8,
)
