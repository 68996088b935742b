"""The gate, the plan and the page of policies and of interleaved lists: the numbers of ``estimate`` and ``interleaving``, refusals, bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats
from tests.made.results import interleaved, logged

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import DataError, InputError


def far() -> dict[str, list[Any]]:
    """The log with one row that was shown with a probability of 1e-6, and was clicked."""
    log = logged()
    log["p_item_pos"][7], log["click"][7] = 1e-6, 1
    return log


# --- laws: the gate, the plan and the page have the numbers of the verb ---------------------------------------------


@pytest.mark.parametrize("estimators", ["SNIPS", ["IPS", "DR"]])
def test_a_gate_of_policies_has_the_differences_of_estimate(estimators: Any) -> None:
    found = rs.estimate(logged(), ["uniform"], estimators, slices="country")
    gate = rs.gate(logged(), target="uniform", metrics=estimators, slices="country")
    whole = [check for check in gate.checks if check.slice is None]
    assert [(c.metric, c.difference, c.p_value) for c in whole] == [
        (c.metric, c.difference, c.p_value) for c in found.contrasts
    ]
    own = {c.slice: c.difference for c in gate.checks if c.slice is not None and c.metric == found.primary}
    assert own == {f"{part.attribute}={part.name}": part.contrast.difference for part in found.slices}


def test_a_gate_of_interleaved_lists_has_the_preferences_of_interleaving() -> None:
    found = rs.interleaving(interleaved(), slices="country")
    gate = rs.gate(interleaved(), slices="country")
    assert (gate.candidate, gate.baseline) == ("a", "b")
    whole, *parts = gate.checks
    assert (whole.difference, whole.p_value) == (found.contrasts[0].difference, found.contrasts[0].p_value)
    assert [check.difference for check in parts] == [part.contrast.difference for part in found.slices]


def test_the_names_turn_a_gate_of_rankers_around() -> None:
    here, there = rs.gate(interleaved(), "b", "a"), rs.gate(interleaved(), "a", "b")
    assert math.isclose(here.checks[0].difference, -there.checks[0].difference)
    assert (here.candidate, there.candidate) == ("a", "b")


def test_a_plan_of_policies_uses_the_spread_of_paired_differences() -> None:
    plan = rs.power(logged(), target="uniform", metrics="IPS", difference=0.01)
    (reach,) = plan.reaches
    error = rs.estimate(logged(), "uniform", "IPS")["uniform", "IPS"].pair.means.error
    assert math.isclose(reach.deviation, error * math.sqrt(300))
    needed = reach.targets[0].units
    half = stats.nct(299, stats.t(needed - 1).ppf(0.975)).ppf(0.8) * reach.deviation / math.sqrt(needed)
    assert half <= 0.01 * (1 + 1e-9) < half * math.sqrt(needed / (needed - 2))
    assert {row["policy"] for row in plan.to_dicts()} == {"uniform"}


def test_the_page_of_a_log_is_that_of_its_result() -> None:
    page, own = rs.report(logged(), target="uniform").page, rs.report(rs.estimate(logged(), "uniform")).page
    assert (
        [v.text for v in page.verdicts]
        == [v.text for v in own.verdicts]
        == list(rs.estimate(logged(), "uniform").sentences())
    )
    assert [s.name for s in page.sections] == ["results", "differences", "weights", "reproduce"]
    lists = rs.report(interleaved()).page
    assert [v.text for v in lists.verdicts] == list(rs.interleaving(interleaved()).sentences())
    assert [s.name for s in lists.sections] == ["results", "reproduce"]
    for one in (page, lists):
        assert one.answer is not None
        assert one.answer.checked


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_policy_without_support_is_withheld_everywhere() -> None:
    gate, plan, page = (
        rs.gate(far(), target="p_new"),
        rs.power(far(), target="p_new"),
        rs.report(far(), target="p_new"),
    )
    assert (gate.status, gate.exit_code, plan.exit_code, page.exit_code) == ("withheld", 4, 4, 4)
    assert gate.sentence.startswith("WITHHELD: p_new, SNIPS: the clicks count as")
    assert not plan.reaches
    assert page.page.answer is not None
    assert page.page.answer.tone == "invalid"
    assert rs.gate(far(), target="p_new", force=True).status != "withheld"
    assert rs.power(far(), target="p_new", force=True).reaches


def test_one_policy_without_support_leaves_the_verdict_on_others() -> None:
    log = logged()
    log["p_far"] = [1.0 if number == 7 else 0.0 for number in range(len(log["item"]))]
    gate = rs.gate(log, target=["uniform", "p_far"])
    assert [check.status == "withheld" for check in gate.checks] == [False, True]
    assert gate.exit_code == 4


def test_rankers_that_were_mixed_unfairly_are_withheld() -> None:
    log = pl.DataFrame(interleaved()).with_columns(
        team=pl.when(pl.col("position") == 1).then(pl.lit("a")).otherwise("team")
    )
    gate = rs.gate(log)
    assert (gate.status, gate.exit_code) == ("withheld", 3)
    assert gate.sentence.startswith("WITHHELD: Rankers did not fill the first place equally often")
    assert "<failure" in gate.to_junit().partition("preference")[0]


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "options", "expected"),
    [
        pytest.param(rs.gate, {"target": "p_nwe"}, "target= p_nwe: no column or file has this name: a target is uniform, a column", id="an unknown target"),
        pytest.param(rs.gate, {"target": "p_new", "split": {"A": 1}}, "split is about variants, and target", id="a split of policies"),
        pytest.param(rs.gate, {"target": "p_new", "metrics": "DM"}, "DM has no interval to decide by", id="a model without an error"),
        pytest.param(rs.gate, {"target": "p_new", "candidate": "p_nwe"}, "no policy is called that, did you mean p_new", id="a candidate"),
        pytest.param(rs.gate, {"reward": "click"}, "needs the column variant", id="a reward without a target"),
        pytest.param(rs.power, {"reward": "click"}, "reward is for a plan of policies", id="a plan without a target"),
        pytest.param(rs.power, {"target": "p_new", "share": 0.3}, "share does not belong to a plan of policies", id="a share"),
        pytest.param(rs.power, {"target": "p_new", "metrics": "DM"}, "DM has no interval to decide by", id="a plan by a model"),
        pytest.param(rs.report, {"target": "p_new", "guardrails": "CTR"}, "guardrails is about experiments", id="a guardrail"),
        pytest.param(rs.report, {"reward": "click"}, "reward is about policies", id="a page without a target"),
    ],
)  # fmt: skip
def test_options_of_other_logs_are_refused(verb: Any, options: dict[str, Any], expected: str) -> None:
    with pytest.raises((InputError, DataError), match=expected.replace("(", r"\(")):
        verb(logged(), **options)


def test_a_gate_of_interleaved_lists_takes_one_credit() -> None:
    assert rs.gate(interleaved(), metrics="TeamCredit(per=event)").checks
    with pytest.raises(InputError, match="interleaved lists are compared by one credit"):
        rs.gate(interleaved(), metrics=["TeamCredit", "LoggedCredit"])
    with pytest.raises(InputError, match="reward is about variants or policies, and these are interleaved lists"):
        rs.gate(interleaved(), reward="click")


def test_the_command_line_gates_plans_and_reports_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, page = tmp_path / "log.csv", tmp_path / "page.html"
    pl.DataFrame(logged()).write_csv(place)
    assert main(["gate", str(place), "--target", "new=p_new", "-m", "SNIPS", "--format", "json", "-q"]) in {0, 1, 4}
    found = json.loads(capsys.readouterr().out)
    assert [(row["policy"], row["metric"]) for row in found["results"]] == [("new", "SNIPS")]
    assert found["support"][0]["effective_clicks"] > 0
    assert main(["power", str(place), "--target", "p_new", "-q"]) == 0
    assert "between p_new and logged" in " ".join(capsys.readouterr().out.split())
    assert main(["report", str(place), "--target", "p_new", "-o", str(page), "-q"]) == 0
    assert "Weights of logged rows" in page.read_text(encoding="utf-8")
