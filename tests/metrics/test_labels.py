"""Label ranking: ties take the last rank, what was not returned shares the last place."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rankscope as rs
from rankscope.testing import check_metric


@pytest.mark.parametrize(
    ("metric", "grades", "scores", "expected"),
    [
        # the worked example of scikit-learn's guide: labels {a} and {c}, scores [.75 .5 1] and [1 .2 .1]
        ("LRAP", (1, 0, 0), (0.75, 0.5, 1), 1 / 2),
        ("LRAP", (0, 0, 1), (1, 0.2, 0.1), 1 / 3),
        ("LabelRankingLoss", (1, 0, 0), (0.75, 0.5, 1), 1 / 2),
        ("LabelRankingLoss", (0, 0, 1), (1, 0.2, 0.1), 1),
        ("CoverageError", (1, 0, 0), (0.75, 0.5, 1), 2),
        ("CoverageError", (0, 0, 1), (1, 0.2, 0.1), 3),
        ("LRAP", (1, 1, 0, 0), (3, 2, 2, 1), (1 + 2 / 3) / 2),
        ("LRAP", (1, 1, 0, 0), (2, 2, 2, 1), (2 / 3 + 2 / 3) / 2),
        ("LabelRankingLoss", (1, 1, 0, 0), (3, 2, 2, 1), 1 / 4),
        ("CoverageError", (1, 1, 0, 0), (3, 2, 2, 1), 3),
    ],
)
def test_one_list(metric: str, grades: Any, scores: Any, expected: float) -> None:
    assert rs.metrics.parse(metric).of(list(grades), scores=list(scores)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "none", "every"),
    [("LRAP", 1, 1), ("LRAP(no_relevant=0)", 0, 1), ("LabelRankingLoss", 0, 0), ("CoverageError", 0, 2)],
)
def test_no_label_holds_or_all_do(metric: str, none: float, every: float) -> None:
    assert rs.metrics.parse(metric).of([0, 0]) == none
    assert rs.metrics.parse(metric).of([1, 1]) == every


def test_a_query_may_be_left_out() -> None:
    assert math.isnan(rs.LRAP(no_relevant="skip").of([0, 0]))
    assert rs.LRAP(no_relevant="skip").of([0, 1]) == 1 / 2


QRELS = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}


@pytest.mark.parametrize(
    ("run", "lrap", "loss", "coverage"),
    [
        # c was not returned: it earns nothing, shares the last place with d, and all four must be read
        ({"a": 2.0, "b": 1.0}, 1 / 2, 2 / 4, 4),
        # neither relevant label was returned
        ({"b": 1.0}, 0, 1, 4),
        # a document nobody judged is read on the way and no part of a pair
        ({"u": 9.0, "a": 2.0, "c": 1.0}, (1 / 2 + 2 / 3) / 2, 0, 3),
        ({"u": 9.0, "a": 2.0}, (1 / 2) / 2, 2 / 4, 5),
    ],
)
def test_labels_that_were_not_returned(run: dict[str, float], lrap: float, loss: float, coverage: float) -> None:
    scores = rs.evaluate(QRELS, {"q": run}, ["LRAP", "LabelRankingLoss", "CoverageError"])
    assert scores["LRAP"] == pytest.approx(lrap)
    assert scores["LabelRankingLoss"] == pytest.approx(loss)
    assert scores["CoverageError"] == coverage


def test_a_query_missing_from_the_run_scores_worst() -> None:
    scores = rs.evaluate(
        {**QRELS, "p": {"a": 1, "b": 0}},
        {"p": {"a": 1.0}},
        ["LRAP", "LabelRankingLoss", "CoverageError", "PercentileRank(weights='equal')"],
    )
    assert scores["LRAP"] == (1 + 0) / 2
    assert scores["LabelRankingLoss"] == (0 + 1) / 2
    assert scores["CoverageError"] == (1 + 4) / 2
    assert scores["PercentileRank(weights='equal')"] == (0 + 4 / 8) / 2


# two users and ten items: u1 has items at ranks 1 and 3 of a list of five, and one that is not in it; u2 one at rank 4
USERS = {"u1": {"a": 1, "c": 1, "z": 1}, "u2": {"d": 1}}
LISTS = {u: {item: 5.0 - i for i, item in enumerate("abcde")} for u in USERS}
FIRST = (0 / 10 + 2 / 10 + (5 + 10) / 20) / 3


def test_percentiles_are_averaged_over_documents() -> None:
    metric, equal = rs.PercentileRank(candidates=10), rs.PercentileRank(candidates=10, weights="equal")
    scores = rs.evaluate(USERS, LISTS, [metric, equal])
    assert scores[metric] == pytest.approx((3 * FIRST + 3 / 10) / 4)
    assert scores[equal] == pytest.approx((FIRST + 3 / 10) / 2)


def test_percentiles_of_what_is_returned_or_judged() -> None:
    values = rs.evaluate(USERS, LISTS, ["PercentileRank"]).runs[0].values[rs.PercentileRank()]
    assert values.tolist() == pytest.approx([(0 / 6 + 2 / 6 + (5 + 6) / 12) / 3, 3 / 5])


def test_percentile_by_chance_is_one_half() -> None:
    # all items relevant or not, every order of one relevant document in a list: 0, 1/n to (n - 1)/n
    n = 11
    values = [rs.PercentileRank().of([int(i == at) for i in range(n)]) for at in range(n)]
    assert sum(values) / n == pytest.approx((n - 1) / 2 / n)


def test_more_documents_than_there_are() -> None:
    with pytest.raises(rs.InputError, match="11 documents returned or judged, more than candidates=10"):
        rs.PercentileRank(candidates=10).of([1] + [0] * 10)


def test_nothing_relevant_has_no_percentile() -> None:
    assert math.isnan(rs.PercentileRank().of([0, 0]))


def test_laws_with_a_catalogue() -> None:
    check_metric("PercentileRank(candidates=60)")
