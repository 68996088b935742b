"""Charts of every form, made of made-up rows, as several tests take them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import strategies as st

from rankscope.blocks import Chart, Column, Form, Ranged, Value
from rankscope.show.charts import config_of, data_of, spec_of
from rankscope.show.extra import needed

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
            Ranged(v := (i + j) / 10, v - 0.05, v + 0.1),
            i * others + j + 1,
            f"panel {p}",
            j % 2,
            f"q{i}",
        )
        for i, j, p in places
    )


@cache
def schema() -> Any:
    """What Altair says that Vega-Lite takes."""
    return needed("jsonschema").Draft7Validator(needed("altair").load_schema())


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
        st.none() | st.floats() | st.builds(Ranged, st.floats(), st.floats(), st.floats()),
        st.none() | st.integers(-(10**6), 10**6),
        st.none() | st.text(max_size=3),
        st.sampled_from([0, 1]),
        st.none() | st.text(max_size=8),
    ),
    max_size=8,
)
