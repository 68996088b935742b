"""Pairs of a better and a worse document: published examples, weightings, ties, and pairs counted one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rankscope as rs

Groups = dict[str, tuple[list[int], list[float]]]

# published examples of grouped areas under the curve, labels and scores
THREE_USERS: Groups = {
    "u1": ([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3]),
    "u2": ([1, 0, 0, 1], [0.6, 0.7, 0.4, 0.5]),
    "u3": ([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.1]),
}
APART: Groups = {"u1": ([1, 1, 1, 0], [0.9, 0.8, 0.7, 0.95]), "u2": ([1, 0, 0, 0], [0.1, 0.2, 0.25, 0.3])}
TWO_SIZES: Groups = {"u1": ([1, 0, 1, 0], [0.9, 0.2, 0.8, 0.3]), "u2": ([1, 1, 0], [0.1, 0.2, 0.3])}
# a group without ties, one with, and two of one class only: 5/6 and (3 + 2 halves) / 12
MIXED: Groups = {
    "g1": ([1, 0, 1, 0, 0], [0.9, 0.7, 0.5, 0.3, 0.1]),
    "g2": ([1, 1, 0, 0, 0, 0, 0, 0], [0.5, 0.2, 0.9, 0.8, 0.7, 0.5, 0.2, 0.1]),
    "negative": ([0, 0, 0], [0.6, 0.4, 0.2]),
    "positive": ([1, 1], [0.6, 0.4]),
}


def evaluate_request(groups: Groups, *metrics: Any) -> rs.Scores:
    qrels = {q: {f"d{i}": g for i, g in enumerate(labels)} for q, (labels, _) in groups.items()}
    run = {q: {f"d{i}": s for i, s in enumerate(scores)} for q, (_, scores) in groups.items()}
    return rs.evaluate(qrels, run, list(metrics))


def test_mean_over_lists_of_one_length() -> None:
    assert evaluate_request(THREE_USERS, "GAUC")["GAUC"] == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_one_curve_misleads_where_users_differ() -> None:
    scores = evaluate_request(APART, "AUC(pooled=True)", "GAUC")
    assert scores["AUC(pooled=True)"] == pytest.approx((3 * 3) / (4 * 4))  # u1's 3 beat u2's 3, and none u1's own
    assert scores["GAUC"] == 0


@pytest.mark.parametrize(
    ("weights", "expected"),
    [("length", (4 * 1 + 3 * 0) / 7), ("equal", 1 / 2), ("positives", 2 / 4), ("pairs", 4 / (4 + 2))],
)
def test_weights(weights: Any, expected: float) -> None:
    metric = rs.GAUC(weights=weights)
    assert evaluate_request(TWO_SIZES, metric)[metric] == pytest.approx(expected)


FIRST, SECOND = 5 / 6, (3 + 2 / 2) / 12


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("AUC", (FIRST + SECOND) / 2),
        ("GAUC(weights='equal')", (FIRST + SECOND) / 2),
        ("GAUC", (5 * FIRST + 8 * SECOND) / 13),
        ("GAUC(weights='positives')", (2 * FIRST + 2 * SECOND) / 4),
        ("GAUC(weights='pairs')", (5 + 4) / (6 + 12)),
        ("OPA(weights='pairs')", (5 + 4) / (6 + 12)),
        ("OPA(weights='pairs', tied=0)", (5 + 3) / (6 + 12)),
        ("AUC(single_class=0.5)", (FIRST + SECOND + 0.5 + 0.5) / 4),
        ("AUC(single_class=0)", (FIRST + SECOND) / 4),
        ("AUC(single_class=1)", (FIRST + SECOND + 2) / 4),
        ("GAUC(single_class=0)", (5 * FIRST + 8 * SECOND) / 18),
        ("GAUC(weights='pairs', single_class=1)", (5 + 4) / (6 + 12)),
    ],
)
def test_every_way_to_average(metric: str, expected: float) -> None:
    scores = evaluate_request(MIXED, metric)
    assert scores[metric] == pytest.approx(expected)
    assert scores.board[0].undefined == (0 if "single_class" in metric else 2)


@pytest.mark.parametrize(
    ("metric", "published"),
    [("AUC", 0.5833), ("GAUC", 0.5256), ("GAUC(weights='positives')", 0.5833), ("GAUC(weights='pairs')", 0.5),
     ("AUC(single_class=0.5)", 0.5417), ("AUC(single_class=0)", 0.2917)],
)  # fmt: skip
def test_figures_that_tools_print(metric: str, published: float) -> None:
    assert evaluate_request(MIXED, metric)[metric] == pytest.approx(published, abs=5e-5)


def by_hand(grades: list[float], scores: list[float], tied: float) -> float:
    """The share of pairs in order, pair by pair."""
    right = Fraction(0)
    pairs = 0
    for (g, s), (h, t) in combinations(zip(grades, scores, strict=True), 2):
        if g != h:
            pairs += 1
            better, worse = (s, t) if g > h else (t, s)
            right += 1 if better > worse else Fraction(tied) if better == worse else 0
    return float(right / pairs) if pairs else math.nan


@pytest.mark.parametrize("tied", [0, 0.5, 1])
@pytest.mark.parametrize("grades", [2, 3, 5, 30])
def test_pairs_one_by_one(grades: int, tied: float) -> None:
    rng = np.random.default_rng(grades)
    lists = [
        (rng.integers(0, grades, size=n).astype(float).tolist(), rng.integers(0, 9, size=n).astype(float).tolist())
        for n in rng.integers(0, 40, size=60).tolist()
    ]
    metric = rs.OPA(tied=tied)
    got = metric.of([g for g, _ in lists], scores=[s for _, s in lists])
    assert got.tolist() == pytest.approx([by_hand(g, s, tied) for g, s in lists], nan_ok=True)
    if grades == 2 and tied == 0.5:
        auc = rs.AUC().of([g for g, _ in lists], scores=[s for _, s in lists])
        assert got.tolist() == pytest.approx(auc.tolist(), nan_ok=True)


def test_real_numbers_as_grades() -> None:
    rng = np.random.default_rng(5)
    grades, scores = rng.random(200).tolist(), rng.random(200).tolist()
    assert rs.OPA().of(grades, scores=scores) == pytest.approx(by_hand(grades, scores, 0.5))


def test_only_what_is_judged_and_retrieved_is_paired() -> None:
    qrels = {"q": {"a": 1, "b": 0, "missed": 2, "pooled": -1}}
    run = {"q": {"unjudged": 9.0, "a": 3.0, "pooled": 2.0, "b": 1.0}}
    scores = rs.evaluate(qrels, run, ["AUC", "OPA", "LAUC"])
    assert scores["AUC"] == scores["OPA"] == 1
    # the relevant document that was missed ties with nobody: the only non-relevant one is above it
    assert scores["LAUC"] == pytest.approx(1 / 2)


def test_area_of_the_top_of_the_list() -> None:
    ranking = [1, 0, 1, 0, 1]
    assert rs.AUC(cutoff=3).of(ranking) == 1 / 2
    assert math.isnan((rs.AUC @ 1).of(ranking))
    assert rs.AUC(single_class=1, cutoff=1).of(ranking) == 1
    pooled = rs.AUC(pooled=True, cutoff=3)
    assert evaluate_request({"q": (ranking, [5.0, 4.0, 3.0, 2.0, 1.0])}, pooled)[pooled] == 1 / 2


def test_one_curve_of_one_class_only() -> None:
    one: Groups = {"q": ([1, 1], [2.0, 1.0])}
    assert math.isnan(evaluate_request(one, "AUC(pooled=True)")["AUC(pooled=True)"])
    metric = rs.AUC(pooled=True, single_class=0.5)
    assert evaluate_request(one, metric)[metric] == 0.5


@pytest.mark.parametrize("value", ["left out", -0.5, 2])
def test_refused(value: Any) -> None:
    with pytest.raises(rs.InputError, match="single_class"):
        rs.AUC(single_class=value)
