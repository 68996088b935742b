"""A request is written down and read again as what it is."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

import rankscope as rs
from rankscope.metrics import CATALOGUE
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.request import Request
from rankscope.sharding.partial import partition_of, request_of, terms_of


def again(request: Request) -> Request:
    """The request after it was written as JSON."""
    return request_of(json.loads(json.dumps(terms_of(request))))


def said(request: Request) -> tuple[Any, ...]:
    """All that a request asks."""
    weights, queries = request.policies.weights, request.policies.queries
    by_query = None if weights is None else dict(weights.by_query)
    metrics = [(m.spelling, m.metric, m.convention) for m in request.metrics]
    return metrics, request.conventions(), by_query, queries, request.orders, dict(request.facts)


@pytest.mark.parametrize("name", sorted({cls.__name__ for cls in CATALOGUE.values()}))
def test_every_metric_can_be_written_down(name: str) -> None:
    metrics: list[Any] = [CATALOGUE[name]]
    with suppress(rs.InputError, TypeError):
        metrics.append(CATALOGUE[name]() @ 7)
    for metric in metrics:
        try:
            request = Request.of([metric])
        except (rs.InputError, TypeError):  # it needs a parameter
            continue
        assert said(again(request)) == said(request)


@pytest.mark.parametrize(
    ("policy", "value"), [(p.name, value) for p in POLICIES.values() for value in p.values if value != "list"]
)
def test_every_value_of_a_policy_can_be_written_down(policy: str, value: Any) -> None:
    chunks = {"fold_by": "#.*"} if policy.startswith("fold_") else {}
    metrics = ["Sampled(metric='P@5', items=100)"] if value == "sampled" else ["nDCG@10", "P@5"]
    request = Request.of(metrics, {policy: value, **chunks})
    assert said(again(request)) == said(request)


MORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "weights and a list": ({"weights": {"q1": 0.1, "q2": 3}, "queries": ["q2", "q1"]}, {}),
    "a depth and a seed": ({"depth": 3, "seed": 9, "ties": "expected"}, {}),
    "chunks by a table": ({"fold": {"c1": "d1", "c2": "d1"}, "fold_cutoffs": "chunks"}, {}),
    "chunks by a pattern": ({"fold_by": "^(.+)_[0-9]+$", "fold_score": "sum"}, {}),
    "a dialect": ({"dialect": "lightgbm"}, {}),
    "an interval that draws": ({"seed": 3}, {"interval": "bca(rounds=500)", "level": 0.9}),
    "clusters": ({}, {"clusters": {"q1": "a", "q2": "b"}}),
}


@pytest.mark.parametrize("case", MORE)
def test_options_can_be_written_down(case: str) -> None:
    policies, options = MORE[case]
    metrics = ["nDCG@10"] if "dialect" in policies else ["nDCG(gain='exponential')@10", "Success@1", "relstring.7"]
    request = Request.of(metrics, policies, **options)
    assert said(again(request)) == said(request)


def test_a_partition_is_a_number_of_some() -> None:
    assert partition_of("3/8") == (3, 8)
    assert partition_of(" 1 / 1 ") == (1, 1)
    for odd in ("0/8", "9/8", "3", "", None, 3, "3/8/9", "1e0/2"):
        with pytest.raises(rs.InputError, match="write which one of how many, like 3/8"):
            partition_of(odd)
