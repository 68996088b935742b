"""U_risk, T_risk and GeoRisk: worked out, in plain cases, and what is refused."""

from __future__ import annotations

from math import erf, sqrt
from typing import Any

import numpy as np
import pytest

import rankscope as rs

SCORES = {
    "base": {"q1": 0.4, "q2": 0.6, "q3": 0.5, "q4": 0.2},
    "new": {"q1": 0.6, "q2": 0.5, "q3": 0.5, "q4": 0.5},
    "old": {"q1": 0.1, "q2": 0.9, "q3": 0.1, "q4": 0.1},
}
GAINS = np.array([0.2, -0.1, 0.0, 0.3])


def risk_of(run: str, alpha: float, **more: Any) -> dict[str, float]:
    found = rs.compare(SCORES, metrics="AP", risk=alpha, **more)
    return next(row for row in found.to_dicts("risk") if row["run"] == run)


def test_losses_count_more() -> None:
    felt = np.array([0.2, -0.3, 0.0, 0.3])  # alpha = 2: a loss counts three times
    row = risk_of("new", 2)
    assert row["urisk"] == pytest.approx(felt.mean())
    assert row["lost"] == pytest.approx(-0.3 / 4)
    assert row["trisk"] == pytest.approx(felt.mean() / (felt.std(ddof=1) / 2))
    assert row["ci_lower"] < row["urisk"] < row["ci_upper"]


def test_without_a_weight_it_is_the_difference_and_its_t() -> None:
    row, contrast = risk_of("new", 0), rs.compare(SCORES, metrics="AP", test="t")["new", "AP"]
    assert row["urisk"] == pytest.approx(contrast.difference)
    assert row["trisk"] == pytest.approx(GAINS.mean() / (GAINS.std(ddof=1) / 2))


def test_lower_is_better() -> None:
    """A rise of a metric of which less is better is a loss."""
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(2)}
    good, bad = {q: ["a", "b"] for q in qrels}, {"q0": ["b", "a"], "q1": ["a", "b"]}
    found = rs.compare(qrels, {"good": good, "bad": bad}, "FallOut@1", risk=1).to_dicts("risk")[0]
    assert found["urisk"] == pytest.approx(-2 * 1 / 2)
    assert found["georisk"] is None


def test_georisk_worked_out() -> None:
    values = np.array([list(one.values()) for one in SCORES.values()])
    expected = values.sum(axis=1)[:, None] * values.sum(axis=0) / values.sum()
    z = (values - expected) / np.sqrt(expected)
    felt = np.where(z < 0, 3 * z, z).sum(axis=1) / 4
    geo = [sqrt(mean * (1 + erf(one / sqrt(2))) / 2) for mean, one in zip(values.mean(axis=1), felt, strict=True)]
    for run, value in zip(SCORES, geo, strict=True):
        if run != "base":
            assert risk_of(run, 2)["georisk"] == pytest.approx(value)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    users = [f"u{i // 10}" for i in range(60)]
    shift = np.repeat(rng.normal(0, 0.1, 6), 10)
    table = {"a": {f"q{i}": 0.5 for i in range(60)}, "b": {f"q{i}": 0.5 + float(shift[i]) for i in range(60)}}
    plain, clustered = (
        rs.compare(table, metrics="AP", risk=1, clusters=clusters).to_dicts("risk")[0]
        for clusters in (None, {f"q{i}": user for i, user in enumerate(users)})
    )
    assert plain["urisk"] == clustered["urisk"]
    assert clustered["ci_upper"] - clustered["ci_lower"] > plain["ci_upper"] - plain["ci_lower"]


@pytest.mark.parametrize(
    "alpha", [-1, float("nan"), float("inf"), "1", True], ids=["negative", "NaN", "infinite", "text", "boolean"]
)
def test_refused_weights(alpha: Any) -> None:
    with pytest.raises(rs.InputError, match="how much more a loss counts"):
        rs.compare(SCORES, metrics="AP", risk=alpha)


def test_no_metric_with_a_direction() -> None:
    with pytest.raises(rs.InputError, match="a mean over queries with a better direction"):
        rs.compare({"q": {"a": 1}}, {"x": {"q": ["a"]}, "y": {"q": ["b"]}}, "Judged@1", risk=1).to_dicts("risk")
