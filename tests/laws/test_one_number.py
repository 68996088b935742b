"""Laws over results: one test on one pair has one p-value in every verb, and one mean has one interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import rankscope as rs
from rankscope.inference.base import PairedTest, Sample

QUERIES = [f"q{i:02}" for i in range(40)]
QRELS = {q: {f"d{j}": 1 + j % 2 for j in range(3)} for q in QUERIES}
TESTS = ["t", "permutation(rounds=999)", "wilcoxon", "sign", "bootstrap(rounds=999)"]
OF_CLUSTERS = {"t", "permutation(rounds=999)", "bootstrap(rounds=999)"}
METRICS = ["nDCG@5", "GMAP", "AP"]
WEIGHTS = {q: float(1 + (7 * i) % 5) for i, q in enumerate(QUERIES)}
CLUSTERS = {q: f"user{i % 9}" for i, q in enumerate(QUERIES)}


class own_t(PairedTest):
    """Student's formula in a class of the user's."""

    def p_value(self, sample: Sample) -> float:
        """As scipy has it."""
        return float(stats.ttest_1samp(sample.values, 0).pvalue)


def run(seed: int) -> dict[str, dict[str, float]]:
    """Rankings in which good documents stand high, now and then."""
    draws = np.random.default_rng(seed)
    return {q: {f"d{j}": float(s) for j, s in enumerate(draws.random(8) + 0.1 * (seed % 3))} for q in QUERIES}


def p_of_compare(runs: dict[str, Any], metric: str, test: Any, **more: Any) -> float:
    return rs.compare(QRELS, runs, metric, test=test, **more).contrasts[0].p_value


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1000), metric=st.sampled_from(METRICS))
def test_gate_and_compare_give_one_p(test: str, weights: Any, seed: int, metric: str) -> None:
    runs = {"old": run(seed), "new": run(seed + 1)}
    policies = {} if weights is None else {"weights": weights}
    gate = rs.gate(QRELS, runs["old"], runs["new"], metric, test=test, **policies)
    assert gate.checks[0].p_value == p_of_compare(runs, metric, test, **policies)
    evaluated = rs.evaluate(QRELS, runs, metric, **policies)
    assert rs.compare(evaluated, test=test).contrasts[0].p_value == gate.checks[0].p_value


@pytest.mark.parametrize("test", sorted(OF_CLUSTERS))
@pytest.mark.parametrize("metric", METRICS)
def test_gate_and_compare_give_one_p_in_clusters(test: str, metric: str) -> None:
    runs = {"old": run(1), "new": run(2)}
    gate = rs.gate(QRELS, runs["old"], runs["new"], metric, test=test, clusters=CLUSTERS)
    assert gate.checks[0].p_value == p_of_compare(runs, metric, test, clusters=CLUSTERS)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("metric", METRICS)
def test_a_test_of_the_user_is_given_what_ours_is_given(metric: str, weights: Any) -> None:
    runs = {"old": run(3), "new": run(4)}
    policies = {} if weights is None else {"weights": weights}
    own, ours = (p_of_compare(runs, metric, test, **policies) for test in (own_t, "t"))
    if weights is None:  # ours also corrects for uneven weights
        assert own == pytest.approx(ours, rel=1e-9)
    gate = rs.gate(QRELS, runs["old"], runs["new"], metric, test=own_t, **policies)
    assert gate.checks[0].p_value == own


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), power=st.sampled_from([0.3, 1.0, 3.0]), metric=st.sampled_from(["AP", "GMAP"]))
def test_a_test_of_signs_depends_on_signs_alone(seed: int, power: float, metric: str) -> None:
    draws = np.random.default_rng(seed)
    gains = np.round(draws.normal(0.05, 0.2, 30), 2)
    bent = np.sign(gains) * np.abs(gains) ** power
    found = [
        rs.compare({"a": [0.0] * 30, "b": values.tolist()}, metrics="score", test="sign").contrasts[0].p_value
        for values in (gains, bent)
    ]
    assert found[0] == found[1]
    better, differing = int((gains > 0).sum()), int((gains != 0).sum())
    assert found[0] == pytest.approx(stats.binomtest(better, differing).pvalue, rel=1e-12)


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("metric", [*METRICS, "Success@1", "NumRelRet"])
def test_one_mean_has_one_interval(metric: str, weights: Any, clusters: Any) -> None:
    runs = {"old": run(5), "new": run(6)}
    more = {name: value for name, value in (("weights", weights), ("clusters", clusters)) if value is not None}
    evaluated = rs.evaluate(QRELS, runs, metric, **more)
    means = rs.compare(QRELS, runs, metric, **more).to_dicts("means")
    of_evaluated = {row["run"]: row for row in evaluated.to_dicts()}
    for row in means:
        mine = of_evaluated[row["run"]]
        assert row["value"] == pytest.approx(mine["value"], rel=1e-12)
        assert (row["ci_lower"], row["ci_upper"]) == (mine["ci_lower"], mine["ci_upper"])


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_a_against_b_mirrors_b_against_a(test: str, metric: str, weights: Any) -> None:
    runs = {"old": run(7), "new": run(8)}
    policies = {} if weights is None else {"weights": weights}
    here = rs.compare(QRELS, runs, metric, test=test, **policies).contrasts[0]
    there = rs.compare(QRELS, runs, metric, test=test, baseline="new", **policies).contrasts[0]
    assert here.p_value == there.p_value
    assert here.difference == -there.difference
    assert (here.bounds.lower, here.bounds.upper) == (-there.bounds.upper, -there.bounds.lower)
    assert (here.wins, here.losses) == (there.losses, there.wins)
