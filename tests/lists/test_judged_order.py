"""Judged documents are laid in one order, however many there are."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

from rankscope.lists import judged_order


@pytest.mark.parametrize("queries", [1, 7, 500, 3000])
@pytest.mark.parametrize("deepest", [40, 10**6, 10**15], ids=["short", "long", "beyond one number"])
@pytest.mark.parametrize(
    "grades", [[-1.0, 0.0, 0.5, 3.0], [-2.0, 0.0, 1.0, 3.0], [0.0, 1.0, 2.0**40]], ids=["parts", "whole", "far apart"]
)
def test_those_retrieved_stand_by_rank_and_the_rest_by_grade(queries: int, deepest: int, grades: list[float]) -> None:
    rng = np.random.default_rng(queries)
    size = rng.integers(0, 30, queries)
    query = np.repeat(np.arange(queries), size)
    # no two documents of a query at one rank; a third are at none
    ranks = [rng.choice(40, n, replace=False) * (deepest // 40) + 1 for n in size.tolist()]
    rank = np.fromiter(chain.from_iterable(ranks), np.int64) * (rng.random(len(query)) > 1 / 3)
    grade = rng.choice(grades, len(query))
    by = judged_order(query, rank, grade)
    rows = list(zip(query.tolist(), rank.tolist(), grade.tolist(), strict=True))
    wanted = sorted(
        range(len(rows)), key=lambda i: (rows[i][0], rows[i][1] or 10**18, 0.0 if rows[i][1] else -rows[i][2], i)
    )
    assert by.tolist() == wanted
