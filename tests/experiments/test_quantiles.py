"""Experiments and plans on quantiles: rows of one user are alike, directions are said, and what does not apply is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError, RankscopeError
from rankscope.inference.base import Estimate
from rankscope.inference.order_statistics import quantile_of
from rankscope.verbs.power.log import ExperimentPlan

WAIT = "Quantile(wait, q=0.9, better='lower')"


def made(seed: int, users: int = 1000, slower: float = 1.0) -> pl.DataFrame:
    """A row a request: users have many or few, and wait long or not; in B they wait ``slower`` times as long."""
    draws = np.random.default_rng(seed)
    user = np.repeat(np.arange(users), draws.geometric(0.2, users))
    wait = np.exp(5 + 0.7 * draws.normal(size=users)[user] + 0.5 * draws.normal(size=len(user)))
    return pl.DataFrame({
        "user": [f"u{number}" for number in user], "variant": np.where(user % 2 == 0, "A", "B"), "item": draws.integers(0, 9, len(user)),
        "country": np.where(user % 3 == 0, "de", "fr"), "wait": np.where(user % 2 == 0, wait, slower * wait), "click": draws.integers(0, 2, len(user)),
    })  # fmt: skip


def by_hand(log: pl.DataFrame, variant: str, q: float) -> Any:
    rows = log.filter(pl.col("variant") == variant)
    return quantile_of(rows["wait"].to_numpy(), rows["user"].rank("dense").to_numpy().astype(int), q)


# --- laws -----------------------------------------------------------------------------------------------------------


def test_variants_differ_by_their_quantiles_with_the_errors_of_both() -> None:
    log = made(1, slower=1.1)
    (row,) = rs.experiment(log, WAIT).to_dicts()
    one, other = (by_hand(log, name, 0.9).estimate(500) for name in "BA")
    both = Estimate.between(one, other)
    assert (row["value"], row["baseline_value"], row["difference"]) == (one.mean, other.mean, both.mean)
    assert row["relative"] == pytest.approx(one.mean / other.mean - 1)
    assert (row["ci_lower"] + row["ci_upper"]) / 2 == pytest.approx(both.mean)
    assert row["units"] == 1000
    assert both.error == pytest.approx(math.hypot(one.error, other.error))


@pytest.mark.parametrize(("scale", "decimals"), [pytest.param(1.0, 1, id="tens"), pytest.param(1e-4, 4, id="small"), pytest.param(1e4, 0, id="large")])  # fmt: skip
def test_differences_are_written_with_the_decimals_of_their_scale(scale: float, decimals: int) -> None:
    log = made(3).with_columns(wait=pl.col("wait") * scale)
    found = rs.experiment(log, ["Quantile(wait, q=0.5)", "Quantile(wait, q=0.9999)"])
    assert found.contrasts[0].panel.measure.decimals == decimals
    far = found.contrasts[1].panel.measure.decimals  # no error is known so far out: by the size of the values
    assert far is not None
    assert far <= decimals


def test_the_order_of_rows_and_the_names_of_users_do_not_matter() -> None:
    log = made(2)
    renamed = log.sample(fraction=1.0, shuffle=True, seed=1).with_columns(pl.col("user").str.reverse() + "x")
    assert rs.experiment(log, WAIT).to_dicts() == rs.experiment(renamed, WAIT).to_dicts()


def test_the_other_baseline_mirrors_the_difference() -> None:
    one, other = (rs.experiment(made(3), WAIT, baseline=name).to_dicts()[0] for name in "AB")
    assert one["difference"] == -other["difference"]
    assert (one["ci_lower"], one["ci_upper"]) == (-other["ci_upper"], -other["ci_lower"])
    assert one["p_value"] == other["p_value"]


def test_rows_that_are_logged_twice_change_nothing() -> None:
    log = made(4)
    once, twice = (rs.experiment(table, WAIT).to_dicts()[0] for table in (log, pl.concat([log, log])))
    assert twice["difference"] == once["difference"]
    assert twice["p_value"] == pytest.approx(once["p_value"], rel=0.02)


def test_metrics_of_sums_do_not_notice_a_quantile_beside_them() -> None:
    log = made(5)
    alone = rs.experiment(log, "CTR", correction="none").to_dicts()
    assert rs.experiment(log, ["CTR", WAIT], correction="none").to_dicts()[:1] == alone


def test_slices_are_of_the_rows_within_them() -> None:
    log = made(6, slower=1.2)
    parts = rs.experiment(log, WAIT, slices="country").to_dicts("slices")
    assert [part["slice"] for part in parts] == ["de", "fr"]
    for part in parts:
        rows = log.filter(pl.col("country") == part["slice"])
        assert part["difference"] == by_hand(rows, "B", 0.9).value - by_hand(rows, "A", 0.9).value


def test_users_in_several_variants_are_left_out_with_their_rows() -> None:
    log = made(7)
    moved = log.with_columns(
        variant=pl.when(pl.col("user").is_in(["u2", "u3"]) & (pl.int_range(pl.len()).over("user") == 0))
        .then(pl.lit("A"))
        .otherwise(pl.col("variant"))
    )
    mixed = moved.filter(pl.col("variant").n_unique().over("user") > 1)["user"].unique()
    assert len(mixed)
    ours = rs.experiment(moved, WAIT).to_dicts()
    assert ours == rs.experiment(log.filter(~pl.col("user").is_in(mixed.implode())), WAIT).to_dicts()


@pytest.mark.slow
def test_units_reject_as_often_as_alpha_says_where_rows_would_not() -> None:
    rng, of_units, of_rows, rounds = np.random.default_rng(11), 0, 0, 400
    for _ in range(rounds):
        log = made(int(rng.integers(1 << 31)), users=400)
        of_units += rs.experiment(log, "Quantile(wait, q=0.5)").to_dicts()[0]["p_value"] <= 0.05
        single = log.with_columns(user=pl.int_range(pl.len()).cast(pl.String))
        of_rows += rs.experiment(single, "Quantile(wait, q=0.5)").to_dicts()[0]["p_value"] <= 0.05
    assert of_units / rounds == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))
    assert of_rows / rounds > 0.15


# --- verdicts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("better", "verdict"), [("lower", "worse"), ("higher", "better"), ("neither", "different")])
def test_what_is_better_is_as_it_was_said(better: str, verdict: str) -> None:
    found = rs.experiment(made(12, slower=1.5), f"Quantile(wait, q=0.5, better='{better}')")
    assert found.contrasts[0].verdict == verdict


def test_a_mean_may_be_a_cost() -> None:
    found = rs.experiment(made(12, slower=1.5), ["Mean(wait)"], primary="Mean(wait, better='lower')")
    assert [c.verdict for c in found.contrasts] == ["worse", "better"]


@pytest.mark.parametrize(("slower", "verdict"), [(1.0, "not worse"), (1.4, "worse")], ids=["as fast", "slower"])
def test_guardrails_accept_a_loss(slower: float, verdict: str) -> None:
    found = rs.experiment(made(13, users=4000, slower=slower), primary="CTR", guardrails={WAIT: "15%"})
    assert found["B", WAIT].verdict in {verdict, *({"equivalent"} if slower == 1 else ())}


@pytest.mark.parametrize("test", ["anytime(first=200)", "group_sequential(look=2, looks=4)"])
def test_looks_are_paid_for(test: str) -> None:
    plain, looked = (rs.experiment(made(14, slower=1.15), WAIT, test=name).to_dicts()[0] for name in (None, test))
    assert looked["difference"] == plain["difference"]
    assert looked["p_value"] > plain["p_value"]
    assert looked["ci_upper"] - looked["ci_lower"] > plain["ci_upper"] - plain["ci_lower"]


def test_others_are_corrected_together_with_it() -> None:
    found = rs.experiment(made(15), [WAIT, "Mean(wait)"], primary="CTR")
    _, *others = found.to_dicts()
    assert min(o["p_value_adjusted"] for o in others) == pytest.approx(min(1.0, 2 * min(o["p_value"] for o in others)))


def test_far_values_are_cut_of_sums_alone() -> None:
    log = made(16)
    plain, cut = (rs.experiment(log, [WAIT, "Mean(wait)"], winsorise=part) for part in (None, 0.9))
    assert cut.to_dicts()[0] == plain.to_dicts()[0]
    assert cut.to_dicts()[1]["value"] < plain.to_dicts()[1]["value"]
    assert "no value of theirs is cut" in cut.to_text(width=400)
    assert "no value of theirs is cut" not in plain.to_text(width=400)


# --- too few rows, and what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [None, "anytime", "group_sequential(look=2, looks=4)"])
def test_too_few_rows_beyond_are_told_and_nothing_is_inferred(test: str | None) -> None:
    found = rs.experiment(made(17, users=200), "Quantile(wait, q=0.999)", test=test)
    row = found.to_dicts()[0]
    assert row["verdict"] == "cannot tell"
    assert row["p_value"] is None
    assert row["ci_lower"] is None
    (caution,) = [caution for caution in found.warnings if caution.code == "RS641"]
    assert "so few rows of " in caution.message
    sentence = list(found.sentences())[1]
    assert "it takes about " in sentence
    assert "nan" not in str(found).casefold()
    assert "it takes about " in found.contrasts[0].relative[1].reason


def test_the_caution_and_the_sentence_of_one_variant_name_one_number_of_rows() -> None:
    compared = 0
    for seed in range(17, 25):
        found = rs.experiment(made(seed, users=200), "Quantile(wait, q=0.999)")
        (caution,) = (caution for caution in found.warnings if caution.code == "RS641")
        needed, count = caution.message.partition("needs about ")[2].split(" rows, and there are ")
        text = list(found.sentences())[1]
        if f" {count} rows, and it takes about" in text:
            compared += 1
            assert f"it takes about {needed}." in text
    assert compared > 2


def test_enough_rows_are_not_warned_of() -> None:
    assert not rs.experiment(made(18), WAIT).warnings


def test_a_plan_follows_from_the_errors_of_variants() -> None:
    log = made(19, users=4000)
    plan = rs.power(log, None, WAIT)
    assert isinstance(plan, ExperimentPlan)
    (reach,) = plan.reaches
    (row,) = rs.experiment(log, WAIT).to_dicts()
    assert reach.value == by_hand(log.with_columns(variant=pl.lit("A")), "A", 0.9).value
    assert reach.detectable == pytest.approx(row["detectable_difference"], rel=0.15)
    with pytest.raises(DataError, match="it takes about"):
        rs.power(made(20, users=50), None, "Quantile(wait, q=0.999)")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"covariates": {WAIT: "click"}}, "a quantile is not adjusted for covariates"),
        ({"metrics": [WAIT, "CTR"], "covariates": {"CTR": WAIT}}, "a quantile has no value per unit"),
        ({"strata": "country"}, "is not adjusted for strata"),
        ({"primary": "CTR", "metrics": [], "guardrails": "Quantile(wait, q=0.5)"}, "write Quantile(wait, q=0.5, better='higher') or Quantile(wait, q=0.5, better='lower')"),
        ({"test": "permutation"}, "needs the values of all units, and a quantile"),
    ],
    ids=["covariates", "as a covariate", "strata", "a guardrail without a direction", "a test of units"],
)  # fmt: skip
def test_what_does_not_apply(options: dict[str, Any], said: str) -> None:
    asked = {"metrics": WAIT, **options}
    with pytest.raises(RankscopeError) as caught:
        rs.experiment(made(21), **asked).to_dicts()
    assert said in str(caught.value)


def test_a_variant_without_a_value() -> None:
    log = made(22).with_columns(wait=pl.when(pl.col("variant") == "A").then(pl.col("wait")))
    with pytest.raises(DataError, match="B has no row with a value"):
        rs.experiment(log, WAIT)
    with pytest.raises(InputError, match="no column 'weit'"):
        rs.experiment(log, "Quantile(weit, q=0.5)")
