"""What other tools hand over: rows of documents, ranx's runs and qrels."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files import qrels_of, run_of

Scored = namedtuple("Scored", "query_id doc_id score")
Judged = namedtuple("Judged", "query_id doc_id relevance iteration")
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 3.0}}
ROWS = [Scored(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]
GRADES = [Judged(q, d, g, "0") for q, docs in QRELS.items() for d, g in docs.items()]


@pytest.mark.parametrize("hold", [list, tuple, iter], ids=["a list", "a tuple", "an iterator"])
def test_rows_of_documents(hold: Callable[[Any], Any]) -> None:
    assert rs.evaluate(hold(GRADES), hold(ROWS), "RR")["RR"] == rs.evaluate(QRELS, RUN, "RR")["RR"] == 0.75


def test_several_runs_of_rows() -> None:
    other = [Scored("q1", "b", 1)]
    for runs in ({"one": ROWS, "two": other}, [("one", ROWS), ("two", other)]):
        scores = rs.evaluate(GRADES, runs, "RR")
        assert (scores["one", "RR"], scores["two", "RR"]) == (0.75, 0.0)
    assert len(rs.evaluate(GRADES, [ROWS, other], "RR").runs) == 2


def test_rows_with_whole_numbers_as_ids() -> None:
    assert run_of([Scored(1, 7.0, 1), Scored(1, 8.0, 2)]).frame.rows() == [("1", "7", 1.0), ("1", "8", 2.0)]
    assert qrels_of([Judged("q", "a", 1, "s1"), Judged("q", "a", 0, "s2")]).frame["iteration"].to_list() == ["s1", "s2"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([Scored("q", "a", "high")], "has no score as a number"),
        ([Scored("q", "a", 1.0), ("q", "b", 2.0)], r"\('q', 'b', 2.0\) has no score as a number: each document has"),
        ([Judged("q", "a", 1, "0")], "has no score as a number: each document has a query_id, a doc_id and a score"),
        (iter([1, 2]), "an iterator of no documents with query_id and doc_id"),
        (iter([]), "an iterator of no documents with query_id and doc_id"),
    ],
    ids=[
        "a word for a score",
        "a plain tuple among them",
        "judgments for a run",
        "an iterator of numbers",
        "an empty iterator",
    ],
)
def test_what_are_no_documents(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_of(rows)


def test_ir_measures(need: Callable[[str], ModuleType]) -> None:
    ir_measures = need("ir_measures")
    rows = [ir_measures.ScoredDoc(*row) for row in ROWS]
    grades = [ir_measures.Qrel(*row) for row in GRADES]
    assert (
        rs.evaluate(grades, rows, "AP")["AP"]
        == ir_measures.calc_aggregate([ir_measures.AP], grades, rows)[ir_measures.AP]
    )


def test_ranx(need: Callable[[str], ModuleType]) -> None:
    ranx = need("ranx")
    scores = rs.evaluate(ranx.Qrels(QRELS), [ranx.Run(RUN, name="one"), ranx.Run(RUN, name="two")], "RR")
    assert (scores["one", "RR"], scores["two", "RR"]) == (0.75, 0.75)
