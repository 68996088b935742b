"""Panels as columns and as a picture: what a metric is, and where systems disagree."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, Value
from rankscope.errors import InputError
from rankscope.lists import Array
from rankscope.metrics import parse
from rankscope.metrics.description import DIRECTIONS, described
from rankscope.panels.contrast import CLEAR, Contrast
from rankscope.panels.panel import SAME, Panel

HEAT = 60  # queries that can be told apart in a picture


def direction(panel: Panel) -> str:
    """Which way is better, in words."""
    return DIRECTIONS[panel.better]


def column_of(panel: Panel, header: str = "") -> Column:
    """The column of a metric, with what it is."""
    total = panel.metric is not None and panel.metric.aggregate == "sum"
    return Column(header or panel.name, "count" if total else "value", hint=hint_of(panel))


def hint_of(panel: Panel) -> str:
    """What the metric of a panel is."""
    try:
        return described(panel.metric or parse(panel.name))
    except InputError:
        return f"Scores as they were given. {direction(panel).capitalize()}."


def other_than(header: str, *others: str) -> str:
    """A header of a chart that is none of the others, as columns are found by their headers."""
    return f"{header} (value)" if header in others else header


def is_clear(c: Contrast) -> int:
    """1 where there is a clear difference, else 0."""
    return int(c.verdict in CLEAR)


def gaps(panel: Panel) -> Array:
    """How far the systems are apart on each query; 0 where they differ by rounding alone, or where fewer than two have a value."""
    high = np.where(np.isnan(panel.values), -np.inf, panel.values).max(axis=0)
    low = np.where(np.isnan(panel.values), np.inf, panel.values).min(axis=0)
    known = np.isfinite(high) & np.isfinite(low)
    gap = np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), 0.0)
    return np.where(gap <= SAME * np.maximum(np.abs(high), np.abs(low)), 0.0, gap)


def heat(panel: Panel, order: Sequence[str]) -> Chart:
    """Systems and queries as a picture: those queries on which the systems differ most, the easiest on the left."""
    picked = np.argsort(-gaps(panel), kind="stable")[:HEAT]
    columns = sorted(picked.tolist(), key=lambda i: (-panel.sign * _mean(panel.values[:, i]), i))
    rows: list[tuple[Value, ...]] = []
    for system in order:
        values = panel.values[panel.row(system)]
        rows += [(panel.units[i], system, float(values[i])) for i in columns if not math.isnan(values[i])]
    total = len(panel.units)
    which = (
        "All queries"
        if len(picked) == total
        else f"The {len(picked)} of {words.count(total)} queries on which the runs differ most"
    )
    ordered = "the best run on top and the easiest query on the left" if panel.sign else "in the order given"
    holes = " A gap: no value." if len(rows) < len(order) * len(columns) else ""
    header, (low, high) = other_than(panel.name, "run", "query"), panel.bounds
    return Chart(
        "heatmap", f"{panel.name} by run and query", "heat",
        (Column("query", queries=True), Column("run"), column_of(panel, header)), tuple(rows),
        x="query", y="run", colour=header, query="query", limits=(low, high) if math.isfinite(low) and math.isfinite(high) else None,
        caption=f"{which}, {ordered}. A column of one colour is a query that is equally hard for all; a cell that stands out is worth a look.{holes}",
    )  # fmt: skip


def _mean(values: Array) -> float:
    known = [v for v in values.tolist() if not math.isnan(v)]
    return math.fsum(known) / len(known) if known else math.nan
