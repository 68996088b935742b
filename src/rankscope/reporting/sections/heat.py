"""Runs x queries as a picture: where all fail, where one does, where they part."""

from __future__ import annotations

import math

import numpy as np

from rankscope.blocks import Chart, Column, Section, Value
from rankscope.lists import Array
from rankscope.panels.panel import SAME, Panel
from rankscope.panels.verdicts import counted, number
from rankscope.reporting.subject import Subject
from rankscope.reporting.wording import apart, column_of, merit, short

MOST = 60  # queries that can be told apart in a picture


def section(subject: Subject) -> Section | None:
    """The leading metric, a row a run and a column a query: those on which the runs differ most."""
    field = subject.lead
    if len(field.systems) < 2:
        return None
    gap = _gaps(field)
    differing = int(np.count_nonzero(gap > 0))
    if not differing:
        return None
    picked = np.argsort(-gap, kind="stable")[:MOST]
    widest = int(picked[0])
    lead = (
        f"The runs part most on query {short(field.query_ids[widest])}: {number(float(gap[widest]))} between the highest and the lowest "
        f"{field.name}. They differ on {differing:,} of {counted(len(gap))}{_others(field, gap)}."
    )
    return Section("heatmap", "Runs and queries", (_chart(subject, picked),), lead)


def _gaps(field: Panel) -> Array:
    """How far the runs are apart on each query; 0 where rounding alone tells them apart, or where fewer than two have a value."""
    high = np.where(np.isnan(field.values), -np.inf, field.values).max(axis=0)
    low = np.where(np.isnan(field.values), np.inf, field.values).min(axis=0)
    known = np.isfinite(high) & np.isfinite(low)
    gap = np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), 0.0)
    return np.where(gap <= SAME * np.maximum(np.abs(high), np.abs(low)), 0.0, gap)


def _others(field: Panel, gap: Array) -> str:
    """What the queries are on which no runs differ: counts that add up to all queries with those on which some do."""
    level, known = gap == 0, ~np.isnan(field.values)
    whole, none = known.all(axis=0), ~known.any(axis=0)
    counts = {
        "all score the same": int(np.count_nonzero(level & whole)),
        "not every run has a value": int(np.count_nonzero(level & ~whole & ~none)),
        "no run has a value": int(np.count_nonzero(level & none)),
    }
    return "".join(f"; on {count:,} {what}" for what, count in counts.items() if count)


def _chart(subject: Subject, picked: Array) -> Chart:
    field, order = subject.lead, merit(subject)
    mean = {i: _mean(field.values[:, i]) for i in picked.tolist()}
    columns = sorted(mean, key=lambda i: (-field.sign * mean[i], i))
    rows: list[tuple[Value, ...]] = []
    for system in order:
        values = field.values[field.row(system)]
        rows += [(field.query_ids[i], system, float(values[i])) for i in columns if not math.isnan(values[i])]
    every = len(picked) == len(field.query_ids)
    which = (
        "All queries"
        if every
        else f"The {len(picked)} of {len(field.query_ids):,} queries on which the runs differ most"
    )
    holes = " A gap: no value." if len(rows) < len(order) * len(columns) else ""
    sorted_by = "the best run on top and the easiest query on the left" if field.sign else "in the order given"
    header, (low, high) = apart(field.name, "run", "query"), field.bounds
    return Chart(
        "heatmap",
        f"{field.name} by run and query",
        "heat",
        (Column("query", queries=True), Column("run"), column_of(field, header)),
        tuple(rows),
        x="query",
        y="run",
        colour=header,
        query="query",
        caption=f"{which}, {sorted_by}. A column of one colour is a query that is as hard for all; a cell that stands out is worth a look.{holes}",
        limits=(low, high) if math.isfinite(low) and math.isfinite(high) else None,
    )


def _mean(values: Array) -> float:
    known = [v for v in values.tolist() if not math.isnan(v)]
    return math.fsum(known) / len(known) if known else math.nan
