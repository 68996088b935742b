"""The spread of query values, the differences of systems per query, and the ranks of first relevant documents."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.blocks import Chart, Column, Table, Value, other_than
from rankscope.lists import Array
from rankscope.panels.panel import SAME, Panel

if TYPE_CHECKING:
    from rankscope.scoring.runs import RunScores

QUANTILES = {"min": 0.0, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "max": 1.0}
RANKS = {**{str(rank): (rank, rank) for rank in range(1, 11)}, "11-100": (11, 100), "101+": (101, np.inf)}
NONE = "none"
TOGETHER = {
    "1": ("1",), "2": ("2",), "3": ("3",), "4-5": ("4", "5"), "6-10": ("6", "7", "8", "9", "10"), "11-100": ("11-100",),
    "101+": ("101+",), NONE: (NONE,),
}  # fmt: skip
LINES = 8  # runs with distinguishable lines
BARS = 4  # runs with bars side by side
STEPS = 200  # steps of a line
HEAT = 60  # queries that can be told apart in a picture
SHARE = "share of queries"


def spread_of(values: Array) -> dict[str, Any]:
    """The number of defined values, their quantiles (None without any), and how many are exactly 0."""
    known = values[~np.isnan(values)]
    quantiles = np.quantile(known, list(QUANTILES.values())) if len(known) else [np.nan] * len(QUANTILES)
    return {
        "queries": len(known),
        **{name: words.finite(float(value)) for name, value in zip(QUANTILES, quantiles, strict=True)},
        "zeros": int(np.count_nonzero(known == 0)),
    }


def rank_counts(run: RunScores) -> dict[str, int]:
    """The number of queries of a run with their first relevant document at each rank."""
    at = run.first_relevant
    counts = {name: int(np.count_nonzero((at >= low) & (at <= high))) for name, (low, high) in RANKS.items()}
    return {**counts, NONE: int(np.count_nonzero(at == 0))}


def rank_table(runs: Sequence[RunScores]) -> Table:
    """The number of queries of each run with their first relevant document at each rank."""
    columns = (Column("run"), *(Column(rank, "count") for rank in (*RANKS, NONE)))
    return Table(columns, tuple((run.name, *rank_counts(run).values()) for run in runs), turns=True)


def cumulative(
    known: Array, bounds: tuple[float, float] = (-np.inf, np.inf), most: int = STEPS
) -> list[tuple[float, float]]:
    """The empirical distribution function at the values there are, or at ``most`` of them: always exact, and 1 at the end.

    It starts and ends at the ends of the range, if these are known.
    """
    if not known.size:
        return []
    values, counts = np.unique(known, return_counts=True)
    share = np.cumsum(counts) / len(known)
    if len(values) > most:
        # the same rise from step to step, so that no part of the line is coarser than another
        picked = np.searchsorted(share, np.linspace(share[0], 1.0, most))
        kept = np.unique(np.append(picked.clip(0, len(values) - 1), len(values) - 1))
        values, share = values[kept], share[kept]
    points = list(zip(values.tolist(), share.tolist(), strict=True))
    if np.isfinite(bounds[0]) and points[0][0] > bounds[0]:
        points.insert(0, (float(bounds[0]), 0.0))
    if np.isfinite(bounds[1]) and points[-1][0] < bounds[1]:
        points.append((float(bounds[1]), 1.0))
    return points


def distribution_chart(
    column: Column, values: Mapping[str, Array], sign: int, bounds: tuple[float, float], note: str = ""
) -> Chart:
    """The share of queries at or below each score: one line per run. ``sign`` is 1 if higher values are better, -1 if lower ones are."""
    header = other_than(column.header, SHARE, "run")
    read = {
        1: "The further right and the lower a line, the better",
        -1: "The further left and the higher a line, the better",
        0: "A line further right has higher values",
    }[sign]
    rows = tuple((x, y, run) for run, line in values.items() for x, y in cumulative(line[~np.isnan(line)], bounds))
    return Chart(
        "distribution", f"Distribution of {column.header} over queries", "steps",
        (Column(header, "value", hint=column.hint), Column(SHARE, "value"), Column("run")), rows, x=header, y=SHARE,
        series="run",
        caption=f"The share of queries that score at most the value on the axis. {read}. If lines cross, neither run is better throughout.{note}",
        limits=(0.0, 1.0), axes=((header, column.header), (SHARE, f"{SHARE} that score at most this")),
    )  # fmt: skip


def first_relevant_chart(runs: Sequence[RunScores], note: str = "", told: bool = False) -> Chart:
    """The number of queries with their first relevant document at each rank: bars for each run."""
    counts = {run.name: rank_counts(run) for run in runs}
    parts = TOGETHER if len(runs) > 1 else {rank: (rank,) for rank in (*RANKS, NONE)}
    rows = tuple(
        (label, sum(of_run[rank] for rank in ranks), name)
        for name, of_run in counts.items()
        for label, ranks in parts.items()
    )
    first, none = runs[0].name, counts[runs[0].name][NONE]
    never = f"{first} has none on {words.counted(none, 'query')}." if none else f"{first} shows one on every query."
    return Chart(
        "first-relevant", "Queries by the rank of their first relevant document", "bars",
        (Column("rank"), Column("queries", "count"), Column("run")), rows, x="rank", y="queries",
        series="run" if len(runs) > 1 else "",
        caption=f"The rank at which a reader meets the first document of grade 1 or more. {never}{note}", told=told,
        axes=(("rank", "rank of the first relevant document"),),
    )  # fmt: skip


def gaps(panel: Panel) -> Array:
    """The range of the systems' values on each query, 0 if they differ by rounding or if fewer than two have a value."""
    high = np.where(np.isnan(panel.values), -np.inf, panel.values).max(axis=0)
    low = np.where(np.isnan(panel.values), np.inf, panel.values).min(axis=0)
    known = np.isfinite(high) & np.isfinite(low)
    gap = np.where(known, np.where(known, high, 0.0) - np.where(known, low, 0.0), 0.0)
    return np.where(gap <= SAME * np.maximum(np.abs(high), np.abs(low)), 0.0, gap)


