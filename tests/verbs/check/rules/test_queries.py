"""Rules for the queries: each on a minimal bad case and on a clean one, with the size of the effect by hand."""

from __future__ import annotations

import pytest
from tests.verbs.check.made_findings import finder

import rankscope as rs

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 0}, "q4": {"a": 1, "b": 0}}
RUN = {q: {"a": 2.0, "b": 1.0} for q in QRELS}


of = finder("RR")


@pytest.mark.parametrize("code", ["RS101", "RS102", "RS103", "RS106", "RS110", "RS111"])
def test_clean_data_are_left_in_peace(code: str) -> None:
    assert of(code, QRELS, RUN) == []


def test_a_missing_query_costs_its_part_of_the_mean() -> None:
    (found,) = of("RS101", QRELS, {q: RUN[q] for q in ("q1", "q2", "q3")})
    assert (found.count, found.queries, found.severity) == (1, ("q4",), "warning")
    assert found.effect == {"RR": pytest.approx(3 / 4 - 1)}
    assert "−0.250 RR compared with leaving them out" in found.message


def test_a_missing_query_that_is_left_out_is_information() -> None:
    (found,) = of("RS101", QRELS, {q: RUN[q] for q in ("q1", "q2", "q3")}, queries="both")
    assert (found.severity, found.queries) == ("information", ("q4",))
    assert "counted as empty: −0.250 RR" in found.message  # 3 of 4 instead of 3 of 3


def test_extra_queries_count_as_nothing_where_they_are_counted() -> None:
    (found,) = of("RS102", QRELS, RUN | {"q5": {"a": 1.0}})
    assert (found.count, found.queries, found.severity) == (1, ("q5",), "information")
    assert found.effect == {"RR": pytest.approx(4 / 5 - 1)}


def test_queries_without_a_relevant_document() -> None:
    (found,) = of("RS103", QRELS | {"q4": {"a": 0, "b": 0}}, RUN)
    assert (found.count, found.queries) == (1, ("q4",))
    assert found.effect == {"RR": pytest.approx(3 / 4 - 1)}
    assert found.severity == "warning"  # a quarter of the queries
    many = {f"q{i}": {"a": 1, "b": 0} for i in range(20)} | {"q99": {"a": 0}}
    (found,) = of("RS103", many, {q: {"a": 1.0} for q in many})
    assert found.severity == "information"


def test_an_empty_ranking() -> None:
    (found,) = of("RS106", QRELS, RUN | {"q2": {}})
    assert (found.count, found.queries) == (1, ("q2",))
    assert found.effect == {"RR": pytest.approx(3 / 4 - 1)}


def test_no_query_in_common() -> None:
    found = rs.check(QRELS, {"x1": {"a": 1.0}}, "RR", select="RS1")
    assert [f.code for f in found] == ["RS110"]
    assert "'x1'" in found.findings[0].message
    assert found.case.scores is None


def test_no_document_in_common() -> None:
    (found,) = of("RS111", QRELS, {q: {"x": 1.0, "y": 0.5} for q in QRELS})
    assert "none of 8 judged documents is retrieved" in found.message


def test_one_of_two_runs_shares_nothing() -> None:
    found = rs.check(QRELS, {"good": RUN, "other": {"x1": {"a": 1.0}}}, "RR", select="RS1")
    assert [(f.code, f.run) for f in found] == [("RS110", "other")]
    assert found.case.scores is not None
    assert found.case.scores["good", "RR"] == 1
