"""The order in which judged documents are laid end to end: the fast ways give that of one sort by three numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rankscope.lists import judged_order

GRADES = {
    "whole": np.arange(-2, 5).astype(float),
    "parts": np.array([-1, 0.0, 0.25, 0.5, 3]),
    "far apart": np.array([0, 1.0, 2.0**40, 1e60]),
    "one": np.array([1.0]),
}


@pytest.mark.parametrize("kind", GRADES)
@pytest.mark.parametrize("count", [1, 50, 20_000])
def test_documents_lie_by_query_rank_and_grade(kind: str, count: int) -> None:
    random = np.random.default_rng(count)
    query = np.sort(random.integers(0, 1 + count // 20, count))
    grade = random.choice(GRADES[kind], count)
    rank = np.where(random.random(count) < 0.4, random.permutation(count) + 1, 0)
    expected = np.lexsort((np.arange(count), -grade * (rank == 0), np.where(rank > 0, rank, count + 1), query))
    assert judged_order(query, rank, grade).tolist() == expected.tolist()