def heat_map_chart(panel: Panel, order: Sequence[str], column: Column) -> Chart:
    """Systems and queries as a picture: those queries on which the systems differ most, the easiest on the left."""
    picked = np.argsort(-gaps(panel), kind="stable")[:HEAT]
    places = sorted(picked.tolist(), key=lambda i: (-panel.sign * _mean(panel.values[:, i]), i))
    rows: list[tuple[Value, ...]] = []
    for system in order:
        values = panel.values[panel.systems.index(system)]
        rows += [(panel.units[i], system, float(values[i])) for i in places if not math.isnan(values[i])]
    total = len(panel.units)
    some = f"The {len(picked)} of {words.count(total)} queries on which the runs differ most"
    which = "All queries" if len(picked) == total else some
    ordered = "the best run on top and the easiest query on the left" if panel.sign else "in the order given"
    holes = " A gap: no value." if len(rows) < len(order) * len(places) else ""
    header, (low, high) = other_than(panel.name, "run", "query"), panel.measure.range
    return Chart(
        "heatmap", f"{panel.name} by run and query", "heat",
        (Column("query", queries=True), Column("run"), replace(column, header=header)), tuple(rows),
        x="query", y="run", colour=header, query="query", limits=(low, high) if math.isfinite(low) and math.isfinite(high) else None,
        caption=f"{which}, {ordered}. A column in one colour is a query that is equally hard for all. A cell in a different colour is worth a look.{holes}",
    )  # fmt: skip


def _mean(values: Array) -> float:
    known = [v for v in values.tolist() if not math.isnan(v)]
    return math.fsum(known) / len(known) if known else math.nan
