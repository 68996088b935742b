"""Whether the difference depends on an attribute: one test each, corrected over attributes, also where users have several values."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.made.experiments import log_of_days, users

import rankscope as rs
from rankscope.cli import main

# --- laws -----------------------------------------------------------------------------------------------------------


def test_two_slices_are_compared_by_welchs_test_of_differences_of_differences() -> None:
    from scipy.stats import t

    table = users(seed=91).with_columns(kind=pl.col("user").hash(1) % 2)
    found = rs.experiment(table, "Mean(revenue)", slices="kind")
    (row,) = found.to_dicts("heterogeneity")
    one, other = (part.contrast.pair.means for part in found.slices)
    error = math.hypot(one.error, other.error)
    freedom = error**4 / (one.error**4 / one.freedom + other.error**4 / other.freedom)
    assert row["statistic"] == pytest.approx(((one.mean - other.mean) / error) ** 2, rel=1e-9)
    assert row["p_value"] == pytest.approx(2 * t.sf(abs(one.mean - other.mean) / error, freedom), rel=1e-9)
    assert row["shared"] == 0


def test_where_everybody_has_both_values_it_is_the_test_of_users_own_differences() -> None:
    from scipy.stats import ttest_ind

    draws = np.random.default_rng(92)
    count = 400
    phone = draws.gamma(2.0, 3.0, count)
    desktop = 0.8 * phone + draws.gamma(2.0, 1.0, count) + 0.3 * (np.arange(count) % 2)
    table = pl.DataFrame({
        "user": [*range(count)] * 2, "variant": ["A", "B"] * count, "device": ["phone"] * count + ["desktop"] * count,
        "revenue": [*phone, *desktop],
    })  # fmt: skip
    (row,) = rs.experiment(table, "Mean(revenue)", slices="device").to_dicts("heterogeneity")
    theirs = ttest_ind((desktop - phone)[1::2], (desktop - phone)[::2], equal_var=False)
    assert row["shared"] == count
    assert row["statistic"] == pytest.approx(theirs.statistic**2, rel=1e-9)
    assert row["p_value"] == pytest.approx(
        theirs.pvalue, rel=0.02
    )  # degrees of freedom are those of independent slices


def test_the_names_of_values_and_their_types_do_not_matter() -> None:
    table = users(seed=93)
    kinds = {
        "text": pl.col("country"),
        "whole": pl.col("country").replace_strict({"de": 3, "fr": 1, "it": 2}, return_dtype=pl.Int64),
        "number": pl.col("country").replace_strict({"de": 0.5, "fr": 1.0, "it": 2.5}, return_dtype=pl.Float64),
    }
    found = [
        rs.experiment(table.with_columns(kind=kind), "Mean(revenue)", slices="kind").to_dicts("heterogeneity")[0]
        for kind in kinds.values()
    ]
    assert [row["slices"] for row in found] == [3, 3, 3]
    assert found[1]["p_value"] == pytest.approx(found[0]["p_value"], rel=1e-9)
    assert found[2]["p_value"] == pytest.approx(found[0]["p_value"], rel=1e-9)
    flag = rs.experiment(table.with_columns(kind=pl.col("country") == "de"), "Mean(revenue)", slices="kind")
    assert flag.to_dicts("heterogeneity")[0]["slices"] == 2


def test_rows_without_a_value_are_in_no_slice() -> None:
    table = users(seed=98)
    nowhere = table.with_columns(country=pl.lit(None, pl.String), revenue=pl.col("revenue") * 3 + 1)
    both = pl.concat([table, nowhere]).with_columns(time=pl.lit("2024-05-01"))
    (with_more,) = rs.experiment(both, "Mean(revenue)", slices="country").to_dicts("heterogeneity")
    (alone,) = rs.experiment(table, "Mean(revenue)", slices="country").to_dicts("heterogeneity")
    assert with_more["shared"] == 0
    assert with_more["p_value"] == pytest.approx(alone["p_value"])


def test_the_tests_are_corrected_over_attributes() -> None:
    table = users(seed=94).with_columns(other=pl.col("user").hash(1) % 3, third=pl.col("user").hash(2) % 3)
    rows = rs.experiment(table, "Mean(revenue)", slices=["country", "other", "third"]).to_dicts("heterogeneity")
    assert min(row["p_value_adjusted"] for row in rows) == pytest.approx(min(1.0, 3 * min(r["p_value"] for r in rows)))


@pytest.mark.slow
def test_twenty_attributes_that_say_nothing_speak_in_no_more_experiments_than_alpha_says() -> None:
    names = [f"a{i}" for i in range(20)]
    rounds, spoken = 120, 0
    for seed in range(rounds):
        draws = np.random.default_rng(9000 + seed)
        table = users(seed=seed, count=600, lift=1.0).with_columns(
            pl.Series(name, draws.integers(0, 2 + i % 3, 600)) for i, name in enumerate(names)
        )
        found = rs.experiment(table, "Mean(revenue)", slices=names)
        spoken += any("depends on" in text for text in found.sentences())
    assert spoken / rounds == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / rounds))


# --- what is told -------------------------------------------------------------------------------------------------------


def of_one_country(seed: int, more: float) -> pl.DataFrame:
    own = (pl.col("country") == "it") & (pl.col("variant") == "B")
    return users(seed=seed).with_columns(pl.col("revenue") + pl.when(own).then(more).otherwise(0.0))


def test_an_effect_that_depends_on_an_attribute_is_told_with_its_extremes() -> None:
    found = rs.experiment(of_one_country(95, 4.0), "Mean(revenue)", slices=["country", "sessions"])
    (said,) = [text for text in found.sentences() if "depends on" in text]
    assert said.startswith("The difference between B and A on Mean(revenue) depends on country: from ")
    assert "where it is it (p < 0.001, Holm-corrected for 2 tests)" in said
    assert [row["verdict"] for row in found.to_dicts("heterogeneity")] == ["depends", "cannot tell"]


def test_nothing_is_told_once_and_quietly_where_slices_cannot_be_told_apart() -> None:
    found = rs.experiment(users(seed=96), "Mean(revenue)", slices=["country", "sessions"])
    assert not any("slices" in text or "depends" in text for text in found.sentences())
    assert found.to_text().count("No difference between slices can be told (country and sessions).") == 1
    without = rs.experiment(users(seed=96), "Mean(revenue)")
    assert "No difference between slices" not in without.to_text()
    assert "heterogeneity" not in without.json_document()


def test_it_is_withheld_with_the_verdict() -> None:
    table = of_one_country(97, 6.0).filter(
        (pl.col("variant") == "A") | (pl.col("user").str.slice(1).cast(pl.Int64) % 4 == 1)
    )
    found = rs.experiment(table, "Mean(revenue)", slices="country")
    assert found.to_dicts("heterogeneity")[0]["verdict"] == "withheld"
    assert {row["verdict"] for row in found.to_dicts("slices")} == {"withheld"}
    quiet = rs.experiment(users(seed=96), "Mean(revenue)", slices="country", split={"A": 0.9, "B": 0.1})
    assert "No difference between slices" not in quiet.to_text()
    assert not any("depends" in text for text in found.sentences())


def test_slices_that_are_small_are_left_out_of_the_test() -> None:
    table = users(seed=98).with_columns(
        country=pl.when(pl.col("user").is_in(["u0", "u1", "u2", "u3"])).then(pl.lit("li")).otherwise(pl.col("country"))
    )
    found = rs.experiment(table, "Mean(revenue)", slices="country")
    assert {row["slice"] for row in found.to_dicts("slices")} == {"de", "fr", "it", "li"}
    assert found.to_dicts("heterogeneity")[0]["slices"] == 3


def test_a_slice_with_few_units_in_one_variant_is_left_out_of_the_test() -> None:
    rows = [
        (f"{country} {variant} {number}", country, variant, float(number % 7))
        for country, sizes in {"de": (40, 40), "fr": (40, 40), "li": (40, 29)}.items()
        for variant, size in zip("AB", sizes, strict=True)
        for number in range(size)
    ]
    table = pl.DataFrame(rows, schema=["user", "country", "variant", "revenue"], orient="row")
    found = rs.experiment(table, "Mean(revenue)", slices="country")
    assert found.to_dicts("heterogeneity")[0]["slices"] == 2


def test_what_slices_leave_out_is_noted() -> None:
    own = pl.when(pl.col("user") == "u0").then(pl.lit("li")).when(pl.col("user").is_in(["u1", "u2"])).then(None)
    found = rs.experiment(
        users(seed=98).with_columns(country=own.otherwise(pl.col("country"))), "Mean(revenue)", slices="country"
    )
    assert list(found.notes)[-2:] == [
        "country: li has too few users for Mean(revenue) in a variant, and is left out",
        "country: 2 users have rows without it, which are in no slice",
    ]


def test_several_columns_may_stand_in_one_text() -> None:
    found = rs.experiment(users(seed=98), "Mean(revenue)", slices="country,sessions")
    assert [row["attribute"] for row in found.to_dicts("heterogeneity")] == ["country", "sessions"]


def test_all_slices_of_all_attributes_are_corrected_together() -> None:
    table = users(seed=94).with_columns(other=pl.col("user").hash(1) % 2)
    found = rs.experiment(table, "Mean(revenue)", slices=["country", "other"], correction="bonferroni")
    rows = found.to_dicts("slices")
    assert [row["slice"] for row in rows] == ["de", "fr", "it", "0", "1"]
    for row in rows:
        assert row["p_value_adjusted"] == pytest.approx(min(1.0, 5 * row["p_value"]), rel=1e-9)
        assert row["metric"] == "Mean(revenue)"
    gate = rs.gate(table, metrics="Mean(revenue)", slices=["country", "other"])
    assert [check.slice for check in gate.checks] == [
        None, "country=de", "country=fr", "country=it", "other=0", "other=1",
    ]  # fmt: skip


def test_an_attribute_of_many_values_makes_no_slices_and_is_noted() -> None:
    table = users(seed=94).with_columns(cohort=pl.col("user").hash(1) % 31)
    note = "cohort has 31 values, too many for slices (at most 30), and is left out"
    found = rs.experiment(table, "Mean(revenue)", slices=["cohort", "country"])
    assert {row["attribute"] for row in found.to_dicts("slices")} == {"country"}
    assert [row["attribute"] for row in found.to_dicts("heterogeneity")] == ["country"]
    assert note in found.notes
    gate = rs.gate(table, metrics="Mean(revenue)", slices="cohort")
    assert [check.slice for check in gate.checks] == [None]
    assert note in gate.notes
    alone = rs.experiment(table, "Mean(revenue)", slices="cohort")
    assert list(alone.slices) == []
    assert "within slices" not in alone.to_text()


def test_one_value_is_no_test() -> None:
    table = users(seed=99).with_columns(same=pl.lit("x"))
    found = rs.experiment(table, "Mean(revenue)", slices="same")
    assert found.to_dicts("heterogeneity") == []
    assert "No difference between slices" not in found.to_text()


def test_rows_of_a_user_on_several_devices_are_counted_as_shared() -> None:
    log = log_of_days(seed=100)
    found = rs.experiment(log, "CTR", slices=["device", "country"])
    device, country = found.to_dicts("heterogeneity")
    both = log.group_by("user").agg(pl.col("device").n_unique()).filter(pl.col("device") == 2).height
    assert (device["shared"], country["shared"]) == (both, 0)


def test_the_command_and_the_page_show_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of_one_country(101, 4.0).write_csv(tmp_path / "users.csv")
    command = ["experiment", str(tmp_path / "users.csv"), "-m", "Mean(revenue)", "--slices", "country"]
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["heterogeneity"][0]["verdict"] == "depends"
    page = rs.report(rs.experiment(of_one_country(101, 4.0), "Mean(revenue)", slices="country")).page
    section = next(section for section in page.sections if section.name == "slices")
    assert [getattr(block, "name", "") for block in section.blocks] == ["slices", "heterogeneity", "slices"]
