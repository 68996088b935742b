"""What a relevant document at each rank adds, where a metric is a sum over ranks, and why others have no such weight."""

from __future__ import annotations

from math import log2

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.metrics.rank_weights import weights_of


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("RR", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("P@2", [1, 1, 0, 0]),
        ("nDCG@3", [1, 1 / log2(3), 1 / log2(4), 0]),
        ("RBP(p=0.5)", [1, 1 / 2, 1 / 4, 1 / 8]),
        ("AP", [1, 1 / 2, 1 / 3, 1 / 4]),
    ],
)
def test_weights_are_shares_of_the_first_rank(name: str, weights: list[float]) -> None:
    assert weights_of(rs.parse(name), 4).tolist() == pytest.approx(weights, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("YAAP", "its value is a transformation of a sum, and goes below 0"),
        ("SetP", "it ignores the order, so a document counts the same at every rank"),
        ("RBPResidual", "lower values are better"),
        ("Unjudged@10", "it has no better direction"),
        ("Prefs", "the earnings of a document depend on the number of documents below it, not only on its rank"),
        ("AUC(pooled=True)", "it is one value over the documents of all queries together"),
    ],
)
def test_why_a_metric_has_no_weights(name: str, why: str) -> None:
    metric = rs.parse(name)
    with pytest.raises(InputError) as told:
        weights_of(metric, 20)
    assert str(told.value) == f"{metric} has no weight by rank: {why}; RR, nDCG@10 or RBP have weights"
