"""How far numbers could move by reordering equal scores, against all orders of small rankings."""

from __future__ import annotations

import json
import math
from itertools import permutations

import pytest

import rankscope as rs

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
TIED = {"q1": dict.fromkeys("axyz", 1.0), "q2": {"a": 1.0}}


def test_the_ends_and_the_mean_are_those_of_all_orders() -> None:
    values = []
    for order in permutations("axyz"):
        run = {"q1": {doc: float(-i) for i, doc in enumerate(order)}, "q2": {"a": 1.0}}
        values.append(rs.evaluate(QRELS, run, "RR")["RR"])
    (found,) = rs.ties(QRELS, TIED, "RR")
    assert (found.worst, found.best) == (min(values), max(values))
    assert found.expected == pytest.approx(math.fsum(values) / len(values))
    assert found.value == rs.evaluate(QRELS, TIED, "RR")["RR"]
    assert (found.queries, found.of, found.tied) == (1, 2, 4 / 5)
    assert found.width == (1 - 1 / 4) / 2


def test_a_metric_without_a_direction_has_no_ends() -> None:
    found, other = rs.ties(QRELS, TIED, ["Judged@1", "P@1"])
    assert (found.worst, found.best, found.queries, found.width) == (None, None, 0, 0.0)
    assert found.expected == pytest.approx((1 / 4 + 1) / 2)
    assert (other.worst, other.best) == (1 / 2, 1.0)
    (alone,) = rs.ties(QRELS, TIED, "Judged@1")
    assert alone == found


def test_several_runs_and_the_widest_range_is_told() -> None:
    plain = {"q1": {"a": 2.0, "x": 1.0}, "q2": {"a": 1.0}}
    report = rs.ties(QRELS, {"plain": plain, "tied": TIED}, ["RR", "P@1"])
    assert [(one.run, str(one.metric)) for one in report] == [
        ("plain", "RR"), ("plain", "P@1"), ("tied", "RR"), ("tied", "P@1"),
    ]  # fmt: skip
    assert [one.width > 0 for one in report] == [False, False, True, True]
    assert "P@1 of tied is between 0.5000 and 1.0000 (0.6250 on average)" in str(report)
    assert "do not matter" in str(rs.ties(QRELS, plain, "RR"))


def test_json_states_which_queries_are_averaged_and_no_order() -> None:
    found = json.loads(rs.ties(QRELS, TIED, "RR").to_json())
    assert found["schema"] == "rankscope/ties/1"
    assert set(found["conventions"]) == {"queries", "queries_in_words"}
    assert found["results"][0]["queries_that_move"] == 1
