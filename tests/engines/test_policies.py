"""What is done with rows before they are ranked, and every metric over both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.made.samples import amount

import rankscope as rs
from rankscope.engines import mappings
from rankscope.engines.base import SEVERAL, Order
from rankscope.metrics import CATALOGUE, parse, parse_many
from rankscope.testing.cases import top_grade

Rows = list[tuple[str, str, float]]
TEXT = {"query_id": pl.String, "doc_id": pl.String}
DOCS = ("q1", "q2", "a", "b", "c", "d", "e")

run_rows = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.sampled_from(DOCS), st.sampled_from([0.0, 0.5, 1.0, 2.0])),
    min_size=1,
    max_size=25,
)
qrels_rows = st.lists(
    st.tuples(st.sampled_from(["q1", "q2", "q4"]), st.sampled_from(DOCS), st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0])),
    min_size=1,
    max_size=20,
)
METRICS = [
    *dict.fromkeys(parse(example.metric) for cls in CATALOGUE.values() for example in cls.examples),
    *(
        metric
        for _, metric in parse_many("nDCG P.2 R@3 AP@3 RR@2 nDCG(gain=exponential)@3 AUC(pooled=True) GAUC infAP")
    ),
]
METRICS = [
    metric
    for metric in METRICS
    if not metric.needs & SEVERAL and top_grade(metric) >= 2 and not hasattr(metric, "candidates")
]  # the former are read from tables alone


def frame(rows: Rows, value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TEXT | {value: pl.Float64}, orient="row")


def values(qrels: Any, run: Any, **policy: Any) -> dict[Any, Any]:
    """Every metric of every query, undefined ones as None, and the means."""
    scores = rs.evaluate(qrels, run, METRICS, **policy)
    one = scores.runs[0]
    out: dict[Any, Any] = {
        (query, str(metric)): None if np.isnan(value) else value
        for metric, column in one.values.items()
        for query, value in zip(one.query_ids, column.tolist(), strict=True)
    }
    return out | {str(mean.metric): None if np.isnan(mean.value) else mean.value for mean in scores.board}


def as_dict(rows: Rows) -> dict[str, dict[str, float]]:
    out: dict[str, dict[str, float]] = {}
    for query, doc, value in rows:
        out.setdefault(query, {})[doc] = value
    return out


def first(rows: Rows) -> Rows:
    """The rows without those whose pair stood above."""
    return [row for i, row in enumerate(rows) if row[:2] not in [other[:2] for other in rows[:i]]]


def best(rows: Rows) -> Rows:
    """Of each pair the row of the highest value; of equal ones the first."""
    kept = []
    for i, row in enumerate(rows):
        others = [(j, other[2]) for j, other in enumerate(rows) if other[:2] == row[:2]]
        if all(value < row[2] or (value == row[2] and j >= i) for j, value in others):
            kept.append(row)
    return kept


def share_a_query(run: Rows, qrels: Rows) -> bool:
    return not {row[0] for row in run}.isdisjoint(row[0] for row in qrels)


ties = st.sampled_from(["trec", "docid", "input"])


@settings(max_examples=amount(10, 60), deadline=None)
@given(run_rows, qrels_rows, ties, st.sampled_from([None, 1, 3]), st.sampled_from(["judged", "run", "both"]))
def test_every_metric_has_the_same_bits_from_both_engines(
    run: Rows, qrels: Rows, ties: Any, depth: int | None, queries: Any
) -> None:
    run, qrels = first(run), first(qrels)
    if share_a_query(run, qrels):
        said = {"ties": ties, "depth": depth, "queries": queries}
        mapped = values(as_dict(qrels), as_dict(run), **said)
        assert mapped == values(frame(qrels, "grade"), frame(run, "score"), **said)
        assert mapped == values(as_dict(qrels), frame(run, "score"), **said)
        assert mapped == values(frame(qrels, "grade"), as_dict(run), **said)


@settings(max_examples=amount(10, 60), deadline=None)
@given(run_rows, qrels_rows, ties, st.sampled_from([("first", first), ("best", best)]))
def test_duplicates(run: Rows, qrels: Rows, ties: Any, policy: tuple[Any, Callable[[Rows], Rows]]) -> None:
    name, naive = policy
    if share_a_query(run, qrels):
        kept = values(frame(qrels, "grade"), frame(run, "score"), ties=ties, duplicates=name)
        assert kept == values(frame(naive(qrels), "grade"), frame(naive(run), "score"), ties=ties)
        if len(first(run)) < len(run):
            with pytest.raises(rs.InputError, match="ranked twice"):
                rs.evaluate(as_dict(qrels), frame(run, "score"), METRICS, ties=ties)
        if len(first(qrels)) < len(qrels):
            with pytest.raises(rs.InputError, match="judged twice"):
                rs.evaluate(frame(qrels, "grade"), as_dict(run), METRICS, ties=ties)


def test_of_equally_good_duplicates_the_first_is_kept() -> None:
    """In a run long enough that a sort which forgets the order of equals would show."""
    rng = np.random.default_rng(9)
    docs, scores = rng.integers(0, 1500, 5000).tolist(), rng.integers(0, 2, 5000).tolist()
    run = [("q", f"d{doc}", float(score)) for doc, score in zip(docs, scores, strict=True)]
    kept: dict[str, tuple[int, float]] = {}
    for row, (_, doc, score) in enumerate(run):
        if doc not in kept or score > kept[doc][1]:
            kept[doc] = (row, score)
    naive: Rows = [("q", doc, score) for doc, (_, score) in sorted(kept.items(), key=lambda item: item[1][0])]
    qrels = {"q": {f"d{i}": float(grade) for i, grade in enumerate(rng.integers(0, 3, 1500).tolist())}}
    one = values(qrels, frame(run, "score"), ties="input", duplicates="best")
    assert one == values(qrels, frame(naive, "score"), ties="input")


def test_first_and_best_differ() -> None:
    run = frame([("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0)], "score")
    qrels = {"q": {"a": 1}}
    assert rs.evaluate(qrels, run, ["RR"], duplicates="first")["RR"] == 1 / 2
    assert rs.evaluate(qrels, run, ["RR"], duplicates="best")["RR"] == 1
    assert rs.evaluate(qrels, run, ["RR"], duplicates="first").runs[0].health.duplicates == 1
    judged = frame([("q", "a", 1.0), ("q", "b", 1.0), ("q", "a", 3.0)], "grade")
    ranked = {"q": {"a": 2.0, "b": 1.0}}
    assert rs.evaluate(judged, ranked, ["CG@1"], duplicates="first")["CG@1"] == 1
    assert rs.evaluate(judged, ranked, ["CG@1"], duplicates="best")["CG@1"] == 3


@settings(max_examples=amount(10, 60), deadline=None)
@given(run_rows, qrels_rows, st.sampled_from(["dicts", "frames"]))
def test_documents_that_are_their_own_query(run: Rows, qrels: Rows, shape: str) -> None:
    run, qrels = first(run), first(qrels)
    without = [row for row in run if row[0] != row[1]]
    if share_a_query(without, qrels):
        inputs = (as_dict(qrels), as_dict(run)) if shape == "dicts" else (frame(qrels, "grade"), frame(run, "score"))
        assert values(*inputs, self_match="drop") == values(as_dict(qrels), as_dict(without))
        assert rs.evaluate(*inputs, self_match="drop").runs[0].health.self_matches == len(run) - len(without)
        assert values(*inputs) == values(as_dict(qrels), as_dict(run))


@settings(max_examples=100, deadline=None)
@given(run_rows, qrels_rows, ties, st.sampled_from([None, 2, 4]))
def test_condensed_lists_are_lists_without_what_nobody_graded(
    run: Rows, qrels: Rows, ties: Any, cutoff: int | None
) -> None:
    """Both unjudged documents and those with a negative grade are removed, as by trec_eval -J."""
    ranked, judged = as_dict(first(run)), as_dict(first(qrels))
    graded = {q: {d: s for d, s in docs.items() if judged.get(q, {}).get(d, -1) >= 0} for q, docs in ranked.items()}
    whole, _ = mappings.judge(ranked, judged, Order(ties))
    removed, _ = mappings.judge(graded, judged, Order(ties))
    every = np.arange(len(whole))
    one = whole.lists(every).condensed.top(cutoff)
    two = removed.lists(every).top(cutoff)
    np.testing.assert_array_equal(one.retrieved, two.retrieved)
    for name in ("grade", "rank", "tie_start", "tie_size"):
        for row in every.tolist():
            here, there = getattr(one, name)[row][one.shown[row]], getattr(two, name)[row][two.shown[row]]
            assert here.tolist() == there.tolist(), (name, row)
    if share_a_query(run, qrels):
        asked = [m for m in METRICS if hasattr(m, "judged_only")]
        condensed = rs.evaluate(judged, ranked, [m.having(judged_only=True) for m in asked], ties=ties)
        plainly = rs.evaluate(judged, graded, asked, ties=ties)
        for metric in asked:
            np.testing.assert_array_equal(
                condensed.runs[0].values[metric.having(judged_only=True)], plainly.runs[0].values[metric], str(metric)
            )


def test_enough_metrics() -> None:
    assert len(METRICS) >= 30
    assert sum(hasattr(m, "judged_only") for m in METRICS) >= 15
