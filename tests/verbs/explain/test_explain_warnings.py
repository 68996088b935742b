"""What two runs are warned of while their difference is explained: above all newcomers that nobody judged."""

from __future__ import annotations

from typing import Any

import pytest

import rankscope as rs

QRELS = {f"q{i}": {f"d{j}": int(j < 4) for j in range(20)} for i in range(8)}
KNOWN = {query: {f"d{j}": 20.0 - j for j in range(12)} for query in QRELS}
NEW = {query: {f"n{j}": 20.0 - j for j in range(12)} for query in QRELS}
HALF = {query: {**{f"n{j}": 20.0 - j for j in range(5)}, **{f"d{j}": 9.0 - j for j in range(9)}} for query in QRELS}


def explained(after: Any, metric: str = "nDCG@10", qrels: Any = QRELS, **more: Any) -> list[str]:
    found = rs.explain(qrels, {"a": KNOWN, "b": after}, metric, **more)
    text = " ".join(found.to_text().split())
    told = [w.message for w in found.warnings if w.code == "RS204"]
    assert [message for message in told if "query q1" in message or "query" not in more] == [
        m for m in told if m in text
    ]
    return told


def test_a_run_of_unjudged_newcomers_is_told_over_all_queries_and_for_one() -> None:
    whole = "b: 100% of its top 10 is unjudged and counted as not relevant (a: 0%), so the comparison may be unfair"
    assert explained(NEW) == [whole]
    assert explained(NEW, query="q1")[1] == (
        "query q1: all 10 documents that b has in its top 10 and a has not are unjudged and counted as not relevant, so the "
        "comparison may be unfair"
    )


def test_newcomers_are_those_of_the_top_however_far_down_they_stood() -> None:
    """n0 to n4 push d5 to d9 out of the top 10; the other way round all that comes in is judged."""
    assert "all 5 documents that b has in its top 10 and a has not" in explained(HALF, query="q1")[-1]
    back = rs.explain(QRELS, {"b": HALF, "a": KNOWN}, "nDCG@10", query="q1")
    assert not [w for w in back.warnings if w.message.startswith("query")]


@pytest.mark.parametrize(
    ("metric", "qrels"),
    [
        ("Bpref", QRELS), ("P(judged_only=True)@10", QRELS),
        ("nDCG@10", {query: {d: g for d, g in docs.items() if g} for query, docs in QRELS.items()}),
    ],
    ids=["a metric that is blind to them", "judged documents only", "judgments that are positive only"],
)  # fmt: skip
def test_nobody_is_warned_where_unjudged_says_little(metric: str, qrels: Any) -> None:
    assert explained(NEW, metric, qrels) == explained(NEW, metric, qrels, query="q1") == []


def test_it_can_be_ignored() -> None:
    assert explained(NEW, ignore="RS204") == explained(NEW, query="q1", ignore=["Unjudged"]) == []


def test_what_is_said_of_runs_is_said_where_their_difference_is_explained() -> None:
    same = rs.explain(QRELS, {"a": KNOWN, "b": KNOWN}, "nDCG@10")
    assert "2 runs that are one" in " ".join(same.to_text().split())
