"""Experiments: units and not rows are compared, the split comes first, covariates take chance away, and bad input is named."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from tests.made.experiments import log_of_days, log_of_users, users

import rankscope as rs
from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.inference import NAMES, NAMES_FOR_LOGS
from rankscope.inference.base import Correction, Interval, PairedTest
from rankscope.inference.effects import split_p_value, split_p_value_at_looks
from rankscope.panels.method import find_method


def welch(one: Any, other: Any) -> float:
    return float(stats.ttest_ind(one, other, equal_var=False).pvalue)


# --- laws -----------------------------------------------------------------------------------------------------------


def test_rows_are_rolled_up_to_units() -> None:
    log = log_of_users(seed=3)
    by_user = log.group_by("user", "variant").agg(pl.col("click").sum(), shown=pl.len())
    rows, rolled = rs.experiment(log, "CTR").to_dicts(), rs.experiment(by_user, "Ratio(click, shown)").to_dicts()
    for name in ("value", "baseline_value", "difference", "ci_lower", "ci_upper", "p_value", "units"):
        assert rows[0][name] == pytest.approx(rolled[0][name], rel=1e-12), name


def test_the_order_of_rows_and_the_names_of_users_do_not_matter() -> None:
    log = log_of_users(seed=4)
    renamed = log.sample(fraction=1.0, shuffle=True, seed=1).with_columns(pl.col("user").str.reverse() + "x")
    assert rs.experiment(log, "CTR").to_dicts() == rs.experiment(renamed, "CTR").to_dicts()


def test_the_other_baseline_mirrors_the_difference() -> None:
    one, other = (rs.experiment(users(seed=5), "Mean(revenue)", baseline=name).to_dicts()[0] for name in "AB")
    assert one["difference"] == -other["difference"]
    assert (one["ci_lower"], one["ci_upper"]) == (-other["ci_upper"], -other["ci_lower"])
    assert one["p_value"] == other["p_value"]
    assert 1 + one["relative"] == pytest.approx(1 / (1 + other["relative"]))
    assert 1 + one["relative_ci_lower"] == pytest.approx(1 / (1 + other["relative_ci_upper"]))


def test_the_unit_of_money_does_not_matter() -> None:
    table = users(seed=6)
    euros, cents = (
        rs.experiment(table.with_columns(pl.col("revenue") * by), "Mean(revenue)").to_dicts()[0] for by in (1, 100)
    )
    assert cents["difference"] == pytest.approx(100 * euros["difference"])
    assert (cents["p_value"], cents["relative"], cents["verdict"]) == (
        pytest.approx(euros["p_value"]), pytest.approx(euros["relative"]), euros["verdict"],
    )  # fmt: skip


def test_a_covariate_takes_chance_away_and_leaves_the_truth() -> None:
    table = users(seed=7, lift=0.5)
    plain = rs.experiment(table, "Mean(revenue)")["B", "Mean(revenue)"]
    adjusted = rs.experiment(table, "Mean(revenue)", covariates={"Mean(revenue)": "before"})["B", "Mean(revenue)"]
    assert adjusted.pair.means.error < 0.7 * plain.pair.means.error
    assert abs(adjusted.difference - 0.5) < 3 * adjusted.pair.means.error


def test_a_covariate_that_rows_repeat_is_one_of_the_user() -> None:
    log = log_of_users(seed=24)
    draws = np.random.default_rng(1).normal(size=log["user"].n_unique())
    before = pl.DataFrame({"user": log["user"].unique(maintain_order=True), "before": draws})
    rows = log.join(before, on="user", maintain_order="left")
    by_user = rows.group_by("user", "variant", "before").agg(pl.col("click").sum(), shown=pl.len())
    of_rows = rs.experiment(rows, "CTR", covariates={"CTR": "before"}).to_dicts()[0]
    of_users = rs.experiment(by_user, "Ratio(click, shown)", covariates={"Ratio(click, shown)": "before"}).to_dicts()[0]
    for name in ("value", "difference", "ci_lower", "p_value"):
        assert of_rows[name] == pytest.approx(of_users[name], rel=1e-9), name


def test_a_covariate_that_says_nothing_changes_nothing() -> None:
    table = users(seed=8).with_columns(pl.lit(1.0).alias("same"))
    plain, adjusted = (rs.experiment(table, "Mean(revenue)", covariates=c) for c in (None, {"Mean(revenue)": "same"}))
    assert plain.to_dicts()[0] == pytest.approx(adjusted.to_dicts()[0])


def test_strata_are_adjusted_for() -> None:
    table = users(seed=9).with_columns(pl.col("revenue") + pl.when(pl.col("country") == "de").then(60.0).otherwise(0.0))
    plain, adjusted = (rs.experiment(table, "Mean(revenue)", strata=s)["B", "Mean(revenue)"] for s in (None, "country"))
    assert adjusted.pair.means.error < 0.5 * plain.pair.means.error
    found = rs.experiment(table, "Mean(revenue)", strata="country", winsorise=0.99)
    assert list(found.variants.adjustment.remarks()) == ["adjusted for country", "cut at the 99.0% quantile"]


@pytest.mark.slow
def test_units_reject_as_often_as_alpha_says_where_rows_would_not() -> None:
    rng, of_units, of_rows, rounds = np.random.default_rng(11), 0, 0, 400
    for _ in range(rounds):
        log = log_of_users(seed=int(rng.integers(1 << 31)), count=300, lift=0.0)
        of_units += rs.experiment(log, "CTR").to_dicts()[0]["p_value"] <= 0.05
        single = log.with_columns(user=pl.int_range(pl.len()).cast(pl.String))
        of_rows += rs.experiment(single, "CTR").to_dicts()[0]["p_value"] <= 0.05
    assert of_units / rounds == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))
    assert of_rows / rounds > 0.15


# --- worked arithmetic --------------------------------------------------------------------------------------------------


def test_a_ratio_by_hand() -> None:
    table = pl.DataFrame(
        {
            "user": list("abcdef"),
            "variant": list("AAABBB"),
            "orders": [1, 2, 0, 3, 1, 2],
            "sessions": [2, 4, 2, 4, 2, 2],
        }
    )
    (row,) = rs.experiment(table, "Ratio(orders, sessions)").to_dicts()
    assert (row["baseline_value"], row["value"]) == (3 / 8, 6 / 8)
    # by how much the ratio moves without each user, (n - ratio x d) / (8 - d); two of three parts of their squares: the jackknife
    squares = [
        sum((n - ratio * d) ** 2 / (8 - d) ** 2 for n, d in arm) * 2 / 3
        for ratio, arm in ((6 / 8, ((3, 4), (1, 2), (2, 2))), (3 / 8, ((1, 2), (2, 4), (0, 2))))
    ]
    # shares 1/4, 1/2, 1/4; their squares over one less the share 1/12, 1/2, 1/12
    freedom = 1 / (3 / 8 + (2 / 3) ** 2 - (1 / 4 + 2 / 144))
    together = sum(squares) ** 2 / sum(square**2 / freedom for square in squares)
    reach = math.sqrt(sum(squares)) * quantile_of_t(together)
    assert row["ci_upper"] - row["ci_lower"] == pytest.approx(2 * reach, rel=1e-9)


def quantile_of_t(freedom: float) -> float:
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


def test_values_are_cut_at_a_quantile() -> None:
    table = users(seed=12)
    cut = float(np.quantile(table["revenue"].to_numpy(), 0.9))
    ours = rs.experiment(table, "Mean(revenue)", winsorise=0.9).to_dicts()[0]
    by_hand = rs.experiment(table.with_columns(pl.col("revenue").clip(upper_bound=cut)), "Mean(revenue)").to_dicts()[0]
    assert ours.pop("metric") == f"Mean(revenue), cut at {words.amount(cut)}"
    assert by_hand.pop("metric") == "Mean(revenue)"
    assert ours == pytest.approx(by_hand)


# --- the split ------------------------------------------------------------------------------------------------------------


def test_a_split_that_is_not_as_planned_withholds_the_verdict() -> None:
    table = users(seed=13, lift=3.0)
    lost = table.filter((pl.col("variant") == "A") | (pl.col("user").str.slice(1).cast(pl.Int64) % 5 > 0))
    found = rs.experiment(lost, "Mean(revenue)")
    assert found.exit_code == 3
    assert found.to_dicts()[0]["verdict"] == "withheld"
    assert not math.isnan(found.to_dicts()[0]["difference"])
    first, second = list(found.sentences())[:2]
    assert first.startswith("Sample ratio mismatch: A 1,000 and B 800 users where A 50.0% and B 50.0% were planned")
    assert second.startswith("The verdict is withheld")
    assert rs.experiment(lost, "Mean(revenue)", split="A=5,B=4").exit_code == 0


# --- what is told -----------------------------------------------------------------------------------------------------------


def test_the_primary_metric_decides_and_guardrails_are_told() -> None:
    sessions = "Mean(sessions, better='higher')"
    found = rs.experiment(
        users(seed=14, lift=3.0), ["Mean(orders)"], primary="Mean(revenue)", guardrails={sessions: "20%"}
    )
    assert [row["role"] for row in found.to_dicts()] == ["primary", "secondary", "guardrail"]
    assert found["B", "Mean(revenue)"].verdict == "better"
    assert found["B", sessions].verdict in {"equivalent", "not worse"}
    assert any(text.startswith("Guardrail: ") for text in found.sentences())
    record = json.loads(found.to_json())
    assert record["schema"] == "rankscope/experiment/1"
    assert record["sample_ratio"]["holds"] is True


def test_help_offers_the_methods_that_work_for_variants() -> None:
    table = users(seed=3, count=200)
    of_kind: dict[str, Any] = {"test": PairedTest, "interval": Interval, "correction": Correction}
    for kind, base in of_kind.items():
        for name in NAMES[kind]:
            options: dict[str, Any] = {kind: name} | (
                {"test": name} if kind == "interval" and name in NAMES["test"] else {}
            )
            try:
                assert rs.experiment(table, "Mean(revenue)", **options).contrasts
                works = True
            except InputError:
                works = False
            assert works == (name in NAMES_FOR_LOGS[kind]), (find_method(base, name), options)


def test_a_table_of_totals_is_not_taken_for_users() -> None:
    totals = {"variant": ["A", "B"], "members": [90, 95], "sum": [9.0, 12.0], "sum_squares": [20.0] * 2}
    with pytest.raises(InputError, match=r"column sum_squares holds a sum of squares.*columns='NAME=n'"):
        rs.experiment(totals, "Mean(sum)")
    assert rs.experiment(totals, "Mean(sum)", columns={"members": "n"}).units.count == 185


def test_the_test_of_the_split_is_named() -> None:
    table = users(seed=3, count=300)
    three = table.with_columns(variant=pl.Series(list("ABC") * 100))
    four = table.with_columns(variant=pl.Series(list("ABCD") * 75))
    several = "binomial tests, Bonferroni-corrected"  # fewer than 100 users each
    for log, name in ((table, "binomial test"), (three, "chi-square test"), (four, several)):
        assert rs.experiment(log, "Mean(revenue)").sample_ratio.record()["test"] == name


@pytest.mark.parametrize("test", ["anytime(first=200)", "group_sequential(look=2, looks=4)"])
def test_at_looks_the_split_is_checked_by_a_test_that_holds_at_looks(test: str) -> None:
    table = users(seed=3, count=300).with_columns(variant=pl.Series(["A"] * 120 + ["B"] * 180))
    looked, plain = (rs.experiment(table, "Mean(revenue)", test=name).sample_ratio for name in (test, None))
    counts = np.array([120, 180]), np.array([0.5, 0.5])
    assert (looked.test, plain.test) == ("sequential multinomial test", "binomial test")
    assert looked.p_value == split_p_value_at_looks(*counts)
    assert plain.p_value == split_p_value(*counts) != looked.p_value
    planned = rs.experiment(table, "Mean(revenue)", test=test, split="A=2,B=3").sample_ratio
    assert (planned.expected, planned.p_value) == ({"A": 0.4, "B": 0.6}, 1.0)


def test_the_direction_of_a_column_is_asked_for_if_it_decides_and_said_if_it_is_assumed() -> None:
    table = users(seed=14, lift=3.0).with_columns(latency=pl.col("revenue"))
    said = "Mean(latency): higher is assumed to be better. If lower is, write Mean(latency, better='lower')."
    assumed = rs.experiment(table, "Mean(latency)")
    assert said in list(assumed.sentences())
    assert json.loads(assumed.to_json())["conventions"]["higher_assumed_better"] == ["Mean(latency)"]
    for metric in ("Mean(revenue)", "Mean(latency, better='higher')", "Mean(latency, better='lower')"):
        assert not any("assumed" in text for text in rs.experiment(table, metric).sentences()), metric
    lower = rs.experiment(table, "Mean(latency, better='lower')").contrasts[0]
    assert (lower.verdict, lower.p_value) == ("worse", assumed.contrasts[0].p_value)
    for call in (
        lambda: rs.experiment(table, "Mean(revenue)", guardrails="Mean(latency)"),
        lambda: rs.gate(table, metrics="Mean(latency)"),
    ):
        with pytest.raises(
            InputError, match=r"write Mean\(latency, better='higher'\) or Mean\(latency, better='lower'\)"
        ):
            call()


def test_many_variants_of_which_nothing_can_be_told_share_a_sentence() -> None:
    table = users(seed=14, count=2000).with_columns(variant=pl.Series(list("ABCDEFGHIJ") * 200))
    found = rs.experiment(table, "Mean(sessions, better='higher')")
    split, *said = found.sentences()
    open_ones = [c for c in found.contrasts if c.verdict == "cannot tell"]
    assert len(open_ones) > 3
    assert split.startswith("Sample ratio")
    assert len(said) == 1 + len(found.contrasts) - len(open_ones)
    assert said[-1].startswith("No clear difference between A and ")
    assert all(c.run in said[-1] for c in open_ones)
    few = rs.experiment(table.filter(pl.col("variant").is_in(list("ABC"))), "Mean(sessions, better='higher')")
    assert len(list(few.sentences())) == 1 + 2


def test_metrics_beside_the_primary_one_are_corrected_together() -> None:
    found = rs.experiment(users(seed=15), ["Mean(orders)", "Mean(sessions)"], primary="Mean(revenue)")
    first, *others = found.to_dicts()
    assert first["p_value_adjusted"] == first["p_value"]
    assert min(o["p_value_adjusted"] for o in others) == pytest.approx(min(1.0, 2 * min(o["p_value"] for o in others)))


def test_slices_have_a_correction_of_their_own() -> None:
    found = rs.experiment(users(seed=16, lift=2.0), "Mean(revenue)", slices="country")
    parts = found.to_dicts("slices")
    assert {part["slice"] for part in parts} == {"de", "fr", "it"}
    assert all(part["p_value_adjusted"] >= part["p_value"] for part in parts)
    assert sum(part["units"] for part in parts) == 2000


def test_too_few_units_for_their_skewness_are_told() -> None:
    even, uneven = (
        users(seed=17, count=400),
        users(seed=17).filter((pl.col("variant") == "A") | (pl.col("user").hash(1) % 9 == 0)),
    )
    codes = [
        {caution.code for caution in rs.experiment(table, metric, split=split).warnings}
        for table, metric, split in (
            (uneven, "Mean(revenue)", {"A": 9, "B": 1}),
            (uneven, "Mean(sessions)", {"A": 9, "B": 1}),
            (even, "Mean(revenue)", None),
        )
    ]
    assert ["RS640" in found for found in codes] == [True, False, False]


@pytest.mark.parametrize("test", ["anytime(first=200)", "group_sequential(look=2, looks=4)"])
def test_looks_are_paid_for(test: str) -> None:
    plain, looked = (
        rs.experiment(users(seed=18, lift=1.0), "Mean(revenue)", test=name).to_dicts()[0] for name in (None, test)
    )
    assert looked["difference"] == plain["difference"]
    assert looked["p_value"] > plain["p_value"]
    assert looked["ci_upper"] - looked["ci_lower"] > plain["ci_upper"] - plain["ci_lower"]


# --- bad input ------------------------------------------------------------------------------------------------------------------


def test_units_with_several_variants_are_left_out_and_counted() -> None:
    table = pl.concat([users(seed=19), users(seed=19).head(7).with_columns(variant=pl.lit("B"))])
    before = table.filter(
        pl.col("user").is_in(users(seed=19).head(7).filter(pl.col("variant") == "A")["user"].implode()).not_()
    )
    found = rs.experiment(table, "Mean(revenue)")
    codes = {caution.code: caution.message for caution in found.warnings}
    assert "were in several variants, and are left out" in codes["RS605"]
    assert found.units.count == before["user"].n_unique()


def test_what_is_wrong_with_the_log_is_told_by_the_codes_of_check(monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of_users(seed=3)
    lists = log.with_columns(impression=pl.int_range(pl.len()).cast(str))
    sound = {caution.code for caution in rs.experiment(lists, "CTR").warnings}
    broken = pl.concat([lists, lists.head(7)])
    found = {caution.code: caution for caution in rs.experiment(broken, "CTR").warnings}
    assert set(found) - sound == {"RS604"}
    assert {"RS604"} <= {row["code"] for row in rs.check(broken).to_dicts()}
    assert "7 rows repeat an item" in found["RS604"].message
    thrice = pl.concat([broken, lists.head(5), lists.head(5)])  # 17 rows of 7 lists, of which three are named
    assert "in 7 lists" in (text := rs.check(thrice).to_markdown())
    assert " · 4 more" in text
    monkeypatch.setattr("rankscope.experiments.variants.MAX_ROWS_FOR_GROUPED_CHECKS", len(log))
    assert "RS604" not in {
        caution.code for caution in rs.experiment(broken, "CTR").warnings
    }  # long logs are left to check


def test_a_mean_of_a_column_with_empty_cells_is_over_users_with_a_value() -> None:
    table = users(seed=12, count=400).with_columns(
        spent=pl.when(pl.int_range(pl.len()) % 10 > 0).then(pl.col("revenue"))
    )
    found = rs.experiment(table, "Mean(spent)")
    sums = [table.filter(pl.col("variant") == name)["spent"].drop_nulls().to_numpy() for name in "AB"]
    assert found.to_dicts()[0]["baseline_value"] == pytest.approx(sums[0].mean())
    assert found["Mean(spent)"].p_value == pytest.approx(welch(*sums[::-1]), rel=1e-9)
    assert found["Mean(spent)"].queries == 360
    for warnings in (found.warnings, rs.online(table, "Mean(spent)").warnings):
        (told,) = [caution for caution in warnings if caution.code == "RS645"]
        assert told.message == "Mean(spent) leaves out 40 users of 400, for whom spent is empty"
        assert told.hint == "if empty means 0, write Mean(spent, empty='zero')"
    assert not [one for one in rs.experiment(table, "Mean(orders)").warnings if one.code == "RS645"]


def test_empty_cells_count_as_0_if_zeros_are_asked_for() -> None:
    table = users(seed=12, count=400).with_columns(
        revenue=pl.when(pl.int_range(pl.len()) % 10 > 0).then(pl.col("revenue"))
    )
    metric = "Mean(revenue, empty='zero')"
    found = rs.experiment(table, metric)
    filled = rs.experiment(table.with_columns(pl.col("revenue").fill_null(0.0)), "Mean(revenue)")
    assert found[metric].p_value == filled["Mean(revenue)"].p_value
    assert "RS645" not in {caution.code for caution in found.warnings}
    ratio = rs.experiment(table, "Ratio(revenue, orders)")
    (told,) = [caution for caution in ratio.warnings if caution.code == "RS645"]
    assert told.message == "revenue is empty in 40 of 400 rows, which Ratio(revenue, orders) counts as 0"


@pytest.mark.parametrize(("metric", "codes"), [("CTR", set()), ("RPM", {"RS612"}), ("Mean(revenue)", {"RS612"})])
def test_only_columns_that_metrics_read_are_doubted(metric: str, codes: set[str]) -> None:
    rows = log_of_users(seed=2).with_columns(revenue=pl.when(pl.int_range(pl.len()) % 9 == 0).then(-1.0).otherwise(0.0))
    for found in (rs.experiment(rows, metric), rs.online(rows, metric)):
        assert {caution.code for caution in found.warnings} & {"RS612"} == codes


def test_large_values_with_a_small_spread_are_compared_as_any_others() -> None:
    table = users(seed=4, count=2000)
    draws = np.random.default_rng(4).normal(0, 3, 2000) + 0.6 * (table["variant"] == "B").to_numpy()
    small, large = (
        rs.experiment(table.with_columns(x=pl.Series(level + draws)), "Mean(x)")["Mean(x)"] for level in (0, 1e9)
    )
    sides = [draws[(table["variant"] == name).to_numpy()] for name in "BA"]
    assert small.p_value == pytest.approx(welch(*sides), rel=1e-9)
    assert large.p_value == pytest.approx(small.p_value, rel=1e-3)
    assert large.verdict == small.verdict == "better"
    assert "differs by the same" not in large.sentence()


@pytest.mark.parametrize("test", [None, "t", "bootstrap", "permutation"])
def test_variants_of_one_value_each_are_compared_by_permutations_whatever_test_is_named(test: str | None) -> None:
    table = pl.DataFrame({"user": [f"u{i}" for i in range(12)], "variant": ["A", "B"] * 6, "x": [4, 5] * 6})
    (found,) = rs.experiment(table, "Mean(x)", test=test).contrasts
    assert found.p_value == pytest.approx(2 / math.comb(12, 6))
    assert found.test == "permutation"
    assert "by a permutation test" in found.sentence()
    alike = rs.experiment(table.head(6), "Mean(x)", test=test).contrasts[0]
    assert "every user of B has the same value, and of A" in alike.sentence()


@pytest.mark.parametrize(("several", "verdict", "code"), [(150, "better", 0), (250, "withheld", 3)])
def test_the_verdict_is_withheld_if_a_tenth_of_users_had_several_variants(
    several: int, verdict: str, code: int
) -> None:
    table = users(seed=5, lift=2.0)
    other = pl.when(pl.col("variant") == "A").then(pl.lit("B")).otherwise(pl.lit("A"))
    found = rs.experiment(pl.concat([table, table.head(several).with_columns(variant=other)]), "Mean(revenue)")
    assert (found["Mean(revenue)"].verdict, found.exit_code) == (verdict, code)
    withheld = [text for text in found.sentences() if text.startswith("The verdict is withheld: 12.5% of users were")]
    assert len(withheld) == (code == 3)


def test_if_all_users_had_all_variants_nothing_can_be_compared() -> None:
    table = users(seed=5)
    both = pl.concat([table.with_columns(variant=pl.lit(name)) for name in "AB"])
    with pytest.raises(
        DataError,
        match=r"each user has rows of several variants \(A and B\), which leaves nothing to compare.*columns='NAME=unit_id'",
    ):
        rs.experiment(both, "Mean(revenue)")


def test_units_without_a_variant_are_left_out_and_counted() -> None:
    table = users(seed=20).with_columns(variant=pl.when(pl.col("user") == "u3").then(None).otherwise(pl.col("variant")))
    found = rs.experiment(table, "Mean(revenue)")
    assert found.units.count == 1999
    assert any(
        caution.message.startswith("1 user of 2,000 has no variant, and is left out") for caution in found.warnings
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metrics": "Mean(revenu)"}, "no column 'revenu', did you mean revenue"),
        ({"metrics": "Mean(country)"}, "is not a number"),
        ({"metrics": None}, "name a metric, like -m 'Mean("),
        ({"metrics": "CTR"}, "CTR needs the column click"),
        ({"metrics": "Mean(revenue)", "baseline": "C"}, "baseline 'C': no variant is called that"),
        ({"metrics": "Mean(revenue)", "split": "A=0.5,C=0.5"}, "split C: no variant is called that"),
        ({"metrics": "Mean(revenue)", "split": "A=0.5,B=-1"}, "a share is a number above 0"),
        ({"metrics": "Mean(revenue)", "covariates": "before"}, "write METRIC=COLUMN"),
        ({"metrics": "Mean(revenue)", "covariates": {"Mean(orders)": "before"}}, "it is not computed"),
        ({"metrics": "Mean(revenue)", "guardrails": "Mean(revenue)"}, "decides, and is a guardrail"),
        ({"metrics": "Mean(revenue)", "guardrails": "Mean(orders)=much"}, "much"),
        ({"metrics": "Mean(revenue)", "winsorise": 0.3}, "a quantile above 0.5 and below 1"),
        ({"metrics": "Mean(revenue)", "baseline": "a"}, "no variant is called that, did you mean A?"),
        ({"metrics": "Mean(revenue)", "split": "0.9,0.1"}, "split 0.9: name the variant of each share, like A=0.9,B=0.1"),
        ({"metrics": "Mean(revenue)", "strata": "revenue"}, "name a column with few values, like country"),
        ({"metrics": "Mean(revenue)", "guardrails": "Mean(sessions)=x"}, "guardrail Mean(sessions)=x: the loss that would be accepted must be a number"),
        ({"metrics": "Mean(revenue)", "strata": "planet"}, "no column 'planet' to group by"),
        ({"metrics": "Mean(revenue)", "slices": "planet"}, "no column 'planet' to group by"),
        ({"metrics": "Mean(revenue)", "test": "wilcoxon"}, "for units of their own use t, anytime"),
        ({"metrics": "Mean(revenue)", "correction": "max_t"}, "each has units of its own: use holm or bh"),
    ],
    ids=lambda part: part if isinstance(part, str) else ", ".join(part),
)  # fmt: skip
def test_bad_options(options: dict[str, Any], said: str) -> None:
    with pytest.raises((InputError, DataError)) as caught:
        rs.experiment(users(seed=21), options.pop("metrics"), **options).to_dicts()
    assert said in str(caught.value)


def test_one_variant_is_no_experiment() -> None:
    with pytest.raises(DataError, match="there is one variant, A: an experiment compares two or more"):
        rs.experiment(users(seed=22).filter(pl.col("variant") == "A"), "Mean(revenue)")


def test_a_metric_without_anything_below_the_line() -> None:
    table = users(seed=23).with_columns(none=pl.lit(0.0))
    with pytest.raises(DataError, match=r"Ratio\(orders, none\)"):
        rs.experiment(table, "Ratio(orders, none)")


def test_a_metric_without_a_unit_is_refused_in_words_with_a_cut_too() -> None:
    table = users(seed=3, count=40).with_columns(nothing=pl.lit(None, pl.Float64), zero=pl.lit(0.0))
    for metric, said in (
        ("Mean(nothing)", "Mean(nothing): A has fewer than two users with a value"),
        ("Ratio(revenue, zero)", "Ratio(revenue, zero): A has no zero"),
        ("Attribute(nothing)", "Attribute(nothing): A has no users with a value"),
    ):
        for cut in (None, 0.9):
            with pytest.raises(DataError) as error:
                rs.experiment(table, ["Mean(revenue)", metric], winsorise=cut)
            assert str(error.value) == said


def test_a_cut_that_would_leave_nothing_is_not_made_and_told() -> None:
    table = users(seed=31).with_columns(bought=(pl.col("revenue").rank() > 1950).cast(int))
    cut, plain = (rs.experiment(table, ["Mean(bought)", "Mean(revenue)"], winsorise=share) for share in (0.95, None))
    names = ("difference", "p_value", "verdict")
    assert [cut.to_dicts()[0][name] for name in names] == [plain.to_dicts()[0][name] for name in names]
    assert cut.to_dicts()[1]["difference"] != plain.to_dicts()[1]["difference"]
    (told,) = [caution.message for caution in cut.warnings if caution.code == "RS644"]
    assert told == (
        "Mean(bought) is not cut: 2.5% of users are above its lowest value, and a cut at the 95.0% quantile would make them all equal"
    )


@pytest.mark.parametrize(("one", "other"), [(3, 3), (3, 5), (6, 6)], ids=["three and three", "three and five", "six and six"])  # fmt: skip
def test_variants_without_any_spread_have_the_exact_p_value(one: int, other: int) -> None:
    values = [0.0] * one + [1.0] * other
    table = pl.DataFrame({"user": range(one + other), "variant": ["A"] * one + ["B"] * other, "bought": values})
    found = rs.experiment(table, "Mean(bought)")["B", "Mean(bought)"]
    exact = stats.fisher_exact([[0, other], [one, 0]]).pvalue
    assert found.p_value == pytest.approx(exact, rel=1e-12)
    assert found.verdict == ("better" if exact <= 0.05 else "cannot tell")


def test_a_windowed_metric_counts_the_units_that_were_observed_for_long_enough() -> None:
    log = log_of_days(seed=61, days=9)
    found = rs.experiment(log, "Retention@2")
    (row,) = found.to_dicts()
    values = rs.online(log, "Retention@2").to_dicts()[0]
    assert row["units"] == values["units"] < found.units.count
    left_out = found.units.count - row["units"]
    assert (
        f"Retention@2 counts {row['units']} users and leaves out {left_out}, first seen too near the end of the log"
        in found.notes
    )


def events(**columns: Any) -> pl.DataFrame:
    """Four purchases of each of 60 users, without any other event."""
    base: dict[str, Any] = {
        "user": [f"u{i % 60}" for i in range(240)],
        "variant": ["AB"[i % 2] for i in range(240)],
        "amount": [1.0 + i % 7 for i in range(240)],
        "event": ["purchase"] * 240,
    }
    return pl.DataFrame(base | columns)


def test_a_table_of_events_lacks_users_without_events() -> None:
    (told,) = [one for one in rs.experiment(events(), "Mean(amount)").warnings if one.code == "RS646"]
    assert told.message.startswith("log: if its 240 rows are events, users without one are missing from the 60 users")
    for table, metric in (
        (events(item="a"), "Mean(amount)"),
        (events(), "Ratio(amount, variant_b)"),
        (users(seed=1), "Mean(revenue)"),
    ):
        asked = table.with_columns(variant_b=pl.lit(1.0))
        assert "RS646" not in {one.code for one in rs.experiment(asked, metric).warnings}


def test_empty_amounts_of_other_events_are_no_problem() -> None:
    amounts = [1.0 + i % 7 if i % 4 else None for i in range(240)]
    kinds = ["purchase" if i % 4 else "view" for i in range(240)]
    table = events(amount=amounts, event=kinds)
    filtered = rs.experiment(table, "Mean(amount, where=\"event = 'purchase'\")")
    assert "RS611" not in {one.code for one in filtered.warnings}
    assert "RS611" in {one.code for one in rs.experiment(table, "Mean(amount)").warnings}
    assigned = {"user": [f"u{i}" for i in range(60)], "variant": ["AB"[i % 2] for i in range(60)]}
    found = rs.experiment(assignments=pl.DataFrame(assigned), events=table.drop("variant"), metrics="Mean(amount)")
    assert "RS611" not in {one.code for one in found.warnings}


def test_an_unknown_metric_names_the_spelling_of_a_column() -> None:
    with pytest.raises(InputError, match=r"a column of numbers is written Mean\(retention_7\)$"):
        rs.experiment(users(seed=1), "retention_7")


# --- rounding, and changes of large values --------------------------------------------------------------------------------


@pytest.mark.parametrize("mixed", [False, True], ids=["between variants", "within variants"])
def test_values_that_differ_by_rounding_are_the_same(mixed: bool) -> None:
    users = np.arange(40)
    rounded = users % 4 < 2 if mixed else users % 2 == 0
    table = {"user": users, "variant": np.where(users % 2, "B", "A"), "y": np.where(rounded, 0.1 + 0.2, 0.3)}
    (c,) = rs.experiment(pl.DataFrame(table), "Mean(y)").contrasts
    assert (c.verdict, c.differing) == ("same", 0)
    assert c.sentence() == "B and A score the same on Mean(y), on each of 40 users."


def test_a_lift_without_an_interval_says_why() -> None:
    spent = [0.0] * 38 + [9.0, 8.0]  # one buyer a variant
    found = rs.experiment({"user": range(40), "variant": ["A", "B"] * 20, "spent": spent}, "Mean(spent)")
    assert found.contrasts[0].relative[1].ends != found.contrasts[0].bounds.ends
    assert "No interval of the lift: the mean of the baseline is not clear of 0." in str(found).replace("\n", "")


def test_a_lift_at_large_values_is_no_row_of_zeros() -> None:
    users = np.arange(40)
    y = 1e9 + np.random.default_rng(3).normal(0, 3, 40)
    table = {"user": users, "variant": np.where(users % 2, "B", "A"), "y": y}
    found = rs.experiment(pl.DataFrame(table), "Mean(y)")
    (c,) = found.contrasts
    (low, high), lift = c.relative[1].ends, c.relative[0]
    assert max(-low, high) < 1e-8
    said = re.search(r"Lift (\S+)% \((\S+)% to (\S+)%\)", str(found))
    assert said is not None
    numbers = [float(text.replace("\N{MINUS SIGN}", "-")) / 100 for text in said.groups()]
    assert numbers == pytest.approx([lift, low, high], abs=0.06 * max(-low, high))
    assert all(numbers)
