"""Pooled values: what each query adds, and what resampled queries have, against the metric itself on those queries."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.panels import pooled
from rankscope.panels.pooled import pool_of, sample_of_pool

RNG = Random(3)
IDS = [f"q{i:02}" for i in range(30)]
DOCS = [f"d{i}" for i in range(9)]
QRELS = {query: {doc: RNG.choice([0, 0, 1, 2, -1]) for doc in DOCS[:7]} for query in IDS}


def made(signal: float, seed: int) -> dict[str, dict[str, float]]:
    rng = Random(seed)
    return {
        q: {d: round(rng.random() + signal * QRELS[q].get(d, 0), 1) for d in DOCS[: rng.randint(3, 9)]} for q in IDS
    }


RUNS = {"one": made(0.1, 1), "two": made(0.5, 2)}
METRICS = ["AUC(pooled=True)", "AUC(level=2, pooled=True)", "GAUC(pooled=True)@4"]
USERS = {query: f"u{i % 7}" for i, query in enumerate(IDS)}


@pytest.mark.parametrize("metric", METRICS)
def test_what_queries_add_has_the_value_as_its_mean(metric: str) -> None:
    scores = rs.evaluate(QRELS, RUNS, metric)
    found = rs.compare(QRELS, RUNS, metric)
    for run in RUNS:
        assert found.panels[0].means[run] == pytest.approx(scores[run, metric], abs=1e-14)
    assert found["two", metric].difference == pytest.approx(scores["two", metric] - scores["one", metric], abs=1e-14)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_round_of_the_bootstrap_is_the_metric_on_the_queries_drawn(clustered: bool) -> None:
    metric = rs.parse("AUC(pooled=True)")
    (e,) = rs.evaluate(QRELS, RUNS["two"], metric).evaluations
    judged = e.judged[0]
    pool = pool_of(metric, judged, {query: i for i, query in enumerate(judged.query_id)})
    assert pool is not None
    clusters = np.arange(30) % 7 if clustered else None
    value = pool.statistic(clusters)
    assert value is not None
    groups = 7 if clustered else 30
    picked = np.random.default_rng(0).integers(groups, size=(20, groups))
    counts = np.stack([np.bincount(one, minlength=groups) for one in picked]).astype(float)
    for got, one in zip(value(counts), picked, strict=True):
        drawn = np.concatenate([np.flatnonzero(np.arange(30) % groups == group) for group in one])
        assert got == pytest.approx(metric.pool(judged.of(drawn)), abs=1e-12)


def test_the_spread_of_what_queries_add_is_that_of_the_jackknife() -> None:
    metric = rs.parse("AUC(pooled=True)")
    (e,) = rs.evaluate(QRELS, RUNS["two"], metric).evaluations
    judged, whole = e.judged[0], np.arange(30)
    pool = pool_of(metric, judged, {query: i for i, query in enumerate(judged.query_id)})
    assert pool is not None
    without = np.array([metric.pool(judged.of(np.delete(whole, i))) for i in range(30)])
    jackknife = float(np.sqrt(29 / 30 * ((without - without.mean()) ** 2).sum()))
    assert sample_of_pool(pool, None).error == pytest.approx(jackknife, rel=0.1)


@pytest.mark.parametrize("clusters", [None, USERS], ids=["queries", "clusters"])
def test_evaluate_compare_and_gate_say_the_same(clusters: dict[str, str] | None) -> None:
    metric = "AUC(pooled=True)"
    scores = rs.evaluate(QRELS, RUNS, metric, clusters=clusters)
    found = rs.compare(QRELS, RUNS, metric, clusters=clusters)
    for run in RUNS:
        mine, theirs = scores.bounds_of((run, metric)), found.panels[0].interval(run)
        assert (mine.lower, mine.upper) == (theirs.lower, theirs.upper)
        assert mine.method == "t"
    (check,) = rs.gate(QRELS, RUNS["one"], RUNS["two"], metric, clusters=clusters).checks
    c = found["two", metric]
    assert check.p_value == c.p_value
    assert (check.lower, check.upper) == (c.bounds.lower, c.bounds.upper)
    assert c.test == "t"
    turned = rs.compare(QRELS, RUNS, metric, clusters=clusters, baseline="two")["one", metric]
    assert (turned.bounds.lower, turned.bounds.upper, turned.p_value) == (-c.bounds.upper, -c.bounds.lower, c.p_value)
    assert rs.power(QRELS, RUNS, metric, clusters=clusters).reaches[0].difference == c.difference


def test_a_slice_is_the_comparison_of_its_queries() -> None:
    metric, inside = "AUC(pooled=True)", IDS[:18]
    kinds = {query: {"kind": "in" if query in inside else "out"} for query in IDS}
    found = rs.compare(QRELS, RUNS, metric, slices=kinds)
    assert found.slices is not None
    part = next(p.contrast for p in found.slices.contrasts if p.name == "in")
    alone = rs.compare(
        {q: QRELS[q] for q in inside}, {name: {q: run[q] for q in inside} for name, run in RUNS.items()}, metric
    )
    assert part.difference == pytest.approx(alone["two", metric].difference, abs=1e-14)
    assert part.p_value == alone["two", metric].p_value


def test_of_very_many_queries_what_they_add_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = "AUC(pooled=True)"
    exact = rs.compare(QRELS, RUNS, metric, interval="percentile")["two", metric]
    monkeypatch.setattr(pooled, "MOST", 10)
    linear = rs.compare(QRELS, RUNS, metric, interval="percentile")["two", metric]
    assert linear.difference == exact.difference
    assert linear.bounds.lower == pytest.approx(exact.bounds.lower, abs=0.03)
    assert linear.bounds.upper == pytest.approx(exact.bounds.upper, abs=0.03)


def test_what_was_stored_has_no_documents_to_pool() -> None:
    stored = rs.evaluate(QRELS, RUNS["one"], "AUC(pooled=True)")
    with pytest.raises(InputError, match="leave it out"):
        rs.gate(QRELS, stored, RUNS["two"], "AUC(pooled=True)")
    text = " ".join(rs.compare(QRELS, RUNS, "AUC(pooled=True)").to_text().split())
    assert "AUC(pooled=True): queries count as better or worse by their contributions" in text
