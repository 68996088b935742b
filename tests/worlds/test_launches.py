"""Simulated launches: correlations, errors and covariances are those that are set, and so are dates, launches and bounds."""

from __future__ import annotations

import math
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.worlds.launches import LaunchWorld

MANY = 3000


def of(rows: Any, name: str, value: str = "difference") -> np.ndarray[Any, Any]:
    """One value of each measurement of a metric."""
    return np.array([row[value] for row in rows if row["metric"] == name])


def near(found: float, expected: float, count: int = MANY) -> bool:
    """True if a correlation is within chance of what is expected."""
    return abs(found - expected) < 4.5 * (1 - expected**2) / math.sqrt(count) + 1e-3


def test_without_errors_what_is_measured_is_true() -> None:
    rows = rs.simulate_launches(MANY, correlation={"AP": 0.6, "RR@10": -0.3}, reliability=1.0, seed=1).rows
    online = of(rows, "CTR")
    for name, r in (("AP", 0.6), ("RR@10", -0.3)):
        assert near(float(np.corrcoef(of(rows, name), online)[0, 1]), r)
        assert abs(of(rows, name).mean() - 0.005) < 4 * 0.02 / math.sqrt(MANY)
        assert of(rows, name).std() == pytest.approx(0.02, rel=0.06)
    assert abs(online.mean() - 0.0005) < 4 * 0.003 / math.sqrt(MANY)
    assert online.std() == pytest.approx(0.003, rel=0.06)
    assert {row["standard_error"] for row in rows} == {0.0}


def test_errors_weaken_correlations_by_the_reliability_of_both_sides() -> None:
    """A reliability of 0.8 on both sides leaves sqrt(0.8 * 0.8) of a true correlation."""
    rows = rs.simulate_launches(MANY, correlation={"AP": 0.9}, reliability=0.8, seed=2).rows
    assert near(float(np.corrcoef(of(rows, "AP"), of(rows, "CTR"))[0, 1]), 0.9 * 0.8)
    for name, spread in (("AP", 0.02), ("CTR", 0.003)):
        assert of(rows, name).std() == pytest.approx(spread / math.sqrt(0.8), rel=0.06)
        assert of(rows, name, "standard_error") == pytest.approx(spread * math.sqrt(0.2 / 0.8), abs=1e-6)


def test_errors_on_the_same_queries_are_correlated_as_is_set() -> None:
    """Half of each measured variance is error, of which 60% is common; the true differences have nothing in common."""
    rows = rs.simulate_launches(
        MANY, correlation={"AP": 0.0, "RR@10": 0.0}, reliability=0.5, shared=0.6, rejected=0.0, seed=3
    ).rows
    assert near(float(np.corrcoef(of(rows, "AP"), of(rows, "RR@10"))[0, 1]), 0.5 * 0.6)
    assert near(float(np.corrcoef(of(rows, "AP"), of(rows, "CTR"))[0, 1]), 0.0)
    assert {row["covariances"] for row in rows if row["metric"] == "AP"} == {f"RR@10={0.6 * 0.02**2:.6g}"}
    assert {row["covariances"] for row in rows if row["metric"] == "CTR"} == {""}


def test_uneven_errors_have_the_mean_variance_and_the_spread_that_are_set() -> None:
    rows = rs.simulate_launches(MANY, correlation={"AP": 0.0}, reliability=0.5, uneven=0.8, seed=4).rows
    for name, spread in (("AP", 0.02), ("CTR", 0.003)):
        variances = of(rows, name, "standard_error") ** 2
        assert np.log(variances).std() == pytest.approx(0.8, rel=0.06)
        assert abs(variances.mean() / spread**2 - 1) < 4 * math.sqrt(math.expm1(0.8**2) / MANY)
        # where the stated error is large, differences vary as much more
        deviations = (of(rows, name) - of(rows, name).mean()) ** 2 / (spread**2 + variances)
        assert abs(deviations.mean() - 1) < 4 * math.sqrt(2 / MANY)
        wide = variances > np.quantile(variances, 0.8)
        assert abs(deviations[wide].mean() - 1) < 4.5 * math.sqrt(2 / wide.sum())


def test_the_lowest_candidates_are_not_launched_and_have_no_online_measurement() -> None:
    rows = rs.simulate_launches(200, rejected=0.25, seed=5).rows
    launched = {row["launch"]: row["launched"] == "yes" for row in rows}
    assert sum(launched.values()) == 150
    assert {row["launch"] for row in rows if row["side"] == "online"} == {
        name for name, is_out in launched.items() if is_out
    }
    first = {row["launch"]: row["difference"] for row in rows if row["metric"] == "nDCG@10"}
    assert max(first[name] for name in first if not launched[name]) < min(
        first[name] for name in first if launched[name]
    )
    five = rs.simulate_launches(5, rejected=0.5, seed=5).rows
    assert sum(row["side"] == "online" for row in five) == 3  # the middle one is no lower than half of them


