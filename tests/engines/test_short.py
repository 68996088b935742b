"""Short rankings are compared row by row, and others by sorting: what is found is the same."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from rankscope.engines import local
from rankscope.engines.base import Order
from rankscope.tables import Qrels, Run

ORDER = Order(cutoffs=(5,))
LENGTHS = {"all of one length": (20, 20), "of any length": (1, 40), "a row each": (1, 1)}


def world(shortest: int, longest: int, queries: int = 400) -> tuple[Run, Qrels]:
    """Queries in the run alone, in the judgments alone, and in both, which name them in different orders."""
    draws = np.random.default_rng(3)
    run, judged = [], []
    for query in range(queries):
        docs = draws.choice(60, int(draws.integers(shortest, longest + 1)), replace=False)
        if query % 7:
            run += [(f"q{query}", f"d{doc}", float(100 - i)) for i, doc in enumerate(docs.tolist())]
        if query % 5:
            judged += [(f"q{query}", f"d{doc}", float(doc % 4)) for doc in draws.choice(60, 3, replace=False).tolist()]
    rows = pl.DataFrame(run, schema=["query_id", "doc_id", "score"], orient="row")
    grades = pl.DataFrame(judged, schema=["query_id", "doc_id", "grade"], orient="row")
    by = pl.Series([-int(query[1:]) if int(query[1:]) > 200 else int(query[1:]) for query in grades["query_id"]])
    return Run(rows), Qrels(grades[by.arg_sort().to_numpy()]).by_query()


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("batch", [7, 1 << 13])
def test_both_ways_find_the_same(lengths: str, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run, qrels = world(*LENGTHS[lengths])
    monkeypatch.setattr(local, "SHORT", 0)
    sorted_way = local.judge(run, qrels, ORDER)
    monkeypatch.setattr(local, "SHORT", 64)
    monkeypatch.setattr(local, "BY_CELLS", 1 << 30)
    monkeypatch.setattr(local, "AT_ONCE", batch)
    compared = local.judge(run, qrels, ORDER)
    assert compared[1] == sorted_way[1]
    for name in ("rank", "grade", "retrieved", "in_run", "tie_start"):
        assert getattr(compared[0], name).tolist() == getattr(sorted_way[0], name).tolist()
    assert (compared[0].rank > 0).any()


def test_documents_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}))
    qrels = Qrels(pl.DataFrame({"query_id": ["q"] * 2, "doc_id": ["c", "x"], "grade": [1.0, 1.0]}))
    for table in (run, qrels):
        table.__dict__["doc_hash"] = np.full(table.frame.height, 77, dtype=np.uint64)
    monkeypatch.setattr(local, "BY_CELLS", 1 << 30)
    judged, _ = local.judge(run, qrels, ORDER)
    assert sorted(judged.rank.tolist()) == [0, 3]
