"""The reference formulas give the numbers of textbooks: arithmetic by hand."""

from __future__ import annotations

from math import log2

import pytest
from tests.reference import formulas as f


@pytest.mark.parametrize(
    ("value", "by_hand"),
    [
        pytest.param(f.ndcg([3, 2, 0, 1], [3, 2, 0, 1], cutoff=3), (3 + 2 / log2(3)) / (3 + 2 / log2(3) + 1 / 2), id="nDCG at 3"),
        pytest.param(f.ndcg([2, 3, 0], [2, 3, 0], exponential=True, cutoff=3), (3 + 7 / log2(3)) / (7 + 3 / log2(3)), id="nDCG with exponential gain"),
        pytest.param(f.ndcg([None, -1], [-1, 0]), 0.0, id="nDCG of nothing relevant"),
        pytest.param(f.average_precision([1, 0, 1, 0, 0, 1], [1, 0, 1, 0, 0, 1]), (1 + 2 / 3 + 3 / 6) / 3, id="AP"),
        pytest.param(f.average_precision([1], [1, 1]), 1 / 2, id="AP where one is missed"),
        pytest.param(f.reciprocal_rank([0, None, 2]), 1 / 3, id="RR"),
        pytest.param(f.precision([1, None], 5), 1 / 5, id="P beyond the end"),
        pytest.param(f.recall([1, 0, 1], [1, 1, 1, 1], 2), 1 / 4, id="R"),
        pytest.param(f.r_precision([1, 0, 1, 1], [1, 0, 1, 1]), 2 / 3, id="Rprec"),
        pytest.param(f.success([0, 1], 1), 0.0, id="Success"),
        pytest.param(f.expected_reciprocal_rank([3, 0, 2], max_grade=3), 7 / 8 + (1 / 8) * (3 / 8) / 3, id="ERR"),
        pytest.param(f.rank_biased_precision([1, 0, 1], p=0.5), 0.5 * (1 + 0.25), id="RBP"),
        pytest.param(f.bpref([1, 0, 1], [1, 0, 1]), (1 + (1 - 1 / 1)) / 2, id="Bpref"),
        pytest.param(f.area_under_curve([(4, 1), (3, 0), (2, 1), (1, 0)]), 3 / 4, id="AUC"),
        pytest.param(f.area_under_curve([(1, 1), (1, 0)]), 1 / 2, id="AUC of a tie"),
        pytest.param(f.area_under_curve([(1, 1), (0, -1)]), None, id="AUC of one class"),
    ],
)  # fmt: skip
def test_by_hand(value: float | None, by_hand: float | None) -> None:
    assert value == (by_hand if by_hand is None else pytest.approx(by_hand, abs=1e-15))


def test_orders_of_equal_scores() -> None:
    documents = {"b": (1.0, 1), "a": (1.0, 3), "c": (2.0, 2)}
    assert f.order(documents, "trec") == ["c", "b", "a"]
    assert f.order(documents, "docid") == ["c", "a", "b"]
    assert f.order(documents, "input") == ["c", "b", "a"]
    assert f.order(documents, "rank") == ["b", "c", "a"]
