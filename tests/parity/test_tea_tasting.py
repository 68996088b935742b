"""Experiments as tea-tasting analyses them, on the users that it makes: means, ratios, covariates, the split."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rankscope as rs

CLOSE: dict[str, Any] = {"rel": 1e-10, "abs": 1e-12}
CASES: dict[str, tuple[str, str | None, Callable[[Any], Any]]] = {
    "a mean": ("Mean(sessions)", None, lambda tt: tt.Mean("sessions")),
    "money": ("Mean(revenue)", None, lambda tt: tt.Mean("revenue")),
    "a ratio": ("Ratio(orders, sessions)", None, lambda tt: tt.RatioOfMeans("orders", "sessions")),
    "a mean and a covariate": (
        "Mean(revenue)",
        "revenue_covariate",
        lambda tt: tt.Mean("revenue", "revenue_covariate"),
    ),
    "a ratio and a ratio as covariate": (
        "Ratio(orders, sessions)",
        "Ratio(orders_covariate, sessions_covariate)",
        lambda tt: tt.RatioOfMeans("orders", "sessions", "orders_covariate", "sessions_covariate"),
    ),
}


@pytest.fixture(scope="module")
def peer(need: Any) -> Any:
    return need("tea_tasting")


@pytest.mark.parametrize("seed", [1, 42], ids=["one draw of users", "another draw"])
@pytest.mark.parametrize("name", CASES)
def test_values_intervals_and_p_values(peer: Any, name: str, seed: int) -> None:
    metric, covariate, make = CASES[name]
    users = peer.make_users_data(rng=seed, covariates=True, n_users=3000, ratio=1.5, return_type="polars")
    theirs = peer.Experiment({"it": make(peer)}).analyze(users)["it"]
    adjusted = {metric: covariate} if covariate else None
    ours = rs.experiment(users, metric, covariates=adjusted, split={"0": 1, "1": 1.5}, test="t")
    # our errors of a ratio are corrected for users with large denominators: each of some thousand pulls it a little
    near = {"rel": 2e-3} if metric.startswith("Ratio") else CLOSE
    (row,) = ours.to_dicts()
    assert row["baseline_value"] == pytest.approx(theirs.control, **CLOSE)
    assert row["value"] == pytest.approx(theirs.treatment, **CLOSE)
    assert row["difference"] == pytest.approx(theirs.effect_size, **CLOSE)
    assert row["ci_lower"] == pytest.approx(theirs.effect_size_ci_lower, **near)
    assert row["ci_upper"] == pytest.approx(theirs.effect_size_ci_upper, **near)
    assert row["relative"] == pytest.approx(theirs.rel_effect_size, **CLOSE)
    # theirs is of the logarithm of the ratio; ours, Fieller's, agrees with the interval of the difference about 0
    width = theirs.rel_effect_size_ci_upper - theirs.rel_effect_size_ci_lower
    assert row["relative_ci_lower"] == pytest.approx(theirs.rel_effect_size_ci_lower, abs=0.03 * width)
    assert row["relative_ci_upper"] == pytest.approx(theirs.rel_effect_size_ci_upper, abs=0.03 * width)
    assert row["p_value"] == pytest.approx(theirs.pvalue, **near)


@pytest.mark.parametrize(
    ("users", "ratio"), [(600, 1.0), (900, 1.2), (5000, 1.0), (5000, 1.1)],
    ids=["few users split evenly", "few users split unevenly", "many users split evenly", "many users split unevenly"],
)  # fmt: skip
def test_the_split(peer: Any, users: int, ratio: float) -> None:
    data = peer.make_users_data(rng=7, n_users=users, ratio=ratio, return_type="polars")
    theirs = peer.Experiment({"it": peer.SampleRatio()}).analyze(data)["it"]
    ours = rs.experiment(data, "Mean(sessions)").sample_ratio
    assert [*ours.counts.values()] == [theirs.control, theirs.treatment]
    assert ours.p_value == pytest.approx(theirs.pvalue, **CLOSE)


@pytest.mark.parametrize("q", [0.8, 0.9], ids=["eight tenths", "nine tenths"])
@pytest.mark.parametrize("column", ["revenue", "revenue_covariate"])
def test_quantiles_are_as_sure_as_by_their_bootstrap(peer: Any, column: str, q: float) -> None:
    data = peer.make_users_data(rng=1, covariates=True, n_users=6000, return_type="polars")
    metric = peer.Quantile(column, q, n_resamples=2000, rng=5)  # between two values, as numpy's default is
    theirs = peer.Experiment({"it": metric}).analyze(data)["it"]
    (row,) = rs.experiment(data, f"Quantile({column}, q={q})").to_dicts()
    width = theirs.effect_size_ci_upper - theirs.effect_size_ci_lower
    assert row["value"] == pytest.approx(theirs.treatment, rel=0.005)
    assert row["baseline_value"] == pytest.approx(theirs.control, rel=0.005)
    assert row["difference"] == pytest.approx(theirs.effect_size, abs=0.02 * width)
    assert row["ci_upper"] - row["ci_lower"] == pytest.approx(width, rel=0.15)
    assert row["relative_ci_upper"] - row["relative_ci_lower"] == pytest.approx(
        theirs.rel_effect_size_ci_upper - theirs.rel_effect_size_ci_lower, rel=0.15
    )
