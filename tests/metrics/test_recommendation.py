"""Metrics of recommenders and click models, by arithmetic, by other formulas and on six users."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.testing import check_metric

# six users and ten items: what each liked, and the list that each was shown
LIKED = {"u1": [0, 1, 2], "u2": [3], "u3": [4, 5, 6, 7, 8, 9], "u4": [9], "u5": [], "u6": [2]}
SHOWN = {
    "u1": [0, 5, 1, 6, 7],
    "u2": [5, 6, 3, 7, 8],
    "u3": [4, 0, 5, 1, 6],
    "u4": [],
    "u5": [0, 1, 2, 3, 4],
    "u6": [0, 1, 3, 4, 5],
}
QRELS = {u: {str(i): 1.0 for i in items} for u, items in LIKED.items() if items}
RUN = {u: {str(i): -float(r) for r, i in enumerate(items)} for u, items in SHOWN.items() if items}


def per_user(metric: Any) -> dict[str, float]:
    (one,) = rs.evaluate(QRELS, RUN, [metric]).runs
    return dict(zip(one.query_ids, one.values[metric].tolist(), strict=True))


def hits(user: str) -> list[int]:
    return [int(item in LIKED[user]) for item in SHOWN[user]]


def test_mean_of_precisions() -> None:
    metric = rs.MeanP @ 3
    expected = {
        "u1": (1 + 1 / 2 + 2 / 3) / 3,
        "u2": (0 + 0 + 1 / 3) / 3,
        "u3": (1 + 1 / 2 + 2 / 3) / 3,
        "u4": 0,
        "u6": 0,
    }
    assert per_user(metric) == pytest.approx(expected)
    # what Elliot prints as MAP for these users
    assert rs.evaluate(QRELS, RUN, [metric])[metric] == pytest.approx(0.3111, abs=5e-5)


@pytest.mark.parametrize("k", [1, 3, 5, 7])
@pytest.mark.parametrize(("mean", "one"), [(rs.MeanP, rs.P), (rs.MeanR, rs.R)])
def test_mean_over_cutoffs(mean: Any, one: Any, k: int) -> None:
    each = [per_user(one @ cutoff) for cutoff in range(1, k + 1)]
    assert per_user(mean @ k) == pytest.approx({u: sum(e[u] for e in each) / k for u in each[0]})


def test_hits_are_counted() -> None:
    assert per_user(rs.HitCount @ 3) == {"u1": 2, "u2": 1, "u3": 2, "u4": 0, "u6": 0}
    assert rs.evaluate(QRELS, RUN, ["HitCount@3"])["HitCount@3"] == pytest.approx(5 / 5)


def first_false(user: str, k: int) -> list[int]:
    """For each hit, how many of the first k items that are no hits stand below it."""
    flags = hits(user)
    return [max(k - flags[:at].count(0), 0) for at, hit in enumerate(flags) if hit]


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_partial_areas(k: int) -> None:
    expected = {u: sum(first_false(u, k)) / (k * len(LIKED[u])) for u in QRELS}
    assert per_user(rs.pAUC @ k) == pytest.approx(expected)
    expected = {u: sum(first_false(u, k)[:k]) / (k * min(k, len(LIKED[u]))) for u in QRELS}
    assert per_user(rs.pAP @ k) == pytest.approx(expected)


def test_partial_areas_by_hand() -> None:
    # u3: hits at 1, 3, 5 with 0, 1, 2 others above; six are liked
    assert per_user(rs.pAUC @ 2)["u3"] == (2 + 1 + 0) / (2 * 6)
    assert per_user(rs.pAP @ 2)["u3"] == (2 + 1) / (2 * 2)
    assert rs.metrics.parse("pAUC@2") == rs.pAUC(negatives=2)
    with pytest.raises(rs.InputError, match="needs negatives"):
        rs.evaluate(QRELS, RUN, ["pAUC"])


@pytest.mark.parametrize("k", [1, 3, 5])
def test_limited_area_is_the_mean_over_all_orders_below(k: int) -> None:
    """What is not in the top k, in every order that it could have, gives the same area on average."""
    rng = np.random.default_rng(k)
    metric = rs.LAUC(candidates=10) @ k
    for user, value in per_user(metric).items():
        top = SHOWN[user][:k]
        rest = [i for i in range(10) if i not in top]
        orders = [rng.permutation(rest).tolist() for _ in range(200)]
        # an order and its reverse together are in balance, so that a few pairs of orders give the mean
        areas = [
            rs.AUC().of([int(i in LIKED[user]) for i in [*top, *below]])
            for order in orders
            for below in (order, order[::-1])
        ]
        assert value == pytest.approx(sum(areas) / len(areas))


def test_limited_area_over_judged_documents() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    # a stands above both others; c and d share the place below, and b is above c
    assert rs.evaluate(qrels, {"q": {"a": 2.0, "b": 1.0}}, ["LAUC"])["LAUC"] == (2 + 0 + 1 / 2) / 4
    assert rs.evaluate(qrels, {"q": {"u": 2.0}}, ["LAUC"])["LAUC"] == 1 / 2
    with pytest.raises(rs.InputError, match="11 documents returned or judged"):
        rs.LAUC(candidates=10).of([1] + [0] * 10)


def test_reader_who_gives_up() -> None:
    grades = [0.2, 0.0, 0.5, 1.0]
    look, found = Fraction(1), Fraction(0)
    for grade in grades:
        found += look * Fraction(grade)
        look *= (1 - Fraction(grade)) * Fraction(0.85)
    assert rs.PFound().of(grades) == pytest.approx(float(found))
    # a document nobody judged costs patience and satisfies nobody
    assert rs.PFound().of([None, 1]) == rs.PFound().of([0, 1]) == 0.85
    assert rs.PFound(judged_only=True).of([None, 1]) == 1
    assert rs.PFound(decay=1).of([0.5, 0.5]) == 1 - 0.5 * 0.5
    with pytest.raises(rs.InputError, match="max_grade=1"):
        rs.PFound().of([2])


def test_reader_like_that_of_err() -> None:
    """ERR discounts by rank where PFound gives up; the chance of being satisfied is the same."""
    metric = rs.PFound(max_grade=3, stops="exponential")
    assert metric.of([3, 1]) == pytest.approx(7 / 8 + 1 / 8 * 0.85 * (1 / 8))


def test_mean_position() -> None:
    assert rs.RelevantPosition().of([0, 3, 1]) == (3 * 2 + 1 * 3) / 4
    assert math.isnan(rs.RelevantPosition().of([0, 0]))
    assert rs.metrics.parse("ARP") == rs.RelevantPosition()


def test_fall_out_and_recall_move_apart() -> None:
    labels = [1, 0, 0, 1, 0]
    assert [rs.FallOut(cutoff=k).of(labels) for k in (1, 2, 5)] == [0, 1 / 3, 1]
    assert (rs.FallOut @ 3).of([1, 1, None]) == 0
    # judged non-relevant documents that were not returned count below
    assert (rs.FallOut @ 1).of(["a"], judgments={"a": 0, "b": 0, "c": 1}) == 1 / 2


def test_laws_with_a_catalogue() -> None:
    check_metric("LAUC(candidates=60)@5")
