"""Texts of queries in explanations."""

from __future__ import annotations

import pytest

import rankscope as rs
from rankscope.errors import InputError

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
OLD, NEW = {"q1": ["b", "a"], "q2": ["a"]}, {"q1": ["a", "b"], "q2": ["a"]}
TEXTS = {"q1": "how tides form", "q2": "moon phases"}


def test_the_text_of_a_query_stands_behind_its_id() -> None:
    assert (
        "query q1 (how tides form): RR = 0.5" in rs.explain(QRELS, OLD, "RR", query="q1", queries_text=TEXTS).to_text()
    )
    two = {"old": OLD, "new": NEW}
    assert (
        "query q1 (how tides form): RR goes" in rs.explain(QRELS, two, "RR", query="q1", queries_text=TEXTS).to_text()
    )


def test_queries_that_differ_have_their_texts() -> None:
    found = rs.explain(QRELS, {"old": OLD, "new": NEW}, "RR", queries_text=TEXTS)
    assert "how tides form" in found.to_text()
    assert "moon phases" not in found.to_text()  # it does not differ


def test_a_diagnosis_shows_texts_of_the_worst_queries() -> None:
    assert "how tides form" in rs.diagnose(QRELS, OLD, "RR", queries_text=TEXTS).to_text()


def test_texts_of_other_queries_are_refused() -> None:
    with pytest.raises(InputError, match="Is it the right file"):
        rs.explain(QRELS, OLD, "RR", query="q1", queries_text={"other": "x"})
