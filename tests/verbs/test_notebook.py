"""Results in a notebook: Markdown with the tables, and what to doubt about them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import pytest

import rankscope as rs

QRELS = {f"q{i}": {"a": 2, "b": 1} for i in range(8)}
ONE = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}
MIXED = {query: {"a": 3.0 - (i % 2) * 2.5, "x": 2.0, "b": 1.0} for i, query in enumerate(QRELS)}
TWO = {query: {"a": 3.0, "x": 2.0, "b": 1.0} for query in QRELS}


def test_every_result_is_a_table_in_a_notebook() -> None:
    runs = {"one": ONE, "two": TWO}
    for result in (
        rs.evaluate(QRELS, runs, ["nDCG@3", "RR"]),
        rs.compare(QRELS, runs, "nDCG@3"),
        rs.explain(QRELS, ONE, "nDCG@3", query="q1"),
        rs.explain(QRELS, [ONE, TWO], "nDCG@3"),
        rs.diagnose(QRELS, ONE, "nDCG@3"),
        rs.gate(QRELS, ONE, TWO, "nDCG@3"),
        rs.check(QRELS, runs, "nDCG@3"),
        rs.unjudged(QRELS, runs, "nDCG@3"),
        rs.advise(QRELS, runs, k=3),
        rs.ties(QRELS, runs, "nDCG@3"),
        rs.reconcile(QRELS, runs, "nDCG@3"),
        rs.report(QRELS, runs, "nDCG@3"),
    ):
        said = result._repr_markdown_()
        assert "| ---" in said, type(result)
        assert "nDCG@3" in said


def test_doubts_are_shown_too() -> None:
    qrels = {query: grades | {"nobody returns it": 0} for query, grades in QRELS.items()}
    said = rs.evaluate(qrels, {"one": ONE}, "nDCG@3")._repr_markdown_()
    assert "- one: 33% of its top 3 is unjudged" in said
    assert "RS204" in said


def every_result() -> list[Any]:
    runs = {"one": ONE, "two": TWO}
    return [
        rs.evaluate(QRELS, runs, ["nDCG@3", "RR"]),
        rs.compare(QRELS, runs, "nDCG@3"),
        rs.explain(QRELS, ONE, "nDCG@3", query="q1"),
        rs.explain(QRELS, [ONE, TWO], "nDCG@3", query="q1"),
        rs.explain(QRELS, [ONE, TWO], "nDCG@3"),
        rs.diagnose(QRELS, ONE, "nDCG@3"),
        rs.power(QRELS, {"one": ONE, "two": MIXED}, "nDCG@3"),
        rs.report(QRELS, runs, "nDCG@3"),
    ]


def test_what_has_a_chart_shows_it(need: Callable[[str], Any]) -> None:
    need("altair")
    for result in every_result():
        said = result._repr_html_()
        assert said is not None
        assert "<table" in said, type(result)
        assert "<svg" in said, type(result)
        assert "<script" not in said


def test_a_report_begins_with_its_verdict_and_is_short(need: Callable[[str], Any]) -> None:
    need("altair")
    runs = {"one": ONE, "two": MIXED}
    report = rs.report(QRELS, runs, ["nDCG@3", "RR"], title="Which?")
    said = report._repr_html_()
    assert said is not None
    places = [said.index(part) for part in ("Which?", "No clear difference", "<table", "<svg", "report.save(")]
    assert places == sorted(places)
    assert len(said) < 100_000
    assert "Looked for" not in said


def test_results_say_what_they_found_in_a_sentence() -> None:
    runs = {"one": ONE, "two": TWO}
    assert repr(rs.unjudged(QRELS, runs, "nDCG@3")).startswith("one: 33% of its top 3 is unjudged")
    assert repr(rs.ties(QRELS, runs, "nDCG@3")).startswith("Equal scores do not matter here")
    assert "tools" in repr(rs.reconcile(QRELS, ONE, "nDCG@3"))


def test_results_told_in_words_have_no_chart(need: Callable[[str], Any]) -> None:
    need("altair")
    said = rs.gate(QRELS, ONE, TWO, "nDCG@3")._repr_html_()
    assert said is not None
    assert "<table" in said
    assert list(rs.check(QRELS, {"one": ONE}, "nDCG@3").charts()) == []


def test_the_chart_of_an_explanation_is_what_it_adds() -> None:
    found = rs.explain(QRELS, [ONE, TWO], "nDCG@3", query="q1")
    (chart,) = found.charts()
    assert math.fsum(row[1] for row in chart.rows) == pytest.approx(found.value, abs=1e-12)  # type: ignore[misc]
    (chart,) = rs.explain(QRELS, [ONE, TWO], "nDCG@3").charts()
    assert math.fsum(row[1] for row in chart.rows) == pytest.approx(found.value, abs=1e-12)  # type: ignore[misc]


def test_the_chart_of_a_plan_goes_through_what_the_queries_show_now() -> None:
    plan = rs.power(QRELS, {"one": ONE, "two": MIXED}, "nDCG@3")
    (chart,) = plan.charts()
    (now,) = [row[1] for row in chart.rows if row[0] == len(QRELS)]
    assert now == pytest.approx(plan["nDCG@3"].detectable.difference, rel=1e-12)


def test_without_what_draws_charts_a_notebook_shows_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("jinja2", "altair", "vl_convert"):
        monkeypatch.setitem(sys.modules, name, None)
    assert rs.evaluate(QRELS, ONE, "nDCG@3")._repr_html_() is None
