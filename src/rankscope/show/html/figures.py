"""A chart as a page carries it: what draws it and its numbers, once, in little room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.blocks import Chart, Ranged, Table
from rankscope.show.html.assets import as_data
from rankscope.show.html.tables import Link, Shown, shown_table

MANY = 200  # rows: more numbers are saved, not shown
HEIGHT = 260  # pixels kept free for a chart whose height is not known before it is drawn


@dataclass(frozen=True)
class Figure:
    """A chart with an id of its own, the name of its files, its data as JSON, and its numbers as a table where they are few."""

    anchor: str
    chart: Chart
    name: str
    data: str
    height: int
    table: Shown | None


def shown_figure(chart: Chart, anchor: str, name: str, link: Link) -> Figure:
    """A chart made ready for the page."""
    if not chart.rows:
        return Figure(anchor, chart, name, "", 0, None)
    from rankscope.show.charts import spec_of
    from rankscope.show.charts.data import query_field

    spec = spec_of(chart)
    height = spec.get("height")
    table = None
    if len(chart.rows) <= MANY and not chart.told:
        numbers = Table(chart.columns, chart.rows, name=name)
        table = shown_table(numbers, f"{anchor}-numbers", name, f"Numbers: {chart.title}", link)
    data = {
        "spec": spec,
        "columns": [
            {"header": column.header, "ranged": any(isinstance(row[i], Ranged) for row in chart.rows)}
            for i, column in enumerate(chart.columns)
        ],
        "query": query_field(chart),
        "count": len(chart.rows),
        "fields": packed(chart),
    }
    return Figure(anchor, chart, name, as_data(data), height if isinstance(height, int) else HEIGHT, table)


def packed(chart: Chart) -> dict[str, Any]:
    """The rows by field; names that are said again and again stand once, with their places in ``at``."""
    from rankscope.show.charts import data_of

    records = data_of(chart)
    fields = dict.fromkeys(field for record in records for field in record)
    return {field: _column([record.get(field) for record in records]) for field in fields}


def _column(values: Sequence[Any]) -> Any:
    if not any(isinstance(value, str) for value in values):
        return values
    places: dict[Any, int] = {}
    at = [places.setdefault(value, len(places)) for value in values]
    return values if 2 * len(places) > len(values) else {"of": list(places), "at": at}
