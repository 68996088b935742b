"""Files of weights: a query and what it weighs a line, with a heading or without, in either order under one."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.scoring.weights import weights_of

WEIGHTS = {"q1": 2.0, "q2": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("q1,2\nq2,0.5\n", id="no heading"),
        pytest.param("q1 2\n\nq2\t0.5\n", id="blanks and tabs"),
        pytest.param("query_id,weight\nq1,2\nq2,0.5\n", id="a heading"),
        pytest.param("# by traffic\nquery,weight\nq1,2\nq2,0.5\n", id="a comment before the heading"),
        pytest.param("weight,queryId\n2,q1\n0.5,q2\n", id="the query second"),
        pytest.param("anything,else\nq1,2\nq2,0.5\n", id="a heading of other names"),
    ],
)
def test_files_of_text(text: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text(text)
    assert weights_of(path).by_query == WEIGHTS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("q1,2\nquery,weight\n", "query query weighs 'weight'", id="a heading below a weight"),
        pytest.param("2,q1\n0.5,q2\n", "query 0.5 weighs 'q2'", id="the query second and no heading"),
        pytest.param("q1,2\nq1,3\n", "query q1 has two weights: keep one", id="a query twice"),
        pytest.param("q1,2,3\n", "line 1: 3 columns, a line of weights has 2", id="three columns"),
        pytest.param("query,weight\n", "no weight is there", id="a heading alone"),
    ],
)
def test_what_are_no_weights(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        weights_of(path)


def test_each_user_or_session_weighs_the_same(tmp_path: Path) -> None:
    """q1 and q2 are of one session: 1 and 1/2 there, 1/2 in the other; a later query of a session counts less, as in sDCG."""
    qrels, run = {f"q{i}": {"a": 1} for i in (1, 2, 3)}, {"q1": ["a"], "q2": ["b", "a"], "q3": ["b", "a"]}
    later = 1 / (1 + math.log(2, 4))
    cases = {
        "query_id,user_id\nq1,u\nq2,u\nq3,v\n": ((1 + 0.5) / 2 + 0.5) / 2,
        "session_id\tquery_id\tplace\ns\tq1\t1\ns\tq2\t2\nt\tq3\t1\n": ((1 + later * 0.5) / (1 + later) + 0.5) / 2,
        "query_id,session,weight\nq1,s,3\nq2,s,1\nq3,t,9\n": ((3 * 1 + 0.5) / 4 + 0.5) / 2,
    }
    for text, expected in cases.items():
        file = tmp_path / "sessions.csv"
        file.write_text(text)
        assert rs.evaluate(qrels, run, "RR", weights=file)["RR"] == pytest.approx(expected)


def test_users_that_are_the_queries(tmp_path: Path) -> None:
    """A table of users and weights has the weights of queries, if the queries are users."""
    file = tmp_path / "weights.csv"
    file.write_text("user_id,weight\nu,3\nv,1\n")
    found = rs.evaluate({"u": {"a": 1}, "v": {"a": 1}}, {"u": ["a"], "v": ["b", "a"]}, "RR", weights=file)
    assert found["RR"] == (3 * 1 + 0.5) / 4


@pytest.mark.parametrize(
    ("text", "message"),
    {
        "a place of 0": ("query_id,session_id,place\nq1,s,0\n", "number the queries of each session_id from 1"),
        "no weight": ("query_id,session_id,weight\nq1,s,0\nq2,t,1\n", "give one a weight above 0"),
        "a query twice": ("query_id,session_id\nq1,s\nq1,t\n", "is there twice"),
        "no session": ("query_id,session_id\nq1,\n", "no session_id"),
    }.values(),
    ids=["a place of 0", "no weight", "a query twice", "no session"],
)
def test_refused_sessions(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "sessions.csv"
    file.write_text(text)
    with pytest.raises(rs.InputError, match=message):
        rs.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "RR", weights=file)