def test_launches_are_numbered_and_a_week_apart() -> None:
    rows = rs.simulate_launches(12, seed=6).rows
    names = list(dict.fromkeys((row["launch"], row["date"]) for row in rows))
    days = [date.fromisoformat(day) for _, day in names]
    assert [name for name, _ in names] == [f"launch {i:02}" for i in range(1, 13)]
    assert {later - day for day, later in pairwise(days)} == {timedelta(days=7)}
    assert all(0 < row["baseline_value"] < 1 for row in rows)
    assert len(rows) == 12 * 5
    own = rs.simulate_launches(2, correlation={"Own": 0.5}).rows
    assert all(0 < row["baseline_value"] < 1 for row in own)
    assert all(row[name] == round(row[name], 6) for row in rows for name in ("difference", "standard_error"))


@pytest.mark.parametrize(
    ("name", "low", "high", "beyond"),
    [
        ("reliability", 0.01, 1.0, 0.005),
        ("shared", 0.0, 0.99, 1.0),
        ("uneven", 0.0, 3.0, -0.1),
        ("rejected", 0.0, 0.95, 0.96),
    ],
)
def test_parameters_have_bounds_that_belong_to_them(name: str, low: float, high: float, beyond: float) -> None:
    for value in (low, high):
        given: dict[str, Any] = {name: value}
        assert rs.simulate_launches(20, **given).conventions[name] == value
    for wrong in (beyond, True, "0.5"):
        refused: dict[str, Any] = {name: wrong}
        with pytest.raises(InputError, match=f"{name}=.*a number from {low} to {high}"):
            rs.simulate_launches(20, **refused)


def test_correlations_go_from_minus_one_to_one() -> None:
    rows = rs.simulate_launches(20, correlation={"AP": 1.0, "RR@10": -1.0}, reliability=1.0).rows
    assert np.corrcoef(of(rows, "AP"), of(rows, "RR@10"))[0, 1] == pytest.approx(-1)
    for wrong in ({}, {"AP": 1.1}, {"AP": -1.1}, {"AP": "0.5"}, {"AP": 0.5, "RR@10": 2}):
        with pytest.raises(InputError, match="numbers from -1 to 1, by metric"):
            rs.simulate_launches(20, correlation=wrong)


def test_each_launch_is_drawn_as_is_told() -> None:
    """True differences, of which a part is common to both sides; then errors with variances of their own, of which a part is common to all metrics."""
    given: dict[str, Any] = {"launches": 11, "seed": 7, "correlation": {"AP": 0.6, "RR@10": -0.3}, "reliability": 0.8}
    rows = LaunchWorld(**given, shared=0.25, uneven=0.5, rejected=0.4).rows()
    draws = np.random.default_rng(7)
    online, own = draws.normal(size=11), draws.normal(size=(11, 2))
    variance = np.exp(0.5 * draws.normal(size=(11, 2)) - 0.5**2 / 2) * 0.2 / 0.8
    common, apart, last = draws.normal(size=11), draws.normal(size=(11, 2)), draws.normal(size=11)
    found = {(row["launch"], row["metric"]): row for row in rows}
    lowest = sorted(found[f"launch {n:02}", "AP"]["difference"] for n in range(1, 12))[4]  # at rank 4 of 0 to 10
    for n in range(11):
        name, wide = f"launch {n + 1:02}", [math.sqrt(one) for one in variance[n]]
        for at, (metric, r) in enumerate(given["correlation"].items()):
            true = r * online[n] + math.sqrt(1 - r**2) * own[n, at]
            error = wide[0] * (0.5 * common[n] + math.sqrt(0.75) * apart[n, at])
            row = found[name, metric]
            assert (row["difference"], row["standard_error"]) == pytest.approx(
                (0.005 + 0.02 * (true + error), 0.02 * wide[0]), abs=6e-7
            )
            assert row["launched"] == ("yes" if found[name, "AP"]["difference"] >= lowest else "no")
        if (name, "CTR") in found:
            row = found[name, "CTR"]
            expected = 0.0005 + 0.003 * (online[n] + wide[1] * last[n]), 0.003 * wide[1]
            assert (row["difference"], row["standard_error"]) == pytest.approx(expected, abs=6e-7)
    assert sum(metric == "CTR" for _, metric in found) == 7
