"""Which tables and columns a comparison prints: as many as are read at one go."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.verbs.compare.tables import ROOM, columns_of

DOCS = [f"d{i}" for i in range(8)]
QRELS = {f"q{q}": {doc: int(i % 3 == q % 3) for i, doc in enumerate(DOCS)} for q in range(12)}
METRICS = ["nDCG@5", "AP", "P@5"]


def runs(many: int) -> dict[str, dict[str, dict[str, float]]]:
    rng = np.random.default_rng(many)
    return {
        f"run{i}": {query: dict(zip(DOCS, rng.permutation(8).astype(float).tolist(), strict=True)) for query in QRELS}
        for i in range(many)
    }


def headings(text: str) -> list[str]:
    """The lines that stand above the tables: a metric and what it is against, or all metrics."""
    return [
        line.strip() for line in text.splitlines() if line.strip() == "all metrics" or line.endswith(", against run0")
    ]


@pytest.mark.parametrize(
    ("many", "expected"),
    [
        pytest.param(3, [f"{name}, against run0" for name in METRICS], id="few runs, a table each"),
        pytest.param(ROOM // 3, [f"{name}, against run0" for name in METRICS], id="as many as there is room for"),
        pytest.param(ROOM // 3 + 1, ["nDCG@5, against run0", "all metrics"], id="one run more, the first and a board"),
    ],
)
def test_every_metric_has_a_table_while_there_is_room(many: int, expected: list[str]) -> None:
    found = rs.compare(QRELS, runs(many), METRICS)
    assert headings(found.to_text()) == expected


def test_details_have_a_table_for_every_metric() -> None:
    found = rs.compare(QRELS, runs(ROOM // 3 + 1), METRICS)
    told = headings(found.to_text(details=True))
    assert [name for name in METRICS if f"{name}, against run0" in told] == METRICS
    assert "all metrics" not in told


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        pytest.param([0.5], "fewer than 2 queries", id="one query"),
        pytest.param([0.2, 0.4, 0.6], "every query differs by the same", id="a constant difference"),
        pytest.param([0.2, 0.4, 0.7], "", id="an interval"),
    ],
)
def test_an_interval_that_is_missing_has_its_reason_below_the_table(values: list[float], reason: str) -> None:
    found = rs.compare({"old": [0.1, 0.3, 0.5][: len(values)], "new": values}, metrics="AP")
    line = " ".join(found.to_text().split())
    assert ("no interval: " in line) == bool(reason)
    assert f"no interval: {reason}" * bool(reason) in line


def test_the_metric_declared_in_advance_is_named() -> None:
    found = rs.compare(QRELS, runs(3), METRICS, primary="AP")
    assert headings(found.to_text())[0] == "AP (primary), against run0"
    assert "(primary)" not in rs.compare(QRELS, runs(3), METRICS).to_text()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, True, id="no test named"),
        pytest.param({"test": "t"}, True, id="t named"),
        pytest.param({"test": "wilcoxon"}, False, id="another test"),
        pytest.param({"correction": "max_t"}, False, id="a joint correction"),
    ],
)
def test_the_sign_flip_test_stands_beside_t_alone(options: dict[str, Any], expected: bool) -> None:
    found = rs.compare(QRELS, runs(3), "AP", **options)
    assert ("flip p" in columns_of(found.family)) == expected
    assert ("flip p" in found.to_text()) == expected


def test_many_runs_have_no_sign_flip_test_in_the_table() -> None:
    found = rs.compare(QRELS, runs(6), "AP", test="t")
    assert "flip p" not in columns_of(found.family)
    assert "detects" in columns_of(found.family)


def test_lines_of_json_hold_slices_beside_the_results() -> None:
    values = {f"q{i}": i / 9 for i in range(9)}
    runs = {"a": values, "b": {query: value / 2 for query, value in values.items()}}
    found = rs.compare(runs, metrics="AP", slices={query: "odd" if int(query[1]) % 2 else "even" for query in values})
    assert [json.loads(line).get("slice") for line in found.write("jsonl")] == [None, "even", "odd"]
    assert [json.loads(line)["slice"] for line in found.write("jsonl", table="slices")] == ["even", "odd"]
