"""The data of the query explorer: ranks and shares are those of the engine, and everything adds up."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest
from tests.made.samples import sampled
from tests.reporting.made_subjects import adds_up, by_id, in_tables, looked, scored, subject, with_aspects, world

import rankscope as rs
from rankscope.engines.base import Order
from rankscope.engines.top import top
from rankscope.errors import InputError, RankscopeError
from rankscope.metrics import CATALOGUE, Metric
from rankscope.reporting.explorer.rankings import explorer_of
from rankscope.reporting.subject import Subject
from rankscope.tables import Qrels, Run
from rankscope.testing import variants
from rankscope.testing.cases import top_grade
from rankscope.verbs.explain.result import Explanation

CLASSES = [
    cls
    for cls in dict.fromkeys(CATALOGUE.values())
    if cls.__module__.startswith("rankscope.") and not any("items" in metric.needs for metric in variants(cls))
]


# --- laws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", sampled(CLASSES, 20), ids=lambda cls: cls.__name__)
def test_documents_add_what_explain_says(cls: type[Metric]) -> None:
    qrels, runs = world()
    graded: Any = qrels
    seen = 0
    for metric in [m for m in variants(cls) if top_grade(m) >= 3][:3]:
        if metric.needs & {"aspects", "subtopics"}:
            graded = {
                q: {d: {"1": g, "2": float(i % 2)} for i, (d, g) in enumerate(docs.items())}
                for q, docs in qrels.items()
            }
        else:
            graded = qrels
        try:
            found = scored(with_aspects(graded), runs, [metric, *([] if graded is not qrels else ["P@5"])])
            explorer = looked(found, depth=7)
        except InputError:
            continue  # a grade above its scale, or a gain that is none here
        adds_up(explorer)
        for query in list(explorer.queries)[:3]:
            for at, run in enumerate(explorer.runs):
                if math.isnan(query.values[at][0]):
                    continue
                try:
                    told = rs.explain(with_aspects(graded), {run: runs[run]}, metric, query=query.query_id)
                except RankscopeError:
                    continue
                assert isinstance(told, Explanation)
                adds = {position.doc_id: position.adds for position in told.positions}
                for document in query.documents:
                    expected = adds.get(document.doc_id, 0.0)
                    assert document.adds[at] == expected, (metric, query.query_id, document)
                seen += 1
    assert seen, cls


@pytest.mark.parametrize("ties", ["trec", "docid", "input"])
@pytest.mark.parametrize("depth", [None, 9])
def test_ranks_are_those_of_the_engine(ties: Any, depth: int | None) -> None:
    qrels, runs = world(3)
    explorer = looked(scored(qrels, runs, "nDCG@5", ties=ties, depth=depth), depth=4)
    queries = by_id(explorer)
    for at, name in enumerate(explorer.runs):
        whole = top(runs[name], Order(ties), depth)
        ranks = {(q, d): r for q, d, r in whole.iter_rows()}
        for query in queries.values():
            there = {d.doc_id for d in query.documents}
            assert all(d.ranks[at] == ranks.get((query.query_id, d.doc_id), 0) for d in query.documents)
            assert there >= {d for (q, d), r in ranks.items() if q == query.query_id and r <= 4}
            assert query.sizes[at] == sum(q == query.query_id for q, _ in ranks)
            assert all(min(r for r in d.ranks if r) <= 4 for d in query.documents)


@pytest.mark.parametrize("ties", ["trec", "docid", "input", "expected", "best", "worst"])
def test_tables_and_dicts_give_the_same(ties: str) -> None:
    qrels, runs = world(5)
    table, ranked = in_tables(qrels, runs)
    here = looked(scored(qrels, runs, ["nDCG@10", "AP"], ties=ties), depth=5)
    there = looked(scored(table, ranked, ["nDCG@10", "AP"], ties=ties), depth=5)
    assert by_id(here).keys() == by_id(there).keys()
    for query in here.queries:
        other = by_id(there)[query.query_id]
        assert repr(query) == repr(other)
    adds_up(here)


def test_what_is_not_shown_is_counted() -> None:
    qrels, runs = world(7)
    explorer = looked(scored(qrels, runs, "AP"), depth=3)
    for query in explorer.queries:
        grades = qrels[query.query_id]
        assert dict(query.judged) == {g: list(grades.values()).count(g) for g in grades.values()}
        assert [g for g, _ in query.judged] == sorted({*grades.values()}, reverse=True)
        for at, name in enumerate(explorer.runs):
            ranking = top({query.query_id: runs[name].get(query.query_id, {})}, Order("trec"))["doc_id"].to_list()
            shown = {d.doc_id for d in query.documents}
            left = [(r, grades[d]) for r, d in enumerate(ranking, 1) if d not in shown and grades.get(d, 0) > 0]
            named = [(d.ranks[at], d.grade) for d in query.others if d.ranks[at]]
            assert sorted([*query.beyond[at], *named]) == left
            assert query.unjudged[at] == sum(d not in grades for d in ranking[:3])
        for document in query.documents:
            assert document.grade == grades.get(document.doc_id)


def test_every_relevant_document_is_known_by_its_id() -> None:
    qrels, runs = world(7)
    explorer = looked(scored(qrels, runs, "AP"), depth=3)
    assert any(query.others for query in explorer.queries)
    for query in explorer.queries:
        known = [d.doc_id for d in (*query.documents, *query.others)]
        assert len(known) == len(set(known))
        assert set(known) >= {doc for doc, grade in qrels[query.query_id].items() if grade > 0}
        for document in query.others:
            assert document.grade == qrels[query.query_id][document.doc_id]
            for at, name in enumerate(explorer.runs):
                ranking = top({query.query_id: runs[name].get(query.query_id, {})}, Order("trec"))["doc_id"].to_list()
                there = document.doc_id in ranking
                assert document.ranks[at] == (ranking.index(document.doc_id) + 1 if there else 0)


# --- worked ------------------------------------------------------------------------------------------------


def test_one_query_by_hand() -> None:
    qrels = {"q": {"a": 2.0, "b": 1.0, "bad": -1.0}}
    runs = {"old": {"q": {"x": 3.0, "a": 2.0, "bad": 1.0}}, "new": {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}}
    explorer = looked(scored(qrels, runs, ["DCG@3", "RR"]))
    (query,) = explorer.queries
    second, third = 2 / math.log2(3), 1 / math.log2(4)
    assert explorer.runs == ("old", "new")
    assert explorer.metrics == ("DCG@3", "RR")
    assert (explorer.cutoff, explorer.depth, explorer.top_grade, explorer.level) == (3, 10, 2.0, 1.0)
    told = {d.doc_id: (d.grade, d.ranks, d.adds) for d in query.documents}
    assert told == {
        "a": (2.0, (2, 1), (pytest.approx(second), 2.0)),
        "x": (None, (1, 2), (0.0, 0.0)),
        "b": (1.0, (0, 3), (0.0, pytest.approx(third))),
        "bad": (-1.0, (3, 0), (0.0, 0.0)),
    }
    (before, rr_before), (after, rr_after) = query.values
    assert [before, rr_before] == pytest.approx([second, 0.5])
    assert [after, rr_after] == pytest.approx([2 + third, 1.0])
    assert query.sizes == (3, 3)
    assert query.judged == ((2.0, 1), (1.0, 1), (-1.0, 1))
    assert query.beyond == ((), ())
    assert query.rest == (0.0, 0.0)
    assert query.unjudged == (1, 1)


def test_a_document_shown_for_one_run_has_its_rank_in_the_other() -> None:
    deep = {f"d{i:03}": float(1000 - i) for i in range(1000)}
    runs = {"one": {"q": deep}, "two": {"q": {"d777": 1.0}}}
    explorer = looked(scored({"q": {"d777": 1.0}}, runs, "RR"))
    found = {d.doc_id: d.ranks for d in explorer.queries[0].documents}
    assert found["d777"] == (778, 1)
    assert explorer.queries[0].rest == (0.0, 0.0)


def test_the_baseline_comes_first() -> None:
    qrels, runs = world(2)
    explorer = looked(subject(qrels, runs, ["nDCG@10", "AP"], baseline="high", primary="AP"))
    assert explorer.runs == ("high", "low")
    assert explorer.metrics == ("AP", "nDCG@10")
    adds_up(explorer)
    values = rs.evaluate(qrels, runs, "AP").per_query.rows_by_key(["run", "query_id"], named=True)
    for query in explorer.queries:
        for at, run in enumerate(explorer.runs):
            assert query.values[at][0] == values[run, query.query_id][0]["value"]


def test_several_grades_of_a_document_show_the_highest() -> None:
    rows = [("q", "a", "1", 0.0), ("q", "a", "2", 2.0), ("q", "b", "1", 1.0)]
    qrels = Qrels(pl.DataFrame(rows, schema=["query_id", "doc_id", "iteration", "grade"], orient="row"))
    explorer = looked(scored(qrels, {"r": {"q": {"a": 2.0, "b": 1.0}}}, "alpha_nDCG@5"))
    assert [(d.doc_id, d.grade) for d in explorer.queries[0].documents] == [("a", 2.0), ("b", 1.0)]
    adds_up(explorer)


def test_lower_may_be_better_and_values_missing() -> None:
    qrels, runs = world(4)
    explorer = looked(scored(qrels, runs, "FallOut@10"))
    adds_up(explorer)
    assert explorer.better == "lower"
    auc = looked(scored({"q": {"a": 1.0}}, {"r": {"q": {"a": 1.0}}, "s": {"q": {"b": 1.0}}}, "AUC"))
    assert math.isnan(auc.queries[0].values[0][0])
    assert auc.queries[0].rest == (0.0, 0.0)


def test_averages_over_orders_say_which_order_is_shown() -> None:
    qrels, runs = world(6)
    explorer = looked(scored(qrels, runs, "nDCG@5", ties="expected"))
    assert any("trec_eval's order" in note for note in explorer.notes)
    adds_up(explorer)


def test_whole_numbers_as_ids() -> None:
    explorer = looked(scored({"1": {10: 1, 11: 0}}, {"r": {"1": {11: 2.0, 10: 1.0}}}, "RR"))
    assert [(d.doc_id, d.grade) for d in explorer.queries[0].documents] == [("11", 0.0), ("10", 1.0)]


def test_rows_that_the_policies_remove_are_not_shown() -> None:
    rows = [("q", "a", 3.0, 2), ("q", "q", 2.5, 1), ("q", "b", 2.0, 3), ("q", "a", 4.0, 4)]
    run = Run(pl.DataFrame(rows, schema=["query_id", "doc_id", "score", "rank"], orient="row"), name="r")
    qrels = Qrels(pl.DataFrame({"query_id": ["q"], "doc_id": ["b"], "grade": [1.0]}))
    for ties, keep, expected in [("trec", "best", ["a", "b"]), ("rank", "first", ["a", "b"])]:
        policies = {"duplicates": keep, "self_match": "drop", "ties": ties}
        explorer = looked(scored(qrels, {"r": run}, "RR", **policies))
        assert [d.doc_id for d in explorer.queries[0].documents] == expected
        assert explorer.queries[0].documents[1].adds == (0.5,)
        assert explorer.queries[0].sizes == (2,)
    ranked = looked(scored(qrels, {"r": run}, "RR", duplicates="first", ties="rank"))
    assert [d.ranks for d in ranked.queries[0].documents] == [(1,), (2,), (3,)]
    assert ranked.queries[0].documents[0].doc_id == "q"


@pytest.mark.parametrize("queries", ["judged", "run", "both", "either"])
def test_every_population(queries: str) -> None:
    qrels, runs = world(8)
    found = scored(qrels, runs, "nDCG@10", queries=queries)
    explorer = looked(found)
    adds_up(explorer)
    assert [q.query_id for q in explorer.queries] == list(found.lead.units)


def test_without_rankings_there_is_nothing_to_look_into() -> None:
    found = rs.compare({"a": {"1": 0.5, "2": 0.1}, "b": {"1": 0.25, "2": 0.9}}, metrics="score")
    assert explorer_of(Subject(found)) is None
    qrels, runs = world()
    assert explorer_of(Subject(rs.evaluate(qrels, runs, "AP"))) is None
