"""Metrics derived from those asked for have the values that ``evaluate`` gives them, under every policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.metrics import parse
from rankscope.verbs.check.case import Alternative
from rankscope.verbs.check.check import check


def drawn(seed: int, queries: int = 12, docs: int = 30) -> tuple[Any, Any]:
    """Judgments with grades and holes; two runs with ties, one of which misses a query and has another without judgments."""
    draws = np.random.default_rng(seed)
    qrels = {
        f"q{i}": {f"d{j}": int(draws.choice([-1, 0, 0, 1, 2, 3])) for j in range(docs) if draws.random() < 0.6}
        for i in range(queries)
    }
    qrels["q0"] = {"d0": 0, "d1": 0}
    runs = {
        name: {
            f"q{i}": {f"d{j}": float(draws.integers(0, 12)) for j in range(docs) if draws.random() < 0.8}
            for i in range(first, queries + 1)
        }
        for name, first in (("one", 0), ("two", 2))
    }
    return qrels, runs


POLICIES: list[dict[str, Any]] = [
    {},
    {"ties": "docid", "queries": "both"},
    {"ties": "expected"},
    {"ties": "best"},
    {"queries": "run"},
    {"queries": "either", "depth": 7},
    {"queries": ["q1", "q2", "q5"]},
    {"no_relevant": "skip"},
    {"nothing_found": "skip"},
    {"mean": "micro"},
    {"weights": {f"q{i}": float(i + 1) for i in range(12)}},
]
PAIRS = [
    ("nDCG@5", "nDCG(gain='exponential')@5"),
    ("nDCG@5", "nDCG(ideal='retrieved_topk')@3"),
    ("AP", "AP(level=2)@10"),
    ("P@5", "nDCG(discount='none')@5"),
    ("AP", "AP"),
]


@pytest.mark.parametrize("policy", POLICIES)
def test_derived_means_are_those_of_evaluate(policy: dict[str, Any]) -> None:
    qrels, runs = drawn(7)
    case = check(qrels, runs, ["nDCG@5", "AP", "P@5"], select=["RS104"], **policy).case
    means = case.other_means([(parse(asked), parse(other)) for asked, other in PAIRS])
    for _, other in PAIRS:
        for name in runs:
            scores = rs.evaluate(qrels, runs, other, **policy)
            assert means[parse(other)][name] == scores[name, other], (other, name)


def test_weights_of_a_metric_come_with_it() -> None:
    qrels, runs = drawn(3)
    case = check(qrels, runs, ["AUC(pooled=True)", "AUC"], select=["RS104"]).case
    for asked, other in (("AUC(pooled=True)", "GAUC"), ("AUC", "GAUC(weights='pairs')"), ("AUC", "AUC(pooled=True)@5")):
        means = case.other_means([(parse(asked), parse(other))])
        assert means[parse(other)]["one"] == rs.evaluate(qrels, runs, other)["one", other]


def test_what_cannot_be_computed_is_empty() -> None:
    qrels, runs = drawn(1)
    case = check(qrels, runs, ["nDCG@5"], select=["RS104"]).case
    assert case.other_means([(parse("nDCG@5"), parse("ERR(max_grade=1)"))]) == {}
    assert case.other_means([]) == {}
    lonely = check(qrels, {"x": {"zz": {"d": 1.0}}}, ["nDCG@5"], select=["RS104"]).case
    assert lonely.other_means([(parse("nDCG@5"), parse("nDCG@3"))]) == {}


def test_values_follow_the_queries_of_the_run() -> None:
    qrels, runs = drawn(5)
    case = check(qrels, runs, ["nDCG@5", "AP"], select=["RS104"], queries="both").case
    for run in case.scored_runs:
        for metric in case.metrics:
            values = run.of_lists(metric, metric.score)
            known = ~np.isnan(run.values[metric])
            assert (values[known] == run.values[metric][known]).all()


def test_in_a_dialect_metrics_stay_with_their_conventions() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0}}
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}
    case = check(qrels, run, ["nDCG@5", "MAP@5"], select=["RS104"], dialect="lightgbm").case
    for metric in case.metrics:
        means = case.other_means([(metric, metric)])
        assert means[metric] == case.means(metric)


def test_where_another_run_leads() -> None:
    def between(now: dict[str, float], then: dict[str, float]) -> Alternative:
        return Alternative(parse("AP"), parse("nDCG"), now, then)

    found = between({"a": 0.5, "b": 0.4, "c": 0.1}, {"a": 0.3, "b": 0.2, "c": 0.6})
    assert found.winners == "a leads on AP (0.5000 vs 0.1000) and c on nDCG (0.6000 vs 0.3000)"
    assert found.most == ("c", 0.6 - 0.1)
    assert not between({"a": 0.5, "b": 0.4}, {"a": 0.5, "b": 0.4}).winners
    assert not between({"a": 0.5, "b": 0.5}, {"a": 0.1, "b": 0.4}).winners  # nobody led
    assert between({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 3.0, "b": 1.0, "c": 2.0}).swaps == [("b", "c")]
