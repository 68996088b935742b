"""How the values of the queries are spread, and where rankings show their first relevant document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankscope import words
from rankscope.blocks import Block, Chart, Column, Heading, Paragraph, Table, Value
from rankscope.lists import Array, Judged
from rankscope.show.result import null

if TYPE_CHECKING:
    from rankscope.scoring.scores import RunScores, Scores

QUANTILES = {"min": 0.0, "q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95, "max": 1.0}
RANKS = {**{str(rank): (rank, rank) for rank in range(1, 11)}, "11-100": (11, 100), "101+": (101, np.inf)}
NONE = "none"


def first_ranks(judged: Judged, depth: int | None = None) -> Array:
    """The rank of the first document of grade 1 or more of each query; 0 where none was retrieved."""
    relevant = (judged.rank > 0) & (judged.grade >= 1)
    if depth is not None:
        relevant &= judged.rank <= depth
    at = np.flatnonzero(relevant)
    query = np.repeat(np.arange(len(judged)), judged.size)[at]
    out = np.zeros(len(judged), dtype=np.int64)
    # the documents of a query stand by rank, so that the first one met has the lowest
    first = np.append(True, query[1:] != query[:-1])[: len(query)]
    out[query[first]] = judged.rank[at[first]]
    return out


def distribution(scores: Scores) -> Iterator[dict[str, Any]]:
    """One record a run and metric: how many queries have a value, its quantiles, and how many are exactly 0."""
    for run in scores.runs:
        for metric, values in run.values.items():
            yield {"run": run.name, "metric": str(metric), **spread_of(values)}


def spread_of(values: Array) -> dict[str, Any]:
    """How many of these values are defined, their quantiles (None without any), and how many are exactly 0."""
    known = values[~np.isnan(values)]
    found = np.quantile(known, list(QUANTILES.values())) if len(known) else [np.nan] * len(QUANTILES)
    return {
        "queries": len(known),
        **{name: null(float(value)) for name, value in zip(QUANTILES, found, strict=True)},
        "zeros": int(np.count_nonzero(known == 0)),
    }


def first_relevant(scores: Scores) -> Iterator[dict[str, Any]]:
    """One record a run and rank: in how many queries the first relevant document stands there."""
    for run in scores.runs:
        for rank, queries in _counts(run).items():
            yield {"run": run.name, "rank": rank, "queries": queries}


def _counts(run: RunScores) -> dict[str, int]:
    at = run.first_relevant
    counts = {name: int(np.count_nonzero((at >= low) & (at <= high))) for name, (low, high) in RANKS.items()}
    return {**counts, NONE: int(np.count_nonzero(at == 0))}


def blocks_of(scores: Scores) -> list[Block]:
    """Both as tables: for one run a row a metric, for several a table a metric with a row a run."""
    records = list(distribution(scores))
    ranks: list[tuple[Value, ...]] = [(run.name, *_counts(run).values()) for run in scores.runs]
    out: list[Block] = [Heading("values of the queries")]
    if len(scores.runs) == 1:
        out.append(_spread("metric", [(r["metric"], r) for r in records]))
    else:
        for metric in dict.fromkeys(record["metric"] for record in records):
            out.append(_spread(metric, [(r["run"], r) for r in records if r["metric"] == metric]))
            out.append(Paragraph(""))
        out.pop()
    header = (Column("run"), *(Column(name, "count") for name in (*RANKS, NONE)))
    return [
        *out,
        Paragraph(""),
        Heading("queries by the rank of their first relevant document (grade ≥ 1)"),
        Table(header, tuple(ranks), turns=True),
    ]


def _spread(first: str, rows: list[tuple[str, dict[str, Any]]]) -> Table:
    """Quantiles under one another; how many queries only where that differs."""
    varying = len({record["queries"] for _, record in rows}) > 1
    counts = ["zeros", *(["queries"] if varying else [])]
    columns = (Column(first), *map(_value, QUANTILES), *(Column(name, "count") for name in counts))
    lines: list[tuple[Value, ...]] = [
        (name, *(record[column] for column in (*QUANTILES, *counts))) for name, record in rows
    ]
    return Table(columns, tuple(lines))


def _value(name: str) -> Column:
    return Column(name, "value")


# --- charts ----------------------------------------------------------------------------------------------

TOGETHER = {
    "1": ("1",), "2": ("2",), "3": ("3",), "4-5": ("4", "5"), "6-10": ("6", "7", "8", "9", "10"), "11-100": ("11-100",),
    "101+": ("101+",), NONE: (NONE,),
}  # fmt: skip


def first_relevant_chart(scores: Scores, shown: Sequence[str]) -> Chart:
    """In how many queries the first relevant document stands at each rank, for the runs that are shown."""
    counts = {run.name: _counts(run) for run in scores.runs}
    parts = TOGETHER if len(shown) > 1 else {rank: (rank,) for rank in (*RANKS, NONE)}
    rows = tuple(
        (label, sum(counts[name][r] for r in ranks), name) for name in shown for label, ranks in parts.items()
    )
    which = f" Shown: {words.listing(shown)}; the table has all runs." if len(shown) < len(counts) else ""
    none = counts[shown[0]][NONE]
    never = (
        f"{shown[0]} has none on {words.counted(none, 'query')}."
        if none
        else f"{shown[0]} has one on every query."
    )
    return Chart(
        "first-relevant", "Queries by the rank of their first relevant document", "bars",
        (Column("rank"), Column("queries", "count"), Column("run")), rows, x="rank", y="queries",
        series="run" if len(shown) > 1 else "", told=len(counts) > 1,
        caption=f"Where a reader meets the first document of grade 1 or more. {never}{which}",
    )  # fmt: skip


def first_relevant_table(scores: Scores, names: Sequence[str]) -> Table:
    """The same as a table, a row a run."""
    counts = {run.name: _counts(run) for run in scores.runs}
    columns = (Column("run"), *(Column(rank, "count") for rank in (*RANKS, NONE)))
    return Table(
        columns,
        tuple((name, *counts[name].values()) for name in names),
        turns=True,
        name="first-relevant-ranks",
    )
