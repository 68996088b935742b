"""Experiments whose variants were given to clusters of users: households, cities and hours."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days

import rankscope as rs
from rankscope.inference.base import Estimate, Sample

ADJUSTMENTS: tuple[dict[str, Any], ...] = (
    {},
    {"strata": "country"},
    {"strata": "country", "covariates": {"Mean(y)": "before"}},
)
METRICS = ["Mean(y)", "Mean(y, empty='zero')", "Share(where='y > 5')", "Quantile(y, q=0.5)", "Ratio(y, x)"]


def households(seed: int = 1, count: int = 60, alike: float = 1.0) -> pl.DataFrame:
    """One row per user: households of one to five users, who are alike, with one variant each."""
    draws = np.random.default_rng(seed)
    house = np.repeat(np.arange(count), draws.integers(1, 6, count))
    n = len(house)
    y = np.round(5 + alike * draws.normal(0, 1, count)[house] + draws.normal(0, 0.5, n), 3)
    return pl.DataFrame({
        "user": [f"u{i}" for i in range(n)], "household": [f"h{i}" for i in house], "variant": np.where(house % 2, "B", "A"),
        "y": np.where(draws.random(n) < 0.1, np.nan, y), "x": 1 + draws.poisson(2, n), "before": y + draws.normal(0, 0.3, n),
        "country": draws.choice(["de", "fr"], n),
    }).with_columns(pl.col("y").fill_nan(None))  # fmt: skip


def means_of(found: rs.Experiment) -> list[Any]:
    return [c.pair.means for c in found.contrasts]


def test_users_who_are_their_own_clusters_change_nothing() -> None:
    table = households()
    options: dict[str, Any] = {"winsorise": 0.9, "covariates": {"Mean(y)": "before"}, "slices": "country"}
    alone = rs.experiment(table, METRICS, **options)
    within = rs.experiment(table.with_columns(own=pl.col("user")), METRICS, clusters="own", **options)
    for one, other in zip(means_of(alone), means_of(within), strict=True):
        assert (other.mean, other.error, other.freedom) == pytest.approx((one.mean, one.error, one.freedom), rel=1e-9)
    assert [part.contrast.p_value for part in within.slices] == pytest.approx(
        [part.contrast.p_value for part in alone.slices], rel=1e-9
    )


def test_errors_between_clusters_are_those_of_leaving_each_out() -> None:
    table = households().drop_nulls("y")
    found = rs.experiment(table, "Mean(y)", clusters="household").contrasts[0]
    sides = []
    for name in "BA":
        own = table.filter(pl.col("variant") == name)
        codes = own["household"].rank("dense").to_numpy().astype(np.int64) - 1
        y = own["y"].to_numpy()
        clusters, count = Sample(y, clusters=codes), codes.max() + 1
        without = [y[codes != code].mean() for code in range(count)]
        error = math.sqrt((count - 1) / count * ((without - y.mean()) ** 2).sum())
        assert clusters.error < error < 1.1 * clusters.error  # CR2, of a comparison of runs with clusters
        sides.append(Estimate(y.mean(), error, clusters.freedom, count, 1.0))
    wanted, means = Estimate.between(*sides), found.pair.means
    assert (means.mean, means.error, means.freedom) == pytest.approx((wanted.mean, wanted.error, wanted.freedom))


def test_clusters_of_equal_sizes_are_compared_by_their_means() -> None:
    values = {"A": [(1, 3), (2, 4), (6, 8)], "B": [(2, 2), (5, 9), (4, 8)]}
    rows = [(f"{v}{i}", v, y) for v, pairs in values.items() for i, pair in enumerate(pairs) for y in pair]
    table = pl.DataFrame(rows, schema=["household", "variant", "y"], orient="row")
    means = means_of(rs.experiment(table, "Mean(y)", clusters="household"))[0]
    a, b = np.array([2, 3, 7]), np.array([2, 7, 6])
    assert means.mean == pytest.approx(b.mean() - a.mean())
    assert means.error == pytest.approx(math.sqrt(a.var(ddof=1) / 3 + b.var(ddof=1) / 3))


@pytest.mark.parametrize("metric", ["Ratio(y, x)", "Quantile(y, q=0.5)", "Quantile(y, q=0.7)"])
def test_sums_and_quantiles_of_rows_are_those_of_households_as_units(metric: str) -> None:
    table = households()
    within = means_of(rs.experiment(table, metric, clusters="household"))[0]
    units = means_of(rs.experiment(table.drop("user"), metric, columns={"household": "unit_id"}))[0]
    assert (within.mean, within.error) == pytest.approx((units.mean, units.error), rel=1e-9)


def test_users_are_cut_before_their_clusters_are_summed() -> None:
    table = households().with_columns(pl.col("y").fill_null(0.0))
    alone, within = (rs.experiment(table, "Mean(y)", winsorise=0.8, clusters=name) for name in (None, "household"))
    assert within.primary == alone.primary != "Mean(y)"
    assert within.contrasts[0].difference == pytest.approx(alone.contrasts[0].difference)


def test_strata_and_covariates_of_users_take_chance_away_between_clusters() -> None:
    table = households(count=200).with_columns(y=pl.col("y") + 3 * (pl.col("country") == "de"))
    plain, strata, both = (
        rs.experiment(table, "Mean(y)", clusters="household", **more).contrasts[0].pair.means.error
        for more in ADJUSTMENTS
    )
    assert both < 0.6 * strata < 0.9 * 0.6 * plain


def test_the_order_of_rows_says_nothing() -> None:
    table = households()
    one, other = (
        rs.experiment(some, METRICS, clusters="household", strata=None).to_json()
        for some in (table, table.sample(fraction=1, shuffle=True, seed=3))
    )
    assert json.loads(one)["results"] == json.loads(other)["results"]


def switchback(seed: int = 2, swapped: bool = False) -> pl.DataFrame:
    """Visits of users to cities, whose variant changes at random from hour to hour."""
    draws = np.random.default_rng(seed)
    city, hour = (place.ravel() for place in np.indices((5, 40)))
    given = draws.permutation(len(city)) % 2
    at = np.repeat(np.arange(len(city)), 1 + draws.poisson(3, len(city)))
    y = np.round(2 + draws.normal(0, 1, len(city))[at] + draws.normal(0, 0.5, len(at)), 3)
    variant = np.where(given[at], "B", "A")
    if swapped:  # one visit of each hour of city 0 got the other variant
        odd = [np.flatnonzero((city[at] == 0) & (hour[at] == h))[0] for h in range(40)]
        variant[odd] = np.where(variant[odd] == "A", "B", "A")
    return pl.DataFrame({
        "user": draws.integers(0, 120, len(at)), "city": city[at], "hour": hour[at], "variant": variant, "y": y,
    })  # fmt: skip


def test_users_of_a_switchback_may_have_both_variants_as_its_periods_may_not() -> None:
    found = rs.experiment(switchback(), "Mean(y)", clusters=["city", "hour"])
    assert found.validity.holds
    assert found.sample_ratio.counts == {"A": 100, "B": 100}
    assert not [caution for caution in found.warnings if caution.code == "RS605"]
    assert found.notes[-1].endswith("of 120 users in 200 clusters (city and hour)")


def test_clusters_with_both_variants_are_left_out_and_withhold_the_verdict_from_a_tenth_on() -> None:
    found = rs.experiment(switchback(swapped=True), "Mean(y)", clusters="city,hour")
    (caution,) = [caution for caution in found.warnings if caution.code == "RS605"]
    assert caution.message.startswith("40 clusters of 200 (20.0%) were in several variants")
    assert found.exit_code == 3
    assert "of clusters were in several variants" in list(found.sentences())[1]
    with pytest.raises(rs.DataError, match="each cluster has rows of several variants"):
        rs.experiment(switchback(), "Mean(y)", clusters="city")


def test_days_and_slices_share_clusters_not_users_alone() -> None:
    log = log_of_days(3, count=300).with_columns(
        team=pl.col("user").cast(pl.Int64) // 6 * 2 + pl.col("user").cast(pl.Int64) % 2
    )
    found = rs.experiment(log, "CTR", clusters="team", by="day", slices="country")
    assert found.days is not None
    units = rs.experiment(log.drop("user"), "CTR", columns={"team": "unit_id"}, by="day", slices="country")
    assert units.days is not None
    assert found.days.changes[0].decisive.p_value == pytest.approx(units.days.changes[0].decisive.p_value, rel=1e-9)
    assert found.heterogeneity[0].p_value == pytest.approx(units.heterogeneity[0].p_value, rel=1e-9)


def test_what_ran_is_named_everywhere() -> None:
    found = rs.experiment(households(), "Mean(y)", clusters="household")
    assert json.loads(found.to_json())["conventions"]["clusters"] == ["household"]
    assert "clusters of household, errors by leaving each out (jackknife)" in found.to_text(width=200)
    assert "clusters" in next(iter(found.sentences()))


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        ("hous", "no column 'hous' to cluster by, did you mean household"), ("variant", "variant is the column of variants"),
        ("user", "the unit without clusters"), ({"u": "h"}, "names of its columns, like household"),
    ],
    ids=["no such column", "variants", "users", "a mapping"],
)  # fmt: skip
def test_wrong_columns_of_clusters(clusters: Any, said: str) -> None:
    with pytest.raises(rs.InputError, match=said):
        rs.experiment(households(), "Mean(y)", clusters=clusters)


def test_users_without_a_cluster_are_refused() -> None:
    table = households().with_columns(household=pl.when(pl.col("user") != "u3").then(pl.col("household")))
    with pytest.raises(rs.DataError, match="1 user has no household: give each a cluster"):
        rs.experiment(table, "Mean(y)", clusters="household")
