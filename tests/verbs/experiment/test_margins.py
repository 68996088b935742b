"""Margins of experiments: practically the same, and not worse, by two one-sided tests; absolute, or a share of the baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import InputError


def arms(table: pl.DataFrame, column: str) -> tuple[Any, Any]:
    return tuple(table.filter(pl.col("variant") == name)[column].to_numpy() for name in "BA")  # type: ignore[return-value]


@pytest.mark.parametrize("margin", [0.05, 0.2, 1.0], ids=["a small margin", "a margin", "a large margin"])
def test_two_one_sided_tests_are_those_of_scipy(margin: float) -> None:
    from scipy.stats import ttest_ind

    table = users(seed=41)
    b, a = arms(table, "sessions")
    above = ttest_ind(b + margin, a, equal_var=False, alternative="greater").pvalue
    below = ttest_ind(b - margin, a, equal_var=False, alternative="less").pvalue
    (row,) = rs.experiment(table, "Mean(sessions)", margin=margin).to_dicts()
    assert row["equivalence_p_value"] == pytest.approx(max(above, below), rel=1e-9)
    assert row["noninferiority_p_value"] == pytest.approx(above, rel=1e-9)
    interval = ttest_ind(b, a, equal_var=False).confidence_interval(0.9)
    assert (row["equivalence_ci_lower"], row["equivalence_ci_upper"]) == pytest.approx((interval.low, interval.high))


def test_two_one_sided_tests_are_those_of_statsmodels(need: Any) -> None:
    weightstats = need("statsmodels.stats.weightstats")
    table = users(seed=49)
    b, a = arms(table, "revenue")
    both = weightstats.CompareMeans(weightstats.DescrStatsW(b), weightstats.DescrStatsW(a))
    theirs = both.ttost_ind(-0.5, 0.5, usevar="unequal")[0]
    (row,) = rs.experiment(table, "Mean(revenue)", margin=0.5).to_dicts()
    assert row["equivalence_p_value"] == pytest.approx(theirs, rel=1e-9)


def test_one_test_has_one_p_whichever_way_the_margin_is_said() -> None:
    from scipy.stats import ttest_ind

    table = users(seed=42)
    by_metric = rs.experiment(table, "Mean(sessions)", margin={"Mean(sessions)": 0.2}).to_dicts()
    in_text = rs.experiment(table, "Mean(sessions)", margin="Mean(sessions)=0.2").to_dicts()
    of_all = rs.experiment(table, "Mean(sessions)", margin=0.2).to_dicts()
    share = rs.experiment(table, "Mean(sessions)", margin=f"{100 * 0.2 / of_all[0]['baseline_value']:.17g}%").to_dicts()
    assert by_metric == in_text == of_all
    # a share counts the error of the baseline: B is compared with A less, or more, that share, at the degrees of freedom of the lift's interval
    (b, a), part = arms(table, "sessions"), 0.2 / of_all[0]["baseline_value"]
    above = ttest_ind(b, (1 - part) * a, equal_var=False, alternative="greater").pvalue
    below = ttest_ind(b, (1 + part) * a, equal_var=False, alternative="less").pvalue
    assert share[0]["equivalence_p_value"] == pytest.approx(max(above, below), rel=1e-4)
    guard = rs.experiment(table, "Mean(orders)", guardrails={"Mean(sessions, better='higher')": 0.2}).to_dicts()[1]
    assert guard["noninferiority_p_value"] == of_all[0]["noninferiority_p_value"]
    assert guard["verdict"] == of_all[0]["verdict"] == "equivalent"


def test_a_margin_changes_no_number_of_the_difference() -> None:
    table = users(seed=43)
    plain, with_margin = (rs.experiment(table, "Mean(revenue)", margin=m).to_dicts()[0] for m in (None, "5%"))
    assert {name: with_margin[name] for name in plain if name != "verdict"} == {
        name: value for name, value in plain.items() if name != "verdict"
    }


@pytest.mark.parametrize(
    ("lift", "margin", "verdict", "said"),
    [
        (0.0, "40%", "equivalent", "are practically the same on Mean(revenue) (90% interval"),
        (0.1, "7%", "not worse", "is not worse than A on Mean(revenue) by 7% of the baseline ("),
        (3.0, "40%", "better", "beats A on Mean(revenue)"),
        (0.0, "0.001%", "cannot tell", "They are not shown to be practically the same: the 90% interval"),
    ],
    ids=["the same", "not worse", "better", "too small a margin"],
)
def test_verdicts_in_words(lift: float, margin: str, verdict: str, said: str) -> None:
    found = rs.experiment(users(seed=44, lift=lift), "Mean(revenue)", margin=margin)
    assert found.to_dicts()[0]["verdict"] == verdict
    assert said in list(found.sentences())[1]


def test_a_guardrail_says_what_loss_cannot_be_ruled_out() -> None:
    found = rs.experiment(users(seed=44), "Mean(sessions)", guardrails={"Mean(revenue)": "0.1%"})
    (said,) = [text for text in found.sentences() if text.startswith("Guardrail: ")]
    p_value = found.to_dicts()[1]["noninferiority_p_value"]
    assert p_value > 0.1
    assert said.endswith(f"or more cannot be ruled out (p = {p_value:.2f}).")


def test_a_guardrail_that_is_worse_by_less_than_was_accepted_says_so() -> None:
    table = users(seed=44).with_columns(
        wait=pl.when(pl.col("variant") == "B").then(1.22).otherwise(1.0) + pl.col("revenue") * 1e-3
    )
    accepted, refused = (
        next(
            text for text in rs.experiment(table, "Mean(sessions)", guardrails={"Mean(wait, better='lower')": share}).sentences()
            if text.startswith("Guardrail: B loses to A")
        )
        for share in ("50%", "10%")
    )  # fmt: skip
    assert "The loss is smaller than the accepted 50% of the baseline" in accepted
    assert "A loss of 10% of the baseline" in refused
    assert "cannot be ruled out" in refused


def test_several_guardrails_are_tested_at_one_level() -> None:
    guardrails, accepted = {"Mean(revenue)": "9%", "Mean(orders)": "9%", "Mean(sessions, better='higher')": "9%"}, 0
    for seed in range(40, 60):
        table = users(seed=seed, lift=0.0).with_columns(primary=pl.col("revenue"))
        found = rs.experiment(table, "Mean(primary)", guardrails=guardrails)
        for row, text in zip(
            found.to_dicts()[1:], [t for t in found.sentences() if t.startswith("Guardrail")], strict=True
        ):
            assert row["p_value"] == row["p_value_adjusted"]
            assert ("cannot be ruled out" in text) == (row["noninferiority_p_value"] > 0.05)
            accepted += 0.05 / 3 < row["noninferiority_p_value"] <= 0.05
    assert accepted


def test_the_interval_and_the_level_that_decide_about_a_margin_are_printed() -> None:
    table = users(seed=41, lift=0.0).with_columns(first=pl.col("revenue"), second=pl.col("revenue") + pl.col("orders"))
    found = rs.experiment(table, ["Mean(first)", "Mean(second)", "Mean(orders)"], margin="12%")
    for c, row in zip(found.contrasts, found.to_dicts(), strict=True):
        level = 1 - 2 * 0.05 / c.comparisons
        assert c.margin is not None
        assert row["equivalence_level_adjusted"] == pytest.approx(level)
        inside = -c.margin < row["equivalence_ci_lower_adjusted"] and row["equivalence_ci_upper_adjusted"] < c.margin
        assert inside == (c.verdict == "equivalent")
    assert {c.comparisons for c in found.contrasts} == {1, 2}


def test_a_guardrail_without_an_accepted_loss_can_only_alarm() -> None:
    with_loss, without = (
        list(rs.experiment(users(seed=44), "Mean(sessions)", guardrails=guard).sentences())[-1]
        for guard in ({"Mean(revenue)": "50%"}, "Mean(revenue)")
    )
    assert "It can only alarm: no accepted loss was given." in without
    assert "only alarm" not in with_loss


def test_a_metric_beside_the_primary_one_is_told_where_it_is_the_same() -> None:
    found = rs.experiment(users(seed=45), ["Mean(revenue)", "Mean(sessions)"], margin={"Mean(sessions)": "15%"})
    assert any("practically the same on Mean(sessions)" in text for text in found.sentences())
    assert found.conventions["margin"] == {"Mean(sessions)": "15% of the baseline"}
    assert found.to_dicts()[0]["margin"] is None


@pytest.mark.parametrize(
    "test", ["anytime(first=200)", "group_sequential(look=1, looks=2)"], ids=["any look", "a planned look"]
)
def test_looks_are_paid_for(test: str) -> None:
    plain, looked = (
        rs.experiment(users(seed=42), "Mean(sessions)", margin=0.2, test=name).to_dicts()[0] for name in (None, test)
    )
    assert looked["equivalence_p_value"] > plain["equivalence_p_value"]
    assert looked["noninferiority_p_value"] > plain["noninferiority_p_value"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"margin": "much"}, "a difference that would not matter must be a number above 0, like 0.01, or a share of the baseline"),
        ({"margin": 0}, "margin 0"),
        ({"margin": "-1%"}, "margin -1%"),
        ({"margin": True}, "margin True"),
        ({"margin": float("inf")}, "margin inf"),
        ({"margin": {"Mean(orders)": 0.1}}, "margin of Mean(orders): it is not compared"),
        ({"margin": ["1%", "2%"]}, "margin is given twice"),
        ({"margin": {"Mean(orders)": "1%"}, "guardrails": {"Mean(orders)": "2%"}}, "has two margins"),
        ({"guardrails": {"Mean(orders)": "-2%"}}, "the loss that would be accepted must be a number above 0"),
    ],
    ids=[
        "a word", "nothing", "less than nothing", "yes", "without end", "another metric", "twice",
        "a guardrail that has one", "a guardrail with a gain",
    ],
)  # fmt: skip
def test_bad_margins(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        rs.experiment(users(seed=46), "Mean(revenue)", **options)
    assert said in str(caught.value)


def test_a_share_of_nothing_is_no_margin() -> None:
    table = users(seed=47).with_columns(gain=pl.when(pl.col("variant") == "A").then(0.0).otherwise(1.0))
    with pytest.raises(InputError, match="A is at 0, which has no share"):
        rs.experiment(table, "Mean(gain)", margin="1%")


def test_where_all_are_at_nothing_they_are_the_same() -> None:
    table = users(seed=48).with_columns(harm=pl.lit(0.0))
    found = rs.experiment(table, "Mean(orders)", guardrails="Mean(harm, better='lower')=1%")
    assert found.to_dicts()[1]["verdict"] == "same"


def test_the_command_takes_margins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users(seed=42).write_csv(tmp_path / "users.csv")
    command = ["experiment", str(tmp_path / "users.csv"), "-m", "Mean(sessions)", "--margin"]
    assert main([*command, "Mean(sessions)=20%", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["verdict"] == "equivalent"
    assert main([*command, "x"]) == 2
    assert "margin x" in capsys.readouterr().err
