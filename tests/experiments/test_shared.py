"""How much parts of a log move together through the units that they share."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days

from rankscope.experiments.heterogeneity import influence_of, shared_units
from rankscope.experiments.variants import Variants, variants_of
from rankscope.logs.base import parse_online
from rankscope.scoring.logs import read_experiment


def made(log: pl.DataFrame, metric: str, **options: object) -> Variants:
    return variants_of(read_experiment(log), [parse_online(metric)], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("metric", "adjusted"),
    [("CTR", False), ("CTR", True), ("Mean(worth)", False), ("Mean(worth)", True), ("Quantile(worth, q=0.7)", False)],
    ids=["a ratio", "an adjusted ratio", "a mean", "an adjusted mean", "a quantile"],
)
def test_the_squares_of_pulls_add_up_to_that_of_the_error(metric: str, adjusted: bool) -> None:
    log = log_of_days(seed=111).with_columns(worth=pl.col("item") / 7, before=pl.col("user").hash(1) % 5)
    variants = made(log, metric, covariates={metric: "before"} if adjusted else None)
    of, units = parse_online(metric), variants.arms.units
    influences, panel = influence_of(variants, of, units), variants.panel(of)
    for name in variants.names:
        own = influences[(units.groups["variant"] == name).to_numpy()]
        if metric != "CTR":  # of a ratio each is corrected for its own pull on it
            assert own.sum() == pytest.approx(0, abs=1e-9 * np.abs(own).sum())
        assert (own**2).sum() == pytest.approx(panel.estimate(name).error ** 2, rel=1e-9)


def test_values_of_quantiles_move_together_as_the_bootstrap_of_users_says() -> None:
    draws = np.random.default_rng(112)
    count = 500
    mood = draws.normal(0, 1, count)
    rows = [
        (user, part, float(mood[user] + draws.normal())) for user in range(count) for part in "ab" for _ in range(4)
    ]
    log = pl.DataFrame(rows, schema=["user", "part", "worth"], orient="row").with_columns(
        variant=pl.when(pl.col("user") % 2 == 0).then(pl.lit("A")).otherwise(pl.lit("B"))
    )
    metric = parse_online("Quantile(worth, q=0.5)")
    variants = made(log, str(metric))
    units = variants.units_by("part", metric)
    parts = [units.groups["part"] == part for part in "ab"]
    ours = shared_units(variants, metric, units, parts).covariance("A")[0, 1]
    table = log.filter(pl.col("variant") == "A").sort("user", "part")["worth"].to_numpy().reshape(-1, 2, 4)
    resampled = []
    for _ in range(1500):
        some = table[draws.integers(0, len(table), len(table))]
        resampled.append([np.quantile(some[:, place].ravel(), 0.5) for place in (0, 1)])
    assert ours == pytest.approx(np.cov(np.array(resampled).T)[0, 1], rel=0.2)


def test_parts_without_a_common_unit_do_not_move_together() -> None:
    log = log_of_days(seed=113)
    variants = made(log, "CTR")
    units = variants.units_by("country", parse_online("CTR"))
    parts = [units.groups["country"] == name for name in ("de", "fr")]
    shared = shared_units(variants, parse_online("CTR"), units, parts)
    assert shared.covariance("A").tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert shared.count(["A", "B"], [0, 1]) == 0


def test_what_a_user_does_in_two_parts_is_one_covariance() -> None:
    log = log_of_days(seed=114)
    variants = made(log, "Mean(click)")
    units = variants.units_by("device", parse_online("Mean(click)"))
    parts = [units.groups["device"] == name for name in ("desktop", "phone")]
    found = shared_units(variants, parse_online("Mean(click)"), units, parts)
    by_user = log.filter(pl.col("variant") == "A").group_by("user", "device").agg(pl.col("click").sum())
    wide = by_user.pivot(on="device", index="user", values="click")
    sizes = [wide[name].drop_nulls().len() for name in ("desktop", "phone")]
    means = [wide[name].mean() for name in ("desktop", "phone")]
    both = wide.drop_nulls()
    products = ((both["desktop"] - means[0]) * (both["phone"] - means[1])).sum()
    expected = products / np.sqrt(sizes[0] * (sizes[0] - 1) * sizes[1] * (sizes[1] - 1))
    assert found.covariance("A")[0, 1] == pytest.approx(expected, rel=1e-9)
    assert found.count(["A"], [0, 1]) == len(both)
