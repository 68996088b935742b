"""The charts and tables of a comparison hold the numbers of its contrasts."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made.scores import drawn, ranked_run, table

import rankscope as rs
from rankscope.blocks import ValueRange

QRELS = {f"q{i:02}": {"good": 1} for i in range(24)}


def test_one_rival_gets_a_forest_of_metrics_and_its_queries() -> None:
    found = rs.compare(QRELS, {"old": ranked_run(1), "new": ranked_run(2)}, ["RR", "P@1", "NumRet"])
    charts = {chart.name: chart for chart in found.charts()}
    assert list(charts) == [
        "forest", "forest-2", "win-loss", "waterfall-new-against-old", "scatter-new-against-old",
    ]  # fmt: skip
    c = found["new", "RR"]
    row = charts["forest"].rows[0]
    assert row[0] == "RR"
    assert isinstance(row[2], ValueRange)
    assert (row[2].value, row[2].lower, row[2].upper) == (c.difference, c.adjusted.lower, c.adjusted.upper)
    outcomes = {(row[0], row[1]): row[2] for row in charts["win-loss"].rows}
    assert [outcomes["RR", which] for which in ("better", "same", "worse")] == [c.wins, c.ties, c.losses]
    bars = [row[1] for row in charts["waterfall-new-against-old"].rows]
    assert bars == sorted(c.paired.gains.tolist(), reverse=True)
    points = charts["scatter-new-against-old"].rows
    assert sum(row[3] for row in points if isinstance(row[3], int)) == c.queries
    assert found.chart("forest") is not None
    assert found.chart("nothing") is None


def test_many_pairs_get_charts_for_the_first_few() -> None:
    found = rs.compare(drawn(0, 5), metrics="AP", all_pairs=True)
    names = [chart.name for chart in found.charts()]
    assert names[:2] == ["forest", "win-loss"]
    assert len([name for name in names if name.startswith("waterfall")]) == 3
    forest = found.chart("forest")
    assert forest is not None
    assert forest.title == "Differences of pairs on AP"
    assert all(" − " in str(row[0]) for row in forest.rows)


def test_the_same_everywhere_has_no_picture_of_queries() -> None:
    row = [i / 10 for i in range(10)]
    found = rs.compare(table(row, row), metrics="AP")
    assert [chart.name for chart in found.charts()] == ["win-loss"]


def test_a_notebook_shows_tables_and_charts() -> None:
    html = rs.compare(drawn(0, 3), metrics="AP")._repr_html_()
    assert html is None or "<table" in html


@pytest.mark.parametrize("name", ["", "results", "means", "top_groups", "anova", "slices", "tradeoffs"])
def test_every_view_is_a_table(name: str) -> None:
    scores = drawn(0, 4)
    kinds = {q: {"kind": "odd" if i % 2 else "even"} for i, q in enumerate(scores["a"])}
    costs = {run: {"latency_ms": float(i + 1)} for i, run in enumerate(scores)}
    found = rs.compare(scores, metrics="AP", all_pairs=True, slices=kinds, costs=costs)
    shown = found.table(name)
    assert shown.columns
    assert len(shown.rows) == len(found.to_dicts(name))
    assert found.to_polars(name).height == len(shown.rows)


def test_a_table_of_a_few_systems_repeated() -> None:
    draws = np.random.default_rng(0).random((3, 20))
    found = rs.compare({"a1": draws[0], "a2": draws[1], "b": draws[2]}, metrics="AP", systems={"a1": "a", "a2": "a"})
    assert found.to_dicts("replicates")[0]["runs"] == 2
    assert found.table("replicates").rows[0][:2] == ("a", "AP")
