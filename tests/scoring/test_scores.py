"""The scores of several runs: in order of merit, and as lines of trec_eval."""

from __future__ import annotations

import rankscope as rs

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0}}


def test_runs_without_a_value_come_last() -> None:
    runs = {"none": {"q1": {"a": 1.0}}, "low": {"q1": {"a": 1.0, "b": 2.0}}, "high": {"q1": {"a": 2.0, "b": 1.0}}}
    scores = rs.evaluate(QRELS, runs, "AUC")
    assert scores.by_merit(rs.parse("AUC")) == ["high", "low", "none"]


def test_two_runs_are_told_apart_in_the_lines_of_trec_eval() -> None:
    lines = "".join(rs.evaluate(QRELS, {"one": RUN, "two": RUN}, "RR").trec_lines()).split("\n")
    assert [line.split() for line in lines if line][::2] == [["runid", "all", "one"], ["runid", "all", "two"]]
