"""Which runs an explorer starts with, what it says of means of several runs, and which documents a single run misses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.reporting.made_subjects import Dicts, adds_up, by_id, in_tables, looked, scored, subject, world

import rankscope as rs
from rankscope.reporting.answer import verdicts


def graded(queries: int = 8) -> Dicts:
    return {f"q{i}": {"a": 1.0, "b": 0.0} for i in range(queries)}


def at_rank(qrels: Dicts, *ranks: int) -> Dicts:
    """A run with the only relevant document at these ranks, query by query, the last one for all the others."""
    placed = [ranks[min(at, len(ranks) - 1)] for at in range(len(qrels))]
    return {
        q: {**{f"x{i}": 9.0 - i for i in range(1, rank)}, "a": 9.0 - rank}
        for q, rank in zip(qrels, placed, strict=True)
    }


# --- the order of runs -------------------------------------------------------------------------------------


def test_the_pair_of_the_leading_verdict_comes_first_and_the_others_by_merit() -> None:
    qrels = graded()
    runs = {
        "slow": at_rank(qrels, 4, 5),
        "base": at_rank(qrels, 3, 4),
        "best": at_rank(qrels, 1, 2),
        "good": at_rank(qrels, 2),
    }
    found = subject(qrels, runs, "RR", baseline="base")
    assert found.runs_in_order() == ("base", "best", "good", "slow")
    assert looked(found).runs[:2] == verdicts(found)[0].pairs[0]
    each = subject(qrels, runs, "RR", all_pairs=True)
    assert looked(each).runs[:2] == verdicts(each)[0].pairs[0] == ("slow", "best")
    assert set(each.runs_in_order()) == set(runs)


def test_less_may_be_better() -> None:
    qrels: Dicts = {f"q{i}": {"a": 1.0, "bad": 0.0} for i in range(6)}
    none = {q: {"a": 1.0} for q in qrels}
    more = {q: {"a": 3.0, "bad": 2.0} for q in qrels}
    found = subject(qrels, {"base": more, "same": more, "clean": none}, "FallOut@10")
    assert found.runs_in_order() == ("base", "clean", "same")


def test_a_mean_of_several_runs_stands_for_its_first_and_comes_where_it_would() -> None:
    qrels = graded()
    runs = {"b": at_rank(qrels, 1, 2), "a#1": at_rank(qrels, 3), "c": at_rank(qrels, 4), "a#2": at_rank(qrels, 2, 3)}
    systems = {"a#1": "a", "a#2": "a"}
    found = subject(qrels, runs, "RR", systems=systems, baseline="a")
    explorer = looked(found)
    assert explorer.runs == ("a#1", "b", "a#2", "c")
    assert explorer.members == (("a", ("a#1", "a#2")),)
    assert "a is the mean of a#1 and a#2" in " ".join(explorer.notes)
    assert verdicts(found)[0].pairs[0] == ("a", "b")
    adds_up(explorer)
    other = looked(subject(qrels, runs, "RR", systems=systems, baseline="b"))
    assert other.runs[0] == "b"
    assert other.runs[1:] == ("a#1", "a#2", "c")


def test_runs_that_are_only_scored_stay_as_given() -> None:
    qrels, runs = world()
    found = scored(qrels, runs, "AP")
    assert found.runs_in_order() == ("low", "high")
    assert looked(scored(qrels, runs, "AP")).members == ()


def test_what_metrics_were_told_goes_along() -> None:
    qrels, runs = world()
    found = scored(qrels, {"low": runs["low"]}, ["RBP(p=0.5)", "ERR(max_grade=3)@10", "RBP(p=0.9)"])
    assert looked(found).parameters == (("p", 0.5), ("max_grade", 3.0))
    assert looked(scored(qrels, runs, "AP")).parameters == ()


# --- what a single run misses ------------------------------------------------------------------------------


@pytest.mark.parametrize("tabled", [False, True])
def test_the_best_that_is_not_shown_is_named_with_its_true_rank(tabled: bool) -> None:
    qrels, runs = world(9)
    given: tuple[Any, Any] = in_tables(qrels, runs) if tabled else (qrels, runs)
    explorer = looked(scored(given[0], {"low": given[1]["low"]}, "AP"), depth=3)
    adds_up(explorer)
    for query in explorer.queries:
        ranked = sorted(runs["low"].get(query.query_id, {}).items(), key=lambda one: (one[1], one[0]), reverse=True)
        ranks = {doc: at for at, (doc, _) in enumerate(ranked, 1)}
        grades = qrels[query.query_id]
        good = [doc for doc, grade in grades.items() if grade > 0 and not 0 < ranks.get(doc, 0) <= 3]
        good.sort(key=lambda doc: (-grades[doc], doc))
        named = [d for d in query.documents if not 0 < d.ranks[0] <= 3]
        assert [d.doc_id for d in named] == good[:5]
        assert [d.ranks[0] for d in named] == [ranks.get(doc, 0) for doc in good[:5]]
        assert [d.grade for d in named] == [grades[doc] for doc in good[:5]]
        assert {d.doc_id: (d.ranks[0], d.grade) for d in query.others} == {
            d: (ranks.get(d, 0), grades[d]) for d in good[5:]
        }
        assert query.beyond[0] == ()  # there is room to know all of them by id


def test_two_runs_name_only_what_they_show() -> None:
    qrels, runs = world(9)
    explorer = looked(scored(qrels, runs, "AP"), depth=3)
    assert all(min(r for r in d.ranks if r) <= 3 for q in explorer.queries for d in q.documents)


def test_where_there_is_no_room_none_is_named() -> None:
    qrels, runs = world(9)
    roomy = looked(scored(qrels, {"low": runs["low"]}, "AP"), depth=3)
    tight = looked(scored(qrels, {"low": runs["low"]}, "AP"), depth=3, budget=1)
    (one,) = tight.queries
    assert len(one.documents) == 3 < len(by_id(roomy)[one.query_id].documents)


def test_the_mean_is_known_to_the_comparison() -> None:
    qrels, runs = world()
    found = rs.compare(
        qrels, {**runs, "third": runs["low"]}, "AP", systems={"low": "one", "third": "one", "high": "two"}
    )
    assert found.measurements.members == {"one": ("low", "third")}
