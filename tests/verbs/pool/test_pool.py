"""The pool: each run without what it alone found is the evaluation without those judgments; orders by Kendall's tau."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.errors import InputError
from rankscope.lists.overlap import kendall

RNG = Random(11)
DOCS = [f"d{i:02}" for i in range(30)]
QRELS = {f"q{i}": {doc: RNG.choice([0, 0, 1, 2]) for doc in RNG.sample(DOCS, 18)} for i in range(6)}
RUNS = {
    name: {query: {doc: RNG.random() for doc in RNG.sample(DOCS, 12)} for query in QRELS} for name in ("a", "b", "c")
}
METRICS = ["nDCG@10", "AP", "R@12", "Judged@5"]


@pytest.mark.parametrize("depth", [3, 100])
def test_a_run_left_out_is_scored_without_the_judgments_of_what_it_alone_found(depth: int) -> None:
    found = rs.pool(QRELS, RUNS, METRICS, pool_depth=depth)
    tops = {
        name: {
            (q, doc)
            for q, docs in run.items()
            for doc in sorted(docs, key=lambda d: -docs[d])[:depth]
            if doc in QRELS[q]
        }
        for name, run in RUNS.items()
    }
    for name, run in RUNS.items():
        own = tops[name].difference(*(top for other, top in tops.items() if other != name))
        part = next(one for one in found.contributions if one.run == name)
        assert (part.judged, part.own) == (len(tops[name]), len(own))
        assert part.own_relevant == sum(QRELS[q][doc] >= 1 for q, doc in own)
        kept = {q: {doc: g for doc, g in docs.items() if (q, doc) not in own} for q, docs in QRELS.items()}
        alone, whole = rs.evaluate(kept, run, METRICS), rs.evaluate(QRELS, run, METRICS)
        for one in (one for one in found.left_out if one.run == name):
            assert (one.value, one.without) == (whole[str(one.metric)], alone[str(one.metric)])
            if one.metric == rs.parse("Judged@5"):
                assert one.rank is None
                continue
            others = [rs.evaluate(QRELS, RUNS[other], METRICS)[str(one.metric)] for other in RUNS if other != name]
            assert one.rank_without == 1 + sum(value > one.without for value in others)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9))
def test_tau_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    one, two = zip(*pairs, strict=True)
    theirs = float(stats.kendalltau(one, two).statistic)
    assert kendall(one, two) == pytest.approx(theirs, nan_ok=True)


def test_orders_of_metrics() -> None:
    found = rs.pool(QRELS, RUNS, METRICS)
    assert [(str(one.metric), str(one.other)) for one in found.agreements] == [
        ("nDCG@10", "AP"), ("nDCG@10", "R@12"), ("AP", "R@12"),
    ]  # fmt: skip
    assert [str(metric) for metric, _ in found.orders] == METRICS[:3]
    document = json.loads(found.to_json())
    assert [row["tau"] for row in document["agreements"]] == [
        None if math.isnan(a.tau) else a.tau for a in found.agreements
    ]
    assert document["pool_depth"] == 100
    assert "how far metrics order the systems alike" in found.to_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"runs": RUNS["a"]}, "give two or more", id="one run"),
        pytest.param({"pool_depth": 0}, "at least 1", id="no depth"),
        pytest.param({"pool_depth": "ten"}, "at least 1", id="a word"),
        pytest.param({"depht": 3}, "depht", id="no such option"),
    ],
)
def test_what_is_wrong_is_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        rs.pool(QRELS, **{"runs": RUNS, "metrics": METRICS} | given)


def test_the_run_that_would_change_most_is_named() -> None:
    found = rs.pool(QRELS, RUNS, METRICS)
    changes = {
        (one.run, str(one.metric)): abs(one.without - one.value) for one in found.left_out if one.rank is not None
    }
    run, metric = max(changes, key=changes.__getitem__)
    assert len(set(changes.values())) > 1
    assert next(iter(found.sentences())).startswith(f"Left out of the pool, {run} would change most: {metric} from ")
