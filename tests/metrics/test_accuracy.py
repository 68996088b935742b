"""Pairs of a relevant and another retrieved document, counted one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics.pairs import Accuracy


def by_pairs(ranking: Sequence[float | None], level: float, cutoff: int | None) -> float:
    relevant = [grade is not None and grade >= level for grade in ranking[:cutoff]]
    pairs = [i < j for i, a in enumerate(relevant) for j, b in enumerate(relevant) if a and not b]
    return sum(pairs) / len(pairs) if pairs else math.nan


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("cutoff", [None, 1, 3, 10])
def test_every_pair(level: int, cutoff: int | None) -> None:
    rng = np.random.default_rng(8)
    grades = (None, -1, 0, 1, 2)
    for _ in range(200):
        ranking = [grades[i] for i in rng.integers(len(grades), size=int(rng.integers(0, 15))).tolist()]
        got = Accuracy(level=level, cutoff=cutoff).of(ranking)
        assert got == pytest.approx(by_pairs(ranking, level, cutoff), abs=1e-12, nan_ok=True), ranking


def test_a_query_without_a_pair_is_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 1.0}}
    scores = rs.evaluate(qrels, run, ["Accuracy"])
    (mean,) = scores.board
    assert (mean.value, mean.queries, mean.undefined) == (1.0, 1, 2)


def test_what_nobody_judged_counts_as_not_relevant_here_and_not_in_auc() -> None:
    assert Accuracy().of([None, 1, 0]) == 1 / 2
    assert rs.AUC().of([None, 1, 0]) == 1
