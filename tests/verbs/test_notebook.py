"""Results in a notebook: Markdown with the tables, and what to doubt about them."""

from __future__ import annotations

import rankscope as rs

QRELS = {f"q{i}": {"a": 2, "b": 1} for i in range(8)}
ONE = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}
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
    ):
        said = result._repr_markdown_()
        assert "| ---" in said, type(result)
        assert "nDCG@3" in said


def test_doubts_are_shown_too() -> None:
    said = rs.evaluate(QRELS, {"one": ONE}, "nDCG@3")._repr_markdown_()
    assert "- one: 33% of its top 3 is unjudged" in said
    assert "RS204" in said
