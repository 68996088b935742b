"""The sizes that findings tell are what ``evaluate`` and ``ties`` give when they are asked for the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.diagnostics.rule import Finding

METRICS = ["nDCG@10", "AP", "RR@10", "P@10"]


@pytest.fixture(scope="module")
def data() -> tuple[dict[str, Any], dict[str, Any]]:
    """Thirty queries of random rankings with ties, of which some are missing and some are not judged."""
    rng = np.random.default_rng(7)
    qrels, run = {}, {}
    for i in range(30):
        docs = [f"d{j}" for j in rng.permutation(60).tolist()]
        if i != 5:
            qrels[f"q{i}"] = {d: int(rng.integers(0, 4)) for d in docs[:25]}
        if i not in {3, 9}:
            run[f"q{i}"] = {d: float(rng.integers(0, 12)) for d in docs[10:55]}
    qrels["q7"] = dict.fromkeys(qrels["q7"], 0)
    return qrels, run


def effects(code: str, qrels: Any, run: Any, **options: Any) -> dict[str, float]:
    found: list[Finding] = list(rs.check(qrels, run, METRICS, select=[code], **options))
    assert len(found) == 1
    return dict(found[0].effect)


def test_missing_queries_against_leaving_them_out(data: Any) -> None:
    now, without = (rs.evaluate(data[0], data[1], METRICS), rs.evaluate(data[0], data[1], METRICS, queries="both"))
    assert effects("RS101", *data) == {m: pytest.approx(now[m] - without[m], abs=1e-12) for m in METRICS}


def test_missing_queries_that_are_left_out_against_counting_them(data: Any) -> None:
    now, counted = (rs.evaluate(data[0], data[1], METRICS, queries="both"), rs.evaluate(data[0], data[1], METRICS))
    expected = {m: pytest.approx(counted[m] - now[m], abs=1e-12) for m in METRICS}
    assert effects("RS101", *data, queries="both") == expected


def test_extra_queries_against_counting_them(data: Any) -> None:
    now, counted = (rs.evaluate(data[0], data[1], METRICS), rs.evaluate(data[0], data[1], METRICS, queries="either"))
    assert effects("RS102", *data) == {m: pytest.approx(counted[m] - now[m], abs=1e-12) for m in METRICS}


def test_hopeless_queries_against_leaving_them_out(data: Any) -> None:
    now, without = (rs.evaluate(data[0], data[1], METRICS), rs.evaluate(data[0], data[1], METRICS, no_relevant="skip"))
    assert effects("RS103", *data) == {m: pytest.approx(now[m] - without[m], abs=1e-12) for m in METRICS}


def test_ties_against_the_report_of_ties(data: Any) -> None:
    report = rs.ties(data[0], data[1], METRICS)
    assert effects("RS203", *data) == {str(s.metric): pytest.approx(s.width, abs=1e-12) for s in report}


def test_unjudged_against_metrics_that_leave_them_out(data: Any) -> None:
    now = rs.evaluate(data[0], data[1], METRICS)
    for metric, by in effects("RS204", *data).items():
        name, _, k = metric.partition("@")
        condensed = f"{name}(judged_only=True)" + (f"@{k}" if k else "")
        assert by == pytest.approx(rs.evaluate(data[0], data[1], condensed)[condensed] - now[metric], abs=1e-12)


def test_a_constant_scorer_against_the_mean_over_all_orders(data: Any) -> None:
    qrels, run = data
    flat = {q: dict.fromkeys(docs, 1.0) for q, docs in run.items()}
    now, mean = rs.evaluate(qrels, flat, METRICS), rs.evaluate(qrels, flat, METRICS, ties="expected")
    assert effects("RS205", qrels, flat) == {m: pytest.approx(mean[m] - now[m], abs=1e-9) for m in METRICS}
