"""Every query fails in exactly one way, and how deep relevant documents were found is counted in full."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import rankscope as rs
from rankscope.analysis.ceilings import ceilings
from rankscope.metrics import AP, RR, nDCG
from rankscope.testing.cases import judged as judged_of
from rankscope.testing.cases import made_up
from rankscope.verbs.diagnose.losses import (
    BANDS,
    KINDS,
    NOTHING,
    QueryFacts,
    at_ranks,
    depths_of,
    facts_of,
    kind_of,
    typical,
)

QRELS = {
    "none known": {"a": 0},
    "perfect": {"a": 1},
    "empty": {"a": 1},
    "missing": {"a": 1},
    "unjudged": {"a": 1, "b": 0},
    "never": {"a": 1, **{f"n{i}": 0 for i in range(4)}},
    "below": {"a": 1, **{f"n{i}": 0 for i in range(4)}},
    "low": {"a": 1, "n0": 0},
    "partly": {"a": 1, "b": 1, "n0": 0},
}


def ranked(*docs: str) -> dict[str, float]:
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


RUN = {
    "none known": ranked("a"),
    "perfect": ranked("a", "x"),
    "empty": {},
    "unjudged": ranked("x", "b", "y", "z", "a"),  # 3 of the top 4 are not judged
    "never": ranked("n0", "n1", "n2", "x"),
    "below": ranked("n0", "n1", "n2", "x", "a"),
    "low": ranked("n0", "a"),
    "partly": ranked("a", "n0", "b"),
}
EXPECTED = {
    "none known": "no relevant known",
    "perfect": "perfect",
    "empty": "nothing returned",
    "missing": "nothing returned",
    "unjudged": "top unjudged",
    "never": "nothing relevant retrieved",
    "below": "below the top",
    "low": "low in the top",
    "partly": "partly found",
}


def test_one_query_of_each_kind() -> None:
    found = rs.diagnose(QRELS, RUN, "nDCG@4")
    assert {one.query_id: one.kind for one in found.queries} == EXPECTED
    assert set(EXPECTED.values()) == {kind.name for kind in KINDS}
    assert found.runs[0].kinds == {kind.name: 1 + (kind.name == "nothing returned") for kind in KINDS}


def test_half_of_the_top_is_enough_to_be_unjudged_and_less_is_not() -> None:
    qrels = {"q": {"a": 1, "m": 0, "n": 0, "o": 0}}
    half = rs.diagnose(qrels, {"q": ranked("x", "y", "m", "n", "a")}, "nDCG@4")
    less = rs.diagnose(qrels, {"q": ranked("x", "o", "m", "n", "a")}, "nDCG@4")
    assert [one.runs[0].facts.unjudged.tolist() for one in (half, less)] == [[2], [1]]
    assert [one.queries[0].kind for one in (half, less)] == ["top unjudged", "below the top"]


def test_the_top_counts_no_more_than_was_returned() -> None:
    found = rs.diagnose({"q": {"a": 1, "m": 0}}, {"q": ranked("m", "x")}, "nDCG@10")
    assert found.queries[0].kind == "top unjudged"  # 1 of 2


@pytest.mark.parametrize(
    "metric", [nDCG @ 3, nDCG(), AP(), RR @ 2, rs.parse("P(judged_only=True)@3"), rs.parse("NumRel")]
)
def test_kinds_partition_the_queries(metric: rs.Metric) -> None:
    judged = judged_of(made_up(400, 3, 4.0))
    values = metric.score(judged.lists(np.arange(len(judged))))
    could = ceilings(metric, judged, values)
    facts = facts_of(metric, judged, could.best - values)
    kinds = kind_of(facts)
    assert len(kinds) == len(judged)
    assert np.bincount(kinds, minlength=len(KINDS)).sum() == len(judged)
    held = np.stack([np.asarray(kind.rule(facts), dtype=bool) for kind in KINDS])
    for query, kind in enumerate(kinds.tolist()):
        assert held[kind, query]
        assert not held[:kind, query].any()
    # what the names say
    nothing = np.isin(kinds, [i for i, kind in enumerate(KINDS) if kind.name in NOTHING])
    assert (facts.in_top[nothing] == 0).all()
    assert (facts.known[kinds == 0] == 0).all()


def test_facts_of_a_condensed_list_are_those_that_the_metric_sees() -> None:
    qrels = {"q": {"a": 1, "b": 1, "n": 0}}
    run = {"q": ranked("x", "y", "n", "z", "a", "b")}
    facts = rs.diagnose(qrels, run, "AP(judged_only=True)@2").runs[0].facts
    assert (facts.first.tolist(), facts.in_top.tolist(), facts.unjudged.tolist()) == ([2], [1], [0])
    plain = rs.diagnose(qrels, run, "AP@2").runs[0].facts
    assert (plain.first.tolist(), plain.in_top.tolist(), plain.unjudged.tolist()) == ([5], [0], [2])


def test_where_no_loss_is_known_a_full_top_is_perfect() -> None:
    def kind(first: int, in_top: int) -> str:
        one = np.array([1])
        facts = QueryFacts(
            2, 3 * one, in_top * one, in_top * one, first * one, 5 * one, 2 * one, 0 * one, np.array([math.nan])
        )
        return KINDS[int(kind_of(facts)[0])].name

    assert [kind(1, 2), kind(1, 1), kind(2, 1)] == ["perfect", "partly found", "low in the top"]


def test_every_relevant_document_is_in_one_band_or_never_found() -> None:
    docs = [f"d{i}" for i in range(1500)]
    grades = {
        docs[0]: 2.0,
        docs[9]: 1.0,
        docs[10]: 1.0,
        docs[99]: 2.0,
        docs[100]: 1.0,
        docs[1000]: 1.0,
        "m": 2.0,
        "z": 0.0,
    }
    found = rs.diagnose({"q": grades}, {"q": ranked(*docs)}, "nDCG@10").runs[0].depths
    assert [(depth.grade, depth.bands, depth.never, depth.total) for depth in found] == [
        (2.0, (1, 1, 0, 0), 1, 3),
        (1.0, (1, 1, 1, 1), 0, 4),
    ]
    assert BANDS[0][0] == 1
    for (_, high), (low, _) in pairwise(BANDS):
        assert high is not None
        assert low == high + 1  # no gap between bands


def test_relevant_documents_are_counted_by_what_the_metric_calls_relevant() -> None:
    judged = judged_of(made_up(300, 5, 4.0))
    for metric, least in ((AP(level=2), 2), (nDCG(), np.nextafter(0, 1)), (nDCG(gain="binary"), 1)):
        known = sum(depth.total for depth in depths_of(metric, judged))
        assert known == int((judged.grade >= least).sum())


def test_what_stands_at_the_first_ranks_adds_up_to_the_queries() -> None:
    judged = judged_of(made_up(300, 6, 4.0))
    for at in at_ranks(nDCG @ 10, judged):
        assert at.relevant + at.not_relevant + at.unjudged + at.nothing == len(judged)
        assert min(at.relevant, at.not_relevant, at.unjudged, at.nothing) >= 0
    first = at_ranks(nDCG @ 10, judged_of(tuple(made_up(6, 6, 4.0)[:6])))[0]
    # the six fixed cases: an empty list, an empty list, then 0, unjudged, 1 and 0 at rank 1
    assert (first.relevant, first.not_relevant, first.unjudged, first.nothing) == (1, 2, 1, 2)


def test_the_typical_rank_is_one_over_the_mean_reciprocal_rank() -> None:
    assert typical(np.array([1, 2, 4])) == (3 / (1 / 1 + 1 / 2 + 1 / 4), 2.0)
    assert typical(np.array([0, 0, 1])) == (3 / (1 / 1), math.inf)
    assert typical(np.array([0, 0])) == (math.inf, math.inf)
    assert all(map(math.isnan, typical(np.empty(0))))
    for metric in ("RR", "RR@2"):
        run = rs.diagnose(QRELS, RUN, metric).runs[0]
        assert run.typical[0] == pytest.approx(1 / rs.evaluate(QRELS, RUN, metric)[metric], rel=1e-12)


def test_queries_without_anything_relevant_show_nothing_relevant() -> None:
    qrels = {f"q{i}": {"a": int(i < 10), "b": 0} for i in range(20)}
    run = {query: {"a": 2.0, "b": 1.0} if i < 8 else {"b": 1.0} for i, query in enumerate(qrels)}
    said = str(rs.diagnose(qrels, {"A": run}))
    assert "Of 20 queries, 12 show nothing relevant in the top 10 (10 have no known relevant document)" in said
