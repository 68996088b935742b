"""The charts of a result that is looked at alone, as in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any

from rankscope.blocks import Chart, Column
from rankscope.inference.power import shown_by
from rankscope.panels.method import FEWEST
from rankscope.reporting.sections.spread import Spread
from rankscope.reporting.subject import OfScores
from rankscope.scoring.scores import Scores
from rankscope.verbs.compare.charts import charts_of as compared
from rankscope.verbs.compare.compare import Comparison
from rankscope.verbs.diagnose.diagnose import Diagnosis
from rankscope.verbs.explain.difference import Difference
from rankscope.verbs.explain.explain import Explained, Sourced
from rankscope.verbs.power.power import Plan


def charts_of(result: Any) -> list[Chart]:
    """The charts of a result; none for results that are told in words and tables."""
    for kind, charts in KINDS.items():
        if isinstance(result, kind):
            return charts(result)
    return []


def _of_comparison(found: Comparison) -> list[Chart]:
    return list(compared(found))


def _of_scores(found: Scores) -> list[Chart]:
    return [block for block in Spread(OfScores(found)).blocks() if isinstance(block, Chart)]


def _of_explained(result: Explained) -> list[Chart]:
    found = result.found
    rows: list[tuple[str, float]] = []
    if isinstance(found, Difference):
        rows = [(moved.doc_id, moved.adds) for moved in found.carrying]
        rows += [(rest.what, rest.adds) for rest in found.rest if rest.adds]
        title = f"What each document adds to the difference, query {found.query_id}"
    else:
        rows = [(f"{p.rank} {p.doc_id or 'nothing retrieved'}", p.adds) for p in found.positions if p.adds]
        title = f"What each rank adds to {found.metric}, query {found.query_id}"
    return [_bars("adds", title, "document", rows)] if rows else []


def _of_sourced(found: Sourced) -> list[Chart]:
    title = f"Where the difference of {found.metric} comes from"
    return [_bars("origin", title, "ranks", [(band.label, band.adds) for band in found.bands])]


def _of_diagnosis(found: Diagnosis) -> list[Chart]:
    if found.reason:
        return []
    columns = (Column("run"), Column("lost", "value"), Column("because"))
    rows = [
        (run.name, lost, why)
        for run in found.runs
        for lost, why in (
            (run.lost.never_retrieved, "never retrieved"),
            (run.lost.ordered_badly, "ordered badly"),
        )
    ]
    title = f"What is lost of {found.metric}, and why"
    return [Chart("lost", title, "stacked", columns, tuple(rows), x="lost", y="run", series="because")]


def _of_plan(found: Plan) -> list[Chart]:
    """What more queries would show, pair by pair on the first metric; clusters are planned by another count, and have no chart."""
    columns = (Column("queries", "count"), Column("smallest difference", "value"), Column("pair"))
    rows = []
    for reach in found.reaches[:PAIRS]:
        seen = reach.detectable.difference
        if reach.metric != found.reaches[0].metric or reach.queries < FEWEST or not reach.deviation > 0:
            continue
        each, power = found.aim.each, found.aim.power
        if found.aim.n is None and not isclose(shown_by(reach.queries, reach.deviation, power, each), seen):
            continue
        for share in SHARES:
            n = max(round(reach.queries * share), 2)
            rows.append(
                (n, shown_by(n, reach.deviation, power, each), f"{reach.run} against {reach.baseline}")
            )
    if not rows:
        return []
    return [
        Chart(
            "power",
            f"What so many queries could show of {found.reaches[0].metric}",
            "lines",
            columns,
            tuple(rows),
            x="queries",
            y="smallest difference",
            series="pair",
            logs=frozenset({"x"}),
            caption=f"The smallest difference that is found with {found.aim.power:.0%} power, if differences vary as they do now.",
        )
    ]


def _bars(name: str, title: str, of: str, rows: list[tuple[str, float]]) -> Chart:
    columns = (Column(of), Column("adds", "value"))
    return Chart(name, title, "bars", columns, tuple(rows), x=of, y="adds", guide="zero")


PAIRS = 8  # lines that are told apart
SHARES = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)  # of the queries at hand
KINDS: dict[type, Callable[[Any], list[Chart]]] = {
    Comparison: _of_comparison,
    Scores: _of_scores,
    Explained: _of_explained,
    Sourced: _of_sourced,
    Diagnosis: _of_diagnosis,
    Plan: _of_plan,
}
